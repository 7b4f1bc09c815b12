//! A value as its text and as what its revision is made of, both written at once while serde says it: a text that is
//! made here need not be parsed to be checked. What the parser would decide (members that come twice, raw texts,
//! numbers out of range, too many levels) is left to the parser, so that there is one rule for each.

use std::io;
use std::ops::Range;

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

use crate::document::json::{Minified, Number, Shape, is_reserved};
use crate::document::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX};
use crate::document::rev_hash::HashableBody;
use crate::document::term::{Encoder, Mark};

/// What was written of a value.
pub(super) enum Written {
    /// An object: its text without what does not stay, with the schema's version; and what is hashed of that.
    Both(Minified, HashableBody),
    /// The text as it came, to be parsed.
    Text(String),
}

/// Writes a value. Of an object the members named in `own` do not stay, nor do reserved ones; `version` becomes a member.
pub(super) fn write<T: Serialize>(
    value: &T,
    own: &[&str],
    version: Option<(&'static str, u32)>,
) -> serde_json::Result<Written> {
    let mut both = Both::new(own, version);
    value.serialize(&mut Serializer::with_formatter(io::sink(), &mut both))?;
    Ok(both.finish())
}

/// Bytes that there is room for at first.
const ROOM: usize = 1024;

struct Both<'o> {
    text: Vec<u8>,
    encoder: Encoder,
    own: &'o [&'o str],
    version: Option<(&'static str, u32)>,
    open: Vec<Open>,
    /// The names of the members of all open objects, as they stand in the text.
    names: Vec<Range<usize>>,
    shape: Shape,
    /// Whether a string is being written; numbers can stand in one, where they are names.
    in_string: bool,
    /// Where the name or string that came last begins, behind its quote.
    string_start: usize,
    /// The member of the outermost object that came last.
    member: Member,
    reserved: Vec<(String, String)>,
    /// Where in the text the members stand that do not stay.
    gone: Vec<Range<usize>>,
    /// The parser shall say what the text is.
    unsure: bool,
}

/// An open array or object.
struct Open {
    object: bool,
    /// Whether one of its members or elements is being written.
    busy: bool,
    /// How many names were noted when it began.
    names_before: usize,
    /// The place in the shape up to which its names are those of the shape.
    in_shape: Option<usize>,
}

#[derive(Default)]
struct Member {
    start: usize,
    value_start: usize,
    mark: Mark,
    /// Its name, where it does not stay.
    leaves_as: Option<String>,
}

impl<'o> Both<'o> {
    fn new(own: &'o [&'o str], version: Option<(&'static str, u32)>) -> Self {
        Both {
            text: Vec::with_capacity(ROOM),
            encoder: Encoder::with_room_for(ROOM),
            own,
            version,
            open: Vec::new(),
            names: Vec::new(),
            shape: Shape::default(),
            in_string: false,
            string_start: 0,
            member: Member::default(),
            reserved: Vec::new(),
            gone: Vec::new(),
            unsure: false,
        }
    }

    fn finish(mut self) -> Written {
        let whole = !self.unsure && self.open.is_empty() && self.text.len() <= JSON_BYTES_MAX;
        let is_object = self.text.first() == Some(&b'{');
        if whole && is_object {
            // From the end, so that the places of the others stay right. With each goes a comma, if there is one.
            for Range { start, end } in self.gone.iter().rev().cloned() {
                let before = usize::from(self.text.get(start - 1) == Some(&b','));
                let behind = usize::from(before == 0 && self.text.get(end) == Some(&b','));
                self.text.drain(start - before..end + behind);
            }
            if let Some((name, version)) = self.version {
                let comma = if self.text.len() > 2 { "," } else { "" };
                let member = format!("{}:{version}{comma}", crate::document::json::quote(name));
                self.text.splice(1..1, member.into_bytes());
            }
        }
        // All of it came as strings.
        let text = String::from_utf8(self.text).unwrap_or_default();
        if !(whole && is_object) {
            return Written::Text(text);
        }
        let minified = Minified { text, reserved: self.reserved, kind: "an object" };
        Written::Both(minified, HashableBody::encoded(self.encoder))
    }

