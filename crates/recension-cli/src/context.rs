//! The context of a command: the named store, the output, and whether the user has asked to stop.

use std::fs;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use recension::Key;
use recension::engine::{self, Branches, Engine, NativeEngine, NativeOptions};
use recension::{At, Store};
use recension_engines::{Address, KeySource, Sharing};
use recension_log::{LogAddress, Position};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::common::Common;
use crate::error::{CliError, Result};
use crate::moments::check_not_ahead;
use crate::output::{Audience, Output};

/// What to do if the store is not there yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A command that writes makes it.
    Create,
    /// A command that only reads says so: a mistyped name must not make an empty store.
    IsAnError,
}

/// The state that the commands of one process share. In a shell the store stays open between them.
#[derive(Default)]
pub struct Session {
    opened: Option<(String, Store)>,
    interrupted: Option<Arc<AtomicBool>>,
    /// The commands come from standard input, so no command may read it.
    shell: bool,
}

impl Session {
    /// The session of a shell.
    pub fn of_shell() -> Self {
        Session { shell: true, ..Session::default() }
    }

    /// Keeps the store that a command has opened, for the next command.
    pub fn keep(&mut self, context: Context) {
        let Session { opened, interrupted, .. } = context.session;
        // A command that named another store does not close the session's one.
        if self.opened.is_none() && opened.as_ref().is_some_and(|(address, _)| *address == context.home) {
            self.opened = opened;
        }
        self.interrupted = self.interrupted.take().or(interrupted);
    }

    /// The open store.
    pub fn store(&self) -> Option<&Store> {
        self.opened.as_ref().map(|(_, store)| store)
    }

    /// Clears the note that the user has pressed Ctrl-C. Returns whether it was set.
    pub fn take_interrupt(&self) -> bool {
        self.interrupted.as_ref().is_some_and(|flag| flag.swap(false, Ordering::Relaxed))
    }

    fn share(&self) -> Self {
        Session { opened: self.opened.clone(), interrupted: self.interrupted.clone(), shell: self.shell }
    }
}

/// The store if none is named.
const DEFAULT_STORE: &str = "recension.store";

/// The context of a command.
pub struct Context {
    /// The output of results.
    pub out: Output,
    /// Whether the error that ends the command is a line of JSON, as the rest of its log.
    pub error_as_json: bool,
    address: String,
    /// The branch that stands behind the address.
    of_address: Option<String>,
    /// The branch that an option or the environment names.
    branch: Option<String>,
    /// Whether the user named the address.
    named: bool,
    /// The store of the session, which [`Session::keep`] keeps open.
    home: String,
    quiet: bool,
    keys: KeySource,
    /// Whether other processes can reach the store through this one.
    sharing: Sharing,
    session: Session,
}

impl Context {
    /// The context of a command line.
    pub fn new(common: &Common) -> Self {
        Context::in_session(common, &Session::default(), common.store.as_deref().unwrap_or(DEFAULT_STORE))
    }

    /// The context of a line of a shell on the store `home`.
    pub fn in_session(common: &Common, session: &Session, home: &str) -> Self {
        let out = Output::new(Audience::new(common.json, common.table), common.quiet);
        let home = home.to_owned();
        let (address, of_address) = split(common.store.as_deref().unwrap_or(DEFAULT_STORE));
        let branch = common.branch.clone();
        let named = common.store.is_some();
        let sharing = if session.shell { Sharing::Shared } else { Sharing::Alone };
        let keys = common.key_source();
        Context {
            out,
            error_as_json: false,
            address,
            of_address,
            branch,
            named,
            home,
            quiet: common.quiet,
            keys,
            sharing,
            session: session.share(),
        }
    }

    /// The store's address, if the command line or the environment names one.
    pub fn named_address(&self) -> Option<&str> {
        self.named.then_some(self.address.as_str())
    }

    /// The store's address, as it was given, without a branch.
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// The same with the branch that is worked on.
    pub fn full_address(&self) -> Result<String> {
        let branch = self.branch()?.map(|branch| format!("#{branch}")).unwrap_or_default();
        Ok(format!("{}{branch}", self.address))
    }

