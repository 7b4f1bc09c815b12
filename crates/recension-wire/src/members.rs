//! Request bodies that are objects of parameters: their members, each as raw text. Pure.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use recension::RevId;
use recension::conditions::similar;
use recension::json::{minify_naming_repeats, quote};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::{ApiError, Result};
use crate::limits::BODY_PARTS_MAX;

/// The members of an object, in their order.
pub type Members<'t> = Vec<(String, &'t RawValue)>;

struct Wrapped<'t>(Members<'t>);

impl<'de> serde::Deserialize<'de> for Wrapped<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    if members.len() == BODY_PARTS_MAX {
                        return Err(serde::de::Error::custom(TOO_MANY));
                    }
                    members.push(member);
                }
                Ok(members)
            }
        }
        from.deserialize_map(Collect).map(Wrapped)
    }
}

/// The members of a body that has to be an object.
///
/// # Errors
/// 400 with CouchDB's words, for invalid JSON and for JSON that is no object.
pub fn members_of(body: &[u8]) -> Result<Members<'_>> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'{') {
        return serde_json::from_slice::<Wrapped<'_>>(body)
            .map(|Wrapped(members)| members)
            .map_err(|error| parts_error(&error).unwrap_or_else(ApiError::bad_json));
    }
    match serde_json::from_slice::<&RawValue>(body) {
        Ok(_) => Err(ApiError::not_an_object()),
        Err(_) => Err(ApiError::bad_json()),
    }
}

/// So many members are compared with each other: a `_bulk_get` has a million questions of two or three.
const FEW: usize = 8;

/// The members of a question. One that is there twice is refused: whichever counted, the other one would be lost, and a
/// deletion by query would delete more.
///
/// # Errors
/// Those of [`members_of`]; 400 that names a member which comes twice.
pub fn distinct_members_of(body: &[u8]) -> Result<Members<'_>> {
    let members = members_of(body)?;
    let repeated = if members.len() <= FEW {
        members.iter().enumerate().find(|(at, (name, _))| members.iter().take(*at).any(|(own, _)| own == name))
    } else {
        let mut names = std::collections::HashSet::new();
        members.iter().enumerate().find(|(_, (name, _))| !names.insert(name))
    };
    match repeated {
        Some((_, (name, _))) => Err(ApiError::bad_request(format!("{name} is there twice in the request"))),
        None => Ok(members),
    }
}

/// Refuses a member that comes twice in its object, at any depth, in a text that people write for this server: rights,
/// definitions, credentials. Documents have another rule: the last one counts.
///
/// # Errors
/// 400 that names the member; 400 for invalid JSON.
pub fn refuse_repeated(body: &[u8]) -> Result<()> {
    match minify_naming_repeats(body).map_err(|_| ApiError::bad_json())?.1 {
        Some(name) => Err(ApiError::bad_request(format!("{name} is there twice in the request"))),
        None => Ok(()),
    }
}

/// A body, or a parameter, that has to be `what`, such as "a JSON string".
///
/// # Errors
/// 400 with CouchDB's words for invalid JSON, and with `what` for JSON that is something else.
pub fn value_of<T: serde::de::DeserializeOwned>(text: &[u8], what: &str) -> Result<T> {
    serde_json::from_slice(text).map_err(|_| match serde_json::from_slice::<serde::de::IgnoredAny>(text) {
        Ok(_) => ApiError::bad_request(format!("It must be {what}.")),
        Err(_) => ApiError::bad_json(),
    })
}

/// A body that has to be an object with the members of `T`. An array of their values is none, though serde takes it.
///
/// # Errors
/// 400, which says what does not read.
pub fn object_of<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T> {
    if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return Err(members_of(body).err().unwrap_or_else(ApiError::not_an_object));
    }
    serde_json::from_slice(body).map_err(|error| ApiError::bad_request(format!("The body does not read: {error}.")))
}

/// The text of an object that was read from a text, and changed since. What was not changed stays as it was written: a
/// double does not hold every number.
///
/// # Errors
/// Those of [`members_of`].
pub fn rewritten(text: &[u8], now: &Map<String, Value>) -> Result<String> {
    let before = members_of(text)?;
    let mut out = String::with_capacity(text.len() + 64);
    for (name, value) in now {
        out.push(if out.is_empty() { '{' } else { ',' });
        let is_same = |raw: &&RawValue| serde_json::from_str(raw.get()).is_ok_and(|raw: Value| raw == *value);
        let same = member(&before, name).filter(is_same);
        out.push_str(&quote(name));
        out.push(':');
        out.push_str(&same.map_or_else(|| value.to_string(), |raw| raw.get().to_owned()));
    }
    out.push_str(if out.is_empty() { "{}" } else { "}" });
    Ok(out)
}

