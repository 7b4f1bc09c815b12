//! A persistent connection. Requests are bytes that were made beforehand, answers are read whole. It does less than any
//! client library, so that the server is what is measured: it makes one write and about one read for each request.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::{LabError, Result};

/// The longest answer that is read.
const ANSWER_BYTES_MAX: usize = 256 << 20;
/// Header fields of an answer at most.
const FIELDS_MAX: usize = 64;

/// A protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wire {
    /// HTTP/1.1.
    Http,
    /// Redis's.
    Resp,
    /// Apocrypha's: four bytes of length, then this many.
    Frames,
}

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    /// HTTP's status; of Redis 200, or 404 for nil, or 500 for an error; of Apocrypha 200 or 500.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// The way in which the end of a body is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Framing {
    Length(usize),
    Chunked,
}

/// A connection.
#[derive(Debug)]
pub struct Connection<S = TcpStream> {
    stream: S,
    wire: Wire,
    /// Bytes that were read and are not part of an answer yet.
    held: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub async fn connect(address: SocketAddr, wire: Wire) -> Result<Self> {
        let stream = TcpStream::connect(address).await.map_err(LabError::io(format!("connecting to {address}")))?;
        stream.set_nodelay(true).map_err(LabError::io("setting up a connection"))?;
        Ok(Connection::over(stream, wire))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Over a stream.
    pub fn over(stream: S, wire: Wire) -> Self {
        Connection { stream, wire, held: Vec::with_capacity(8 << 10) }
    }

    /// Asks, and reads the whole answer.
    pub async fn call(&mut self, request: &[u8]) -> Result<Answer> {
        self.stream.write_all(request).await.map_err(LabError::io("sending a request"))?;
        match self.wire {
            Wire::Http => self.http().await,
            Wire::Resp => self.resp().await,
            Wire::Frames => self.frame().await,
        }
    }

    /// Reads more.
    async fn more(&mut self) -> Result<()> {
        if self.held.len() > ANSWER_BYTES_MAX {
            return Err(malformed(&format!("more than {ANSWER_BYTES_MAX} bytes")));
        }
        if self.held.capacity() - self.held.len() < 4 << 10 {
            self.held.reserve((64 << 10).max(self.held.len()));
        }
        let read = self.stream.read_buf(&mut self.held).await.map_err(LabError::io("reading an answer"))?;
        if read == 0 { Err(malformed("the end of the connection")) } else { Ok(()) }
    }

    async fn http(&mut self) -> Result<Answer> {
        let (status, framing, mut at) = loop {
            match head(&self.held)? {
                Some(head) => break head,
                None => self.more().await?,
            }
        };
        let body = match framing {
            Framing::Length(length) => {
                let end = at + length;
                while self.held.len() < end {
                    self.more().await?;
                }
                let body = self.held.get(at..end).unwrap_or_default().to_vec();
                at = end;
                body
            }
            Framing::Chunked => {
                let mut body = Vec::new();
                loop {
                    let Some(line) =
                        self.held.get(at..).and_then(|rest| rest.windows(2).position(|two| two == b"\r\n"))
                    else {
                        self.more().await?;
                        continue;
                    };
                    let size = chunk_size(self.held.get(at..at + line).unwrap_or_default())?;
                    let (start, end) = (at + line + 2, at + line + 2 + size);
                    while self.held.len() < end + 2 {
                        self.more().await?;
                    }
                    body.extend_from_slice(self.held.get(start..end).unwrap_or_default());
                    at = end + 2;
                    if size == 0 {
                        break body;
                    }
                }
            }
        };
        self.held.drain(..at);
        Ok(Answer { status, body })
    }

    async fn frame(&mut self) -> Result<Answer> {
        loop {
            if let Some((length, rest)) = self.held.split_first_chunk::<4>() {
                let length = u32::from_be_bytes(*length) as usize;
                if let Some(body) = rest.get(..length) {
                    let body = body.to_vec();
                    self.held.drain(..4 + length);
                    let status = if body.starts_with(b"error: ") { 500 } else { 200 };
                    return Ok(Answer { status, body });
                }
            }
            self.more().await?;
        }
    }

    async fn resp(&mut self) -> Result<Answer> {
        let line = loop {
            match self.held.windows(2).position(|two| two == b"\r\n") {
                Some(line) => break line,
                None => self.more().await?,
            }
        };
        let word = self.held.get(1..line).unwrap_or_default().to_vec();
        let (kind, mut end) = (self.held.first().copied(), line + 2);
        let answer = match kind {
            Some(b'+' | b':') => Answer { status: 200, body: word },
            Some(b'-') => Answer { status: 500, body: word },
            Some(b'$') if word == b"-1" => Answer { status: 404, body: Vec::new() },
            Some(b'$') => {
                let text = String::from_utf8_lossy(&word);
                let length: usize = text.parse().map_err(|_| malformed(&format!("a length of {text}")))?;
                while self.held.len() < end + length + 2 {
                    self.more().await?;
                }
                let body = self.held.get(end..end + length).unwrap_or_default().to_vec();
                end += length + 2;
                Answer { status: 200, body }
            }
            _ => return Err(malformed(&String::from_utf8_lossy(&word))),
        };
        self.held.drain(..end);
        Ok(answer)
    }
}

fn malformed(found: &str) -> LabError {
    LabError::Wrong { what: "an answer".to_owned(), expected: "a whole one".to_owned(), found: found.to_owned() }
}

/// Status, framing and length of a whole head.
fn head(bytes: &[u8]) -> Result<Option<(u16, Framing, usize)>> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Response::new(&mut fields);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(malformed(&error.to_string())),
    };
    let mut framing = Framing::Length(0);
    for field in parsed.headers.iter() {
        if field.name.eq_ignore_ascii_case("content-length") {
            let text = String::from_utf8_lossy(field.value);
            framing = Framing::Length(text.trim().parse().map_err(|_| malformed(&format!("a length of {text}")))?);
        } else if field.name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunked;
        }
    }
    match framing {
        Framing::Length(length) if length > ANSWER_BYTES_MAX => Err(malformed(&format!("{length} bytes"))),
        framing => Ok(Some((parsed.code.unwrap_or_default(), framing, length))),
    }
}

