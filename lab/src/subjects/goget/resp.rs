//! The client's part of Redis's protocol: sends commands and reads replies over one connection. Replies are whole or an
//! error.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::error::{LabError, Result};

/// Bytes of one string in a reply.
const STRING_BYTES_MAX: usize = 64 << 20;
/// Elements of one array in a reply.
const ELEMENTS_MAX: usize = 10_000_000;
/// Arrays within arrays.
const DEPTH_MAX: u32 = 8;

/// A reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::subjects) enum Reply {
    /// Nothing is there.
    Nil,
    /// A status, as `OK`.
    Status(String),
    /// A number.
    Number(i64),
    /// A string.
    Bytes(Vec<u8>),
    /// Several.
    Several(Vec<Reply>),
    /// The refusal, in Redis's words.
    Refused(String),
}

/// A connection, by TCP or by a unix socket.
pub(in crate::subjects) struct Connection<S: Read + Write = TcpStream> {
    reader: BufReader<S>,
    out: Vec<u8>,
    waiting: usize,
}

impl Connection {
    /// Connects.
    pub(in crate::subjects) fn open(address: SocketAddr) -> Result<Self> {
        let failed = || LabError::io("connecting to Redis");
        let stream = TcpStream::connect(address).map_err(failed())?;
        stream.set_nodelay(true).map_err(failed())?;
        Ok(Connection::on(stream))
    }
}

impl Connection<UnixStream> {
    /// Connects through a unix socket.
    pub(in crate::subjects) fn through(socket: &Path) -> Result<Self> {
        UnixStream::connect(socket).map(Connection::on).map_err(LabError::io("connecting to Redis"))
    }
}

impl<S: Read + Write> Connection<S> {
    fn on(stream: S) -> Self {
        Connection { reader: BufReader::with_capacity(1 << 16, stream), out: Vec::new(), waiting: 0 }
    }

    /// Adds a command to those that are sent next.
    pub(in crate::subjects) fn add(&mut self, words: &[&[u8]]) {
        self.out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
        for word in words {
            self.out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            self.out.extend_from_slice(word);
            self.out.extend_from_slice(b"\r\n");
        }
        self.waiting += 1;
    }

    /// Sends what was added in one write; returns the replies in order. A refusal is an error.
    pub(in crate::subjects) fn send(&mut self) -> Result<Vec<Reply>> {
        let sent = self.reader.get_mut().write_all(&self.out);
        self.out.clear();
        sent.map_err(LabError::io("sending to Redis"))?;
        let count = std::mem::take(&mut self.waiting);
        let replies = (0..count).map(|_| reply(&mut self.reader, 0)).collect::<Result<Vec<_>>>()?;
        match replies.iter().find_map(refusal) {
            Some(why) => Err(LabError::Subject { what: "a command".to_owned(), why: why.to_owned() }),
            None => Ok(replies),
        }
    }

    /// One command and its reply.
    pub(in crate::subjects) fn ask(&mut self, words: &[&[u8]]) -> Result<Reply> {
        self.add(words);
        Ok(self.send()?.pop().unwrap_or(Reply::Nil))
    }
}

fn refusal(reply: &Reply) -> Option<&str> {
    match reply {
        Reply::Refused(why) => Some(why),
        Reply::Several(all) => all.iter().find_map(refusal),
        _ => None,
    }
}

fn not_understood(what: &str) -> LabError {
    LabError::Subject { what: "Redis's reply".to_owned(), why: format!("\"{what}\" is not understood") }
}

fn reply(reader: &mut impl BufRead, depth: u32) -> Result<Reply> {
    let failed = || LabError::io("reading from Redis");
    let mut line = String::new();
    reader.by_ref().take(4096).read_line(&mut line).map_err(failed())?;
    let whole = line.strip_suffix("\r\n").ok_or_else(|| not_understood(&line))?;
    let mut letters = whole.chars();
    let kind = letters.next();
    let rest = letters.as_str();
    let length = |most: usize| match rest {
        "-1" => Ok(None),
        digits => digits.parse().ok().filter(|n| *n <= most).map(Some).ok_or_else(|| not_understood(whole)),
    };
    match kind {
        Some('+') => Ok(Reply::Status(rest.to_owned())),
        Some('-') => Ok(Reply::Refused(rest.to_owned())),
        Some(':') => rest.parse().map(Reply::Number).map_err(|_| not_understood(whole)),
        Some('$') => {
            let Some(length) = length(STRING_BYTES_MAX)? else { return Ok(Reply::Nil) };
            let mut bytes = vec![0; length + 2];
            reader.read_exact(&mut bytes).map_err(failed())?;
            bytes.truncate(length);
            Ok(Reply::Bytes(bytes))
        }
        Some('*') if depth < DEPTH_MAX => {
            let Some(count) = length(ELEMENTS_MAX)? else { return Ok(Reply::Nil) };
            (0..count).map(|_| reply(reader, depth + 1)).collect::<Result<_>>().map(Reply::Several)
        }
        _ => Err(not_understood(whole)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Reply> {
        reply(&mut text.as_bytes(), 0)
    }

    #[test]
    fn replies_are_read_and_what_is_none_is_an_error() {
        let bytes = |text: &str| Reply::Bytes(text.as_bytes().to_vec());
        for (text, expected) in [
            ("+OK\r\n", Reply::Status("OK".to_owned())),
            (":-3\r\n", Reply::Number(-3)),
            ("$-1\r\n", Reply::Nil),
            ("$2\r\n\r\n\r\n", bytes("\r\n")),
            ("*3\r\n$1\r\na\r\n*-1\r\n*0\r\n", Reply::Several(vec![bytes("a"), Reply::Nil, Reply::Several(vec![])])),
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text:?}");
        }
        for text in ["", "+OK", "?\r\n", "$5\r\nabc\r\n", "$x\r\n", "*2\r\n:1\r\n", "$99999999999\r\n", ":\r\n"] {
            assert!(read(text).is_err(), "{text:?}");
        }
        assert!(read(&"*1\r\n".repeat(50)).is_err());
        assert_eq!(refusal(&read("*1\r\n-ERR no\r\n").unwrap()), Some("ERR no"));
    }
}
