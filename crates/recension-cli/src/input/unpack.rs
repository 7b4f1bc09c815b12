//! Compressed inputs. gzip and zstd are recognised by their first bytes and unpacked while they are read, in bounded
//! memory. Other compressions are only named in an error, since their bytes cannot be read as documents.

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::text::readable;

/// The number of first bytes that tell the compression.
const MAGIC_BYTES: usize = 6;
/// The number of those that tell what is in a zip.
const ZIP_BYTES: usize = 80;
/// The largest window of a zstd frame (as a power of two of bytes), which is held in memory: the default of `zstd -d`.
const WINDOW_LOG_MAX: u32 = 27;

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
/// Compressions that are not read here: the first bytes, the name, and the command that unpacks it.
const OTHERS: [(&[u8], &str, &str); 5] = [
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"7z\xbc\xaf\x27\x1c", "7z", "7z x -so"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
];

/// What is in a zip by the name of its first file: a spreadsheet, and how it becomes a table.
fn in_zip(first: &[u8]) -> Option<&'static str> {
    let has = |name: &[u8]| first.windows(name.len()).any(|part| part == name);
    let excel = has(b"[Content_Types].xml") || has(b"_rels/") || has(b"xl/") || has(b"docProps/");
    if excel {
        Some("a spreadsheet of Excel (.xlsx)")
    } else if has(b"mimetypeapplication/vnd.oasis") {
        Some("a spreadsheet of LibreOffice (.ods)")
    } else {
        None
    }
}

/// The bytes of `reader` as UTF-8, unpacked if they are packed.
///
/// # Errors
/// The first bytes cannot be read, or the compression is another than gzip and zstd (kind `Unsupported`). Later reads
/// fail with the kind `InvalidData` if the bytes are damaged or cut off.
pub fn unpacked(mut reader: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let mut first = Vec::with_capacity(MAGIC_BYTES);
    Read::by_ref(&mut reader).take(MAGIC_BYTES as u64).read_to_end(&mut first)?;
    if first.starts_with(b"PK\x03\x04") {
        Read::by_ref(&mut reader).take(ZIP_BYTES as u64).read_to_end(&mut first)?;
    }
    let sheet = if first.starts_with(b"PK\x03\x04") { in_zip(&first) } else { None };
    let old_sheet =
        first.starts_with(b"\xd0\xcf\x11\xe0").then_some("a document of old Microsoft Office, such as .xls");
    if let Some(sheet) = sheet.or(old_sheet) {
        let what = format!(
            "it is {sheet}; save it as \"CSV UTF-8\" in the spreadsheet program, or with libreoffice --headless \
             --convert-to csv FILE, and import that"
        );
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    if let Some((_, name, command)) = OTHERS.iter().find(|(magic, ..)| first.starts_with(magic)) {
        let what =
            format!("it is packed with {name}; unpack it first, as in {command} FILE | recension import COLLECTION");
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    let (gzip, zstd) = (first.starts_with(GZIP), first.starts_with(ZSTD));
    let whole = Cursor::new(first).chain(reader);
    if gzip {
        readable(Unpacked { name: "gzip", reader: MultiGzDecoder::new(whole) })
    } else if zstd {
        let mut decoder = zstd::stream::read::Decoder::new(whole)?;
        decoder.window_log_max(WINDOW_LOG_MAX)?;
        readable(Unpacked { name: "zstd", reader: decoder })
    } else {
        readable(whole)
    }
}

/// A decoder with readable errors.
struct Unpacked<R> {
    name: &'static str,
    reader: R,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer).map_err(|error| {
            // Only the system's own errors have a number.
            if error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let what = format!("its {} data is damaged or cut off: {error}", self.name);
            io::Error::new(io::ErrorKind::InvalidData, what)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 0).unwrap()
    }

    fn read(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        unpacked(Cursor::new(bytes))?.read_to_end(&mut all)?;
        Ok(all)
    }

    #[test]
    fn every_packing_gives_the_same_bytes_also_in_several_parts() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(|number| format!("{number},\n").into_bytes()).collect();
        assert_eq!(read(text.clone()).unwrap(), text);
        for pack in [gzip, zstd] {
            assert_eq!(read(pack(&text)).unwrap(), text);
            assert_eq!(read([pack(b"a"), pack(b"b")].concat()).unwrap(), b"ab");
            assert_eq!(read(pack(b"")).unwrap(), b"");
        }
        for short in [&b""[..], b"\x1f", b"{}"] {
            assert_eq!(read(short.to_vec()).unwrap(), short);
        }
    }

    #[test]
    fn what_is_cut_or_changed_is_an_error_and_never_a_shorter_text() {
        for pack in [gzip, zstd] {
            let packed = pack(&[b'x'; 10_000]);
            // Only a whole magic is recognised. With less it is another text.
            for cut in 6..packed.len() {
                let error = read(packed[..cut].to_vec()).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{cut}: {error}");
            }
        }
        let mut changed = gzip(b"hello");
        let at = changed.len() - 8;
        changed[at] ^= 1;
        assert_eq!(read(changed).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn other_packings_are_named() {
        let error = read(b"PK\x03\x04 and so on".to_vec()).unwrap_err().to_string();
        assert!(error.contains("packed with zip") && error.contains("unzip -p"), "{error}");
        let sheet = b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0bAh\xd9\xa0\x01\0\0\x06\x14\0\0\x13\0\0\0[Content_Types].xml";
        let error = read(sheet.to_vec()).unwrap_err().to_string();
        assert!(error.contains(".xlsx") && error.contains("CSV UTF-8") && !error.contains("unzip"), "{error}");
    }

    #[test]
    fn a_frame_that_wants_much_memory_is_refused() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(28).unwrap();
        encoder.write_all(&[0; 100]).unwrap();
        let error = read(encoder.finish().unwrap()).unwrap_err().to_string();
        assert!(error.contains("zstd"), "{error}");
    }
}