    /// The branch that is worked on; `None`: the main line.
    fn branch(&self) -> Result<Option<&str>> {
        let named = match (&self.of_address, &self.branch) {
            (Some(one), Some(other)) if one != other => {
                let why = format!("the address names the branch {one}, --branch or RECENSION_BRANCH {other}");
                return Err(CliError::Usage(why));
            }
            (one, other) => other.as_ref().or(one.as_ref()),
        };
        Ok(named.map(String::as_str).filter(|name| *name != "main"))
    }

    /// Refuses a branch for what is of the whole store.
    pub fn whole_store(&self, command: &str) -> Result<()> {
        match self.branch()? {
            None => Ok(()),
            Some(branch) => {
                let why = format!("{command} is for the whole store: leave out the branch {branch}");
                Err(CliError::Usage(why))
            }
        }
    }

    /// Where the key of the store comes from, if the command line says.
    pub fn key_source(&self) -> &KeySource {
        &self.keys
    }

    /// The key of the store, if there is one.
    pub fn key(&self) -> Result<Option<Key>> {
        Ok(self.keys.key()?)
    }

    /// Options of opening a native store, with its key.
    pub fn native_options(&self) -> Result<NativeOptions> {
        Ok(self.keys.options()?)
    }

    /// Whether the commands come from a shell.
    pub fn in_shell(&self) -> bool {
        self.session.shell
    }

    /// Uses another store than the command line names.
    pub fn set_address(&mut self, address: &str) {
        (self.address, self.of_address) = split(address);
        self.named = true;
    }

    /// The same; the branch is that of the address only.
    pub fn go_to(&mut self, address: &str) {
        self.branch = None;
        self.set_address(address);
    }

    /// Whether remarks and progress are to be left out.
    pub fn quiet(&self) -> bool {
        self.quiet
    }

    /// Lets other processes use a store that is opened after this call. For commands that keep the store open.
    pub fn share(&mut self) {
        self.sharing = Sharing::Shared;
    }

