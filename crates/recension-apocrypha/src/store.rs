//! A database: the members of the top level are the documents of one collection. A read is of one commit, and reads the
//! documents that it needs by id. A write is one commit of the documents that it changes. If others were faster, it
//! runs again.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use recension::engine::{CommitInfo, Durability, Seq, Timestamp};
use recension::{
    At, Collection, CollectionAt, Document, Error, ListOptions, Store, Transaction, TransactionCollection, Write,
    format_time,
};

use crate::dialect::Dialect;
use crate::language::{Command, Effect, Fault, Operator, Part, Root, Step, check_name, evaluate, parse};
use crate::large::LargeMembers;
use crate::limits::{HISTORY_LINES_MAX, LARGE_BYTES_MIN, LARGE_MEMBERS_MAX, REPLY_BYTES_MAX};
use crate::names::{body_of, id_of, name_of, text_of, value_of};
use crate::value::Value;

/// The collection whose documents are the members, unless another is named.
pub const COLLECTION: &str = "apocrypha";

/// The reason given for a command that ended in a panic.
pub(crate) const PANICKED: &str = "the command failed; see the server's log";

/// A database of Apocrypha in a store. Clones are cheap and are the same database.
#[derive(Clone)]
pub struct Database {
    collection: Collection,
    dialect: Dialect,
    durability: Option<Durability>,
    large: Arc<LargeMembers>,
}

impl Database {
    /// The members of the collection `apocrypha`.
    ///
    /// # Errors
    /// Those of [`Store::collection`].
    pub fn on(store: &Store, dialect: Dialect) -> Result<Self, Error> {
        Self::in_collection(store, COLLECTION, dialect)
    }

    /// The members of another collection.
    ///
    /// # Errors
    /// Those of [`Store::collection`].
    pub fn in_collection(store: &Store, name: &str, dialect: Dialect) -> Result<Self, Error> {
        Ok(Database { collection: store.collection(name)?, dialect, durability: None, large: Arc::default() })
    }

    /// The same with another durability of writes than the store's own.
    #[must_use]
    pub fn with_durability(self, durability: Durability) -> Self {
        Database { durability: Some(durability), ..self }
    }

    /// The collection.
    pub fn collection(&self) -> &Collection {
        &self.collection
    }

    /// Its dialect.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Whether a write waits for the disk.
    pub fn writes_wait(&self) -> bool {
        self.durability.unwrap_or_default() == Durability::Disk
    }

    /// The reply to a request's text: one word a line.
    pub fn answer(&self, request: &str) -> String {
        match parse(request, &self.dialect) {
            Ok(command) => self.run(&command),
            Err(why) => self.refusal(&why),
        }
    }

    /// The reply to a command.
    pub fn run(&self, command: &Command) -> String {
        let started = command.timing.then(Instant::now);
        let effect = match (&command.operator, command.history) {
            (Operator::Flush, _) => self.flush(),
            (_, true) => self.history(command),
            (operator, _) if operator.writes() => self.write(command),
            _ => self.read(command),
        };
        self.timed(effect, started)
    }

    /// The reply to a command, with the time since it was begun if it asks for that.
    fn timed(&self, effect: Result<Effect, Fault>, started: Option<Instant>) -> String {
        let mut lines = match effect {
            Ok(effect) => effect.lines,
            Err(fault) => return self.refused(fault),
        };
        lines.extend(started.map(|started| format!("time: {:.6} s", started.elapsed().as_secs_f64())));
        self.reply(lines)
    }

    fn reply(&self, mut lines: Vec<String>) -> String {
        if lines.iter().map(|line| line.len() + 1).sum::<usize>() > REPLY_BYTES_MAX {
            return self.refusal(&format!("the reply is longer than {REPLY_BYTES_MAX} bytes; ask for a part"));
        }
        let mut reply = match lines.pop() {
            Some(only) if lines.is_empty() => only,
            Some(last) => {
                lines.push(last);
                lines.join("\n")
            }
            None => return String::new(),
        };
        if self.dialect.newline_at_end {
            reply.push('\n');
        }
        reply
    }

    fn refused(&self, fault: Fault) -> String {
        match fault {
            Fault::Refused(why) => self.refusal(&why),
            Fault::Store(error) => self.refusal(&error.to_string()),
        }
    }

    /// The reply to a refused command, with the reason. It is always one line.
    pub fn refusal(&self, why: &str) -> String {
        let end = if self.dialect.newline_at_end { "\n" } else { "" };
        format!("error: {}{end}", why.replace('\n', " "))
    }

