//! Long answers, some items at a time, and feeds of changes, which a promise waits for.

use std::sync::Arc;
use std::task::{Wake, Waker};

use napi::bindgen_prelude::{AsyncTask, Object};
use napi::{Env, JsDeferred, Result as NapiResult};
use napi_derive::napi;
use parking_lot::Mutex;
use recension::json::quote;
use recension::{Change, Changes, Follow};
use recension_bindings::{Ahead, Refused, Result};

use crate::job::{Job, promise};

/// Items of a long answer, as texts of JSON.
#[napi]
pub struct Rows {
    ahead: Arc<Ahead<String>>,
}

impl Rows {
    /// They are begun when the first ones are asked for: on another thread.
    pub(crate) fn later<I>(make: impl FnOnce() -> Result<I> + Send + 'static) -> Self
    where
        I: Iterator<Item = recension::Result<String>> + Send + 'static,
    {
        Rows { ahead: Arc::new(Ahead::later(make, String::len)) }
    }
}

#[napi]
impl Rows {
    /// The next ones; none at the end.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn some(&self) -> AsyncTask<Job<Vec<String>>> {
        let ahead = Arc::clone(&self.ahead);
        promise(move || ahead.some())
    }

    /// Lets go of the snapshot.
    #[napi]
    pub fn close(&self) {
        let ahead = Arc::clone(&self.ahead);
        // Another thread may be fetching: the event loop does not wait for it.
        std::thread::spawn(move || ahead.close());
    }
}

/// Most changes that are told at a time.
const CHANGES: usize = 64;

pub(crate) enum Source {
    Later(Box<dyn FnOnce() -> Result<Source> + Send>),
    Known(Box<Changes>),
    Follow(Box<Follow>),
    Closed,
}

type Resolver = Box<dyn FnOnce(Env) -> NapiResult<()> + Send>;

/// Resolves a promise when there may be changes.
#[derive(Default)]
struct Bell {
    waiting: Mutex<Option<JsDeferred<(), Resolver>>>,
}

impl Bell {
    fn ring(&self) {
        if let Some(waiting) = self.waiting.lock().take() {
            waiting.resolve(Box::new(|_| Ok(())));
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}

/// A feed of changes.
#[napi]
pub struct Feed {
    source: Arc<Mutex<Source>>,
    bell: Arc<Bell>,
}

impl Feed {
    /// It is begun when the first changes are asked for: on another thread.
    pub(crate) fn new(make: impl FnOnce() -> Result<Source> + Send + 'static) -> Self {
        Feed { source: Arc::new(Mutex::new(Source::Later(Box::new(make)))), bell: Arc::default() }
    }
}

#[napi]
impl Feed {
    /// The changes that there are now, some at a time; none if the feed has caught up or ended.
    #[napi(ts_return_type = "Promise<string[]>")]
    pub fn some(&self) -> AsyncTask<Job<Vec<String>>> {
        let source = Arc::clone(&self.source);
        promise(move || {
            let mut source = source.lock();
            match std::mem::replace(&mut *source, Source::Closed) {
                Source::Later(make) => *source = make()?,
                begun => *source = begun,
            }
            let mut changes = Vec::new();
            while changes.len() < CHANGES {
                let change = match &mut *source {
                    Source::Known(known) => known.next().transpose()?,
                    Source::Follow(follow) => follow.try_next()?,
                    Source::Closed | Source::Later(_) => None,
                };
                match change {
                    Some(change) => changes.push(told(&change)),
                    None => break,
                }
            }
            Ok(changes)
        })
    }

    /// A promise that is resolved when there may be changes again, or the feed was closed.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn ready<'e>(&self, env: &'e Env) -> NapiResult<Object<'e>> {
        let (deferred, promise) = env.create_deferred::<(), Resolver>()?;
        *self.bell.waiting.lock() = Some(deferred);
        let waker = Waker::from(Arc::clone(&self.bell));
        let ready = match &*self.source.lock() {
            Source::Follow(follow) => follow.ready(&waker),
            Source::Known(_) | Source::Closed | Source::Later(_) => true,
        };
        if ready {
            self.bell.ring();
        }
        Ok(promise)
    }

    /// How far it has been read.
    #[napi(ts_return_type = "Promise<string>")]
    pub fn position(&self) -> AsyncTask<Job<String>> {
        let source = Arc::clone(&self.source);
        promise(move || match &*source.lock() {
            Source::Known(changes) => Ok((**changes).position().to_string()),
            Source::Follow(follow) => Ok((**follow).position().to_string()),
            Source::Closed | Source::Later(_) => Err(Refused::Closed("the feed is closed, or not begun yet")),
        })
    }

    /// Ends it; who waits for it is woken.
    #[napi]
    pub fn close(&self) {
        let (source, bell) = (Arc::clone(&self.source), Arc::clone(&self.bell));
        std::thread::spawn(move || {
            *source.lock() = Source::Closed;
            bell.ring();
        });
    }
}

fn told(change: &Change) -> String {
    format!(
        r#"{{"collection":{},"id":{},"rev":"{}","seq":{},"deleted":{},"position":"{}"}}"#,
        quote(&change.collection),
        quote(&change.id),
        change.rev,
        change.seq.0,
        change.deleted,
        change.position()
    )
}
