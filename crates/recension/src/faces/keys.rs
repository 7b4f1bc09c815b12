//! Keys with values that may expire, in namespaces: sessions, counters, locks, caches. A namespace is two trees of rows
//! of its own, in the same commits, snapshots and transactions as documents.

use std::sync::Arc;

use crate::engine::{Durability, EngineError, Retention};
use crate::faces::key_spaces::{Space, rule, rules};
use crate::faces::keys_at::KeysAt;
use crate::faces::keys_in_transaction::TransactionKeys;
use crate::faces::store::Store;
use crate::kernel::overlay::Overlay;
use crate::kernel::write::attempt::{Attempt, retry};
use crate::kernel::write::keys::{is_to_be_renewed, read_key};
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::key_value::{Expiry, KeyCondition, KeyEntry, KeyValue, SetOptions, SetOutcome};
use recension_values::limits::CLEARED_AT_ONCE;
use recension_values::write::check_name;

/// A namespace of keys. Clones are cheap; use it from any thread.
///
/// A key expires at its time for every reader, and stays expired: if the clock goes back, it does not come back. A read
/// of a past moment judges by that moment. History is not kept unless it is asked for ([`Keys::set_retention`]).
///
/// ```
/// # fn main() -> recension::Result<()> {
/// use std::time::Duration;
/// use recension::{Expiry, SetOptions};
///
/// let store = recension::open("memory:")?;
/// let sessions = store.keys("sessions")?;
/// sessions.set_with("token-1", "ada", &SetOptions::new().expiry(Expiry::Sliding(Duration::from_secs(1800))))?;
/// assert_eq!(sessions.get("token-1")?, Some("ada".into()));
/// assert_eq!(sessions.increment("visits", 1)?, 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Keys {
    pub(super) store: Store,
    pub(super) space: Arc<Space>,
    durability: Option<Durability>,
}

impl Store {
    /// A namespace of keys. It comes into being with its first key. Namespaces and collections may have the same names.
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn keys(&self, name: &str) -> Result<Keys> {
        check_name("namespace", name)?;
        Ok(Keys { store: self.clone(), space: self.spaces().of(name), durability: None })
    }
}

