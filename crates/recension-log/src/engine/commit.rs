//! The leader's work on a group: the waiting commits are checked against this node's head, become one record, and are
//! appended at the next position. If another node was faster, its record is applied and everything is checked again.

use std::collections::VecDeque;
use std::time::Instant;

use recension_engine::{
    Batch, CommitInfo, Durability, EngineError, ErasedKey, KeyRange, Result, RetentionRule, RetentionRules, Seq,
    Timestamp, TreeId, check_erased,
};

use super::Shared;
use super::core::{Core, Stop};
use super::overlay::Overlay;
use super::seen::{self, Proof};
use super::spent;
use crate::entry::{self, Entry};
use crate::limits::{ENTRIES_MAX, PAUSES, PROOF_MAX};
use crate::record::{self, HEADER_BYTES, Header, Kind};
use crate::{Appended, LogError, Position, large};

/// The work that a caller asks for.
pub(super) enum Work {
    Commit(Batch),
    Forget { tree: TreeId, range: KeyRange, before: Seq },
    Rules(Vec<RetentionRule>),
    Erase(Vec<ErasedKey>),
    Move(String),
}

/// The answer to a piece of work.
pub(super) type Answer = Result<CommitInfo>;

/// Does the work of a group. Returns one list for each request, in order.
pub(super) fn lead(shared: &Shared, asked: Vec<Vec<Work>>) -> Vec<Vec<Answer>> {
    let lengths: Vec<usize> = asked.iter().map(Vec::len).collect();
    let work: VecDeque<Work> = asked.into_iter().flatten().collect();
    let mut answers = Group { shared, answers: Vec::with_capacity(work.len()) }.all(work).into_iter();
    lengths.into_iter().map(|len| answers.by_ref().take(len).collect()).collect()
}

/// A record to append, and the answers if it is written.
struct Draft {
    kind: Kind,
    entries: Vec<Entry>,
    body: Vec<u8>,
    time: Timestamp,
    /// The answer of each piece of work in the draft, if the record is written.
    answers: Vec<Answer>,
}

/// The outcome of a draft.
enum Outcome {
    Written,
    /// Another node's record is there: check again.
    Overtaken,
}

struct Group<'s> {
    shared: &'s Shared,
    answers: Vec<Answer>,
}

impl Group<'_> {
    fn all(mut self, mut work: VecDeque<Work>) -> Vec<Answer> {
        let mut began = Instant::now();
        give_way(self.shared);
        let mut core = self.shared.core.lock();
        spent::add(&mut core.spent.turns, &mut began);
        let mut failure: Option<EngineError> = self.shared.check_poison().err();
        while let Some(first) = work.front() {
            if let Some(moved) = &core.moved {
                failure = Some(EngineError::Moved { to: moved.clone() });
            } else if core.behind && failure.is_none() {
                failure = Some(super::core::behind().into());
            }
            if let Some(error) = &failure {
                // Work that was not tried was certainly not written, whatever happened to the rest.
                let rest = match error {
                    EngineError::Unknown { why } => EngineError::Unavailable { why: why.clone() },
                    error => error.clone(),
                };
                self.answers.extend(work.drain(..).map(|_| Err(rest.clone())));
                break;
            }
            let mut began = Instant::now();
            let draft = match first {
                Work::Commit(_) => draft_of_commits(self.shared, &core, &work),
                order => draft_of_order(self.shared, &core, order),
            };
            spent::add(&mut core.spent.drafts, &mut began);
            let covers = draft.answers.len();
            if draft.entries.is_empty() && draft.kind != Kind::Moved {
                self.answers.extend(draft.answers);
                work.drain(..covers);
                continue;
            }
            let refusals: Vec<_> = draft.answers.iter().map(|answer| answer.as_ref().err().cloned()).collect();
            match append(self.shared, &mut core, draft) {
                Ok((Outcome::Overtaken, _)) => continue,
                Ok((Outcome::Written, answers)) => self.answers.extend(answers),
                Err(stop) => {
                    let error = self.shared.stopped(&mut core, stop);
                    self.answers.extend(refusals.into_iter().map(|refusal| Err(refusal.unwrap_or(error.clone()))));
                    failure = Some(error);
                }
            }
            work.drain(..covers);
        }
        self.answers
    }
}

/// Most other nodes that a group lets go first.
const WAITS_MAX: u32 = 8;

/// Lets other nodes go first if it is their turn.
fn give_way(shared: &Shared) {
    for _ in 0..WAITS_MAX {
        let (wait, position) = {
            let core = shared.core.lock();
            (core.turns.wait(Instant::now()), core.head.position.next())
        };
        let Some(wait) = wait else { return };
        let began = Instant::now();
        shared.log.wait_for(position, wait);
        if began.elapsed() >= wait {
            shared.core.lock().turns.waited_in_vain();
            return;
        }
        // The next turn may be another node's again. An error here comes again at the append.
        if shared.is_stopping() || shared.catch_up().is_err() {
            return;
        }
    }
}

