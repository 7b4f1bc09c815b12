//! A formatter for `serde_json` that writes the text of a value and its hashable form at once.

use std::io;

use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use super::{Member, TextAndHash};

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
impl Formatter for &mut TextAndHash<'_> {
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
        // A value without a name before it.
        self.unsure |= !self.open.last().is_some_and(|open| open.busy);
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
