//! `multipart/related` and `multipart/mixed`: documents with the bytes of their attachments, in and out, in pieces.

use std::ops::Range;
use std::sync::Arc;

use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE};
use md5::{Digest as _, Md5};
use recension::json::quote;
use recension::{AttachmentInfo, CollectionAt, Encoding, Following, Upload};

use super::incoming::{self, Incoming};
use super::inline::{Blocks, Comes, Inline, push_member};
use super::intake::Intake;
use super::multipart_parser::{Event, Malformed, Parser};
use super::range::content_range;
use super::reading::{Extras, Shown};
use super::revisions::{self, Opened};
use super::streaming;
use super::within::{Limited, edited, is_made_up};
use super::writing::{named_rev, written};
use recension_app::auth::databases::Database;
use recension_app::identity::random::new_uuid;
use recension_app::request::Request;
use recension_app::state::App;
use recension_wire::answer::{Answer, receipt};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{BODY_WEIGHT, CHUNK_BYTES};

/// Whether the body is a document with its attachments behind it.
pub(crate) fn is_related(request: &Request) -> bool {
    request
        .header(CONTENT_TYPE)
        .is_some_and(|value| value.trim_start().to_ascii_lowercase().starts_with("multipart/related"))
}

/// Whether the client names one of these types in `Accept`, or another of parts and anything else. A client that
/// accepts anything, and names none, gets JSON.
pub(crate) fn is_taken(request: &Request, types: &[&str]) -> bool {
    let accepted = request.header(ACCEPT).unwrap_or_default().split(',');
    let named = || accepted.clone().map(|value| value.split(';').next().unwrap_or_default().trim());
    let parts = |own: &str| own.get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/"));
    named().any(|own| types.iter().any(|wanted| own.eq_ignore_ascii_case(wanted)))
        || (named().any(parts) && named().any(|own| own == "*/*"))
}

impl From<Malformed> for ApiError {
    fn from(error: Malformed) -> Self {
        match error {
            Malformed::HeadTooLong | Malformed::TooManyParts => {
                ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error.to_string())
            }
            _ => ApiError::bad_request(error.to_string()),
        }
    }
}

/// A body that arrives.
struct Arriving<'r> {
    request: &'r mut Request,
    parser: Parser,
}

impl Arriving<'_> {
    async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some(event) = self.parser.next_event()? {
                return Ok(event);
            }
            match self.request.piece().await? {
                Some(piece) => self.parser.feed(&piece),
                None => return Err(ApiError::bad_request("The multipart body ends before its last boundary.")),
            }
        }
    }
}

/// PUT of a document with attachments behind it. A part with a file name is the attachment of that name. Parts without
/// one are the attachments that the document announced (`"follows": true`), in its order.
pub(crate) async fn put(mut request: Request, db: Database, id: &str, within: Limited) -> Result<Answer> {
    let parser = Parser::new(request.header(CONTENT_TYPE).unwrap_or_default())?;
    let max = request.app.settings.live().max_request_size;
    let mut arriving = Arriving { request: &mut request, parser };
    let text = document_text(&mut arriving, max).await?;
    let max = arriving.request.app.settings.live().max_document_size;
    if arriving.request.query.get("new_edits") == Some("false") {
        let rev = arriving.request.query.get("rev").map(str::to_owned);
        let mut write = incoming::replicated_as(id, &text, rev.as_deref(), max)?;
        if is_made_up(within.as_deref(), id, write.path()) {
            let rev = write.path().first().map(ToString::to_string).unwrap_or_default();
            return Ok(Answer::json(StatusCode::CREATED, receipt(id, rev)));
        }
        for (name, upload) in attachments(&mut arriving, &db, write.following()).await? {
            write = write.attach(&name, upload)?;
        }
        return revisions::merged(&request, &db, id, write).await;
    }
    let incoming = Incoming::parse(&text, max)?;
    let incoming = match named_rev(arriving.request, incoming.rev)? {
        Some(rev) => incoming.on(rev),
        None => incoming,
    };
    let incoming = edited(within.as_deref(), id, incoming)?;
    let mut write = incoming.write.renamed(id)?;
    for (name, upload) in attachments(&mut arriving, &db, write.following()).await? {
        write = write.attach(&name, upload)?;
    }
    written(&request, &db, write, StatusCode::CREATED).await
}

/// The first part.
async fn document_text(arriving: &mut Arriving<'_>, max: usize) -> Result<Vec<u8>> {
    let (mut text, mut coming) = (Vec::new(), arriving.request.body.coming());
    loop {
        match arriving.next().await? {
            Event::Part(_) => {}
            Event::Data(data) if text.len() + data.len() > max => return Err(ApiError::too_large()),
            Event::Data(data) => {
                coming.room_for(BODY_WEIGHT * (text.len() + data.len())).await?;
                text.extend_from_slice(&data);
            }
            Event::EndOfPart => return Ok(text),
            Event::End => return Err(ApiError::bad_request("The multipart body has no part with the document.")),
        }
    }
}

