//! The rows that an index has for a document: pure, (index, body, id) -> keys. A body is read once for all
//! indexes of its collection. Layout: docs/documents-format.md, "Trees of indexes".

use std::ops::Bound;

use crate::engine::{Direction, successor_of_prefix};
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_texts::{OWN_TEXTS, TEXTS, TEXTS_IN_DOCUMENT, own_texts, take_all_texts};
use crate::kernel::rows::word_rows::{self, Tally};
use recension_values::collation::Collation;
use recension_values::condition::{Condition, KeySet};
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::json::{Path, PathSet, quote};
use recension_values::limits::{INDEX_ENTRIES_MAX, INDEX_TEXTS_BYTES_MAX, INDEX_VALUE_BYTES_MAX};
use recension_values::model::IndexState;
use recension_values::own::Own;

/// It stands for the value at a later path that a document does not have. It sorts before every value, and is no prefix
/// of one.
const ABSENT: u8 = 0x08;
/// The lowest first byte of a value.
pub(crate) const LOWEST: u8 = 0x10;

/// A row of an index cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Damaged;

/// A row of an index, without the id of its document: `index_rows` says where that stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct IndexRow {
    /// The encoded values.
    pub(crate) key: Vec<u8>,
    /// Empty if the key gives the texts of the values as the document has them.
    pub(crate) value: Vec<u8>,
}

/// A change of the rows of one index for one document.
pub(crate) struct RowsChange<'e> {
    pub(crate) index: &'e IndexEntry,
    pub(crate) gone: Vec<IndexRow>,
    pub(crate) new: Vec<IndexRow>,
    /// For an index of words: the change of its counters.
    pub(crate) counted: Option<Counted>,
}

/// A document's part in the counters of an index of words, before and after.
pub(crate) struct Counted {
    /// The key of the first row that it had.
    pub(crate) first: Option<Vec<u8>>,
    pub(crate) before: Tally,
    pub(crate) after: Tally,
}

/// The indexes of a collection, ready to be applied to bodies.
#[derive(Debug)]
pub(crate) struct IndexKeys {
    paths: PathSet,
    indexes: Vec<Wanted>,
}

/// The part of a body that an index needs.
#[derive(Debug)]
struct Wanted {
    /// The numbers of its paths.
    parts: Vec<usize>,
    /// Several paths lead into the elements of one array: they all have the number of the path to these.
    of_elements: bool,
    /// Only the first path must have a value.
    by_first: bool,
    own_texts: bool,
    filter: Vec<(usize, KeySet)>,
    /// The ids that it is limited to: a set for each condition on the id.
    ids: Vec<KeySet>,
}

