//! The data of commands: the keys of a database and the documents beside them, within one transaction.

use std::cell::{Cell, RefCell};

use parking_lot::Mutex;
use recension::{Error, Glob, KeyEntry, KeyValue, Transaction, TransactionKeys};

use crate::door::{Scans, namespace};
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
    pub(crate) scans: &'t Mutex<Scans>,
    pub(crate) database: usize,
    command: Cell<usize>,
    published: RefCell<Published>,
}

impl<'t> Data<'t> {
    pub(crate) fn of(tx: &'t Transaction, scans: &'t Mutex<Scans>, database: usize) -> Result<Self, Error> {
        let keys = tx.keys(&namespace(database))?;
        Ok(Data { tx, keys, scans, database, command: Cell::new(0), published: RefCell::default() })
    }

    /// Begins the next command.
    pub(crate) fn begin(&self, number: usize) {
        self.command.set(number);
    }

    pub(crate) fn publish(&self, topic: &[u8], payload: &[u8]) {
        self.published.borrow_mut().push((self.command.get(), topic.to_vec(), payload.to_vec()));
    }

    pub(crate) fn into_published(self) -> Published {
        self.published.into_inner()
    }

    /// A key as a string. A name that only a document has is missing.
    pub(crate) fn string(&self, key: &[u8]) -> Result<Option<KeyEntry>, Refusal> {
        let entry = self.keys.entry(key)?;
        if entry.is_none() && self.is_hash(key)? {
            return Err(wrong_type());
        }
        Ok(entry)
    }

    /// Whether there is a document of that name.
    pub(crate) fn is_hash(&self, key: &[u8]) -> Result<bool, Refusal> {
        let Some((collection, id)) = hash_name(self.database, key) else { return Ok(false) };
        Ok(self.tx.collection(collection)?.get(id)?.is_some())
    }

    /// Deletes a key or a document; answers whether there was one.
    pub(crate) fn delete(&self, key: &[u8]) -> Result<bool, Refusal> {
        if self.keys.remove(key)?.is_some() {
            return Ok(true);
        }
        let Some((collection, id)) = hash_name(self.database, key) else { return Ok(false) };
        let documents = self.tx.collection(collection)?;
        let Some(document) = documents.get(id)? else { return Ok(false) };
        documents.delete(id, &document.rev)?;
        Ok(true)
    }
}

/// The document of a hash: `collection:id`, or one in the collection `hashes`. Only the first database has hashes.
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

/// An argument that is a finite number.
pub(crate) fn float(argument: &[u8]) -> Result<f64, Refusal> {
    KeyValue::from(argument).as_float().ok_or_else(|| refuse("value is not a valid float"))
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
}

/// Reads the options of a scan.
pub(crate) fn scan_options(options: Args<'_>) -> Result<ScanOptions, Refusal> {
    let (mut pattern, mut count, mut kind) = (None, 10, None);
    for pair in options.chunks(2) {
        match pair {
            [name, value] if is(name, "MATCH") => pattern = Some(Glob::new(value)),
            [name, value] if is(name, "COUNT") => {
                let number = integer(value)?;
                if number < 1 {
                    return Err(syntax());
                }
                count = usize::try_from(number).unwrap_or(usize::MAX).min(crate::limits::SCAN_COUNT_MAX);
            }
            [name, value] if is(name, "TYPE") => kind = Some(value.to_ascii_lowercase()),
            _ => return Err(syntax()),
        }
    }
    Ok(ScanOptions { pattern, count, kind })
}
