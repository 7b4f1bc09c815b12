//! A client's way to the store: through its owner while that lives, or directly after it has taken a dead owner's
//! place.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};
use recension_engine::{CommitInfo, Engine, EngineError, HeadSignal, Result, Seq};

use crate::answer::Answer;
use crate::execute::execute;
use crate::limits::MESSAGE_BYTES_MAX;
use crate::pipe::NoAnswer;
use crate::pool::Pool;
use crate::request::{Manner, Request};
use crate::wire::Connector;

/// How the store is reached.
#[derive(Clone)]
pub(crate) enum Way {
    /// Through its owner.
    Remote(Arc<Pool>),
    /// By this process, which has become the owner.
    Own(Arc<dyn Engine>),
    /// It was closed.
    Closed,
}

/// Takes the place of an owner that has died: the store, or `None` if another process holds its lock.
pub(crate) type TakeOver = Box<dyn Fn() -> Result<Option<Arc<dyn Engine>>> + Send + Sync>;

/// The way. It is looked for anew when the owner has died.
pub(crate) struct Link {
    to: Arc<dyn Connector>,
    take_over: Option<TakeOver>,
    /// How long an owner is looked for.
    patience: Duration,
    way: RwLock<Way>,
    /// How often the way has changed. (A new owner is a new way.)
    generation: AtomicU64,
    looking: Mutex<()>,
    closing: AtomicBool,
    /// The newest commit that this client has heard of since the way changed.
    seen: AtomicU64,
    /// The newest commit that this client has heard of from any owner, and the last one of its own.
    newest: AtomicU64,
    own_commit: Mutex<Option<CommitInfo>>,
    /// Why nothing is asked any more: an owner does not have what another one had.
    astray: OnceLock<String>,
    /// How many answers of an owner were waited for.
    round_trips: AtomicU64,
    pub(crate) signal: HeadSignal,
}

impl Link {
    pub(crate) fn new(to: Arc<dyn Connector>, pool: Pool, patience: Duration, take_over: Option<TakeOver>) -> Self {
        Link {
            to,
            take_over,
            patience,
            way: RwLock::new(Way::Remote(Arc::new(pool))),
            generation: AtomicU64::new(0),
            looking: Mutex::default(),
            closing: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            newest: AtomicU64::new(0),
            own_commit: Mutex::default(),
            astray: OnceLock::new(),
            round_trips: AtomicU64::new(0),
            signal: HeadSignal::default(),
        }
    }

    /// The way, and how often it has changed.
    pub(crate) fn way(&self) -> (u64, Way) {
        let way = self.way.read();
        (self.generation.load(Ordering::SeqCst), way.clone())
    }

    /// The store itself, if this process owns it by now.
    pub(crate) fn own(&self) -> Option<Arc<dyn Engine>> {
        match &*self.way.read() {
            Way::Own(engine) => Some(Arc::clone(engine)),
            Way::Remote(_) | Way::Closed => None,
        }
    }

    pub(crate) fn seen(&self) -> Seq {
        Seq(self.seen.load(Ordering::SeqCst))
    }

    /// Notes a commit of this client's own.
    pub(crate) fn wrote(&self, commit: CommitInfo) {
        *self.own_commit.lock() = Some(commit);
        self.saw(commit.seq);
    }

    /// Notes that there is a commit.
    pub(crate) fn saw(&self, seq: Seq) -> Seq {
        self.newest.fetch_max(seq.0, Ordering::SeqCst);
        if self.seen.fetch_max(seq.0, Ordering::SeqCst) < seq.0 {
            self.signal.moved();
        }
        seq
    }

    pub(crate) fn round_trips(&self) -> u64 {
        self.round_trips.load(Ordering::Relaxed)
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    /// Closes the link: remaining snapshots answer that the store is closed.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        let _no_one_else = self.looking.lock();
        self.change(Way::Closed);
    }

    fn change(&self, way: Way) {
        let mut changed = self.way.write();
        let before = std::mem::replace(&mut *changed, way);
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.seen.store(0, Ordering::SeqCst);
        drop(changed);
        drop(before);
        self.signal.moved();
    }

