//! Attachments: `/{db}/{id}/{name}`. Their bytes go both ways in pieces. An upload is read no faster than the store
//! takes it (`intake.rs`), and a download is made no faster than its client reads (`streaming.rs`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, IF_RANGE, RANGE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, Method, StatusCode};
use md5::{Digest as _, Md5};
use recension::{AttachmentInfo, CollectionAt, Encoding, Expect, RevId, Revision, Upload, Write};

use super::compacted::body_of;
use super::inline::Blocks;
use super::intake::Intake;
use super::multipart;
use super::range::{self, RequestedRange};
use super::streaming;
use super::writing::{named_rev, not_modified, written};
use recension_app::auth::databases::Database;
use recension_app::request::{Request, absolute};
use recension_wire::answer::{Answer, AnswerBody};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::CHUNK_BYTES;
use recension_wire::route::encode;

const CONTENT_MD5: HeaderName = HeaderName::from_static("content-md5");

/// `/{db}/{id}/{name}`
pub async fn endpoint(request: Request, db: Database, id: &str, name: &str) -> Result<Answer> {
    match *request.method() {
        Method::GET | Method::HEAD => get(&request, &db, id, name).await,
        Method::PUT => put(request, db, id, name).await,
        Method::DELETE => delete(&request, &db, id, name).await,
        _ => Err(ApiError::method_not_allowed("DELETE,GET,HEAD,PUT")),
    }
}

async fn get(request: &Request, db: &Database, id: &str, name: &str) -> Result<Answer> {
    let at = db.opened();
    let attachments = match request.query.rev("rev")? {
        Some(rev) => body_of(at, id, &rev)?.ok_or_else(ApiError::missing)?.attachments,
        None => {
            let document = at.current(id)?.ok_or_else(ApiError::missing)?;
            if document.deleted {
                return Err(ApiError::deleted());
            }
            document.attachments
        }
    };
    let info = attachments.into_iter().find(|info| info.name == name).ok_or_else(ApiError::no_attachment)?;
    let tag = STANDARD.encode(info.md5());
    if not_modified(request, &tag) {
        return Ok(Answer::empty(StatusCode::NOT_MODIFIED).etag(tag));
    }
    content(request, at, &info, &tag).await
}

/// The bytes: as they are stored if the client accepts their encoding, else decoded. `Range` works only on uncompressed
/// attachments, as in CouchDB: others would have to be decoded from the beginning for each request. A range that is
/// beyond the end is refused in any.
async fn content(request: &Request, at: &CollectionAt, info: &AttachmentInfo, tag: &str) -> Result<Answer> {
    let gzip = info.encoding() == Encoding::Gzip;
    let as_stored = gzip && takes_gzip(request.header(ACCEPT_ENCODING));
    let mut length = if as_stored { info.stored_length() } else { info.length() };
    let same = request.header(IF_RANGE).is_none_or(|own| own == format!("\"{tag}\""));
    let asked = match range::asked(request.header(RANGE), length) {
        _ if !same => RequestedRange::Whole,
        RequestedRange::Part(_) | RequestedRange::Parts(_) if gzip => RequestedRange::Whole,
        asked => asked,
    };
    let (mut status, mut content_range) = (StatusCode::OK, None);
    let mut part = None;
    match asked {
        RequestedRange::Parts(ranges) => {
            let mut answer = multipart::byte_ranges(&request.app, at, info, ranges).await?;
            if *request.method() == Method::HEAD {
                answer.body = AnswerBody::Whole(None);
            }
            return Ok(harmless(answer).etag(tag));
        }
        RequestedRange::Whole => {}
        RequestedRange::Unsatisfiable => {
            let error = ApiError::new(
                StatusCode::RANGE_NOT_SATISFIABLE,
                "requested_range_not_satisfiable",
                "Requested range not satisfiable",
            );
            return Ok(Answer::from(error).with(CONTENT_RANGE, format!("bytes */{length}")));
        }
        RequestedRange::Part(bytes) => {
            status = StatusCode::PARTIAL_CONTENT;
            content_range = Some(range::content_range(&bytes, length));
            length = bytes.end - bytes.start;
            part = Some(bytes);
        }
    }
    let mut answer = if *request.method() == Method::HEAD {
        let mut answer = Answer::of(StatusCode::OK, "application/octet-stream", "");
        answer.body = AnswerBody::Whole(None);
        answer
    } else {
        let reader = at.open_attachment(info)?;
        let reader = match part {
            Some(bytes) => reader.range(bytes),
            None if as_stored => reader.stored(),
            None => reader,
        };
        let blocks = Blocks::of(reader, CHUNK_BYTES);
        streaming::bytes(&request.app, "application/octet-stream", Vec::new(), blocks, "").await?
    };
    answer.status = status;
    // The stored content type came as a header or in JSON, and may be unfit for a header.
    answer = harmless(answer).with(CONTENT_TYPE, &info.content_type).etag(tag).with(CONTENT_LENGTH, length.to_string());
    answer = answer.with(ACCEPT_RANGES, if gzip { "none" } else { "bytes" });
    if gzip {
        answer = answer.varying("Accept-Encoding");
    }
    if as_stored {
        answer = answer.with(CONTENT_ENCODING, "gzip");
    }
    Ok(match content_range {
        Some(range) => answer.with(CONTENT_RANGE, range),
        None => answer,
    })
}

