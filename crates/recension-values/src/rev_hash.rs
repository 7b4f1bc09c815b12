//! The hash of a revision by CouchDB's rule (`couch_db:new_revid`): the MD5 of an Erlang external term
//! of deletion, parent, body and attachments. Pure.

use md5::{Digest, Md5};

use crate::error::Result;
use crate::json::{Event, Minified, Parser, Visitor, is_reserved, minify_object_beside};
use crate::revid::RevId;
use crate::term::{self, Encoder, Mark};

/// The properties of an attachment that a revision's hash depends on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttachmentDigest {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// The MD5 of its stored bytes.
    pub md5: [u8; 16],
}

/// Bytes of a revision's term before its body, if the parent's suffix is a hash.
const HEAD_BYTES_USUAL: usize = 64;

/// A body in the form in which it is hashed.
#[derive(Clone, Debug)]
pub struct HashableBody(Vec<u8>);

impl HashableBody {
    /// Prepares a minified body.
    ///
    /// # Errors
    /// `Error::NumberOutOfRange` for numbers that CouchDB cannot read
    /// either;
    /// `Error::Json`.
    pub fn of(body: &str) -> Result<Self> {
        let mut encoder = Encoder::with_room_for(body.len());
        let mut parser = Parser::of_text(body);
        while let Some(event) = parser.step()? {
            encoder.event(event)?;
        }
        Ok(Self::encoded(encoder))
    }

    /// Prepares a minified object; `None` if it has a member that no body may have.
    ///
    /// # Errors
    /// As [`HashableBody::of`].
    pub fn unless_reserved(body: &str) -> Result<Option<Self>> {
        let mut encoder = Encoder::with_room_for(body.len());
        let mut parser = Parser::of_text(body);
        while let Some(event) = parser.step()? {
            if let Event::Key(name) = event
                && parser.depth() == 1
                && is_reserved(&name.decode(), &[])
            {
                return Ok(None);
            }
            encoder.event(event)?;
        }
        Ok(Some(Self::encoded(encoder)))
    }

    /// The body that an encoder has encoded.
    pub fn encoded(encoder: Encoder) -> Self {
        HashableBody(encoder.into_bytes())
    }

    /// Minifies an object, without its reserved members and those named in `also`, and prepares it in the same pass.
    pub fn beside_minifying(bytes: &[u8], also: &[&str]) -> Result<(Minified, Result<Self>)> {
        let mut encoder =
            Beside { encoder: Encoder::with_room_for(bytes.len()), member: Mark::default(), lost_at: None };
        let minified = minify_object_beside(bytes, also, &mut encoder)?;
        let Beside { encoder, lost_at, .. } = encoder;
        let hashable = match lost_at {
            None => Ok(Self::encoded(encoder)),
            // Rare: the error, or the rest after duplicate members, comes from the minified text.
            Some(_) => Self::of(&minified.text),
        };
        Ok((minified, hashable))
    }

    /// Its term, without the byte of the version.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Bytes that it holds.
    pub fn len_bytes(&self) -> usize {
        self.0.len()
    }
}

/// The id of the revision made from `parent`, with `body`, or which deletes the document.
///
/// `attachments` are in the order in which the document names them.
pub fn revision_id(
    parent: Option<&RevId>,
    deleted: bool,
    body: &HashableBody,
    attachments: &[AttachmentDigest],
) -> RevId {
    // The part before the body, then the part after it.
    let mut part = term::begin_revision(5, HEAD_BYTES_USUAL);
    term::put_atom(&mut part, if deleted { "true" } else { "false" });
    match parent {
        None => {
            term::put_integer(&mut part, 0);
            term::put_integer(&mut part, 0);
        }
        Some(rev) => {
            term::put_integer(&mut part, i64::from(rev.generation()));
            term::put_binary(&mut part, rev.suffix_bytes());
        }
    }
    let mut hash = Md5::new();
    for bytes in [&part, &body.0] {
        hash.update(bytes);
    }
    part.clear();
    if !attachments.is_empty() {
        term::put_list(&mut part, attachments.len());
        for attachment in attachments.iter().rev() {
            term::put_tuple(&mut part, 3);
            term::put_binary(&mut part, attachment.name.as_bytes());
            term::put_binary(&mut part, attachment.content_type.as_bytes());
            term::put_binary(&mut part, &attachment.md5);
        }
    }
    // The end of the attachments, and the end of all.
    term::put_nil(&mut part);
    term::put_nil(&mut part);
    let hash = hash.chain_update(&part).finalize();
    RevId::new(parent.map_or(0, RevId::generation).saturating_add(1), hash.into())
}

