//! A record of the log, to the byte of docs/shared-log.md: header, body, checksum; and the chain over all of them.
//! Pure: bytes in, values out.

use std::fmt;

use recension_engine::{Seq, Timestamp};
use sha2::{Digest, Sha256};

use crate::bytes_reader::{BytesReader, Short};
use crate::{LogError, Position, Result};

/// The format version that this software writes. It also reads newer ones if they allow it.
pub(crate) const FORMAT_VERSION: u16 = 1;
const MAGIC: [u8; 4] = *b"RecL";
/// Bytes before the body.
pub(crate) const HEADER_BYTES: usize = 108;
const CRC_BYTES: usize = 4;

/// A random number that distinguishes a log, or a writer, from every other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Id(pub(crate) [u8; 16]);

impl Id {
    pub(crate) fn random() -> Result<Self> {
        let mut id = [0; 16];
        getrandom::fill(&mut id)
            .map_err(|error| LogError::Unavailable(format!("the system gives no random numbers: {error}")))?;
        Ok(Id(id))
    }
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The hash of a record. It contains the hash of the record before, and so of all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Chain(pub(crate) [u8; 32]);

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The kind of a record's body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Nothing: the first record, which gives the log its identity.
    Genesis,
    /// Entries.
    Entries,
    /// The place of the entries: they are too long for the log.
    Elsewhere,
    /// The address that the store has moved to: nothing may follow.
    Moved,
}

impl Kind {
    fn code(self) -> u8 {
        match self {
            Kind::Genesis => 1,
            Kind::Entries => 2,
            Kind::Elsewhere => 3,
            Kind::Moved => 4,
        }
    }

    fn of(code: u8) -> Option<Self> {
        [Kind::Genesis, Kind::Entries, Kind::Elsewhere, Kind::Moved].into_iter().find(|kind| kind.code() == code)
    }
}

/// The part of a record before its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    pub(crate) log: Id,
    pub(crate) writer: Id,
    /// The writer's number of the record.
    pub(crate) number: u64,
    pub(crate) position: Position,
    /// The newest commit before it.
    pub(crate) seq_before: Seq,
    /// The time of its commits; never before that of the record before.
    pub(crate) time: Timestamp,
    /// The hash of the record before.
    pub(crate) chain_before: Chain,
}

/// Writes a record.
pub(crate) fn encode(header: &Header, body: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(HEADER_BYTES + body.len() + CRC_BYTES);
    record.extend_from_slice(&MAGIC);
    record.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    record.extend_from_slice(&[header.kind.code(), 0]);
    record.extend_from_slice(&header.log.0);
    record.extend_from_slice(&header.writer.0);
    for number in [header.number, header.position.0, header.seq_before.0, header.time.0] {
        record.extend_from_slice(&number.to_le_bytes());
    }
    record.extend_from_slice(&header.chain_before.0);
    record.extend_from_slice(&(body.len() as u32).to_le_bytes());
    debug_assert_eq!(record.len(), HEADER_BYTES);
    record.extend_from_slice(body);
    record.extend_from_slice(&crc32c::crc32c(&record).to_le_bytes());
    record
}

/// Reads and checks a record that was found at `position`.
pub(crate) fn decode(position: Position, record: &[u8]) -> Result<(Header, &[u8])> {
    let damaged = |what: &str| LogError::damaged(position, what);
    let (header, body, crc) =
        split(record).map_err(|Short| damaged("it is cut short, or no record of this software"))?;
    if header.oldest_reader > FORMAT_VERSION || header.version == 0 {
        let (found, supported) = (u32::from(header.version), u32::from(FORMAT_VERSION));
        return Err(LogError::NewerFormat { position, found, supported });
    }
    if crc32c::crc32c(&record[..record.len() - CRC_BYTES]) != crc {
        return Err(damaged("its checksum is wrong"));
    }
    let header = header.parts.ok_or_else(|| damaged("its kind is not known"))?;
    if header.position != position {
        return Err(damaged("it was written for another position"));
    }
    Ok((header, body))
}