impl Keys {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.space.name
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The same namespace, with this durability for writes through this handle.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = Some(durability);
        self
    }

    /// The namespace as of a moment.
    pub fn at(&self, at: At) -> Result<KeysAt> {
        let snapshot = self.store.snapshot(at)?;
        let now = match at {
            At::Now => self.store.moment(),
            At::Seq(_) | At::Tag(_) => snapshot.time()?,
            At::Time(time) => snapshot.time()?.max(time),
            At::Ago(age) => {
                let micros = u64::try_from(age.as_micros()).unwrap_or(u64::MAX);
                snapshot.time()?.max(crate::engine::Timestamp(self.store.now().0.saturating_sub(micros)))
            }
        };
        let (trees, rows) = (self.space.trees(&*snapshot)?, self.space.rows(&*snapshot)?);
        Ok(KeysAt { snapshot, trees, rows, now })
    }

    /// The value of a key. If its expiry slides, the expiry is renewed.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyValue>> {
        Ok(self.entry_and_renew(key.as_ref())?.map(|entry| entry.value))
    }

    /// The value of a key, and when it expires. The expiry is not renewed.
    pub fn entry(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyEntry>> {
        let snapshot = self.store.engine().snapshot()?;
        let Some(trees) = self.space.trees(&*snapshot)? else { return Ok(None) };
        read_key(&*snapshot, trees, key.as_ref(), self.store.moment())
    }

    fn entry_and_renew(&self, key: &[u8]) -> Result<Option<KeyEntry>> {
        let entry = self.entry(key)?;
        if entry.as_ref().is_some_and(|entry| is_to_be_renewed(entry, self.store.moment())) {
            match self.write(|keys| keys.renew(key)) {
                // A reader without the right to write may still read.
                Ok(()) | Err(Error::Engine(EngineError::ReadOnly)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(entry)
    }

    /// Sets a key, without expiry.
    pub fn set(&self, key: impl AsRef<[u8]>, value: impl Into<KeyValue>) -> Result<()> {
        self.set_with(key, value, &SetOptions::new()).map(|_| ())
    }

    /// Sets a key.
    ///
    /// # Errors
    /// [`Error::BadName`] for a key that is empty or too long; [`Error::BadField`] for an invalid value.
    pub fn set_with(
        &self,
        key: impl AsRef<[u8]>,
        value: impl Into<KeyValue>,
        options: &SetOptions,
    ) -> Result<SetOutcome> {
        let (key, value) = (key.as_ref(), value.into());
        self.write(|keys| keys.set_with(key, value.clone(), options))
    }

    /// Sets a key if its value is `expected`; `None` expects no key. Returns whether it did. The expiry stays as it
    /// was.
    pub fn compare_and_set(
        &self,
        key: impl AsRef<[u8]>,
        expected: Option<KeyValue>,
        value: impl Into<KeyValue>,
    ) -> Result<bool> {
        let condition = expected.map_or(KeyCondition::Absent, KeyCondition::Equal);
        Ok(self.set_with(key, value, &SetOptions::new().keep_existing().only_if(condition))?.written)
    }

    /// Removes a key; answers its entry.
    pub fn remove(&self, key: impl AsRef<[u8]>) -> Result<Option<KeyEntry>> {
        let key = key.as_ref();
        self.write(|keys| keys.remove(key))
    }

    /// Adds to an integer; a missing key counts as 0. Returns the sum, which stays within the range of `i64`. The
    /// expiry stays as it was.
    ///
    /// # Errors
    /// [`Error::NotANumber`].
    pub fn increment(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64> {
        let key = key.as_ref();
        self.write(|keys| keys.increment(key, by))
    }

    /// Subtracts from an integer; see [`Keys::increment`].
    pub fn decrement(&self, key: impl AsRef<[u8]>, by: i64) -> Result<i64> {
        let key = key.as_ref();
        self.write(|keys| keys.decrement(key, by))
    }

    /// Adds to a number that may have a fraction; see [`Keys::increment`].
    pub fn increment_float(&self, key: impl AsRef<[u8]>, by: f64) -> Result<f64> {
        let key = key.as_ref();
        self.write(|keys| keys.increment_float(key, by))
    }

    /// Gives a key another expiry; returns whether there is such a key.
    pub fn expire(&self, key: impl AsRef<[u8]>, expiry: Expiry) -> Result<bool> {
        let key = key.as_ref();
        self.write(|keys| keys.expire(key, expiry))
    }

    /// Keys that begin with `prefix` and come after `after`, in the order of their bytes; at most `limit`. The last one
    /// is the next call's `after`.
    pub fn scan(
        &self,
        prefix: impl AsRef<[u8]>,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Vec<u8>, KeyEntry)>> {
        self.at(At::Now)?.scan(prefix, after, limit)
    }

    /// Removes all keys, in commits of ten thousand; returns how many.
    pub fn clear(&self) -> Result<u64> {
        let mut cleared = 0;
        loop {
            let keys = self.at(At::Now)?.stored(CLEARED_AT_ONCE)?;
            if keys.is_empty() {
                return Ok(cleared);
            }
            self.write(|writer| keys.iter().try_for_each(|key| writer.remove(key).map(|_| ())))?;
            cleared += keys.len() as u64;
        }
    }

    /// Sets how much of the keys' history is kept; the default is [`Retention::HeadOnly`]. It makes the namespace if
    /// there is none.
    ///
    /// # Errors
    /// [`EngineError::Unsupported`]; [`EngineError::TooLarge`] with too many rules in the store.
    pub fn set_retention(&self, retention: Retention) -> Result<()> {
        let trees = self.space.made(&self.store)?;
        let mut rules = rules(trees, retention).to_vec();
        rules.extend(self.space.rows(&*self.store.engine().snapshot()?)?.map(|tree| rule(tree, retention)));
        Ok(self.store.engine().set_retention(&rules)?)
    }

    /// How much of the keys' history is kept.
    pub fn retention(&self) -> Result<Retention> {
        let Some(trees) = self.space.trees(&*self.store.engine().snapshot()?)? else { return Ok(Retention::HeadOnly) };
        let rules = self.store.engine().retention()?;
        let own = rules.iter().find(|rule| rule.tree == trees.keys);
        Ok(own.map_or(Retention::Everything, |rule| rule.retention))
    }

    /// The tree of the keys' rows, which is made if there is none.
    pub(super) fn rows_made(&self) -> Result<crate::engine::TreeId> {
        self.space.rows_made(&self.store, || self.retention())
    }

    /// Runs `body` and commits its writes; runs it again if others were faster.
    fn write<T>(&self, body: impl Fn(&TransactionKeys<'_>) -> Result<T>) -> Result<T> {
        let trees = self.space.made(&self.store)?;
        retry(|| {
            let view = Overlay::new(self.store.engine().snapshot()?);
            let answer = body(&TransactionKeys::new(&view, trees, self.store.moment()))?;
            let mut batch = view.batch();
            if batch.is_empty() {
                return Ok(Attempt::Done(answer));
            }
            if let Some(durability) = self.durability {
                batch.durability(durability);
            }
            let done = self.store.try_commit(batch)?;
            Ok(done.map(|commit| {
                self.store.was_at(commit.time);
                if view.has_rows_of(trees.expiring) {
                    self.store.sweep_from_now_on();
                }
                answer
            }))
        })
    }
}
