//! The store as of one commit, read through its owner. A snapshot is a number: the owner holds nothing for it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;
use recension_engine::{
    Direction, EngineError, KeyRange, Keys, Result, Row, Rows, Seq, Snapshot, Timestamp, TreeId, Value, Version,
    Versions, Wanted,
};

use crate::answer::{Answer, End, Found, FoundRow, FoundVersion, Piece, answered};
use crate::bytes::malformed;
use crate::limits::{AHEAD_BYTES_MAX, BEGINNING_BYTES_MAX, BEGINNINGS_MAX};
use crate::link::Link;
use crate::pieces::Pieces;
use crate::request::Request;

/// Fetched data: rows by their keys, and the first pieces of recently read ranges.
#[derive(Default)]
struct Ahead {
    rows: BTreeMap<(TreeId, Vec<u8>), Found>,
    bytes: usize,
    ranges: Vec<Beginning>,
}

/// The first piece of a range. A query reads the same range again after it was planned, and then finds it here.
struct Beginning {
    tree: TreeId,
    range: KeyRange,
    direction: Direction,
    piece: Piece<FoundRow>,
}

/// A snapshot of a remote store.
pub(crate) struct RemoteSnapshot {
    link: Arc<Link>,
    seq: Seq,
    ahead: Mutex<Ahead>,
}

impl RemoteSnapshot {
    pub(crate) fn new(link: Arc<Link>, seq: Seq) -> Self {
        RemoteSnapshot { link, seq, ahead: Mutex::default() }
    }

    #[allow(clippy::option_option)] // not fetched; fetched and absent
    fn fetched(&self, tree: TreeId, key: &[u8]) -> Option<Found> {
        let ahead = self.ahead.lock();
        if ahead.rows.is_empty() { None } else { ahead.rows.get(&(tree, key.to_vec())).cloned() }
    }

    /// Keeps fetched rows for later reads.
    pub(crate) fn keep(&self, rows: impl Iterator<Item = ((TreeId, Vec<u8>), Found)>) {
        let mut ahead = self.ahead.lock();
        if ahead.bytes >= AHEAD_BYTES_MAX {
            // Most of them have been read. The others are fetched again.
            ahead.rows.clear();
            ahead.bytes = 0;
        }
        for (place, found) in rows {
            ahead.bytes += place.1.len() + found.as_ref().map_or(0, |(_, bytes)| bytes.len()) + 64;
            ahead.rows.insert(place, found);
        }
    }

    /// Fetches the values at keys, in as many round trips as pieces.
    fn fetch(&self, keys: &[(TreeId, Vec<u8>)], mut take: impl FnMut(Vec<Found>) -> bool) -> Result<()> {
        let mut left = keys;
        while !left.is_empty() {
            let values = answered!(self.link.ask(Request::Get { at: self.seq, keys: left.to_vec() }), Values)?;
            left = left.get(values.len()..).filter(|rest| rest.len() < left.len()).ok_or_else(too_few)?;
            if !take(values) {
                break;
            }
        }
        Ok(())
    }
}

impl RemoteSnapshot {
    fn begun(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Option<Piece<FoundRow>> {
        let ahead = self.ahead.lock();
        let same = |begun: &&Beginning| begun.tree == tree && begun.direction == direction && begun.range == *range;
        ahead.ranges.iter().find(same).map(|begun| begun.piece.clone())
    }

    /// Keeps the first piece of a range, if it is short and did not fail.
    fn begin(&self, tree: TreeId, range: &KeyRange, direction: Direction, piece: &Piece<FoundRow>) {
        let bytes: usize = piece.items.iter().map(|row| row.key.len() + row.value.len()).sum();
        if bytes > BEGINNING_BYTES_MAX || matches!(piece.end, End::Failed(_)) {
            return;
        }
        let mut ahead = self.ahead.lock();
        if ahead.ranges.len() >= BEGINNINGS_MAX {
            ahead.ranges.remove(0);
        }
        ahead.ranges.push(Beginning { tree, range: range.clone(), direction, piece: piece.clone() });
    }
}

fn too_few() -> EngineError {
    malformed("an answer with more values than keys, or none")
}

impl Snapshot for RemoteSnapshot {
    fn seq(&self) -> Seq {
        self.seq
    }

    fn afresh(&self) -> Option<Arc<dyn Snapshot>> {
        Some(Arc::new(RemoteSnapshot::new(Arc::clone(&self.link), self.seq)))
    }

