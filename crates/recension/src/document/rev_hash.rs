//! The hash of a revision by CouchDB's rule (`couch_db:new_revid`): the MD5 of an Erlang external term
//! of deletion, parent, body and attachments. Pure.

use super::json::{Event, Minified, Parser, Visitor, minify_object_beside};
use super::md5::Md5;
use super::term::{self, Encoder, Mark};
use super::{Result, RevId};

/// An attachment as far as the hash of a revision knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttachmentDigest {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// The MD5 of its stored bytes.
    pub md5: [u8; 16],
}

/// A body in the form in which it is hashed.
#[derive(Clone, Debug)]
pub struct HashableBody(Vec<u8>);

impl HashableBody {
    /// Prepares a minified body.
    ///
    /// # Errors
    /// [`Error::NumberOutOfRange`](super::Error::NumberOutOfRange) for numbers that CouchDB cannot read either;
    /// [`Error::Json`](super::Error::Json).
    pub fn of(body: &str) -> Result<Self> {
        let mut encoder = Encoder::with_room_for(body.len());
        let mut parser = Parser::of_text(body);
        while let Some(event) = parser.next_event()? {
            encoder.event(event)?;
        }
        Ok(Self::encoded(encoder))
    }

    /// What an encoder was told.
    pub(super) fn encoded(encoder: Encoder) -> Self {
        HashableBody(encoder.into_bytes())
    }

    /// Minifies an object, without its reserved members and those named in `also`, and prepares it in the same pass.
    pub(super) fn beside_minifying(bytes: &[u8], also: &[&str]) -> Result<(Minified, Result<Self>)> {
        let mut encoder =
            Beside { encoder: Encoder::with_room_for(bytes.len()), member: Mark::default(), lost_at: None };
        let minified = minify_object_beside(bytes, also, &mut encoder)?;
        let Beside { encoder, lost_at, .. } = encoder;
        let hashable = match lost_at {
            None => Ok(Self::encoded(encoder)),
            // Rare: what is wrong, or what is left of members that came twice, is told from the minified text.
            Some(_) => Self::of(&minified.text),
        };
        Ok((minified, hashable))
    }

    /// Bytes that it holds.
    pub fn len_bytes(&self) -> usize {
        self.0.len()
    }
}

/// The id of the revision that says `body` (or that the document is deleted), made from `parent`.
///
/// `attachments` are in the order in which the document names them.
pub fn revision_id(
    parent: Option<&RevId>,
    deleted: bool,
    body: &HashableBody,
    attachments: &[AttachmentDigest],
) -> RevId {
    let mut head = term::begin_revision(5);
    term::put_atom(&mut head, if deleted { "true" } else { "false" });
    match parent {
        None => {
            term::put_integer(&mut head, 0);
            term::put_integer(&mut head, 0);
        }
        Some(rev) => {
            term::put_integer(&mut head, i64::from(rev.generation()));
            term::put_binary(&mut head, rev.suffix_bytes());
        }
    }
    let mut tail = Vec::new();
    if !attachments.is_empty() {
        term::put_list(&mut tail, attachments.len());
        for attachment in attachments.iter().rev() {
            term::put_tuple(&mut tail, 3);
            term::put_binary(&mut tail, attachment.name.as_bytes());
            term::put_binary(&mut tail, attachment.content_type.as_bytes());
            term::put_binary(&mut tail, &attachment.md5);
        }
    }
    // The end of the attachments, and the end of all.
    term::put_nil(&mut tail);
    term::put_nil(&mut tail);
    let mut hash = Md5::new();
    for part in [&head, &body.0, &tail] {
        hash.update(part);
    }
    RevId::new(parent.map_or(0, RevId::generation).saturating_add(1), hash.finish())
}

/// An encoder beside a minifier.
struct Beside {
    encoder: Encoder,
    /// Where the top-level member begins that came last.
    member: Mark,
    /// Where in the output it was found that the text cannot be encoded on the way.
    lost_at: Option<usize>,
}

impl Visitor for Beside {
    #[inline]
    fn event(&mut self, event: Event<'_>) {
        if self.encoder.event(event).is_err() {
            self.lost_at.get_or_insert(self.encoder.mark().at);
            // So that the next member does not begin at the same place.
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
