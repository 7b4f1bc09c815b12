//! Errors of the owner's engine on a connection: the same variant with the same fields arrives.

use std::io;

use recension_engine::{EngineError, Result};
use rustix::io::Errno;

use crate::bytes::{Put, Take, malformed};
use crate::names::name;

pub(crate) fn put_error(out: &mut Vec<u8>, error: &EngineError) {
    match error {
        EngineError::Conflict { tree, key, read_at, written_at } => {
            out.u8(0);
            out.tree(*tree);
            out.bytes(key);
            out.seq(*read_at);
            out.optional(*written_at, Put::seq);
        }
        EngineError::Damaged { file, offset, what } => {
            out.u8(1);
            out.bytes(file.as_bytes());
            out.u64(*offset);
            out.bytes(what.as_bytes());
        }
        EngineError::Poisoned { cause } => texts(out, 2, &[cause]),
        EngineError::Locked { store, holder } => texts(out, 3, &[store, holder]),
        EngineError::NewerFormat { file, found, supported } => {
            out.u8(4);
            out.bytes(file.as_bytes());
            out.u32(*found);
            out.u32(*supported);
        }
        EngineError::NotAStore { path, found } => texts(out, 5, &[path, found]),
        EngineError::NotYet { asked, head } => {
            out.u8(6);
            out.seq(*asked);
            out.seq(*head);
        }
        EngineError::NotCounters { tree, key, len } => {
            out.u8(7);
            out.tree(*tree);
            out.bytes(key);
            out.u64(*len as u64);
        }
        EngineError::Unsupported { engine, what } => texts(out, 8, &[engine, what]),
        EngineError::ReadOnly => out.u8(9),
        EngineError::Forgotten { asked, oldest } => {
            out.u8(10);
            out.seq(*asked);
            out.seq(*oldest);
        }
        EngineError::TooLarge { what, len, max } => {
            out.u8(11);
            out.bytes(what.as_bytes());
            out.u64(*len as u64);
            out.u64(*max as u64);
        }
        EngineError::Io { doing, source } => {
            out.u8(12);
            out.bytes(doing.as_bytes());
            // A full disk is one by its kind, even if its error has a text of its own.
            let code = source.raw_os_error().or_else(|| error.is_disk_full().then(|| Errno::NOSPC.raw_os_error()));
            out.optional(code, |out, code| out.u32(code.cast_unsigned()));
            out.bytes(source.to_string().as_bytes());
        }
        EngineError::Backend { engine, message } => texts(out, 13, &[engine, message]),
        EngineError::BadAddress { address, why } => texts(out, 14, &[address, why]),
        EngineError::Unavailable { why } => texts(out, 15, &[why]),
        EngineError::Unknown { why } => texts(out, 16, &[why]),
        EngineError::Moved { to } => texts(out, 17, &[to]),
        EngineError::Kept { moment, before } => {
            out.u8(18);
            out.seq(*moment);
            out.seq(*before);
        }
        // The protocol does not have this variant: its text is sent.
        other => texts(out, 13, &["native", &other.to_string()]),
    }
}

fn texts(out: &mut Vec<u8>, kind: u8, texts: &[&str]) {
    out.u8(kind);
    for text in texts {
        out.bytes(text.as_bytes());
    }
}

pub(crate) fn take_error(from: &mut Take<'_>) -> Result<EngineError> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    Ok(match from.u8()? {
        0 => EngineError::Conflict {
            tree: from.tree()?,
            key: from.bytes()?.to_vec(),
            read_at: from.seq()?,
            written_at: from.optional(Take::seq)?,
        },
        1 => EngineError::Damaged { file: from.text()?, offset: from.u64()?, what: from.text()? },
        2 => EngineError::Poisoned { cause: from.text()? },
        3 => EngineError::Locked { store: from.text()?, holder: from.text()? },
        4 => EngineError::NewerFormat { file: from.text()?, found: from.u32()?, supported: from.u32()? },
        5 => EngineError::NotAStore { path: from.text()?, found: from.text()? },
        6 => EngineError::NotYet { asked: from.seq()?, head: from.seq()? },
        7 => EngineError::NotCounters { tree: from.tree()?, key: from.bytes()?.to_vec(), len: number(from.u64()?) },
        8 => EngineError::Unsupported { engine: name(&from.text()?), what: name(&from.text()?) },
        9 => EngineError::ReadOnly,
        10 => EngineError::Forgotten { asked: from.seq()?, oldest: from.seq()? },
        11 => EngineError::TooLarge { what: name(&from.text()?), len: number(from.u64()?), max: number(from.u64()?) },
        12 => {
            let (doing, code) = (from.text()?, from.optional(Take::u32)?);
            let text = from.text()?;
            let kind = code.map(|code| io::Error::from_raw_os_error(code.cast_signed()).kind());
            EngineError::io(doing, io::Error::new(kind.unwrap_or(io::ErrorKind::Other), text))
        }
        13 => EngineError::Backend { engine: name(&from.text()?), message: from.text()? },
        14 => EngineError::BadAddress { address: from.text()?, why: from.text()? },
        15 => EngineError::Unavailable { why: from.text()? },
        16 => EngineError::Unknown { why: from.text()? },
        17 => EngineError::Moved { to: from.text()? },
        18 => EngineError::Kept { moment: from.seq()?, before: from.seq()? },
        _ => return Err(malformed("a refusal of no known kind")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_one_at_the_other_end_too_with_its_place() {
        let full = io::Error::new(io::ErrorKind::StorageFull, "No space left on device, at /data/s/log/1.log");
        let mut out = Vec::new();
        put_error(&mut out, &EngineError::io("allocating log/1.log", full));
        let taken = take_error(&mut Take(&out)).unwrap();
        assert!(taken.is_disk_full() && taken.to_string().contains("at /data/s/log/1.log; make room"), "{taken}");
    }
}
