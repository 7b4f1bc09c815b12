//! A stream of leaves, read in pieces of bounded size: revisions, and the position of the stream behind them.

use std::io::{BufRead, BufReader, Read};

use crate::document::Document;
use crate::error::{Error, Result};
use crate::limits::{DOCUMENT_ANSWER_BYTES_MAX, LEAVES_AT_ONCE, WRITE_BYTES};

/// A piece of the stream.
#[derive(Debug, Default)]
pub(crate) struct Piece {
    /// Revisions.
    pub(crate) documents: Vec<Document>,
    /// The position up to which everything was sent, including these.
    pub(crate) position: Option<String>,
    /// The stream has ended properly.
    pub(crate) done: bool,
}

/// The lines of a stream.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    line: Vec<u8>,
}

#[derive(serde::Deserialize)]
struct Stands {
    last_seq: String,
    #[serde(default)]
    done: bool,
}

impl Lines {
    pub(crate) fn of(reader: Box<dyn Read + Send>) -> Self {
        Lines { reader: BufReader::with_capacity(256 * 1024, reader), line: Vec::new() }
    }

    /// The next piece. A position ends it, unless it is too small to be written alone. The place where the stream
    /// breaks off ends it too.
    ///
    /// # Errors
    /// A temporary error if the stream has broken off: it can be requested again from the last position.
    pub(crate) fn piece(&mut self, end: &str) -> Result<Piece> {
        let broken = |why: String| Error::Unreachable { end: end.to_owned(), why };
        let mut piece = Piece::default();
        let mut bytes = 0;
        loop {
            self.line.clear();
            let mut line = self.reader.by_ref().take(DOCUMENT_ANSWER_BYTES_MAX);
            let read = line.read_until(b'\n', &mut self.line).map_err(|error| error.to_string());
            if self.line.last() != Some(&b'\n') {
                if !piece.documents.is_empty() {
                    return Ok(piece);
                }
                return Err(broken(read.err().unwrap_or_else(|| "its stream of leaves broke off".to_owned())));
            }
            let text = std::str::from_utf8(&self.line).map_err(|error| broken(error.to_string()))?;
            if text.starts_with("{\"last_seq\":") {
                let Stands { last_seq, done } =
                    serde_json::from_str(text).map_err(|error| broken(error.to_string()))?;
                piece.position = Some(last_seq);
                piece.done = done;
                if done || bytes >= WRITE_BYTES / 2 || piece.documents.len() >= LEAVES_AT_ONCE / 2 {
                    return Ok(piece);
                }
                continue;
            }
            let found = |why| Error::NotADatabase { end: end.to_owned(), found: why };
            piece.documents.push(Document::parse(text.trim_end()).map_err(found)?);
            // Revisions behind a position are not covered by it.
            bytes += self.line.len();
            if bytes >= WRITE_BYTES || piece.documents.len() >= LEAVES_AT_ONCE {
                // An earlier position is valid for these, too: it only covers less.
                return Ok(piece);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        Lines::of(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())))
    }

    #[test]
    fn a_stream_is_read_to_its_end_and_no_cut_is_one() {
        let text = "{\"_id\":\"a\",\"_rev\":\"1-a\"}\n{\"last_seq\":\"4\"}\n{\"_id\":\"b\",\"_rev\":\"1-b\"}\n\
                    {\"last_seq\":\"5\",\"done\":true}\n";
        let piece = lines(text).piece("x").unwrap();
        assert_eq!((piece.documents.len(), piece.position.as_deref(), piece.done), (2, Some("5"), true));
        for cut in 0..text.len() {
            let mut lines = lines(&text[..cut]);
            let error = loop {
                match lines.piece("x") {
                    Ok(piece) => assert!(!piece.done && !piece.documents.is_empty(), "{cut}"),
                    Err(error) => break error,
                }
            };
            assert!(error.is_temporary(), "{cut}: {error}");
        }
        let error = lines("{\"_id\":7}\n").piece("x").unwrap_err();
        assert!(!error.is_temporary(), "{error}");
    }

    #[test]
    fn pieces_are_bounded() {
        let text =
            "{\"_id\":\"a\",\"_rev\":\"1-a\"}\n".repeat(LEAVES_AT_ONCE * 2) + "{\"last_seq\":\"9\",\"done\":true}\n";
        let mut lines = lines(&text);
        for _ in 0..2 {
            let piece = lines.piece("x").unwrap();
            assert_eq!((piece.documents.len(), piece.position, piece.done), (LEAVES_AT_ONCE, None, false));
        }
        assert!(lines.piece("x").unwrap().done);
    }
}
