//! Requests of a client to the process that owns the store. docs/remote-engine.md has every byte.

use std::num::NonZeroU32;
use std::time::Duration;

use recension_engine::{
    Batch, BatchOperation, BatchRow, Direction, Durability, ErasedKey, ErasedVersions, KeyRange, ReadKeys, Result,
    Retention, RetentionRule, Seq, Timestamp, TreeId,
};

use crate::bytes::{Put, Take, malformed};

/// A request.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Hello { version: u32 },
    Head,
    Get { at: Seq, keys: Vec<(TreeId, Vec<u8>)> },
    Version { at: Seq, tree: TreeId, key: Vec<u8> },
    Range { at: Seq, tree: TreeId, range: KeyRange, direction: Direction, rows: u32, values: bool },
    FirstKey { at: Seq, tree: TreeId, prefix: Vec<u8> },
    Keys { at: Seq, tree: TreeId, range: KeyRange, rows: u32 },
    Versions { at: Seq, tree: TreeId, key: Vec<u8>, before: Option<Seq>, rows: u32 },
    Time { at: Seq },
    CommitAt { time: Timestamp },
    Commit { batches: Vec<Batch> },
    Wait { beyond: Seq, milliseconds: u32 },
    Checkpoint,
    Settle,
    Verify,
    Stats,
    Forget { tree: TreeId, range: KeyRange, before: Seq },
    SetRetention { rules: Vec<RetentionRule> },
    Retention,
    Erase { erased: Vec<ErasedKey> },
    Backup { to: Vec<u8> },
    Now { keys: Vec<(TreeId, Vec<u8>)> },
    Token { token: String },
    Login { name: String, password: String },
    Seal { to: String },
    Unseal,
}

/// How a request is on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// It is answered at once: others may be behind it.
    Together,
    /// It may take long.
    Alone,
    /// It waits for what somebody else does.
    Waits,
}

impl Request {
    pub(crate) fn manner(&self) -> Manner {
        match self {
            Request::Hello { .. }
            | Request::Token { .. }
            | Request::Login { .. }
            | Request::Head
            | Request::Get { .. }
            | Request::Now { .. }
            | Request::Version { .. }
            | Request::FirstKey { .. }
            | Request::Time { .. }
            | Request::CommitAt { .. } => Manner::Together,
            Request::Wait { .. } => Manner::Waits,
            _ => Manner::Alone,
        }
    }

