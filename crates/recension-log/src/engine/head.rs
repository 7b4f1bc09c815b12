//! A place in a log, and its bytes: in snapshots, in notes of nodes, and in the note of a cache. Pure.

use recension_engine::{Seq, Timestamp};

use crate::Position;
use crate::bytes_reader::{BytesReader, Short};
use crate::record::{Chain, Id};

const MAGIC: [u8; 8] = *b"RECCACHE";
const NOTE_VERSION: u32 = 1;

/// A place in a log and all that lies before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Head {
    pub(crate) log: Id,
    /// The newest record.
    pub(crate) position: Position,
    /// The chain behind it.
    pub(crate) chain: Chain,
    /// The newest commit, and its time.
    pub(crate) seq: Seq,
    pub(crate) time: Timestamp,
}

/// The note of a cache: how far it certainly is.
pub(super) fn encode_note(head: &Head) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&NOTE_VERSION.to_le_bytes());
    bytes.extend_from_slice(&encode_head(head));
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    bytes
}

pub(super) fn decode_note(bytes: &[u8]) -> std::result::Result<Head, Short> {
    let mut reader = BytesReader(bytes);
    let (magic, version) = (reader.array()?, reader.u32()?);
    let head = decode_head(&mut reader)?;
    let crc = reader.u32()?;
    let sound = magic == MAGIC && version == NOTE_VERSION && reader.is_empty();
    let whole = bytes.split_last_chunk::<4>().is_some_and(|(before, _)| crc32c::crc32c(before) == crc);
    if sound && whole { Ok(head) } else { Err(Short) }
}

/// A head in bytes: log, position, seq, time, chain.
pub(crate) fn encode_head(head: &Head) -> Vec<u8> {
    let mut bytes = head.log.0.to_vec();
    for number in [head.position.0, head.seq.0, head.time.0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&head.chain.0);
    bytes
}

pub(crate) fn decode_head(reader: &mut BytesReader<'_>) -> std::result::Result<Head, Short> {
    Ok(Head {
        log: Id(reader.array()?),
        position: Position(reader.u64()?),
        seq: Seq(reader.u64()?),
        time: Timestamp(reader.u64()?),
        chain: Chain(reader.array()?),
    })
}
