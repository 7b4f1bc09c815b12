//! Text as HTML has it: fit between tags, and between the quotes of an attribute. Works on bytes, a block at a time.

/// Bytes that are looked at together: one test for the block, which compilers make vector instructions of.
const BLOCK: usize = 32;

/// Appends text that can be nothing but text. Control characters, which pages cannot hold, become their pictures
/// (`␀`). What is no UTF-8 is passed on as it is; whoever calls has text.
pub(crate) fn push(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len());
    let mut rest = text;
    while let Some((block, after)) = rest.split_at_checked(BLOCK) {
        if block.iter().fold(false, |any, byte| any | is_special(*byte)) {
            push_slowly(block, out);
        } else {
            out.extend_from_slice(block);
        }
        rest = after;
    }
    push_slowly(rest, out);
}

/// Whether a byte is to be written otherwise. Few comparisons, none of which branches: so a block of them is compared
/// by vector instructions.
#[allow(clippy::needless_bitwise_bool)] // a lazy operator is a branch
const fn is_special(byte: u8) -> bool {
    (byte < b' ') | (byte == b'&') | (byte == b'<') | (byte == b'>') | (byte == b'"') | (byte == b'\'') | (byte == 0x7f)
}

/// The same in a string of JSON.
#[allow(clippy::needless_bitwise_bool)] // as above
const fn is_marked(byte: u8) -> bool {
    is_special(byte) | (byte == b'\\')
}

fn push_slowly(text: &[u8], out: &mut Vec<u8>) {
    let mut plain = 0;
    for (at, byte) in text.iter().enumerate() {
        if !is_special(*byte) {
            continue;
        }
        out.extend_from_slice(&text[plain..at]);
        plain = at + 1;
        push_special(*byte, out);
    }
    out.extend_from_slice(&text[plain..]);
}

fn push_special(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'&' => out.extend_from_slice(b"&amp;"),
        b'<' => out.extend_from_slice(b"&lt;"),
        b'>' => out.extend_from_slice(b"&gt;"),
        b'"' => out.extend_from_slice(b"&#34;"),
        b'\'' => out.extend_from_slice(b"&#39;"),
        b'\t' | b'\n' => out.push(byte),
        // Parsers make a line feed of it; as a reference it stays what it is.
        b'\r' => out.extend_from_slice(b"&#13;"),
        0x7f => out.extend_from_slice("\u{2421}".as_bytes()),
        // U+2400 and on: E2 90 80 and on.
        control => out.extend_from_slice(&[0xe2, 0x90, 0x80 + control]),
    }
}

/// What a byte of a JSON string is for [`push_quoted`].
const PLAIN: u8 = 0;
const SPECIAL: u8 = 1;
const BACKSLASH: u8 = 2;
const CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut byte = 0;
    while byte < 256 {
        if is_special(byte as u8) {
            classes[byte] = SPECIAL;
        }
        byte += 1;
    }
    classes[b'\\' as usize] = BACKSLASH;
    classes
};

/// The text is no string of JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoString;

/// The same of a string as JSON has it, whose first quote was taken: its escapes are read on the way. Returns where the
/// string ends, behind its last quote.
pub(crate) fn push_quoted(text: &[u8], out: &mut Vec<u8>) -> Result<usize, NoString> {
    let (mut plain, mut at) = (0, 0);
    loop {
        let &byte = text.get(at).ok_or(NoString)?;
        let class = CLASSES[byte as usize];
        if class == PLAIN {
            at += 1;
            // A long text: its blocks are looked at together.
            while (at - plain) % BLOCK == 0
                && let Some(block) = text.get(at..at + BLOCK)
                && !block.iter().fold(false, |any, byte| any | is_marked(*byte))
            {
                at += BLOCK;
            }
            continue;
        }
        out.extend_from_slice(&text[plain..at]);
        if byte == b'"' {
            return Ok(at + 1);
        }
        if class == SPECIAL {
            push_special(byte, out);
            at += 1;
        } else {
            match text.get(at + 1).ok_or(NoString)? {
                b'"' => push_special(b'"', out),
                byte @ (b'\\' | b'/') => out.push(*byte),
                b'n' => out.push(b'\n'),
                b't' => out.push(b'\t'),
                b'r' => push_special(b'\r', out),
                // Those are rare: all that is left is read as a whole.
                _ => return push_read(text, at, out),
            }
            at += 2;
        }
        plain = at;
    }
}

/// What is left of a string from a place on.
fn push_read(text: &[u8], at: usize, out: &mut Vec<u8>) -> Result<usize, NoString> {
    let end = at + string_end(&text[at..]).ok_or(NoString)?;
    let quoted = [b"\"", &text[at..=end]].concat();
    let read: String = serde_json::from_slice(&quoted).map_err(|_| NoString)?;
    push(read.as_bytes(), out);
    Ok(end + 1)
}

/// Where the quote is that ends a string of JSON whose first quote was taken.
pub(crate) fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match text.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = Vec::new();
        push(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn markup_becomes_text() {
        for (text, expected) in [
            ("", ""),
            (
                "<script>alert(\"x\" & 'y')</script>",
                "&lt;script&gt;alert(&#34;x&#34; &amp; &#39;y&#39;)&lt;/script&gt;",
            ),
            ("a\0b\u{1b}\u{7f}\r\n\t", "a␀b␛␡&#13;\n\t"),
            ("grüße 😀 plain and long enough for a block", "grüße 😀 plain and long enough for a block"),
        ] {
            assert_eq!(escaped(text), expected);
        }
    }

    /// What a parser of HTML reads in the place of text.
    fn read(html: &str) -> String {
        let names = [("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#13;", "\r")];
        let (mut out, mut rest) = (String::new(), html);
        while let Some(first) = rest.chars().next() {
            let named = names.iter().find(|(name, _)| rest.starts_with(name));
            assert!(first != '&' || named.is_some(), "{rest}");
            let (length, text) = named.map_or((first.len_utf8(), &rest[..first.len_utf8()]), |(n, t)| (n.len(), t));
            out.push_str(text);
            rest = &rest[length..];
        }
        out
    }

    proptest! {
        #[test]
        fn any_text_stays_text_and_is_read_as_it_was(text in "[\\x00-\\x7f<>&\"'a-zäß😀]{0,200}") {
            let html = escaped(&text);
            prop_assert!(!html.contains(['<', '>', '"', '\'']));
            let shown = |c: char| match c {
                '\t' | '\n' | '\r' => c,
                '\u{7f}' => '\u{2421}',
                c if c < ' ' => char::from_u32(0x2400 + u32::from(c)).unwrap(),
                c => c,
            };
            prop_assert_eq!(read(&html), text.chars().map(shown).collect::<String>());
        }

        #[test]
        fn a_string_of_json_becomes_what_its_text_becomes(text in "[\\x00-\\x7f<>&\"'a-zäß😀\\\\/]{0,200}") {
            let json = serde_json::to_string(&text).unwrap();
            let mut out = Vec::new();
            let behind = format!("{},\"x\"", &json[1..]);
            prop_assert_eq!(push_quoted(behind.as_bytes(), &mut out), Ok(json.len() - 1));
            prop_assert_eq!(String::from_utf8(out).unwrap(), escaped(&text));
            prop_assert_eq!(push_quoted(&json.as_bytes()[1..json.len() - 1], &mut Vec::new()), Err(NoString));
        }
    }
}