    /// Whether its answer may be long and can be made again.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(
            self,
            Request::Get { .. }
                | Request::Now { .. }
                | Request::Range { .. }
                | Request::Keys { .. }
                | Request::Versions { .. }
        )
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        match self {
            Request::Hello { version } => {
                out.u8(0);
                out.u32(*version);
            }
            Request::Head => out.u8(1),
            Request::Get { at, keys } => {
                out.u8(2);
                out.seq(*at);
                put_keys(&mut out, keys);
            }
            Request::Version { at, tree, key } => read(&mut out, 3, *at, *tree).bytes(key),
            Request::Range { at, tree, range, direction, rows, values } => {
                let out = read(&mut out, 4, *at, *tree);
                out.range(range);
                out.u8((*direction == Direction::Backward).into());
                out.u32(*rows);
                out.u8((*values).into());
            }
            Request::FirstKey { at, tree, prefix } => read(&mut out, 5, *at, *tree).bytes(prefix),
            Request::Keys { at, tree, range, rows } => {
                let out = read(&mut out, 6, *at, *tree);
                out.range(range);
                out.u32(*rows);
            }
            Request::Versions { at, tree, key, before, rows } => {
                let out = read(&mut out, 7, *at, *tree);
                out.bytes(key);
                out.optional(*before, Put::seq);
                out.u32(*rows);
            }
            Request::Time { at } => {
                out.u8(8);
                out.seq(*at);
            }
            Request::CommitAt { time } => {
                out.u8(9);
                out.u64(time.0);
            }
            Request::Commit { batches } => {
                out.u8(10);
                out.list(batches.iter(), put_batch);
            }
            Request::Wait { beyond, milliseconds } => {
                out.u8(11);
                out.seq(*beyond);
                out.u32(*milliseconds);
            }
            Request::Checkpoint => out.u8(12),
            Request::Settle => out.u8(13),
            Request::Verify => out.u8(14),
            Request::Stats => out.u8(15),
            Request::Forget { tree, range, before } => {
                read(&mut out, 16, *before, *tree).range(range);
            }
            Request::SetRetention { rules } => {
                out.u8(17);
                out.list(rules.iter(), put_rule);
            }
            Request::Retention => out.u8(18),
            Request::Erase { erased } => {
                out.u8(19);
                out.list(erased.iter(), |out, key| {
                    out.tree(key.tree);
                    out.bytes(&key.key);
                    out.seq(key.versions.through);
                    out.list(key.versions.these.iter(), |out, seq| out.seq(*seq));
                });
            }
            Request::Backup { to } => {
                out.u8(20);
                out.bytes(to);
            }
            Request::Now { keys } => {
                out.u8(21);
                put_keys(&mut out, keys);
            }
            Request::Login { name, password } => {
                out.u8(25);
                out.bytes(name.as_bytes());
                out.bytes(password.as_bytes());
            }
            Request::Token { token } => {
                out.u8(22);
                out.bytes(token.as_bytes());
            }
            Request::Seal { to } => {
                out.u8(23);
                out.bytes(to.as_bytes());
            }
            Request::Unseal => out.u8(24),
        }
        out
    }

    pub(crate) fn decode(message: &[u8]) -> Result<Self> {
        let mut from = Take(message);
        let from = &mut from;
        let request = match from.u8()? {
            0 => Request::Hello { version: from.u32()? },
            1 => Request::Head,
            2 => Request::Get { at: from.seq()?, keys: from.list(take_key)? },
            3 => Request::Version { at: from.seq()?, tree: from.tree()?, key: from.bytes()?.to_vec() },
            4 => Request::Range {
                at: from.seq()?,
                tree: from.tree()?,
                range: from.range()?,
                direction: if from.bool()? { Direction::Backward } else { Direction::Forward },
                rows: from.u32()?,
                values: from.bool()?,
            },
            5 => Request::FirstKey { at: from.seq()?, tree: from.tree()?, prefix: from.bytes()?.to_vec() },
            6 => Request::Keys { at: from.seq()?, tree: from.tree()?, range: from.range()?, rows: from.u32()? },
            7 => Request::Versions {
                at: from.seq()?,
                tree: from.tree()?,
                key: from.bytes()?.to_vec(),
                before: from.optional(Take::seq)?,
                rows: from.u32()?,
            },
            8 => Request::Time { at: from.seq()? },
            9 => Request::CommitAt { time: Timestamp(from.u64()?) },
            10 => Request::Commit { batches: from.list(take_batch)? },
            11 => Request::Wait { beyond: from.seq()?, milliseconds: from.u32()? },
            12 => Request::Checkpoint,
            13 => Request::Settle,
            14 => Request::Verify,
            15 => Request::Stats,
            16 => Request::Forget { before: from.seq()?, tree: from.tree()?, range: from.range()? },
            17 => Request::SetRetention { rules: from.list(take_rule)? },
            18 => Request::Retention,
            19 => Request::Erase { erased: from.list(take_erased)? },
            20 => Request::Backup { to: from.bytes()?.to_vec() },
            21 => Request::Now { keys: from.list(take_key)? },
            22 => Request::Token { token: from.text()? },
            25 => Request::Login { name: from.text()?, password: from.text()? },
            23 => Request::Seal { to: from.text()? },
            24 => Request::Unseal,
            _ => return Err(malformed("a request of no known kind")),
        };
        from.end()?;
        Ok(request)
    }
}

fn put_keys(out: &mut Vec<u8>, keys: &[(TreeId, Vec<u8>)]) {
    out.list(keys.iter(), |out, (tree, key)| {
        out.tree(*tree);
        out.bytes(key);
    });
}

fn take_key(from: &mut Take<'_>) -> Result<(TreeId, Vec<u8>)> {
    Ok((from.tree()?, from.bytes()?.to_vec()))
}

/// The beginning of requests that read a tree.
fn read(out: &mut Vec<u8>, kind: u8, at: Seq, tree: TreeId) -> &mut Vec<u8> {
    out.u8(kind);
    out.seq(at);
    out.tree(tree);
    out
}

