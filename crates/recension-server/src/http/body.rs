//! Request bodies that are objects of parameters: their members, each as raw text. Pure.

use std::fmt;

use recension::RevId;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::{ApiError, Result};

/// The members of an object, in their order.
pub(crate) type Members<'t> = Vec<(String, &'t RawValue)>;

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
pub(crate) fn members_of(body: &[u8]) -> Result<Members<'_>> {
    let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'{') {
        return serde_json::from_slice::<Wrapped<'_>>(body)
            .map(|Wrapped(members)| members)
            .map_err(|_| ApiError::bad_json());
    }
    match serde_json::from_slice::<&RawValue>(body) {
        Ok(_) => Err(ApiError::not_an_object()),
        Err(_) => Err(ApiError::bad_json()),
    }
}

/// The last member of a name: of several, the last counts.
pub(crate) fn member<'t>(members: &Members<'t>, name: &str) -> Option<&'t RawValue> {
    members.iter().rev().find(|(own, _)| own == name).map(|(_, value)| *value)
}

/// The elements of an array; `None` if it is none.
pub(crate) fn elements(value: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(value.get()).ok()
}

/// A revision that stands as a string.
pub(crate) fn rev_of(value: &RawValue) -> Result<RevId> {
    let text: String = serde_json::from_str(value.get()).map_err(|_| ApiError::bad_rev())?;
    text.parse().map_err(|_| ApiError::bad_rev())
}

/// `{id: [rev, …], …}`, as `_revs_diff`, `_missing_revs` and `_purge` take it.
pub(crate) fn ids_and_revs(body: &[u8]) -> Result<Vec<(String, Vec<RevId>)>> {
    let read = |(id, revs): (String, &RawValue)| {
        let revs = elements(revs).ok_or_else(|| ApiError::bad_request("an array of revisions was expected"))?;
        Ok((id, revs.into_iter().map(rev_of).collect::<Result<_>>()?))
    };
    members_of(body)?.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_read_in_order_and_the_last_of_a_name_counts() {
        let members = members_of(br#" {"a":1,"b":[1, 2],"a":{"x":1e400}} "#).unwrap();
        assert_eq!(members.len(), 3);
        assert_eq!(member(&members, "a").unwrap().get(), r#"{"x":1e400}"#);
        assert_eq!(elements(member(&members, "b").unwrap()).unwrap().len(), 2);
        for (body, error) in [
            (&b"[]"[..], ApiError::not_an_object()),
            (b"", ApiError::bad_json()),
            (b"{", ApiError::bad_json()),
            (b"{}x", ApiError::bad_json()),
            (b"{\"a\":\"\xff\"}", ApiError::bad_json()),
        ] {
            assert_eq!(members_of(body).unwrap_err(), error, "{body:?}");
        }
        assert!(members_of(format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)).as_bytes()).is_ok());
    }
}
