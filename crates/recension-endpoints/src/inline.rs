//! Attachments in the JSON of documents: stubs, bytes in Base64 (`attachments=true`, `atts_since`), or `follows` for
//! bytes in other parts. A document with bytes in it is made in pieces, so that each takes no more memory than one
//! piece.

use std::fmt::{self, Write as _};
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recension::json::quote;
use recension::{AttachmentInfo, AttachmentReader, CollectionAt, Encoding, RevId};

use super::body::rev_of;
use super::reading::{Extras, Shown};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{INLINE_CHUNK_BYTES, REQUEST_BYTES_MAX};
use recension_wire::query::Query;

/// The parameters of attachments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    /// Whether their bytes are sent.
    pub(crate) bytes: bool,
    /// If it is not empty, only bytes of attachments that are newer than one of these revisions are sent.
    since: Vec<RevId>,
    /// Whether `encoding` and `encoded_length` are sent.
    pub(crate) encoding: bool,
}

impl Inline {
    /// From a query.
    pub(crate) fn of(query: &Query) -> Result<Self> {
        let since = match query.get("atts_since") {
            None => None,
            Some(text) => {
                let revs: Vec<&serde_json::value::RawValue> =
                    serde_json::from_str(text).map_err(|_| ApiError::bad_json())?;
                Some(revs.into_iter().map(rev_of).collect::<Result<Vec<_>>>()?)
            }
        };
        Ok(Inline {
            bytes: since.is_some() || query.is_true("attachments"),
            since: since.unwrap_or_default(),
            encoding: query.is_true("att_encoding_info"),
        })
    }

    /// From the parameters of a list.
    pub(crate) fn in_rows(bytes: bool, encoding: bool) -> Self {
        Inline { bytes, since: Vec::new(), encoding }
    }

    /// For the parts of `multipart/mixed`: with bytes, as they are stored.
    pub(crate) fn following(self) -> Self {
        Inline { bytes: true, encoding: true, ..self }
    }

    /// The same, but only with attachments that are newer than one of these revisions.
    pub(crate) fn since(&self, revs: Vec<RevId>) -> Self {
        Inline { bytes: true, since: revs, encoding: self.encoding }
    }

    /// The attachments of a revision, each with whether its bytes are wanted.
    pub(crate) fn wanted(&self, at: &CollectionAt, shown: Shown<'_>) -> Result<Vec<(AttachmentInfo, bool)>> {
        let known = if self.bytes && !self.since.is_empty() && !shown.attachments.is_empty() {
            let path = at.ancestry(shown.id, &shown.rev)?.unwrap_or_default();
            let known = path.iter().filter(|rev| self.since.contains(rev)).map(RevId::generation);
            known.max().unwrap_or_default()
        } else {
            0
        };
        let wanted = |info: &AttachmentInfo| (info.clone(), self.bytes && info.revpos > known);
        Ok(shown.attachments.iter().map(wanted).collect())
    }

    /// A revision as JSON, in pieces.
    pub(crate) fn pieces(
        &self,
        at: &CollectionAt,
        shown: Shown<'_>,
        extras: Extras,
    ) -> Result<impl Iterator<Item = Result<String>> + Send + use<>> {
        let text = Shown { attachments: &[], ..shown }.to_json(at, extras)?;
        let wanted = self.wanted(at, shown)?;
        if wanted.is_empty() {
            return Ok(Pieces::One(Some(text)));
        }
        let mut before = text;
        before.pop();
        before.push_str(",\"_attachments\":{");
        let (at, encoding) = (at.clone(), self.encoding);
        let members = wanted.into_iter().enumerate().flat_map(move |(number, (info, bytes))| {
            member(&at, number, &info, bytes, encoding).unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
        });
        let last = std::iter::once(Ok("}}".to_owned()));
        Ok(Pieces::Many(Box::new(std::iter::once(Ok(before)).chain(members).chain(last))))
    }

    /// A revision as JSON, whole, as a part of a larger row. If it is larger than a request may be, it is refused.
    pub(crate) fn text(&self, at: &CollectionAt, shown: Shown<'_>, extras: Extras) -> Result<String> {
        let mut text = String::with_capacity(shown.body.len() + shown.id.len() + 96);
        self.write(at, shown, extras, &mut text)?;
        Ok(text)
    }