/// The parts behind it.
async fn attachments(
    arriving: &mut Arriving<'_>,
    db: &Database,
    mut announced: Vec<Following>,
) -> Result<Vec<(String, Upload)>> {
    let app = Arc::clone(&arriving.request.app);
    let mut uploads = Vec::with_capacity(announced.len());
    let mut open: Option<(Intake, Announced)> = None;
    loop {
        match arriving.next().await? {
            Event::Part(head) => {
                let by_name = announced.iter().position(|following| Some(&following.name) == head.name.as_ref());
                let place = by_name.unwrap_or(0);
                if place >= announced.len() {
                    return Err(ApiError::bad_request("There are more parts than attachments that follow."));
                }
                let following = announced.remove(place);
                let gzip = following.gzip || head.gzip;
                let content_type = following.content_type.clone();
                let intake = Intake::new(Arc::clone(&app), db.share(), content_type, gzip);
                open = Some((intake, Announced::new(following)));
            }
            Event::Data(data) => {
                if let Some((intake, announced)) = &mut open {
                    announced.take(&data)?;
                    intake.push(data).await?;
                }
            }
            Event::EndOfPart => {
                if let Some((intake, announced)) = open.take() {
                    let upload = intake.finish().await?;
                    uploads.push((announced.check(&upload)?, upload));
                }
            }
            Event::End => {
                return match announced.first() {
                    None => Ok(uploads),
                    Some(missing) => {
                        Err(ApiError::bad_request(format!("The attachment {} did not follow.", missing.name)))
                    }
                };
            }
        }
    }
}

/// What was announced of an attachment, and the bytes of it that have come.
struct Announced {
    following: Following,
    come: u64,
    md5: Option<Md5>,
}

impl Announced {
    fn new(following: Following) -> Self {
        Announced { come: 0, md5: following.md5.is_some().then(Md5::new), following }
    }

    fn take(&mut self, data: &[u8]) -> Result<()> {
        self.come += data.len() as u64;
        if self.following.length.is_some_and(|length| self.come > length) {
            return Err(ApiError::bad_request("attachment longer than expected"));
        }
        if let Some(md5) = &mut self.md5 {
            md5.update(data);
        }
        Ok(())
    }

    /// The attachment's name, if what came is what was announced. Its MD5 is that of the bytes as they came, or as they
    /// are stored: CouchDB compresses text before it hashes it, and clients send what they have read.
    fn check(self, upload: &Upload) -> Result<String> {
        if self.following.length.is_some_and(|length| self.come < length) {
            return Err(ApiError::bad_request("attachment shorter than expected"));
        }
        let came = self.md5.map(|md5| <[u8; 16]>::from(md5.finalize()));
        if self.following.md5 != came && self.following.md5 != Some(upload.md5()) {
            return Err(ApiError::content_md5_mismatch());
        }
        Ok(self.following.name)
    }
}

/// A part of a body, in pieces.
pub(crate) type Pieces = Box<dyn Iterator<Item = Result<Vec<u8>>> + Send>;

fn piece(text: impl Into<Vec<u8>>) -> Pieces {
    Box::new(std::iter::once(Ok(text.into())))
}

/// A document and its attachments as `multipart/related`, if the bytes of any are wanted.
pub(crate) async fn document(
    request: &Request,
    at: &CollectionAt,
    shown: Shown<'_>,
    extras: Extras,
    inline: &Inline,
) -> Result<Answer> {
    let boundary = new_uuid();
    let wanted = inline.wanted(at, shown)?;
    let body = related(at, shown, extras, inline, wanted, &boundary)?;
    let answer = streaming::bytes(&request.app, "multipart/related", Vec::new(), body, "").await?;
    Ok(answer.with(CONTENT_TYPE, format!("multipart/related; boundary=\"{boundary}\"")))
}

fn related(
    at: &CollectionAt,
    shown: Shown<'_>,
    extras: Extras,
    inline: &Inline,
    wanted: Vec<(AttachmentInfo, bool)>,
    boundary: &str,
) -> Result<Pieces> {
    let mut text = Shown { attachments: &[], ..shown }.to_json(at, extras)?;
    text.pop();
    text.push_str(",\"_attachments\":{");
    for (number, (info, follows)) in wanted.iter().enumerate() {
        if number > 0 {
            text.push(',');
        }
        push_member(info, if *follows { Comes::Follows } else { Comes::Stub }, inline.encoding, &mut text);
    }
    text.push_str("}}");
    let first = format!("--{boundary}\r\nContent-Type: application/json\r\n\r\n{text}");
    let (at, encoded, own) = (at.clone(), inline.encoding, boundary.to_owned());
    let parts = wanted.into_iter().filter(|(_, follows)| *follows).flat_map(move |(info, _)| {
        attachment(&at, &info, encoded, &own).unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
    });
    Ok(Box::new(piece(first).chain(parts).chain(piece(format!("\r\n--{boundary}--")))))
}

