//! A connection of HTTP/1 whose clients type URLs as they are: characters of a request's target that RFC 3986 wants
//! percent-encoded are encoded before hyper reads them, since CouchDB takes them. What hyper refuses on its own gets a
//! body that says why. Nothing else of what passes is changed.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use recension::json::quote;
use recension_gateway::raw::{encode, stays};

use crate::error::ApiError;

/// The stream below hyper.
pub struct RawTargets<S> {
    stream: S,
    heads: Heads,
    /// What was read and not taken yet, because encoded text is longer.
    waiting: Bytes,
    /// A refusal that takes the place of hyper's, while it is written, and the length of hyper's.
    refusal: Option<(Bytes, usize)>,
}

impl<S> RawTargets<S> {
    pub fn new(stream: S) -> Self {
        RawTargets { stream, heads: Heads::default(), waiting: Bytes::new(), refusal: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RawTargets<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.waiting.is_empty() {
            let before = out.filled().len();
            ready!(Pin::new(&mut this.stream).poll_read(context, out))?;
            let Some(encoded) = this.heads.pass(&out.filled()[before..]) else { return Poll::Ready(Ok(())) };
            out.set_filled(before);
            this.waiting = encoded.into();
        }
        let taken = this.waiting.split_to(this.waiting.len().min(out.remaining()));
        out.put_slice(&taken);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> RawTargets<S> {
    /// Writes the refusal that has begun; the length of hyper's own once it is written.
    fn poll_refusal(&mut self, context: &mut Context<'_>) -> Poll<io::Result<Option<usize>>> {
        while let Some((rest, length)) = &mut self.refusal {
            if rest.is_empty() {
                let length = *length;
                self.refusal = None;
                return Poll::Ready(Ok(Some(length)));
            }
            let wrote = ready!(Pin::new(&mut self.stream).poll_write(context, rest))?;
            if wrote == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            rest.advance(wrote);
        }
        Poll::Ready(Ok(None))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for RawTargets<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if self.refusal.is_none() {
            self.refusal = explained(bytes).map(|refusal| (refusal, bytes.len()));
        }
        match ready!(self.poll_refusal(context))? {
            Some(length) => Poll::Ready(Ok(length)),
            None => Pin::new(&mut self.stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = slices.iter().find(|slice| !slice.is_empty());
        if self.refusal.is_some() || first.is_some_and(|first| explained(first).is_some()) {
            return self.poll_write(context, first.map_or(&[], |first| first));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// A refusal that hyper writes on its own, with a body. Every answer of this server has a header `Server`; hyper's own
/// have none, and a head is all of them.
fn explained(head: &[u8]) -> Option<Bytes> {
    const HEAD_OF_HYPER_BYTES_MAX: usize = 256;
    if head.len() > HEAD_OF_HYPER_BYTES_MAX
        || !head.starts_with(b"HTTP/1.")
        || !matches!(head.get(9), Some(b'4' | b'5'))
        || !head.ends_with(b"\r\n\r\n")
    {
        return None;
    }
    let text = std::str::from_utf8(head).ok()?.to_ascii_lowercase();
    let status = text.get(9..12)?;
    if text.contains("\r\nserver:") || !text.contains("\r\ncontent-length: 0\r\n") {
        return None;
    }
    let ApiError { error, reason, .. } = match status {
        "414" => ApiError::target_too_long(),
        "431" => ApiError::bad_request("The request's headers are too many or too long."),
        "505" => ApiError::bad_request("The server speaks HTTP/1.0, HTTP/1.1 and HTTP/2."),
        _ => ApiError::bad_request(
            "The request's head is no HTTP/1.1: 'METHOD /path HTTP/1.1' and lines of 'Name: value'. A blank in a path \
             is written %20.",
        ),
    };
    let body = format!("{{\"error\":{},\"reason\":{}}}\n", quote(error), quote(&reason));
    let line = text.split("\r\n").next()?.to_ascii_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    Some(Bytes::from(format!(
        "{line}\r\nServer: Recension/{version}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )))
}

/// What comes next on a connection, as far as it has to be known to find the targets of requests. Pure. In doubt
/// nothing is encoded any more, and hyper decides.
#[derive(Default)]
struct Heads {
    next: Next,
    /// The beginning of a line that came in pieces.
    line: Vec<u8>,
    length: Option<u64>,
    chunked: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Next {
    /// The method of a request.
    #[default]
    Method,
    Target,
    /// What is behind the target in its line.
    Version,
    Header,
    /// So many bytes.
    Body(u64),
    ChunkSize,
    Trailer,
    /// Nothing that is looked at: HTTP/2, another protocol, or something odd.
    Anything,
}

/// More than any line that is looked at has.
const LINE_BYTES_MAX: usize = 64;

impl Heads {
    /// Reads what came; the same with its targets encoded, if something has to be.
    fn pass(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out: Option<Vec<u8>> = None;
        let mut copied = 0;
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            at += match self.next {
                Next::Anything => rest.len(),
                Next::Body(left) => {
                    let passed = usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
                    let left = left - passed as u64;
                    let after = if self.chunked { Next::ChunkSize } else { Next::Method };
                    self.next = if left == 0 { after } else { Next::Body(left) };
                    passed
                }
                Next::Target => {
                    let end = memchr::memchr2(b' ', b'\n', rest).unwrap_or(rest.len());
                    for (offset, byte) in rest[..end].iter().enumerate().filter(|(_, byte)| !stays(**byte)) {
                        let out = out.get_or_insert_with(|| Vec::with_capacity(bytes.len() + 64));
                        out.extend_from_slice(&bytes[copied..at + offset]);
                        encode(out, *byte);
                        copied = at + offset + 1;
                    }
                    if end < rest.len() {
                        self.next = Next::Version;
                    }
                    end
                }
                Next::Method => match memchr::memchr2(b' ', b'\n', rest) {
                    Some(end) => {
                        self.keep(&rest[..end]);
                        self.method(rest[end]);
                        end + 1
                    }
                    None => self.keep(rest),
                },
                Next::Version | Next::Header | Next::ChunkSize | Next::Trailer => match memchr::memchr(b'\n', rest) {
                    Some(end) => {
                        self.keep(&rest[..end]);
                        self.line_ended();
                        end + 1
                    }
                    None => self.keep(rest),
                },
            };
        }
        if let Some(out) = &mut out {
            out.extend_from_slice(&bytes[copied..]);
        }
        out
    }

    /// Keeps the beginning of a line.
    fn keep(&mut self, bytes: &[u8]) -> usize {
        let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
        bytes.len()
    }

    fn method(&mut self, end: u8) {
        let line = std::mem::take(&mut self.line);
        let method = line.trim_ascii();
        self.next = match (method, end) {
            // Empty lines before a request.
            (b"", b'\n') => Next::Method,
            (b"PRI" | b"CONNECT", _) => Next::Anything,
            (method, b' ') if method.len() < LINE_BYTES_MAX => Next::Target,
            _ => Next::Anything,
        };
        (self.length, self.chunked) = (None, false);
    }

    fn line_ended(&mut self) {
        let kept = std::mem::take(&mut self.line);
        let line = kept.trim_ascii();
        self.next = match self.next {
            Next::Version => Next::Header,
            Next::Header if line.is_empty() => match (self.chunked, self.length) {
                (true, Some(_)) => Next::Anything,
                (true, None) => Next::ChunkSize,
                (false, None | Some(0)) => Next::Method,
                (false, Some(length)) => Next::Body(length),
            },
            Next::Header => self.header(line),
            Next::ChunkSize => {
                let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
                match std::str::from_utf8(digits).ok().and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
                    Some(0) => Next::Trailer,
                    // The line's end behind the piece.
                    Some(size) if kept.len() < LINE_BYTES_MAX => Next::Body(size.saturating_add(2)),
                    _ => Next::Anything,
                }
            }
            Next::Trailer if line.is_empty() => Next::Method,
            next => next,
        };
        // The room of the line is used again.
        self.line = kept;
        self.line.clear();
    }

    fn header(&mut self, line: &[u8]) -> Next {
        let Some(colon) = memchr::memchr(b':', line) else { return Next::Header };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"upgrade") {
            return Next::Anything;
        }
        if name.eq_ignore_ascii_case(b"transfer-encoding") {
            if self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
                return Next::Anything;
            }
            self.chunked = true;
        }
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            if length.is_none() || self.length.is_some() {
                return Next::Anything;
            }
            self.length = length;
        }
        Next::Header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes, if it comes in pieces of a length.
    fn passed(text: &[u8], length: usize) -> Vec<u8> {
        let mut heads = Heads::default();
        text.chunks(length).flat_map(|piece| heads.pass(piece).unwrap_or_else(|| piece.to_vec())).collect()
    }

    #[test]
    fn targets_alone_are_encoded_however_they_come() {
        let cases: [(&str, &str); 6] = [
            ("GET /db?key=\"1\" HTTP/1.1\r\nX: \"1\"\r\n\r\n", "GET /db?key=%221%22 HTTP/1.1\r\nX: \"1\"\r\n\r\n"),
            ("\r\nGET /ä<>`{|}^\\ HTTP/1.1\r\n\r\n", "\r\nGET /%C3%A4%3C%3E%60%7B%7C%7D%5E%5C HTTP/1.1\r\n\r\n"),
            (
                "PUT /\" HTTP/1.1\r\ncontent-LENGTH: 8\r\n\r\nGET /\" \nGET /\" HTTP/1.1\r\n\r\n",
                "PUT /%22 HTTP/1.1\r\ncontent-LENGTH: 8\r\n\r\nGET /\" \nGET /%22 HTTP/1.1\r\n\r\n",
            ),
            (
                "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7;x=1\r\nGET /\" \r\n0\r\nT: \"\r\n\r\n\
                 GET /\" H\r\n",
                "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n7;x=1\r\nGET /\" \r\n0\r\nT: \"\r\n\r\n\
                 GET /%22 H\r\n",
            ),
            ("GET /\" HTTP/1.1\r\nUpgrade: x\r\n\r\nGET /\" ", "GET /%22 HTTP/1.1\r\nUpgrade: x\r\n\r\nGET /\" "),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET /\" ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nGET /\" "),
        ];
        for (text, expected) in cases {
            for length in 1..=text.len() {
                assert_eq!(String::from_utf8_lossy(&passed(text.as_bytes(), length)), expected, "{length}");
            }
        }
    }

    #[test]
    fn a_head_of_two_lengths_is_hypers_business() {
        for head in [
            "Content-Length: 1\r\nContent-Length: 1",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Content-Length: x",
            "Transfer-Encoding: gzip, chunked",
        ] {
            let text = format!("PUT /a HTTP/1.1\r\n{head}\r\n\r\n1GET /\" HTTP/1.1\r\n\r\n");
            assert_eq!(passed(text.as_bytes(), 7), text.as_bytes(), "{head}");
        }
    }
}
