//! What becomes of a document before it is imported, on wish: members that are left out or renamed, the document below
//! a path, MongoDB's extended JSON as plain JSON.

use recension::json::{Kind, Outline, View, quote};
use recension::{Path, format_time};

use crate::members::{Members, object, quoted};

/// What is done with each document.
#[derive(Debug, Default)]
pub(super) struct Reshape {
    /// Where the document is in a record.
    pub(super) below: Option<Path>,
    pub(super) drop: Vec<String>,
    pub(super) rename: Vec<(String, String)>,
    /// Whether `{"$date": ..}` and the like become plain values.
    pub(super) extended: bool,
    /// Names that some document had.
    pub(super) met: Vec<String>,
}

/// An option such as `__v=version`.
pub(super) fn renaming(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("it is OLD=NEW, such as __v=version".to_owned()),
    }
}

impl Reshape {
    /// The document of a record.
    pub(super) fn document(&mut self, text: &str) -> Result<Option<String>, String> {
        let below = match &self.below {
            Some(path) => match path.find(text) {
                Some(value) if value.starts_with('{') => Some(value.to_owned()),
                _ => return Err(format!("there is no document at {path}")),
            },
            None => None,
        };
        let text = below.as_deref().unwrap_or(text);
        let renamed = if self.drop.is_empty() && self.rename.is_empty() { None } else { Some(self.named(text)?) };
        let text = renamed.as_deref().unwrap_or(text);
        if !self.extended {
            return Ok(renamed.or(below));
        }
        let minified = recension::json::minify(text.as_bytes()).map_err(|error| error.to_string())?;
        let outline = Outline::of(&minified).map_err(|error| error.to_string())?;
        let mut out = String::with_capacity(minified.len());
        plain(outline.root(), &mut out)?;
        Ok(Some(out))
    }

    /// The text without members, and with others under their new names.
    fn named(&mut self, text: &str) -> Result<String, String> {
        let members = Members::of(text).map_err(|error| error.to_string())?;
        let mut all: Vec<(String, &str)> = Vec::with_capacity(members.0.len());
        for member in &members.0 {
            let renamed = self.rename.iter().find(|(old, _)| *old == member.name).map(|(_, new)| new);
            let drops = self.drop.iter().any(|name| *name == member.name);
            if (drops || renamed.is_some()) && !self.met.iter().any(|name| *name == member.name) {
                self.met.push(member.name.to_string());
            }
            if drops {
                continue;
            }
            if let Some(new) = renamed {
                if members.0.iter().any(|other| other.name == *new) {
                    return Err(format!("{:?} cannot be renamed: there is a member {new:?} already", member.name));
                }
                all.push((quoted(new), member.value));
            } else {
                all.push((member.written.to_owned(), member.value));
            }
        }
        Ok(object(all.iter().map(|(name, value)| (name.as_str(), *value))))
    }

    /// Names of the options that no document had.
    pub(super) fn unmet(&self) -> impl Iterator<Item = &str> {
        let names = self.drop.iter().chain(self.rename.iter().map(|(old, _)| old));
        names.filter(|name| !self.met.contains(name)).map(String::as_str)
    }
}

/// The id that a value of `_id` means which is no text: MongoDB's `{"$oid": ".."}`, or a whole number.
pub(super) fn id_of(value: &str) -> Option<String> {
    let value = recension::json::minify(value.as_bytes()).ok()?;
    if value.strip_prefix('-').unwrap_or(&value).bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value);
    }
    let members = Members::of(&value).ok()?;
    let text = members.get("$oid").filter(|_| members.0.len() == 1)?;
    serde_json::from_str(text).ok()
}

/// Writes a value; extended ones as what they mean. Texts nest no deeper than documents may.
fn plain(view: View<'_>, out: &mut String) -> Result<(), String> {
    if let Some(value) = meant(view)? {
        out.push_str(&value);
        return Ok(());
    }
    let (open, close) = match view.kind() {
        Kind::Object => ('{', '}'),
        Kind::Array => ('[', ']'),
        _ => {
            out.push_str(view.text());
            return Ok(());
        }
    };
    out.push(open);
    for (number, child) in view.children().enumerate() {
        if number > 0 {
            out.push(',');
        }
        if open == '{' {
            out.push('"');
            out.push_str(child.name().raw);
            out.push_str("\":");
        }
        plain(child, out)?;
    }
    out.push(close);
    Ok(())
}

