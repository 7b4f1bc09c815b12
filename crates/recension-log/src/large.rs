//! Bodies that are longer than a record or a blob may be. They are written in pieces beside the log, and the log names
//! the pieces.

use sha2::{Digest, Sha256};

use crate::bytes_reader::{BytesReader, Short, put_sized};
use crate::limits::PIECES_MAX;
use crate::{Blobs, LogError, Result};

/// The place of a long body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Elsewhere {
    /// The prefix of the pieces' names.
    pub(crate) name: String,
    pub(crate) pieces: u32,
    pub(crate) len: u64,
    pub(crate) hash: [u8; 32],
}

/// The name of a piece.
pub(crate) fn piece_name(name: &str, piece: u32) -> String {
    format!("{name}/{piece:07}")
}

/// Writes `body` in pieces of at most `piece_bytes`.
pub(crate) fn put(blobs: &dyn Blobs, name: &str, body: &[u8], piece_bytes: usize) -> Result<Elsewhere> {
    let chunks = body.chunks(piece_bytes.max(1));
    let pieces = u32::try_from(chunks.len()).ok().filter(|pieces| *pieces as usize <= PIECES_MAX);
    let pieces = pieces.ok_or_else(|| LogError::Refused {
        system: "shared log",
        why: format!("{} bytes are more than it takes in one piece", body.len()),
    })?;
    for (piece, chunk) in (0..).zip(chunks) {
        blobs.put(&piece_name(name, piece), chunk)?;
    }
    Ok(Elsewhere { name: name.to_owned(), pieces, len: body.len() as u64, hash: Sha256::digest(body).into() })
}

/// Reads a body back and checks it.
pub(crate) fn get(blobs: &dyn Blobs, at: &Elsewhere) -> Result<Vec<u8>> {
    let damaged = |what: &str| LogError::Damaged { place: format!("blob {}", at.name), what: what.to_owned() };
    let mut body = Vec::new();
    for piece in 0..at.pieces {
        let bytes = blobs.get(&piece_name(&at.name, piece))?.ok_or_else(|| damaged("a piece is missing"))?;
        body.extend_from_slice(&bytes);
        if body.len() as u64 > at.len {
            return Err(damaged("it is longer than was written"));
        }
    }
    if body.len() as u64 != at.len || at.hash != <[u8; 32]>::from(Sha256::digest(&body)) {
        return Err(damaged("its checksum is wrong"));
    }
    Ok(body)
}

/// Deletes the pieces of a body.
pub(crate) fn delete(blobs: &dyn Blobs, at: &Elsewhere) -> Result<()> {
    (0..at.pieces).try_for_each(|piece| blobs.delete(&piece_name(&at.name, piece)))
}

impl Elsewhere {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_sized(&mut bytes, self.name.as_bytes());
        bytes.extend_from_slice(&self.pieces.to_le_bytes());
        bytes.extend_from_slice(&self.len.to_le_bytes());
        bytes.extend_from_slice(&self.hash);
        bytes
    }

    pub(crate) fn decode(reader: &mut BytesReader<'_>) -> std::result::Result<Self, Short> {
        let name = reader.text()?;
        let (pieces, len) = (reader.u32()?, reader.u64()?);
        if pieces as usize > PIECES_MAX {
            return Err(Short);
        }
        Ok(Elsewhere { name, pieces, len, hash: reader.array()? })
    }
}
