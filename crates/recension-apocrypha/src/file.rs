//! Database files of the original servers: one JSON object, plain or as a zlib stream. They are read into a database,
//! and written from one. Only one member at a time is taken apart.

use std::io::{self, Read, Write as _};
use std::path::Path;

use flate2::read::ZlibDecoder;
use recension::json::quote;
use recension::{At, Error, Write};

use crate::language::Fault;
use crate::limits::FILE_BYTES_MAX;
use crate::names::{body_of, id_of};
use crate::store::Database;
use crate::value::Value;

/// The reason for which a file was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system refuses.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is no database file.
    #[error("it is no database of Apocrypha, which is a JSON object, plain or compressed by zlib: {why}")]
    NotADatabase {
        /// The problem, and its place.
        why: String,
    },
    /// The store refuses.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Reads a file into the database; returns how many members it has.
///
/// # Errors
/// [`FileError`]. Members before the place of an error have been read.
pub fn import(database: &Database, path: &Path) -> Result<u64, FileError> {
    import_bytes(database, &unpacked(&std::fs::read(path)?)?)
}

/// The same for the bytes of a file that is not compressed.
///
/// # Errors
/// [`FileError`].
pub fn import_bytes(database: &Database, bytes: &[u8]) -> Result<u64, FileError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| FileError::NotADatabase { why: format!("byte {} is not UTF-8", error.valid_up_to()) })?;
    let mut loader = database.collection().loader();
    let mut number = 0;
    each_member(text, &mut |name, value| {
        let wrong = |why: String| FileError::NotADatabase { why: format!("the member {name:.80?}: {why}") };
        let value = Value::parse(value).map_err(|error| wrong(error.to_string()))?;
        let id = id_of(name).ok_or_else(|| wrong("its name has more than 2048 bytes".to_owned()))?;
        let failures = loader.push(Write::put(&id, body_of(&value))?)?;
        number += 1;
        failures.into_iter().next().map_or(Ok(()), |failure| Err(failure.error.into()))
    })?;
    match loader.finish()?.into_iter().next() {
        Some(failure) => Err(failure.error.into()),
        None => Ok(number),
    }
}

/// The bytes of a file, decompressed if it is a zlib stream.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, FileError> {
    // A zlib stream begins with method 8 and a multiple of 31, and no JSON text does.
    let is_zlib = matches!(bytes, [a, b, ..] if a & 15 == 8 && (u16::from(*a) * 256 + u16::from(*b)) % 31 == 0);
    if !is_zlib {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::new();
    ZlibDecoder::new(bytes)
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut out)
        .map_err(|error| FileError::NotADatabase { why: format!("its zlib stream is damaged: {error}") })?;
    if out.len() as u64 > FILE_BYTES_MAX {
        return Err(FileError::NotADatabase { why: format!("it has more than {FILE_BYTES_MAX} bytes") });
    }
    Ok(out)
}

/// Calls `visit` with the members of an object: names, and the texts of values, which have not been parsed.
fn each_member(text: &str, visit: &mut dyn FnMut(&str, &str) -> Result<(), FileError>) -> Result<(), FileError> {
    let mut cut = Cut { text, at: 0 };
    cut.expect(b'{')?;
    if cut.peek() == Some(b'}') {
        cut.at += 1;
        return cut.end();
    }
    loop {
        let name = cut.string()?;
        let name = Value::parse(name).ok().and_then(|name| name.as_str().map(str::to_owned));
        let Some(name) = name else { return cut.wrong("a name in double quotes") };
        cut.expect(b':')?;
        visit(&name, cut.value()?)?;
        match cut.peek() {
            Some(b',') => cut.at += 1,
            Some(b'}') => {
                cut.at += 1;
                return cut.end();
            }
            _ => return cut.wrong("a comma or }"),
        }
    }
}

