//! JSON text without its blanks: checked and copied in one pass. Numbers and strings keep their text,
//! members their order; of members with one name only the last stays, at its own place.

use super::members::superseded;
use super::{Event, JsonError, Parser, Text};

/// A minified text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minified {
    /// The text, without what was taken out of it.
    pub text: String,
    /// Top-level members whose names start with `_`, taken out: name and value's text. `_replication_state` and the like stay.
    pub reserved: Vec<(String, String)>,
    /// What the text is: `an object`, `an array`, `a string`, `a number`, `true or false`, `null`.
    pub kind: &'static str,
}

/// Members of a document whose names start with `_` and that are as others: what CouchDB's replicator notes in the documents
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
/// use recension::document::json::minify;
/// assert_eq!(minify(b"{ \"a\": 1, \"b\": [ 2.50 ], \"a\": 3 }").unwrap(), r#"{"b":[2.50],"a":3}"#);
/// ```
pub fn minify(bytes: &[u8]) -> Result<String, JsonError> {
    run(bytes, false).map(|minified| minified.text)
}

/// Checks and minifies a JSON text, and takes reserved members out of its top-level object.
pub fn minify_object(bytes: &[u8]) -> Result<Minified, JsonError> {
    run(bytes, true)
}

struct Open {
    /// Where the container's bracket stands in the output.
    start: usize,
    /// How many members were open when it began.
    members_before: usize,
}

fn run(bytes: &[u8], take_reserved: bool) -> Result<Minified, JsonError> {
    let mut parser = Parser::new(bytes)?;
    let mut out = String::with_capacity(bytes.len());
    let mut open: Vec<Open> = Vec::new();
    // The members of all open objects: name, and where it starts in the output.
    let mut names: Vec<Text<'_>> = Vec::new();
    let mut starts: Vec<usize> = Vec::new();
    let mut reserved = Vec::new();
    let mut kind = None;
    let mut has_reserved = false;
    while let Some(event) = parser.next_event()? {
        if !matches!(event, Event::ObjectEnd | Event::ArrayEnd)
            && !matches!(out.as_bytes().last(), None | Some(b'{' | b'[' | b':'))
        {
            out.push(',');
        }
        kind.get_or_insert(kind_of(&event));
        match event {
            Event::ObjectStart | Event::ArrayStart => {
                open.push(Open { start: out.len(), members_before: names.len() });
                out.push(if matches!(event, Event::ObjectStart) { '{' } else { '[' });
            }
            Event::ArrayEnd => {
                open.pop();
                out.push(']');
            }
            Event::ObjectEnd => {
                if let Some(Open { start, members_before }) = open.pop() {
                    let take = take_reserved && open.is_empty() && has_reserved;
                    let names_here = &names[members_before..];
                    let again = superseded(names_here);
                    if take || again.is_some() {
                        let starts_here = &starts[members_before..];
                        let taken = rebuild(&mut out, start, names_here, starts_here, again.as_deref(), take);
                        reserved.extend(taken);
                    }
                    names.truncate(members_before);
                    starts.truncate(members_before);
                }
                out.push('}');
            }
            Event::Key(name) => {
                if parser.depth() == 1 {
                    has_reserved |= name.raw.starts_with('_') || name.escaped;
                }
                names.push(name);
                starts.push(out.len());
                push_string(&mut out, name);
                out.push(':');
            }
            Event::String(text) => push_string(&mut out, text),
            Event::Number(number) => out.push_str(number.text),
            Event::Bool(true) => out.push_str("true"),
            Event::Bool(false) => out.push_str("false"),
            Event::Null => out.push_str("null"),
        }
    }
    Ok(Minified { text: out, reserved, kind: kind.unwrap_or("nothing") })
}

fn kind_of(event: &Event<'_>) -> &'static str {
    match event {
        Event::ObjectStart | Event::ObjectEnd => "an object",
        Event::ArrayStart | Event::ArrayEnd => "an array",
        Event::Key(_) | Event::String(_) => "a string",
        Event::Number(_) => "a number",
        Event::Bool(_) => "true or false",
        Event::Null => "null",
    }
}

fn push_string(out: &mut String, text: Text<'_>) {
    out.push('"');
    out.push_str(text.raw);
    out.push('"');
}

/// Writes the object that starts at `start` once more, without members that come again later and,
/// where `take` says so, without reserved ones, which are answered.
fn rebuild(
    out: &mut String,
    start: usize,
    names: &[Text<'_>],
    starts: &[usize],
    again: Option<&[bool]>,
    take: bool,
) -> Vec<(String, String)> {
    let old = out.split_off(start);
    let mut taken = Vec::new();
    out.push('{');
    for (i, name) in names.iter().enumerate() {
        if again.is_some_and(|again| again[i]) {
            continue;
        }
        // Up to the comma before the next member, or to the end: the closing brace is not written yet.
        let end = starts.get(i + 1).map_or(old.len(), |next| next - 1 - start);
        let member = &old[starts[i] - start..end];
        let decoded = name.decode();
        if take && decoded.starts_with('_') && !KEPT.contains(&&*decoded) {
            taken.push((decoded.into_owned(), member[name.raw.len() + 3..].to_owned()));
            continue;
        }
        if out.len() > start + 1 {
            out.push(',');
        }
        out.push_str(member);
    }
    taken
}
