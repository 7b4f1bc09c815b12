//! A write as its author means it: the document, the expectation, the new body. Input is parsed and checked once, here.
//! Nothing here reads a store.

use crate::attachment::{Wanted, parse};
use crate::error::{Error, Result};
use crate::json::Minified;
#[cfg(feature = "async")]
use crate::limits::SHORT_BODY_BYTES_MAX;
use crate::limits::{DOCUMENT_ID_BYTES_MAX, JSON_BYTES_MAX, NAME_BYTES_MAX};
use crate::rev_hash::HashableBody;
use crate::revid::RevId;

/// What a change of a document's body must not do with `_deleted`.
pub const NOT_BY_A_CHANGE: &str = "absent from a changed body; delete the document";

/// The writer's expectation about the document before the write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expect {
    /// No expectation: the write replaces whatever is there.
    #[default]
    Anything,
    /// There is no document, or it is deleted.
    Absent,
    /// The document has this revision, which is a leaf and no deletion: the winner, or a losing leaf of a conflict.
    Revision(RevId),
    /// CouchDB's rule for `_rev`: the revision is a leaf, or there never was such a document. The second case allows a
    /// write here of a document that was made elsewhere. For an actor it is a conflict, as there, if the write is the
    /// collection's first, is of a design document or brings attachments, or if a function validates it.
    Leaf(RevId),
}

/// A document to be written or deleted.
#[derive(Clone, Debug)]
pub struct Write {
    pub id: Option<String>,
    pub expect: Expect,
    pub deleted: bool,
    pub body: String,
    pub hashable: HashableBody,
    /// The write keeps the parent's body; `body` is not used.
    pub same_body: bool,
    /// Nothing is written if the document has this content already.
    pub unless_same: bool,
    pub attachments: Wanted,
}

