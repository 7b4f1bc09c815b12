//! Carries out a request: a call of the engine. The owner does this for its clients. A client does it for itself after
//! it has taken a dead owner's place.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use recension_engine::{Batch, Engine, Result, Snapshot, TreeId, Wanted};

use crate::PROTOCOL_VERSION;
use crate::answer::{Answer, End, Found, FoundRow, FoundVersion, Piece};
use crate::bytes::malformed;
use crate::limits::{PIECE_BYTES, PIECE_ROWS_MAX, WAIT_MILLISECONDS_MAX};
use crate::request::Request;

/// The answer to a request.
pub(crate) fn execute(engine: &dyn Engine, request: Request) -> Answer {
    answer(engine, request).unwrap_or_else(Answer::Failed)
}

fn answer(engine: &dyn Engine, request: Request) -> Result<Answer> {
    Ok(match request {
        Request::Token { .. } | Request::Login { .. } => {
            return Err(malformed("a token or a log-in where none is asked for"));
        }
        Request::Hello { .. } => Answer::Hello { version: PROTOCOL_VERSION, process: std::process::id() },
        Request::Head => Answer::Seq(engine.head()),
        Request::Get { at, keys } => Answer::Values(values(&*engine.snapshot_at(at)?, &keys)?),
        Request::Now { keys } => {
            let snapshot = engine.snapshot()?;
            Answer::Now { seq: snapshot.seq(), values: values(&*snapshot, &keys)? }
        }
        Request::Version { at, tree, key } => Answer::OptionalSeq(engine.snapshot_at(at)?.version(tree, &key)?),
        Request::Range { at, tree, range, direction, rows, values } => {
            let snapshot = engine.snapshot_at(at)?;
            let wanted = Wanted { rows: None, values };
            let found = snapshot.range_of(tree, &range, direction, wanted).map(|row| {
                let row = row?;
                let value = if values { row.value.bytes.into_owned() } else { Vec::new() };
                Ok(FoundRow { key: row.key.into_owned(), seq: row.value.seq, value })
            });
            Answer::Rows(piece(found, rows, |row| row.key.len() + row.value.len()))
        }
        Request::FirstKey { at, tree, prefix } => {
            let mut key = Vec::new();
            let found = engine.snapshot_at(at)?.first_key(tree, &prefix, &mut key)?;
            Answer::OptionalKey(found.then_some(key))
        }
        Request::Keys { at, tree, range, rows } => {
            Answer::Keys(piece(engine.snapshot_at(at)?.keys(tree, &range), rows, Vec::len))
        }
        Request::Versions { at, tree, key, before, rows } => {
            let snapshot = engine.snapshot_at(at)?;
            let found = snapshot.versions(tree, &key).map(|version| {
                let version = version?;
                let value = version.value.map(std::borrow::Cow::into_owned);
                Ok(FoundVersion { seq: version.seq, time: version.time, value })
            });
            // An error is always sent; versions that were sent already are not.
            let behind = |version: &Result<FoundVersion>| {
                before.is_none_or(|before| version.as_ref().map_or(true, |version| version.seq < before))
            };
            let size = |version: &FoundVersion| version.value.as_ref().map_or(0, Vec::len);
            Answer::Versions(piece(found.filter(behind), rows, size))
        }
        Request::Time { at } => Answer::Time(engine.snapshot_at(at)?.time()?),
        Request::CommitAt { time } => Answer::OptionalCommit(engine.commit_at(time)?),
        Request::Commit { batches } => Answer::Commits(commit(engine, batches)),
        Request::Wait { beyond, milliseconds } => {
            let timeout = Duration::from_millis(milliseconds.min(WAIT_MILLISECONDS_MAX).into());
            Answer::Seq(engine.wait_beyond(beyond, timeout))
        }
        Request::Checkpoint => done(engine.checkpoint())?,
        Request::Settle => done(engine.settle())?,
        Request::Verify => Answer::Verified(engine.verify()?),
        Request::Stats => Answer::Stats(engine.stats()?),
        Request::Forget { tree, range, before } => done(engine.forget(tree, &range, before))?,
        Request::SetRetention { rules } => done(engine.set_retention(&rules))?,
        Request::Retention => Answer::Rules(engine.retention()?),
        Request::Erase { erased } => done(engine.erase(&erased))?,
        Request::Seal { to } => Answer::Seq(engine.seal(&to)?),
        Request::Unseal => done(engine.unseal())?,
        Request::Backup { to } => Answer::Backup(engine.backup(Path::new(OsStr::from_bytes(&to)))?),
    })
}

fn done(result: Result<()>) -> Result<Answer> {
    result.map(|()| Answer::Done)
}

fn commit(engine: &dyn Engine, mut batches: Vec<Batch>) -> Vec<Result<recension_engine::CommitInfo>> {
    match (batches.len(), batches.pop()) {
        (1, Some(only)) => vec![engine.commit(only)],
        (_, last) => {
            batches.extend(last);
            engine.commit_all(batches)
        }
    }
}

/// The values of the first of these keys, as many as fit into one piece.
fn values(snapshot: &dyn Snapshot, keys: &[(TreeId, Vec<u8>)]) -> Result<Vec<Found>> {
    let (mut found, mut bytes) = (Vec::with_capacity(keys.len()), 0);
    for (tree, key) in keys {
        if bytes > PIECE_BYTES {
            break;
        }
        let value = snapshot.get(*tree, key)?.map(|value| (value.seq, value.bytes.into_owned()));
        bytes += value.as_ref().map_or(0, |(_, bytes)| bytes.len());
        found.push(value);
    }
    Ok(found)
}

/// The first items, as many as were asked for or fit into one piece; at least one.
fn piece<T>(found: impl Iterator<Item = Result<T>>, most: u32, size: impl Fn(&T) -> usize) -> Piece<T> {
    let most = most.clamp(1, PIECE_ROWS_MAX) as usize;
    let (mut items, mut bytes) = (Vec::new(), 0);
    for item in found {
        match item {
            Err(error) => return Piece { items, end: End::Failed(error) },
            Ok(_) if items.len() >= most || bytes > PIECE_BYTES => return Piece { items, end: End::More },
            Ok(item) => {
                bytes += size(&item);
                items.push(item);
            }
        }
    }
    Piece { items, end: End::Whole }
}