    /// The members as they are now.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn now(&self) -> Result<CollectionAt, Error> {
        self.collection.at(At::Now)
    }

    /// The reply to a read of one member. If the member is a string that is printed as its document has it, its text
    /// goes to `show` instead, if that takes it. Most reads are of that kind, and then nothing has to be decoded or
    /// copied.
    pub(crate) fn read_member(
        &self,
        members: &CollectionAt,
        name: &str,
        show: impl FnOnce(&str) -> bool,
    ) -> Option<String> {
        let mut reading = Reading { members, read: None, large: &self.large };
        let effect = match reading.text(name, &self.dialect, show) {
            Ok(true) => return None,
            Ok(false) => evaluate(&Command::read_of(name), &self.dialect, &mut reading),
            Err(fault) => Err(fault),
        };
        Some(effect.map_or_else(|fault| self.refused(fault), |effect| self.reply(effect.lines)))
    }

    fn read(&self, command: &Command) -> Result<Effect, Fault> {
        let members = self.collection.at(command.at.unwrap_or(At::Now))?;
        let mut reading = Reading { members: &members, read: None, large: &self.large };
        if let Some(name) = command.member_read() {
            let mut lines = Vec::new();
            let show = |text: &str| {
                lines.push(text.to_owned());
                true
            };
            if reading.text(name, &self.dialect, show)? {
                return Ok(Effect { lines });
            }
        }
        evaluate(command, &self.dialect, &mut reading)
    }

    /// The replies to several commands that write members, as if each had come alone; they wait for the disk together.
    /// A panic only refuses its own command.
    pub(crate) fn run_together(&self, commands: &[Command]) -> Vec<String> {
        let started = Instant::now();
        let mut refused: Vec<Option<String>> = vec![None; commands.len()];
        let bodies = commands.iter().zip(&mut refused).map(|(command, refused)| {
            move |transaction: &Transaction| {
                let attempt = AssertUnwindSafe(|| self.attempt(command, transaction, refused));
                catch_unwind(attempt).unwrap_or_else(|_| {
                    *refused = Some(PANICKED.to_owned());
                    Err(Error::abort(PANICKED))
                })
            }
        });
        let mut bodies: Vec<_> = bodies.collect();
        let done = self.collection.store().transactions(self.durability, &mut bodies);
        drop(bodies);
        let done = done.into_iter().zip(refused).zip(commands);
        done.map(|((done, refused), command)| self.timed(self.effect(done, refused), command.timing.then_some(started)))
            .collect()
    }

    /// Whether a member is cached because it is long: then a write of it takes long as well.
    pub(crate) fn is_large(&self, name: &str) -> bool {
        id_of(name).is_some_and(|id| self.large.has(&id))
    }

    fn write(&self, command: &Command) -> Result<Effect, Fault> {
        let mut refused = None;
        let body = |transaction: &Transaction| self.attempt(command, transaction, &mut refused);
        let done = self.collection.store().transaction_with(self.durability, body);
        self.effect(done, refused)
    }

    /// Runs a command in a transaction. The reason for a refusal is returned separately.
    fn attempt(
        &self,
        command: &Command,
        transaction: &Transaction,
        refused: &mut Option<String>,
    ) -> Result<(Effect, Written), Error> {
        let collection = transaction.collection(self.collection.name())?;
        let mut writing = Writing { collection, changed: BTreeMap::new(), read: None, large: &self.large };
        match evaluate(command, &self.dialect, &mut writing) {
            Ok(effect) => writing.finish().map(|written| (effect, written)),
            Err(Fault::Store(error)) => Err(error),
            Err(Fault::Refused(why)) => {
                *refused = Some(why);
                Err(Error::abort("the command is refused"))
            }
        }
    }

    /// The effect of a transaction.
    fn effect(
        &self,
        done: Result<((Effect, Written), CommitInfo), Error>,
        refused: Option<String>,
    ) -> Result<Effect, Fault> {
        match (done, refused) {
            (Ok(((effect, written), commit)), _) => {
                for (id, bytes, value) in &written {
                    self.large.keep(id, commit.seq, *bytes, value);
                }
                Ok(effect)
            }
            (Err(_), Some(why)) => Err(Fault::Refused(why)),
            (Err(error), None) => Err(Fault::Store(error)),
        }
    }

    fn flush(&self) -> Result<Effect, Fault> {
        self.collection.store().engine().checkpoint().map_err(Error::from)?;
        Ok(Effect::default())
    }

    /// The values at a path, newest first, a line each: the first commit with it, its time, and JSON or `-`.
    fn history(&self, command: &Command) -> Result<Effect, Fault> {
        let now = self.collection.at(command.at.unwrap_or(At::Now))?;
        let mut path = Vec::new();
        for step in &command.steps {
            match step {
                Step::Key(key) => path.push(key.clone()),
                Step::Reference(_) => {
                    return Err(Fault::Refused("--history takes a path of keys, without references".to_owned()));
                }
            }
        }
        let Some((name, rest)) = path.split_first() else { return Ok(Effect::default()) };
        let Some(id) = id_of(name) else { return Ok(Effect::default()) };
        let mut effect = Effect::default();
        let mut bytes = 0;
        let mut newest: Option<(Seq, Timestamp, Option<String>)> = None;
        let mut note = |(seq, time, text): (Seq, Timestamp, Option<String>)| {
            let line = format!("{seq} {} {}", format_time(time), text.as_deref().unwrap_or("-"));
            bytes += line.len() + 1;
            if bytes > REPLY_BYTES_MAX {
                return Err(Fault::Refused("the history is too long for one reply; ask for a part".to_owned()));
            }
            effect.lines.push(line);
            Ok(effect.lines.len() < HISTORY_LINES_MAX)
        };
        for revision in now.history(&id)? {
            let revision = revision?;
            let value = if revision.deleted { None } else { Some(member_of(&revision.body)?) };
            let text = value.as_ref().and_then(|value| value.at(rest)).map(Value::to_json);
            match &mut newest {
                Some((seq, time, same)) if *same == text => (*seq, *time) = (revision.seq, revision.time),
                _ => {
                    if let Some(newer) = newest.replace((revision.seq, revision.time, text))
                        && !note(newer)?
                    {
                        newest = None;
                        break;
                    }
                }
            }
        }
        // A missing value before the first one is not reported.
        if let Some(oldest) = newest.filter(|(.., text)| text.is_some()) {
            note(oldest)?;
        }
        Ok(effect)
    }

    /// Every member as of one commit, in the order of the documents' ids.
    ///
    /// # Errors
    /// Those of the store.
    pub fn each_member(&self, at: At, visit: &mut dyn FnMut(&str, Value) -> Result<(), Fault>) -> Result<(), Fault> {
        each_of(&self.collection.at(at)?, visit)
    }
}

