//! Answers: the owner's answer to each kind of request. docs/remote-engine.md has every byte.

use recension_engine::{
    BackupReport, CommitInfo, EngineError, Problem, Result, RetentionRule, Seq, Stats, Timestamp, VerifyReport,
};

use crate::bytes::{Put, Take, malformed};
use crate::failure::{put_error, take_error};
use crate::names::name;
use crate::request::{put_rule, take_rule};

/// An answer.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Failed(EngineError),
    Hello { version: u32, process: u32 },
    Seq(Seq),
    Done,
    Values(Vec<Found>),
    OptionalSeq(Option<Seq>),
    OptionalKey(Option<Vec<u8>>),
    Rows(Piece<FoundRow>),
    Keys(Piece<Vec<u8>>),
    Versions(Piece<FoundVersion>),
    Time(Timestamp),
    OptionalCommit(Option<CommitInfo>),
    Commits(Vec<Result<CommitInfo>>),
    Verified(VerifyReport),
    Stats(Stats),
    Rules(Vec<RetentionRule>),
    Backup(BackupReport),
    Now { seq: Seq, values: Vec<Found> },
}

/// A value and the commit that wrote it; `None`: there is none.
pub(crate) type Found = Option<(Seq, Vec<u8>)>;

/// A row of a range.
#[derive(Clone, Debug)]
pub(crate) struct FoundRow {
    pub(crate) key: Vec<u8>,
    pub(crate) seq: Seq,
    pub(crate) value: Vec<u8>,
}

/// A version of a row.
#[derive(Clone, Debug)]
pub(crate) struct FoundVersion {
    pub(crate) seq: Seq,
    pub(crate) time: Timestamp,
    pub(crate) value: Option<Vec<u8>>,
}

/// A piece of a long answer.
#[derive(Clone, Debug)]
pub(crate) struct Piece<T> {
    pub(crate) items: Vec<T>,
    pub(crate) end: End,
}

/// How a piece ends.
#[derive(Clone, Debug)]
pub(crate) enum End {
    /// Nothing follows it.
    Whole,
    /// There may be more: ask again.
    More,
    /// The answer ends with this error.
    Failed(EngineError),
}

/// Takes an answer of the expected kind apart.
macro_rules! answered {
    ($answer:expr, $kind:ident) => {
        match $answer {
            Ok(Answer::$kind(found)) => Ok(found),
            Ok(_) => Err(crate::bytes::malformed("an answer to another question")),
            Err(error) => Err(error),
        }
    };
}
pub(crate) use answered;

