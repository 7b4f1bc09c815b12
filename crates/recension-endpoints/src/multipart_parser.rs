//! Reading `multipart/*` as it arrives (RFC 2046): pieces go in, the parts' headers and bytes come out. Pure, and bounded:
//! it holds what has come since the last whole event, which is no more than one section of headers or one piece.

use bytes::{Buf, Bytes, BytesMut};

use recension_wire::limits::{BOUNDARY_BYTES_MAX, PART_HEAD_BYTES_MAX, PARTS_MAX};

/// An event of the parser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A part begins.
    Part(PartHead),
    /// Bytes of the part; never empty.
    Data(Bytes),
    /// The part ends.
    EndOfPart,
    /// The whole ends. Bytes behind it are ignored.
    End,
}

/// The headers of a part, as far as anybody asks for them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PartHead {
    /// `Content-Type`
    pub content_type: Option<String>,
    /// `filename` of `Content-Disposition`
    pub name: Option<String>,
    /// Whether `Content-Encoding` is gzip.
    pub gzip: bool,
}

/// The reason for which a body is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Malformed {
    /// The content type has no boundary, or an invalid one.
    #[error("the content type of a multipart body needs a boundary of 1 to {BOUNDARY_BYTES_MAX} characters")]
    Boundary,
    /// The headers of a part are too long.
    #[error("the headers of a part are longer than {PART_HEAD_BYTES_MAX} bytes")]
    HeadTooLong,
    /// The headers of a part cannot be read.
    #[error("the headers of a part do not read: \"Name: value\" was expected")]
    Head,
    /// There are too many parts.
    #[error("a multipart body has {PARTS_MAX} parts at most")]
    TooManyParts,
    /// Too much text comes before the first part.
    #[error("the multipart body does not begin with its boundary")]
    NoPart,
}

/// A reader of one body.
#[derive(Debug)]
pub struct Parser {
    /// `\r\n--boundary`
    delimiter: Vec<u8>,
    held: BytesMut,
    at: At,
    parts: usize,
    skipped: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Preamble,
    Head,
    Body,
    End,
}

/// The text behind a delimiter.
enum Behind {
    /// Another part, after this many bytes.
    Part(usize),
    End,
    /// Something else: it was no delimiter.
    Other,
    /// More bytes have to come first.
    Unknown,
}

/// Blanks that may stand behind a boundary.
const PADDING_MAX: usize = 64;

impl Parser {
    /// A parser for a body of this content type.
    ///
    /// # Errors
    /// [`Malformed::Boundary`]
    pub fn new(content_type: &str) -> Result<Self, Malformed> {
        let boundary = parameter(content_type, "boundary").ok_or(Malformed::Boundary)?;
        let is_text = boundary.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if boundary.is_empty() || boundary.len() > BOUNDARY_BYTES_MAX || !is_text || boundary.ends_with(' ') {
            return Err(Malformed::Boundary);
        }
        // The first delimiter may stand at the very beginning.
        let held = BytesMut::from(&b"\r\n"[..]);
        Ok(Parser { delimiter: format!("\r\n--{boundary}").into_bytes(), held, at: At::Preamble, parts: 0, skipped: 0 })
    }

