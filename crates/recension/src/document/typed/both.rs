//! A value as its text and as what its revision is made of, both written at once while serde says it: a text that is
//! made here need not be parsed to be checked. What the parser would decide (members that come twice, raw texts,
//! numbers out of range, too many levels) is left to the parser, so that there is one rule for each.

use std::io;
use std::ops::Range;

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, Serializer};

use crate::document::json::{Minified, Number, Shape, all_differ, is_reserved};
use crate::document::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX};
use crate::document::rev_hash::HashableBody;
use crate::document::term::{Encoder, Mark};

/// What was written of a value.
pub(super) enum Written {
    /// An object: its text without what does not stay, with the schema's version; and what is hashed of that.
    Both(Minified, HashableBody),
    /// The text as it came, to be parsed.
    Text(String),
}

/// Writes a value. Of an object the members named in `own` do not stay, nor do reserved ones; `version` becomes a member.
pub(super) fn write<T: Serialize>(
    value: &T,
    own: &[&str],
    version: Option<(&'static str, u32)>,
) -> serde_json::Result<Written> {
    let mut both = Both::new(own, version);
    value.serialize(&mut Serializer::with_formatter(io::sink(), &mut both))?;
    Ok(both.finish())
}

/// Bytes that there is room for at first.
const ROOM: usize = 512;

struct Both<'o> {
    text: Vec<u8>,
    encoder: Encoder,
    own: &'o [&'o str],
    version: Option<(&'static str, u32)>,
    open: Vec<Open>,
    /// The names of the members of all open objects, as they stand in the text.
    names: Vec<Range<usize>>,
    shape: Shape,
    /// Whether a string is being written; numbers can stand in one, where they are names.
    in_string: bool,
    /// Where the name or string that came last begins, behind its quote.
    string_start: usize,
    /// The member of the outermost object that came last.
    member: Member,
    reserved: Vec<(String, String)>,
    /// Where in the text the members stand that do not stay.
    gone: Vec<Range<usize>>,
    /// The parser shall say what the text is.
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
    /// Where its name stands, if it does not stay.
    leaves_as: Option<Range<usize>>,
}

impl<'o> Both<'o> {
    fn new(own: &'o [&'o str], version: Option<(&'static str, u32)>) -> Self {
        Both {
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
            // From the end, so that the places of the others stay right. With each goes a comma, if there is one.
            for Range { start, end } in self.gone.iter().rev().cloned() {
                let before = usize::from(self.text.get(start - 1) == Some(&b','));
                let behind = usize::from(before == 0 && self.text.get(end) == Some(&b','));
                self.text.drain(start - before..end + behind);
            }
            if let Some((name, version)) = self.version {
                let comma = if self.text.len() > 2 { "," } else { "" };
                let member = format!("{}:{version}{comma}", crate::document::json::quote(name));
                self.text.splice(1..1, member.into_bytes());
            }
        }
        // All of it came as strings.
        let text = String::from_utf8(self.text).unwrap_or_default();
        if !(whole && is_object) {
            return Written::Text(text);
        }
        let minified = Minified { text, reserved: self.reserved, kind: "an object" };
        Written::Both(minified, HashableBody::encoded(self.encoder))
    }

