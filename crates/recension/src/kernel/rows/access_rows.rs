//! Rows of an index of access: which documents have, or had, a value at one of its paths. Layout:
//! docs/documents-format.md, "The index of access". Pure: bytes in, values out.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{KeyRange, Seq, TreeId, successor_of_prefix};
use recension_values::byte_reader::ByteReader;
use recension_values::collation::Collation;
use recension_values::index_spec::{push_text, take_text};
use recension_values::json::{Path, PathSet, Step};
use recension_values::limits::{ACCESS_MARK_BYTES_MAX, ACCESS_MARKS_MAX, INDEX_PARTS_MAX};
use recension_values::model::IndexState;

/// The key of the row that the commit which declared the index wrote.
pub(crate) const SINCE_KEY: &[u8] = &[0x00];
/// The kind of rows in the order of commits.
pub(crate) const BY_SEQ: u8 = 0x01;
/// The kind of rows in the order of ids.
pub(crate) const BY_ID: u8 = 0x02;

const READY: u8 = 1;
const LOST: u8 = 1;

/// A value at a path, as the keys have it.
pub(crate) type Mark = Vec<u8>;

/// The mark of documents that any value may find.
pub(crate) const EVERY: &[u8] = &[0xff];

/// An index of access as the catalogue has it.
#[derive(Clone, Debug)]
pub(crate) struct AccessEntry {
    pub(crate) tree: TreeId,
    pub(crate) state: IndexState,
    paths: Arc<MarkedPaths>,
}

/// The paths, and what is looked for in a body.
#[derive(Debug)]
struct MarkedPaths {
    paths: Vec<Path>,
    looked: PathSet,
    /// For each path the numbers of its value, and of the elements there.
    numbers: Vec<[usize; 2]>,
}

impl PartialEq for AccessEntry {
    fn eq(&self, other: &Self) -> bool {
        (self.tree, self.state, self.paths()) == (other.tree, other.state, other.paths())
    }
}

impl Eq for AccessEntry {}

impl AccessEntry {
    pub(crate) fn new(tree: TreeId, state: IndexState, paths: Vec<Path>) -> Self {
        let mut looked = PathSet::default();
        let numbers = paths.iter().map(|path| {
            let each = path.steps().iter().cloned().chain([Step::Each]);
            // A path that is at its longest has no elements.
            let each = Path::of_steps(each.collect()).unwrap_or_else(|_| path.clone());
            [looked.add(path), looked.add(&each)]
        });
        let numbers = numbers.collect();
        AccessEntry { tree, state, paths: Arc::new(MarkedPaths { paths, looked, numbers }) }
    }

    /// The same when its build is done.
    pub(crate) fn ready(&self) -> Self {
        AccessEntry { state: IndexState::Ready, ..self.clone() }
    }

    pub(crate) fn paths(&self) -> &[Path] {
        &self.paths.paths
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![if self.state == IndexState::Ready { READY } else { 0 }];
        out.extend(self.tree.0.to_be_bytes());
        out.push(self.paths().len() as u8);
        self.paths().iter().for_each(|path| push_text(&path.to_string(), &mut out));
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let state = match reader.byte()? {
            0 => IndexState::Building,
            READY => IndexState::Ready,
            _ => return None,
        };
        let tree = TreeId(reader.u32()?);
        let count = usize::from(reader.byte()?);
        let paths = (0..count).map(|_| take_text(&mut reader)?.parse().ok()).collect::<Option<Vec<Path>>>()?;
        let whole = reader.is_empty() && (1..=INDEX_PARTS_MAX).contains(&count);
        whole.then(|| AccessEntry::new(tree, state, paths))
    }

    /// Adds the marks of a leaf that says `body`.
    pub(crate) fn mark(&self, id: &str, body: &str, marks: &mut BTreeSet<Mark>) {
        if id.starts_with("_design/") {
            marks.insert(EVERY.to_vec());
            return;
        }
        let values = self.paths.looked.values(body);
        for (place, numbers) in self.paths.numbers.iter().enumerate() {
            let texts = numbers.iter().filter_map(|number| values.get(*number)).flatten();
            for text in texts.filter(|text| !text.starts_with(['[', '{'])) {
                let mark = mark_of(place, text).filter(|_| marks.len() < ACCESS_MARKS_MAX);
                marks.insert(mark.unwrap_or_else(|| EVERY.to_vec()));
            }
        }
    }
}

