//! The JSON of an answer, cut while it arrives: members of the outermost object, and elements of its list. Pure. It
//! holds one value at a time; one that is longer than [`HELD_BYTES_MAX`] is handed on as it comes.

use memchr::memchr2;

/// The longest member or row that is held as a whole.
pub(crate) const HELD_BYTES_MAX: usize = 1 << 20;

/// Members of answers whose elements are rows.
const LISTS: [&str; 7] = ["rows", "docs", "results", "history", "jobs", "indexes", "uuids"];

/// What is told of an answer.
pub(crate) trait Sink {
    /// A member of the outermost object. An answer that is one value has no name.
    fn member(&mut self, name: &str, value: &[u8]);
    /// The elements that follow are rows.
    fn list_begins(&mut self, name: &str);
    /// A row.
    fn row(&mut self, value: &[u8]);
    /// No more rows.
    fn list_ends(&mut self);
    /// A member (or, without a name, a row) is too long to be held. Its bytes follow.
    fn long_begins(&mut self, name: Option<&str>, first: &[u8]);
    /// More of it.
    fn long(&mut self, bytes: &[u8]);
    /// It ends.
    fn long_ends(&mut self);
}

/// Where the cut stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Start,
    /// Before a member's name.
    Names,
    Name,
    /// Between a name and its value.
    Colon,
    Value,
    /// Before a row.
    Rows,
    Row,
    Done,
}

/// What cuts.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools)] // the states of a reader
pub(crate) struct Splitter {
    place: Place,
    /// Whether there are rows, or all are members of one document.
    lists: bool,
    name: String,
    held: Vec<u8>,
    long: bool,
    /// Brackets that are open within the value.
    nest: usize,
    in_string: bool,
    escaped: bool,
    /// The outermost value is an array.
    bare_list: bool,
}

impl Splitter {
    /// For an answer with rows, or for one document.
    pub(crate) fn new(lists: bool) -> Self {
        Splitter {
            place: Place::Start,
            lists,
            name: String::new(),
            held: Vec::new(),
            long: false,
            nest: 0,
            in_string: false,
            escaped: false,
            bare_list: false,
        }
    }

    /// More of the answer.
    pub(crate) fn push(&mut self, mut bytes: &[u8], sink: &mut (impl Sink + ?Sized)) {
        while let Some(&byte) = bytes.first() {
            let skipped = byte.is_ascii_whitespace() || byte == b',';
            match self.place {
                Place::Done => return,
                Place::Start | Place::Names | Place::Rows if skipped => bytes = &bytes[1..],
                Place::Colon if byte.is_ascii_whitespace() || byte == b':' => bytes = &bytes[1..],
                Place::Start => {
                    (self.place, bytes) = match byte {
                        b'{' => (Place::Names, &bytes[1..]),
                        b'[' if self.lists => {
                            self.bare_list = true;
                            sink.list_begins("");
                            (Place::Rows, &bytes[1..])
                        }
                        _ => (Place::Value, bytes),
                    };
                }
                Place::Names if byte == b'}' => self.place = Place::Done,
                Place::Names => self.place = Place::Name,
                Place::Colon if byte == b'[' && self.lists && LISTS.contains(&self.name.as_str()) => {
                    sink.list_begins(&self.name);
                    (self.place, bytes) = (Place::Rows, &bytes[1..]);
                }
                Place::Colon => self.place = Place::Value,
                Place::Rows if byte == b']' => {
                    sink.list_ends();
                    (self.place, bytes) = (if self.bare_list { Place::Done } else { Place::Names }, &bytes[1..]);
                }
                Place::Rows => self.place = Place::Row,
                Place::Name | Place::Value | Place::Row => {
                    let (length, ended) = self.scanned(bytes);
                    self.hold(&bytes[..length], sink);
                    bytes = &bytes[length..];
                    if ended {
                        self.value_ends(sink);
                    }
                }
            }
        }
    }

