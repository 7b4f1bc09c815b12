//! JSON text without its blanks: checked and copied in one pass. Numbers and strings keep their text, members their
//! order. Of members with the same name only the last stays, at its own place.

use std::collections::HashSet;
use std::ops::Range;

use super::members::superseded;
use super::{Event, JsonError, Parser, Text};

/// A minified text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minified {
    /// The text, without the members that were taken out.
    pub text: String,
    /// Top-level members whose names start with `_`, taken out: name and value's text. `_replication_state` and the
    /// like stay.
    pub reserved: Vec<(String, String)>,
    /// The kind of value: `an object`, `an array`, `a string`, `a number`, `true or false`, `null`.
    pub kind: &'static str,
}

/// Members whose names start with `_` and that stay in a document: CouchDB's replicator writes them into the documents
/// that ask for a replication.
const KEPT: [&str; 5] = [
    "_replication_id",
    "_replication_state",
    "_replication_state_reason",
    "_replication_state_time",
    "_replication_stats",
];

/// Checks and minifies any JSON text.
///
/// ```
/// use recension::json::minify;
/// assert_eq!(minify(b"{ \"a\": 1, \"b\": [ 2.50 ], \"a\": 3 }").unwrap(), r#"{"b":[2.50],"a":3}"#);
/// ```
pub fn minify(bytes: &[u8]) -> Result<String, JsonError> {
    run(bytes, None, &mut ()).map(|minified| minified.text)
}

/// The same, with the name of a member that comes twice in its object, if one does: for texts that a person writes, and
/// of which nothing may be left out silently.
pub fn minify_naming_repeats(bytes: &[u8]) -> Result<(String, Option<String>), JsonError> {
    let mut repeats = Repeats(false);
    let minified = run(bytes, None, &mut repeats)?;
    let name = if repeats.0 { first_repeated(bytes)? } else { None };
    Ok((minified.text, name))
}