/// Refuses the misspelt name of a member, or of a parameter: without it the request would mean something else. Others
/// that are not known are ignored, as in CouchDB, and so are those of one letter or two, which mark what is not cached.
///
/// # Errors
/// 400, with the name that was perhaps meant.
pub fn refuse_misspelt<'n>(names: impl Iterator<Item = &'n str>, known: &[&str]) -> Result<()> {
    refuse_misspelt_members(names.filter(|name| name.len() > 2), known)
}

/// The same of members of a body, where short names mark nothing.
///
/// # Errors
/// 400, with the name that was perhaps meant.
pub fn refuse_misspelt_members<'n>(names: impl Iterator<Item = &'n str>, known: &[&str]) -> Result<()> {
    for name in names.filter(|name| !known.contains(name)) {
        if let Some(meant) = similar(name, known.iter().copied()) {
            let reason = format!("There is no \"{name}\" here; perhaps \"{meant}\" is meant.");
            return Err(ApiError::bad_request(reason));
        }
    }
    Ok(())
}

/// The last member of a name: of several, the last counts.
pub fn member<'t>(members: &Members<'t>, name: &str) -> Option<&'t RawValue> {
    members.iter().rev().find(|(own, _)| own == name).map(|(_, value)| *value)
}

/// The elements of an array; `None` if it is none.
///
/// # Errors
/// 413 if there are more than a request has.
pub fn elements(value: &RawValue) -> Result<Option<Vec<&RawValue>>> {
    struct Collect;
    impl<'de> Visitor<'de> for Collect {
        type Value = Vec<&'de RawValue>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> std::result::Result<Self::Value, A::Error> {
            let mut elements = Vec::new();
            while let Some(element) = array.next_element()? {
                if elements.len() == BODY_PARTS_MAX {
                    return Err(serde::de::Error::custom(TOO_MANY));
                }
                elements.push(element);
            }
            Ok(elements)
        }
    }
    let found = serde_json::Deserializer::from_str(value.get()).deserialize_seq(Collect);
    found.map(Some).or_else(|error| parts_error(&error).map_or(Ok(None), Err))
}

/// What the parser is told to say if there are too many parts.
const TOO_MANY: &str = "too many parts";

fn parts_error(error: &serde_json::Error) -> Option<ApiError> {
    error.to_string().starts_with(TOO_MANY).then(ApiError::too_many_parts)
}

/// The elements of an array within a body, as JSON, read one after the other: nothing is held for those that are still
/// to come. Positions are those within the body's bytes.
#[derive(Clone, Debug)]
pub struct Elements {
    text: Bytes,
    at: usize,
}

impl Elements {
    /// Of a text that was read as JSON before; `None` if it is no array.
    pub fn of(text: Bytes) -> Option<Self> {
        let open = text.iter().position(|byte| !byte.is_ascii_whitespace())?;
        (text.get(open) == Some(&b'[')).then_some(Elements { text, at: open + 1 })
    }

    /// The place of the next one.
    fn next_range(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..)?;
        let before = rest.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b',')?;
        let rest = rest.get(before..).filter(|rest| rest.first() != Some(&b']'))?;
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<&RawValue>();
        values.next()?.ok()?;
        let start = self.at + before;
        self.at = start + values.byte_offset();
        Some(start..self.at)
    }

    fn text_at(&self, range: Range<usize>) -> Option<String> {
        Some(std::str::from_utf8(self.text.get(range)?).ok()?.to_owned())
    }

    /// The same in the opposite order.
    pub fn reversed(mut self) -> Reversed {
        let mut blocks = Vec::new();
        let mut number = 0_usize;
        while let Some(range) = self.next_range() {
            if number.is_multiple_of(BLOCK_ELEMENTS) {
                blocks.push(range.start);
            }
            number += 1;
        }
        Reversed { elements: self, blocks, block: Vec::new() }
    }
}

impl Iterator for Elements {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let range = self.next_range()?;
        self.text_at(range)
    }
}