impl Answer {
    #[allow(clippy::too_many_lines)] // one arm an answer
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.items_bytes());
        match self {
            Answer::Failed(error) => {
                out.u8(0);
                put_error(&mut out, error);
            }
            Answer::Hello { version, process } => {
                out.u8(2);
                out.u32(*version);
                out.u32(*process);
            }
            Answer::Seq(seq) => {
                out.u8(3);
                out.seq(*seq);
            }
            Answer::Done => out.u8(4),
            Answer::Values(values) => {
                out.u8(5);
                put_values(&mut out, values);
            }
            Answer::OptionalSeq(seq) => {
                out.u8(6);
                out.optional(*seq, Put::seq);
            }
            Answer::OptionalKey(key) => {
                out.u8(7);
                out.optional(key.as_deref(), Put::bytes);
            }
            Answer::Rows(piece) => put_piece(&mut out, 8, piece, |out, row| {
                out.bytes(&row.key);
                out.seq(row.seq);
                out.bytes(&row.value);
            }),
            Answer::Keys(piece) => put_piece(&mut out, 9, piece, |out, key| out.bytes(key)),
            Answer::Versions(piece) => put_piece(&mut out, 10, piece, |out, version| {
                out.seq(version.seq);
                out.u64(version.time.0);
                out.optional(version.value.as_deref(), Put::bytes);
            }),
            Answer::Time(time) => {
                out.u8(11);
                out.u64(time.0);
            }
            Answer::OptionalCommit(commit) => {
                out.u8(12);
                out.optional(*commit, put_commit);
            }
            Answer::Commits(commits) => {
                out.u8(13);
                out.list(commits.iter(), |out, commit| match commit {
                    Ok(commit) => {
                        out.u8(1);
                        put_commit(out, *commit);
                    }
                    Err(error) => {
                        out.u8(0);
                        put_error(out, error);
                    }
                });
            }
            Answer::Verified(report) => {
                out.u8(14);
                for n in [report.files, report.bytes, report.commits, report.rows] {
                    out.u64(n);
                }
                out.list(report.problems.iter(), |out, problem| {
                    out.bytes(problem.file.as_bytes());
                    out.u64(problem.offset);
                    out.bytes(problem.what.as_bytes());
                });
            }
            Answer::Stats(stats) => {
                out.u8(15);
                out.bytes(stats.engine.as_bytes());
                out.seq(stats.head);
                out.u64(stats.disk_bytes);
                out.u64(stats.memory_bytes);
                out.list(stats.details.iter(), |out, (name, value, unit)| {
                    out.bytes(name.as_bytes());
                    out.u64(*value);
                    out.bytes(unit.as_bytes());
                });
            }
            Answer::Rules(rules) => {
                out.u8(16);
                out.list(rules.iter(), put_rule);
            }
            Answer::Backup(report) => {
                out.u8(17);
                out.seq(report.head);
                for n in [report.files_copied, report.bytes_copied, report.bytes_kept] {
                    out.u64(n);
                }
            }
            Answer::Now { seq, values } => {
                out.u8(18);
                out.seq(*seq);
                put_values(&mut out, values);
            }
        }
        out
    }

    /// About how many bytes its items take, so that a long answer is written into one piece of memory.
    fn items_bytes(&self) -> usize {
        const EACH: usize = 32;
        match self {
            Answer::Rows(piece) => piece.items.iter().map(|row| row.key.len() + row.value.len() + EACH).sum(),
            Answer::Keys(piece) => piece.items.iter().map(|key| key.len() + EACH).sum(),
            Answer::Versions(piece) => {
                piece.items.iter().map(|version| version.value.as_ref().map_or(0, Vec::len) + EACH).sum()
            }
            Answer::Values(values) | Answer::Now { values, .. } => {
                values.iter().map(|value| value.as_ref().map_or(0, |(_, bytes)| bytes.len()) + EACH).sum()
            }
            _ => 0,
        }
    }

    pub(crate) fn decode(message: &[u8]) -> Result<Self> {
        let mut from = Take(message);
        let from = &mut from;
        let answer = match from.u8()? {
            0 => Answer::Failed(take_error(from)?),
            2 => Answer::Hello { version: from.u32()?, process: from.u32()? },
            3 => Answer::Seq(from.seq()?),
            4 => Answer::Done,
            5 => Answer::Values(from.list(take_value)?),
            6 => Answer::OptionalSeq(from.optional(Take::seq)?),
            7 => Answer::OptionalKey(from.optional(|from| Ok(from.bytes()?.to_vec()))?),
            8 => Answer::Rows(take_piece(from, |from| {
                Ok(FoundRow { key: from.bytes()?.to_vec(), seq: from.seq()?, value: from.bytes()?.to_vec() })
            })?),
            9 => Answer::Keys(take_piece(from, |from| Ok(from.bytes()?.to_vec()))?),
            10 => Answer::Versions(take_piece(from, |from| {
                let (seq, time) = (from.seq()?, Timestamp(from.u64()?));
                Ok(FoundVersion { seq, time, value: from.optional(|from| Ok(from.bytes()?.to_vec()))? })
            })?),
            11 => Answer::Time(Timestamp(from.u64()?)),
            12 => Answer::OptionalCommit(from.optional(take_commit)?),
            13 => Answer::Commits(
                from.list(|from| if from.bool()? { take_commit(from).map(Ok) } else { take_error(from).map(Err) })?,
            ),
            14 => Answer::Verified(VerifyReport {
                files: from.u64()?,
                bytes: from.u64()?,
                commits: from.u64()?,
                rows: from.u64()?,
                problems: from
                    .list(|from| Ok(Problem { file: from.text()?, offset: from.u64()?, what: from.text()? }))?,
            }),
            15 => Answer::Stats(Stats {
                engine: name(&from.text()?),
                head: from.seq()?,
                disk_bytes: from.u64()?,
                memory_bytes: from.u64()?,
                details: from.list(|from| Ok((name(&from.text()?), from.u64()?, name(&from.text()?))))?,
            }),
            16 => Answer::Rules(from.list(take_rule)?),
            17 => Answer::Backup(BackupReport {
                head: from.seq()?,
                files_copied: from.u64()?,
                bytes_copied: from.u64()?,
                bytes_kept: from.u64()?,
            }),
            18 => Answer::Now { seq: from.seq()?, values: from.list(take_value)? },
            _ => return Err(malformed("an answer of no known kind")),
        };
        from.end()?;
        Ok(answer)
    }
}

fn put_commit(out: &mut Vec<u8>, commit: CommitInfo) {
    out.seq(commit.seq);
    out.u64(commit.time.0);
}

fn take_commit(from: &mut Take<'_>) -> Result<CommitInfo> {
    Ok(CommitInfo { seq: from.seq()?, time: Timestamp(from.u64()?) })
}

fn put_piece<T>(out: &mut Vec<u8>, kind: u8, piece: &Piece<T>, put: impl Fn(&mut Vec<u8>, &T)) {
    out.u8(kind);
    out.list(piece.items.iter(), put);
    match &piece.end {
        End::Whole => out.u8(0),
        End::More => out.u8(1),
        End::Failed(error) => {
            out.u8(2);
            put_error(out, error);
        }
    }
}

fn take_piece<T>(from: &mut Take<'_>, take: impl FnMut(&mut Take<'_>) -> Result<T>) -> Result<Piece<T>> {
    let items = from.list(take)?;
    let end = match from.u8()? {
        0 => End::Whole,
        1 => End::More,
        2 => End::Failed(take_error(from)?),
        _ => return Err(malformed("a piece that ends in no known way")),
    };
    Ok(Piece { items, end })
}

fn put_values(out: &mut Vec<u8>, values: &[Found]) {
    out.list(values.iter(), |out, value| {
        out.optional(value.as_ref(), |out, (seq, bytes)| {
            out.seq(*seq);
            out.bytes(bytes);
        });
    });
}

fn take_value(from: &mut Take<'_>) -> Result<Found> {
    from.optional(|from| Ok((from.seq()?, from.bytes()?.to_vec())))
}