    fn time(&self) -> Result<Timestamp> {
        answered!(self.link.ask(Request::Time { at: self.seq }), Time)
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        let found = match self.fetched(tree, key) {
            Some(found) => found,
            None => {
                let keys = vec![(tree, key.to_vec())];
                let mut values = answered!(self.link.ask(Request::Get { at: self.seq, keys }), Values)?;
                let found = values.pop().ok_or_else(|| malformed("a value is missing"))?;
                // A transaction reads a row twice if it writes it.
                self.keep(std::iter::once(((tree, key.to_vec()), found.clone())));
                found
            }
        };
        Ok(found.map(|(seq, bytes)| Value { seq, bytes: Cow::Owned(bytes) }))
    }

    fn get_many(&self, keys: &[(TreeId, &[u8])]) -> Result<Vec<Option<Value<'_>>>> {
        let keys: Vec<_> = keys.iter().map(|(tree, key)| (*tree, key.to_vec())).collect();
        let mut found = Vec::with_capacity(keys.len());
        self.fetch(&keys, |values| {
            found.extend(
                values.into_iter().map(|value| value.map(|(seq, bytes)| Value { seq, bytes: Cow::Owned(bytes) })),
            );
            true
        })?;
        Ok(found)
    }

    fn is_distant(&self) -> bool {
        self.link.own().is_none()
    }

    fn prefetch(&self, tree: TreeId, keys: &[&[u8]]) {
        let keys: Vec<_> = keys.iter().map(|key| (tree, *key)).collect();
        self.announce(&keys);
    }

    fn announce(&self, keys: &[(TreeId, &[u8])]) {
        let wanted = |(tree, key): &(TreeId, &[u8])| (*tree, key.to_vec());
        let mut keys: Vec<_> = keys.iter().map(wanted).collect();
        {
            let ahead = self.ahead.lock();
            keys.retain(|place| !ahead.rows.contains_key(place));
        }
        // One is fetched as well when it is asked for.
        if keys.len() < 2 {
            return;
        }
        let (mut next, mut bytes) = (keys.iter(), 0);
        // Rows without an answer are read when they are needed, and the read then reports the error.
        let _ = self.fetch(&keys, |values| {
            bytes += values.iter().flatten().map(|(_, bytes)| bytes.len()).sum::<usize>();
            self.keep(next.by_ref().cloned().zip(values));
            bytes < AHEAD_BYTES_MAX
        });
    }

    fn version(&self, tree: TreeId, key: &[u8]) -> Result<Option<Seq>> {
        match self.fetched(tree, key) {
            Some(found) => Ok(found.map(|(seq, _)| seq)),
            None => {
                answered!(self.link.ask(Request::Version { at: self.seq, tree, key: key.to_vec() }), OptionalSeq)
            }
        }
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        self.range_of(tree, range, direction, Wanted::default())
    }

    fn range_of(&self, tree: TreeId, range: &KeyRange, direction: Direction, wanted: Wanted) -> Rows<'_> {
        let request =
            Request::Range { at: self.seq, tree, range: range.clone(), direction, rows: 0, values: wanted.values };
        let begun = self.begun(tree, range, direction);
        let keep = begun.is_none() && wanted.values;
        let pieces = match begun {
            Some(piece) => Pieces::begun(&self.link, request, piece),
            None => Pieces::of(&self.link, request, wanted.rows),
        };
        let place = keep.then(|| (tree, range.clone(), direction));
        let rows = pieces.seeing(move |piece| {
            if let Some((tree, range, direction)) = &place {
                self.begin(*tree, range, *direction, piece);
            }
        });
        Box::new(rows.map(|row| {
            let FoundRow { key, seq, value } = row?;
            Ok(Row { key: Cow::Owned(key), value: Value { seq, bytes: Cow::Owned(value) } })
        }))
    }

    fn first_key(&self, tree: TreeId, prefix: &[u8], key: &mut Vec<u8>) -> Result<bool> {
        let request = Request::FirstKey { at: self.seq, tree, prefix: prefix.to_vec() };
        let found = answered!(self.link.ask(request), OptionalKey)?;
        key.clear();
        key.extend_from_slice(found.as_deref().unwrap_or_default());
        Ok(found.is_some())
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        let request = Request::Keys { at: self.seq, tree, range: range.clone(), rows: 0 };
        Box::new(Pieces::<Vec<u8>>::new(&self.link, request))
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        let request = Request::Versions { at: self.seq, tree, key: key.to_vec(), before: None, rows: 0 };
        Box::new(Pieces::new(&self.link, request).map(|version| {
            let FoundVersion { seq, time, value } = version?;
            Ok(Version { seq, time, value: value.map(Cow::Owned) })
        }))
    }
}