    /// A word or a number begins or has been written: in a name it is a piece of it.
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
            // Behind the outermost object none follows.
            let differ = if self.open.is_empty() { all_differ(names) } else { self.shape.learn(names) };
            self.unsure |= !differ;
            // Those around it, which have names of the shape before, are to be looked at.
            self.open.iter_mut().filter(|open| open.in_shape != Some(0)).for_each(|open| open.in_shape = None);
        }
        self.names.truncate(open.names_before);
    }

    /// A member or an element begins. The text is no JSON where that is in the middle of another one, or in what is closed
    /// already: of names without values, or of more members than were announced.
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
            // What an escaped name stands for the parser knows.
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

    /// A member of the outermost object has ended, which does not stay.
    fn leave(&mut self, name: Range<usize>) {
        let text = |range| String::from_utf8_lossy(self.text.get(range).unwrap_or_default()).into_owned();
        let (name, value) = (text(name), text(self.member.value_start..self.text.len()));
        self.reserved.retain(|(known, _)| *known != name);
        self.reserved.push((name, value));
        self.gone.push(self.member.start..self.text.len());
        self.encoder.rewind(self.member.mark);
    }
}

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
impl Formatter for &mut Both<'_> {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::ser::{SerializeMap, SerializeSeq};
    use serde_json::{Value, json, value::RawValue};

    use super::*;
    use crate::document::json::quote;
    use crate::document::rev_hash::revision_id;

    const OWN: [&str; 3] = ["id", "rev", "v"];

    /// Writes a value, with and without a version; what comes out is what the parser makes of serde's text. Answers
    /// whether the parser was not needed.
    fn is_written_at_once(value: &impl Serialize) -> bool {
        let text = serde_json::to_string(value).unwrap();
        [None, Some(("v", 3))].map(|version| match write(value, &OWN, version).unwrap() {
            Written::Text(found) => {
                assert_eq!(found, text);
                false
            }
            Written::Both(found, hashable) => {
                let (mut expected, mut hashed) = HashableBody::beside_minifying(text.as_bytes(), &OWN).unwrap();
                if let Some((name, version)) = version {
                    let comma = if expected.text == "{}" { "" } else { "," };
                    expected.text.insert_str(1, &format!("{}:{version}{comma}", quote(name)));
                    hashed = HashableBody::of(&expected.text);
                }
                assert_eq!(found, expected);
                let revision = |hashable| revision_id(None, false, hashable, &[]);
                assert_eq!(revision(&hashable), revision(&hashed.unwrap()), "{text}");
                true
            }
        }) == [true; 2]
    }

    /// Members as they are given, also twice, of which as many are announced as `.1` says.
    struct Members(Vec<(String, Value)>, Option<usize>);

    impl Serialize for Members {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(self.1)?;
            for (name, value) in &self.0 {
                map.serialize_entry(name, value)?;
            }
            map.end()
        }
    }

    fn members(names: &[&str]) -> Members {
        Members(names.iter().map(|name| ((*name).to_owned(), json!(1))).collect(), None)
    }

    /// Elements, none of which are announced.
    struct Elements(Vec<Value>);

    impl Serialize for Elements {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut elements = serializer.serialize_seq(Some(0))?;
            for element in &self.0 {
                elements.serialize_element(element)?;
            }
            elements.end()
        }
    }

    struct Bytes(Vec<u8>);

    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&self.0)
        }
    }

    #[derive(Serialize)]
    enum Choice {
        Unit,
        New(Vec<u8>),
        Tuple(i8, char),
        Struct { id: f32, rev: () },
    }

    #[test]
    fn what_serde_can_say_is_written_at_once() {
        let of = |value: Value| assert!(is_written_at_once(&value), "{value}");
        for integer in [0, 1, 255, 256, -1, 1 << 31, -(1 << 31) - 1, i64::MAX, i64::MIN] {
            of(json!({ "a": integer, "b": [integer], "c": [1, integer, 2] }));
        }
        of(json!({ "a": u64::MAX, "b": [i64::MAX as u64 + 1] }));
        for fraction in [0.0, -0.0, 0.1, 1.0, 1e16, 1e300, f64::MIN_POSITIVE, 5e-324, 2.5e-310, f64::MAX] {
            of(json!({ "a": fraction, "b": [fraction, 1], "c": [1, fraction] }));
        }
        for length in [0, 1, 2, 65_535, 65_536] {
            of(json!({ "a": vec![7; length], "b": [vec![0; length]], "c": "x".repeat(length) }));
        }
        of(json!({ "a": [1, "b"], "c": [[1], 2], "d": [1, null], "e": [1, {}], "f": [true], "g": [[], {}] }));
        of(json!({ "a": "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\"\\/\u{7f}é\u{2028}😀", "b": { "é\n\"": "\"" } }));
        of(json!({ "a": { "id": 1, "_id": 2, "rev": { "_x": [] } }, "_replication_id": "x" }));
        for only in [json!({}), json!({ "id": 1 }), json!({ "id": 1, "rev": [{ "a": 1 }], "_x": "y\n" })] {
            of(only);
        }
        for order in [["id", "a", "rev"], ["a", "id", "rev"], ["id", "rev", "a"], ["a", "v", "_x"], ["_", "id", "b"]] {
            assert!(is_written_at_once(&members(&order)), "{order:?}");
        }
        // Of members that do not stay the last one counts, and nobody minds.
        assert!(is_written_at_once(&members(&["id", "_x", "a", "id", "b", "_x", "id"])));

        assert!(is_written_at_once(&BTreeMap::from([(-1, 2), (1, 3)])));
        assert!(is_written_at_once(&BTreeMap::from([(1_u128 << 100, i128::MIN), (7, 1)])));
        assert!(is_written_at_once(&Some(BTreeMap::from([(true, [0.1_f32])]))));
        assert!(is_written_at_once(&BTreeMap::from([('a', Bytes(vec![0, 1, 255])), ('b', Bytes(vec![]))])));
        assert!(is_written_at_once(&BTreeMap::from([("a", f32::MAX), ("b", f32::NAN), ("c", 1e-45)])));
        let choices =
            [Choice::Unit, Choice::New(vec![1, 2]), Choice::Tuple(-1, 'é'), Choice::Struct { id: 0.1, rev: () }];
        assert!(is_written_at_once(&BTreeMap::from([("a", &choices)])));
        assert!(choices.iter().skip(1).all(is_written_at_once));
    }

    #[test]
    fn what_only_the_parser_can_judge_is_left_to_it() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert!(!is_written_at_once(&BTreeMap::from([("a", raw(" [1 , 2]"))])));
        assert!(!is_written_at_once(&raw("{\"a\":1}")));
        for value in [json!([]), json!([{ "id": 1 }]), json!(1), json!("{"), json!(null), json!({ "id\n": 1 })] {
            assert!(!is_written_at_once(&value), "{value}");
        }
        let nested = |levels| (0..levels).fold(json!(1), |inside, _| json!({ "a": inside }));
        assert!(is_written_at_once(&nested(JSON_DEPTH_MAX)));
        assert!(matches!(write(&nested(JSON_DEPTH_MAX + 1), &OWN, None).unwrap(), Written::Text(_)));

        assert!(!is_written_at_once(&members(&["a", "b", "a"])));
        // The names of the object inside are learned, and it is not with them that those around it go on.
        let around = [("id", json!({ "": 1 })), ("", json!({ "a": 1 })), ("", json!(1))];
        let around = around.map(|(name, value)| (name.to_owned(), value)).to_vec();
        assert!(!is_written_at_once(&Members(around, None)));
        let many: Vec<String> = (0..40).map(|i| format!("name {i}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(is_written_at_once(&members(&many)));
        assert!(!is_written_at_once(&members(&[&many[..], &many[7..8]].concat())));
        // As serde_json writes them they are in the object or the array around them, or nowhere.
        let lying = || Members(vec![("b".to_owned(), json!({ "c": 1 })), ("d".to_owned(), json!([]))], Some(0));
        let text = serde_json::to_string(&lying()).unwrap();
        assert!(matches!(write(&lying(), &OWN, None).unwrap(), Written::Text(found) if found == text));
        for name in ["a", "id"] {
            assert!(!is_written_at_once(&BTreeMap::from([(name, lying())])));
            assert!(!is_written_at_once(&BTreeMap::from([(name, [Elements(vec![json!(1)])])])));
        }
        let text = serde_json::to_string(&BTreeMap::from([("a", [lying()])])).unwrap();
        assert!(HashableBody::beside_minifying(text.as_bytes(), &OWN).is_err());
        let written = write(&BTreeMap::from([("a", [lying()])]), &OWN, None).unwrap();
        assert!(matches!(written, Written::Text(found) if found == text));
    }

    /// A map of names and values as its text says: `k` a name, `v` a value.
    struct Halves(&'static str);

    impl Serialize for Halves {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(None)?;
            for (at, half) in self.0.chars().enumerate() {
                if half == 'k' { map.serialize_key(&format!("k{at}"))? } else { map.serialize_value(&at)? }
            }
            map.end()
        }
    }

    #[test]
    fn names_without_values_and_values_without_names_are_left_to_the_parser_which_refuses_them() {
        for halves in ["kkv", "kvv", "k", "v", "kvk", "vk", "vkv"] {
            let inside = BTreeMap::from([("a", Halves(halves))]);
            let texts = [serde_json::to_string(&Halves(halves)).unwrap(), serde_json::to_string(&inside).unwrap()];
            let written = [write(&Halves(halves), &OWN, None).unwrap(), write(&inside, &OWN, None).unwrap()];
            for (text, written) in texts.into_iter().zip(written) {
                assert!(matches!(written, Written::Text(found) if found == text), "{text}");
                assert!(HashableBody::beside_minifying(text.as_bytes(), &OWN).is_err(), "{text}");
            }
        }
        assert!(is_written_at_once(&Halves("kvkv")));
    }

    fn name() -> impl Strategy<Value = String> {
        prop_oneof!["[ab]{0,2}", "id|rev|v|_id|_x|_replication_id", "\\PC{0,9}"]
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..300).prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[a-z\"\\\\\n\u{1}é]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((name(), inner), 0..6).prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_written_as_the_parser_makes_it_of_its_text(
            members in prop::collection::vec((name(), value()), 0..6),
        ) {
            is_written_at_once(&Value::Object(members.clone().into_iter().collect()));
            is_written_at_once(&Members(members, None));
        }

        #[test]
        fn members_that_come_twice_are_found_whatever_the_objects_around(
            objects in prop::collection::vec(prop::collection::vec("[ab]{0,2}", 0..5), 1..9),
        ) {
            let twice = objects.iter().any(|names| (1..names.len()).any(|at| names[..at].contains(&names[at])));
            let all: Vec<Members> =
                objects.iter().map(|names| members(&names.iter().map(String::as_str).collect::<Vec<_>>())).collect();
            prop_assert_eq!(is_written_at_once(&BTreeMap::from([("a", &all)])), !twice);
        }
    }
}