impl IndexKeys {
    pub(crate) fn of<'e>(indexes: impl IntoIterator<Item = &'e IndexEntry>) -> Self {
        let mut paths = PathSet::default();
        let of_id = |condition: &&Condition| Own::of(&condition.path) == Some(Own::Id);
        let indexes = indexes.into_iter().map(|IndexEntry { by_first, own_texts, spec, .. }| {
            let elements = spec.elements().filter(|_| spec.words.is_none());
            let path = |path| elements.as_ref().filter(|_| Path::is_multiple(path)).unwrap_or(path);
            Wanted {
                parts: spec.parts.iter().map(|part| paths.add(path(&part.path))).collect(),
                of_elements: elements.is_some(),
                by_first: *by_first,
                own_texts: *own_texts,
                ids: spec.filter.iter().filter(of_id).map(|c| c.values.test(Collation::Binary)).collect(),
                filter: spec
                    .filter
                    .iter()
                    .filter(|condition| !of_id(condition))
                    .map(|c| (paths.add(&c.path), c.values.test(spec.collation)))
                    .collect(),
            }
        });
        let indexes = indexes.collect();
        IndexKeys { paths, indexes }
    }

    /// The rows that each of the indexes has for a body, in the order of their keys.
    pub(crate) fn rows(&self, entries: &[IndexEntry], body: &str, id: &str) -> Result<Vec<Vec<IndexRow>>> {
        let values = self.paths.values(body);
        self.indexes.iter().zip(entries).map(|(wanted, entry)| wanted.rows(&entry.spec, &values, id)).collect()
    }

    /// The changes of each index when a document's body changes from `old` to `new`.
    pub(crate) fn changes<'e>(
        &'e self,
        entries: &'e [IndexEntry],
        old: Option<&'e str>,
        new: Option<&'e str>,
        id: &'e str,
    ) -> impl Iterator<Item = Result<RowsChange<'e>>> {
        let old = old.map(|body| self.paths.values(body));
        let new = new.map(|body| self.paths.values(body));
        let change = move |(wanted, index): (&Wanted, &'e IndexEntry)| {
            if let (Some(old), Some(new)) = (&old, &new)
                && wanted.numbers().all(|number| old.get(number) == new.get(number))
            {
                return Ok(None);
            }
            // A body that cannot be in the index has no rows.
            let old_rows = old.as_ref().and_then(|old| wanted.rows(&index.spec, old, id).ok()).unwrap_or_default();
            let new_rows = new.as_ref().map(|new| wanted.rows(&index.spec, new, id)).transpose()?.unwrap_or_default();
            let gone: Vec<IndexRow> = missing_from(&old_rows, &new_rows);
            let counted = index.spec.words.map(|_| Counted {
                first: old_rows.first().map(|row| row.key.clone()),
                before: word_rows::tally(&old_rows),
                after: word_rows::tally(&new_rows),
            });
            let mut fresh = new_rows;
            // While an index of words is being built, any row of a document says that it was counted.
            let counts_by_rows = index.spec.words.is_some() && index.state == IndexState::Building;
            if !counts_by_rows {
                fresh.retain(|row| old_rows.binary_search(row).is_err());
            }
            let change = RowsChange { index, gone, new: fresh, counted };
            Ok(Some(change).filter(|change| !change.gone.is_empty() || !change.new.is_empty()))
        };
        self.indexes.iter().zip(entries).map(change).filter_map(Result::transpose)
    }
}

/// The rows of `rows` whose keys are not in `others`; both are in order.
fn missing_from(rows: &[IndexRow], others: &[IndexRow]) -> Vec<IndexRow> {
    rows.iter().filter(|row| others.binary_search_by(|other| other.key.cmp(&row.key)).is_err()).cloned().collect()
}

impl Wanted {
    fn numbers(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().copied().chain(self.filter.iter().map(|(number, _)| *number))
    }

