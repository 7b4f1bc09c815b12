//! The beginning of an input, which guesses are made from, and its encoding: UTF-16 becomes UTF-8 while it is read. It
//! must not wait for more than the guesses need: documents may come through a pipe one by one.

use std::io::{self, Cursor, Read};

use super::HEAD_BYTES;

/// The bytes of a text as UTF-8. The first read returns all that guesses see: 64 KiB of a table, and of JSON, which its
/// first character tells, what there is.
///
/// # Errors
/// The first bytes cannot be read, or are UTF-32 (kind `Unsupported`).
pub(super) fn readable(mut reader: impl Read + 'static) -> io::Result<Box<dyn Read>> {
    let head = head(&mut reader)?;
    if head.starts_with(&[0xff, 0xfe, 0, 0]) || head.starts_with(&[0, 0, 0xfe, 0xff]) {
        let what = "it is UTF-32; convert it first, e.g. with iconv -f UTF-32 -t UTF-8";
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    let Some(order) = utf16(&head) else { return Ok(Box::new(Cursor::new(head).chain(reader))) };
    let units = Cursor::new(head).chain(reader);
    let mut utf8 = Utf16 { units, order, odd: Vec::new(), high: None, out: Vec::new(), at: 0 };
    let head = self::head(&mut utf8)?;
    Ok(Box::new(Cursor::new(head).chain(utf8)))
}

/// What guesses see.
fn head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let (mut head, mut block) = (Vec::new(), [0; 8192]);
    while head.len() < HEAD_BYTES && !begins_as_json(&head) {
        match reader.read(&mut block) {
            Ok(0) => break,
            Ok(read) => head.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

fn begins_as_json(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    matches!(text.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'{' | b'['))
        && text.len() > 1
        && !text[..2].contains(&0)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Order {
    Little,
    Big,
}

/// UTF-16 by its mark, or by the zeros in every second byte of a text that is mostly ASCII.
fn utf16(head: &[u8]) -> Option<Order> {
    match head {
        [0xff, 0xfe, ..] => return Some(Order::Little),
        [0xfe, 0xff, ..] => return Some(Order::Big),
        _ => {}
    }
    let pairs = head[..head.len().min(1024)].chunks_exact(2);
    let count = pairs.len();
    let (mut first, mut second) = (0, 0);
    for pair in pairs {
        first += usize::from(pair[0] == 0);
        second += usize::from(pair[1] == 0);
    }
    let most = |zeros: usize, others: usize| count > 1 && others * 20 < zeros && zeros * 10 > count * 7;
    if most(second, first) {
        Some(Order::Little)
    } else if most(first, second) {
        Some(Order::Big)
    } else {
        None
    }
}

/// A reader of UTF-16 that gives UTF-8.
struct Utf16<R> {
    units: R,
    order: Order,
    /// Half of a unit.
    odd: Vec<u8>,
    /// The first half of a character of two units.
    high: Option<u16>,
    out: Vec<u8>,
    at: usize,
}

impl<R: Read> Utf16<R> {
    fn fill(&mut self) -> io::Result<()> {
        (self.out, self.at) = (Vec::new(), 0);
        let broken = || io::Error::new(io::ErrorKind::InvalidData, "its UTF-16 is damaged: half of a character");
        while self.out.is_empty() {
            let mut block = [0; 8192];
            let read = self.units.read(&mut block)?;
            if read == 0 {
                return if self.odd.is_empty() && self.high.is_none() { Ok(()) } else { Err(broken()) };
            }
            let mut bytes = std::mem::take(&mut self.odd);
            bytes.extend_from_slice(&block[..read]);
            let whole = bytes.chunks_exact(2);
            self.odd = whole.remainder().to_vec();
            for pair in whole {
                let pair = [pair[0], pair[1]];
                let unit =
                    if self.order == Order::Little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
                let units = self.high.take().into_iter().chain([unit]);
                match char::decode_utf16(units).collect::<Result<String, _>>() {
                    Ok(text) => self.out.extend_from_slice(text.as_bytes()),
                    Err(_) if (0xd800..0xdc00).contains(&unit) => self.high = Some(unit),
                    Err(_) => return Err(broken()),
                }
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.out.len() {
            self.fill()?;
        }
        let rest = &self.out[self.at..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, as a slow pipe does, and fails at its end if nobody may read that far.
    struct Slow(Vec<u8>, bool);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return if self.1 { Err(io::Error::other("read too far")) } else { Ok(0) };
            }
            buffer[0] = self.0.remove(0);
            Ok(1)
        }
    }

    fn all(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        readable(Slow(bytes, false))?.read_to_string(&mut text)?;
        Ok(text.trim_start_matches('\u{feff}').to_owned())
    }

    #[test]
    fn every_usual_encoding_gives_the_same_text() {
        let text = "name;town\r\nJosé 😀;東京\r\nplain;and simple ASCII for most of it\r\n";
        let units = |mark: bool, swap: bool| -> Vec<u8> {
            let marked = if mark { format!("\u{feff}{text}") } else { text.to_owned() };
            marked.encode_utf16().flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
        };
        assert_eq!(all(text.as_bytes().to_vec()).unwrap(), text);
        for (mark, swap) in [(true, false), (true, true), (false, false), (false, true)] {
            assert_eq!(all(units(mark, swap)).unwrap(), text, "{mark} {swap}");
        }
        let mut cut = units(true, false);
        cut.pop();
        assert!(all(cut).unwrap_err().to_string().contains("UTF-16"));
        assert!(all(b"\xff\xfe\0\0a\0\0\0".to_vec()).unwrap_err().to_string().contains("UTF-32"));
        for short in ["", "a", "{}", "[", "\u{feff}"] {
            assert_eq!(all(short.as_bytes().to_vec()).unwrap(), short.trim_start_matches('\u{feff}'));
        }
    }

    #[test]
    fn the_first_read_of_a_table_is_all_that_guesses_see_and_json_is_not_waited_for() {
        let table = "a;b\n".repeat(HEAD_BYTES / 4);
        let mut reader = readable(Slow(table.clone().into_bytes(), true)).unwrap();
        let mut block = vec![0; HEAD_BYTES * 2];
        assert_eq!(reader.read(&mut block).unwrap(), HEAD_BYTES);
        for json in [&b"{\"a\""[..], b"  [1"] {
            assert!(readable(Slow(json.to_vec(), true)).is_ok());
        }
    }
}
