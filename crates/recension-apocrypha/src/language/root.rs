//! The data of a command: the members of the top level, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use recension::Error;

use crate::names::id_of;
use crate::value::Value;

/// The reason for which a command was not carried out. Nothing of it was.
#[derive(Debug)]
pub enum Fault {
    /// The command is invalid; the text says why, and becomes `error: ...`.
    Refused(String),
    /// The store refuses.
    Store(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Store(error)
    }
}

impl Fault {
    pub(crate) fn refused<T>(why: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::Refused(why.into()))
    }
}

/// The value of a part of a member, if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is this value; `None`: there is none.
    Known(Option<Value>),
    /// Only the whole member tells.
    Unknown,
}

/// The top level, as one command sees it: its own writes included.
pub trait Root {
    /// A member.
    fn member(&mut self, name: &str) -> Result<Option<Value>, Fault>;

    /// The same if the value will not be changed: it need not be copied.
    fn shared(&mut self, name: &str) -> Result<Option<Arc<Value>>, Fault> {
        Ok(self.member(name)?.map(Arc::new))
    }

    /// The value at a path within a member, if it is known without reading the rest of the member.
    fn part(&mut self, name: &str, path: &[String]) -> Result<Part, Fault> {
        let _ = (name, path);
        Ok(Part::Unknown)
    }

    /// Members from the first to the last by the order of their names, until `visit` fails.
    fn each(&mut self, visit: &mut dyn FnMut(&str, Value) -> Result<(), Fault>) -> Result<(), Fault>;

    /// Sets a member; `None` removes it. If it has the value already, nothing is written.
    fn put(&mut self, name: &str, value: Option<Value>) -> Result<(), Fault>;
}

/// Refuses an invalid name of a member, in any kind of root.
pub(crate) fn check_name(name: &str) -> Result<(), Fault> {
    match id_of(name) {
        Some(_) => Ok(()),
        None => Fault::refused("a key of the top level has at most 2048 bytes"),
    }
}

/// A top level in memory.
pub type MemoryRoot = BTreeMap<String, Value>;

impl Root for MemoryRoot {
    fn member(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        Ok(self.get(name).cloned())
    }

    fn each(&mut self, visit: &mut dyn FnMut(&str, Value) -> Result<(), Fault>) -> Result<(), Fault> {
        self.iter().try_for_each(|(name, value)| visit(name, value.clone()))
    }

    fn put(&mut self, name: &str, value: Option<Value>) -> Result<(), Fault> {
        check_name(name)?;
        match value {
            Some(value) => self.insert(name.to_owned(), value),
            None => self.remove(name),
        };
        Ok(())
    }
}