/// Cuts an object into its members without parsing them.
struct Cut<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cut<'t> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn peek(&mut self) -> Option<u8> {
        while matches!(self.byte(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
        self.byte()
    }

    fn wrong<T>(&self, expected: &str) -> Result<T, FileError> {
        Err(FileError::NotADatabase { why: format!("at byte {} {expected} was expected", self.at) })
    }

    fn expect(&mut self, byte: u8) -> Result<(), FileError> {
        if self.peek() != Some(byte) {
            return self.wrong(&char::from(byte).to_string());
        }
        self.at += 1;
        Ok(())
    }

    fn end(&mut self) -> Result<(), FileError> {
        if self.peek().is_none() { Ok(()) } else { self.wrong("the end of the file") }
    }

    fn string(&mut self) -> Result<&'t str, FileError> {
        if self.peek() != Some(b'"') {
            return self.wrong("a name in double quotes");
        }
        let start = self.at;
        self.skip_string()?;
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn skip_string(&mut self) -> Result<(), FileError> {
        self.at += 1;
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.wrong("the end of a string")
    }

    /// The text up to the comma or brace behind a value.
    fn value(&mut self) -> Result<&'t str, FileError> {
        self.peek();
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.byte() {
                Some(b'"') => self.skip_string()?,
                Some(b'{' | b'[') => (depth, self.at) = (depth + 1, self.at + 1),
                Some(b'}' | b']' | b',') if depth == 0 => return Ok(self.text.get(start..self.at).unwrap_or_default()),
                Some(b'}' | b']') => (depth, self.at) = (depth - 1, self.at + 1),
                Some(_) => self.at += 1,
                None => return self.wrong("the end of a value"),
            }
        }
    }
}

/// Writes the database as a plain file of the original servers; returns how many members it has.
///
/// # Errors
/// [`FileError`].
pub fn export(database: &Database, at: At, out: &mut dyn io::Write) -> Result<u64, FileError> {
    let mut number = 0;
    let mut failed = None;
    let mut out = io::BufWriter::new(out);
    let done = database.each_member(at, &mut |name, value| {
        let before = if number == 0 { "{" } else { "," };
        number += 1;
        write!(out, "{before}{}:{}", quote(name), value.to_json()).map_err(|error| {
            failed = Some(error);
            Fault::Refused("the file cannot be written".to_owned())
        })
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    match done {
        Err(Fault::Store(error)) => return Err(error.into()),
        Err(Fault::Refused(why)) => return Err(FileError::NotADatabase { why }),
        Ok(()) => {}
    }
    out.write_all(if number == 0 { b"{}" } else { b"}" })?;
    out.flush()?;
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dialect;

    fn database() -> Database {
        Database::on(&recension::open("memory:").unwrap(), Dialect::HASKELL).unwrap()
    }

    #[test]
    fn a_file_comes_back_as_it_was_plain_and_compressed() {
        let text =
            r#"{ "b" : {"_id":[1.0,{}],"x":"}\""} , "a":null,"":"e","_u":0,"big":123456789012345678901234567890}"#;
        let sorted = r#"{"":"e","_u":0,"a":null,"b":{"_id":[1.0,{}],"x":"}\""},"big":123456789012345678901234567890}"#;
        let folder = tempfile::tempdir().unwrap();
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(text.as_bytes()).unwrap();
        for bytes in [text.as_bytes().to_vec(), zlib.finish().unwrap()] {
            let path = folder.path().join("db.json");
            std::fs::write(&path, bytes).unwrap();
            let database = database();
            assert_eq!(import(&database, &path).unwrap(), 5);
            let mut out = Vec::new();
            assert_eq!(export(&database, At::Now, &mut out).unwrap(), 5);
            assert_eq!(String::from_utf8(out).unwrap(), sorted);
        }
        let mut out = Vec::new();
        export(&database(), At::Now, &mut out).unwrap();
        assert_eq!(out, b"{}");
    }

    #[test]
    fn what_is_no_database_is_refused_with_a_place() {
        for text in [
            "",
            "[]",
            "null",
            "{\"a\":1",
            "{\"a\" 1}",
            "{\"a\":}",
            "{\"a\":1}}",
            "{a:1}",
            "{\"a\":\"",
            "{\"a\":[1,]}",
            "\u{78}\u{9c}",
        ] {
            let result = import_bytes(&database(), text.as_bytes());
            assert!(matches!(result, Err(FileError::NotADatabase { .. })), "{text}: {result:?}");
        }
    }
}
