//! Deleting expired keys, in the order in which they expired. No other keys' rows are read.

use std::ops::Bound;

use crate::engine::{Direction, Durability, KeyRange, Timestamp};
use crate::faces::keys::Keys;
use crate::faces::store::Store;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::CATALOGUE;
use crate::kernel::rows::key_rows::{GIVEN_UP, SPACES_PREFIX, split_expiring};
use crate::kernel::write::attempt::{Attempt, retry};
use crate::kernel::write::keys::KeyWriter;
use recension_values::error::{Error, Result};
use recension_values::limits::{EXPIRED_AT_ONCE, SWEPT_AGAIN_MICROS};

impl Store {
    /// The namespaces of keys, in the order of their names.
    pub fn key_namespaces(&self) -> Result<Vec<String>> {
        let snapshot = self.engine().snapshot()?;
        let rows = snapshot.range(CATALOGUE, &KeyRange::prefix(SPACES_PREFIX), Direction::Forward);
        rows.map(|row| Ok(String::from_utf8_lossy(&row?.key[SPACES_PREFIX.len()..]).into_owned())).collect()
    }

    pub(crate) fn sweep_keys(&self) -> Result<u64> {
        let mut swept = 0;
        for name in self.key_namespaces()? {
            swept += self.keys(&name)?.sweep()?;
        }
        Ok(swept)
    }
}

impl Keys {
    /// Deletes expired keys, a thousand a commit; returns how many. It reads only their rows.
    pub fn sweep(&self) -> Result<u64> {
        let now = self.store.moment();
        let mut swept = 0;
        loop {
            let (taken, is_last) = self.sweep_step(now)?;
            swept += taken;
            if is_last {
                // A writer that has read the clock before may still commit a key with an earlier expiry: the next sweep
                // finds it.
                self.space.set_swept(Timestamp(now.0.saturating_sub(SWEPT_AGAIN_MICROS)));
                return Ok(swept);
            }
        }
    }

    fn sweep_step(&self, now: Timestamp) -> Result<(u64, bool)> {
        retry(|| {
            let view = Overlay::new(self.store.engine().snapshot()?);
            let Some(trees) = self.space.trees(view.base())? else { return Ok(Attempt::Done((0, true))) };
            let mut range = KeyRange::between(self.space.swept().0.to_be_bytes(), now.0.to_be_bytes());
            range.end =
                now.0.checked_add(1).map_or(Bound::Unbounded, |end| Bound::Excluded(end.to_be_bytes().to_vec()));
            let (mut taken, mut rows) = (0, 0);
            let writer = KeyWriter { view: &view, trees, now };
            for row in view.base().range(trees.expiring, &range, Direction::Forward) {
                let row = row?;
                rows += 1;
                let (expires, key) = split_expiring(&row.key).ok_or_else(|| Error::DamagedRow {
                    what: format!("what expires of the keys {}", self.space.name),
                    why: "it has no moment",
                })?;
                if row.value.first() == Some(&GIVEN_UP) {
                    // Their tree was made before them.
                    let Some(tree) = self.space.rows(view.base())? else { continue };
                    rows += writer.sweep_rows(tree, expires, key, EXPIRED_AT_ONCE)?;
                } else {
                    taken += u64::from(writer.sweep(expires, key)?);
                }
                if rows >= EXPIRED_AT_ONCE {
                    break;
                }
            }
            let is_last = rows < EXPIRED_AT_ONCE;
            if rows == 0 {
                return Ok(Attempt::Done((0, true)));
            }
            let mut batch = view.batch();
            // If the deletion is lost with the process, the next sweep repeats it.
            batch.durability(Durability::Memory);
            Ok(self.store.try_commit(batch)?.map(|_| (taken, is_last)))
        })
    }
}
