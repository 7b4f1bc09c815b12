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
    let mut pieces = Pieces::of(name);
    for chunk in body.chunks(piece_bytes.max(1)) {
        pieces.put(blobs, chunk)?;
    }
    Ok(pieces.end(blobs)?.0)
}

/// Something long that is being written piece by piece, perhaps over what it was before.
pub(crate) struct Pieces<'b> {
    name: &'b str,
    /// The pieces that are there, by their hashes.
    before: &'b [[u8; 32]],
    hashes: Vec<[u8; 32]>,
    hash: Sha256,
    len: u64,
    /// Bytes that had to be written.
    written: u64,
}

impl<'b> Pieces<'b> {
    pub(crate) fn of(name: &'b str) -> Self {
        Self::over(name, &[])
    }

    /// To be written where pieces with these hashes are, to which nothing refers yet.
    pub(crate) fn over(name: &'b str, before: &'b [[u8; 32]]) -> Self {
        Pieces { name, before, hashes: Vec::new(), hash: Sha256::new(), len: 0, written: 0 }
    }

    /// Writes the next piece, if it is not there.
    pub(crate) fn put(&mut self, blobs: &dyn Blobs, piece: &[u8]) -> Result<()> {
        let number = self.hashes.len();
        if number >= PIECES_MAX {
            return Err(LogError::Refused {
                system: "shared log",
                why: format!("{} bytes are more than it takes in one piece", self.len + piece.len() as u64),
            });
        }
        let hash = Sha256::digest(piece).into();
        if self.before.get(number) != Some(&hash) {
            blobs.put(&piece_name(self.name, number as u32), piece)?;
            self.written += piece.len() as u64;
        }
        self.hashes.push(hash);
        self.hash.update(piece);
        self.len += piece.len() as u64;
        Ok(())
    }

    /// It is whole: where it lies, its pieces' hashes, and how many bytes had to be written.
    pub(crate) fn end(self, blobs: &dyn Blobs) -> Result<(Elsewhere, Vec<[u8; 32]>, u64)> {
        for number in self.hashes.len()..self.before.len() {
            blobs.delete(&piece_name(self.name, number as u32))?;
        }
        let (pieces, hash) = (self.hashes.len() as u32, self.hash.finalize().into());
        let at = Elsewhere { name: self.name.to_owned(), pieces, len: self.len, hash };
        Ok((at, self.hashes, self.written))
    }
}

/// Reads a body back and checks it.
pub(crate) fn get(blobs: &dyn Blobs, at: &Elsewhere) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    each_piece(blobs, at, |piece| {
        body.extend_from_slice(&piece);
        Ok::<_, LogError>(())
    })?;
    Ok(body)
}

/// Hands on its pieces in order. What was handed on holds only if this succeeds.
pub(crate) fn each_piece<E: From<LogError>>(
    blobs: &dyn Blobs,
    at: &Elsewhere,
    mut take: impl FnMut(Vec<u8>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let damaged = |what: &str| LogError::Damaged { place: format!("blob {}", at.name), what: what.to_owned() };
    let (mut len, mut hash) = (0, Sha256::new());
    for piece in 0..at.pieces {
        let bytes = blobs.get(&piece_name(&at.name, piece))?.ok_or_else(|| damaged("a piece is missing"))?;
        len += bytes.len() as u64;
        if len > at.len {
            return Err(damaged("it is longer than was written").into());
        }
        hash.update(&bytes);
        take(bytes)?;
    }
    if len != at.len || at.hash != <[u8; 32]>::from(hash.finalize()) {
        return Err(damaged("its checksum is wrong").into());
    }
    Ok(())
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
