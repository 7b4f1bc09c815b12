//! A value's text, and the bytes that its revision is hashed from, both written while serde serializes it. A text that
//! is made here need not be parsed to be checked. Cases that the parser would decide (duplicate members, raw texts,
//! numbers out of range, too many levels) are left to the parser, so that there is one rule for each.

mod formatter;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::Range;

use serde::Serialize;
use serde_json::ser::Serializer;

use recension_values::json::{Minified, Number, Shape, all_differ, is_reserved};
use recension_values::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX};
use recension_values::rev_hash::HashableBody;
use recension_values::term::{Encoder, Mark};

/// The written form of a value.
pub(super) enum Written {
    /// An object: its text, without members that are cut out and with the schema's version, and its hashable form.
    Object(Minified, HashableBody),
    /// The text as serde wrote it, to be parsed.
    Text(String),
}

/// Writes a value. Members named in `own`, and reserved ones, are cut out of an object; `version` becomes a member.
pub(super) fn write<T: Serialize>(
    value: &T,
    own: &[&str],
    version: Option<(&'static str, u32)>,
) -> serde_json::Result<Written> {
    let mut output = TextAndHash::new(own, version);
    value.serialize(&mut Serializer::with_formatter(io::sink(), &mut output))?;
    Ok(output.finish())
}

/// Bytes that are allocated at first.
const ROOM: usize = 512;

/// The text and the hashable form of a value, as far as serde has come.
struct TextAndHash<'o> {
    text: Vec<u8>,
    encoder: Encoder,
    own: &'o [&'o str],
    version: Option<(&'static str, u32)>,
    open: Vec<Open>,
    /// The names of the members of all open objects, as they stand in the text.
    names: Vec<Range<usize>>,
    shape: Shape,
    /// Whether a string is being written. A number can be within one, if it is a name.
    in_string: bool,
    /// Where the last name or string begins, behind its quote.
    string_start: usize,
    /// The last member of the outermost object.
    member: Member,
    reserved: Vec<(String, String)>,
    /// The places in the text of the members that are cut out.
    gone: Vec<Range<usize>>,
    /// The text must be checked by the parser.
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
    /// The place of its name, if it is cut out.
    leaves_as: Option<Range<usize>>,
}

impl<'o> TextAndHash<'o> {
    fn new(own: &'o [&'o str], version: Option<(&'static str, u32)>) -> Self {
        TextAndHash {
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
            // From the end, so that earlier places stay right. With each member goes a comma, if there is one.
            for Range { start, end } in self.gone.iter().rev().cloned() {
                let before = usize::from(self.text.get(start - 1) == Some(&b','));
                let behind = usize::from(before == 0 && self.text.get(end) == Some(&b','));
                self.text.drain(start - before..end + behind);
            }
            if let Some((name, version)) = self.version {
                let comma = if self.text.len() > 2 { "," } else { "" };
                let member = format!("{}:{version}{comma}", recension_values::json::quote(name));
                self.text.splice(1..1, member.into_bytes());
            }
        }
        // All of it came in strings.
        let text = String::from_utf8(self.text).unwrap_or_default();
        if !(whole && is_object) {
            return Written::Text(text);
        }
        let minified = Minified { text, reserved: self.reserved, kind: "an object" };
        Written::Object(minified, HashableBody::encoded(self.encoder))
    }

    /// Writes a word or a number. Within a name it is a piece of the name.
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
            let names = self.names.get(open.names_before..).unwrap_or_default().iter().map(name);
            // After the outermost object no other follows.
            let differ = if self.open.is_empty() { all_differ(names) } else { self.shape.learn(names) };
            self.unsure |= !differ;
            // Enclosing objects with names of the former shape have to be compared with the new one.
            self.open.iter_mut().filter(|open| open.in_shape != Some(0)).for_each(|open| open.in_shape = None);
        }
        self.names.truncate(open.names_before);
    }

    /// A member or an element begins. If it begins within another one, or within a closed object or array, the text is
    /// no JSON: serde sent names without values, or more members than it had announced.
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
            // Only the parser knows what an escaped name stands for.
            self.unsure |= text.contains('\\');
            if is_reserved(text, self.own) {
                self.member.leaves_as = Some(range);
                return;
            }
        }
        if let Some(open) = self.open.last_mut() {
            open.in_shape = open.in_shape.and_then(|at| self.shape.follows(at, name));
        }
        self.names.push(range);
    }

    /// Cuts out a member of the outermost object, which has ended.
    fn leave(&mut self, name: Range<usize>) {
        let text = |range| String::from_utf8_lossy(self.text.get(range).unwrap_or_default()).into_owned();
        let (name, value) = (text(name), text(self.member.value_start..self.text.len()));
        self.reserved.retain(|(known, _)| *known != name);
        self.reserved.push((name, value));
        self.gone.push(self.member.start..self.text.len());
        self.encoder.rewind(self.member.mark);
    }
}
