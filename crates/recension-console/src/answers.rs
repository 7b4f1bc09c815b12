//! Two answers of one query, row by row: which rows came, which went, and which say something else. Pure.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::value::RawValue;

use recension_endpoints::mango::look::Row;
use recension_wire::members::{Members, member, members_of};

/// A row of an answer, with its place there: the first has 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) place: usize,
    pub(super) text: String,
}

/// A row that is different: what tells it from the others, and what it said before and after.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Different {
    pub(super) key: String,
    pub(super) before: Option<Placed>,
    pub(super) after: Option<Placed>,
}

/// What is different between two answers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Rows that came and that changed, in the order of the answer after; then those that went, in that of before.
    pub(super) rows: Vec<Different>,
    /// Rows that say the same in both.
    pub(super) same: usize,
}

impl Differences {
    /// Compares two answers whose rows have keys of their own.
    pub(super) fn between(before: Vec<Row>, after: Vec<Row>) -> Self {
        let placed = |(number, row): (usize, Row)| (row.key, Placed { place: number + 1, text: row.text });
        let before: Vec<(String, Placed)> = before.into_iter().enumerate().map(placed).collect();
        let mut known: HashMap<&str, &Placed> = before.iter().map(|(key, row)| (key.as_str(), row)).collect();
        let mut all = Differences::default();
        for (key, after) in after.into_iter().enumerate().map(placed) {
            match known.remove(key.as_str()) {
                Some(before) if before.text == after.text => all.same += 1,
                before => all.rows.push(Different { key, before: before.cloned(), after: Some(after) }),
            }
        }
        let gone: HashSet<String> = known.into_keys().map(str::to_owned).collect();
        let gone = before.into_iter().filter(|(key, _)| gone.contains(key));
        all.rows.extend(gone.map(|(key, row)| Different { key, before: Some(row), after: None }));
        all
    }

    /// Compares two answers of a pipeline. Rows are known by their `_id`, if each has one of its own. Two answers of
    /// one row each have the same row. Other rows are known by all that they say.
    pub(super) fn between_rows(before: Vec<String>, after: Vec<String>) -> Self {
        let alone = before.len() <= 1 && after.len() <= 1;
        let ids = |rows: &[String]| {
            let ids: Option<Vec<String>> = rows.iter().map(|row| id_of(row)).collect();
            let ids = ids?;
            let different: HashSet<&String> = ids.iter().collect();
            (different.len() == ids.len()).then_some(ids)
        };
        let keys = match (ids(&before), ids(&after)) {
            (Some(before), Some(after)) => (before, after),
            _ if alone => (vec![String::new(); before.len()], vec![String::new(); after.len()]),
            _ => (numbered(&before), numbered(&after)),
        };
        let keyed = |keys: Vec<String>, rows: Vec<String>| {
            keys.into_iter().zip(rows).map(|(key, text)| Row { key, text }).collect::<Vec<_>>()
        };
        Self::between(keyed(keys.0, before), keyed(keys.1, after))
    }

    /// How many rows came, changed and went.
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let count = |what: &str| self.rows.iter().filter(|row| row.what() == what).count();
        (count("came"), count("changed"), count("went"))
    }
}

impl Different {
    /// What happened to it.
    pub(super) fn what(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, _) => "came",
            (_, None) => "went",
            _ => "changed",
        }
    }

    /// The members that say something else, with both of their values. A revision is another whenever a document was
    /// written: it is left out unless nothing else is different.
    pub(super) fn members(&self) -> Vec<Changed> {
        let text = |row: &Option<Placed>| row.as_ref().map(|row| row.text.clone());
        let (before, after) = (text(&self.before), text(&self.after));
        let (before, after) = (members_in(before.as_deref()), members_in(after.as_deref()));
        let mut changed: Vec<Changed> = Vec::new();
        for (name, value) in &before {
            let now = member(&after, name).map(RawValue::get);
            if now != Some(value.get()) {
                changed.push(Changed::of(name, Some(value.get()), now));
            }
        }
        for (name, value) in after.iter().filter(|(name, _)| member(&before, name).is_none()) {
            changed.push(Changed::of(name, None, Some(value.get())));
        }
        if changed.iter().any(|changed| changed.name != "_rev") {
            changed.retain(|changed| changed.name != "_rev");
        }
        changed
    }

    /// As a line of a file.
    pub(super) fn to_json(&self, id: &str) -> String {
        let mut out = format!("{{\"id\":{id},\"what\":\"{}\"", self.what());
        for (name, row) in [("before", &self.before), ("after", &self.after)] {
            if let Some(Placed { place, text }) = row {
                let _ = write!(out, ",\"place_{name}\":{place},\"{name}\":{text}");
            }
        }
        out + "}"
    }
}