fn draft_of_commits(shared: &Shared, core: &Core, work: &VecDeque<Work>) -> Draft {
    let profile = &shared.profile;
    let time = shared.clock.now().max(core.head.time);
    let mut draft = Draft { kind: Kind::Entries, entries: Vec::new(), body: Vec::new(), time, answers: Vec::new() };
    let mut overlay = Overlay::default();
    let mut last = CommitInfo { seq: core.head.seq, time: core.head.time };
    let single = work.len() == 1;
    for work in work {
        let Work::Commit(batch) = work else { break };
        let full = draft.body.len() + entry::commit_bytes(batch) > profile.record_bytes_best;
        if !draft.entries.is_empty() && (full || draft.entries.len() >= ENTRIES_MAX) {
            break;
        }
        let answer = checked(shared, &overlay, last.seq, batch).and_then(|()| {
            if batch.is_empty() {
                return Ok(None);
            }
            let seq = last.seq.next();
            let mut batch = batch.clone();
            batch.bind(seq, |tree, key| match overlay.get(tree, key) {
                Some((_, value)) => Ok(value.clone()),
                None => Ok(shared.cache().snapshot()?.get(tree, key)?.map(|value| value.bytes.into_owned())),
            })?;
            batch.forget_reads().durability(Durability::Process);
            Ok(Some(batch))
        });
        match answer {
            Ok(Some(batch)) => {
                last = CommitInfo { seq: last.seq.next(), time };
                if !single {
                    overlay.add(&batch, last.seq);
                }
                entry::put_commit(&mut draft.body, &batch);
                draft.entries.push(Entry::Commit(batch));
                draft.answers.push(Ok(last));
            }
            Ok(None) => draft.answers.push(Ok(last)),
            Err(refusal) => draft.answers.push(Err(refusal)),
        }
    }
    draft
}

/// Refuses a batch whose dependencies have changed.
fn checked(shared: &Shared, overlay: &Overlay, last: Seq, batch: &Batch) -> Result<()> {
    let head = shared.cache().head();
    let mut reads = Batch::new();
    for read in batch.reads() {
        if read.at > last {
            return Err(EngineError::NotYet { asked: read.at, head: last });
        }
        if read.at < head {
            match read.keys {
                recension_engine::ReadKeys::One(key) => reads.depends_on(read.tree, key, read.at),
                recension_engine::ReadKeys::Range(range) => reads.depends_on_range(read.tree, range.clone(), read.at),
            };
        }
    }
    if reads.reads().len() > 0 {
        // Without rows it is a check and no commit.
        shared.cache().commit(reads)?;
    }
    batch.reads().try_for_each(|read| overlay.check(read))
}

fn draft_of_order(shared: &Shared, core: &Core, order: &Work) -> Draft {
    // No commit is made: the newest one's time stays.
    let time = core.head.time;
    let (mut kind, mut body, mut entries) = (Kind::Entries, Vec::new(), Vec::new());
    let last = CommitInfo { seq: core.head.seq, time: core.head.time };
    let mut answer = Ok(last);
    match order {
        Work::Commit(_) => {}
        Work::Forget { tree, before, .. } if *before > last.seq => {
            let _ = tree;
            answer = Err(EngineError::NotYet { asked: *before, head: last.seq });
        }
        Work::Forget { tree, range, before } => {
            entry::put_forget(&mut body, *tree, range, *before);
            entries.push(Entry::Forget { tree: *tree, range: range.clone(), before: *before });
        }
        Work::Rules(rules) => {
            let new = shared.cache().retention().and_then(|known| {
                let mut all = RetentionRules::default();
                all.set_all(&known)?;
                all.set_all(rules)
            });
            match new {
                Ok(false) => {}
                Ok(true) => {
                    entry::put_rules(&mut body, rules);
                    entries.push(Entry::Rules(rules.clone()));
                }
                Err(refusal) => answer = Err(refusal),
            }
        }
        Work::Erase(erased) => {
            let newest = erased.iter().map(|erased| erased.versions.newest()).max().unwrap_or_default();
            let bytes = erased.iter().map(|erased| erased.key.len()).sum();
            match check_erased(erased.len(), bytes) {
                Err(refusal) => answer = Err(refusal),
                Ok(()) if newest > last.seq => answer = Err(EngineError::NotYet { asked: newest, head: last.seq }),
                Ok(()) if erased.is_empty() => {}
                Ok(()) => {
                    entry::put_erase(&mut body, erased);
                    entries.push(Entry::Erase(erased.clone()));
                }
            }
        }
        Work::Move(to) => {
            kind = Kind::Moved;
            body = to.as_bytes().to_vec();
        }
    }
    Draft { kind, entries, body, time, answers: vec![answer] }
}

