//! The id of a document: from a member, from the input's form, or else a new one. New ids sort in the order in which
//! they were made.

use std::time::{SystemTime, UNIX_EPOCH};

use recension::Path;

use crate::members::quoted;

/// Why a document has no usable id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The member that `--id-field` names is not there.
    #[error("the document has no member {0:?} to take its id from")]
    NoMember(String),
    /// It is neither text nor a number.
    #[error("member {0:?} cannot be an id: it is neither text nor a number")]
    NotScalar(String),
}

/// The id at `path` in a minified document.
pub fn id_at(path: &Path, body: &str) -> Result<String, IdError> {
    let value = path.find(body).ok_or_else(|| IdError::NoMember(path.to_string()))?;
    scalar(value).ok_or_else(|| IdError::NotScalar(path.to_string()))
}

fn scalar(json: &str) -> Option<String> {
    match json.bytes().next()? {
        b'"' => serde_json::from_str(json).ok(),
        b'-' | b'0'..=b'9' => Some(json.to_owned()),
        _ => None,
    }
}

/// Makes ids of 32 hexadecimal digits: the time, a counter and random digits.
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
    let mut text = format!("{{\"_id\":{}", quoted(id));
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
    fn an_id_is_text_or_a_number_at_a_path() {
        let path = |text: &str| text.parse::<Path>().unwrap();
        assert_eq!(id_at(&path("n.é"), r#"{"n":{"é":"\u00e9"}}"#).unwrap(), "é");
        assert_eq!(id_at(&path("n"), r#"{"n":-1.50}"#).unwrap(), "-1.50");
        assert_eq!(id_at(&path("a.b"), "{}"), Err(IdError::NoMember("a.b".to_owned())));
        assert_eq!(id_at(&path("a"), r#"{"a":[1]}"#), Err(IdError::NotScalar("a".to_owned())));
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
