//! The shape of a minified text: where each value begins and ends, and which one follows it. One pass makes it. Values
//! are then visited without reading the text again. It takes 20 bytes a value.

use super::{Event, JsonError, Parser, Text};

const NO_NAME: u32 = u32::MAX;

/// One value of a text. Offsets fit: a text is shorter than 64 MiB.
#[derive(Clone, Copy)]
struct Entry {
    /// The raw name before it, between its quotes.
    name_start: u32,
    name_len: u32,
    start: u32,
    end: u32,
    /// The entry behind this one and everything inside it.
    after: u32,
}

/// The values of a minified text, each before the values inside it.
pub struct Outline<'t> {
    text: &'t str,
    entries: Vec<Entry>,
}

/// A value of an outlined text.
#[derive(Clone, Copy)]
pub struct View<'o> {
    outline: &'o Outline<'o>,
    at: u32,
}

/// The kind of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Object,
    Array,
    String,
    Number,
    /// `true`, `false`, `null`.
    Word,
}

impl<'t> Outline<'t> {
    /// Outlines a text. If the text has blanks, the texts of its arrays and objects have them too.
    pub fn of(text: &'t str) -> Result<Self, JsonError> {
        let mut parser = Parser::new(text.as_bytes())?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut open = Vec::new();
        let mut name = (0, NO_NAME);
        while let Some(event) = parser.step()? {
            let end = parser.offset();
            let width = match event {
                Event::Key(text) => {
                    // Behind the name stand its quote, and a colon.
                    name = ((end - 2 - text.raw.len()) as u32, text.raw.len() as u32);
                    continue;
                }
                Event::ObjectEnd | Event::ArrayEnd => {
                    let after = entries.len() as u32;
                    if let Some(entry) = open.pop().and_then(|at: usize| entries.get_mut(at)) {
                        (entry.end, entry.after) = (end as u32, after);
                    }
                    continue;
                }
                Event::ObjectStart | Event::ArrayStart => {
                    open.push(entries.len());
                    1
                }
                Event::String(text) => text.raw.len() + 2,
                Event::Number(number) => number.text.len(),
                Event::Bool(false) => 5,
                Event::Bool(true) | Event::Null => 4,
            };
            let (name_start, name_len) = std::mem::replace(&mut name, (0, NO_NAME));
            let (start, end) = ((end - width) as u32, end as u32);
            entries.push(Entry { name_start, name_len, start, end, after: entries.len() as u32 + 1 });
        }
        Ok(Outline { text, entries })
    }

    /// The whole value.
    pub fn root(&'t self) -> View<'t> {
        View { outline: self, at: 0 }
    }

    fn slice(&self, start: u32, end: u32) -> &'t str {
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }
}

impl<'o> View<'o> {
    fn entry(self) -> Entry {
        // A view always has an existing entry.
        self.outline.entries[self.at as usize]
    }

    /// Its text.
    pub fn text(self) -> &'o str {
        let entry = self.entry();
        self.outline.slice(entry.start, entry.end)
    }

    /// Its name as a member; empty if it is no member.
    pub fn name(self) -> Text<'o> {
        let Entry { name_start, name_len, .. } = self.entry();
        let raw = if name_len == NO_NAME { "" } else { self.outline.slice(name_start, name_start + name_len) };
        Text { raw, escaped: raw.contains('\\') }
    }

    pub fn kind(self) -> Kind {
        match self.text().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Word,
        }
    }

    /// The characters of a string; empty if it is none.
    pub fn string(self) -> Text<'o> {
        let raw = self.text().strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default();
        Text { raw, escaped: raw.contains('\\') }
    }

    /// The elements of an array, or the members of an object, in their order.
    pub fn children(self) -> impl Iterator<Item = View<'o>> {
        let end = self.entry().after;
        let mut next = self.at + 1;
        std::iter::from_fn(move || {
            let child = (next < end).then_some(View { outline: self.outline, at: next })?;
            next = child.entry().after;
            Some(child)
        })
    }

    /// How many arrays and objects nest in it, itself among them.
    pub fn depth(self) -> usize {
        let mut ends: Vec<u32> = Vec::new();
        let mut deepest = 0;
        for at in self.at..self.entry().after {
            while ends.last().is_some_and(|&end| end <= at) {
                ends.pop();
            }
            let view = View { at, ..self };
            if matches!(view.kind(), Kind::Array | Kind::Object) {
                ends.push(view.entry().after);
                deepest = deepest.max(ends.len());
            }
        }
        deepest
    }
}
