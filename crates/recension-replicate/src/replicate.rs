//! The replication itself: it begins at the last checkpoint, copies a batch of changes at a time, and writes a
//! checkpoint after the batches that it covers.

use std::time::Instant;

use serde_json::json;

use crate::checkpoint::{self, Log, Session};
use crate::control::Control;
use crate::end::{Changed, End, Feed};
use crate::error::{Error, Result};
use crate::leaves::Lines;
use crate::limits::{CHECKPOINT_EVERY, LEAVES_ATTEMPTS, WAIT};
use crate::options::Options;
use crate::statistics::Statistics;
use crate::write::Way;

/// The result of a replication.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The replication's own id.
    pub id: String,
    /// The run's id.
    pub session_id: String,
    /// The position in the source's feed up to which the target has everything.
    pub source_last_seq: String,
    /// Its statistics.
    pub statistics: Statistics,
    /// Whether there was nothing to do.
    pub no_changes: bool,
    log: Log,
    session: Session,
}

impl Outcome {
    /// In the form of CouchDB's answer to `_replicate`.
    pub fn to_json(&self) -> String {
        let mut answer = json!({
            "ok": true,
            "session_id": self.session_id,
            "source_last_seq": self.source_last_seq,
            "replication_id_version": checkpoint::VERSION,
            "start_time": self.session.start_time,
            "end_time": self.session.end_time,
            "docs_read": self.statistics.docs_read,
            "docs_written": self.statistics.docs_written,
            "doc_write_failures": self.statistics.doc_write_failures,
            "history": self.log.history,
        });
        if let (true, Some(members)) = (self.no_changes, answer.as_object_mut()) {
            members.insert("no_changes".to_owned(), true.into());
        }
        answer.to_string()
    }
}

/// Copies everything that `source` has and `target` does not; with [`Options::live`] until it is stopped.
///
/// # Errors
/// [`Error`]. Acknowledged writes stay, and the next replication begins at the last checkpoint.
pub fn replicate(source: &dyn End, target: &dyn End, options: &Options, control: &Control) -> Result<Outcome> {
    options.check()?;
    control.permitted()?;
    source.prepare(false, control)?;
    target.prepare(options.create_target, control)?;
    let mut run = Run::begin(source, target, options, control)?;
    let mut caught_up = false;
    run.stream()?;
    loop {
        let ended = loop {
            if control.is_stopped() {
                break Ok(());
            }
            match run.step(caught_up) {
                Ok(now) => caught_up = now,
                Err(error) => break Err(error),
            }
            if caught_up && !options.live {
                break Ok(());
            }
        };
        control.permitted()?;
        let stopped = control.is_stopped();
        if let Err(error) = ended
            && !matches!(error, Error::Stopped)
        {
            return Err(error);
        }
        // The thread that has stopped it waits for its end, and the other side may be unreachable.
        let kept = run.keep(&if stopped { Control::default() } else { control.clone() });
        if stopped && !options.live {
            return Err(Error::Stopped);
        }
        match kept? {
            Kept::WentBack if !stopped => caught_up = false,
            _ => return Ok(run.outcome()),
        }
    }
}

/// The id of a replication, which is also the name of its checkpoints if it has no filter function.
pub fn replication_id(source: &dyn End, target: &dyn End, options: &Options) -> String {
    checkpoint::id(&source.identity(), &target.identity(), options, None)
}

/// The code of the filter function, if the source tells it.
fn filter_code(source: &dyn End, options: &Options, control: &Control) -> Result<Option<String>> {
    let Some((design, function)) = options.filter.as_deref().and_then(|filter| filter.split_once('/')) else {
        return Ok(None);
    };
    let Some(document) = source.design(design, control)? else { return Ok(None) };
    let document: serde_json::Value = serde_json::from_str(&document).unwrap_or_default();
    Ok(document["filters"][function].as_str().map(str::to_owned))
}

/// What became of a checkpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// It stands on both sides, or is not wanted.
    Yes,
    /// A side was put back to an older copy: there is something to do again.
    WentBack,
}

