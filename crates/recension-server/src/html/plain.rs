//! Rows of templates that are text with places for members, and nothing else: most are. Such a row is written from its
//! JSON text as it comes, without a template's machine; what one cannot tell here is left to that. Pure.

use super::escape;

/// What one row may become: as much as the fuel of a template's machine would make.
const ROW_BYTES_MAX: usize = 3 << 20;

/// A row of a template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Text, and the place behind it.
    parts: Vec<(String, Place)>,
    last: String,
    /// Members of the document that are shown, in the order of their places.
    shown: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Id,
    Index,
    /// A member of the row.
    Row(String),
    /// A member of the document: a number in `shown`.
    Doc(usize),
}

/// It cannot be told here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotPlain;

type Told<T> = Result<T, NotPlain>;

impl Plain {
    /// Of a source that makes markup; `None` where it has more than places.
    pub(crate) fn of(source: &str) -> Option<Self> {
        // The machine leaves out one line's end at the end of a source.
        let source = source.strip_suffix('\n').map_or(source, |less| less.strip_suffix('\r').unwrap_or(less));
        if source.contains("{%") || source.contains("{#") {
            return None;
        }
        let (mut parts, mut shown) = (Vec::new(), Vec::<String>::new());
        let mut rest = source;
        while let Some((text, after)) = rest.split_once("{{") {
            let (place, after) = after.split_once("}}")?;
            let place = match place.trim_matches(' ').split_once('.') {
                None if place.trim_matches(' ') == "id" => Place::Id,
                None if place.trim_matches(' ') == "index" => Place::Index,
                Some(("row", name)) if is_name(name) => Place::Row(name.to_owned()),
                Some(("doc", name)) if is_name(name) => {
                    let known = shown.iter().position(|own| own == name);
                    Place::Doc(known.unwrap_or_else(|| {
                        shown.push(name.to_owned());
                        shown.len() - 1
                    }))
                }
                _ => return None,
            };
            parts.push((text.to_owned(), place));
            rest = after;
        }
        Some(Plain { parts, last: rest.to_owned(), shown })
    }

    /// Writes a row from its JSON text. What was written of one that cannot be told is taken back.
    pub(crate) fn write(&self, row: &[u8], index: u64, out: &mut Vec<u8>) -> Told<()> {
        let before = out.len();
        let written = self.try_to_write(row, index, out);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    fn try_to_write(&self, row: &[u8], index: u64, out: &mut Vec<u8>) -> Told<()> {
        let mut own: [(&[u8], &[u8]); ROW_MEMBERS_MAX] = [(b"", b""); ROW_MEMBERS_MAX];
        let mut count = 0;
        let (mut doc, mut id, mut second) = (None, None, None);
        let keeps = self.parts.iter().any(|(_, place)| matches!(place, Place::Row(_)));
        each_member(row, |name, value| {
            match name {
                b"doc" => doc = Some(value),
                b"id" => id = Some(value),
                b"_id" => second = Some(value),
                _ => {}
            }
            if keeps {
                *own.get_mut(count).ok_or(NotPlain)? = (name, value);
                count += 1;
            }
            Ok(())
        })?;
        let doc = doc.unwrap_or(row);
        let mut found: Vec<&[u8]> = vec![b""; self.shown.len()];
        let mut next = 0;
        each_member(doc, |name, value| {
            // Most documents have their members in one order, which is the template's: what comes next is looked at.
            let at = match self.shown.get(next) {
                Some(shown) if shown.as_bytes() == name => Some(next),
                _ => self.shown.iter().position(|shown| shown.as_bytes() == name),
            };
            if let Some(at) = at {
                found[at] = value;
                next = at + 1;
            }
            Ok(())
        })?;
        let most = out.len() + ROW_BYTES_MAX;
        for (text, place) in &self.parts {
            out.extend_from_slice(text.as_bytes());
            match place {
                Place::Id => value(id.or(second).unwrap_or_default(), out)?,
                Place::Index => out.extend_from_slice(index.to_string().as_bytes()),
                Place::Row(name) => {
                    let of_name = own[..count].iter().rev().find(|(own, _)| *own == name.as_bytes());
                    value(of_name.map(|(_, value)| *value).unwrap_or_default(), out)?;
                }
                Place::Doc(at) => value(found[*at], out)?,
            }
            if out.len() > most {
                return Err(NotPlain);
            }
        }
        out.extend_from_slice(self.last.as_bytes());
        Ok(())
    }
}

/// Members of a row itself: those of its document, where it is one.
const ROW_MEMBERS_MAX: usize = 128;

fn is_name(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Shows a value: text, a whole number or a word. Nothing shows as nothing.
fn value(json: &[u8], out: &mut Vec<u8>) -> Told<()> {
    match json {
        [] => {}
        [b'"', text @ .., b'"'] => escape::push_json(text, out).map_err(|_| NotPlain)?,
        b"true" | b"false" => out.extend_from_slice(json),
        b"null" => out.extend_from_slice(b"none"),
        // More digits may not fit the machine's numbers.
        [b'0'..=b'9', rest @ ..] | [b'-', b'1'..=b'9', rest @ ..]
            if rest.len() < 17 && rest.iter().all(u8::is_ascii_digit) =>
        {
            out.extend_from_slice(json);
        }
        _ => return Err(NotPlain),
    }
    Ok(())
}

/// Tells of each member of an object its name, which is without escapes, and its value's text.
fn each_member<'t>(object: &'t [u8], mut tell: impl FnMut(&'t [u8], &'t [u8]) -> Told<()>) -> Told<()> {
    let mut rest = object.trim_ascii_start().strip_prefix(b"{").ok_or(NotPlain)?;
    loop {
        match rest {
            [b'"', after @ ..] => {
                let end = string_end(after).ok_or(NotPlain)?;
                let (name, after) = (&after[..end], &after[end + 1..]);
                if name.contains(&b'\\') {
                    return Err(NotPlain);
                }
                let after = spaces(after).strip_prefix(b":").ok_or(NotPlain)?;
                let after = spaces(after);
                let length = value_length(after).ok_or(NotPlain)?;
                tell(name, &after[..length])?;
                rest = &after[length..];
            }
            [b',' | b' ' | b'\n' | b'\r' | b'\t', after @ ..] => rest = after,
            [b'}', ..] => return Ok(()),
            _ => return Err(NotPlain),
        }
    }
}

fn spaces(bytes: &[u8]) -> &[u8] {
    match bytes.first() {
        Some(b' ' | b'\n' | b'\r' | b'\t') => bytes.trim_ascii_start(),
        _ => bytes,
    }
}

/// Where the quote is that ends a string whose first quote was taken.
fn string_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn value_length(bytes: &[u8]) -> Option<usize> {
    match bytes.first()? {
        b'"' => string_end(&bytes[1..]).map(|end| end + 2),
        b'{' | b'[' => {
            let (mut at, mut open) = (0, 0_usize);
            loop {
                match bytes.get(at)? {
                    b'"' => at += string_end(&bytes[at + 1..])? + 1,
                    b'{' | b'[' => open += 1,
                    b'}' | b']' => open -= 1,
                    _ => {}
                }
                at += 1;
                if open == 0 {
                    return Some(at);
                }
            }
        }
        _ => bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b' ' | b'\n' | b'\r' | b'\t')),
    }
}