    /// The same, behind what was written before.
    pub(crate) fn write(
        &self,
        at: &CollectionAt,
        shown: Shown<'_>,
        extras: Extras,
        out: &mut impl fmt::Write,
    ) -> Result<()> {
        if !self.bytes && !self.encoding {
            return shown.write_json(at, extras, out);
        }
        let mut written = 0;
        for piece in self.pieces(at, shown, extras)? {
            let piece = piece?;
            written += piece.len();
            if written > REQUEST_BYTES_MAX {
                return Err(ApiError::too_large());
            }
            // That cannot fail.
            let _ = out.write_str(&piece);
        }
        Ok(())
    }
}

/// Usually there is only one piece.
enum Pieces {
    One(Option<String>),
    Many(Box<dyn Iterator<Item = Result<String>> + Send>),
}

impl Iterator for Pieces {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Pieces::One(text) => text.take().map(Ok),
            Pieces::Many(pieces) => pieces.next(),
        }
    }
}

/// How an attachment is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comes {
    Stub,
    Follows,
    Inline,
}

/// The beginning of an attachment's member: all of it, except inline bytes.
pub(crate) fn push_member(info: &AttachmentInfo, comes: Comes, encoding: bool, out: &mut String) {
    // Writing to a String cannot fail, here and below.
    let _ = write!(
        out,
        "{}:{{\"content_type\":{},\"revpos\":{},\"digest\":\"{}\"",
        quote(&info.name),
        quote(&info.content_type),
        info.revpos,
        info.digest()
    );
    match comes {
        Comes::Inline => {}
        Comes::Stub => drop(write!(out, ",\"length\":{},\"stub\":true", info.length())),
        Comes::Follows => drop(write!(out, ",\"length\":{},\"follows\":true", info.length())),
    }
    if encoding && info.encoding() == Encoding::Gzip {
        let _ = write!(out, ",\"encoding\":\"gzip\",\"encoded_length\":{}", info.stored_length());
    }
    match comes {
        Comes::Inline => out.push_str(",\"data\":\""),
        _ => out.push('}'),
    }
}

type Members = Box<dyn Iterator<Item = Result<String>> + Send>;

fn member(at: &CollectionAt, number: usize, info: &AttachmentInfo, bytes: bool, encoding: bool) -> Result<Members> {
    let mut begin = String::from(if number == 0 { "" } else { "," });
    push_member(info, if bytes { Comes::Inline } else { Comes::Stub }, encoding, &mut begin);
    let begin = std::iter::once(Ok(begin));
    if !bytes {
        return Ok(Box::new(begin));
    }
    // A multiple of three bytes encodes without padding.
    let data = Blocks::of(at.open_attachment(info)?, INLINE_CHUNK_BYTES).map(|block| Ok(STANDARD.encode(block?)));
    Ok(Box::new(begin.chain(data).chain(std::iter::once(Ok("\"}".to_owned())))))
}

/// Bytes in blocks; all but the last are full.
pub(crate) struct Blocks {
    reader: AttachmentReader,
    size: usize,
    ended: bool,
}

impl Blocks {
    pub(crate) fn of(reader: AttachmentReader, size: usize) -> Self {
        Blocks { reader, size, ended: false }
    }
}

impl Iterator for Blocks {
    type Item = Result<Vec<u8>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let mut block = Vec::new();
        match (&mut self.reader).take(self.size as u64).read_to_end(&mut block) {
            Err(error) => {
                self.ended = true;
                tracing::error!(%error, "an attachment cannot be read");
                Some(Err(ApiError::internal(error.to_string())))
            }
            Ok(count) => {
                self.ended = count < self.size;
                (count > 0).then_some(Ok(block))
            }
        }
    }
}

/// Adds `_attachments` with stubs to a document's text.
pub(crate) fn stubs(attachments: &[AttachmentInfo]) -> String {
    let mut out = ",\"_attachments\":{".to_owned();
    for (number, info) in attachments.iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        push_member(info, Comes::Stub, false, &mut out);
    }
    out.push('}');
    out
}