/// The plain value of an extended one.
fn meant(view: View<'_>) -> Result<Option<String>, String> {
    let mut members = view.children();
    let (Kind::Object, Some(member), None) = (view.kind(), members.next(), members.next()) else { return Ok(None) };
    let name = member.name().decode();
    let wrong = || format!("{} is no {name} of extended JSON", view.text().chars().take(80).collect::<String>());
    let text = || Some(member.string().decode().into_owned()).filter(|_| member.kind() == Kind::String);
    let number = || {
        let text = text().ok_or_else(wrong)?;
        match serde_json::from_str::<serde_json::Number>(&text) {
            Ok(_) => Ok(text),
            Err(_) => Err(wrong()),
        }
    };
    Ok(Some(match &*name {
        "$oid" | "$symbol" => quote(&text().ok_or_else(wrong)?),
        "$numberInt" | "$numberLong" | "$numberDouble" | "$numberDecimal" => number()?,
        "$date" => match member.kind() {
            Kind::String => member.text().to_owned(),
            _ => {
                let mut long = String::new();
                plain(member, &mut long)?;
                let millis: i64 = long.parse().map_err(|_| wrong())?;
                // Moments before 1970 have no short form here.
                let micros =
                    u64::try_from(millis).ok().and_then(|millis| millis.checked_mul(1000)).ok_or_else(wrong)?;
                quote(&format_time(recension::engine::Timestamp(micros)))
            }
        },
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(reshape: &mut Reshape, text: &str) -> String {
        match reshape.document(text) {
            Ok(document) => document.unwrap_or_else(|| text.to_owned()),
            Err(why) => why,
        }
    }

    #[test]
    fn members_are_dropped_renamed_and_found_below_a_path() {
        let rename = vec![renaming("__v=version").unwrap()];
        let mut reshape = Reshape { drop: vec!["x".to_owned(), "gone".to_owned()], rename, ..Reshape::default() };
        assert_eq!(
            document(&mut reshape, r#"{"a":1.50,"x":[1],"__v":0,"\u0062":2}"#),
            r#"{"a":1.50,"version":0,"\u0062":2}"#
        );
        assert_eq!(reshape.unmet().collect::<Vec<_>>(), ["gone"]);
        assert!(document(&mut reshape, r#"{"__v":1,"version":2}"#).contains("already"));
        let mut below = Reshape { below: Some("doc.of".parse().unwrap()), ..Reshape::default() };
        assert_eq!(document(&mut below, r#"{"doc":{"of":{"a":1}}}"#), r#"{"a":1}"#);
        assert_eq!(document(&mut below, r#"{"doc":{"of":3}}"#), "there is no document at doc.of");
        assert!(renaming("a=").is_err() && renaming("a").is_err());
    }

    #[test]
    fn extended_json_becomes_plain() {
        let mut reshape = Reshape { extended: true, ..Reshape::default() };
        let text = r#"{"_id":{"$oid":"64a"},"at":{"$date":{"$numberLong":"1700000000123"}},
            "on":{"$date":"2026-01-02T03:04:05Z"},"n":[{"$numberLong":"9007199254740993"},{"$numberDecimal":"1.10"}],
            "in":{"$ref":"x","$id":1}, "e": {}}"#;
        let expected = concat!(
            r#"{"_id":"64a","at":"2023-11-14T22:13:20.123Z","on":"2026-01-02T03:04:05Z","#,
            r#""n":[9007199254740993,1.10],"in":{"$ref":"x","$id":1},"e":{}}"#
        );
        assert_eq!(document(&mut reshape, text).replace("123000Z", "123Z"), expected);
        for wrong in [r#"{"a":{"$numberLong":"x"}}"#, r#"{"a":{"$numberDouble":"NaN"}}"#, r#"{"a":{"$oid":1}}"#] {
            assert!(document(&mut reshape, wrong).contains("of extended JSON"), "{wrong}");
        }
        for (value, id) in [(r#"{ "$oid": "64a" }"#, Some("64a")), ("17", Some("17")), ("1.5", None), ("null", None)] {
            assert_eq!(id_of(value).as_deref(), id, "{value}");
        }
    }
}
