//! How the rows of a way are read and tested, one by one.

use crate::engine::{Direction, Row, Snapshot, TreeId};
use crate::kernel::query::hit::{Hit, Named};
use crate::kernel::query::lookup::read_indexed;
use crate::kernel::query::planner::Want;
use crate::kernel::query::prepared::PreparedQuery;
use crate::kernel::query::repeats::Repeats;
use crate::kernel::query::sorted::order_key;
use crate::kernel::read::reader::{OwnedRows, document_of, id_of};
use crate::kernel::rows::catalogue::IndexEntry;
use crate::kernel::rows::index_keys::{Damaged, is_absent, part_ends, wanted_row_texts};
use crate::kernel::rows::index_rows::RowRead;
use crate::kernel::rows::stored;
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::json::Path;
use recension_values::model::Document;

/// How a row is read and tested.
pub(super) struct Reader {
    pub(super) asked: PreparedQuery,
    /// `None`: the rows are documents.
    pub(super) index: Option<IndexEntry>,
    /// For each path of the query, the part of the index that has it.
    pub(super) parts: Vec<Option<usize>>,
    /// Tells the first entry of a document in the index from its others.
    pub(super) repeats: Option<Repeats>,
    /// The conditions that are tested on keys.
    pub(super) key_tests: Vec<usize>,
    /// The conditions that are tested on documents: a key may not have the text, so those of the keys are among them.
    pub(super) document_tests: Vec<usize>,
    /// How many of them, the first ones, are tested even if the keys' conditions were tested on a key.
    pub(super) beside_keys: usize,
    pub(super) covering: bool,
    pub(super) sorts: bool,
    pub(super) want: Want,
    /// Documents that are still to be skipped.
    pub(super) skip: usize,
    /// A prefix of the ids of unwanted documents.
    pub(super) left_out: Option<String>,
    pub(super) examined: Examined,
    /// The key of the row that was read last, and of the last hit's.
    pub(super) read: Vec<u8>,
    pub(super) found: Vec<u8>,
}

/// A row of an index that has all that is asked for, lent by the engine.
pub(crate) struct Covered<'r> {
    id: &'r [u8],
    /// The encoded values, and where each of them ends.
    pub(crate) values: &'r [u8],
    ends: &'r [usize],
    /// As [`RowRead::texts`].
    pub(crate) texts: &'r [u8],
}

impl<'r> Covered<'r> {
    /// The document's id; `None` if it is damaged.
    pub(crate) fn id(&self) -> Option<&'r str> {
        std::str::from_utf8(self.id).ok()
    }

    /// The encoded value of a part.
    pub(crate) fn value(&self, part: usize) -> &'r [u8] {
        value_within(self.values, self.ends, part).unwrap_or_default()
    }
}

/// The encoded value of a part of a row's values, which end there.
fn value_within<'v>(values: &'v [u8], ends: &[usize], part: usize) -> Option<&'v [u8]> {
    let start = part.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    values.get(start..*ends.get(part)?)
}

/// How much was read for an answer.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Examined {
    pub(crate) keys: u64,
    pub(crate) documents: u64,
}

impl Examined {
    pub(crate) fn add(&mut self, other: Examined) {
        self.keys += other.keys;
        self.documents += other.documents;
    }
}

pub(super) fn damaged_row(spec: &IndexSpec) -> Error {
    Error::DamagedRow {
        what: format!("a row of index {}", spec.name),
        why: "it is not values and an id; drop the index and create it again",
    }
}

impl Reader {
    /// Index rows, annotated with the documents that are read next.
    pub(super) fn naming(&self, rows: OwnedRows, documents: TreeId) -> OwnedRows {
        let Some(index) = self.index.clone().filter(|_| !self.covering) else { return rows };
        rows.naming(documents, move |key, value| Some(RowRead::of(&index, key, value)?.id))
    }