    /// After this call the first Ctrl-C only makes [`Context::interrupted`] return true. The second one ends the
    /// process at once, which loses nothing that was acknowledged. Without this call, the first one does that.
    pub fn watch_for_interrupts(&mut self) -> Result<()> {
        if self.session.interrupted.is_some() {
            return Ok(());
        }
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&flag))
                .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
                .map_err(|error| CliError::io("watching for Ctrl-C", &error))?;
        }
        self.session.interrupted = Some(flag);
        Ok(())
    }

    /// Whether the user has pressed Ctrl-C.
    pub fn interrupted(&self) -> bool {
        self.session.interrupted.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Returns an error if the command was interrupted.
    pub fn go_on(&self) -> Result<()> {
        if self.interrupted() { Err(CliError::Interrupted("interrupted".to_owned())) } else { Ok(()) }
    }

    /// Opens the store as documents.
    pub fn store(&mut self, missing: Missing) -> Result<Store> {
        let full = self.full_address()?;
        match &self.session.opened {
            Some((address, store)) if *address == full => Ok(store.clone()),
            // Another line of the store that is open: nobody opens it twice.
            Some((address, store)) if split(address).0 == self.address => {
                Ok(store.open_branch(self.branch()?.unwrap_or("main"))?)
            }
            _ => {
                let mut store = Store::on(self.open(missing)?)?;
                if let Some(guard) = crate::functions::guard() {
                    store = store.guarded(guard);
                }
                self.session.opened = Some((full, store.clone()));
                Ok(store)
            }
        }
    }

    /// Opens the store.
    pub fn engine(&mut self, missing: Missing) -> Result<Arc<dyn Engine>> {
        let full = self.full_address()?;
        match &self.session.opened {
            Some((address, store)) if *address == full => Ok(Arc::clone(store.engine())),
            _ => self.open(missing),
        }
    }

    /// Returns an error if the moment is in the future: the same question would have another answer tomorrow.
    pub fn moment(&self, store: &Store, at: At) -> Result<At> {
        check_not_ahead(&**store.engine(), at)?;
        Ok(at)
    }

    /// Standard input, for a command whose input was not given otherwise. `what` names the missing input in the error.
    pub fn standard_input(&self, what: &str) -> Result<Box<dyn Read>> {
        if self.session.shell {
            return Err(CliError::Usage(format!("{what} (the shell's own input is for commands)")));
        }
        if io::stdin().is_terminal() {
            return Err(CliError::Usage(what.to_owned()));
        }
        Ok(Box::new(io::stdin()))
    }

    /// Asks the user, unless `yes` is set.
    pub fn confirm(&mut self, yes: bool, question: &str) -> Result<()> {
        if yes {
            return Ok(());
        }
        let declined = || CliError::Usage("nothing was done; --yes does it without asking".to_owned());
        // If nobody can answer, nobody has agreed.
        if !io::stdin().is_terminal() {
            return Err(declined());
        }
        self.out.flush()?;
        let mut answer = String::new();
        write!(io::stderr(), "{question} [y/N] ")?;
        io::stdin()
            .lock()
            .take(80)
            .read_line(&mut answer)
            .map_err(|error| CliError::io("reading the answer", &error))?;
        if ["y", "yes"].contains(&answer.trim().to_lowercase().as_str()) { Ok(()) } else { Err(declined()) }
    }

    fn open(&mut self, missing: Missing) -> Result<Arc<dyn Engine>> {
        // No store is made for a branch that it cannot have.
        let missing = if self.branch()?.is_some() { Missing::IsAnError } else { missing };
        let whole = self.open_whole(missing)?;
        match self.branch()? {
            Some(branch) => Ok(Branches::of(&whole).open(branch)?),
            None => Ok(whole),
        }
    }

    fn open_whole(&mut self, missing: Missing) -> Result<Arc<dyn Engine>> {
        let address = Address::parse(&self.address)?;
        let path = match &address {
            Address::Sqlite(path) | Address::Native(path) => path.as_path(),
            Address::Log(log) => return self.open_log(log, missing),
            Address::Network(_) => return Ok(recension_engines::open(&self.address)?),
            Address::Memory => Path::new(""),
        };
        let is_new = address != Address::Memory && is_absent(path);
        if missing == Missing::IsAnError && is_new {
            return Err(CliError::Io(format!(
                "there is no store at {}; `recension import` creates one, --store or RECENSION_STORE names another",
                self.address
            )));
        }
        let engine = match (recension_engines::open_as(&self.address, self.sharing, &self.keys.options()?), &address) {
            (Err(error), Address::Native(path)) if error.is_forbidden() && missing == Missing::IsAnError => {
                let engine = NativeEngine::open_read_only(path, self.keys.options()?)?;
                let where_ = path.display();
                self.out.remark(&format!("{where_} is read as it is: nothing can be written there ({error})"))?;
                Arc::new(engine)
            }
            (engine, _) => engine?,
        };
        if is_new && self.out.for_people() {
            self.out.remark(&made_in(path))?;
        }
        Ok(engine)
    }

    /// Opens a store on a shared log.
    fn open_log(&self, address: &LogAddress, missing: Missing) -> Result<Arc<dyn Engine>> {
        if missing == Missing::IsAnError {
            let log = recension_log::open_log(address)?;
            let tail = log.tail(Position(0)).map_err(recension::engine::EngineError::from)?;
            if tail == Position::FIRST {
                return Err(CliError::Io(format!(
                    "there is no store at {address}; `recension import` creates one, --store or RECENSION_STORE names \
                     another"
                )));
            }
        }
        let engine: Arc<dyn Engine> = Arc::new(recension_log::open(&self.address)?);
        // Opening has read up to the log's end.
        Ok(engine)
    }

    /// The time, to say later how long something took.
    pub fn started(&self) -> Instant {
        Instant::now()
    }

    /// Prints how long it took, if people read the output.
    pub fn remark_time(&mut self, started: Instant) -> Result<()> {
        if self.out.for_people() {
            let text = format!("({})", took(started.elapsed()));
            self.out.remark(&text)?;
        }
        Ok(())
    }
}

/// An address without its branch, and the branch.
fn split(address: &str) -> (String, Option<String>) {
    let is_path = Path::new(address).exists();
    match engine::Address::branch(address).filter(|_| !is_path) {
        Some((place, branch)) => (place.to_owned(), Some(branch.to_owned())),
        None => (address.to_owned(), None),
    }
}

/// Whether there is nothing at a path, or only an empty folder.
pub fn is_absent(path: &Path) -> bool {
    !path.exists() || engine::native::is_empty_place(path)
}

/// The remark on where a new store was made, for a user who has not named one.
pub fn made_in(path: &Path) -> String {
    format!("a new store in {}", fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).display())
}

/// A duration for people.
pub fn took(duration: Duration) -> String {
    match duration.as_secs_f64() {
        seconds if seconds < 0.001 => format!("{:.0} µs", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.1} s"),
    }
}