/// If a browser opens the attachment, the sandbox keeps its scripts from acting in this server's name.
fn harmless(mut answer: Answer) -> Answer {
    answer.as_it_is = true;
    answer.with(CONTENT_SECURITY_POLICY, "sandbox").with(X_CONTENT_TYPE_OPTIONS, "nosniff")
}

/// Whether a client accepts gzip: it names gzip or `*`, and the weight is not 0.
pub(crate) fn takes_gzip(header: Option<&str>) -> bool {
    let takes = |wanted: &str| {
        header.unwrap_or_default().split(',').find_map(|coding| {
            let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
            let refused = weight.trim().strip_prefix("q=").and_then(|q| q.trim().parse::<f32>().ok()) == Some(0.0);
            name.trim().eq_ignore_ascii_case(wanted).then_some(!refused)
        })
    };
    takes("gzip").or_else(|| takes("*")).unwrap_or(false)
}

async fn put(mut request: Request, db: Database, id: &str, name: &str) -> Result<Answer> {
    db.may_write(id)?;
    check_name(name)?;
    let rev = named_rev(&request, None)?;
    let expect = expected(&db, id, rev)?;
    let write = Write::same_body(id, expect)?;
    let content_type = request.header(CONTENT_TYPE).unwrap_or("application/octet-stream").to_owned();
    let gzip = match request.header(CONTENT_ENCODING).map(str::to_ascii_lowercase).as_deref() {
        None | Some("identity" | "") => false,
        Some("gzip") => true,
        Some(_) => {
            let reason = "Only gzip and identity content-encodings are supported";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "bad_content_type", reason));
        }
    };
    let upload = taken(&mut request, &db, content_type, gzip).await?;
    let answer = written(&request, &db, write.attach(name, upload)?, StatusCode::CREATED).await?;
    let to = format!("/{}/{}/{}", encode(db.name()), encode_id(id), encode(name));
    Ok(answer.location(&absolute(&request, &to)))
}

/// Takes the body of a request in, and refuses it if `Content-MD5` does not fit.
async fn taken(request: &mut Request, db: &Database, content_type: String, gzip: bool) -> Result<Upload> {
    let announced = request.header(CONTENT_MD5).map(|text| text.trim().to_owned());
    let mut md5 = announced.is_some().then(Md5::new);
    let mut intake = Intake::new(request.app.clone(), db.share(), content_type, gzip);
    while let Some(piece) = request.piece().await? {
        if let Some(md5) = &mut md5 {
            md5.update(&piece);
        }
        intake.push(piece).await?;
    }
    if let (Some(announced), Some(md5)) = (announced, md5)
        && STANDARD.encode(md5.finalize()) != announced
    {
        return Err(ApiError::content_md5_mismatch());
    }
    intake.finish().await
}

async fn delete(request: &Request, db: &Database, id: &str, name: &str) -> Result<Answer> {
    db.may_write(id)?;
    let rev = named_rev(request, None)?;
    let at = db.now()?;
    let document = at.current(id)?.ok_or_else(ApiError::missing)?;
    if rev.is_none() && !document.deleted && !document.attachments.iter().any(|info| info.name == name) {
        return Err(ApiError::no_attachment());
    }
    let expect = expected(db, id, rev)?;
    written(request, db, Write::same_body(id, expect)?.detach(name), StatusCode::OK).await
}

/// What a write of an attachment expects. A write that can never succeed is refused before its bytes are taken in.
fn expected(db: &Database, id: &str, rev: Option<RevId>) -> Result<Expect> {
    let at = db.now()?;
    let missing = || ApiError::new(StatusCode::CONFLICT, "not_found", "missing_rev");
    match (rev, at.current(id)?) {
        (None, Some(document)) if !document.deleted => Err(ApiError::conflict()),
        (None, _) => Ok(Expect::Absent),
        (Some(_), None) => Err(missing()),
        (Some(rev), Some(_)) if !at.leaves(id)?.iter().any(|leaf| leaf.rev == rev) => {
            Err(if at.get_revision(id, &rev)?.is_some() { ApiError::conflict() } else { missing() })
        }
        (Some(rev), Some(_)) => Ok(Expect::Leaf(rev)),
    }
}

/// CouchDB's words for a name that an attachment cannot have.
fn check_name(name: &str) -> Result<()> {
    if name.starts_with('_') {
        return Err(ApiError::attachment_name(name));
    }
    Ok(())
}

/// An id in a path: ids of design documents keep their slash.
pub(crate) fn encode_id(id: &str) -> String {
    match id.strip_prefix("_design/") {
        Some(name) => format!("_design/{}", encode(name)),
        None => encode(id),
    }
}

/// The write that makes another document say what a revision says, with its attachments.
pub fn copied(from: &Revision) -> Result<Write> {
    let mut write = Write::from_json(&from.body)?;
    for info in &from.attachments {
        write = write.attach_known(info)?;
    }
    Ok(write)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for (header, expected) in [
            ("gzip", true),
            ("deflate, gzip;q=0.5", true),
            ("*", true),
            ("GZIP", true),
            ("gzip;q=0, *", false),
            ("*;q=0", false),
            ("identity", false),
            ("", false),
        ] {
            assert_eq!(takes_gzip(Some(header)), expected, "{header}");
        }
        assert!(!takes_gzip(None));
    }
}
