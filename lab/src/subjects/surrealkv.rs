//! `SurrealKV`: a log-structured merge tree with versions of its own. By default a commit does not wait for a sync;
//! here each asks for `Durability::Immediate`. Commits are futures, which a runtime of two threads runs.

use std::path::Path;

use surrealkv::{
    CompactRangeOptions, Durability, HistoryOptions, LSMIterator, Mode, Transaction, Tree as Lsm, TreeBuilder,
    WriteOptions,
};
use tokio::runtime::Runtime;

use super::{OpenOptions, Reader, RowToWrite, SeeRow, SeeValue, Settled, Subject, Tree};
use crate::error::{LabError, Result};

pub(super) fn open(dir: &Path, options: &OpenOptions) -> Result<Box<dyn Subject>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(LabError::io("starting a runtime for the subject"))?;
    let lsm = {
        let _entered = runtime.enter();
        TreeBuilder::new()
            .with_path(dir.to_path_buf())
            .with_block_cache_capacity(options.cache_bytes)
            .with_versioning(options.history, 0)
            .build()
            .map_err(LabError::subject("opening the database"))?
    };
    Ok(Box::new(Surreal { lsm, runtime, history: options.history, cache_bytes: options.cache_bytes }))
}

struct Surreal {
    lsm: Lsm,
    runtime: Runtime,
    history: bool,
    cache_bytes: u64,
}

impl Subject for Surreal {
    fn commit(&self, number: u64, rows: &[RowToWrite]) -> Result<u64> {
        let error = LabError::subject("a commit");
        let commit = || -> surrealkv::Result<()> {
            let mut transaction = self.lsm.begin_with_mode(Mode::WriteOnly)?.with_durability(Durability::Immediate);
            for row in rows {
                let key = row.key.as_slice();
                match &row.value {
                    Some(value) if self.history => transaction.set_at(key, value.as_slice(), number)?,
                    Some(value) => transaction.set(key, value.as_slice())?,
                    None if self.history => {
                        let at = WriteOptions::default().with_timestamp(Some(number));
                        transaction.soft_delete_with_options(key, &at)?;
                    }
                    None => transaction.delete(key)?,
                }
            }
            self.runtime.block_on(transaction.commit())
        };
        commit().map_err(error)?;
        Ok(number)
    }
    fn keeps_versions(&self) -> bool {
        self.history
    }
    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(SurrealReader(self)))
    }
    fn settle(&self) -> Result<Settled> {
        let _entered = self.runtime.enter();
        let options = CompactRangeOptions { flush_memtable: true, ..CompactRangeOptions::default() };
        self.lsm.compact_range(None, None, &options).map_err(LabError::subject("a compaction"))?;
        Ok(Settled { how: "memtable flushed, compact_range of all".to_owned(), complete: true })
    }
    fn settings(&self) -> String {
        let versions = if self.history { "; versioned" } else { "" };
        format!("defaults; Durability::Immediate; cache of {} MiB{versions}", self.cache_bytes >> 20)
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.runtime.block_on(self.lsm.close()).map_err(LabError::subject("closing"))
    }
}

struct SurrealReader<'s>(&'s Surreal);

impl SurrealReader<'_> {
    fn begin(&self) -> Result<Transaction> {
        self.0.lsm.begin_with_mode(Mode::ReadOnly).map_err(LabError::subject("a snapshot"))
    }
}

impl Reader for SurrealReader<'_> {
    fn get(&mut self, _: Tree, key: &[u8], see: SeeValue<'_>) -> Result<bool> {
        let found = self.begin()?.get(key).map_err(LabError::subject("a get"))?;
        Ok(found.map(|value| see(&value)).is_some())
    }

    fn range(&mut self, _: Tree, start: &[u8], reverse: bool, see: SeeRow<'_>) -> Result<()> {
        let transaction = self.begin()?;
        let mut range = || -> surrealkv::Result<()> {
            if reverse {
                let mut rows = transaction.scan(..=start)?;
                let mut more = rows.seek_last()?;
                while more && see(rows.key().user_key(), &rows.value_ref()?) {
                    more = rows.prev()?;
                }
            } else {
                let mut rows = transaction.scan(start..)?;
                let mut more = rows.seek_first()?;
                while more && see(rows.key().user_key(), &rows.value_ref()?) {
                    more = rows.next()?;
                }
            }
            Ok(())
        };
        range().map_err(LabError::subject("a range"))
    }

    fn get_as_of(&mut self, key: &[u8], at: u64, see: SeeValue<'_>) -> Result<bool> {
        let found = self.begin()?.get_at(key, at).map_err(LabError::subject("a get as of a time"))?;
        Ok(found.map(|value| see(&value)).is_some())
    }

    fn range_as_of(&mut self, start: &[u8], at: u64, see: SeeRow<'_>) -> Result<()> {
        let transaction = self.begin()?;
        let mut range = || -> surrealkv::Result<()> {
            let options = HistoryOptions::new().with_ts_range(1, at);
            let mut rows = transaction.history_with_options(start, [0xff; 32].as_slice(), &options)?;
            let mut shown: Vec<u8> = Vec::new();
            let mut more = rows.seek_first()?;
            while more {
                let key = rows.key();
                // The newest version of each key in the range of times comes first.
                if shown != key.user_key() {
                    shown.clear();
                    shown.extend_from_slice(key.user_key());
                    if !see(key.user_key(), &rows.value_ref()?) {
                        break;
                    }
                }
                more = rows.next()?;
            }
            Ok(())
        };
        range().map_err(LabError::subject("a range as of a time"))
    }
}