/// Elements whose place is remembered by one of them.
const BLOCK_ELEMENTS: usize = 512;

/// The elements of an array, from its end: read in blocks.
#[derive(Clone, Debug)]
pub struct Reversed {
    elements: Elements,
    /// Where the blocks begin that are still to be read.
    blocks: Vec<usize>,
    /// The rest of the block that was read.
    block: Vec<Range<usize>>,
}

impl Iterator for Reversed {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.block.is_empty() {
            self.elements.at = self.blocks.pop()?;
            for _ in 0..BLOCK_ELEMENTS {
                self.block.extend(self.elements.next_range());
            }
        }
        let range = self.block.pop()?;
        self.elements.text_at(range)
    }
}

/// A revision that stands as a string.
pub fn rev_of(value: &RawValue) -> Result<RevId> {
    let text: String = serde_json::from_str(value.get()).map_err(|_| ApiError::bad_rev())?;
    text.parse().map_err(|_| ApiError::bad_rev())
}

/// `{id: [rev, …], …}`, as `_revs_diff`, `_missing_revs` and `_purge` take it, whose answers have each id once.
pub fn ids_and_revs(body: &[u8]) -> Result<Vec<(String, Vec<RevId>)>> {
    let read = |(id, revs): (String, &RawValue)| {
        let revs = elements(revs)?.ok_or_else(|| ApiError::bad_request("Invalid list of revisions"))?;
        Ok((id, revs.into_iter().map(rev_of).collect::<Result<_>>()?))
    };
    distinct_members_of(body)?.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One part more than a body has.
    fn many(open: &[u8], part: &[u8], close: &[u8]) -> Vec<u8> {
        let parts = vec![part; BODY_PARTS_MAX + 1].join(&b","[..]);
        [open, &parts, close].concat()
    }

    #[test]
    fn an_array_has_no_more_elements_than_a_request_may_have() {
        let text = String::from_utf8(many(b"[", b"1", b"]")).unwrap();
        let raw: &RawValue = serde_json::from_str(&text).unwrap();
        assert_eq!(elements(raw).unwrap_err(), ApiError::too_many_parts());
        assert_eq!(Elements::of(text.into()).unwrap().count(), BODY_PARTS_MAX + 1, "those are not held");
        assert!(elements(serde_json::from_str("{}").unwrap()).unwrap().is_none());
    }

    #[test]
    fn elements_are_read_one_after_the_other_from_both_ends() {
        let text = Bytes::from_static(br#" [ "a,]" , [1,[2]],{"x":"]"},-1.5e3,null ,true ] "#);
        let found: Vec<String> = Elements::of(text.clone()).unwrap().collect();
        assert_eq!(found, [r#""a,]""#, "[1,[2]]", r#"{"x":"]"}"#, "-1.5e3", "null", "true"]);
        let mut back: Vec<String> = Elements::of(text).unwrap().reversed().collect();
        back.reverse();
        assert_eq!(back, found);
        let many: Vec<String> = (0..3 * BLOCK_ELEMENTS + 7).map(|number| number.to_string()).collect();
        let mut back: Vec<String> = Elements::of(format!("[{}]", many.join(",")).into()).unwrap().reversed().collect();
        back.reverse();
        assert_eq!(back, many);
        for (text, count) in [("[]", Some(0)), ("{}", None), ("", None)] {
            assert_eq!(Elements::of(text.into()).map(Iterator::count), count);
        }
    }

    #[test]
    fn members_are_read_in_order_and_the_last_of_a_name_counts() {
        let members = members_of(br#" {"a":1,"b":[1, 2],"a":{"x":1e400}} "#).unwrap();
        assert_eq!(members.len(), 3);
        assert_eq!(member(&members, "a").unwrap().get(), r#"{"x":1e400}"#);
        assert_eq!(elements(member(&members, "b").unwrap()).unwrap().unwrap().len(), 2);
        for (body, error) in [
            (&b"[]"[..], ApiError::not_an_object()),
            (b"", ApiError::bad_json()),
            (b"{", ApiError::bad_json()),
            (b"{}x", ApiError::bad_json()),
            (b"{\"a\":\"\xff\"}", ApiError::bad_json()),
            (&many(b"{", b"\"a\":1", b"}"), ApiError::too_many_parts()),
        ] {
            assert_eq!(members_of(body).unwrap_err(), error, "{body:?}");
        }
        assert!(members_of(format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()).is_ok());
    }
}