fn member_of(body: &str) -> Result<Value, Fault> {
    value_of(body).map_err(|error| Fault::Store(Error::from(error)))
}

/// The value of a document, from the cache or from the store.
fn look(members: &CollectionAt, id: &str, large: &LargeMembers) -> Result<Option<Arc<Value>>, Fault> {
    if large.has(id)
        && let Some(written_at) = members.written_at(id)?
        && let Some(value) = large.get(id, written_at)
    {
        return Ok(Some(value));
    }
    members.get(id)?.map(|document| decoded(id, &document, large)).transpose()
}

fn decoded(id: &str, document: &Document<'_>, large: &LargeMembers) -> Result<Arc<Value>, Fault> {
    let value = Arc::new(member_of(&document.body)?);
    large.keep(id, document.seq, document.body.len(), &value);
    Ok(value)
}

/// The members as of one commit.
struct Reading<'d> {
    members: &'d CollectionAt,
    /// The member that was read before.
    read: Option<(String, Arc<Value>)>,
    large: &'d LargeMembers,
}

impl Reading<'_> {
    /// Passes on the text of a member, if its document has it as it is printed; returns whether `show` took it.
    fn text(&mut self, name: &str, dialect: &Dialect, show: impl FnOnce(&str) -> bool) -> Result<bool, Fault> {
        let Some(id) = id_of(name).filter(|id| !self.large.has(id)) else { return Ok(false) };
        let Some(document) = self.members.get(&id)? else { return Ok(false) };
        // It may be a symlink to another member.
        let text = text_of(&document.body).filter(|text| !dialect.symlinks || !text.starts_with('!'));
        if text.is_some_and(show) {
            return Ok(true);
        }
        self.read = Some((name.to_owned(), decoded(&id, &document, self.large)?));
        Ok(false)
    }
}

impl Root for Reading<'_> {
    fn member(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        Ok(self.shared(name)?.map(Arc::unwrap_or_clone))
    }

    fn shared(&mut self, name: &str) -> Result<Option<Arc<Value>>, Fault> {
        if let Some((_, value)) = self.read.take_if(|(read, _)| read == name) {
            return Ok(Some(value));
        }
        let Some(id) = id_of(name) else { return Ok(None) };
        look(self.members, &id, self.large)
    }

    fn part(&mut self, name: &str, path: &[String]) -> Result<Part, Fault> {
        let Some(id) = id_of(name).filter(|id| self.large.has(id)) else { return Ok(Part::Unknown) };
        Ok(look(self.members, &id, self.large)?.map_or(Part::Known(None), |member| part_of(&member, path)))
    }

    fn each(&mut self, visit: &mut dyn FnMut(&str, Value) -> Result<(), Fault>) -> Result<(), Fault> {
        each_of(self.members, visit)
    }

    fn put(&mut self, _: &str, _: Option<Value>) -> Result<(), Fault> {
        Err(Fault::Refused("this command reads only".to_owned()))
    }
}