struct Run<'a> {
    way: Way<'a>,
    options: &'a Options,
    id: String,
    since: String,
    statistics: Statistics,
    session: Session,
    before: Option<Log>,
    log: Log,
    /// The checkpoints that source and target have, as far as this run knows.
    there: [Option<Log>; 2],
    kept: String,
    kept_at: Instant,
    /// Documents were copied since the last checkpoint.
    dirty: bool,
    /// A source that this user may only read keeps no checkpoint.
    source_keeps: bool,
    /// The run went back because a side did not know any more what it had told, and has not kept a checkpoint since.
    went_back: bool,
}

impl<'a> Run<'a> {
    fn begin(source: &'a dyn End, target: &'a dyn End, options: &'a Options, control: &'a Control) -> Result<Self> {
        let code = filter_code(source, options, control)?;
        let id = checkpoint::id(&source.identity(), &target.identity(), options, code.as_deref());
        let read = |end: &dyn End| if options.checkpoints { checkpoint_of(end, &id, control) } else { Ok(None) };
        let (at_source, at_target) = (read(source)?, read(target)?);
        let common = checkpoint::common(at_source.as_ref(), at_target.as_ref());
        let since = options.since.clone().unwrap_or(common);
        let session = Session {
            session_id: new_session()?,
            start_time: checkpoint::now(),
            start_last_seq: since.clone(),
            ..Session::default()
        };
        let log = at_target.clone().unwrap_or_default();
        Ok(Run {
            way: Way::new(source, target, control),
            options,
            id,
            kept: since.clone(),
            since,
            statistics: Statistics::default(),
            session,
            before: at_target.clone(),
            log,
            there: [at_source, at_target],
            kept_at: Instant::now(),
            dirty: false,
            source_keeps: true,
            went_back: false,
        })
    }

    /// A first replication takes all leaves in one stream, if the source has one. Anything that the stream does not
    /// bring is left to the batches that follow.
    fn stream(&mut self) -> Result<()> {
        let options = self.options;
        let all = options.doc_ids.is_none() && options.selector.is_none() && options.filter.is_none();
        if !all || self.since != "0" || !self.way.target.is_empty(self.way.control)? {
            return Ok(());
        }
        for _ in 0..LEAVES_ATTEMPTS {
            let Some(lines) = self.way.source.leaves(&self.since, self.way.control)? else { return Ok(()) };
            let mut lines = Lines::of(lines);
            loop {
                let piece = match lines.piece(&self.way.source.name()) {
                    Ok(piece) => piece,
                    Err(error) if error.is_temporary() => break,
                    Err(error) => return Err(error),
                };
                self.way.take(piece.documents, &mut self.statistics)?;
                if let Some(position) = piece.position {
                    self.since = position;
                    self.dirty = true;
                    self.statistics.through.clone_from(&self.since);
                    self.way.control.tell(&self.statistics);
                }
                if piece.done || self.way.control.is_stopped() {
                    return Ok(());
                }
                if self.kept_at.elapsed() >= CHECKPOINT_EVERY {
                    self.keep(&self.way.control.clone())?;
                }
            }
        }
        Ok(())
    }

    /// One batch; returns whether that was all for now.
    fn step(&mut self, waits: bool) -> Result<bool> {
        // A change of the position alone is no reason for a checkpoint: writing it would change the position again.
        if waits && self.dirty && self.keep(&self.way.control.clone())? == Kept::WentBack {
            return Ok(false);
        }
        let (control, options) = (self.way.control, self.options);
        control.permitted()?;
        let feed =
            Feed { since: &self.since, limit: options.batch.max(1), wait: waits.then_some(WAIT), options, control };
        let page = self.way.source.changes(feed)?;
        if waits && page.changes.is_empty() && self.goes_back(control)? {
            return Ok(false);
        }
        if !page.changes.is_empty() {
            self.way.carry(&page.changes, &mut self.statistics)?;
            self.dirty = true;
        }
        self.since = page.last_seq;
        self.statistics.through.clone_from(&self.since);
        self.statistics.pending = page.pending;
        self.way.control.tell(&self.statistics);
        if self.dirty && self.kept_at.elapsed() >= CHECKPOINT_EVERY {
            let kept = self.keep(&self.way.control.clone())?;
            return Ok(page.caught_up && kept == Kept::Yes);
        }
        Ok(page.caught_up)
    }

