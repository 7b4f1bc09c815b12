//! Frames: how messages come over a connection. A message is one frame or several, and every frame is short. How long a
//! message of several is, is said before it, so that its reader has made room when it comes.

use std::io::{self, ErrorKind, Read, Write};

use crate::limits::{FRAME_BYTES_MAX, MESSAGE_BYTES_MAX};

/// Bytes before a frame's payload: its length (4), the number of its request (4).
const HEADER_BYTES: usize = 8;

/// Longest message that is copied behind its header, to be one write of the system.
const TOGETHER_BYTES: usize = 8 << 10;

/// The bit of the length that says that the message continues in the next frame.
const MORE: u32 = 1 << 31;

/// The bit of the length of a frame that comes before a message and says how long that is.
const ANNOUNCES: u32 = 1 << 30;

/// A message and the number of the request that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) request: u32,
    pub(crate) payload: Vec<u8>,
}

/// Decides about a message that is coming.
pub(crate) trait Reception {
    /// So many bytes are coming, or the rest is refused.
    fn announced(&mut self, bytes: usize) -> io::Result<()>;

    /// Nothing came for a while. Of the message this many bytes have come; 0: it has not begun.
    fn nothing_came(&mut self, so_far: usize) -> io::Result<()>;
}

/// Takes what comes, in the time that the connection itself gives.
pub(crate) struct Anything;

impl Reception for Anything {
    fn announced(&mut self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn nothing_came(&mut self, _: usize) -> io::Result<()> {
        Err(ErrorKind::TimedOut.into())
    }
}

/// Writes a message.
pub(crate) fn write(to: &mut impl Write, request: u32, payload: &[u8]) -> io::Result<()> {
    if payload.len() > MESSAGE_BYTES_MAX {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the message is longer than any may be"));
    }
    let together = payload.len() <= TOGETHER_BYTES;
    let mut head = Vec::with_capacity(2 * HEADER_BYTES + if together { payload.len() } else { 0 });
    if payload.len() > FRAME_BYTES_MAX {
        push(&mut head, 4 | ANNOUNCES, request, &(payload.len() as u32).to_le_bytes());
    }
    let mut rest = payload;
    loop {
        let (part, behind) = rest.split_at(rest.len().min(FRAME_BYTES_MAX));
        let more = if behind.is_empty() { 0 } else { MORE };
        let (with_head, alone) = if together { (part, &[][..]) } else { (&[][..], part) };
        push(&mut head, part.len() as u32 | more, request, with_head);
        to.write_all(&head)?;
        to.write_all(alone)?;
        head.clear();
        rest = behind;
        if rest.is_empty() {
            return Ok(());
        }
    }
}

fn push(to: &mut Vec<u8>, word: u32, request: u32, payload: &[u8]) {
    to.extend_from_slice(&word.to_le_bytes());
    to.extend_from_slice(&request.to_le_bytes());
    to.extend_from_slice(payload);
}

/// Reads a message; `None` if the other side has closed the connection between two messages.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Message>> {
    read_at_most(from, MESSAGE_BYTES_MAX, &mut Anything)
}

/// The same, of this many bytes at most.
pub(crate) fn read_at_most(
    from: &mut impl Read,
    most: usize,
    reception: &mut impl Reception,
) -> io::Result<Option<Message>> {
    let wrong = |what: &'static str| Err(io::Error::new(ErrorKind::InvalidData, what));
    let (mut message, mut announced): (Option<Message>, Option<usize>) = (None, None);
    loop {
        let mut header = [0; HEADER_BYTES];
        let so_far = message.as_ref().map_or(0, |message| HEADER_BYTES + message.payload.len());
        if !fill(from, &mut header, so_far, reception)? {
            return if message.is_none() { Ok(None) } else { Err(ErrorKind::UnexpectedEof.into()) };
        }
        let [a, b, c, d, request @ ..] = header;
        let (word, request) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes(request));
        let len = (word & !(MORE | ANNOUNCES)) as usize;
        let begins = message.is_none();
        let message = message.get_or_insert_with(|| Message { request, payload: Vec::new() });
        if message.request != request {
            return wrong("another message begins in the middle of one");
        }
        if word & ANNOUNCES != 0 {
            let mut total = [0; 4];
            if !begins || len != total.len() || word & MORE != 0 {
                return wrong("a length comes where none may");
            }
            if !fill(from, &mut total, HEADER_BYTES, reception)? {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            let total = u32::from_le_bytes(total) as usize;
            if total <= FRAME_BYTES_MAX || total > most {
                return wrong("a message is longer than any may be, or no longer than a frame");
            }
            reception.announced(total)?;
            message.payload.reserve_exact(total);
            announced = Some(total);
            continue;
        }
        let start = message.payload.len();
        if len > FRAME_BYTES_MAX || start + len > announced.unwrap_or(most) {
            return wrong("a frame is longer than any may be");
        }
        let ends = word & MORE == 0;
        match announced {
            None if !ends => return wrong("a message goes on whose length was not said"),
            None => reception.announced(len)?,
            Some(_) if len == 0 => return wrong("a frame of a long message is empty"),
            Some(total) if ends != (start + len == total) => return wrong("a message has another length than it said"),
            Some(_) => {}
        }
        message.payload.resize(start + len, 0);
        let part = message.payload.get_mut(start..).unwrap_or_default();
        if !part.is_empty() && !fill(from, part, HEADER_BYTES + start, reception)? {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if ends {
            return Ok(Some(std::mem::replace(message, Message { request: 0, payload: Vec::new() })));
        }
    }
}

/// Reads this many bytes; false if there is no first one.
fn fill(from: &mut impl Read, to: &mut [u8], so_far: usize, reception: &mut impl Reception) -> io::Result<bool> {
    let mut at = 0;
    while let Some(rest) = to.get_mut(at..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) if at == 0 => return Ok(false),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => at += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                reception.nothing_came(so_far + at)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_says_how_long_it_is_before_it_comes() {
        #[derive(Default)]
        struct Noted(Vec<usize>);
        impl Reception for Noted {
            fn announced(&mut self, bytes: usize) -> io::Result<()> {
                self.0.push(bytes);
                Ok(())
            }
            fn nothing_came(&mut self, _: usize) -> io::Result<()> {
                Ok(())
            }
        }
        for length in [0, 10, FRAME_BYTES_MAX, FRAME_BYTES_MAX + 1, 3 * FRAME_BYTES_MAX] {
            let (mut written, mut noted) = (Vec::new(), Noted::default());
            write(&mut written, 7, &vec![1; length]).unwrap();
            let read = read_at_most(&mut &written[..], MESSAGE_BYTES_MAX, &mut noted).unwrap().unwrap();
            assert_eq!((read.request, read.payload.len(), noted.0), (7, length, vec![length]));
            assert!(read_at_most(&mut &written[..written.len() - 1], MESSAGE_BYTES_MAX, &mut Anything).is_err());
        }
    }

    #[test]
    fn a_message_has_the_length_that_it_said() {
        let mut long = Vec::new();
        write(&mut long, 7, &vec![1; FRAME_BYTES_MAX + 2]).unwrap();
        let without = &long[HEADER_BYTES + 4..];
        let mut other = long.clone();
        other[HEADER_BYTES] += 1;
        for wrong in [without, &other] {
            assert_eq!(read(&mut &wrong[..]).unwrap_err().kind(), ErrorKind::InvalidData);
        }
        assert!(read_at_most(&mut &long[..], FRAME_BYTES_MAX, &mut Anything).is_err());
    }
}