/// The value at a path of a member. If there can be none, the whole member gives the reason.
fn part_of(member: &Value, path: &[String]) -> Part {
    let mut value = member;
    for word in path {
        value = match value {
            Value::Object(members) => match members.get(word) {
                Some(member) => member,
                None => return Part::Known(None),
            },
            Value::Null => return Part::Known(None),
            _ => return Part::Unknown,
        };
    }
    Part::Known(Some(value.clone()))
}

fn each_of(collection: &CollectionAt, visit: &mut dyn FnMut(&str, Value) -> Result<(), Fault>) -> Result<(), Fault> {
    for document in collection.list(&ListOptions::default())? {
        let document = document?;
        if let Some(name) = name_of(&document.id) {
            visit(name, member_of(&document.body)?)?;
        }
    }
    Ok(())
}

/// The members as a transaction sees them, with the command's own changes.
struct Writing<'t> {
    collection: TransactionCollection<'t>,
    changed: BTreeMap<String, Option<Arc<Value>>>,
    /// The member that was read last.
    read: Option<(String, Arc<Value>)>,
    large: &'t LargeMembers,
}

/// Members that a command has written: their documents' ids, the length of their bodies, and their values.
type Written = Vec<(String, usize, Arc<Value>)>;

impl Writing<'_> {
    /// Writes the changed members; returns those that are to be cached after the commit.
    fn finish(self) -> Result<Written, Error> {
        let mut written = Written::new();
        for (name, value) in self.changed {
            let Some(id) = id_of(&name) else {
                return Err(Error::abort("a key of the top level has at most 2048 bytes"));
            };
            match value {
                Some(value) => {
                    let write = Write::put_minified(&id, body_of(&value))?.keep_attachments().unless_same();
                    let bytes = write.body().len();
                    self.collection.write(write)?;
                    if bytes >= LARGE_BYTES_MIN && written.len() < LARGE_MEMBERS_MAX {
                        written.push((id.into_owned(), bytes, value));
                    }
                }
                None => {
                    if let Some(document) = self.collection.get(&id)? {
                        self.collection.delete(&id, &document.rev)?;
                    }
                }
            }
        }
        Ok(written)
    }

    /// A member as it was before this command.
    fn before(&mut self, name: &str) -> Result<Option<Arc<Value>>, Fault> {
        if let Some((read, value)) = &self.read
            && read == name
        {
            return Ok(Some(value.clone()));
        }
        let Some(id) = id_of(name) else { return Ok(None) };
        let found = look(&self.collection.reader()?, &id, self.large)?;
        self.read = found.clone().map(|value| (name.to_owned(), value));
        Ok(found)
    }
}

impl Root for Writing<'_> {
    fn member(&mut self, name: &str) -> Result<Option<Value>, Fault> {
        if let Some(changed) = self.changed.get(name) {
            return Ok(changed.as_deref().cloned());
        }
        Ok(self.before(name)?.map(|member| Value::clone(&member)))
    }

    fn shared(&mut self, name: &str) -> Result<Option<Arc<Value>>, Fault> {
        match self.changed.get(name) {
            Some(changed) => Ok(changed.clone()),
            None => self.before(name),
        }
    }

    fn part(&mut self, name: &str, path: &[String]) -> Result<Part, Fault> {
        if let Some(changed) = self.changed.get(name) {
            return Ok(changed.as_ref().map_or(Part::Known(None), |member| part_of(member, path)));
        }
        Ok(self.before(name)?.map_or(Part::Known(None), |member| part_of(&member, path)))
    }

    fn each(&mut self, visit: &mut dyn FnMut(&str, Value) -> Result<(), Fault>) -> Result<(), Fault> {
        let changed = &self.changed;
        each_of(&self.collection.reader()?, &mut |name, value| match changed.get(name) {
            None => visit(name, value),
            Some(_) => Ok(()),
        })?;
        for (name, value) in changed {
            if let Some(value) = value {
                visit(name, Value::clone(value))?;
            }
        }
        Ok(())
    }

    fn put(&mut self, name: &str, value: Option<Value>) -> Result<(), Fault> {
        check_name(name)?;
        self.changed.insert(name.to_owned(), value.map(Arc::new));
        Ok(())
    }
}
