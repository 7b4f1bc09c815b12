//! Compressed bodies: answers as `Accept-Encoding` asks for them, requests with `Content-Encoding: gzip`. An answer is
//! compressed while it is sent, a piece at a time, so that it takes the compressor's memory and no more. Negotiation is
//! pure.

use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG};
use http::{HeaderValue, StatusCode};
use http_body::Frame;

use crate::answer::{Answer, AnswerBody, BrokenOff, Made, Pieces};
use crate::limits::{CHUNK_BYTES, COMPRESSED_BYTES_MIN};
use recension::engine::budget::{Budget, Share};

/// A way to compress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coding {
    Zstd,
    Brotli,
    Gzip,
}

/// In the order in which they are preferred if the client does not care: by the time that they take.
const CODINGS: [(Coding, &str); 3] = [(Coding::Zstd, "zstd"), (Coding::Brotli, "br"), (Coding::Gzip, "gzip")];

/// Levels that take about as long as the reading of the rows; and a window that bounds the memory of one answer.
const ZSTD_LEVEL: i32 = 3;
const ZSTD_WINDOW_LOG: u32 = 18;
const BROTLI_QUALITY: u32 = 3;
const BROTLI_WINDOW_LOG: u32 = 18;
const GZIP_LEVEL: u32 = 4;

/// The available coding that a client likes best; `None` if it names none, or prefers the plain text.
pub fn negotiated(accept: &str) -> Option<Coding> {
    let weight = |wanted: &str| {
        accept.split(',').find_map(|coding| {
            let (name, parameters) = coding.split_once(';').unwrap_or((coding, ""));
            let weight = parameters.trim().strip_prefix("q=").map_or(Some(1.0), |q| q.trim().parse::<f32>().ok());
            name.trim().eq_ignore_ascii_case(wanted).then_some(weight.unwrap_or(0.0))
        })
    };
    let others = weight("*").unwrap_or(0.0);
    let mut best = (None, weight("identity").unwrap_or(0.0).max(f32::MIN_POSITIVE));
    for (coding, name) in CODINGS {
        let weight = weight(name).unwrap_or(others);
        if weight > best.1 || (weight >= best.1 && best.0.is_none()) {
            best = (Some(coding), weight);
        }
    }
    best.0
}

/// The answer as the client wants it. These are left as they are: short ones, types that the server does not compress,
/// bodies that are stored compressed, and feeds that wait, whose compressor would hold its memory for as long.
#[must_use]
pub fn encoded(mut answer: Answer, coding: Option<Coding>, budget: &Arc<Budget>) -> Answer {
    if answer.status == StatusCode::NOT_MODIFIED && answer.headers.contains_key(ETAG) {
        return answer.varying("Accept-Encoding");
    }
    let long = match &answer.body {
        AnswerBody::Whole(Some(bytes)) => bytes.len() >= COMPRESSED_BYTES_MIN,
        AnswerBody::Pieces(_) | AnswerBody::Made(_) => true,
        AnswerBody::Whole(None) => false,
    };
    let ours = |value: &HeaderValue| {
        let text = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
        matches!(text, "application/json" | "application/x-ndjson" | "text/csv" | "text/html" | "text/plain")
    };
    let text = answer.headers.get(CONTENT_TYPE).is_some_and(ours);
    let alone = answer.as_it_is || answer.headers.contains_key(CONTENT_ENCODING);
    if !long || !text || alone || !answer.status.is_success() {
        return answer;
    }
    answer = answer.varying("Accept-Encoding");
    let Some((coding, name)) = CODINGS.into_iter().find(|(own, _)| Some(*own) == coding) else { return answer };
    // A compressor lives as long as its answer. If memory is short, the answer is sent plain.
    let whole = matches!(&answer.body, AnswerBody::Whole(Some(bytes)) if bytes.len() <= CHUNK_BYTES);
    let share = if whole { None } else { budget.spare(coding.memory_bytes()) };
    if !whole && share.is_none() {
        return answer;
    }
    let body = std::mem::replace(&mut answer.body, AnswerBody::Whole(None));
    match EncodedBody::of(coding, body, share) {
        Ok(body) => answer.body = body,
        Err((error, body)) => {
            tracing::error!(%error, "an answer is sent as it is: it could not be compressed");
            answer.body = body;
            return answer;
        }
    }
    answer.headers.remove(CONTENT_LENGTH);
    answer.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    // The same entity in another form: only a weak tag may name both.
    let tag = answer.headers.get(ETAG).and_then(|tag| tag.to_str().ok()).filter(|tag| !tag.starts_with("W/"));
    match tag.map(|tag| format!("W/{tag}")) {
        Some(tag) => answer.with(ETAG, tag),
        None => answer,
    }
}

impl Coding {
    /// About how much memory a compressor holds, with the windows above.
    fn memory_bytes(self) -> usize {
        match self {
            Coding::Zstd | Coding::Brotli => 3 << 19,
            Coding::Gzip => 3 << 17,
        }
    }
}

enum Encoder {
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
}