struct Found {
    version: u16,
    /// The oldest version whose software can read it.
    oldest_reader: u16,
    parts: Option<Header>,
}

fn split(record: &[u8]) -> std::result::Result<(Found, &[u8], u32), Short> {
    let mut reader = BytesReader(record);
    if reader.array()? != MAGIC {
        return Err(Short);
    }
    let version = u16::from_le_bytes(reader.array()?);
    let [kind, back] = reader.array()?;
    let oldest_reader = version.saturating_sub(u16::from(back));
    let (log, writer) = (Id(reader.array()?), Id(reader.array()?));
    let (number, position, seq, time) = (reader.u64()?, reader.u64()?, reader.u64()?, reader.u64()?);
    let chain_before = Chain(reader.array()?);
    let parts = Kind::of(kind).map(|kind| Header {
        kind,
        log,
        writer,
        number,
        position: Position(position),
        seq_before: Seq(seq),
        time: Timestamp(time),
        chain_before,
    });
    let found = Found { version, oldest_reader, parts };
    if oldest_reader > FORMAT_VERSION {
        return Ok((found, &[], 0));
    }
    let body = reader.sized()?;
    // Parts that a newer version has added, and that may be skipped.
    let added = reader.0.len().checked_sub(CRC_BYTES).ok_or(Short)?;
    if added > 0 && version <= FORMAT_VERSION {
        return Err(Short);
    }
    reader.0 = &reader.0[added..];
    let crc = reader.u32()?;
    Ok((found, body, crc))
}

/// The chain behind a record.
pub(crate) fn chain_of(record: &[u8]) -> Chain {
    Chain(Sha256::digest(record).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            kind: Kind::Entries,
            log: Id([1; 16]),
            writer: Id([2; 16]),
            number: 3,
            position: Position(4),
            seq_before: Seq(5),
            time: Timestamp(6),
            chain_before: Chain([7; 32]),
        }
    }

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let record = encode(&header(), b"body");
        assert_eq!(decode(Position(4), &record).unwrap(), (header(), &b"body"[..]));
        assert_eq!(record.len(), HEADER_BYTES + 4 + CRC_BYTES);
    }

    #[test]
    fn every_changed_bit_and_every_cut_is_noticed() {
        let record = encode(&header(), b"body");
        for bit in 0..record.len() * 8 {
            let mut changed = record.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(Position(4), &changed).is_err(), "bit {bit}");
        }
        for len in 0..record.len() {
            assert!(decode(Position(4), &record[..len]).is_err(), "cut to {len}");
        }
        assert!(decode(Position(5), &record).is_err());
    }

    #[test]
    fn a_newer_format_is_told_from_damage() {
        let mut record = encode(&header(), b"body");
        record[4] = 2;
        let newer = LogError::NewerFormat { position: Position(4), found: 2, supported: 1 };
        assert_eq!(decode(Position(4), &record).unwrap_err(), newer);
    }

    #[test]
    fn a_newer_format_that_says_so_is_read() {
        let newer = |version: u8, back: u8| {
            let mut record = encode(&header(), b"body");
            (record[4], record[7]) = (version, back);
            record.truncate(record.len() - CRC_BYTES);
            record.extend_from_slice(b"what nobody knows yet");
            let crc = crc32c::crc32c(&record);
            record.extend_from_slice(&crc.to_le_bytes());
            record
        };
        for (version, back) in [(2, 1), (3, 2), (9, 8)] {
            let record = newer(version, back);
            assert_eq!(decode(Position(4), &record).unwrap(), (header(), &b"body"[..]));
            let mut changed = record.clone();
            changed[record.len() - 6] ^= 1;
            assert!(matches!(decode(Position(4), &changed), Err(LogError::Damaged { .. })), "{version}");
        }
        for (version, back) in [(2, 0), (3, 1)] {
            let refused = LogError::NewerFormat { position: Position(4), found: version.into(), supported: 1 };
            assert_eq!(decode(Position(4), &newer(version, back)).unwrap_err(), refused);
        }
        assert!(decode(Position(4), &newer(1, 0)).is_err(), "nothing is added to this version");
    }
}
