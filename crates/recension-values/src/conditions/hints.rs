//! What a condition that finds nothing may have meant, told from some documents. Pure.

use serde_json::Value;

use super::{Parser, is_of_text};
use crate::json::{Outline, Path, Step};

/// A member that a condition asks about.
#[derive(Clone, Debug)]
pub(super) struct AskedMember {
    pub(super) path: Path,
    pub(super) how: How,
    /// Its value as it stands in the text, if there is one.
    pub(super) value: String,
}

/// What is asked about a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum How {
    /// Its value is compared, or matches.
    Compares,
    /// `contains`: an array has a value.
    Contains,
    /// Whether it is there.
    Exists,
}

/// Hints for a condition that no document meets. `bodies` are some documents of those that were searched, as minified
/// JSON: what is said of none of them may hold for another.
pub fn hints(text: &str, bodies: &[&str]) -> Vec<String> {
    let mut parser = Parser::new(text);
    if parser.clauses().is_err() || bodies.is_empty() {
        return Vec::new();
    }
    let asked = std::mem::take(&mut parser.asked);
    let mut hints: Vec<String> = Vec::new();
    for hint in asked.iter().filter(|asked| !is_of_text(&asked.path)).filter_map(|asked| of_member(asked, bodies)) {
        if !hints.contains(&hint) {
            hints.push(hint);
        }
    }
    hints
}

/// A hint for each of `paths` at which none of `bodies` has a value: a name that was mistyped finds nothing, silently.
pub fn hints_of_members<'p>(paths: impl Iterator<Item = &'p Path>, bodies: &[&str]) -> Vec<String> {
    let told = |path: &Path| !bodies.is_empty() && !is_of_text(path) && !path.is_multiple();
    let lacking = paths.filter(|path| told(path) && bodies.iter().all(|body| path.find(body).is_none()));
    lacking.map(|path| array_on_the_way(path, bodies).unwrap_or_else(|| absent(path, bodies))).collect()
}

fn of_member(asked: &AskedMember, bodies: &[&str]) -> Option<String> {
    let AskedMember { path, how, value } = asked;
    if path.is_multiple() {
        return None;
    }
    let found: Vec<&str> = bodies.iter().filter_map(|body| path.find(body)).collect();
    let starts = |first: char| found.iter().any(|value| value.starts_with(first));
    if found.is_empty() {
        return Some(array_on_the_way(path, bodies).unwrap_or_else(|| absent(path, bodies)));
    }
    match how {
        How::Contains if !starts('[') && starts('"') => {
            let inner = value.trim_matches(|quote| quote == '"' || quote == '\'');
            Some(format!("{path} is text, and contains asks arrays: {path} ilike '%{inner}%' looks within text"))
        }
        How::Compares if starts('[') && !value.starts_with('[') => {
            Some(format!("{path} is an array: {path} contains {value} asks whether it has that"))
        }
        How::Compares if is_number(value) && starts('"') && found.iter().all(|value| !is_number(value)) => {
            Some(format!("{path} is text, and {value} is a number: \"{value}\" in quotes is text"))
        }
        How::Compares if is_quoted_number(value) && found.iter().all(|value| is_number(value)) => {
            Some(format!("{path} is a number, and {value} is text: a number has no quotes"))
        }
        How::Compares if !value.starts_with('[') => {
            of_another_kind(path, value, &found).or_else(|| array_on_the_way(path, bodies))
        }
        _ => None,
    }
}

/// If the values that were found are all of one kind, and the value that was asked for is of another one.
fn of_another_kind(path: &Path, value: &str, found: &[&str]) -> Option<String> {
    let mut kinds = found.iter().map(|value| kind(value)).filter(|kind| *kind != "null");
    let (first, asked) = (kinds.next()?, kind(value));
    if asked == "null" || first == asked || kinds.any(|kind| kind != first) {
        return None;
    }
    let small = value.to_ascii_lowercase();
    let advice = match small.as_str() {
        "true" | "false" if first == "a boolean" => format!(": {small} is written in small letters"),
        _ => String::new(),
    };
    Some(format!("{path} is {first}, and {value} is {asked}{advice}"))
}

/// What a value is, as it stands in JSON or in a condition, in which words without quotes are text.
fn kind(value: &str) -> &'static str {
    match value {
        "true" | "false" => "a boolean",
        "null" => "null",
        _ if value.starts_with('[') => "an array",
        _ if value.starts_with('{') => "an object",
        _ if is_number(value) => "a number",
        _ => "text",
    }
}

/// Whether it is a number of JSON. A date, a time and an address begin with a digit too, and are text.
fn is_number(value: &str) -> bool {
    value.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && serde_json::from_str::<Value>(value).is_ok()
}

fn is_quoted_number(value: &str) -> bool {
    let inner = value.trim_matches(|quote| quote == '"' || quote == '\'');
    inner.len() + 2 == value.len() && inner.parse::<f64>().is_ok()
}

