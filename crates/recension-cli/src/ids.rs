//! Where a document's id comes from: a member of it, the input's form, or, where neither says one, new.
//! New ids sort in the order in which they were made.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::members::{Members, lookup};

/// Why a document has no usable id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdError {
    /// The member that `--id-field` names is not there.
    NoMember(String),
    /// It is neither text nor a number.
    NotScalar(String),
}

impl std::fmt::Display for IdError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            IdError::NoMember(name) => write!(f, "the document has no member {name:?} to take its id from"),
            IdError::NotScalar(name) => write!(f, "member {name:?} cannot be an id: it is neither text nor a number"),
        }
    }
}

impl std::error::Error for IdError {}

/// A document apart from its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identified<'t> {
    /// The id, where there is one.
    pub id: Option<String>,
    /// The document without `_id` and `_rev`.
    pub body: Cow<'t, str>,
}

/// Parts a document as it is written in a file from its id. `given` is the id that the input's form gives.
pub fn identify<'t>(text: &'t str, given: Option<String>, field: Option<&[String]>) -> Result<Identified<'t>, IdError> {
    let mut id = given;
    let mut body = Cow::Borrowed(text);
    // Most documents have neither, and are not looked at any closer.
    if (text.contains("\"_id\"") || text.contains("\"_rev\""))
        && let Ok(members) = Members::of(text)
    {
        if let Some(own) = members.get("_id") {
            id = Some(scalar(own.get()).ok_or_else(|| IdError::NotScalar("_id".to_owned()))?);
        }
        body = Cow::Owned(members.without(&["_id", "_rev"]));
    }
    if let Some(field) = field {
        let name = || field.join(".");
        let value = lookup(text, field).ok_or_else(|| IdError::NoMember(name()))?;
        id = Some(scalar(value.get()).ok_or_else(|| IdError::NotScalar(name()))?);
    }
    Ok(Identified { id, body })
}

fn scalar(json: &str) -> Option<String> {
    match json.bytes().next()? {
        b'"' => serde_json::from_str(json).ok(),
        b'-' | b'0'..=b'9' => Some(json.to_owned()),
        _ => None,
    }
}

/// Makes ids: 32 hexadecimal digits of the time, a counter and chance.
pub struct NewIds {
    start: u64,
    made: u32,
    chance: u64,
}

impl NewIds {
    /// Ids that begin with the present time.
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let chance = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), now);
        NewIds { start: u64::try_from(now.as_millis()).unwrap_or_default(), made: 0, chance }
    }

    /// The next one.
    pub fn next_id(&mut self) -> String {
        let id = format!("{:012x}{:08x}{:012x}", self.start, self.made, self.chance & 0xffff_ffff_ffff);
        self.made = self.made.wrapping_add(1);
        id
    }
}

impl Default for NewIds {
    fn default() -> Self {
        NewIds::new()
    }
}

/// A body with its id as the first member, as documents are printed and exported.
pub fn with_id(id: &str, rev: Option<&str>, body: &str) -> String {
    let rest = body.trim_start().strip_prefix('{').map_or(body, str::trim_start);
    let mut text = format!("{{\"_id\":{}", Value::from(id));
    if let Some(rev) = rev {
        text.push_str(",\"_rev\":\"");
        text.push_str(rev);
        text.push('"');
    }
    if rest != "}" {
        text.push(',');
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_comes_from_the_named_member_or_the_document_or_its_place() {
        let field = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        for (text, given, from, id, body) in [
            (r#"{"a":1}"#, None, None, None, r#"{"a":1}"#),
            (r#"{"a":1}"#, Some("k"), None, Some("k"), r#"{"a":1}"#),
            (r#"{"_id":"x","_rev":"1-a","a":1.0}"#, Some("k"), None, Some("x"), r#"{"a":1.0}"#),
            (r#"{"a":1,"_id":7}"#, None, None, Some("7"), r#"{"a":1}"#),
            (
                r#"{"a":"_id","n":{"é":"\u00e9"}}"#,
                Some("k"),
                Some(field(&["n", "é"])),
                Some("é"),
                r#"{"a":"_id","n":{"é":"\u00e9"}}"#,
            ),
            (r#"{"n":-1.50}"#, None, Some(field(&["n"])), Some("-1.50"), r#"{"n":-1.50}"#),
        ] {
            let found = identify(text, given.map(str::to_owned), from.as_deref()).unwrap();
            assert_eq!((found.id.as_deref(), found.body.as_ref()), (id, body), "{text}");
        }
        assert_eq!(identify("{}", None, Some(&field(&["a", "b"]))), Err(IdError::NoMember("a.b".to_owned())));
        assert_eq!(identify(r#"{"a":[1]}"#, None, Some(&field(&["a"]))), Err(IdError::NotScalar("a".to_owned())));
        assert_eq!(identify(r#"{"_id":null}"#, None, None), Err(IdError::NotScalar("_id".to_owned())));
    }

    #[test]
    fn an_id_stands_before_the_members() {
        assert_eq!(with_id("a\"b", None, "{}"), r#"{"_id":"a\"b"}"#);
        assert_eq!(with_id("x", Some("1-f"), r#"{"n":1}"#), r#"{"_id":"x","_rev":"1-f","n":1}"#);
    }

    #[test]
    fn new_ids_are_each_another_and_sort_as_they_were_made() {
        let mut ids = NewIds::new();
        let made: Vec<_> = (0..1000).map(|_| ids.next_id()).collect();
        assert!(made.is_sorted_by(|a, b| a < b) && made.iter().all(|id| id.len() == 32));
        assert_ne!(NewIds::new().next_id()[20..], made[0][20..]);
    }
}
