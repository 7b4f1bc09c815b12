//! The documents that have a word, in the order of their ids, from the rows of an index of words. Rows are read in
//! batches, which begin small and grow as long as they are used, and only what is asked for is copied from them.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::engine::{Direction, KeyRange, Rows, Snapshot, TreeId};
use crate::kernel::query::row_reader::Examined;
use crate::kernel::rows::word_rows::{class_in, count_in, places_in, word_len};
use recension_values::error::{Error, Result};
use recension_values::limits::ID_SET_BYTES_MAX;

/// Rows of the first batch and after a leap, and most rows of a batch.
const BATCH_FIRST: usize = 32;
const BATCH_MAX: usize = 512;
/// Rows that are skipped one by one before the position is searched for.
const STEPS_MAX: usize = 24;

/// How the rows of words are read.
#[derive(Clone, Copy)]
pub(super) struct Reading<'s> {
    pub(super) snapshot: &'s dyn Snapshot,
    pub(super) tree: TreeId,
    /// In batches, with a range for each. Otherwise one row after the other: each row is a dependency of a transaction,
    /// or each range a round trip.
    pub(super) in_batches: bool,
}

/// The documents that have a word.
pub(super) enum Term<'s> {
    Word(WordRows<'s>),
    /// All words with the prefix, together.
    Begins {
        documents: Vec<(Vec<u8>, Together)>,
        at: usize,
    },
}

/// The places of a document's words with the prefix.
#[derive(Default)]
pub(super) struct Together {
    class: u8,
    places: Vec<u32>,
}

/// The rows of one word.
pub(super) struct WordRows<'s> {
    reading: Reading<'s>,
    range: KeyRange,
    prefix: Vec<u8>,
    /// If they are read one by one: those behind the batch.
    rows: Option<Rows<'s>>,
    /// Whether the values of rows are wanted.
    with_values: bool,
    batch: Batch,
    /// The row of the batch at which it stands.
    at: usize,
    /// Rows of the next batch.
    next: usize,
}

/// Ids and values of rows, one behind the other, and where each ends.
#[derive(Default)]
struct Batch {
    ids: Vec<u8>,
    values: Vec<u8>,
    ends: Vec<(usize, usize)>,
}

impl Batch {
    fn clear(&mut self) {
        self.ids.clear();
        self.values.clear();
        self.ends.clear();
    }

    fn push(&mut self, id: &[u8], value: &[u8]) {
        self.ids.extend_from_slice(id);
        self.values.extend_from_slice(value);
        self.ends.push((self.ids.len(), self.values.len()));
    }

    fn ends_before(&self, at: usize) -> (usize, usize) {
        at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default()
    }

    fn id(&self, at: usize) -> Option<&[u8]> {
        self.ids.get(self.ends_before(at).0..self.ends.get(at)?.0)
    }

    fn value(&self, at: usize) -> Option<&[u8]> {
        self.values.get(self.ends_before(at).1..self.ends.get(at)?.1)
    }

