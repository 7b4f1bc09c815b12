//! Rows of templates that are text with places for members, and nothing else: most are. Such a row is written from its
//! JSON text as it comes, or from a document as it is stored, without a template's machine; what one cannot tell here
//! is left to that. Pure.

use recension::Document;

use super::escape::{self, string_end};

/// What one row may become: as much as the fuel of a template's machine would make.
const ROW_BYTES_MAX: usize = 3 << 20;

/// A row of a template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plain {
    /// Text, and the place behind it.
    parts: Vec<(Text, Place)>,
    last: String,
    /// Members of the document that are shown, in the order of their places.
    shown: Vec<Shown>,
    /// Whether all places are of what a stored document has.
    of_stored: bool,
}

/// A member of the document.
#[derive(Debug, PartialEq, Eq)]
struct Shown {
    name: String,
    /// The name as minified JSON has it, up to the value.
    text: Text,
}

/// Bytes of a short text: they are compared and copied as one number, which takes a tenth of the time of a call.
const SHORT: usize = 16;

/// A text of a template.
#[derive(Debug, PartialEq, Eq)]
struct Text {
    whole: String,
    /// Its first bytes, and which bits they are; if it is short that is all of it.
    block: [u8; SHORT],
    mask: u128,
}

impl Text {
    fn of(text: String) -> Self {
        let mut block = [0; SHORT];
        let length = text.len().min(SHORT);
        block[..length].copy_from_slice(&text.as_bytes()[..length]);
        let mask = if length == SHORT { u128::MAX } else { (1 << (8 * length)) - 1 };
        Text { whole: text, block, mask }
    }

    fn push(&self, out: &mut Vec<u8>) {
        if self.whole.len() <= SHORT {
            let end = out.len() + self.whole.len();
            out.extend_from_slice(&self.block);
            out.truncate(end);
        } else {
            out.extend_from_slice(self.whole.as_bytes());
        }
    }

    /// What stands behind it in a text that begins with it.
    fn stripped<'t>(&self, from: &'t [u8]) -> Option<&'t [u8]> {
        match from.first_chunk() {
            Some(first) if self.whole.len() <= SHORT => {
                let differs = (u128::from_le_bytes(*first) ^ u128::from_le_bytes(self.block)) & self.mask;
                (differs == 0).then(|| &from[self.whole.len()..])
            }
            _ => from.strip_prefix(self.whole.as_bytes()),
        }
    }
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
        let (mut parts, mut shown) = (Vec::new(), Vec::<Shown>::new());
        let mut rest = source;
        while let Some((text, after)) = rest.split_once("{{") {
            let (place, after) = after.split_once("}}")?;
            let place = match place.trim_matches(' ').split_once('.') {
                None if place.trim_matches(' ') == "id" => Place::Id,
                None if place.trim_matches(' ') == "index" => Place::Index,
                Some(("row", name)) if is_name(name) => Place::Row(name.to_owned()),
                Some(("doc", name)) if is_name(name) => {
                    let known = shown.iter().position(|own| own.name == name);
                    Place::Doc(known.unwrap_or_else(|| {
                        shown.push(Shown { name: name.to_owned(), text: Text::of(format!("\"{name}\":")) });
                        shown.len() - 1
                    }))
                }
                _ => return None,
            };
            parts.push((Text::of(text.to_owned()), place));
            rest = after;
        }
        let of_row = |place: &Place| matches!(place, Place::Row(name) if name != "id" && name != "key");
        // What else begins so is not stored in a document's text.
        let is_put_around = |shown: &Shown| shown.name.starts_with('_') && !["_id", "_rev"].contains(&&*shown.name);
        let of_stored = !parts.iter().any(|(_, place)| of_row(place)) && !shown.iter().any(is_put_around);
        Some(Plain { parts, last: rest.to_owned(), shown, of_stored })
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
                Some(shown) if shown.name.as_bytes() == name => Some(next),
                _ => self.place_of(name),
            };
            if let Some(at) = at {
                found[at] = value;
                next = at + 1;
            }
            Ok(())
        })?;
        let most = out.len() + ROW_BYTES_MAX;
        for (text, place) in &self.parts {
            text.push(out);
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

impl Plain {
    /// Writes a row from a document that is shown with nothing more than what is stored, and has its members in the
    /// order of their places. What was written of another one is taken back.
    pub(crate) fn write_stored(&self, document: &Document<'_>, index: u64, out: &mut Vec<u8>) -> Told<()> {
        if !self.of_stored {
            return Err(NotPlain);
        }
        let before = out.len();
        let written = self.in_order(document, index, out);
        if written.is_err() {
            out.truncate(before);
        }
        written
    }

    /// Each member is looked for where it ought to be, and written as it is read.
    fn in_order(&self, document: &Document<'_>, index: u64, out: &mut Vec<u8>) -> Told<()> {
        let mut members = Members { rest: document.body.as_bytes().strip_prefix(b"{").ok_or(NotPlain)? };
        let most = out.len() + ROW_BYTES_MAX;
        for (text, place) in &self.parts {
            text.push(out);
            match place {
                Place::Id | Place::Row(_) => escape::push(document.id.as_bytes(), out),
                Place::Index => out.extend_from_slice(index.to_string().as_bytes()),
                Place::Doc(at) => match self.shown[*at].name.as_str() {
                    "_id" => escape::push(document.id.as_bytes(), out),
                    "_rev" => out.extend_from_slice(document.rev.to_string().as_bytes()),
                    _ => {
                        while !members.has(&self.shown[*at].text) {
                            self.pass(&mut members)?;
                        }
                        members.write_value(out)?;
                    }
                },
            }
            if out.len() > most {
                return Err(NotPlain);
            }
        }
        out.extend_from_slice(self.last.as_bytes());
        // Of several members with a name the last counts.
        while !members.is_empty() {
            self.pass(&mut members)?;
        }
        Ok(())
    }

    /// Passes over a member that has no place.
    fn pass(&self, members: &mut Members<'_>) -> Told<()> {
        let name = members.pass()?;
        if self.place_of(name).is_some() { Err(NotPlain) } else { Ok(()) }
    }

    fn place_of(&self, name: &[u8]) -> Option<usize> {
        self.shown.iter().position(|shown| shown.name.as_bytes() == name)
    }
}

/// Members of a minified object that are not read yet, and the object's end.
struct Members<'t> {
    rest: &'t [u8],
}