/// Appends the draft behind the head, and applies it.
fn append(shared: &Shared, core: &mut Core, draft: Draft) -> std::result::Result<(Outcome, Vec<Answer>), Stop> {
    let Draft { mut kind, entries, mut body, time, mut answers } = draft;
    let log = &*shared.log;
    let number = core.number;
    core.number += 1;
    let mut beside = None;
    if HEADER_BYTES + body.len() + 4 > shared.profile.record_bytes_max {
        let name = format!("record/{}-{number}", shared.writer);
        let elsewhere = large::put(log.blobs(), &name, &body, shared.profile.blob_bytes_max)?;
        (kind, body) = (Kind::Elsewhere, elsewhere.encode());
        beside = Some(elsewhere);
    }
    let header = Header {
        kind,
        log: core.head.log,
        writer: shared.writer,
        number,
        position: core.head.position.next(),
        seq_before: core.head.seq,
        time,
        chain_before: core.head.chain,
    };
    let bytes = record::encode(&header, &body);
    let mut began = Instant::now();
    let decided = decide(shared, &core.proof, &header, &bytes);
    let took = spent::add(&mut core.spent.appends, &mut began);
    match decided? {
        Outcome::Written => {
            core.spent.records += 1;
            core.turns.was_ours(began, took);
        }
        Outcome::Overtaken => {
            core.spent.lost += 1;
            core.spent.lost_appends += took;
            core.catch_up(log, &shared.cache().engine())?;
            spent::add(&mut core.spent.catching_up, &mut began);
            if let Some(beside) = beside {
                // No record will ever name these pieces; they only take room.
                let _ = large::delete(log.blobs(), &beside);
            }
            return Ok((Outcome::Overtaken, Vec::new()));
        }
    }
    if kind == Kind::Moved {
        core.moved = Some(String::from_utf8_lossy(&body).into_owned());
    }
    let orders = core.apply(&shared.cache().engine(), &header, &bytes, entries)?;
    spent::add(&mut core.spent.applying, &mut began);
    for (answer, order) in answers.iter_mut().zip(orders) {
        if let Err(refusal) = order {
            *answer = Err(refusal);
        }
    }
    shared.written();
    Ok((Outcome::Written, answers))
}

/// Appends a record until its outcome is known, or patience is over. The same bytes may be appended at the same
/// position again and again: at most one of the tries is taken. Without proof that the log has the record before, it
/// is asked first: another system may answer than the one that had it, or an older copy of it.
fn decide(shared: &Shared, proof: &Proof, header: &Header, bytes: &[u8]) -> std::result::Result<Outcome, Stop> {
    let deadline = proof.patient_until(shared.patience);
    let mut proven = !proof.is_older(PROOF_MAX);
    let (mut pause, longest) = PAUSES;
    let mut unsure = None;
    loop {
        let before = || seen::check(&*shared.log, header.position.before(), header.chain_before);
        let asked = if proven { Ok(()) } else { before() };
        proven = false;
        let failure = match asked.and_then(|()| shared.log.append(header.position, bytes)) {
            Ok(Appended::Written) => return Ok(Outcome::Written),
            Ok(Appended::Taken) => match taken_by_us(shared, header) {
                Ok(true) => return Ok(Outcome::Written),
                Ok(false) => return Ok(Outcome::Overtaken),
                // There is a record, and it may be ours.
                Err(error) => {
                    unsure = Some(error.to_string());
                    error
                }
            },
            Err(error) => error,
        };
        if let LogError::Unknown(why) = &failure {
            unsure = Some(why.clone());
        }
        let is_over = Instant::now() + pause >= deadline || shared.is_stopping();
        if is_over || !failure.may_pass() {
            return Err(match (Stop::from(failure), unsure) {
                (Stop::Log(_), Some(why)) => Stop::Log(LogError::Unknown(why)),
                (Stop::Behind(_), Some(why)) => Stop::Behind(LogError::Unknown(why)),
                (stop, _) => stop,
            });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(longest);
    }
}

/// Whether the record at a taken position is this one.
fn taken_by_us(shared: &Shared, header: &Header) -> crate::Result<bool> {
    let records = shared.log.read(header.position, 1)?;
    let Some((position, found)) = records.first() else {
        if shared.log.tail(Position(0))? < header.position {
            return Err(LogError::diverged(header.position.before(), "the log ends before it"));
        }
        return Err(LogError::Unknown(format!("position {} is taken and cannot be read", header.position)));
    };
    let (found, _) = record::decode(*position, found)?;
    Ok(found.writer == header.writer && found.number == header.number)
}