    /// Takes bytes that have arrived. The caller takes events until there are none before it feeds the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        if self.at != At::End {
            self.held.extend_from_slice(piece);
        }
    }

    /// The next event; `None`: more has to come first.
    ///
    /// # Errors
    /// If the bytes are no multipart body.
    pub fn next_event(&mut self) -> Result<Option<Event>, Malformed> {
        match self.at {
            At::Preamble => {
                while let Some(skipped) = self.data() {
                    self.skipped += skipped.len();
                }
                if self.skipped > PART_HEAD_BYTES_MAX {
                    return Err(Malformed::NoPart);
                }
                self.delimited()
            }
            At::Head => self.head(),
            At::Body => match self.data() {
                Some(data) => Ok(Some(Event::Data(data))),
                None => Ok(self.is_at_delimiter().then(|| {
                    self.at = At::Preamble;
                    self.skipped = 0;
                    Event::EndOfPart
                })),
            },
            At::End => Ok(None),
        }
    }

    /// How many bytes it holds.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The bytes that cannot be part of a delimiter.
    fn data(&mut self) -> Option<Bytes> {
        let mut from = 0;
        let count = loop {
            match find(self.held.get(from..).unwrap_or_default(), &self.delimiter) {
                Found::At(at) => match self.behind(from + at) {
                    Behind::Other => from += at + 1,
                    _ => break from + at,
                },
                Found::Perhaps(at) => break from + at,
            }
        };
        (count > 0).then(|| self.held.split_to(count).freeze())
    }

    fn is_at_delimiter(&self) -> bool {
        self.held.starts_with(&self.delimiter) && matches!(self.behind(0), Behind::Part(_) | Behind::End)
    }

    fn behind(&self, at: usize) -> Behind {
        let rest = self.held.get(at + self.delimiter.len()..).unwrap_or_default();
        if rest.starts_with(b"--") {
            return Behind::End;
        }
        let padding = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match rest.get(padding..).unwrap_or_default() {
            _ if padding > PADDING_MAX => Behind::Other,
            [b'\r', b'\n', ..] => Behind::Part(padding + 2),
            [] | [b'\r'] => Behind::Unknown,
            [b'-'] if padding == 0 => Behind::Unknown,
            _ => Behind::Other,
        }
    }

    /// Reads past the delimiter that is next.
    fn delimited(&mut self) -> Result<Option<Event>, Malformed> {
        if !self.held.starts_with(&self.delimiter) {
            return Ok(None);
        }
        match self.behind(0) {
            Behind::End => {
                self.at = At::End;
                self.held.clear();
                Ok(Some(Event::End))
            }
            Behind::Part(behind) => {
                if self.parts == PARTS_MAX {
                    return Err(Malformed::TooManyParts);
                }
                self.parts += 1;
                // The line's end stays: it ends the head of a part without headers.
                self.held.advance(self.delimiter.len() + behind - 2);
                self.at = At::Head;
                self.head()
            }
            Behind::Other | Behind::Unknown => Ok(None),
        }
    }

    fn head(&mut self) -> Result<Option<Event>, Malformed> {
        let Found::At(end) = find(&self.held, b"\r\n\r\n") else {
            return if self.held.len() > PART_HEAD_BYTES_MAX { Err(Malformed::HeadTooLong) } else { Ok(None) };
        };
        if end > PART_HEAD_BYTES_MAX {
            return Err(Malformed::HeadTooLong);
        }
        let head = PartHead::read(self.held.get(..end).unwrap_or_default())?;
        self.held.advance(end + 4);
        self.at = At::Body;
        Ok(Some(Event::Part(head)))
    }
}

impl PartHead {
    fn read(lines: &[u8]) -> Result<Self, Malformed> {
        let text = std::str::from_utf8(lines).map_err(|_| Malformed::Head)?;
        let mut head = PartHead::default();
        for line in text.split("\r\n").filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').ok_or(Malformed::Head)?;
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "content-type" => head.content_type = Some(value.to_owned()),
                "content-disposition" => head.name = parameter(value, "filename"),
                "content-encoding" => head.gzip = value.eq_ignore_ascii_case("gzip"),
                _ => {}
            }
        }
        Ok(head)
    }
}

enum Found {
    At(usize),
    /// It is not there, but may begin at this place.
    Perhaps(usize),
}

fn find(text: &[u8], wanted: &[u8]) -> Found {
    if let Some(at) = memchr::memmem::find(text, wanted) {
        return Found::At(at);
    }
    let longest = text.len().min(wanted.len().saturating_sub(1));
    let tail = |length: &usize| text.ends_with(wanted.get(..*length).unwrap_or_default());
    Found::Perhaps(text.len() - (1..=longest).rev().find(tail).unwrap_or(0))
}

/// A parameter of a header's value: `a/b; name=value; other="quoted"`.
pub fn parameter(header: &str, wanted: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (name, after) = rest.split_once('=')?;
        let name = name.trim().trim_start_matches(';').trim();
        let after = after.trim_start();
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted_text(quoted),
            None => match after.split_once(';') {
                Some((value, next)) => (value.trim().to_owned(), next),
                None => (after.trim().to_owned(), ""),
            },
        };
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = next;
    }
}

