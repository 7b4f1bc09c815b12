//! The bytes of an attachment on their way in: encoded for storage, hashed, counted. They go in and come out in pieces,
//! so that memory does not grow with the attachment.

use std::io::Write as _;

use md5::Md5;
use sha2::{Digest as _, Sha256};

use super::gzip;
use super::info::{Content, Encoding};

/// Whether CouchDB stores attachments of this type compressed (its `compressible_types`).
pub fn is_compressible(content_type: &str) -> bool {
    let bare = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    bare.starts_with("text/") || ["application/javascript", "application/json", "application/xml"].contains(&&*bare)
}

/// Takes the bytes of one attachment.
pub struct Digest {
    form: Form,
    md5: Md5,
    sha256: Sha256,
    stored_len: u64,
    decoded_len: u64,
}

enum Form {
    Identity,
    Compress(gzip::Encoder<Vec<u8>>),
    /// The bytes come compressed. They are stored as they are, and decoded only to be counted.
    Compressed(Box<gzip::Decoder<Count>>),
}

/// Counts what is written to it.
struct Count(u64);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Digest {
    /// For bytes of a type, which decides whether they are compressed here.
    pub fn of_type(content_type: &str) -> Self {
        if !is_compressible(content_type) {
            return Self::new(Form::Identity);
        }
        Self::new(Form::Compress(gzip::encoder()))
    }

    /// For bytes that are stored as they are.
    pub fn of_identity() -> Self {
        Self::new(Form::Identity)
    }

    /// For bytes that come compressed, from another replica.
    pub fn of_compressed() -> Self {
        Self::new(Form::Compressed(Box::new(gzip::Decoder::new(Count(0)))))
    }

    fn new(form: Form) -> Self {
        Digest { form, md5: Md5::new(), sha256: Sha256::new(), stored_len: 0, decoded_len: 0 }
    }

    /// Bytes that would be stored so far.
    pub fn stored_len(&self) -> u64 {
        self.stored_len
    }

    /// Takes `bytes`, and appends the bytes to store to `out`.
    pub fn write(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> std::io::Result<()> {
        let from = out.len();
        match &mut self.form {
            Form::Identity => {
                self.decoded_len += bytes.len() as u64;
                out.extend(bytes);
            }
            Form::Compress(encoder) => {
                self.decoded_len += bytes.len() as u64;
                encoder.write_all(bytes)?;
                out.append(encoder.get_mut());
            }
            Form::Compressed(decoder) => {
                decoder.write_all(bytes)?;
                out.extend(bytes);
            }
        }
        self.count(out.get(from..).unwrap_or_default());
        Ok(())
    }

    fn count(&mut self, stored: &[u8]) {
        self.md5.update(stored);
        self.sha256.update(stored);
        self.stored_len += stored.len() as u64;
    }

    /// Ends the input: appends the rest to `out` and describes the content.
    pub fn finish(mut self, out: &mut Vec<u8>) -> std::io::Result<Content> {
        let encoding = match std::mem::replace(&mut self.form, Form::Identity) {
            Form::Identity => Encoding::Identity,
            Form::Compress(encoder) => {
                let rest = encoder.finish()?;
                self.count(&rest);
                out.extend(rest);
                Encoding::Gzip
            }
            Form::Compressed(decoder) => {
                self.decoded_len = decoder.finish()?.0;
                Encoding::Gzip
            }
        };
        Ok(Content {
            sha256: self.sha256.finalize().into(),
            md5: self.md5.finalize().into(),
            stored_len: self.stored_len,
            decoded_len: self.decoded_len,
            encoding,
        })
    }
}

#[cfg(all(test, feature = "attachments-compression"))]
mod tests {
    use super::*;

    #[test]
    fn types_are_compressed_as_couchdb_does() {
        for (content_type, expected) in [
            ("text/plain", true),
            ("TEXT/html; charset=utf-8", true),
            (" application/json ", true),
            ("application/json;v=1", true),
            ("application/javascript", true),
            ("application/xml", true),
            ("application/jsonp", false),
            ("application/xhtml+xml", false),
            ("image/svg+xml", false),
            ("application/octet-stream", false),
            ("", false),
        ] {
            assert_eq!(is_compressible(content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn what_is_stored_does_not_depend_on_the_pieces_it_came_in() {
        let bytes: Vec<u8> =
            (0..300_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) % 97).to_string().into_bytes()).collect();
        let stored = |content_type: &str, step: usize| {
            let (mut digest, mut out) = (Digest::of_type(content_type), Vec::new());
            for piece in bytes.chunks(step) {
                digest.write(piece, &mut out).unwrap();
            }
            let content = digest.finish(&mut out).unwrap();
            assert_eq!((content.stored_len, content.decoded_len), (out.len() as u64, bytes.len() as u64));
            (content, out)
        };
        for content_type in ["text/plain", "image/png"] {
            let whole = stored(content_type, bytes.len());
            for step in [1000, 4096, 65_537] {
                assert_eq!(stored(content_type, step), whole, "{content_type}, {step}");
            }
        }
        let (content, gzip) = stored("text/plain", 5000);
        let (mut digest, mut out) = (Digest::of_compressed(), Vec::new());
        gzip.chunks(777).for_each(|piece| digest.write(piece, &mut out).unwrap());
        assert_eq!((digest.finish(&mut out).unwrap(), out), (content, gzip));
    }

    #[test]
    fn what_is_not_gzip_cannot_be_taken_for_it() {
        for bytes in [&b"hello, this is no gzip at all"[..], b"", b"\x1f\x8b\x08\0\0\0\0\0\0\x03"] {
            let (mut digest, mut out) = (Digest::of_compressed(), Vec::new());
            let written = digest.write(bytes, &mut out);
            assert!(written.and_then(|()| digest.finish(&mut out).map(|_| ())).is_err(), "{bytes:?}");
        }
    }
}