impl Write {
    /// Reads a JSON object. Members whose names begin with `_` are taken out of the body: `_id` names the document,
    /// `_rev` the revision that is replaced, `_deleted` says whether the write deletes. `_attachments` lists the
    /// attachments of the new document: new ones with their bytes in Base64 (`data`), kept ones as `"stub": true`.
    ///
    /// Without `_rev` the write expects nothing; see [`Write::expecting`].
    ///
    /// # Errors
    /// [`Error::Json`], [`Error::NotAnObject`], [`Error::ReservedField`] for other names with `_`,
    /// [`Error::BadField`], [`Error::BadName`] for the id, [`Error::NumberOutOfRange`], [`Error::BadAttachment`].
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        let (minified, hashable) = HashableBody::beside_minifying(text.as_ref(), &[])?;
        Self::of_minified(minified, hashable)
    }

    /// The write of a parsed text. `hashable` is the form that its revision is hashed from.
    pub fn of_minified(minified: Minified, hashable: Result<HashableBody>) -> Result<Self> {
        let Minified { text: body, reserved, kind } = minified;
        if kind != "an object" {
            return Err(Error::NotAnObject { found: kind });
        }
        let (mut id, mut expect, mut deleted, mut attachments) = (None, Expect::Anything, false, Wanted::default());
        for (field, value) in reserved {
            match field.as_str() {
                "_id" => id = Some(string_of(&value).ok_or(Error::BadField { field: "_id", expected: "a string" })?),
                "_rev" => {
                    let text = string_of(&value).ok_or(Error::BadField { field: "_rev", expected: "a string" })?;
                    expect = Expect::Leaf(text.parse()?);
                }
                "_deleted" if value == "true" => deleted = true,
                "_deleted" if value == "false" => {}
                "_deleted" => return Err(Error::BadField { field: "_deleted", expected: "true or false" }),
                "_attachments" => attachments = parse(&value)?.made_here(),
                _ => return Err(Error::ReservedField { field: field.chars().take(80).collect() }),
            }
        }
        if let Some(id) = &id {
            check_id(id)?;
        }
        let hashable = hashable?;
        Ok(Write { id, expect, deleted, body, hashable, same_body: false, unless_same: false, attachments })
    }

    /// Writes `body` as the document `id`, whatever the document says now. A `_rev` in the body is expected:
    /// [`Expect::Leaf`].
    pub fn put(id: &str, body: impl AsRef<[u8]>) -> Result<Self> {
        Self::from_json(body)?.with_id(id)
    }

    /// The same for a body that is minified and has no member twice, as a patched body of a store is. Neither is
    /// checked again.
    ///
    /// # Errors
    /// As [`Write::from_json`].
    #[doc(hidden)]
    pub fn put_minified(id: &str, body: String) -> Result<Self> {
        let is_plain = body.len() <= JSON_BYTES_MAX && body.starts_with('{');
        match if is_plain { HashableBody::unless_reserved(&body)? } else { None } {
            Some(hashable) => {
                let minified = Minified { text: body, reserved: Vec::new(), kind: "an object" };
                Self::of_minified(minified, Ok(hashable))?.with_id(id)
            }
            None => Self::put(id, body),
        }
    }

    /// Creates a document. It is given an id if `id` is `None`.
    pub fn create(id: Option<&str>, body: impl AsRef<[u8]>) -> Result<Self> {
        let write = Self::from_json(body)?.expecting(Expect::Absent);
        match id {
            Some(id) => write.with_id(id),
            None => Ok(write),
        }
    }

    /// Writes `body` as the document `id`, if the document is at `rev`.
    ///
    /// # Errors
    /// [`Error::BadField`] if the body has the `_rev` of another revision; as [`Write::from_json`].
    pub fn replace(id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Self> {
        Self::from_json(body)?.with_id(id)?.replacing(rev)
    }

    fn replacing(self, rev: &RevId) -> Result<Self> {
        match self.expect {
            Expect::Leaf(named) if named != *rev => {
                Err(Error::BadField { field: "_rev", expected: "the revision that is replaced, or absent" })
            }
            _ => Ok(self.expecting(Expect::Revision(*rev))),
        }
    }

    /// Writes what a patch, or a function, has made of the body that the document `id` has at `rev`. Attachments stay.
    ///
    /// # Errors
    /// [`Error::ReservedField`], or [`Error::BadField`], if it has a member that is of no body, other than the `_id`
    /// and the `_rev` of the document: `_deleted` would delete what was to be changed. As [`Write::from_json`].
    pub fn change(id: &str, rev: &RevId, body: impl AsRef<[u8]>) -> Result<Self> {
        let (minified, hashable) = HashableBody::beside_minifying(body.as_ref(), &[])?;
        let is_own = |field: &str| matches!(field, "_id" | "_rev");
        if let Some((field, _)) = minified.reserved.iter().find(|(field, _)| !is_own(field)) {
            return Err(match field.as_str() {
                "_deleted" => Error::BadField { field: "_deleted", expected: NOT_BY_A_CHANGE },
                _ => Error::ReservedField { field: field.chars().take(80).collect() },
            });
        }
        Ok(Self::of_minified(minified, hashable)?.with_id(id)?.replacing(rev)?.keep_attachments())
    }

    /// Deletes the document `id`, if it is at `rev`.
    pub fn delete(id: &str, rev: &RevId) -> Result<Self> {
        let mut write = Self::from_json("{}")?.with_id(id)?.expecting(Expect::Revision(*rev));
        write.deleted = true;
        Ok(write)
    }

    /// Whether deciding the write takes microseconds only, if its document is in memory.
    #[cfg(feature = "async")]
    pub fn is_short(&self) -> bool {
        self.body.len() <= SHORT_BODY_BYTES_MAX && self.attachments.brings_none()
    }

    /// The same write with another expectation.
    #[must_use]
    pub fn expecting(mut self, expect: Expect) -> Self {
        self.expect = expect;
        self
    }

    /// The same write, which is left out if the document has this body already, byte for byte. The answer then has the
    /// present revision.
    #[must_use]
    pub fn unless_same(mut self) -> Self {
        self.unless_same = true;
        self
    }

    /// The same write of the document `id`.
    ///
    /// # Errors
    /// [`Error::BadName`] if `id` cannot be one; [`Error::BadField`] if the body names another.
    pub fn with_id(self, id: &str) -> Result<Self> {
        self.of_document(id.to_owned())
    }

    pub fn of_document(mut self, id: String) -> Result<Self> {
        check_id(&id)?;
        match &self.id {
            Some(own) if *own != id => {
                Err(Error::BadField { field: "_id", expected: "the id that the document is written under" })
            }
            _ => {
                self.id = Some(id);
                Ok(self)
            }
        }
    }

    /// The same write of the document `id`, even if the body names another document.
    ///
    /// # Errors
    /// [`Error::BadName`] if `id` cannot be one.
    pub fn renamed(mut self, id: &str) -> Result<Self> {
        check_id(id)?;
        self.id = Some(id.to_owned());
        Ok(self)
    }

    /// The same write with its body in another spelling: a minified JSON object with the same meaning, for example with
    /// numbers in another form. The revision is hashed from the original spelling.
    #[must_use]
    pub fn reworded(mut self, body: String) -> Self {
        self.body = body;
        self
    }

    /// The same write, with its revision hashed from another body.
    ///
    /// # Errors
    /// As [`Write::from_json`].
    pub fn hashed_as(mut self, body: &str) -> Result<Self> {
        self.hashable = HashableBody::of(body)?;
        Ok(self)
    }

    /// What it expects of the document.
    pub fn expectation(&self) -> Expect {
        self.expect
    }

    /// The document's id, if it has one yet.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The body: minified, without reserved fields.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Whether it deletes.
    pub fn is_deletion(&self) -> bool {
        self.deleted
    }

    /// About how many bytes it holds.
    pub fn size_bytes(&self) -> usize {
        self.body.len() + self.hashable.len_bytes() + self.attachments.size_bytes()
    }
}