impl Encoder {
    fn of(coding: Coding) -> io::Result<Self> {
        Ok(match coding {
            Coding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), ZSTD_LEVEL)?;
                encoder.window_log(ZSTD_WINDOW_LOG)?;
                Encoder::Zstd(encoder)
            }
            Coding::Brotli => {
                let writer = brotli::CompressorWriter::new(Vec::new(), 4096, BROTLI_QUALITY, BROTLI_WINDOW_LOG);
                Encoder::Brotli(Box::new(writer))
            }
            Coding::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                Encoder::Gzip(flate2::write::GzEncoder::new(Vec::new(), level))
            }
        })
    }

    /// The output for some bytes, which may be empty.
    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        Ok(std::mem::take(match self {
            Encoder::Zstd(encoder) => {
                encoder.write_all(bytes)?;
                encoder.get_mut()
            }
            Encoder::Brotli(encoder) => {
                encoder.write_all(bytes)?;
                encoder.get_mut()
            }
            Encoder::Gzip(encoder) => {
                encoder.write_all(bytes)?;
                encoder.get_mut()
            }
        }))
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Encoder::Zstd(encoder) => encoder.finish(),
            Encoder::Brotli(encoder) => Ok(encoder.into_inner()),
            Encoder::Gzip(encoder) => encoder.finish(),
        }
    }
}

/// A body that is compressed while it is sent.
struct EncodedBody {
    source: Source,
    /// None: it has ended.
    encoder: Option<Encoder>,
    /// The compressor's part of the memory for lists, if it lives long.
    _share: Option<Share>,
}

/// A body that is made into another one on its way.
#[derive(Debug)]
pub enum Source {
    Whole(Bytes),
    Pieces(Pieces),
    Made(Box<dyn Made>),
}

impl From<AnswerBody> for Source {
    fn from(body: AnswerBody) -> Self {
        match body {
            AnswerBody::Whole(bytes) => Source::Whole(bytes.unwrap_or_default()),
            AnswerBody::Pieces(pieces) => Source::Pieces(pieces),
            AnswerBody::Made(made) => Source::Made(made),
        }
    }
}

impl Source {
    /// The next piece of it.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        match self {
            Source::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Source::Whole(bytes) => Poll::Ready(Some(Ok(bytes.split_to(bytes.len().min(CHUNK_BYTES))))),
            Source::Pieces(pieces) => {
                let data = |frame: Frame<Bytes>| frame.into_data().unwrap_or_default();
                pieces.poll(context).map(|frame| frame.map(|frame| frame.map(data)))
            }
            Source::Made(made) => made.poll(context),
        }
    }
}

impl std::fmt::Debug for EncodedBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EncodedBody")
    }
}

impl EncodedBody {
    /// A body that fits into one piece is compressed at once, so that its length is known.
    fn of(coding: Coding, body: AnswerBody, share: Option<Share>) -> Result<AnswerBody, (io::Error, AnswerBody)> {
        let mut encoder = match Encoder::of(coding) {
            Ok(encoder) => encoder,
            Err(error) => return Err((error, body)),
        };
        let source = match body {
            AnswerBody::Whole(Some(bytes)) if bytes.len() <= CHUNK_BYTES => {
                let whole = encoder.push(&bytes).and_then(|mut out| {
                    out.extend(encoder.finish()?);
                    Ok(out)
                });
                return match whole {
                    Ok(out) => Ok(AnswerBody::Whole(Some(out.into()))),
                    Err(error) => Err((error, AnswerBody::Whole(Some(bytes)))),
                };
            }
            body => body.into(),
        };
        Ok(AnswerBody::Made(Box::new(EncodedBody { source, encoder: Some(encoder), _share: share })))
    }
}

impl Made for EncodedBody {
    /// Takes a piece after the other until something comes out.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        loop {
            let Some(encoder) = &mut self.encoder else { return Poll::Ready(None) };
            let Poll::Ready(piece) = self.source.poll(context) else { return Poll::Pending };
            let out = match piece {
                Some(Ok(piece)) => encoder.push(&piece).map_err(|_| BrokenOff),
                Some(Err(error)) => Err(error),
                None => self.encoder.take().map_or(Ok(Vec::new()), |encoder| encoder.finish().map_err(|_| BrokenOff)),
            };
            match out {
                Ok(out) if out.is_empty() => {}
                Ok(out) => return Poll::Ready(Some(Ok(out.into()))),
                Err(error) => {
                    self.encoder = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

/// The content of a gzip text, of at most `max` bytes.
///
/// # Errors
/// `None` for more than that.
pub(crate) fn gunzipped(bytes: &[u8], max: usize) -> io::Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(max as u64 + 1).read_to_end(&mut out)?;
    Ok((out.len() <= max).then_some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coding_is_the_one_that_the_client_likes_best() {
        for (accept, expected) in [
            ("", None),
            ("identity", None),
            ("deflate", None),
            ("gzip", Some(Coding::Gzip)),
            ("GZip ;q=0.5, deflate", Some(Coding::Gzip)),
            ("gzip, deflate, br, zstd", Some(Coding::Zstd)),
            ("gzip;q=1.0, br;q=0.9, zstd;q=0.8", Some(Coding::Gzip)),
            ("br;q=0.9, gzip;q=0.9", Some(Coding::Brotli)),
            ("*", Some(Coding::Zstd)),
            ("*, zstd;q=0", Some(Coding::Brotli)),
            ("gzip;q=0", None),
            ("gzip;q=nonsense", None),
            ("identity;q=1, gzip;q=0.5", None),
            ("identity;q=0.5, gzip;q=0.5", Some(Coding::Gzip)),
            ("*;q=0", None),
        ] {
            assert_eq!(negotiated(accept), expected, "{accept}");
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked_beyond_the_bound() {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&vec![b' '; 1_000_000]).unwrap();
        let packed = encoder.finish().unwrap();
        assert_eq!(gunzipped(&packed, 1_000_000).unwrap().map(|out| out.len()), Some(1_000_000));
        assert_eq!(gunzipped(&packed, 999_999).unwrap(), None);
        assert!(gunzipped(&packed[..packed.len() / 2], 1_000_000).is_err());
        assert!(gunzipped(b"no gzip", 10).is_err());
    }
}