    /// Whether rows of the index can be skipped without their documents.
    pub(super) fn passes_over(&self) -> bool {
        self.skip > 0
            && self.index.is_some()
            && !self.covering
            && self.repeats.is_none()
            && self.wants_no_values(&self.document_tests)
    }

    /// Skips the document of a row that is lent, if it is to be skipped and the row alone decides that.
    pub(super) fn passes(&mut self, key: &[u8], value: &[u8]) -> bool {
        let Some(index) = self.index.as_ref().filter(|_| self.skip > 0) else { return false };
        let may_lack = !self.asked.sort.is_empty() && index.by_first && index.spec.parts.len() > 1;
        if may_lack || self.left_out.is_some() {
            let Some(row) = RowRead::of(index, key, value) else { return false };
            if self.leaves_out(row.id.as_bytes()) {
                self.examined.keys += 1;
                return true;
            }
            if may_lack && row.lacks_one {
                return false;
            }
        }
        self.skip -= 1;
        self.examined.keys += 1;
        true
    }

    /// The hit of a row, unless it is skipped.
    pub(super) fn hit(&mut self, snapshot: &dyn Snapshot, documents: TreeId, row: Row<'_>) -> Result<Option<Hit>> {
        // A count has no cursor.
        if self.want != Want::Count {
            self.read.clear();
            self.read.extend_from_slice(&row.key);
        }
        let found = self.found(snapshot, documents, row)?;
        if found.is_some() && self.skip > 0 {
            self.skip -= 1;
            return Ok(None);
        }
        if found.is_some() {
            std::mem::swap(&mut self.read, &mut self.found);
        }
        Ok(found)
    }

    /// Whether nothing but ids is asked for.
    pub(super) fn needs_ids_alone(&self) -> bool {
        let asked = &self.asked;
        let own = asked.id_text("").map(|(number, _)| number);
        let tested = !asked.has_no_conditions() || !asked.absent.is_empty() || asked.selector.is_some();
        self.want != Want::Documents
            && !tested
            && asked.sort.is_empty()
            && asked.select.iter().all(|number| Some(*number) == own)
    }