fn first_repeated(bytes: &[u8]) -> Result<Option<String>, JsonError> {
    let mut parser = Parser::new(bytes)?;
    let mut open: Vec<HashSet<String>> = Vec::new();
    while let Some(event) = parser.next_event()? {
        match event {
            Event::ObjectStart => open.push(HashSet::new()),
            Event::ObjectEnd => drop(open.pop()),
            Event::Key(name) => {
                let name = name.decode().into_owned();
                if open.last_mut().is_some_and(|names| !names.insert(name.clone())) {
                    return Ok(Some(name));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Checks and minifies a JSON text, and takes reserved members out of its top-level object.
pub fn minify_object(bytes: &[u8]) -> Result<Minified, JsonError> {
    minify_object_beside(bytes, &[], &mut ())
}

/// The same, and also takes out the top-level members named in `also`. `visitor` sees the rest.
pub fn minify_object_beside(bytes: &[u8], also: &[&str], visitor: &mut impl Visitor) -> Result<Minified, JsonError> {
    run(bytes, Some(also), visitor)
}

/// Sees the pieces of a text while it is minified, so that the text need not be parsed again.
pub trait Visitor {
    /// The next piece.
    fn event(&mut self, event: Event<'_>);

    /// A member of the top-level object begins.
    fn member(&mut self);

    /// The last member is taken out, as if it had never been shown.
    fn withdraw(&mut self);

    /// Some members that were shown occurred again later in their object, and are not in the text.
    fn superseded(&mut self);
}

/// A visitor that does nothing.
impl Visitor for () {
    fn event(&mut self, _: Event<'_>) {}
    fn member(&mut self) {}
    fn withdraw(&mut self) {}
    fn superseded(&mut self) {}
}

/// Notices that a member came twice.
struct Repeats(bool);

impl Visitor for Repeats {
    fn event(&mut self, _: Event<'_>) {}
    fn member(&mut self) {}
    fn withdraw(&mut self) {}
    fn superseded(&mut self) {
        self.0 = true;
    }
}

struct Open {
    /// The place of the container's bracket in the output.
    start: usize,
    /// How many members were open when it began.
    members_before: usize,
}

/// A top-level member that is taken out.
struct Leaving {
    name: String,
    /// Its start in the output, with the comma before it.
    start: usize,
    value_start: usize,
}

/// The output. Pieces of the input that stay as they are are copied as long as possible: most texts have no blanks, and
/// are one piece.
struct Output<'t> {
    input: &'t str,
    text: String,
    /// The piece of the input that follows `text` and is not copied yet.
    piece: Range<usize>,
}

impl Output<'_> {
    fn len(&self) -> usize {
        self.text.len() + self.piece.len()
    }

    /// The text so far.
    fn text(&mut self) -> &mut String {
        self.text.push_str(self.input.get(self.piece.clone()).unwrap_or_default());
        self.piece.start = self.piece.end;
        &mut self.text
    }

    /// Adds the input up to `end`.
    fn go_on(&mut self, end: usize) {
        self.piece.end = end;
    }

    /// Continues behind `end` in the input. Text before that has to be added to the output.
    fn skip_to(&mut self, end: usize) -> &mut String {
        self.text();
        self.piece = end..end;
        &mut self.text
    }
}

fn run(bytes: &[u8], take: Option<&[&str]>, visitor: &mut impl Visitor) -> Result<Minified, JsonError> {
    let mut parser = Parser::new(bytes)?;
    let input = parser.text();
    let mut out = Output { input, text: String::with_capacity(bytes.len()), piece: 0..0 };
    let mut open: Vec<Open> = Vec::new();
    // The members of all open objects: the name, and its start in the output.
    let mut names: Vec<(Text<'_>, usize)> = Vec::new();
    let mut reserved: Vec<(String, String)> = Vec::new();
    let mut leaving: Option<Leaving> = None;
    // Whether the next piece is the first in its container.
    let mut first = true;
    while let Some(event) = parser.step()? {
        // Whether the next piece can stay as it is in the input. It cannot if there are blanks in it, or a comma that
        // does not belong.
        let mut as_it_stands = !parser.take_blanks();
        match event {
            Event::ObjectStart | Event::ArrayStart => {
                open.push(Open { start: out.len() + usize::from(!first), members_before: names.len() });
            }
            Event::ArrayEnd => drop(open.pop()),
            Event::Key(_) | Event::ObjectEnd => {
                // A member of the outermost object begins, or that object was closed.
                let of_the_whole = parser.depth() == usize::from(matches!(event, Event::Key(_)));
                if of_the_whole && let Some(Leaving { name, start, value_start }) = leaving.take() {
                    let text = out.text();
                    let value = text.split_off(value_start);
                    text.truncate(start);
                    first = text.ends_with('{');
                    as_it_stands = false;
                    visitor.withdraw();
                    reserved.retain(|(known, _)| *known != name);
                    reserved.push((name, value));
                }
                if let Event::Key(name) = event {
                    let start = out.len() + usize::from(!first);
                    let taken = take.filter(|_| of_the_whole).and_then(|also| taken_name(name, also));
                    if of_the_whole {
                        visitor.member();
                    }
                    match taken {
                        None => names.push((name, start)),
                        Some(taken) => {
                            let value_start = start + name.raw.len() + 3;
                            leaving = Some(Leaving { name: taken, start: out.len(), value_start });
                        }
                    }
                } else if let Some(Open { start, members_before }) = open.pop() {
                    let members = names.get(members_before..).unwrap_or_default();
                    if let Some(again) = superseded(members) {
                        rebuild(out.text(), start, members, &again);
                        visitor.superseded();
                    }
                    names.truncate(members_before);
                }
            }
            _ => {}
        }
        let ends = matches!(event, Event::ObjectEnd | Event::ArrayEnd);
        if as_it_stands {
            out.go_on(parser.offset());
        } else {
            push_piece(out.skip_to(parser.offset()), !ends && !first, &event);
        }
        first = matches!(event, Event::ObjectStart | Event::ArrayStart | Event::Key(_));
        visitor.event(event);
    }
    let text = std::mem::take(out.text());
    Ok(Minified { kind: kind_of(&text), text, reserved })
}

fn push_piece(out: &mut String, comma: bool, event: &Event<'_>) {
    if comma {
        out.push(',');
    }
    match event {
        Event::ObjectStart => out.push('{'),
        Event::ObjectEnd => out.push('}'),
        Event::ArrayStart => out.push('['),
        Event::ArrayEnd => out.push(']'),
        Event::Key(name) => {
            push_string(out, *name);
            out.push(':');
        }
        Event::String(text) => push_string(out, *text),
        Event::Number(number) => out.push_str(number.text),
        Event::Bool(true) => out.push_str("true"),
        Event::Bool(false) => out.push_str("false"),
        Event::Null => out.push_str("null"),
    }
}

/// Whether a top-level member of this name is taken out of a document's text. The name has no escapes.
pub fn is_reserved(name: &str, also: &[&str]) -> bool {
    also.contains(&name) || (name.starts_with('_') && !KEPT.contains(&name))
}

/// The first of an object's names that is taken out, if there is one.
#[doc(hidden)]
pub fn reserved_name(object: &str) -> Option<String> {
    Some(minify_object(object.as_bytes()).ok()?.reserved.into_iter().next()?.0)
}

/// The name of a top-level member that is taken out.
fn taken_name(name: Text<'_>, also: &[&str]) -> Option<String> {
    // Most names are plain, and are compared as they are.
    if !name.escaped {
        return is_reserved(name.raw, also).then(|| name.raw.to_owned());
    }
    Some(name.decode().into_owned()).filter(|name| is_reserved(name, also))
}

/// The kind of value of a minified text.
fn kind_of(text: &str) -> &'static str {
    match text.bytes().next() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn push_string(out: &mut String, text: Text<'_>) {
    out.push('"');
    out.push_str(text.raw);
    out.push('"');
}

/// Writes the object that starts at `start` again, without the members that occur again later.
fn rebuild(out: &mut String, start: usize, members: &[(Text<'_>, usize)], again: &[bool]) {
    let old = out.split_off(start);
    out.push('{');
    for (i, ((_, member_start), again)) in members.iter().zip(again).enumerate() {
        if *again {
            continue;
        }
        // Up to the comma before the next member, or to the end: the closing brace is not written yet.
        let end = members.get(i + 1).map_or(old.len(), |(_, next)| next - 1 - start);
        if out.len() > start + 1 {
            out.push(',');
        }
        out.push_str(old.get(member_start - start..end).unwrap_or_default());
    }
}
