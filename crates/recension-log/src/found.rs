//! Beginning a log with a store that there is: its backup becomes the log's first snapshot, and the first record says
//! as of which commit. The record is written last, so a log that was begun halfway is an empty one. The snapshot is
//! copied while the store takes commits, and brought up to date when it takes none.

use std::path::Path;

use recension_engine::{CommitInfo, EngineError, Result, Seq};

use crate::engine::Head;
use crate::record::{self, Chain, Header, Id, Kind};
use crate::snapshot::Upload;
use crate::{Appended, LogError, Position, SharedLog};

/// A log that is about to begin with a store.
pub struct Founding<'l> {
    log: &'l dyn SharedLog,
    upload: Upload,
}

impl<'l> Founding<'l> {
    /// Nothing is written yet.
    pub fn new(log: &'l dyn SharedLog) -> Result<Self> {
        Ok(Founding { log, upload: Upload::new()? })
    }

    /// Copies what is new in the native store in the folder `store`, which nobody may have open. Returns how many bytes
    /// that was.
    pub fn copy(&mut self, store: &Path) -> Result<u64> {
        self.upload.bring_up_to_date(self.log, store)
    }

    /// Begins the log, which must be empty, with what was copied, whose newest commit is `newest`.
    ///
    /// # Errors
    /// [`EngineError::NotAStore`] if the log is not empty; [`EngineError::Unknown`] if it is not known whether it was
    /// begun.
    pub fn begin(self, newest: CommitInfo) -> Result<Seq> {
        let log = self.log;
        let taken = || EngineError::NotAStore {
            path: log.profile().place,
            found: "there is a store already; name another log".to_owned(),
        };
        if log.tail(Position(0))? > Position::FIRST {
            return Err(taken());
        }
        let CommitInfo { seq, time } = newest;
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
        self.upload.end(log, &head)?;
        match log.append(Position::FIRST, &bytes) {
            Ok(Appended::Written) => Ok(seq),
            Ok(Appended::Taken) => Err(taken()),
            Err(LogError::Unknown(why)) => {
                match log.read(Position::FIRST, 1).map(|records| records.into_iter().next()) {
                    Ok(Some((_, found))) if found == bytes => Ok(seq),
                    Ok(Some(_)) => Err(taken()),
                    Ok(None) | Err(_) => Err(EngineError::Unknown { why }),
                }
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a founding before has begun the log with this very store, to which nothing was added since: then there
    /// is nothing left to be done.
    pub fn has_begun(log: &dyn SharedLog, newest: CommitInfo) -> Result<bool> {
        let Some((position, bytes)) = log.read(Position::FIRST, 1).ok().and_then(|read| read.into_iter().next()) else {
            return Ok(false);
        };
        let (header, _) = record::decode(position, &bytes)?;
        Ok((header.kind, header.seq_before, header.time) == (Kind::Genesis, newest.seq, newest.time))
    }
}