pub fn string_of(value: &str) -> Option<String> {
    use crate::json::{Event, Parser};
    match Parser::of_text(value).next_event() {
        Ok(Some(Event::String(text))) => Some(text.decode().into_owned()),
        _ => None,
    }
}

/// Checks that `id` can be a document's.
pub fn check_id(id: &str) -> Result<()> {
    let bad = |why| Err(Error::BadName { what: "document", name: id.chars().take(80).collect(), why });
    if id.is_empty() {
        return bad("an id has at least one character");
    }
    if id.len() > DOCUMENT_ID_BYTES_MAX {
        return bad("an id is at most 2048 bytes long");
    }
    if id.starts_with('_') && !(id.starts_with("_design/") && id.len() > "_design/".len()) {
        return bad("ids that start with _ are reserved, but for _design/...");
    }
    Ok(())
}

/// Checks that `name` can be a collection's or an index's.
pub fn check_name(what: &'static str, name: &str) -> Result<()> {
    let bad = |why| Err(Error::BadName { what, name: name.chars().take(80).collect(), why });
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return bad("a name has 1 to 238 characters");
    }
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
        return bad("a name begins with a letter, a digit or _");
    }
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$()+-/.".contains(&byte)) {
        return bad("a name is made of the letters a-z and A-Z, digits, and _ $ ( ) + - / .");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REV: &str = "1-967a00dff5e02add41819138abb3284d";

    #[test]
    fn reserved_fields_are_taken_out_of_a_document() {
        let text =
            format!(r#"{{ "a": 1, "_id": "x\u0079", "b" : [ {{"_id":2}} ], "_rev":"{REV}", "\u005fdeleted": true }}"#);
        let write = Write::from_json(text).unwrap();
        assert_eq!(write.body(), r#"{"a":1,"b":[{"_id":2}]}"#);
        assert_eq!(write.id(), Some("xy"));
        assert_eq!(write.expect, Expect::Leaf(REV.parse().unwrap()));
        assert!(write.is_deletion());
        assert_eq!(Write::from_json(r#"{"_id":"a","_id":"b"}"#).unwrap().id(), Some("b"));
        assert_eq!(Write::from_json(r#"{"_id":"a"}"#).unwrap().body(), "{}");
    }

    #[test]
    fn what_is_not_a_document_is_refused() {
        for (text, part) in [
            ("[]", "is an array"),
            ("1", "is a number"),
            ("", "a value was expected"),
            (r#"{"_foo":1}"#, "_foo"),
            (r#"{"_id":1}"#, "_id must be a string"),
            (r#"{"_id":""}"#, "at least one character"),
            (r#"{"_id":"_x"}"#, "reserved"),
            (r#"{"_rev":"1"}"#, "not a revision"),
            (r#"{"_deleted":1}"#, "true or false"),
            (r#"{"a":1e400}"#, "out of range"),
            ("{\n \"a\": tru }", "line 2, column 7"),
        ] {
            let message = Write::from_json(text).unwrap_err().to_string();
            assert!(message.contains(part), "{text}: {message}");
        }
        assert!(Write::put("a", r#"{"_id":"b"}"#).is_err());
        assert!(Write::from_json(format!("{{\"a\":{}}}", "1".repeat(614))).is_ok());
        assert!(Write::from_json(format!("{{\"a\":{}}}", "1".repeat(615))).is_err());
    }

    #[test]
    fn names_and_ids_are_checked() {
        for name in ["a", "A-b_c.d/e$(+)", "_users", "9"] {
            assert!(check_name("collection", name).is_ok(), "{name}");
        }
        for name in ["", "-a", "a b", "ä", "a\0", &"x".repeat(239)] {
            assert!(check_name("collection", name).is_err(), "{name}");
        }
        let message = |what| check_name(what, "-a").unwrap_err().to_string();
        assert!(message("index").contains("cannot name an index: "), "{}", message("index"));
        assert!(message("collection").contains("cannot name a collection: "));
        assert!(check_id("_design/x").is_ok() && check_id("a b\n").is_ok());
        assert!(check_id("_design/").is_err() && check_id(&"x".repeat(2049)).is_err());
    }
}