fn put_batch(out: &mut Vec<u8>, batch: &Batch) {
    out.u8(match batch.asked_durability() {
        None => 0,
        Some(Durability::Memory) => 1,
        Some(Durability::Process) => 2,
        Some(Durability::Disk) => 3,
    });
    out.list(batch.reads(), |out, read| {
        out.tree(read.tree);
        out.seq(read.at);
        match read.keys {
            ReadKeys::One(key) => {
                out.u8(0);
                out.bytes(key);
            }
            ReadKeys::Range(range) => {
                out.u8(1);
                out.range(range);
            }
        }
    });
    out.u32(batch.rows().len() as u32);
    for operation in batch.operations() {
        match operation {
            BatchOperation::Write(BatchRow { tree, key, value }) => {
                out.u8(u8::from(value.is_some()));
                out.tree(tree);
                out.bytes(key);
                if let Some(value) = value {
                    out.bytes(value);
                }
            }
            BatchOperation::PutAtOwnSeq { tree, prefix, suffix, value } => {
                out.u8(2);
                out.tree(tree);
                out.bytes(prefix);
                out.bytes(suffix);
                out.bytes(value);
            }
            BatchOperation::Add { tree, key, amounts } => {
                out.u8(3);
                out.tree(tree);
                out.bytes(key);
                out.bytes(amounts);
            }
        }
    }
}

fn take_batch(from: &mut Take<'_>) -> Result<Batch> {
    let mut batch = Batch::new();
    match from.u8()? {
        0 => {}
        1 => _ = batch.durability(Durability::Memory),
        2 => _ = batch.durability(Durability::Process),
        3 => _ = batch.durability(Durability::Disk),
        _ => return Err(malformed("a durability of no known kind")),
    }
    for _ in 0..from.u32()? {
        let (tree, at) = (from.tree()?, from.seq()?);
        if from.bool()? {
            batch.depends_on_range(tree, from.range()?, at);
        } else {
            batch.depends_on(tree, from.bytes()?, at);
        }
    }
    for _ in 0..from.u32()? {
        match (from.u8()?, from.tree()?) {
            (0, tree) => _ = batch.delete(tree, from.bytes()?),
            (1, tree) => _ = batch.put(tree, from.bytes()?, from.bytes()?),
            (2, tree) => _ = batch.put_at_own_seq(tree, from.bytes()?, from.bytes()?, from.bytes()?),
            (3, tree) => {
                let key = from.bytes()?;
                let amounts = recension_engine::counters(from.bytes()?);
                batch.add(tree, key, &amounts.ok_or_else(|| malformed("amounts that are no counters"))?);
            }
            _ => return Err(malformed("an operation of no known kind")),
        }
    }
    Ok(batch)
}

pub(crate) fn put_rule(out: &mut Vec<u8>, rule: &RetentionRule) {
    out.tree(rule.tree);
    out.range(&rule.range);
    match rule.retention {
        Retention::Everything => out.u8(0),
        Retention::HeadOnly => out.u8(1),
        Retention::Versions(versions) => {
            out.u8(2);
            out.u32(versions.get());
        }
        Retention::Duration(duration) => {
            out.u8(3);
            out.u64(duration.as_secs());
            out.u32(duration.subsec_nanos());
        }
    }
}

pub(crate) fn take_rule(from: &mut Take<'_>) -> Result<RetentionRule> {
    let (tree, range) = (from.tree()?, from.range()?);
    let retention = match from.u8()? {
        0 => Retention::Everything,
        1 => Retention::HeadOnly,
        2 => Retention::Versions(NonZeroU32::new(from.u32()?).ok_or_else(|| malformed("a rule that keeps nothing"))?),
        3 => {
            let (seconds, nanos) = (from.u64()?, from.u32()?);
            if nanos >= 1_000_000_000 {
                return Err(malformed("a duration of too many nanoseconds"));
            }
            Retention::Duration(Duration::new(seconds, nanos))
        }
        _ => return Err(malformed("a rule of no known kind")),
    };
    Ok(RetentionRule { tree, range, retention })
}

fn take_erased(from: &mut Take<'_>) -> Result<ErasedKey> {
    let (tree, key, through) = (from.tree()?, from.bytes()?.to_vec(), from.seq()?);
    let mut versions = ErasedVersions::these(from.list(Take::seq)?);
    versions.through = through;
    Ok(ErasedKey { tree, key, versions })
}
