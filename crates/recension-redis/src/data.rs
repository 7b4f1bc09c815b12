//! The data of commands: the keys of a database and the documents beside them, within one transaction.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use recension::{Document, Error, Glob, KeyEntry, KeyValue, Transaction, TransactionKeys};

use crate::door::{Shared, namespace};
use crate::group::Kind;
use crate::long::{Gathered, Long};
use crate::reply::Reply;

/// A request: the command's name, then its arguments.
pub(crate) type Args<'a> = &'a [&'a [u8]];

/// The outcome of a command.
pub(crate) type Outcome = Result<Reply, Refusal>;

/// The reason for which a command fails.
pub(crate) enum Refusal {
    /// A reply with the error.
    Reply(Reply),
    /// The store refuses.
    Store(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Store(error)
    }
}

/// Messages to publish when the transaction is committed: the number of the command, the topic, the message.
pub(crate) type Published = Vec<(usize, Vec<u8>, Vec<u8>)>;

/// A database within a transaction.
pub(crate) struct Data<'t> {
    pub(crate) tx: &'t Transaction,
    pub(crate) keys: TransactionKeys<'t>,
    pub(crate) shared: &'t Shared,
    pub(crate) database: usize,
    command: Cell<usize>,
    published: RefCell<Published>,
    /// The command was waited with: keys that have become another type meanwhile are passed over.
    pub(crate) waited: Cell<bool>,
    /// Something was added that others may wait for.
    pub(crate) pushed: Cell<bool>,
    gathered: RefCell<Gathered>,
}

/// What a key has.
pub(crate) enum Held {
    Text(KeyEntry),
    Group(Kind, KeyEntry),
    /// A document, which is a hash.
    Document(Document<'static>),
}

impl<'t> Data<'t> {
    pub(crate) fn of(tx: &'t Transaction, shared: &'t Shared, database: usize) -> Result<Self, Error> {
        let keys = tx.keys_with_rows(&namespace(database))?;
        let (command, published) = (Cell::new(0), RefCell::default());
        let (waited, pushed) = (Cell::new(false), Cell::new(false));
        let gathered = RefCell::new(Gathered::new(&shared.long, None, &shared.settings.sending, Long::Paid));
        Ok(Data { tx, keys, shared, database, command, published, waited, pushed, gathered })
    }

    /// The same transaction in another database.
    pub(crate) fn in_database(&self, database: usize) -> Result<Data<'t>, Error> {
        let data = Data::of(self.tx, self.shared, database)?;
        data.gathered.swap(&self.gathered);
        Ok(data)
    }

    /// Begins the next command.
    pub(crate) fn begin(&self, number: usize) {
        self.command.set(number);
        self.gathered.borrow_mut().begin();
    }

    /// Counts an item of the command's reply before it is kept.
    pub(crate) fn gather(&self, bytes: usize) -> Result<(), Refusal> {
        self.gathered.borrow_mut().add(bytes)
    }

    /// A reply of this many bytes was made; returns whether it is given up, to be made again.
    pub(crate) fn gathered(&self, bytes: usize) -> bool {
        !self.gathered.borrow_mut().has_room(bytes)
    }

    /// Exchanges how long replies are made.
    pub(crate) fn swap_gathered(&self, gathered: &mut Gathered) {
        std::mem::swap(&mut *self.gathered.borrow_mut(), gathered);
    }

    pub(crate) fn publish(&self, topic: &[u8], payload: &[u8]) {
        self.published.borrow_mut().push((self.command.get(), topic.to_vec(), payload.to_vec()));
    }

    pub(crate) fn into_published(self) -> Published {
        self.published.into_inner()
    }

    /// Passes over a key of another type, if the command was waited with.
    pub(crate) fn unless_waited<T>(&self, taken: Result<Option<T>, Refusal>) -> Result<Option<T>, Refusal> {
        match taken {
            Err(Refusal::Reply(Reply::Error(text))) if self.waited.get() && text.starts_with("WRONGTYPE") => Ok(None),
            taken => taken,
        }
    }

    /// What a key has.
    pub(crate) fn held(&self, key: &[u8]) -> Result<Option<Held>, Refusal> {
        let Some(entry) = self.keys.entry(key)? else { return Ok(self.document(key)?.map(Held::Document)) };
        match &entry.value {
            KeyValue::Rows(rows) => match Kind::of(rows) {
                Some(kind) => Ok(Some(Held::Group(kind, entry))),
                None => Err(refuse("a newer release has written this key: use that one")),
            },
            _ => Ok(Some(Held::Text(entry))),
        }
    }

    pub(crate) fn exists(&self, key: &[u8]) -> Result<bool, Refusal> {
        Ok(self.held(key)?.is_some())
    }

    /// A key as a string.
    pub(crate) fn string(&self, key: &[u8]) -> Result<Option<KeyEntry>, Refusal> {
        match self.held(key)? {
            None => Ok(None),
            Some(Held::Text(entry)) => Ok(Some(entry)),
            Some(_) => Err(wrong_type()),
        }
    }

