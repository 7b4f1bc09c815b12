//! Founding a log with an existing store: the store's backup becomes the log's first snapshot, and the first record has
//! the commit of the backup. The record is written last, so a log that was founded halfway is an empty one.

use std::path::Path;
use std::sync::Arc;

use recension_engine::{Engine as _, EngineError, Result, Seq, Timestamp};
use recension_native::disk::FsDisk;
use recension_native::{NativeEngine, NativeOptions};

use crate::engine::Head;
use crate::record::{self, Chain, Header, Id, Kind};
use crate::{Appended, LogError, Position, SharedLog, snapshot};

/// Founds `log`, which must be empty, with the native store in the folder `store`, which no process may have open.
/// Answers the newest commit.
///
/// # Errors
/// [`EngineError::NotAStore`] if the log is not empty; [`EngineError::Unknown`] if it is not known whether it was
/// founded.
pub fn found(log: &dyn SharedLog, store: &Path) -> Result<Seq> {
    let taken = || EngineError::NotAStore {
        path: log.profile().place,
        found: "there is a store already; name another log".to_owned(),
    };
    if log.tail(Position(0))? > Position::FIRST {
        return Err(taken());
    }
    let (seq, time) = newest(store)?;
    let header = Header {
        kind: Kind::Genesis,
        log: Id::random()?,
        writer: Id::random()?,
        number: 1,
        position: Position::FIRST,
        seq_before: seq,
        time,
        chain_before: Chain::default(),
    };
    let bytes = record::encode(&header, b"");
    let head = Head { log: header.log, position: Position::FIRST, chain: record::chain_of(&bytes), seq, time };
    snapshot::write(log, store, &head)?;
    match log.append(Position::FIRST, &bytes) {
        Ok(Appended::Written) => Ok(seq),
        Ok(Appended::Taken) => Err(taken()),
        Err(LogError::Unknown(why)) => match log.read(Position::FIRST, 1).map(|records| records.into_iter().next()) {
            Ok(Some((_, found))) if found == bytes => Ok(seq),
            Ok(Some(_)) => Err(taken()),
            Ok(None) | Err(_) => Err(EngineError::Unknown { why }),
        },
        Err(error) => Err(error.into()),
    }
}

/// The same, but an earlier call may have founded the log with this very store, which has not changed since. Then there
/// is nothing left to do.
///
/// # Errors
/// Those of [`found`].
pub fn found_again(log: &dyn SharedLog, store: &Path) -> Result<Seq> {
    if let Ok(records) = log.read(Position::FIRST, 1)
        && let Some((position, bytes)) = records.into_iter().next()
    {
        let (header, _) = record::decode(position, &bytes)?;
        let (seq, time) = newest(store)?;
        if (header.kind, header.seq_before, header.time) == (Kind::Genesis, seq, time) {
            return Ok(seq);
        }
    }
    found(log, store)
}

/// A store's newest commit.
fn newest(store: &Path) -> Result<(Seq, Timestamp)> {
    let options = NativeOptions { create: false, ..NativeOptions::default() };
    let engine = NativeEngine::open(Arc::new(FsDisk::new(store)), options)?;
    let newest = (engine.head(), engine.snapshot()?.time()?);
    engine.close()?;
    Ok(newest)
}
