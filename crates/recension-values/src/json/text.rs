//! JSON strings as they stand in a text: raw between their quotes, decoded on demand.

use std::borrow::Cow;
use std::fmt;

use super::scan::plain_len;

/// A string of a JSON text whose escapes have been checked.
#[derive(Clone, Copy, Debug)]
pub struct Text<'t> {
    /// The text between the quotes.
    pub raw: &'t str,
    /// Whether there is a backslash in it.
    pub escaped: bool,
}

impl<'t> Text<'t> {
    /// The decoded characters.
    pub fn decode(self) -> Cow<'t, str> {
        if self.escaped { Cow::Owned(unescape(self.raw)) } else { Cow::Borrowed(self.raw) }
    }

    /// Whether its characters are `other`.
    pub fn is(self, other: &str) -> bool {
        if self.escaped { unescape(self.raw) == other } else { self.raw == other }
    }
}

/// The characters of a string's text, if none of them is escaped.
pub fn plain_string(text: &str) -> Option<&str> {
    let raw = text.strip_prefix('"')?.strip_suffix('"')?;
    (plain_len(raw.as_bytes()) == raw.len()).then_some(raw)
}

fn unescape(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(escape) = rest.chars().next() else { break };
        rest = &rest[escape.len_utf8()..];
        match escape {
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'u' => {
                let high = take_hex(&mut rest);
                let code = if (0xd800..0xdc00).contains(&high) {
                    rest = rest.strip_prefix("\\u").unwrap_or(rest);
                    let low = take_hex(&mut rest);
                    0x10000 + ((high - 0xd800) << 10) + (low & 0x3ff)
                } else {
                    high
                };
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            other => out.push(other),
        }
    }
    out.push_str(rest);
    out
}

fn take_hex(rest: &mut &str) -> u32 {
    let (digits, after) = rest.split_at_checked(4).unwrap_or((rest, ""));
    *rest = after;
    u32::from_str_radix(digits, 16).unwrap_or(0)
}

/// `text` as a JSON string, with its quotes.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote_into(text, &mut out);
    out
}

/// Appends `text` as a JSON string, with its quotes.
pub fn quote_into(text: &str, out: &mut String) {
    // Writing to a String cannot fail.
    let _ = write_quoted(text, out);
}

/// Writes `text` as a JSON string, with its quotes.
///
/// # Errors
/// Those of `out`.
pub fn write_quoted(text: &str, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    loop {
        // The plain bytes end before a character of one byte.
        let (plain, marked) = rest.split_at_checked(plain_len(rest.as_bytes())).unwrap_or((rest, ""));
        out.write_str(plain)?;
        let mut chars = marked.chars();
        match chars.next() {
            None => break,
            Some('"') => out.write_str("\\\"")?,
            Some('\\') => out.write_str("\\\\")?,
            Some('\n') => out.write_str("\\n")?,
            Some('\r') => out.write_str("\\r")?,
            Some('\t') => out.write_str("\\t")?,
            Some(other) => write!(out, "\\u{:04x}", u32::from(other))?,
        }
        rest = chars.as_str();
    }
    out.write_char('"')
}