    /// A word or a number begins or has been written: in a name it is a piece of it.
    fn word(&mut self, word: &str) {
        self.text.extend_from_slice(word.as_bytes());
        if self.in_string {
            self.encoder.string_piece(word.as_bytes());
        } else {
            self.encoder.atom(word);
        }
    }

    /// An integer, whose text stands from `start` on. `None`: it needs more than 64 bits.
    fn integer(&mut self, start: usize, value: Option<i64>) {
        match value {
            Some(value) if !self.in_string => self.encoder.integer(value),
            _ => self.number(start),
        }
    }

    /// A number, whose text stands from `start` on.
    fn number(&mut self, start: usize) {
        let digits = self.text.get(start..).unwrap_or_default();
        if self.in_string {
            self.encoder.string_piece(digits);
            return;
        }
        let integer = !digits.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
        let text = std::str::from_utf8(digits).unwrap_or_default();
        self.unsure |= self.encoder.number(Number { text, integer }).is_err();
    }

    fn begin(&mut self, object: bool) {
        self.unsure |= self.open.len() == JSON_DEPTH_MAX;
        self.text.push(if object { b'{' } else { b'[' });
        self.open.push(Open { object, busy: false, names_before: self.names.len(), in_shape: Some(0) });
        self.encoder.begin(object);
        if let (Some((name, version)), 1) = (self.version, self.open.len()) {
            self.encoder.member();
            self.encoder.string(name);
            self.encoder.integer(i64::from(version));
        }
    }

    fn end(&mut self, object: bool) {
        self.text.push(if object { b'}' } else { b']' });
        self.encoder.end();
        let Some(open) = self.open.pop() else {
            self.unsure = true;
            return;
        };
        self.unsure |= open.object != object || open.busy;
        if object && open.in_shape.is_none() {
            let text = &self.text;
            let name = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
            let names: Vec<&[u8]> = self.names.get(open.names_before..).unwrap_or_default().iter().map(name).collect();
            self.unsure |= !self.shape.learn(&names);
        }
        self.names.truncate(open.names_before);
    }

    /// A member or an element begins. Whoever writes more of them than announced is not where the text is.
    fn begin_entry(&mut self, object: bool, first: bool) {
        if !first {
            self.text.push(b',');
        }
        match self.open.last_mut() {
            Some(open) if open.object == object && !open.busy => open.busy = true,
            _ => self.unsure = true,
        }
    }

    fn end_entry(&mut self) {
        if let Some(open) = self.open.last_mut() {
            open.busy = false;
        }
    }

    fn end_name(&mut self) {
        // Behind the closing quote.
        let range = self.string_start..self.text.len().saturating_sub(1);
        let name = self.text.get(range.clone()).unwrap_or_default();
        if self.open.len() == 1 {
            let text = std::str::from_utf8(name).unwrap_or_default();
            // What an escaped name stands for the parser knows.
            self.unsure |= text.contains('\\');
            self.member.leaves_as = is_reserved(text, self.own).then(|| text.to_owned());
            if self.member.leaves_as.is_some() {
                return;
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.in_shape = open.in_shape.and_then(|at| self.shape.follows(at, name));
        }
        self.names.push(range);
    }

    /// A member of the outermost object has ended, which does not stay.
    fn leave(&mut self, name: String) {
        let value = self.text.get(self.member.value_start..).unwrap_or_default();
        let value = String::from_utf8_lossy(value).into_owned();
        self.reserved.retain(|(known, _)| *known != name);
        self.reserved.push((name, value));
        self.gone.push(self.member.start..self.text.len());
        self.encoder.rewind(self.member.mark);
    }
}

macro_rules! integers {
    ($($method:ident $of:ty,)*) => {$(
        fn $method<W: ?Sized + io::Write>(&mut self, _: &mut W, value: $of) -> io::Result<()> {
            let start = self.text.len();
            CompactFormatter.$method(&mut self.text, value)?;
            self.integer(start, i64::try_from(value).ok());
            Ok(())
        }
    )*};
}

macro_rules! fractions {
    ($($method:ident $of:ty,)*) => {$(
        fn $method<W: ?Sized + io::Write>(&mut self, _: &mut W, value: $of) -> io::Result<()> {
            let start = self.text.len();
            CompactFormatter.$method(&mut self.text, value)?;
            self.number(start);
            Ok(())
        }
    )*};
}

/// Nothing goes to the writer: both outputs are here.
impl Formatter for &mut Both<'_> {
    integers! {
        write_i8 i8,
        write_i16 i16,
        write_i32 i32,
        write_i64 i64,
        write_i128 i128,
        write_u8 u8,
        write_u16 u16,
        write_u32 u32,
        write_u64 u64,
        write_u128 u128,
    }

