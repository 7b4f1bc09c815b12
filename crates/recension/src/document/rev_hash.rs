//! The hash of a revision by CouchDB's rule (`couch_db:new_revid`): the MD5 of an Erlang external term
//! of deletion, parent, body and attachments. Pure; what CouchDB's parser does to numbers is done here.

use md5::{Digest, Md5};

use super::json::{BigInteger, Event, Minified, Number, Parser, Visitor, minify_object_beside};
use super::{Error, Result, RevId};

/// An attachment as far as the hash of a revision knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttachmentDigest {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// The MD5 of its stored bytes.
    pub md5: [u8; 16],
}

// Tags of the external term format (erl_ext_dist).
const VERSION: u8 = 131;
const SMALL_INTEGER: u8 = 97;
const INTEGER: u8 = 98;
const SMALL_BIG: u8 = 110;
const NEW_FLOAT: u8 = 70;
const ATOM: u8 = 100;
const SMALL_TUPLE: u8 = 104;
const NIL: u8 = 106;
const STRING: u8 = 107;
const LIST: u8 = 108;
const BINARY: u8 = 109;

/// A body in the form in which it is hashed.
#[derive(Clone, Debug)]
pub struct HashableBody(Vec<u8>);

impl HashableBody {
    /// Prepares a minified body.
    ///
    /// # Errors
    /// [`Error::NumberOutOfRange`] for numbers that CouchDB cannot read either; [`Error::Json`].
    pub fn of(body: &str) -> Result<Self> {
        let mut encoder = Encoder::with_room_for(body.len());
        let mut parser = Parser::of_text(body);
        while let Some(event) = parser.next_event()? {
            encoder.event(event)?;
        }
        Ok(HashableBody(encoder.out))
    }

    /// Minifies an object, without its reserved members and those named in `also`, and prepares it in the same pass.
    pub(super) fn beside_minifying(bytes: &[u8], also: &[&str]) -> Result<(Minified, Result<Self>)> {
        let mut encoder =
            Beside { encoder: Encoder::with_room_for(bytes.len()), member: Mark::default(), lost_at: None };
        let minified = minify_object_beside(bytes, also, &mut encoder)?;
        let Beside { encoder, lost_at, .. } = encoder;
        let hashable = match lost_at {
            None => Ok(HashableBody(encoder.out)),
            // Rare: what is wrong, or what is left of members that came twice, is told from the minified text.
            Some(_) => Self::of(&minified.text),
        };
        Ok((minified, hashable))
    }

    /// Bytes that it holds.
    pub fn len_bytes(&self) -> usize {
        self.0.len()
    }
}

/// The id of the revision that says `body` (or that the document is deleted), made from `parent`.
///
/// `attachments` are in the order in which the document names them.
pub fn revision_id(
    parent: Option<&RevId>,
    deleted: bool,
    body: &HashableBody,
    attachments: &[AttachmentDigest],
) -> RevId {
    let mut head = vec![VERSION, LIST, 0, 0, 0, 5];
    put_atom(&mut head, if deleted { "true" } else { "false" });
    match parent {
        None => {
            put_integer(&mut head, 0);
            put_integer(&mut head, 0);
        }
        Some(rev) => {
            put_integer(&mut head, i64::from(rev.generation()));
            put_binary(&mut head, rev.suffix_bytes());
        }
    }
    let mut tail = Vec::new();
    if !attachments.is_empty() {
        tail.push(LIST);
        put_length(&mut tail, attachments.len());
        for attachment in attachments.iter().rev() {
            tail.extend([SMALL_TUPLE, 3]);
            put_binary(&mut tail, attachment.name.as_bytes());
            put_binary(&mut tail, attachment.content_type.as_bytes());
            put_binary(&mut tail, &attachment.md5);
        }
    }
    tail.extend([NIL, NIL]);
    let hash = Md5::new().chain_update(&head).chain_update(&body.0).chain_update(&tail).finalize();
    RevId::new(parent.map_or(0, RevId::generation).saturating_add(1), hash.into())
}

/// An encoder beside a minifier.
struct Beside {
    encoder: Encoder,
    /// Where the top-level member begins that came last.
    member: Mark,
    /// Where in the output it was found that the text cannot be encoded on the way.
    lost_at: Option<usize>,
}

/// A place in the output, and the members of the top level before it.
#[derive(Clone, Copy, Default)]
struct Mark {
    at: usize,
    count: usize,
}

impl Visitor for Beside {
    fn event(&mut self, event: Event<'_>) {
        if self.encoder.event(event).is_err() {
            self.lost_at.get_or_insert(self.encoder.out.len());
            // So that the next member does not begin at the same place.
            self.encoder.out.push(NIL);
        }
    }

    fn member(&mut self) {
        let count = self.encoder.open.first().map_or(0, |open| open.count);
        self.member = Mark { at: self.encoder.out.len(), count };
    }

    fn withdraw(&mut self) {
        let Mark { at, count } = self.member;
        self.encoder.out.truncate(at);
        if let Some(open) = self.encoder.open.first_mut() {
            open.count = count;
        }
        self.lost_at = self.lost_at.filter(|lost_at| *lost_at < at);
    }

    fn superseded(&mut self) {
        self.lost_at.get_or_insert(0);
    }
}

struct Encoder {
    out: Vec<u8>,
    open: Vec<Open>,
}