    /// The document of that name.
    pub(crate) fn document(&self, key: &[u8]) -> Result<Option<Document<'static>>, Refusal> {
        let Some((collection, id)) = hash_name(self.database, key) else { return Ok(None) };
        Ok(self.tx.collection(collection)?.get(id)?)
    }

    /// A key was removed: those that watch it are told.
    pub(crate) fn removed(&self, key: &[u8]) {
        self.shared.watchers.removed(self.database, key);
    }

    /// Deletes a key or a document; returns whether there was one.
    pub(crate) fn delete(&self, key: &[u8]) -> Result<bool, Refusal> {
        if self.keys.remove(key)?.is_some() {
            self.removed(key);
            return Ok(true);
        }
        let Some(document) = self.document(key)? else { return Ok(false) };
        let Some((collection, id)) = hash_name(self.database, key) else { return Ok(false) };
        self.tx.collection(collection)?.delete(id, &document.rev)?;
        Ok(true)
    }
}

/// The document that a hash would be: `collection:id`, or one in the collection `hashes`, if there is such a
/// collection.
/// Only the first database has such hashes.
pub(crate) fn hash_name(database: usize, key: &[u8]) -> Option<(&str, &str)> {
    let name = std::str::from_utf8(key).ok().filter(|name| database == 0 && !name.is_empty())?;
    let named = name.split_once(':').filter(|(collection, id)| {
        collection.starts_with(|first: char| first.is_ascii_alphanumeric())
            && collection.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$()+-/.".contains(&byte))
            && collection.len() <= 238
            && !id.is_empty()
            && !id.starts_with('_')
    });
    match named {
        Some(named) => Some(named),
        None => Some(("hashes", name)).filter(|(_, id)| !id.starts_with('_')),
    }
}

pub(crate) fn wrong_type() -> Refusal {
    Refusal::Reply(Reply::Error("WRONGTYPE Operation against a key holding the wrong kind of value".to_owned()))
}

pub(crate) fn refuse(message: &str) -> Refusal {
    Refusal::Reply(Reply::error(message))
}

pub(crate) fn syntax() -> Refusal {
    refuse("syntax error")
}

/// An argument that is an integer.
pub(crate) fn integer(argument: &[u8]) -> Result<i64, Refusal> {
    let number = KeyValue::from(argument).as_integer();
    number.ok_or_else(|| refuse("value is not an integer or out of range"))
}

/// An argument that is a number; `inf` and `-inf` are such.
pub(crate) fn float(argument: &[u8]) -> Result<f64, Refusal> {
    let text = std::str::from_utf8(argument).ok();
    let number = text.and_then(|text| text.parse::<f64>().ok()).filter(|number| !number.is_nan());
    number.ok_or_else(|| refuse("value is not a valid float"))
}

/// The error of a command that was given too few or too many arguments.
pub(crate) fn arity(name: &[u8]) -> Refusal {
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    refuse(&format!("wrong number of arguments for '{name}' command"))
}

pub(crate) fn is(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

/// The options of a scan.
pub(crate) struct ScanOptions {
    pub(crate) pattern: Option<Glob>,
    /// How many keys it reads at least.
    pub(crate) count: usize,
    /// The wanted type, in small letters.
    pub(crate) kind: Option<Vec<u8>>,
    /// Only the names are wanted.
    pub(crate) no_values: bool,
}

/// The scans, of which each has its own options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    Keys,
    Fields,
    Members,
}

/// Reads the options of a scan.
pub(crate) fn scan_options(mut options: Args<'_>, of: Scan) -> Result<ScanOptions, Refusal> {
    let (mut pattern, mut count, mut kind, mut no_values) = (None, 10, None, false);
    while !options.is_empty() {
        if of == Scan::Fields && is(options[0], "NOVALUES") {
            no_values = true;
            options = &options[1..];
            continue;
        }
        let pair = options.get(..2).ok_or_else(syntax)?;
        options = &options[2..];
        match pair {
            [name, value] if is(name, "MATCH") => pattern = Some(Glob::new(value)),
            [name, value] if is(name, "COUNT") => {
                let number = integer(value)?;
                if number < 1 {
                    return Err(syntax());
                }
                count = usize::try_from(number).unwrap_or(usize::MAX).min(crate::limits::SCAN_COUNT_MAX);
            }
            [name, value] if is(name, "TYPE") && of == Scan::Keys => kind = Some(value.to_ascii_lowercase()),
            _ => return Err(syntax()),
        }
    }
    Ok(ScanOptions { pattern, count, kind, no_values })
}

/// How long a command waits for an element; `None`: for ever.
pub(crate) fn timeout(argument: &[u8]) -> Result<Option<Duration>, Refusal> {
    let text = std::str::from_utf8(argument).ok();
    let seconds = text.and_then(|text| text.parse::<f64>().ok()).filter(|seconds| !seconds.is_nan());
    let seconds = seconds.ok_or_else(|| refuse("timeout is not a float or out of range"))?;
    if seconds < 0.0 {
        return Err(refuse("timeout is negative"));
    }
    // As microseconds it has to fit into 63 bits.
    if seconds > 9.2e12 {
        return Err(refuse("timeout is out of range"));
    }
    Ok(Some(Duration::from_secs_f64(seconds)).filter(|timeout| !timeout.is_zero()))
}
