//! Frames: how messages come over a connection. A message is one frame or several, and every frame is short.

use std::io::{self, Read, Write};

use crate::limits::{FRAME_BYTES_MAX, MESSAGE_BYTES_MAX};

/// Bytes before a frame's payload: its length (4), the number of its request (4).
const HEADER_BYTES: usize = 8;

/// The bit of the length that says that the message continues in the next frame.
const MORE: u32 = 1 << 31;

/// A message and the number of the request that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) request: u32,
    pub(crate) payload: Vec<u8>,
}

/// Writes a message.
pub(crate) fn write(to: &mut impl Write, request: u32, payload: &[u8]) -> io::Result<()> {
    if payload.len() > MESSAGE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the message is longer than any may be"));
    }
    let mut rest = payload;
    let mut buffer = Vec::with_capacity(HEADER_BYTES + rest.len().min(FRAME_BYTES_MAX));
    loop {
        let (part, behind) = rest.split_at(rest.len().min(FRAME_BYTES_MAX));
        let more = if behind.is_empty() { 0 } else { MORE };
        buffer.clear();
        buffer.extend_from_slice(&(part.len() as u32 | more).to_le_bytes());
        buffer.extend_from_slice(&request.to_le_bytes());
        buffer.extend_from_slice(part);
        to.write_all(&buffer)?;
        rest = behind;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Reads a message; `None` if the other side has closed the connection between two messages.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Message>> {
    read_at_most(from, MESSAGE_BYTES_MAX)
}

/// The same, of so many bytes at most.
pub(crate) fn read_at_most(from: &mut impl Read, most: usize) -> io::Result<Option<Message>> {
    let wrong = |what: &'static str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let mut message: Option<Message> = None;
    loop {
        let mut header = [0; HEADER_BYTES];
        match from.read(&mut header) {
            Ok(0) if message.is_none() => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => from.read_exact(&mut header[read..])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let [a, b, c, d, request @ ..] = header;
        let (word, request) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(request));
        let len = (word & !MORE) as usize;
        let message = message.get_or_insert_with(|| Message { request, payload: Vec::new() });
        if len > FRAME_BYTES_MAX || message.payload.len() + len > most {
            return wrong("a frame is longer than any may be");
        }
        if message.request != request {
            return wrong("another message begins in the middle of one");
        }
        if word & MORE != 0 && len == 0 {
            return wrong("a frame that goes on is empty");
        }
        let start = message.payload.len();
        message.payload.resize(start + len, 0);
        from.read_exact(&mut message.payload[start..])?;
        if word & MORE == 0 {
            return Ok(Some(std::mem::replace(message, Message { request: 0, payload: Vec::new() })));
        }
    }
}