/// A member with what it said before and after, as JSON.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Changed {
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

impl Changed {
    fn of(name: &str, before: Option<&str>, after: Option<&str>) -> Self {
        let owned = |value: Option<&str>| value.map(str::to_owned);
        Changed { name: name.to_owned(), before: owned(before), after: owned(after) }
    }
}

fn members_in(row: Option<&str>) -> Members<'_> {
    row.and_then(|row| members_of(row.as_bytes()).ok()).unwrap_or_default()
}

/// The `_id` of a row, as JSON.
pub(super) fn id_of(row: &str) -> Option<String> {
    Some(member(&members_of(row.as_bytes()).ok()?, "_id")?.get().to_owned())
}

/// Rows known by what they say, and by how many say the same before them.
fn numbered<'r>(rows: &'r [String]) -> Vec<String> {
    let mut seen: HashMap<&'r str, usize> = HashMap::new();
    let key = |row: &'r String| {
        let number = seen.entry(row).or_default();
        *number += 1;
        format!("{number} {row}")
    };
    rows.iter().map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[(&str, &str)]) -> Vec<Row> {
        rows.iter().map(|(key, text)| Row { key: (*key).to_owned(), text: (*text).to_owned() }).collect()
    }

    fn told(all: &Differences) -> Vec<String> {
        let place = |row: &Option<Placed>| row.as_ref().map_or("-".to_owned(), |row| row.place.to_string());
        all.rows
            .iter()
            .map(|row| format!("{} {} {}>{}", row.key, row.what(), place(&row.before), place(&row.after)))
            .collect()
    }

    #[test]
    fn rows_come_go_change_and_stay() {
        let before = rows(&[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        let after = rows(&[("new", "9"), ("c", "3"), ("b", "22")]);
        let all = Differences::between(before.clone(), after);
        assert_eq!(told(&all), ["new came ->1", "b changed 2>3", "a went 1>-", "d went 4>-"]);
        assert_eq!((all.counts(), all.same), ((1, 1, 2), 1));
        let nothing = Differences::between(before.clone(), before);
        assert_eq!((nothing.rows.len(), nothing.same), (0, 4));
    }

    #[test]
    fn rows_of_a_pipeline_are_known_by_their_ids_or_by_what_they_say() {
        let texts = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        for (before, after, expected) in [
            (
                &[r#"{"_id":"PT","n":1}"#, r#"{"_id":"ES","n":2}"#][..],
                &[r#"{"_id":"ES","n":2}"#, r#"{"_id":"PT","n":3}"#][..],
                &[r#""PT" changed 1>2"#][..],
            ),
            (&[r#"{"n":1}"#], &[r#"{"n":2}"#], &[" changed 1>1"]),
            (&[r#"{"n":1}"#], &[], &[" went 1>-"]),
            // Two have no id of their own.
            (
                &[r#"{"_id":1,"n":1}"#, r#"{"_id":1,"n":1}"#],
                &[r#"{"_id":1,"n":1}"#],
                &[r#"2 {"_id":1,"n":1} went 2>-"#],
            ),
            (&["7", "8"], &["8", "7", "8"], &["2 8 came ->3"]),
        ] {
            assert_eq!(told(&Differences::between_rows(texts(before), texts(after))), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn only_members_that_say_something_else_are_told() {
        let placed = |text: &str| Some(Placed { place: 1, text: text.to_owned() });
        let changed = |before: Option<Placed>, after: Option<Placed>| {
            let all = Different { key: "x".to_owned(), before, after }.members();
            let text = |value: Option<String>| value.unwrap_or("-".to_owned());
            let told = all.into_iter().map(|one| format!("{} {} {}", one.name, text(one.before), text(one.after)));
            told.collect::<Vec<_>>()
        };
        let before = placed(r#"{"_id":"x","_rev":"1-a","n":1,"gone":null,"same":[1]}"#);
        let after = placed(r#"{"_id":"x","_rev":"2-b","n":2,"same":[1],"new":"<b>"}"#);
        assert_eq!(changed(before, after.clone()), ["n 1 2", "gone null -", "new - \"<b>\""]);
        assert_eq!(changed(placed(r#"{"_rev":"1-a"}"#), placed(r#"{"_rev":"2-b"}"#)), [r#"_rev "1-a" "2-b""#]);
        let whole = Different { key: "x".to_owned(), before: None, after };
        let json = whole.to_json("\"x\"");
        assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok_and(|row| row["place_after"] == 1), "{json}");
    }
}