fn chunk_size(line: &[u8]) -> Result<usize> {
    let text = String::from_utf8_lossy(line);
    let digits = text.split(';').next().unwrap_or_default().trim();
    usize::from_str_radix(digits, 16)
        .ok()
        .filter(|size| *size <= ANSWER_BYTES_MAX)
        .ok_or_else(|| malformed(&format!("a chunk of {digits}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers read of a server that sends `said` in pieces of this many bytes.
    fn answers(wire: Wire, said: &[u8], piece: usize, count: usize) -> Vec<Result<Answer>> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(1 << 20);
            let said = said.to_vec();
            tokio::spawn(async move {
                for piece in said.chunks(piece) {
                    theirs.write_all(piece).await.unwrap();
                    tokio::task::yield_now().await;
                }
            });
            let mut connection = Connection::over(ours, wire);
            let mut all = Vec::new();
            for _ in 0..count {
                all.push(connection.call(b"").await);
            }
            all
        })
    }

    #[test]
    fn answers_are_whole_however_they_arrive() {
        let http = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
            HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nb\r\n01234567890\r\n0\r\n\r\n\
            HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n";
        let resp = b"+OK\r\n$5\r\nhe\r\no\r\n$-1\r\n-ERR no\r\n:12\r\n";
        let of = |status, body: &[u8]| Answer { status, body: body.to_vec() };
        let cases: [(Wire, &[u8], Vec<Answer>); 2] = [
            (Wire::Http, http, vec![of(200, b"hello"), of(201, b"abc01234567890"), of(404, b"")]),
            (
                Wire::Resp,
                resp,
                vec![of(200, b"OK"), of(200, b"he\r\no"), of(404, b""), of(500, b"ERR no"), of(200, b"12")],
            ),
        ];
        for (wire, said, expected) in cases {
            for piece in [1, 2, 7, 1000] {
                let found: Vec<_> =
                    answers(wire, said, piece, expected.len()).into_iter().map(Result::unwrap).collect();
                assert_eq!(found, expected, "{wire:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        for (wire, said) in [
            (Wire::Http, &b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"[..]),
            (Wire::Http, b"hello there\r\n\r\n"),
            (Wire::Http, b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
            (Wire::Http, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
            (Wire::Resp, b"$x\r\n"),
            (Wire::Resp, b"?\r\n"),
        ] {
            let found = answers(wire, said, 1000, 1).remove(0);
            assert!(found.is_err(), "{found:?}");
        }
    }
}
