//! The collections of a store at a moment, and the errors if there is nothing then. An empty answer must never stand
//! for "it was not made yet".

use recension::conditions::similar;
use recension::engine::{Clock as _, Engine, Seq, SystemClock, Timestamp};
use recension::{At, Collection, CollectionAt, Error, Store, format_time};

use crate::error::{CliError, Result};

/// The collection as of a moment, if there was one then.
///
/// # Errors
/// There was none. The error says when it was made.
pub fn existing(store: &Store, name: &str, at: At) -> Result<CollectionAt> {
    if let Some((plain, number)) = name.split_once('#') {
        return dropped(store, name, (plain, number), at);
    }
    let collection = store.collection(name)?;
    let then = collection.at(at)?;
    if then.exists() { Ok(then) } else { Err(none(&collection, at, then.seq())?) }
}

/// The collection for a write, if it is there.
///
/// # Errors
/// There is none.
pub fn to_change(store: &Store, name: &str) -> Result<Collection> {
    existing(store, name, At::Now)?;
    Ok(store.collection(name)?)
}

/// The collection for a write. If it is not there, the first write makes it.
///
/// # Errors
/// It is not there, and only the server may make one of its name.
pub fn to_write(store: &Store, name: &str) -> Result<Collection> {
    let collection = store.collection(name)?;
    if name.starts_with('_') && !collection.at(At::Now)?.exists() {
        return Err(CliError::Usage(format!(
            "{name:?} cannot name a new collection: names that begin with _ are the server's; begin with a letter or a \
             digit"
        )));
    }
    Ok(collection)
}

/// A dropped collection, by its name and its number. Its newest moment is the one right before the drop.
fn dropped(store: &Store, name: &str, (plain, number): (&str, &str), at: At) -> Result<CollectionAt> {
    let bad =
        || CliError::Usage(format!("{name:?}: behind # comes a number that `recension collections --dropped` lists"));
    let number: u32 = number.parse().map_err(|_| bad())?;
    let dropped = store.dropped_collections()?.into_iter().find(|one| one.number == number && one.name == plain);
    let Some(dropped) = dropped else {
        let what = format!("no collection {name} was dropped; `recension collections --dropped` lists those that were");
        return Err(CliError::NotFound(what));
    };
    store.dropped_collection(number, at).map_err(|error| match error {
        Error::NoSuchCollection { .. } => {
            let (made, gone) = (format_time(dropped.made.time), format_time(dropped.dropped.time));
            let (first, last) = (dropped.made.seq, dropped.dropped.seq);
            let then = then(at);
            let what =
                format!("{name} was there from {made} (commit {first}) until {gone} (commit {last}), not {then}");
            CliError::NotFound(what)
        }
        error => error.into(),
    })
}

/// The error for a collection that is not there at a moment. `then` is the moment's commit.
fn none(collection: &Collection, at: At, then: Seq) -> Result<CliError> {
    let name = collection.name();
    let now = collection.at(At::Now)?;
    if !now.exists() {
        let when = if at == At::Now { String::new() } else { format!(", now or {}", self::then(at)) };
        let others = collection.store().collections(At::Now)?;
        let similar = match similar(name, others.iter().map(|other| other.name.as_str())) {
            Some(other) => format!("; there is {other}"),
            None => String::new(),
        };
        return Ok(CliError::NotFound(format!(
            "there is no collection {name}{when}{similar}; `recension collections` lists the existing ones"
        )));
    }
    let engine = collection.store().engine();
    let (made, time) = match collection.settings().made()? {
        Some(made) => (made.seq, format_time(made.time)),
        // It was dropped just now.
        None => (now.seq(), format_time(engine.snapshot_at(now.seq())?.time()?)),
    };
    let earlier = if collection.store().dropped_collections()?.iter().any(|dropped| dropped.name == name) {
        "; `recension collections --dropped` lists earlier ones of that name"
    } else {
        ""
    };
    let store = match first_commit(&**engine)? {
        Some((seq, first)) if then < seq => format!(", and the first commit of the store is of {first}"),
        _ => String::new(),
    };
    Ok(CliError::NotFound(format!(
        "{} there was no collection {name} yet: it was made by commit {made}, at {time}{store}{earlier}",
        self::then(at)
    )))
}

/// A moment within a sentence: `2h ago`, `at seq:17`.
fn then(at: At) -> String {
    if matches!(at, At::Ago(_)) { format!("{at} ago") } else { format!("at {at}") }
}

/// The store's first commit and its time.
fn first_commit(engine: &dyn Engine) -> Result<Option<(Seq, String)>> {
    let first = Seq(1);
    if engine.head() < first {
        return Ok(None);
    }
    Ok(Some((first, format_time(engine.snapshot_at(first)?.time()?))))
}

/// Refuses a moment in the future: the same question would have another answer tomorrow.
///
/// # Errors
/// It is in the future.
pub fn check_not_ahead(engine: &dyn Engine, at: At) -> Result<()> {
    let At::Time(time) = at else { return Ok(()) };
    let now = SystemClock.now();
    // Commits may have later times than a clock that was set back.
    let newest = engine.commit_at(Timestamp(u64::MAX))?.map_or(now, |commit| commit.time);
    if time > now.max(newest) {
        let (time, now) = (format_time(time), format_time(now));
        return Err(CliError::Usage(format!("--at {time} is in the future: it is {now} now")));
    }
    Ok(())
}

/// Refuses a moment before the store's first commit.
///
/// # Errors
/// It lies before. The error says which moments there are.
pub fn check_begun(engine: &dyn Engine, at: At, then: Seq) -> Result<()> {
    if then > Seq::ZERO {
        return Ok(());
    }
    let head = engine.head();
    Err(CliError::NotFound(match first_commit(engine)? {
        None => "the store has no commits".to_owned(),
        Some((first, begun)) => {
            let newest = format_time(engine.snapshot_at(head)?.time()?);
            format!(
                "{at} is before the first commit: the store has the moments from commit {first} ({begun}) to commit \
                 {head} ({newest})"
            )
        }
    }))
}