    /// The hit of a document of which the id is asked for, unless it is skipped.
    pub(super) fn hit_of_id(&mut self, id: String) -> Result<Option<Hit>> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(None);
        }
        self.found.clear();
        self.found.extend_from_slice(id.as_bytes());
        let own = self.asked.id_text(&id);
        let value = |number: usize| own.as_ref().filter(|(own, _)| *own == number).map(|(_, text)| text.as_str());
        self.assembled(id, value).map(Some)
    }

    fn found(&mut self, snapshot: &dyn Snapshot, documents: TreeId, row: Row<'_>) -> Result<Option<Hit>> {
        let Some(index) = &self.index else {
            let head = stored::decode(&row.value, &row.key)?;
            if head.deleted || self.leaves_out(&row.key) {
                return Ok(None);
            }
            self.examined.documents += 1;
            let document = document_of(id_of(row.key)?, row.value)?;
            return self.tested(document, self.asked.sort.is_empty(), &self.document_tests);
        };
        let damaged = || damaged_row(&index.spec);
        let RowRead { values, id, texts, lacks_one, .. } =
            RowRead::of(index, &row.key, &row.value).ok_or_else(damaged)?;
        self.examined.keys += 1;
        if self.left_out.as_ref().is_some_and(|ids| id.starts_with(ids.as_str())) {
            return Ok(None);
        }
        let wants_nothing = self.key_tests.is_empty() && self.asked.sort.is_empty();
        if self.covering && self.want == Want::Count && wants_nothing {
            return Ok(Some(Hit::of(Named::Id(id.to_owned()))));
        }
        let mut tests = self.document_tests.as_slice();
        let by_keys = if self.key_tests.is_empty() {
            None
        } else {
            let mut ends = Vec::new();
            part_ends(&index.spec, values, &mut ends);
            self.keys_meet(&index.spec, values, &ends)
        };
        if by_keys == Some(false) {
            return Ok(None);
        }
        if by_keys == Some(true) && !self.covering {
            tests = tests.get(..self.beside_keys).unwrap_or(tests);
        } else if (self.covering || !self.key_tests.is_empty())
            && let Some(texts) =
                wanted_row_texts(&index.spec, values, texts, &|part| self.wants(part)).map_err(|Damaged| damaged())?
        {
            let own = self.asked.id_text(id);
            let value = |number: usize| {
                if let Some((_, id)) = own.as_ref().filter(|(own, _)| *own == number) {
                    return Some(id.as_str());
                }
                let part = self.parts.get(number).copied().flatten()?;
                texts.get(part).map(String::as_str).filter(|text| !text.is_empty())
            };
            let sorted = self.covering.then_some(&self.asked.sort).into_iter().flatten();
            if !self.meets(&self.key_tests, |number| value(number).into_iter())
                || sorted.into_iter().any(|(number, ..)| value(*number).is_none())
            {
                return Ok(None);
            }
            if self.covering {
                return self.assembled(id.to_owned(), value).map(Some);
            }
            tests = tests.get(..self.beside_keys).unwrap_or(tests);
        }
        // A way that gives the order is by paths that the document has.
        let in_order = self.asked.sort.is_empty() || !(self.sorts || lacks_one);
        let seen = self.repeats.as_mut().and_then(|repeats| repeats.is_new(id));
        if seen == Some(false) {
            return Ok(None);
        }
        let document = read_indexed(snapshot, documents, id)?;
        self.examined.documents += 1;
        if let (Some(repeats), None) = (&self.repeats, seen)
            && !repeats.is_first(index, values, &document)?
        {
            return Ok(None);
        }
        self.tested(document, in_order, tests)
    }

    /// A row of an index that has all that is asked for, if it meets the conditions.
    pub(super) fn covered<'r>(
        &mut self,
        snapshot: &dyn Snapshot,
        documents: TreeId,
        (index, ends): (&IndexEntry, &'r mut Vec<usize>),
        (key, value): (&'r [u8], &'r [u8]),
    ) -> Result<Option<Covered<'r>>> {
        let spec = &index.spec;
        part_ends(spec, key, ends);
        let values_len = ends.get(spec.parts.len().saturating_sub(1)).copied();
        let split = values_len.and_then(|length| key.split_at_checked(length));
        let (values, mut id) = split.ok_or_else(|| damaged_row(spec))?;
        let mut texts = value;
        if id.is_empty() {
            let row = RowRead::at_values(values, value).filter(|_| index.by_values).ok_or_else(|| damaged_row(spec))?;
            (id, texts) = (row.id.as_bytes(), row.texts);
        }
        self.examined.keys += 1;
        if self.leaves_out(id) {
            return Ok(None);
        }
        let row = Covered { id, values, ends, texts };
        let by_keys = if self.key_tests.is_empty() { Some(true) } else { self.keys_meet(spec, row.values, row.ends) };
        let met = if let Some(met) = by_keys {
            met
        } else {
            let id = row.id().ok_or_else(|| damaged_row(spec))?;
            let document = read_indexed(snapshot, documents, id)?;
            self.tested(document, false, &self.document_tests)?.is_some()
        };
        Ok(met.then_some(row))
    }

    /// Whether the text of a part is printed, tested or sorted by.
    fn wants(&self, part: usize) -> bool {
        let is_of = |path: usize| self.parts.get(path).copied().flatten() == Some(part);
        let tested = self.key_tests.iter().filter_map(|number| self.asked.path_of(*number));
        let sorted = self.asked.sort.iter().map(|(path, ..)| *path);
        self.asked.select.iter().copied().chain(sorted).chain(tested).any(is_of)
    }

    /// Whether the values of a row, which end there, meet the conditions that are tested on keys, if the keys alone
    /// tell it.
    fn keys_meet(&self, spec: &IndexSpec, values: &[u8], ends: &[usize]) -> Option<bool> {
        let mut scratch = Vec::new();
        let key = |path: usize| {
            let part = self.parts.get(path).copied().flatten()?;
            let key = value_within(values, ends, part)?;
            let ascending = spec.parts.get(part)?.direction == Direction::Forward;
            ascending.then_some(Some(key).filter(|key| part == 0 || !is_absent(key)))
        };
        for number in &self.key_tests {
            if !self.asked.meets_by_key(*number, key, spec.collation, &mut scratch)? {
                return Some(false);
            }
        }
        Some(true)
    }

    fn leaves_out(&self, id: &[u8]) -> bool {
        self.left_out.as_ref().is_some_and(|ids| id.starts_with(ids.as_bytes()))
    }

    /// Whether values meet the conditions of these numbers.
    fn meets<'v, I: Iterator<Item = &'v str>>(&self, tests: &[usize], values: impl Fn(usize) -> I) -> bool {
        let mut scratch = Vec::new();
        tests.iter().all(|number| self.asked.meets(*number, &values, &mut scratch))
    }

    /// The hit of a document that was read, if it meets the conditions of these numbers and what else is tested.
    /// `in_order`: the document is known to have the values of the order.
    fn tested(&self, document: Document<'_>, in_order: bool, tests: &[usize]) -> Result<Option<Hit>> {
        if in_order && self.wants_no_values(tests) {
            return Ok(Some(Self::whole(document)));
        }
        let own = self.asked.own_texts(&document.id, &document.rev);
        let values =
            if self.tests_selector_alone(tests) { Vec::new() } else { self.asked.values(&document.body, &own) };
        let at = |number: usize| values.get(number).map(Vec::as_slice).unwrap_or_default();
        let met = self.meets(tests, |number| at(number).iter().copied())
            && self.asked.absent.iter().all(|number| at(*number).is_empty())
            && self.asked.selector.as_ref().is_none_or(|selector| selector.selects(&document))
            && self.asked.sort.iter().all(|(number, ..)| !at(*number).is_empty());
        if !met {
            return Ok(None);
        }
        if self.want == Want::Documents && !self.sorts {
            return Ok(Some(Self::whole(document)));
        }
        let mut hit = self.assembled(document.id.to_string(), |number| at(number).first().copied())?;
        for (value, number) in hit.values.iter_mut().zip(&self.asked.select) {
            if self.asked.paths.paths().get(*number).is_some_and(Path::is_multiple) {
                *value = value.as_ref().map(|_| format!("[{}]", at(*number).join(",")));
            }
        }
        Ok(Some(hit))
    }

    /// Whether no value of a document is needed but those that the selector looks up for itself.
    fn tests_selector_alone(&self, tests: &[usize]) -> bool {
        tests.is_empty() && self.asked.absent.is_empty() && self.asked.sort.is_empty() && self.want != Want::Selected
    }

    /// Whether the way itself meets all conditions, so that the body is not parsed.
    fn wants_no_values(&self, tests: &[usize]) -> bool {
        let asked = &self.asked;
        let tested = !tests.is_empty() || !asked.absent.is_empty() || asked.selector.is_some();
        self.want == Want::Documents && !self.sorts && !tested
    }

    fn whole(document: Document<'_>) -> Hit {
        Hit::of(Named::Document(document.into_owned()))
    }

    fn assembled<'v>(&self, id: String, value: impl Fn(usize) -> Option<&'v str>) -> Result<Hit> {
        let values = match self.want {
            Want::Selected => self.asked.select.iter().map(|number| value(*number).map(str::to_owned)).collect(),
            Want::Documents | Want::Count => Vec::new(),
        };
        let mut order = Vec::new();
        if self.sorts {
            for (number, collation, direction) in &self.asked.sort {
                order_key(*collation, value(*number).unwrap_or("null"), *direction, &mut order)?;
            }
        }
        Ok(Hit { values, order, ..Hit::of(Named::Id(id)) })
    }
}