    /// Writes checkpoints: first on the side that has the documents.
    fn keep(&mut self, control: &Control) -> Result<Kept> {
        control.permitted()?;
        (self.kept_at, self.dirty) = (Instant::now(), false);
        if self.kept == self.since {
            return Ok(Kept::Yes);
        }
        if self.goes_back(control)? {
            return Ok(Kept::WentBack);
        }
        let session = &mut self.session;
        session.end_time = checkpoint::now();
        session.end_last_seq.clone_from(&self.since);
        session.recorded_seq.clone_from(&self.since);
        session.statistics.clone_from(&self.statistics);
        self.log = checkpoint::next(self.before.as_ref(), session);
        self.kept.clone_from(&self.since);
        if !self.options.checkpoints {
            return Ok(Kept::Yes);
        }
        let text = serde_json::to_string(&self.log).unwrap_or_default();
        self.way.target.put_local(&self.id, &text, control)?;
        self.there[1] = Some(self.log.clone());
        if self.source_keeps {
            match self.way.source.put_local(&self.id, &text, control) {
                Err(Error::Denied { .. }) => self.source_keeps = false,
                done => {
                    done?;
                    self.there[0] = Some(self.log.clone());
                }
            }
        }
        Ok(Kept::Yes)
    }

    /// If a side has an earlier checkpoint than it had, or does not know the newest of what this run has seen, it was
    /// put back to an older copy while this ran: the run goes on where both have been, before it says that it was
    /// further.
    fn goes_back(&mut self, control: &Control) -> Result<bool> {
        if !self.options.checkpoints {
            return Ok(false);
        }
        let (source, target) = (self.way.source, self.way.target);
        let found = [checkpoint_of(source, &self.id, control)?, checkpoint_of(target, &self.id, control)?];
        let was_put_back =
            self.there.iter().zip(&found).any(|(last, found)| checkpoint::is_earlier(last.as_ref(), found.as_ref()));
        let was_put_back = was_put_back || self.has_lost(control)?;
        self.way.last.take();
        if was_put_back {
            self.since = checkpoint::common(found[0].as_ref(), found[1].as_ref());
            self.kept.clone_from(&self.since);
            self.there = found;
        }
        Ok(was_put_back)
    }

    /// Whether a side does not know any more what it told, or acknowledged, since the last checkpoint.
    fn has_lost(&mut self, control: &Control) -> Result<bool> {
        let last = self.way.last.borrow().clone();
        // Somebody may have purged it there, or its document may have changed more often than the side keeps revisions:
        // the run goes back for that once, and then keeps a checkpoint, so that it comes on.
        if std::mem::take(&mut self.went_back) {
            return Ok(false);
        }
        let lost = |end: &dyn End, seen: &[Changed]| -> Result<bool> {
            match seen {
                [] => Ok(false),
                seen => match end.revs_diff(seen, control) {
                    // It may not be asked.
                    Err(Error::Denied { .. }) => Ok(false),
                    missing => Ok(!missing?.is_empty()),
                },
            }
        };
        self.went_back = lost(self.way.target, &last.taken())? || lost(self.way.source, last.told.as_slice())?;
        Ok(self.went_back)
    }

    fn outcome(mut self) -> Outcome {
        if self.session.end_time.is_empty() {
            self.session.end_time = checkpoint::now();
        }
        Outcome {
            no_changes: self.statistics.missing_checked == 0 && self.before.is_some(),
            id: self.id,
            session_id: self.session.session_id.clone(),
            source_last_seq: self.since,
            statistics: self.statistics,
            log: self.log,
            session: self.session,
        }
    }
}

fn checkpoint_of(end: &dyn End, id: &str, control: &Control) -> Result<Option<Log>> {
    Ok(end.local(id, control)?.and_then(|text| serde_json::from_str(&text).ok()))
}

fn new_session() -> Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)
        .map_err(|error| Error::BadOptions(format!("the system gives no random bytes: {error}")))?;
    Ok(random.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}