    /// How many bytes are of the value that is under way, and whether it ends with them.
    fn scanned(&mut self, bytes: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_string {
                if std::mem::take(&mut self.escaped) {
                    at += 1;
                    continue;
                }
                let Some(next) = memchr2(b'"', b'\\', &bytes[at..]) else { return (bytes.len(), false) };
                at += next + 1;
                if bytes[at - 1] == b'\\' {
                    self.escaped = true;
                    continue;
                }
                self.in_string = false;
                if self.nest == 0 {
                    return (at, true);
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.nest += 1,
                b'}' | b']' if self.nest > 1 => self.nest -= 1,
                b'}' | b']' if self.nest == 1 => {
                    self.nest = 0;
                    return (at + 1, true);
                }
                // A number or a word ends with what follows it.
                b'}' | b']' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' if self.nest == 0 => {
                    // A stray mark at the beginning is no value: it is passed over.
                    let none = at == 0 && self.held.is_empty() && !self.long;
                    return (if none { 1 } else { at }, true);
                }
                _ => {}
            }
            at += 1;
        }
        (at, false)
    }

    fn hold(&mut self, bytes: &[u8], sink: &mut (impl Sink + ?Sized)) {
        if self.long {
            sink.long(bytes);
        } else if self.held.len() + bytes.len() > HELD_BYTES_MAX && self.place != Place::Name {
            self.long = true;
            sink.long_begins((self.place == Place::Value).then_some(self.name.as_str()), &self.held);
            sink.long(bytes);
            self.held = Vec::new();
        } else if self.held.len() < HELD_BYTES_MAX {
            self.held.extend_from_slice(bytes);
        }
    }

    fn value_ends(&mut self, sink: &mut (impl Sink + ?Sized)) {
        if std::mem::take(&mut self.long) {
            sink.long_ends();
        } else {
            match self.place {
                Place::Name => {
                    self.name = serde_json::from_slice(&self.held)
                        .unwrap_or_else(|_| String::from_utf8_lossy(&self.held).into_owned());
                }
                Place::Value => sink.member(&self.name, &self.held),
                _ => sink.row(&self.held),
            }
        }
        self.held.clear();
        self.place = match self.place {
            Place::Name => Place::Colon,
            Place::Value => Place::Names,
            _ => Place::Rows,
        };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    #[derive(Default, Debug, PartialEq)]
    struct Told(Vec<String>, String);

    impl Sink for Told {
        fn member(&mut self, name: &str, value: &[u8]) {
            self.0.push(format!("{name}={}", String::from_utf8_lossy(value)));
        }
        fn list_begins(&mut self, name: &str) {
            self.0.push(format!("{name}["));
        }
        fn row(&mut self, value: &[u8]) {
            self.0.push(String::from_utf8_lossy(value).into_owned());
        }
        fn list_ends(&mut self) {
            self.0.push("]".to_owned());
        }
        fn long_begins(&mut self, name: Option<&str>, first: &[u8]) {
            self.1 = format!("{}~{}", name.unwrap_or_default(), String::from_utf8_lossy(first));
        }
        fn long(&mut self, bytes: &[u8]) {
            self.1.push_str(&String::from_utf8_lossy(bytes));
        }
        fn long_ends(&mut self) {
            let long = std::mem::take(&mut self.1);
            self.0.push(long);
        }
    }

    fn told(text: &str, piece: usize, lists: bool) -> Vec<String> {
        let (mut splitter, mut told) = (Splitter::new(lists), Told::default());
        for piece in text.as_bytes().chunks(piece) {
            splitter.push(piece, &mut told);
        }
        told.0
    }

    #[test]
    fn lists_are_cut_into_rows_wherever_pieces_end() {
        let text =
            "{\"total_rows\":3,\"offset\":null,\"rows\":[\n{\"id\":\"]\\\"}\"},\n[1,[2]],\n\"x\",7\n],\"after\":[1]}\n";
        let expected =
            ["total_rows=3", "offset=null", "rows[", "{\"id\":\"]\\\"}\"}", "[1,[2]]", "\"x\"", "7", "]", "after=[1]"];
        for piece in 1..text.len() {
            assert_eq!(told(text, piece, true), expected, "{piece}");
        }
        assert_eq!(told("[\"a\",\"b\"]\n", 3, true), ["[", "\"a\"", "\"b\"", "]"]);
        assert_eq!(told("{\"rows\":[1]}", 3, false), ["rows=[1]"]);
        assert_eq!(told("[]", 1, true), ["[", "]"]);
    }

    #[test]
    fn what_is_too_long_to_hold_is_handed_on() {
        let long = "x".repeat(HELD_BYTES_MAX);
        let text = json!({"rows": [{"id": long}, 1]}).to_string();
        let rows = told(&text, 1000, true);
        assert_eq!(rows.len(), 4);
        assert_eq!(rows[1], format!("~{{\"id\":\"{long}\"}}"));
        assert_eq!(rows[2], "1");
    }

    proptest! {
        #[test]
        fn any_bytes_are_cut_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), piece in 1_usize..9) {
            let (mut splitter, mut told) = (Splitter::new(true), Told::default());
            for piece in bytes.chunks(piece) {
                splitter.push(piece, &mut told);
            }
        }

        #[test]
        fn members_are_those_that_the_document_has(
            names in prop::collection::btree_map(".{0,5}", ".{0,9}", 0..6),
            piece in 1_usize..9,
        ) {
            let text = serde_json::to_string(&names).unwrap();
            let expected: Vec<String> =
                names.iter().map(|(name, value)| format!("{name}={}", Value::from(value.as_str()))).collect();
            prop_assert_eq!(told(&text, piece, false), expected);
        }
    }
}