impl<'t> Members<'t> {
    /// Whether the next one has this name; it is then at its value.
    fn has(&mut self, name: &Text) -> bool {
        let after = name.stripped(self.rest);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn is_empty(&self) -> bool {
        self.rest == b"}"
    }

    /// Passes over a member; answers its name.
    fn pass(&mut self) -> Told<&'t [u8]> {
        let after = self.rest.strip_prefix(b"\"").ok_or(NotPlain)?;
        let end = string_end(after).ok_or(NotPlain)?;
        let name = &after[..end];
        if name.contains(&b'\\') {
            return Err(NotPlain);
        }
        self.rest = after[end + 1..].strip_prefix(b":").ok_or(NotPlain)?;
        let length = value_length(self.rest).ok_or(NotPlain)?;
        self.value_ends(length)?;
        Ok(name)
    }

    /// Writes the value that it is at.
    fn write_value(&mut self, out: &mut Vec<u8>) -> Told<()> {
        if let Some((block, digits)) = short_number(self.rest) {
            let end = out.len() + digits;
            out.extend_from_slice(&block);
            out.truncate(end);
            return self.value_ends(digits);
        }
        let length = match self.rest {
            [b'"', text @ ..] => escape::push_quoted(text, out).map_err(|_| NotPlain)? + 1,
            _ => {
                let length = value_length(self.rest).ok_or(NotPlain)?;
                value(&self.rest[..length], out)?;
                length
            }
        };
        self.value_ends(length)
    }

    fn value_ends(&mut self, length: usize) -> Told<()> {
        self.rest = match &self.rest[length..] {
            [b',', after @ ..] => after,
            [b'}'] => b"}",
            _ => return Err(NotPlain),
        };
        Ok(())
    }
}

/// The digits of a whole number of less than eight, if nothing else belongs to it.
fn short_number(json: &[u8]) -> Option<([u8; 8], usize)> {
    let block = json.first_chunk::<8>()?;
    let each = |byte: u8| u64::from_le_bytes([byte; 8]);
    // A digit becomes its value, which is below ten; adding sets the highest bit of every byte that is not. A carry
    // only reaches bytes behind the first of those.
    let values = u64::from_le_bytes(*block) ^ each(b'0');
    let others = (values.wrapping_add(each(0x80 - 10)) | values) & each(0x80);
    let digits = others.trailing_zeros() as usize / 8;
    let ends = matches!(block.get(digits), Some(b',' | b'}'));
    (digits > 0 && ends).then_some((*block, digits))
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
        [b'"', text @ ..] => {
            escape::push_quoted(text, out).map_err(|_| NotPlain)?;
        }
        // The machine has these words.
        b"true" => out.extend_from_slice(b"True"),
        b"false" => out.extend_from_slice(b"False"),
        b"null" => out.extend_from_slice(b"None"),
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