/// An encoder beside a minifier.
struct Beside {
    encoder: Encoder,
    /// The beginning of the last top-level member.
    member: Mark,
    /// The place in the output at which the text turned out not to be encodable on the way.
    lost_at: Option<usize>,
}

impl Visitor for Beside {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        if self.encoder.event(event).is_err() {
            self.lost_at.get_or_insert(self.encoder.mark().at);
            // The next member then begins at another place.
            self.encoder.spoil();
        }
    }

    fn member(&mut self) {
        self.member = self.encoder.mark();
    }

    fn withdraw(&mut self) {
        self.encoder.rewind(self.member);
        self.lost_at = self.lost_at.filter(|lost_at| *lost_at < self.member.at);
    }

    fn superseded(&mut self) {
        self.lost_at.get_or_insert(0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names as they stand in a text, and as decoded.
    const NAMES: [(&str, &str); 9] = [
        ("a", "a"),
        ("\\u0061", "a"),
        ("b", "b"),
        ("é\\n", "é\n"),
        ("", ""),
        ("id", "id"),
        ("_id", "_id"),
        ("\\u005fx", "_x"),
        ("_replication_id", "_replication_id"),
    ];
    const TAKEN: [&str; 3] = ["id", "_id", "_x"];
    /// Values as they stand in a text, with places for blanks.
    const VALUES: [&str; 12] = [
        "1",
        "-0.50e+1",
        "\"\"",
        "\"a long text, \\\"and\\\" \\ud83d\\ude00 what follows it é\"",
        "true",
        "null",
        "[~]",
        "{~}",
        "[~1~,~[~255~]~,~\"x y\"~]",
        "{~\"id\"~:~1~,~\"_id\"~:~{~\"x\"~:~false~}~}",
        "[~{~\"a\"~:~1~}~,~{~\"a\"~:~2~}~]",
        "123456789012345678901234567890",
    ];

    /// The text with the elements of `blanks` at its places, one after the other.
    fn blanked(text: &str, blanks: &[&str]) -> String {
        let mut blanks = blanks.iter().cycle();
        let parts = text.split('~').map(str::to_owned);
        parts.reduce(|before, part| before + blanks.next().unwrap_or(&"") + &part).unwrap()
    }

    fn object(members: &[(&str, &str)]) -> String {
        let members: Vec<String> = members.iter().map(|(name, value)| format!("~\"{name}\"~:~{value}~")).collect();
        format!("~{{~{}}}~", members.join(","))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn blanks_reserved_members_and_those_that_come_twice_are_neither_in_the_text_nor_in_the_revision(
            members in prop::collection::vec((prop::sample::select(&NAMES[..]), prop::sample::select(&VALUES[..])), 0..9),
            blanks in prop::collection::vec(prop::sample::select(&["", "", "", " ", "\n", "\t\r  "][..]), 1..30),
        ) {
            let as_they_stand: Vec<(&str, &str)> = members.iter().map(|((raw, _), value)| (*raw, *value)).collect();
            let text = blanked(&object(&as_they_stand), &blanks);
            let later = |at: usize| members[at + 1..].iter().any(|((_, later), _)| *later == members[at].0.1);
            let (gone, stay): (Vec<usize>, Vec<usize>) =
                (0..members.len()).filter(|at| !later(*at)).partition(|at| TAKEN.contains(&members[*at].0.1));
            let stay: Vec<(&str, &str)> = stay.into_iter().map(|at| as_they_stand[at]).collect();
            let reserved: Vec<(String, String)> =
                gone.into_iter().map(|at| (members[at].0.1.to_owned(), blanked(members[at].1, &[""]))).collect();

            let (minified, hashable) = HashableBody::beside_minifying(text.as_bytes(), &["id"]).unwrap();
            let expected = blanked(&object(&stay), &[""]);
            prop_assert_eq!(&minified, &Minified { text: expected.clone(), reserved, kind: "an object" });
            prop_assert_eq!(hashable.unwrap().0, HashableBody::of(&expected).unwrap().0);
        }
    }
}