    /// The first row from `at` on whose id is not before `id`.
    fn find(&self, at: usize, id: &[u8]) -> usize {
        let is_before = |at: usize| self.id(at).is_some_and(|found| found < id);
        let (mut low, mut step) = (at, 1);
        while is_before(low + step - 1) {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if is_before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

impl WordRows<'_> {
    fn seek(&mut self, id: &[u8], examined: &mut Examined) -> Result<Option<&[u8]>> {
        let before = self.at;
        self.at = self.batch.find(self.at, id);
        if self.at >= self.batch.ends.len() {
            // A leap over much of a batch: what lies ahead may not be wanted either.
            let leaps = self.batch.ends.len().saturating_sub(before) > self.batch.ends.len() / 2;
            self.next = if leaps { BATCH_FIRST } else { (2 * self.next).min(BATCH_MAX) };
            self.at = 0;
            self.batch.clear();
            if self.reading.in_batches {
                self.fill(id)?;
            } else {
                self.step(id, examined)?;
            }
            examined.keys += self.batch.ends.len() as u64;
        }
        Ok(self.batch.id(self.at))
    }

    /// The rows from `id` on.
    fn from(&self, id: &[u8]) -> KeyRange {
        KeyRange { start: Bound::Included([&self.prefix, id].concat()), end: self.range.end.clone() }
    }

    fn fill(&mut self, id: &[u8]) -> Result<()> {
        let (range, wanted) = (self.from(id), self.next);
        let Reading { snapshot, tree, .. } = self.reading;
        let (batch, with_values, prefix_len) = (&mut self.batch, self.with_values, self.prefix.len());
        snapshot.each_row(tree, &range, Direction::Forward, &mut |key, value| {
            let value = if with_values { value } else { &[] };
            batch.push(key.get(prefix_len..).unwrap_or_default(), value);
            batch.ends.len() < wanted
        })?;
        Ok(())
    }

    /// Reads one row, the first from `id` on.
    fn step(&mut self, id: &[u8], examined: &mut Examined) -> Result<()> {
        let Reading { snapshot, tree, .. } = self.reading;
        let mut steps = 0;
        loop {
            if steps == STEPS_MAX || self.rows.is_none() {
                self.rows = Some(snapshot.range(tree, &self.from(id), Direction::Forward));
            }
            let Some(row) = self.rows.as_mut().and_then(Iterator::next).transpose()? else { return Ok(()) };
            steps += 1;
            let found = row.key.get(self.prefix.len()..).unwrap_or_default();
            if found >= id {
                self.batch.push(found, &row.value);
                return Ok(());
            }
            examined.keys += 1;
        }
    }

    fn value(&self) -> Option<&[u8]> {
        self.batch.value(self.at)
    }
}

impl<'s> Term<'s> {
    /// The documents with the word of a range, or with all words in it if it `begins` them; `None` if there are too
    /// many to hold.
    pub(super) fn of(
        reading: Reading<'s>,
        range: KeyRange,
        (begins, with_values): (bool, bool),
        examined: &mut Examined,
    ) -> Result<Option<Self>> {
        if !begins {
            let Bound::Included(prefix) = range.start.clone() else { return Err(damaged()) };
            let batch = Batch::default();
            let rows = WordRows { reading, range, prefix, rows: None, with_values, batch, at: 0, next: BATCH_FIRST };
            return Ok(Some(Term::Word(rows)));
        }
        let (mut documents, mut bytes) = (BTreeMap::<Vec<u8>, Together>::new(), 0);
        for row in reading.snapshot.range(reading.tree, &range, Direction::Forward) {
            let row = row?;
            examined.keys += 1;
            let id = word_len(&row.key).and_then(|length| row.key.get(length..)).ok_or_else(damaged)?;
            let places = places_in(&row.value).ok_or_else(damaged)?;
            bytes += id.len() + size_of::<Together>() + places.len() * 4;
            if bytes > ID_SET_BYTES_MAX {
                return Ok(None);
            }
            let together = documents.entry(id.to_vec()).or_default();
            together.class = class_in(&row.value).ok_or_else(damaged)?;
            together.places.extend(places);
        }
        let mut documents: Vec<_> = documents.into_iter().collect();
        for (_, together) in &mut documents {
            together.places.sort_unstable();
        }
        Ok(Some(Term::Begins { documents, at: 0 }))
    }

    /// Moves on to an id, or to the first one behind it, and answers it.
    pub(super) fn seek(&mut self, id: &[u8], examined: &mut Examined) -> Result<Option<&[u8]>> {
        match self {
            Term::Begins { documents, at } => {
                *at += documents[*at..].partition_point(|(known, _)| known.as_slice() < id);
                Ok(documents.get(*at).map(|(id, _)| id.as_slice()))
            }
            Term::Word(rows) => rows.seek(id, examined),
        }
    }

    /// The length class of the document at which it stands.
    pub(super) fn class(&self) -> Option<u8> {
        match self {
            Term::Word(rows) => class_in(rows.value()?),
            Term::Begins { documents, at } => documents.get(*at).map(|(_, together)| together.class),
        }
    }

    /// How often the word stands there.
    pub(super) fn count(&self) -> usize {
        match self {
            Term::Word(rows) => rows.value().map_or(0, count_in),
            Term::Begins { documents, at } => documents.get(*at).map_or(0, |(_, together)| together.places.len()),
        }
    }

    /// Where it stands there.
    pub(super) fn places(&self) -> Option<Vec<u32>> {
        match self {
            Term::Word(rows) => places_in(rows.value()?),
            Term::Begins { documents, at } => documents.get(*at).map(|(_, together)| together.places.clone()),
        }
    }

    /// How many documents have it, in the rows of `range`.
    pub(super) fn having(&self, reading: Reading<'_>, range: &KeyRange, examined: &mut Examined) -> Result<u64> {
        if let Term::Begins { documents, .. } = self {
            return Ok(documents.len() as u64);
        }
        let mut rows = 0;
        reading.snapshot.each_row(reading.tree, range, Direction::Forward, &mut |_, _| {
            rows += 1;
            true
        })?;
        examined.keys += rows;
        Ok(rows)
    }
}

pub(super) fn damaged() -> Error {
    Error::DamagedRow {
        what: "a row of an index of words".to_owned(),
        why: "it is not a word, an id and places; drop the index and create it again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_finds_the_first_row_that_is_not_before_an_id() {
        let mut batch = Batch::default();
        assert_eq!(batch.find(0, b"a"), 0);
        (0..100_u8).for_each(|n| batch.push(&[2 * n + 1], &[n]));
        for at in [0, 1, 50, 99, 100] {
            for id in 0..=255_u8 {
                let expected = (at..100).find(|row| 2 * row + 1 >= usize::from(id)).unwrap_or(100);
                assert_eq!(batch.find(at, &[id]), expected, "{at} {id}");
            }
        }
        assert_eq!((batch.id(7), batch.value(7), batch.id(100)), (Some(&[15][..]), Some(&[7][..]), None));
    }
}