/// A name or content type may hold any character; a header must stay one line.
fn one_line(text: &str) -> String {
    text.chars().filter(|own| !own.is_control()).collect()
}

/// One attachment, with the boundary before it.
fn attachment(at: &CollectionAt, info: &AttachmentInfo, encoded: bool, boundary: &str) -> Result<Pieces> {
    let as_stored = encoded && info.encoding() == Encoding::Gzip;
    let reader = at.open_attachment(info)?;
    let (reader, length) = if as_stored { (reader.stored(), info.stored_length()) } else { (reader, info.length()) };
    let head = format!(
        "\r\n--{boundary}\r\nContent-Disposition: attachment; filename={}\r\nContent-Type: {}\r\n\
         Content-Length: {length}\r\n{}\r\n",
        quote(&one_line(&info.name)),
        one_line(&info.content_type),
        if as_stored { "Content-Encoding: gzip\r\n" } else { "" },
    );
    Ok(Box::new(piece(head).chain(Blocks::of(reader, CHUNK_BYTES))))
}

/// Ranges of one attachment's bytes as `multipart/byteranges` (RFC 9110, 14.6), status 206.
pub(crate) async fn byte_ranges(
    app: &Arc<App>,
    at: &CollectionAt,
    info: &AttachmentInfo,
    ranges: Vec<Range<u64>>,
) -> Result<Answer> {
    let boundary = new_uuid();
    let (at, info, own) = (at.clone(), info.clone(), boundary.clone());
    let parts = ranges.into_iter().flat_map(move |range| -> Pieces {
        let head = format!(
            "\r\n--{own}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n",
            one_line(&info.content_type),
            content_range(&range, info.length()),
        );
        match at.open_attachment(&info) {
            Ok(reader) => Box::new(piece(head).chain(Blocks::of(reader.range(range), CHUNK_BYTES))),
            Err(error) => Box::new(std::iter::once(Err(error.into()))),
        }
    });
    let body: Pieces = Box::new(parts.chain(piece(format!("\r\n--{boundary}--\r\n"))));
    let mut answer = streaming::bytes(app, "multipart/byteranges", Vec::new(), body, "").await?;
    answer.status = StatusCode::PARTIAL_CONTENT;
    Ok(answer.with(CONTENT_TYPE, format!("multipart/byteranges; boundary=\"{boundary}\"")))
}

/// A part of a `multipart/mixed`: its headers, and a revision, or an error that it is missing.
pub(crate) fn part(at: &CollectionAt, id: &str, opened: &Opened, extras: Extras, inline: &Inline) -> Result<Pieces> {
    let revision = match opened {
        Opened::Found(revision) => revision,
        Opened::Missing(rev) => return Ok(error_part(&format!("{{\"missing\":\"{rev}\"}}"))),
    };
    let shown = Shown::of(id, revision);
    let wanted = inline.wanted(at, shown)?;
    if !wanted.iter().any(|(_, follows)| *follows) {
        let text = shown.to_json(at, extras)?;
        return Ok(piece(format!("Content-Type: application/json\r\n\r\n{text}")));
    }
    let boundary = new_uuid();
    let head = format!("Content-Type: multipart/related; boundary=\"{boundary}\"\r\n\r\n");
    Ok(Box::new(piece(head).chain(related(at, shown, extras, inline, wanted, &boundary)?)))
}

/// A part with a document, whatever attachments it has within.
pub(crate) fn json_part(text: &str) -> Pieces {
    piece(format!("Content-Type: application/json\r\n\r\n{text}"))
}

/// A part with an error.
pub(crate) fn error_part(text: &str) -> Pieces {
    piece(format!("Content-Type: application/json; error=\"true\"\r\n\r\n{text}"))
}

/// Parts as `multipart/mixed`.
pub(crate) async fn mixed(
    app: &Arc<App>,
    parts: impl Iterator<Item = Result<Pieces>> + Send + 'static,
) -> Result<Answer> {
    let boundary = new_uuid();
    let own = boundary.clone();
    let parts = parts.enumerate().flat_map(move |(number, part)| -> Pieces {
        let begin = format!("{}--{own}\r\n", if number == 0 { "" } else { "\r\n" });
        match part {
            Ok(part) => Box::new(piece(begin).chain(part)),
            Err(error) => Box::new(std::iter::once(Err(error))),
        }
    });
    let body = parts.chain(piece(format!("\r\n--{boundary}--")));
    let answer = streaming::bytes(app, "multipart/mixed", Vec::new(), body, "").await?;
    Ok(answer.with(CONTENT_TYPE, format!("multipart/mixed; boundary=\"{boundary}\"")))
}