/// An open array or object.
struct Open {
    /// Where its term begins.
    start: usize,
    /// Whether it is an object, which counts names only.
    object: bool,
    /// Its elements or members so far.
    count: usize,
    /// The elements, while all of them are integers from 0 to 255: Erlang takes such a list for a string.
    small: Option<Vec<u8>>,
}

impl Encoder {
    fn with_room_for(body_bytes: usize) -> Self {
        Encoder { out: Vec::with_capacity(body_bytes * 5 / 4 + 16), open: Vec::new() }
    }

    fn event(&mut self, event: Event<'_>) -> Result<()> {
        if !matches!(event, Event::ObjectEnd | Event::ArrayEnd) {
            self.count(&event);
        }
        match event {
            Event::ObjectStart => {
                self.out.extend([SMALL_TUPLE, 1]);
                self.begin(true, None);
            }
            Event::ArrayStart => self.begin(false, Some(Vec::new())),
            Event::ObjectEnd | Event::ArrayEnd => self.end(),
            Event::Key(name) => {
                self.out.extend([SMALL_TUPLE, 2]);
                put_binary(&mut self.out, name.decode().as_bytes());
            }
            Event::String(text) => put_binary(&mut self.out, text.decode().as_bytes()),
            Event::Number(number) => put_number(&mut self.out, number)?,
            Event::Bool(true) => put_atom(&mut self.out, "true"),
            Event::Bool(false) => put_atom(&mut self.out, "false"),
            Event::Null => put_atom(&mut self.out, "null"),
        }
        Ok(())
    }

    /// Counts an element of an array, or a member of an object at its name.
    fn count(&mut self, event: &Event<'_>) {
        let Some(open) = self.open.last_mut() else { return };
        open.count += usize::from(!open.object || matches!(event, Event::Key(_)));
        let Some(small) = &mut open.small else { return };
        match event {
            Event::Number(number) => match number.to_i64().map(u8::try_from) {
                Some(Ok(byte)) => small.push(byte),
                _ => open.small = None,
            },
            _ => open.small = None,
        }
    }

    fn begin(&mut self, object: bool, small: Option<Vec<u8>>) {
        self.open.push(Open { start: self.out.len(), object, count: 0, small });
        self.out.extend([LIST, 0, 0, 0, 0]);
    }

    fn end(&mut self) {
        let Some(Open { start, count, small, .. }) = self.open.pop() else { return };
        match small {
            _ if count == 0 => self.out.truncate(start),
            Some(bytes) if u16::try_from(count).is_ok() => {
                self.out.truncate(start);
                self.out.push(STRING);
                self.out.extend((count as u16).to_be_bytes());
                self.out.extend(bytes);
                return;
            }
            _ => self.out[start + 1..start + 5].copy_from_slice(&(count as u32).to_be_bytes()),
        }
        self.out.push(NIL);
    }
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    out.extend((length as u32).to_be_bytes());
}

fn put_binary(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(BINARY);
    put_length(out, bytes.len());
    out.extend(bytes);
}

fn put_atom(out: &mut Vec<u8>, name: &str) {
    out.extend([ATOM, 0, name.len() as u8]);
    out.extend(name.as_bytes());
}

fn put_integer(out: &mut Vec<u8>, value: i64) {
    if let Ok(small) = u8::try_from(value) {
        out.extend([SMALL_INTEGER, small]);
    } else if let Ok(word) = i32::try_from(value) {
        out.push(INTEGER);
        out.extend(word.to_be_bytes());
    } else {
        let magnitude = value.unsigned_abs().to_le_bytes();
        let length = magnitude.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        put_big(out, value < 0, &magnitude[..length]);
    }
}

fn put_big(out: &mut Vec<u8>, negative: bool, magnitude_le: &[u8]) {
    out.extend([SMALL_BIG, magnitude_le.len() as u8, u8::from(negative)]);
    out.extend(magnitude_le);
}

fn put_number(out: &mut Vec<u8>, number: Number<'_>) -> Result<()> {
    if !number.in_range() {
        return Err(Error::NumberOutOfRange { number: number.text.chars().take(80).collect() });
    }
    if let Some(value) = number.to_i64() {
        put_integer(out, value);
    } else if number.integer {
        let value = BigInteger::parse(number.text);
        // INTEGER_DIGITS_MAX digits fit 255 bytes, the most that this tag can hold.
        put_big(out, value.negative, &value.magnitude_le());
    } else {
        out.push(NEW_FLOAT);
        out.extend(as_couchdb_reads(number).to_bits().to_be_bytes());
    }
    Ok(())
}

/// The double that CouchDB's parser (jiffy) makes of a number. Where the C library reports a range
/// error, which it does for denormal results, jiffy computes a number without a point as its integer
/// times a power of ten, and that power may be zero: 5e-324 becomes 0.0.
fn as_couchdb_reads(number: Number<'_>) -> f64 {
    let value = number.to_f64();
    let denormal =
        value.is_subnormal() || (value == 0.0 && number.text.bytes().any(|byte| (b'1'..=b'9').contains(&byte)));
    match number.text.split_once(['e', 'E']) {
        Some((integer, exponent)) if denormal && !integer.contains('.') => {
            let power: f64 = format!("1e{exponent}").parse().unwrap_or(0.0);
            Number { text: integer, integer: true }.to_f64() * power
        }
        _ => value,
    }
}
