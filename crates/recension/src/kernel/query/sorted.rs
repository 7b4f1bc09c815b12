//! Sorting the documents of a way that does not give the wanted order, in bounded memory and beyond it on the disk. A
//! query with a limit keeps no more documents than its page.

use std::sync::Arc;

use crate::engine::{Direction, Snapshot};
use crate::kernel::query::hit::{Hit, Named};
use crate::kernel::query::spill::{Merged, Pair, Spill};
use recension_values::byte_reader::ByteReader;
use recension_values::collation::Collation;
use recension_values::cursor::Place;
use recension_values::error::{Error, Result};
use recension_values::query::Query;

/// Appends the key of a value. The bytes of keys sort in this direction.
pub(crate) fn order_key(collation: Collation, value: &str, direction: Direction, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    collation.encode_value(value, out)?;
    if direction == Direction::Backward {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    Ok(())
}

/// Gathers hits and gives them back in order.
pub(crate) struct Sorted {
    spill: Spill,
    /// Only documents behind this key are wanted.
    after: Option<Vec<u8>>,
    /// The direction of the ids of documents whose values are equal.
    ids: Direction,
    bytes_max: usize,
    path: String,
}

/// Hits in order.
pub(crate) struct SortedHits(Merged);

impl Sorted {
    pub(crate) fn new(snapshot: &Arc<dyn Snapshot>, query: &Query, after: Option<(Vec<u8>, String)>) -> Self {
        let paths: Vec<String> = query.sort.iter().map(|(path, _)| path.to_string()).collect();
        let wanted = query.limit.map(|limit| limit.saturating_add(query.skip));
        let ids = query.sort.last().map_or(Direction::Forward, |(_, direction)| *direction);
        Sorted {
            spill: Spill::new(snapshot, query.sort_bytes_max, wanted),
            after: after.map(|(order, id)| with_id(order, &id, ids)),
            ids,
            bytes_max: query.sort_bytes_max,
            path: paths.join(", "),
        }
    }

    /// # Errors
    /// [`Error::SortTooLarge`].
    pub(crate) fn push(&mut self, hit: Hit) -> Result<()> {
        let Hit { named, values, order, .. } = hit;
        let id = named.id();
        let order_len = order.len() as u32;
        let key = with_id(order, id, self.ids);
        if self.after.as_ref().is_some_and(|after| key <= *after) || !self.spill.wants(&key) {
            return Ok(());
        }
        let mut payload = order_len.to_be_bytes().to_vec();
        push_text(Some(id), &mut payload);
        for value in &values {
            push_text(value.as_deref(), &mut payload);
        }
        let too_large = || Error::SortTooLarge { path: self.path.clone(), max: self.bytes_max };
        self.spill.push((key, payload), too_large)
    }

    pub(crate) fn finish(self) -> Result<SortedHits> {
        self.spill.finish().map(SortedHits)
    }
}

impl SortedHits {
    pub(crate) fn next_hit(&mut self) -> Option<Result<Hit>> {
        Some(self.0.next()?.and_then(hit))
    }
}

/// Encoded values have any length, and none is a prefix of another. The id after them orders equal ones.
fn with_id(mut order: Vec<u8>, id: &str, direction: Direction) -> Vec<u8> {
    match direction {
        Direction::Forward => order.extend(id.as_bytes()),
        Direction::Backward => {
            // In this direction, a longer id comes before its own prefix.
            for byte in id.bytes() {
                order.push(!byte);
                order.extend((byte == 0).then_some(0));
            }
            order.extend([0xff, 0xff]);
        }
    }
    order
}

fn push_text(text: Option<&str>, out: &mut Vec<u8>) {
    out.push(u8::from(text.is_some()));
    out.extend((text.map_or(0, str::len) as u32).to_be_bytes());
    out.extend(text.unwrap_or_default().as_bytes());
}

/// Whether there is a text, and it.
fn take_text(reader: &mut ByteReader<'_>) -> Option<(bool, String)> {
    let there = reader.byte()? == 1;
    let length = reader.u32()? as usize;
    Some((there, String::from_utf8(reader.take(length)?.to_vec()).ok()?))
}

fn hit((mut order, payload): Pair) -> Result<Hit> {
    let damaged = || Error::DamagedRow {
        what: "the temporary file of a sort".to_owned(),
        why: "it is not what was written to it; ask again",
    };
    let mut reader = ByteReader::new(&payload);
    let length = reader.u32().ok_or_else(damaged)? as usize;
    let (_, id) = take_text(&mut reader).ok_or_else(damaged)?;
    let mut values = Vec::new();
    while !reader.is_empty() {
        let (there, text) = take_text(&mut reader).ok_or_else(damaged)?;
        values.push(there.then_some(text));
    }
    order.truncate(length);
    let place = Some(Place::Sorted(order, id.clone()));
    Ok(Hit { place, named: Named::Id(id), values, order: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_equal_values_are_in_the_order_asked_for() {
        let ids = ["", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "ab", "b", "é"];
        for (number, id) in ids.iter().enumerate() {
            for other in &ids[number + 1..] {
                let key = |id, direction| with_id(vec![7], id, direction);
                assert!(key(id, Direction::Forward) < key(other, Direction::Forward), "{id:?} {other:?}");
                assert!(key(id, Direction::Backward) > key(other, Direction::Backward), "{id:?} {other:?}");
            }
        }
    }
}