    /// The answer to a request. If the owner dies meanwhile, another one is asked, unless the request could then be
    /// carried out twice.
    pub(crate) fn ask(&self, request: Request) -> Result<Answer> {
        let once = matches!(request, Request::Commit { .. });
        let manner = request.manner();
        let mut encoded = Vec::new();
        let deadline = Instant::now() + self.patience;
        loop {
            if let Some(what) = self.astray.get() {
                return Err(EngineError::Diverged { what: what.clone() });
            }
            let (generation, way) = self.way();
            let pool = match way {
                Way::Remote(pool) => pool,
                Way::Own(engine) => return refused(execute(&*engine, request)),
                Way::Closed => return Err(EngineError::Unavailable { why: "it was closed".to_owned() }),
            };
            if encoded.is_empty() {
                encoded = request.encode();
                if encoded.len() > MESSAGE_BYTES_MAX {
                    let what = "bytes for the process that owns the store, reads included";
                    return Err(EngineError::TooLarge { what, len: encoded.len(), max: MESSAGE_BYTES_MAX });
                }
            }
            self.round_trips.fetch_add(1, Ordering::Relaxed);
            match pool.ask(&encoded, manner) {
                Ok(answer) => return refused(answer),
                Err(NoAnswer::Unknown(why)) if once => {
                    // Reads that tell the outcome must reach the store's present owner, which knows it.
                    let _ = self.look_again(generation, &why);
                    return Err(EngineError::Unknown { why });
                }
                Err(NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) => {
                    self.look_again(generation, &why)?;
                    if Instant::now() > deadline {
                        return Err(EngineError::Unavailable { why });
                    }
                }
            }
        }
    }

    /// Finds the next owner, or becomes it, unless that has been done since.
    fn look_again(&self, generation: u64, why: &str) -> Result<()> {
        let _one_at_a_time = self.looking.lock();
        if self.generation.load(Ordering::SeqCst) != generation {
            return Ok(());
        }
        let deadline = Instant::now() + self.patience;
        let mut pause = Duration::from_millis(1);
        let mut last = why.to_owned();
        while !self.is_closing() {
            match Pool::connect(&self.to) {
                Ok(pool) => match self.check(|asked| pool.ask(&asked.encode(), Manner::Together)) {
                    Ok(()) => {
                        self.change(Way::Remote(Arc::new(pool)));
                        return Ok(());
                    }
                    Err(NoAnswer::NotSent(why) | NoAnswer::Unknown(why)) => last = why,
                },
                Err(error) => last = error.to_string(),
            }
            if let Some(engine) = self.take_over.as_ref().map_or(Ok(None), |take_over| take_over())? {
                let _ = self.check(|asked| Ok(execute(&*engine, asked)));
                self.change(Way::Own(engine));
                return Ok(());
            }
            if Instant::now() > deadline {
                break;
            }
            // Another process is opening the store, and its recovery takes time.
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        Err(EngineError::Unavailable { why: last })
    }
}

impl Link {
    /// Looks whether an owner has what this client knows. If it does not, the store was put back to an older copy, or
    /// commits that were in memory only are lost: what this client knows of it may be of another history, and it stops.
    fn check(
        &self,
        ask: impl Fn(Request) -> std::result::Result<Answer, NoAnswer>,
    ) -> std::result::Result<(), NoAnswer> {
        let newest = Seq(self.newest.load(Ordering::SeqCst));
        let Answer::Seq(head) = ask(Request::Head)? else { return Ok(()) };
        let own = *self.own_commit.lock();
        let is_another = match own.filter(|own| own.seq <= head) {
            Some(own) => matches!(ask(Request::Time { at: own.seq })?, Answer::Time(time) if time != own.time),
            None => false,
        };
        if head < newest || is_another {
            let what = format!(
                "this program has read the store up to commit {newest}, and it {} now: it was put back to an older \
                 copy, or commits that were kept in memory only are lost; open it again",
                if is_another { "has another history".to_owned() } else { format!("ends at {head}") }
            );
            let _ = self.astray.set(what);
        }
        Ok(())
    }
}

fn refused(answer: Answer) -> Result<Answer> {
    match answer {
        Answer::Failed(error) => Err(error),
        answer => Ok(answer),
    }
}