    fn rows(&self, spec: &IndexSpec, values: &[Vec<&str>], id: &str) -> Result<Vec<IndexRow>> {
        let at = |number: usize| values.get(number).map(Vec::as_slice).unwrap_or_default();
        let mut scratch = Vec::new();
        for (number, allowed) in &self.filter {
            if !at(*number).iter().any(|value| allowed.contains_text(value, &mut scratch)) {
                return Ok(Vec::new());
            }
        }
        let is_in = |ids: &KeySet| ids.contains_text(&quote(id), &mut Vec::new());
        if let Some(language) = spec.words {
            if !self.ids.iter().all(|ids| ids.contains_text(&quote(id), &mut Vec::new())) {
                return Ok(Vec::new());
            }
            let values = self.parts.iter().flat_map(|number| at(*number).iter().copied());
            return word_rows::rows_of(spec, language, values, id);
        }
        let mut needed = self.parts.iter().take(if self.by_first { 1 } else { self.parts.len() });
        if needed.any(|number| at(*number).is_empty()) || !self.ids.iter().all(is_in) {
            return Ok(Vec::new());
        }
        let many =
            spec.parts.iter().zip(&self.parts).find(|(part, _)| part.path.is_multiple()).map(|(_, number)| *number);
        let count = many.map_or(1, |number| at(number).len());
        if count > INDEX_ENTRIES_MAX {
            return Err(Error::TooManyEntries {
                index: spec.name.clone(),
                id: id.to_owned(),
                entries: count,
                max: INDEX_ENTRIES_MAX,
            });
        }
        // The keys of the single values are made once. The ends of all parts, as if those of the many were empty, tell
        // where these go.
        let (mut single, mut ends) = (Vec::new(), Vec::with_capacity(spec.parts.len()));
        // Parts whose texts the key does not give.
        let mut own = Vec::new();
        for (place, (part, number)) in spec.parts.iter().zip(&self.parts).enumerate() {
            match at(*number).first() {
                _ if part.path.is_multiple() => {}
                Some(value) if encode_part(spec, part.direction, value, &mut single)? => {}
                Some(_) => own.push(place),
                None => single.push(absent(part.direction)),
            }
            ends.push(single.len());
        }
        let value = if own.is_empty() { Vec::new() } else { self.texts(spec, &own, at) };
        let mut rows = Vec::with_capacity(count);
        let row = |key: Vec<u8>, value| {
            if key.len() > INDEX_VALUE_BYTES_MAX {
                return Err(Error::ValueTooLong {
                    index: spec.name.clone(),
                    id: id.to_owned(),
                    len: key.len(),
                    max: INDEX_VALUE_BYTES_MAX,
                });
            }
            Ok(IndexRow { key, value })
        };
        let Some(many) = many else {
            return Ok(vec![row(single, value)?]);
        };
        for element in at(many) {
            let mut key = Vec::with_capacity(single.len() + 16);
            if self.element(spec, (&single, &ends), element, &mut key)? {
                rows.push(row(key, value.clone())?);
            }
        }
        if rows.is_empty() && !spec.parts.first().is_some_and(|part| part.path.is_multiple()) {
            let mut key = Vec::with_capacity(single.len() + 16);
            self.element(spec, (&single, &ends), "", &mut key)?;
            rows.push(row(key, value)?);
        }
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    /// Appends the key of an element: the keys of its values among those of the single ones, which end at `ends`.
    /// Returns whether it has a value, and one at the first path if that leads into it.
    fn element(
        &self,
        spec: &IndexSpec,
        (single, ends): (&[u8], &[usize]),
        element: &str,
        key: &mut Vec<u8>,
    ) -> Result<bool> {
        let (mut start, mut has_one, mut has_first) = (0, false, true);
        for (number, (part, end)) in spec.parts.iter().zip(ends).enumerate() {
            key.extend_from_slice(single.get(start..*end).unwrap_or_default());
            start = *end;
            if !part.path.is_multiple() {
                continue;
            }
            let found = match part.path.of_elements() {
                Some((_, within)) if self.of_elements => Path::find_at(within, element),
                _ => Some(element),
            };
            match found.filter(|text| !text.is_empty()) {
                Some(text) => {
                    encode_part(spec, part.direction, text, key)?;
                    has_one = true;
                }
                None => {
                    key.push(absent(part.direction));
                    has_first &= number > 0;
                }
            }
        }
        Ok(has_one && has_first)
    }

    /// The value of a row whose key does not give the texts of the parts `own`.
    fn texts<'v>(&self, spec: &IndexSpec, own: &[usize], at: impl Fn(usize) -> &'v [&'v str]) -> Vec<u8> {
        let text = |place: usize| {
            let number = self.parts.get(place).filter(|_| !spec.parts.get(place).is_some_and(|p| p.path.is_multiple()));
            number.and_then(|number| at(*number).first().copied()).unwrap_or_default()
        };
        let mut texts = vec![if self.own_texts { OWN_TEXTS } else { TEXTS }];
        for place in 0..spec.parts.len() {
            if self.own_texts && !own.contains(&place) {
                continue;
            }
            let text = text(place);
            if self.own_texts {
                texts.push(place as u8);
                texts.extend((text.len() as u16).to_be_bytes());
            } else {
                texts.extend((text.len() as u32).to_be_bytes());
            }
            texts.extend(text.as_bytes());
            if texts.len() > INDEX_TEXTS_BYTES_MAX {
                return vec![TEXTS_IN_DOCUMENT];
            }
        }
        texts
    }
}

/// The byte for a value that a document does not have.
pub(crate) fn absent(direction: Direction) -> u8 {
    if direction == Direction::Backward { !ABSENT } else { ABSENT }
}

/// Whether these bytes of a later part, in ascending order, stand for a value that a document does not have.
pub(crate) fn is_absent(value: &[u8]) -> bool {
    value == [ABSENT]
}

/// Appends the key of a value for a part of an index; returns whether the same text can be decoded from it.
pub(crate) fn encode_part(spec: &IndexSpec, direction: Direction, value: &str, out: &mut Vec<u8>) -> Result<bool> {
    let start = out.len();
    let same = spec.collation.encode_value(value, out)?;
    if direction == Direction::Backward {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(same)
}

/// The length of the encoded values at the beginning of a key.
pub(crate) fn values_len(spec: &IndexSpec, key: &[u8]) -> Option<usize> {
    values_of(spec, key).map(|(length, _)| length)
}

/// The same, and whether a document lacks one of the values.
pub(crate) fn values_of(spec: &IndexSpec, key: &[u8]) -> Option<(usize, bool)> {
    if spec.words.is_some() {
        return Some((word_rows::word_len(key)?, false));
    }
    let mut lacks_one = false;
    let length = walk_parts(spec, key, |rest, first| {
        lacks_one |= first == Some(ABSENT);
        if first == Some(ABSENT) { Some(1) } else { spec.collation.value_len(rest) }
    })?;
    Some((length, lacks_one))
}

/// Where each of the values at the beginning of a key ends.
pub(crate) fn part_ends(spec: &IndexSpec, key: &[u8], ends: &mut Vec<usize>) {
    ends.clear();
    walk_parts(spec, key, |rest, first| {
        let length = if first == Some(ABSENT) { 1 } else { spec.collation.value_len(rest)? };
        ends.push(ends.last().copied().unwrap_or(0) + length);
        Some(length)
    });
}

/// The JSON texts that the encoded values decode to; for a missing value, an empty text.
pub(crate) fn texts_of(spec: &IndexSpec, values: &[u8]) -> Option<Vec<String>> {
    wanted_texts_of(spec, values, &|_| true)
}

fn wanted_texts_of(spec: &IndexSpec, values: &[u8], wanted: &dyn Fn(usize) -> bool) -> Option<Vec<String>> {
    let mut texts = Vec::with_capacity(spec.parts.len());
    walk_parts(spec, values, |rest, first| {
        let mut text = String::new();
        let length = match first {
            Some(ABSENT) => 1,
            _ if !wanted(texts.len()) => spec.collation.value_len(rest)?,
            _ => spec.collation.decode_value(rest, &mut text)?,
        };
        texts.push(text);
        Some(length)
    })?;
    Some(texts)
}

/// Walks over a key's values. `see` gets the rest of the key and its first byte, and answers the value's length.
fn walk_parts(spec: &IndexSpec, key: &[u8], mut see: impl FnMut(&[u8], Option<u8>) -> Option<usize>) -> Option<usize> {
    let mut at = 0;
    for (number, part) in spec.parts.iter().enumerate() {
        let rest = key.get(at..)?;
        let inverted: Vec<u8>;
        let rest = match part.direction {
            Direction::Forward => rest,
            Direction::Backward => {
                inverted = rest.iter().map(|byte| !byte).collect();
                &inverted
            }
        };
        let first = rest.first().copied().filter(|_| number > 0);
        at += see(rest, first)?;
    }
    Some(at).filter(|at| *at <= key.len())
}

/// The texts of a row's values as in the document, by the parts of the index. A missing value has an empty text; a part
/// with many values has the one of the key. `None` if only the document has the texts.
pub(crate) fn row_texts(
    spec: &IndexSpec,
    values: &[u8],
    value: &[u8],
) -> std::result::Result<Option<Vec<String>>, Damaged> {
    wanted_row_texts(spec, values, value, &|_| true)
}

/// The same, but the texts of parts that are not wanted may be empty.
pub(crate) fn wanted_row_texts(
    spec: &IndexSpec,
    values: &[u8],
    value: &[u8],
    wanted: &dyn Fn(usize) -> bool,
) -> std::result::Result<Option<Vec<String>>, Damaged> {
    let mut texts = wanted_texts_of(spec, values, wanted).ok_or(Damaged)?;
    match value.split_first() {
        None => {}
        Some((&TEXTS, own)) => take_all_texts(spec, own, &mut texts).ok_or(Damaged)?,
        Some((&OWN_TEXTS, own)) if !own.is_empty() => {
            for own in own_texts(own) {
                let (part, text) = own?;
                text.clone_into(texts.get_mut(part).ok_or(Damaged)?);
            }
        }
        Some((&TEXTS_IN_DOCUMENT, [])) => return Ok(None),
        Some(_) => return Err(Damaged),
    }
    Ok(Some(texts))
}

/// A bound behind all keys of an index that begin with `prefix`.
pub(crate) fn after_prefix(prefix: &[u8]) -> Bound<Vec<u8>> {
    successor_of_prefix(prefix).map_or(Bound::Unbounded, Bound::Excluded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TreeId;
    use crate::kernel::rows::index_texts::{OwnText, own_text};
    use recension_values::collation::Collation;
    use recension_values::condition::{Condition, ValueRange};

    fn rows(spec: &IndexSpec, body: &str) -> Vec<IndexRow> {
        let entry = IndexEntry::new(TreeId(1), IndexState::Ready, spec.clone());
        let keys = IndexKeys::of([&entry]);
        keys.indexes[0].rows(spec, &keys.paths.values(body), "d").unwrap()
    }

    /// The texts that the rows of a body decode to.
    fn read_back(spec: &IndexSpec, body: &str) -> Vec<Vec<String>> {
        let read = |row: IndexRow| {
            assert_eq!(values_len(spec, &[&row.key[..], b"the id"].concat()), Some(row.key.len()));
            for cut in 0..row.key.len() {
                assert_eq!(values_len(spec, &row.key[..cut]), None);
            }
            row_texts(spec, &row.key, &row.value).unwrap().unwrap_or_default()
        };
        rows(spec, body).into_iter().map(read).collect()
    }

    fn spec(paths: &str) -> IndexSpec {
        let mut parts = paths.split(' ').map(|path| (path.trim_start_matches('-'), path.starts_with('-')));
        let (first, _) = parts.next().unwrap();
        parts.fold(
            IndexSpec::new("i", first),
            |spec, (path, down)| {
                if down { spec.then_descending(path) } else { spec.then(path) }
            },
        )
    }

    #[test]
    fn a_row_gives_its_values_back_as_the_document_has_them() {
        let cases: [(&str, &str, &[&[&str]]); 21] = [
            ("a", r#"{"a":1}"#, &[&["1"]]),
            ("a", r#"{"a":1.0}"#, &[&["1.0"]]),
            ("a", r#"{"a":-0}"#, &[&["-0"]]),
            ("a", r#"{"a":123456789012345678901}"#, &[&["123456789012345678901"]]),
            ("a", r#"{"a":"\u0041\n"}"#, &[&[r#""\u0041\n""#]]),
            ("a", r#"{"a":{"x":["é\u0000",null,true,{}],"y":[]}}"#, &[&[r#"{"x":["é\u0000",null,true,{}],"y":[]}"#]]),
            ("a -b", r#"{"a":false,"b":"z"}"#, &[&["false", r#""z""#]]),
            ("a -b", r#"{"a":1e2,"b":1.5}"#, &[&["1e2", "1.5"]]),
            ("a b", r#"{"a":1}"#, &[&["1", ""]]),
            ("a -b c", r#"{"a":1,"c":2.0}"#, &[&["1", "", "2.0"]]),
            ("a b", r#"{"b":1}"#, &[]),
            ("a -t[] b", r#"{"a":1,"t":[],"b":1}"#, &[&["1", "", "1"]]),
            ("t[] a", r#"{"a":1,"t":[]}"#, &[]),
            ("t[]", r#"{"t":[3,1,2,1.0,1]}"#, &[&["1"], &["2"], &["3"]]),
            ("a -t[].s b", r#"{"a":1.0,"b":5,"t":[{"s":1},{"s":2},{}]}"#, &[&["1.0", "2", "5"], &["1.0", "1", "5"]]),
            ("t[]", r#"{"t":1}"#, &[]),
            ("t[].x t[].y", r#"{"t":[{"x":1,"y":2},{"y":9},{"x":1},{},{"y":2,"x":1},3]}"#, &[&["1", ""], &["1", "2"]]),
            ("t[].x a -t[].y", r#"{"a":5,"t":[{"x":1,"y":2},{"x":1,"y":3}]}"#, &[&["1", "5", "3"], &["1", "5", "2"]]),
            ("a t[].x t[].y.z", r#"{"a":5,"t":[{"y":{"z":2}},{}]}"#, &[&["5", "", "2"]]),
            ("a t[].x b t[].y", r#"{"a":5,"b":1.0,"t":[{}]}"#, &[&["5", "", "1.0", ""]]),
            ("t[] t[].x", r#"{"t":[{"x":1},7]}"#, &[&["7", ""], &[r#"{"x":1}"#, "1"]]),
        ];
        for collation in [Collation::Unicode, Collation::Binary] {
            for (paths, body, expected) in cases {
                assert_eq!(read_back(&spec(paths).collated(collation), body), expected, "{paths} {body}");
            }
        }
    }

    #[test]
    fn only_documents_that_meet_the_filter_have_rows() {
        let state = Condition::new("state", ValueRange::equal("open"));
        let tags = Condition::new("tags[]", ValueRange::prefix("a"));
        let spec = spec("a").only_where(state).only_where(tags);
        for (body, count) in [
            (r#"{"a":1,"state":"open","tags":["b","ab"]}"#, 1),
            (r#"{"a":1,"state":"open","tags":["b"]}"#, 0),
            (r#"{"a":1,"state":"shut","tags":["ab"]}"#, 0),
            (r#"{"a":1,"tags":["ab"]}"#, 0),
            (r#"{"state":"open","tags":["ab"]}"#, 0),
        ] {
            assert_eq!(rows(&spec, body).len(), count, "{body}");
        }
    }

    #[test]
    fn a_text_too_long_for_a_row_is_left_to_the_document() {
        let body = format!(r#"{{"a":1.{}}}"#, "0".repeat(5000));
        let row = rows(&spec("a"), &body).remove(0);
        assert_eq!(row.value, [TEXTS_IN_DOCUMENT]);
        assert_eq!(row_texts(&spec("a"), &row.key, &row.value), Ok(None));
    }

    /// As older versions wrote rows: with all texts.
    fn row_with_all_texts(paths: &str, body: &str) -> IndexRow {
        let entry = IndexEntry { own_texts: false, ..IndexEntry::new(TreeId(1), IndexState::Ready, spec(paths)) };
        let keys = IndexKeys::of([&entry]);
        keys.indexes[0].rows(&entry.spec, &keys.paths.values(body), "d").unwrap().remove(0)
    }

    #[test]
    fn a_row_has_the_texts_that_its_key_does_not_give() {
        let body = r#"{"a":"x","b":1732147206833468,"c":[1.0]}"#;
        let spec = spec("a b d c");
        let row = rows(&spec, body).remove(0);
        let old = row_with_all_texts("a b d c", body);
        assert!(row.key == old.key && row.value.len() < old.value.len(), "{row:?}");
        let texts = ["\"x\"", "1732147206833468", "", "[1.0]"];
        for row in [&row, &old] {
            assert_eq!(row_texts(&spec, &row.key, &row.value).unwrap().unwrap(), texts);
            assert_eq!(own_text(&row.value, 1), Ok(OwnText::Text(texts[1])));
            assert_eq!(own_text(&row.value, 3), Ok(OwnText::Text(texts[3])));
        }
        assert_eq!(own_text(&row.value, 0), Ok(OwnText::OfKey));
        assert_eq!(own_text(&old.value, 0), Ok(OwnText::Text(texts[0])));
        assert_eq!(own_text(&[TEXTS_IN_DOCUMENT], 0), Ok(OwnText::InDocument));
        for cut in 1..row.value.len() {
            assert!(row_texts(&spec, &row.key, &row.value[..cut]).is_err() || cut == 20, "{cut}");
        }
    }

    #[test]
    fn a_damaged_row_is_noticed_and_never_a_panic() {
        let row = row_with_all_texts("a -b", r#"{"a":1.0,"b":"text"}"#);
        let key = row.key.clone();
        for at in 0..key.len() {
            for byte in 0..=255 {
                let mut changed = key.clone();
                changed[at] = byte;
                drop(row_texts(&spec("a -b"), &changed, &row.value));
            }
        }
        for cut in 1..row.value.len() {
            assert_eq!(row_texts(&spec("a -b"), &key, &row.value[..cut]), Err(Damaged));
        }
    }
}
