//! The address of a store of any built-in engine. `recension-engine` reads its form, and `recension-log` the part after
//! the scheme of a shared log. Parsing is pure: nothing is opened until the whole address is understood.

use std::path::PathBuf;

use recension::engine::{Address as Form, EngineError, Result};
use recension_log::{LogAddress, without_password};
use recension_remote::network::NetworkAddress;

/// A parsed address of a store. The kinds are exhaustive: the compiler names each place that a new one concerns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// `memory:`: an empty store that ends with the process.
    Memory,
    /// `sqlite:FILE`: a file in `SQLite`'s format.
    Sqlite(PathBuf),
    /// A path: the directory of a native store.
    Native(PathBuf),
    /// `postgres://...`, `etcd://...` and others: a store on a shared log. `recension-log` reads it.
    Log(LogAddress),
    /// `recension://[NAME@]HOST:PORT`: a store of a server. It is understood by `recension-remote`.
    Network(NetworkAddress),
}

impl Address {
    /// Parses `memory:`, `sqlite:FILE`, or a path. A path that begins like an address of another kind (letters, then a
    /// colon) is written with `./` before it.
    ///
    /// ```
    /// use recension_engines::Address;
    /// assert_eq!(Address::parse("sqlite:notes.db").unwrap(), Address::Sqlite("notes.db".into()));
    /// assert_eq!(Address::parse("./a:b").unwrap(), Address::Native("./a:b".into()));
    /// assert!(matches!(Address::parse("etcd://a,b,c/notes"), Ok(Address::Log(_))));
    /// assert!(Address::parse("oracle:x").is_err());
    /// ```
    ///
    /// # Errors
    /// [`EngineError::BadAddress`], which lists the valid forms.
    pub fn parse(address: &str) -> Result<Self> {
        let bad = |why: &str| Err(EngineError::BadAddress { address: without_password(address), why: why.to_owned() });
        if NetworkAddress::is_one(address) {
            return NetworkAddress::parse(address).map(Address::Network);
        }
        if LogAddress::is_one(address) {
            return LogAddress::parse(address).map(Address::Log);
        }
        match Form::parse(address) {
            Ok(Form::Memory) => Ok(Address::Memory),
            Ok(Form::Path(path)) => Ok(Address::Native(path.to_owned())),
            Ok(Form::Scheme("sqlite", "")) => bad("a file must follow, as in sqlite:notes.db"),
            Ok(Form::Scheme("sqlite", ":memory:")) => bad("for a store in memory, write memory:"),
            Ok(Form::Scheme("sqlite", file)) => Ok(Address::Sqlite(file.into())),
            Ok(Form::Scheme(..)) => bad(
                "the kinds of store are memory:, sqlite:FILE, a path (write ./ before a path with a colon), and on a \
                     shared log postgres://, mysql://, mongodb://, etcd://, s3:// and file://, and of a server \
                     recension://[NAME@]HOST:PORT",
            ),
            Err(EngineError::BadAddress { why, .. }) => bad(&why),
            Err(error) => Err(error),
        }
    }
}