/// If a path ends at an array, the one that looks into its elements.
fn array_on_the_way(path: &Path, bodies: &[&str]) -> Option<String> {
    let steps = path.steps();
    let before = (1..steps.len()).find_map(|length| {
        let before = Path::of_steps(steps.get(..length)?.to_vec()).ok()?;
        let is_array = bodies.iter().any(|body| before.find(body).is_some_and(|value| value.starts_with('[')));
        is_array.then_some(before)
    })?;
    let whole = path.to_string();
    let rest = whole.get(before.to_string().len()..).unwrap_or_default();
    Some(format!("{before} is an array: {before}[]{rest} looks into each of its elements"))
}

fn absent(path: &Path, bodies: &[&str]) -> String {
    let mut names: Vec<String> = Vec::new();
    for body in bodies {
        let Ok(outline) = Outline::of(body) else { continue };
        for member in outline.root().children() {
            if !names.iter().any(|name| member.name().is(name)) {
                names.push(member.name().decode().into_owned());
            }
        }
    }
    let first = match path.steps().first() {
        Some(Step::Name(name)) => name.clone(),
        _ => path.to_string(),
    };
    let similar = similar(&first, names.iter().map(String::as_str));
    let similar = similar.map_or_else(String::new, |name| format!("; there is {name}"));
    format!("no document that was looked at has a member {path}{similar}")
}

/// The name that is most like another one, if any is: at most a third of it differs, or only its case.
pub fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let wanted = name.to_lowercase();
    let scored = names.filter(|other| *other != name).map(|other| (distance(&wanted, &other.to_lowercase()), other));
    let (changes, best) = scored.min_by_key(|(changes, _)| *changes)?;
    (changes * 3 <= wanted.chars().count().max(3)).then_some(best)
}

/// The changes that make one word of another: letters put in, left out, exchanged, or swapped with their neighbour.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().take(64).collect(), other.chars().take(64).collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=other.len()).collect()];
    for (i, letter) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, against) in other.iter().enumerate() {
            let exchanged = rows[i][j] + usize::from(letter != against);
            let mut least = exchanged.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i - 1] == *against && *letter == other[j - 1] {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::parse_path;
    use super::*;

    #[test]
    fn a_condition_that_finds_nothing_is_understood() {
        let bodies =
            [r#"{"name":"Porto","zip":"4000","n":3,"tags":["a"],"items":[{"sku":1}],"at":{"city":"x"},"open":true}"#];
        for (text, hint) in [
            ("name contains \"yd\"", "name is text, and contains asks arrays: name ilike '%yd%' looks within text"),
            ("n = 1 and tags = Oporto", "tags is an array: tags contains Oporto asks whether it has that"),
            ("zip = 4000", "zip is text, and 4000 is a number: \"4000\" in quotes is text"),
            ("n = '3'", "n is a number, and '3' is text: a number has no quotes"),
            ("items.sku = 1", "items is an array: items[].sku looks into each of its elements"),
            ("nmae = Porto", "no document that was looked at has a member nmae; there is name"),
            ("at.town = x", "no document that was looked at has a member at.town"),
            ("population > 3", "no document that was looked at has a member population"),
            ("open = TRUE", "open is a boolean, and TRUE is text: true is written in small letters"),
            ("open = 1", "open is a boolean, and 1 is a number"),
            ("n = .3", "n is a number, and .3 is text"),
            ("name = true", "name is text, and true is a boolean"),
            ("n = 10:30", "n is a number, and 10:30 is text"),
            ("n = 007", "n is a number, and 007 is text"),
            ("n > 2026-01-01", "n is a number, and 2026-01-01 is text"),
        ] {
            assert_eq!(hints(text, &bodies), [hint], "{text}");
        }
        for text in [
            "name = Lisbon",
            "zip = 2026-01-01",
            "zip = 192.168.0.1",
            "zip = -",
            "open = false",
            "n in ['3']",
            "n > 7",
            "_id = 5",
            "tags contains x",
            "items[].sku = 4",
            "a =",
            "",
        ] {
            assert!(hints(text, &bodies).is_empty(), "{text}: {:?}", hints(text, &bodies));
        }
        assert!(hints("a = 1", &[]).is_empty());
    }

    #[test]
    fn a_member_that_no_document_has_is_named() {
        let bodies = [r#"{"name":"Porto","items":[{"sku":1}]}"#, r#"{"note":1}"#];
        let paths = ["name", "note", "_id", "items[].sku", "nmae", "items.sku"].map(|path| parse_path(path).unwrap());
        let expected = [
            "no document that was looked at has a member nmae; there is name",
            "items is an array: items[].sku looks into each of its elements",
        ];
        assert_eq!(hints_of_members(paths.iter(), &bodies), expected);
        assert!(hints_of_members(paths.iter(), &[]).is_empty());
    }

    #[test]
    fn similar_names_are_similar() {
        let names = ["cities", "people", "orders"];
        for (name, expected) in [
            ("citis", Some("cities")),
            ("Orders", Some("orders")),
            ("peolpe", Some("people")),
            ("notes", None),
            ("x", None),
        ] {
            assert_eq!(similar(name, names.into_iter()), expected, "{name}");
        }
    }
}
