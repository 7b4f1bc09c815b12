//! Frames between the server and a worker: a length of four bytes, least significant first, and JSON of this length.
//! Pure over readers and writers. A length beyond the bound is refused before any byte of the frame is read.

use std::io::{self, Read, Write};

/// Longest frame, in bytes.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Memory for a frame is allocated in pieces of this size, as its bytes arrive.
const PIECE_BYTES: usize = 64 * 1024;

/// Writes a frame.
pub fn write(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= FRAME_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the frame is too long"))?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(bytes)?;
    out.flush()
}

/// Reads a frame; `None` at the end of the stream.
pub fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    let mut got = 0;
    while got < length.len() {
        match from.read(&mut length[got..]) {
            Ok(0) if got == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > FRAME_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the frame is too long"));
    }
    let mut bytes = Vec::with_capacity(length.min(PIECE_BYTES));
    let read = from.take(length as u64).read_to_end(&mut bytes)?;
    if read < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(Some(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read_and_no_cut_is_a_frame(bytes: Vec<u8>, cut: prop::sample::Index) {
            let mut stream = Vec::new();
            write(&mut stream, &bytes).unwrap();
            prop_assert_eq!(read(&mut stream.as_slice()).unwrap(), Some(bytes));
            let cut = cut.index(stream.len());
            let answer = read(&mut &stream[..cut]);
            let refused = if cut == 0 { matches!(answer, Ok(None)) } else { answer.is_err() };
            prop_assert!(refused);
        }

        #[test]
        fn any_bytes_are_a_frame_or_an_error(bytes: Vec<u8>) {
            let _ = read(&mut bytes.as_slice());
        }
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_unread() {
        let error = read(&mut &[0xff, 0xff, 0xff, 0xff][..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
