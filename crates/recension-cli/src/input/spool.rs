//! A copy of an input that can be read only once, made while it is read so that it can be read again. A little of it is
//! in memory, the rest in a temporary file without a name.

use std::cell::RefCell;
use std::io::{self, Read, Seek as _, Write as _};
use std::rc::Rc;

use tempfile::SpooledTempFile;

use crate::limits::SPOOL_MEMORY_BYTES;

/// The bytes that were read so far.
#[derive(Clone)]
pub struct Spool(Rc<RefCell<Option<SpooledTempFile>>>);

impl Spool {
    /// Nothing yet.
    pub fn new() -> Self {
        Spool(Rc::new(RefCell::new(Some(SpooledTempFile::new(SPOOL_MEMORY_BYTES)))))
    }

    /// `reader`. All that is read from it is kept.
    pub fn keeping<R: Read>(&self, reader: R) -> Kept<R> {
        Kept { reader, spool: self.clone() }
    }

    /// Stops keeping, and forgets the kept bytes.
    pub fn forget(&self) {
        self.0.borrow_mut().take();
    }

    /// The kept bytes from the beginning. Nothing more is kept after that.
    pub fn rewound(&self) -> io::Result<impl Read + use<>> {
        let mut file = self.0.borrow_mut().take().unwrap_or_else(|| SpooledTempFile::new(0));
        file.rewind().map_err(|error| failed(&error))?;
        Ok(file)
    }
}

impl Default for Spool {
    fn default() -> Self {
        Spool::new()
    }
}

fn failed(error: &io::Error) -> io::Error {
    let what = format!("keeping it in {} for a second look: {error}", std::env::temp_dir().display());
    io::Error::new(error.kind(), what)
}

/// A reader that keeps all that is read from it.
pub struct Kept<R> {
    reader: R,
    spool: Spool,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        if let Some(file) = self.spool.0.borrow_mut().as_mut() {
            file.write_all(buffer.get(..read).unwrap_or_default()).map_err(|error| failed(&error))?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_read_again_whatever_its_length() {
        for length in [0, 10, SPOOL_MEMORY_BYTES + 5] {
            let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let spool = Spool::new();
            let mut first = Vec::new();
            spool.keeping(bytes.as_slice()).read_to_end(&mut first).unwrap();
            let mut again = Vec::new();
            spool.rewound().unwrap().read_to_end(&mut again).unwrap();
            assert!(first == bytes && again == bytes, "{length}");
        }
    }

    #[test]
    fn what_is_forgotten_is_not_kept() {
        let spool = Spool::new();
        let mut reader = spool.keeping(&b"abc"[..]);
        reader.read_exact(&mut [0]).unwrap();
        spool.forget();
        reader.read_exact(&mut [0]).unwrap();
        let mut again = Vec::new();
        spool.rewound().unwrap().read_to_end(&mut again).unwrap();
        assert!(again.is_empty());
    }
}