/// The text before the closing quote, and the text behind it.
fn quoted_text(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return (value, text.get(at + 1..).unwrap_or_default()),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part that was read.
    type Read = (PartHead, Vec<u8>);

    /// All parts of a body that comes in pieces of a length.
    fn parts(content_type: &str, body: &[u8], piece: usize) -> Result<(Vec<Read>, bool), Malformed> {
        let mut parser = Parser::new(content_type)?;
        let (mut parts, mut open, mut ended) = (Vec::new(), None, false);
        for piece in body.chunks(piece) {
            parser.feed(piece);
            while let Some(event) = parser.next_event()? {
                match event {
                    Event::Part(head) => open = Some((head, Vec::new())),
                    Event::Data(data) => open.as_mut().unwrap().1.extend(&data),
                    Event::EndOfPart => parts.extend(open.take()),
                    Event::End => ended = true,
                }
            }
        }
        Ok((parts, ended))
    }

    #[test]
    fn parts_come_out_as_they_went_in_however_they_are_cut() {
        let bodies: [(&[u8], &[&[u8]]); 7] = [
            (b"--b\r\n\r\none\r\n--b\r\nContent-Type: text/plain\r\n\r\ntwo\r\n--b--", &[b"one", b"two"]),
            (b"preamble\r\n--b \t\r\n\r\n\r\n--b--\r\nepilogue\r\n--b\r\n\r\nx", &[b""]),
            (b"--b\r\n\r\n\r\n\r\n--b\r\n\r\n\r\n--b--", &[b"\r\n", b""]),
            (b"--b\r\nX: 1\r\n\r\na\r\n--bb\r\n--c\r\n--\r\n--b--", &[b"a\r\n--bb\r\n--c\r\n--"]),
            (b"--b\r\n\r\n\r\n--\r\n--b-\r\n--b--", &[b"\r\n--\r\n--b-"]),
            (b"--b\r\n\r\nno end\r\n--b", &[]),
            (b"--b--", &[]),
        ];
        for (body, expected) in bodies {
            for piece in 1..=body.len() {
                let (parts, ended) = parts("multipart/related;boundary=b", body, piece).unwrap();
                let texts: Vec<&[u8]> = parts.iter().map(|(_, text)| text.as_slice()).collect();
                assert_eq!(texts, expected, "{} in pieces of {piece}", body.escape_ascii());
                assert_eq!(ended, body.windows(5).any(|window| window == b"--b--"));
            }
        }
    }

    #[test]
    fn headers_of_parts_are_read() {
        let body =
            b"--x y\r\ncontent-type: text/plain; a=b\r\nContent-Disposition: attachment; filename=\"a\\\"b/c.txt\"\r\n\
            Content-Encoding: GZIP\r\nOther: 1\r\n\r\n-\r\n--x y--";
        let (parts, _) = parts("multipart/related; type=\"a;b\"; BOUNDARY=\"x y\"", body, 7).unwrap();
        let head = PartHead {
            content_type: Some("text/plain; a=b".to_owned()),
            name: Some("a\"b/c.txt".to_owned()),
            gzip: true,
        };
        assert_eq!(parts, [(head, b"-".to_vec())]);
    }

    #[test]
    fn hostile_bodies_are_refused_within_bounds() {
        for (content_type, expected) in [
            ("multipart/related", Malformed::Boundary),
            ("multipart/related; boundary=", Malformed::Boundary),
            ("multipart/related; boundary=\"\"", Malformed::Boundary),
            ("multipart/related; boundary=\"a ", Malformed::Boundary),
            ("multipart/related; boundary=ä", Malformed::Boundary),
            (&format!("multipart/related; boundary={}", "b".repeat(BOUNDARY_BYTES_MAX + 1)), Malformed::Boundary),
        ] {
            assert_eq!(Parser::new(content_type).map(drop), Err(expected), "{content_type}");
        }
        let long_head = [b"--b\r\nA: ".as_slice(), &vec![b'x'; 2 * PART_HEAD_BYTES_MAX]].concat();
        let preamble = vec![b'x'; 2 * PART_HEAD_BYTES_MAX];
        let many = b"--b\r\n\r\n\r\n".repeat(PARTS_MAX + 1);
        let many = [many.as_slice(), b"--b\r\n"].concat();
        for (body, expected) in [
            (long_head.as_slice(), Malformed::HeadTooLong),
            (&preamble, Malformed::NoPart),
            (b"--b\r\nno colon\r\n\r\n", Malformed::Head),
            (b"--b\r\nA: \xff\r\n\r\n", Malformed::Head),
            (&many, Malformed::TooManyParts),
        ] {
            assert_eq!(parts("multipart/related; boundary=b", body, 1000), Err(expected));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_in_any_pieces_give_the_same_parts(
            body in proptest::collection::vec(proptest::sample::select(b"\r\n-b:; \"a".to_vec()), 0..200),
            piece in 1usize..20,
        ) {
            let body = [b"--b\r\n\r\n".as_slice(), &body].concat();
            let whole = parts("multipart/related; boundary=b", &body, body.len());
            proptest::prop_assert_eq!(parts("multipart/related; boundary=b", &body, piece), whole);
        }
    }
}