/// The mark of a value that stands at a path; `None` if it has none of its own.
pub(crate) fn mark_of(place: usize, text: &str) -> Option<Mark> {
    let mut mark = vec![u8::try_from(place).ok()?];
    Collation::Binary.encode_value(text, &mut mark).ok()?;
    (mark.len() <= ACCESS_MARK_BYTES_MAX).then_some(mark)
}

/// The key of a document's row in the order of commits.
pub(crate) fn by_seq(mark: &[u8], seq: Seq, id: &str) -> Vec<u8> {
    [&[BY_SEQ][..], mark, &seq.0.to_be_bytes(), id.as_bytes()].concat()
}

/// The key of a document's row in the order of ids.
pub(crate) fn by_id(mark: &[u8], id: &str) -> Vec<u8> {
    [&[BY_ID][..], mark, id.as_bytes()].concat()
}

/// The value of both.
pub(crate) fn value(lost: bool) -> Vec<u8> {
    vec![u8::from(lost)]
}

/// Whether a row says that its document lost the mark.
pub(crate) fn is_lost(value: &[u8]) -> bool {
    value.first() == Some(&LOST)
}

/// The rows of a kind and a mark from a place on.
pub(crate) fn rows_of(kind: u8, mark: &[u8], start: Bound<Vec<u8>>, end: Bound<Vec<u8>>) -> KeyRange {
    let prefix = [&[kind][..], mark].concat();
    let within = |rest: Vec<u8>| [&prefix[..], &rest].concat();
    let start = match start {
        Bound::Unbounded => Bound::Included(prefix.clone()),
        bound => bound.map(within),
    };
    let end = match end {
        Bound::Unbounded => successor_of_prefix(&prefix).map_or(Bound::Unbounded, Bound::Excluded),
        bound => bound.map(within),
    };
    KeyRange { start, end }
}

/// What stands behind the mark in a key of a kind; `None` if it is no such key.
pub(crate) fn behind_mark(key: &[u8]) -> Option<&[u8]> {
    let rest = key.get(1..)?;
    if rest.starts_with(EVERY) {
        return rest.get(1..);
    }
    let length = Collation::Binary.value_len(rest.get(1..)?)?;
    rest.get(1 + length..)
}

/// The id in the key of a row.
pub(crate) fn id_in(key: &[u8]) -> Option<&str> {
    let rest = behind_mark(key)?;
    let id = match *key.first()? {
        BY_SEQ => rest.get(8..)?,
        BY_ID => rest,
        _ => return None,
    };
    std::str::from_utf8(id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_reads_back_and_cuts_are_refused() {
        let paths = ["owner", "team.of"].map(|path| path.parse().unwrap()).to_vec();
        let entry = AccessEntry::new(TreeId(7), IndexState::Ready, paths);
        let bytes = entry.encode();
        assert_eq!(AccessEntry::decode(&bytes), Some(entry));
        for cut in 0..bytes.len() {
            assert_eq!(AccessEntry::decode(&bytes[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn marks_are_of_values_and_elements_and_keys_name_their_document() {
        let paths = ["owner", "team"].map(|path| path.parse().unwrap()).to_vec();
        let entry = AccessEntry::new(TreeId(7), IndexState::Ready, paths);
        let marks = |body: &str| {
            let mut marks = BTreeSet::new();
            entry.mark("a", body, &mut marks);
            marks
        };
        let own = |place, text| mark_of(place, text).unwrap();
        assert_eq!(
            marks(r#"{"owner":"ada","team":["x",1,["no"],{}]}"#),
            BTreeSet::from([own(0, "\"ada\""), own(1, "\"x\""), own(1, "1.0")])
        );
        assert_eq!(marks(r#"{"owner":{"a":1},"x":1}"#), BTreeSet::new());
        let long = format!("{{\"owner\":\"{}\"}}", "x".repeat(ACCESS_MARK_BYTES_MAX));
        assert_eq!(marks(&long), BTreeSet::from([EVERY.to_vec()]));
        for mark in [own(0, "\"a\""), own(1, "1"), EVERY.to_vec()] {
            assert_eq!(id_in(&by_seq(&mark, Seq(9), "some")), Some("some"));
            assert_eq!(id_in(&by_id(&mark, "some")), Some("some"));
        }
        for key in [&[][..], &[1], &[1, 0], &[2, 0, 0x40], SINCE_KEY] {
            assert_eq!(id_in(key), None, "{key:?}");
        }
    }
}
