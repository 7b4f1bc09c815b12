//! Bodies that are longer than a record or a blob may be. They are written in pieces beside the log, and the log names
//! the pieces.

use std::sync::mpsc::sync_channel;
use std::thread::Builder;

use sha2::{Digest, Sha256};

use crate::bytes_reader::{BytesReader, Short, put_sized};
use crate::limits::{FETCHERS, PIECES_MAX};
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

/// Hands on its pieces in order, while the next ones are fetched. What was handed on holds only if this succeeds.
pub(crate) fn each_piece<E: From<LogError>>(
    blobs: &dyn Blobs,
    at: &Elsewhere,
    mut take: impl FnMut(Vec<u8>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let damaged = |what: &str| LogError::Damaged { place: format!("blob {}", at.name), what: what.to_owned() };
    let (mut len, mut hash) = (0, Sha256::new());
    in_order(blobs, at, |piece| {
        let bytes = piece?.ok_or_else(|| damaged("a piece is missing"))?;
        len += bytes.len() as u64;
        if len > at.len {
            return Err(damaged("it is longer than was written").into());
        }
        hash.update(&bytes);
        take(bytes)
    })?;
    if len != at.len || at.hash != <[u8; 32]>::from(hash.finalize()) {
        return Err(damaged("its checksum is wrong").into());
    }
    Ok(())
}

/// Fetches pieces by a few threads, and hands them on in order, until that fails.
fn in_order<E>(
    blobs: &dyn Blobs,
    at: &Elsewhere,
    mut take: impl FnMut(Result<Option<Vec<u8>>>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let get = |piece| blobs.get(&piece_name(&at.name, piece));
    let threads = FETCHERS.min(at.pieces as usize);
    if threads < 2 {
        return (0..at.pieces).try_for_each(|piece| take(get(piece)));
    }
    std::thread::scope(|scope| {
        let fetcher = |first: usize| {
            let (fetched, pieces) = sync_channel(0);
            let fetch = move || {
                let mut own = (first as u32..at.pieces).step_by(threads);
                // Who takes them takes no more after an error.
                own.all(|piece| fetched.send(get(piece)).is_ok())
            };
            // Without the thread its pieces are fetched when it is their turn.
            Builder::new().name("recension-fetch".to_owned()).spawn_scoped(scope, fetch).ok().map(|_| pieces)
        };
        let fetchers: Vec<_> = (0..threads).map(fetcher).collect();
        (0..at.pieces).try_for_each(|piece| {
            let fetched = fetchers[piece as usize % threads].as_ref().and_then(|pieces| pieces.recv().ok());
            take(fetched.unwrap_or_else(|| get(piece)))
        })
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryLog, SharedLog};

    #[test]
    fn pieces_are_handed_on_in_order_and_all_of_them_or_an_error() {
        let log = MemoryLog::new();
        let body: Vec<u8> = (0..1000u32).flat_map(u32::to_le_bytes).collect();
        for piece_bytes in [body.len(), body.len() / 2, 300, 7] {
            let at = put(log.blobs(), "x", &body, piece_bytes).unwrap();
            assert_eq!(at.pieces as usize, body.len().div_ceil(piece_bytes));
            assert_eq!(get(log.blobs(), &at).unwrap(), body, "{piece_bytes}");
            let last = piece_name("x", at.pieces - 1);
            let sound = log.blobs().get(&last).unwrap().unwrap();
            let mut flipped = sound.clone();
            flipped[0] ^= 1;
            log.blobs().put(&last, &flipped).unwrap();
            let told = get(log.blobs(), &at).unwrap_err().to_string();
            assert!(told.contains("checksum"), "{told}");
            log.blobs().delete(&last).unwrap();
            let told = get(log.blobs(), &at).unwrap_err().to_string();
            assert!(told.contains("missing"), "{told}");
            log.blobs().put(&last, &[sound, vec![0]].concat()).unwrap();
            let told = get(log.blobs(), &at).unwrap_err().to_string();
            assert!(told.contains("longer"), "{told}");
            // Who takes no more gets no more, and nobody waits for ever.
            let mut taken = 0;
            let stopped = each_piece(log.blobs(), &at, |_| {
                taken += 1;
                Err::<(), _>(LogError::Unavailable("enough".to_owned()))
            });
            assert!(stopped.is_err() && taken <= 1);
            delete(log.blobs(), &at).unwrap();
        }
    }
}