    fractions! {
        write_f32 f32,
        write_f64 f64,
    }

    fn write_null<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.word("null");
        Ok(())
    }

    fn write_bool<W: ?Sized + io::Write>(&mut self, _: &mut W, value: bool) -> io::Result<()> {
        self.word(if value { "true" } else { "false" });
        Ok(())
    }

    fn write_number_str<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: &str) -> io::Result<()> {
        self.write_raw_fragment(writer, value)
    }

    fn write_raw_fragment<W: ?Sized + io::Write>(&mut self, _: &mut W, fragment: &str) -> io::Result<()> {
        self.unsure = true;
        self.text.extend_from_slice(fragment.as_bytes());
        Ok(())
    }

    fn begin_string<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.text.push(b'"');
        self.in_string = true;
        self.string_start = self.text.len();
        self.encoder.begin_string();
        Ok(())
    }

    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, _: &mut W, fragment: &str) -> io::Result<()> {
        self.text.extend_from_slice(fragment.as_bytes());
        self.encoder.string_piece(fragment.as_bytes());
        Ok(())
    }

    fn write_char_escape<W: ?Sized + io::Write>(&mut self, _: &mut W, escape: CharEscape) -> io::Result<()> {
        let byte = match &escape {
            CharEscape::Quote => b'"',
            CharEscape::ReverseSolidus => b'\\',
            CharEscape::Solidus => b'/',
            CharEscape::Backspace => 0x8,
            CharEscape::FormFeed => 0xc,
            CharEscape::LineFeed => b'\n',
            CharEscape::CarriageReturn => b'\r',
            CharEscape::Tab => b'\t',
            CharEscape::AsciiControl(byte) => *byte,
        };
        self.encoder.string_piece(&[byte]);
        CompactFormatter.write_char_escape(&mut self.text, escape)
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.text.push(b'"');
        self.in_string = false;
        self.encoder.end_string();
        Ok(())
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.begin(false);
        Ok(())
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end(false);
        Ok(())
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.begin_entry(false, first);
        self.encoder.element();
        Ok(())
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end_entry();
        Ok(())
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.begin(true);
        Ok(())
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end(true);
        Ok(())
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W, first: bool) -> io::Result<()> {
        self.begin_entry(true, first);
        if self.open.len() == 1 {
            let (start, mark) = (self.text.len(), self.encoder.mark());
            self.member = Member { start, mark, ..Member::default() };
        }
        self.encoder.member();
        Ok(())
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end_name();
        Ok(())
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.text.push(b':');
        if self.open.len() == 1 {
            self.member.value_start = self.text.len();
        }
        Ok(())
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.end_entry();
        if self.open.len() == 1
            && let Some(name) = self.member.leaves_as.take()
        {
            self.leave(name);
        }
        Ok(())
    }
}
