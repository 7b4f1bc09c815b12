//! nebari's versioned tree. It numbers every written row (a sequence), and each number refers to the previous one of
//! the same key. A read as of a commit therefore goes back from the newest to the first that is not newer than the
//! commit's last number.

use nebari::io::fs::StdFile;
use nebari::tree::{KeySequence, Root, ScanEvaluation, Versioned};
use nebari::{AbortError, ArcBytes, Roots};

use super::{Rows, get, range, write};
use crate::error::{LabError, Result};
use crate::subjects::{Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};

const TREE: &str = "versions";
/// Number of keys whose newest sequences one scan looks up, in a range as of a commit.
const PIECE: usize = 128;

/// A scan that nobody ends before its end.
type Whole = std::result::Result<(), AbortError>;

pub(super) fn open(roots: Roots<StdFile>) -> Result<Box<dyn Subject>> {
    let rows = roots.tree(Versioned::tree(TREE)).map_err(LabError::subject("opening the store"))?;
    Ok(Box::new(Versions { roots, rows }))
}

struct Versions {
    roots: Roots<StdFile>,
    rows: Rows<Versioned>,
}

impl Subject for Versions {
    fn commit(&self, _: u64, rows: &[RowToWrite]) -> Result<u64> {
        let commit = || -> std::result::Result<u64, nebari::Error> {
            let transaction = self.roots.transaction(&[Versioned::tree(TREE)])?;
            let mut last = 0;
            if let Some(mut tree) = transaction.tree::<Versioned>(0) {
                for row in rows {
                    write(&mut tree, row)?;
                }
                last = tree.current_sequence_id();
            }
            transaction.commit()?;
            Ok(last)
        };
        commit().map_err(LabError::subject("a commit"))
    }
    fn keeps_versions(&self) -> bool {
        true
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(VersionsReader(self.rows.clone())))
    }
    fn settle(&self) -> Result<Settled> {
        Err(LabError::Unavailable { reason: "its compaction of a versioned tree drops the older versions".to_owned() })
    }
    fn settings(&self) -> String {
        "defaults, a versioned tree, one transaction a commit; a cache as large as everybody's".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct VersionsReader(Rows<Versioned>);

impl VersionsReader {
    /// Keys from `start` on with the sequences of their newest versions, also of deleted ones; at most this many.
    fn newest(&self, start: &[u8], keys: usize) -> Result<Vec<(ArcBytes<'static>, u64)>> {
        let mut found = Vec::new();
        let scanned: Whole = self.0.scan(
            &(start..),
            true,
            |_, _, _| ScanEvaluation::ReadData,
            |key, index| {
                if found.len() == keys {
                    return ScanEvaluation::Stop;
                }
                found.push((key.clone(), index.sequence_id));
                ScanEvaluation::Skip
            },
            |_, _, _| Ok(()),
        );
        scanned.map_err(LabError::subject("finding the newest version"))?;
        Ok(found)
    }

    /// Shows the version at a sequence, or the first one before it that is not newer than `at`.
    fn version(&mut self, mut sequence: u64, at: u64, see: SeeValue<'_>) -> Result<bool> {
        loop {
            let (mut before, mut found) = (None, false);
            let scanned: Whole = self.0.scan_sequences(
                sequence..=sequence,
                true,
                &mut |version: KeySequence| {
                    if version.sequence <= at {
                        return ScanEvaluation::ReadData;
                    }
                    before = version.last_sequence;
                    ScanEvaluation::Skip
                },
                &mut |_, value: ArcBytes<'static>| {
                    found = true;
                    see(&value);
                    Ok(())
                },
            );
            scanned.map_err(LabError::subject("a version"))?;
            match before {
                Some(older) => sequence = older,
                None => return Ok(found),
            }
        }
    }
}

impl Reader for VersionsReader {
    fn get(&mut self, _: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        get(&self.0, key, see)
    }
    fn range(&mut self, _: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        range(&self.0, start, reverse, see)
    }
    fn get_as_of(&mut self, key: &[u8], at: u64, see: SeeValue<'_>) -> Result<bool> {
        match self.newest(key, 1)?.first() {
            Some((found, sequence)) if found.as_slice() == key => self.version(*sequence, at, see),
            _ => Ok(false),
        }
    }
    fn range_as_of(&mut self, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
        let mut from = start.to_vec();
        loop {
            let piece = self.newest(&from, PIECE)?;
            for (key, sequence) in &piece {
                let mut more = true;
                self.version(*sequence, at, &mut |value| more = see(key, value))?;
                if !more {
                    return Ok(());
                }
            }
            let Some((last, _)) = piece.last() else { return Ok(()) };
            from.clear();
            from.extend_from_slice(last);
            from.push(0); // the next key after it
        }
    }
}
