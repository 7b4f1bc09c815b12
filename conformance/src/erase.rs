//! A store in which one document has left every possible trace, and checks that it is wholly there or wholly gone. They
//! look through every read, in every row of every tree at every moment, and in the bytes of files.

use std::collections::BTreeSet;
use std::io::Read;

use recension::engine::{Direction, EngineError, KeyRange, Seq, TreeId};
use recension::{
    At, Collection, ConsumerOptions, Expect, IndexSpec, ListOptions, Literal, Query, ReplicatedWrite, RevId, Store,
    ValueRange, Write,
};

/// The document's id. It is searched for by its pieces of eight bytes, since keys share prefixes in files.
pub const ID: &str = "zK7qW2mXv9pR4tYb";
const BODY: &str = "hG5cN8sLd3fJ6wQx";
const FORMER: &str = "Ue0rT1iOa9ySk2Dz";
const LOSING: &str = "Mv6bC4nZx8lPq7Ej";
const EMAIL: &str = "Rg3hB5yHu2jFo1Kw";
const SMALL: &[u8] = b"Xs9dV7eCw4rFt6Gb";
const LARGE: &[u8] = b"Nj8mK3iLo0pQa5Zs";
const DROPPED: &str = "Ty2uI7oPl4kJh9Gf";
/// The id as a position has it.
const ID_IN_POSITIONS: &str = "7a4b377157326d587639705234745962";

/// What nobody shall find.
const MARKS: [&[u8]; 9] = [
    ID.as_bytes(),
    BODY.as_bytes(),
    FORMER.as_bytes(),
    LOSING.as_bytes(),
    EMAIL.as_bytes(),
    SMALL,
    LARGE,
    DROPPED.as_bytes(),
    ID_IN_POSITIONS.as_bytes(),
];

/// Beyond the last tree of the store.
const TREES: u32 = 44;
const COLLECTION: &str = "people";

/// A description of a failure.
pub type Finding = String;

fn text(error: impl std::fmt::Display) -> Finding {
    error.to_string()
}

/// The collection of the document.
///
/// # Errors
/// If the name is refused, which cannot happen.
pub fn people(store: &Store) -> Result<Collection, Finding> {
    store.collection(COLLECTION).map_err(text)
}

fn body(name: &str, email: &str) -> String {
    format!("{{\"name\":\"{name}\",\"email\":\"{email}\"}}")
}

/// Makes the store. Returns a moment at which the document was there.
///
/// # Errors
/// The store refuses something.
pub fn build(store: &Store) -> Result<Seq, Finding> {
    let people = people(store)?;
    // First a collection of this name that is dropped again.
    people.create_index(IndexSpec::new("name", "name"), |_| ()).map_err(text)?;
    people.put(ID, body(DROPPED, "a")).map_err(text)?;
    store.drop_collection(COLLECTION).map_err(text)?;

    people.create_index(IndexSpec::unique("email", "email"), |_| ()).map_err(text)?;
    people.put("alice", body("Alice", "alice@example.org")).map_err(text)?;
    people.put("bob", body("Bob", "bob@example.org")).map_err(text)?;
    people.put(ID, body(FORMER, "first@example.org")).map_err(text)?;
    people.create_index(IndexSpec::new("name", "name"), |_| ()).map_err(text)?;
    people.create_index(IndexSpec::new("old", "name"), |_| ()).map_err(text)?;
    // Consumers that were handed it: one has acknowledged it, one has not, and both stand behind it.
    for name in ["prompt", "slow"] {
        let consumer = people.consumer(name, ConsumerOptions::new()).map_err(text)?;
        for delivery in consumer.receive(100).map_err(text)? {
            if name == "prompt" {
                consumer.acknowledge(&delivery).map_err(text)?;
            }
        }
    }
    let forgotten = people.consumer("forgotten", ConsumerOptions::new()).map_err(text)?;
    let _ = forgotten.receive(100).map_err(text)?;
    forgotten.forget().map_err(text)?;
    // A value of a unique index that passes from one to the other.
    people.put("bob", body("Bob", "passing@example.org")).map_err(text)?;
    people.put("bob", body("Bob", "bob@example.org")).map_err(text)?;
    people.put(ID, body(BODY, "passing@example.org")).map_err(text)?;
    people.put(ID, body(BODY, EMAIL)).map_err(text)?;
    people.put("alice", body("Alice", "passing@example.org")).map_err(text)?;
    people.drop_index("old").map_err(text)?;
    // Attachment contents: one of its own, one that another document has too, and one that is uploaded twice.
    let large: Vec<u8> = LARGE.iter().chain(&vec![7; 90_000]).copied().cycle().take(1_100_000).collect();
    people.attach(ID, Expect::Anything, "small", "image/png", SMALL).map_err(text)?;
    people.attach(ID, Expect::Anything, "shared", "image/png", &b"shared by two"[..]).map_err(text)?;
    people.attach("bob", Expect::Anything, "shared", "image/png", &b"shared by two"[..]).map_err(text)?;
    for name in ["large", "again"] {
        people.attach(ID, Expect::Anything, name, "image/png", &large[..]).map_err(text)?;
    }
    // A long ancestry, a conflict, a purge, a deletion.
    for n in 0..30 {
        let write = Write::put(ID, format!("{{\"name\":\"{BODY}\",\"email\":\"{EMAIL}\",\"n\":{n}}}")).map_err(text)?;
        people.write(write.keep_attachments()).map_err(text)?;
    }
    for (suffix, name) in [("losing", LOSING), ("purged", LOSING)] {
        let rev = RevId::with_suffix(2, suffix).map_err(text)?;
        let write = ReplicatedWrite::new(ID, rev, &[], false, body(name, "losing@example.org")).map_err(text)?;
        people
            .replication()
            .merge_revisions([write])
            .map_err(text)?
            .into_iter()
            .try_for_each(|done| done.map(drop))
            .map_err(text)?;
    }
    people.replication().purge(ID, &[RevId::with_suffix(2, "purged").map_err(text)?]).map_err(text)?;
    let there = people.put("alice", body("Alice", "alice@example.org")).map_err(text)?.seq;
    wholly_there(store, there)?;
    Ok(there)
}

/// Checks that the document is there, now and as of a moment.
///
/// # Errors
/// It is not.
pub fn wholly_there(store: &Store, there: Seq) -> Result<(), Finding> {
    let people = people(store)?;
    for at in [At::Now, At::Seq(there)] {
        let then = people.at(at).map_err(text)?;
        let found = then.get(ID).map_err(text)?.ok_or_else(|| format!("it is not there {at}"))?;
        if !found.body.contains(BODY) || found.attachments.len() != 4 || then.leaves(ID).map_err(text)?.len() != 2 {
            return Err(format!("it is not whole {at}: {found:?}"));
        }
        let mut read = Vec::new();
        let reader = then.attachment(ID, "large").map_err(text)?.ok_or("an attachment is missing")?;
        reader.take(16).read_to_end(&mut read).map_err(text)?;
        if read != LARGE {
            return Err("an attachment says something else".to_owned());
        }
        let by_email = then.get_by("email", &[Literal::from(EMAIL)]).map_err(text)?;
        if by_email.is_none_or(|document| document.id != ID) {
            return Err(format!("the index does not find it {at}"));
        }
    }
    Ok(())
}

/// Checks that no read finds the document at any moment, and that all other documents are there.
///
/// # Errors
/// A read finds it, or another document is missing.
pub fn wholly_gone(store: &Store) -> Result<(), Finding> {
    let people = people(store)?;
    let head = store.engine().head();
    let mut forgotten = BTreeSet::new();
    for seq in (0..=head.0).rev().map(Seq) {
        let snapshot = store.engine().snapshot_at(seq).map_err(text)?;
        for tree in (0..TREES).map(TreeId) {
            for row in snapshot.range(tree, &KeyRange::all(), Direction::Forward) {
                let row = match row {
                    // What is kept of consumers has no past.
                    Err(EngineError::Forgotten { .. }) => {
                        forgotten.insert(tree);
                        break;
                    }
                    row => row.map_err(text)?,
                };
                if let Some(mark) = mark_in(&row.key).or_else(|| mark_in(&row.value)) {
                    return Err(format!("as of {seq} tree {} has {mark} at {}", tree.0, row.key.escape_ascii()));
                }
            }
        }
        reads_find_nothing(&people, seq).map_err(|what| format!("as of {seq}: {what}"))?;
    }
    if forgotten.len() > 2 {
        return Err(format!("the past of {forgotten:?} is forgotten"));
    }
    if people.replication().purges().map_err(text)?.iter().any(|purge| purge.id == ID) {
        return Err("the log of purges has it".to_owned());
    }
    consumers_go_on(&people)?;
    let bob = people.get("bob").map_err(text)?.ok_or("bob is gone")?;
    let mut shared = Vec::new();
    let reader = people.attachment("bob", "shared").map_err(text)?.ok_or("bob's attachment is gone")?;
    { reader }.read_to_end(&mut shared).map_err(text)?;
    if bob.attachments.len() != 1 || shared != b"shared by two" {
        return Err("what bob shares is gone".to_owned());
    }
    let problems = store.check(At::Now).map_err(text)?.problems;
    if problems.is_empty() { Ok(()) } else { Err(format!("{problems:?}")) }
}

/// Who stood behind the document is handed what came after it, and nothing again that was acknowledged.
fn consumers_go_on(people: &Collection) -> Result<(), Finding> {
    let consumer = people.consumer("prompt", ConsumerOptions::new()).map_err(text)?;
    let mut handed = Vec::new();
    for delivery in consumer.receive(100).map_err(text)? {
        consumer.acknowledge(&delivery).map_err(text)?;
        handed.push(delivery.id);
    }
    if handed.iter().any(|id| id == ID) {
        return Err("a consumer is handed it".to_owned());
    }
    let again = consumer.receive(100).map_err(text)?;
    if again.is_empty() { Ok(()) } else { Err(format!("a consumer is handed things twice: {again:?}")) }
}

fn reads_find_nothing(people: &Collection, seq: Seq) -> Result<(), Finding> {
    let then = people.at(At::Seq(seq)).map_err(text)?;
    let none = |what: &str, nothing: bool| if nothing { Ok(()) } else { Err(format!("{what} finds it")) };
    none("get", then.get(ID).map_err(text)?.is_none())?;
    none("current", then.current(ID).map_err(text)?.is_none())?;
    none("history", then.history(ID).map_err(text)?.next().is_none())?;
    none("leaves", then.leaves(ID).map_err(text)?.is_empty())?;
    none("attachments", then.attachment(ID, "small").map_err(text)?.is_none())?;
    let options = ListOptions { deleted: true, ..ListOptions::default() };
    let mut listed = Vec::new();
    for document in then.list(&options).map_err(text)? {
        listed.push(document.map_err(text)?.id.into_owned());
    }
    none("a list", listed.iter().all(|id| id != ID))?;
    for change in then.changes(Seq::ZERO) {
        none("the changes", change.map_err(text)?.id != ID)?;
    }
    for (field, value) in [("email", EMAIL), ("email", "losing@example.org"), ("name", BODY), ("name", FORMER)] {
        let query = Query::new().matching(field, ValueRange::equal(value));
        none("a query", then.find(&query).map_err(text)?.next().is_none())?;
    }
    // Others are found through the indexes that contained the document.
    if listed.iter().any(|id| id == "bob") && !then.indexes().is_empty() {
        let bob = then.get("bob").map_err(text)?.ok_or("bob is not there")?;
        let email = bob.body.split('"').rev().nth(1).unwrap_or_default().to_owned();
        let found = then.get_by("email", &[Literal::from(email.as_str())]).map_err(text)?;
        if found.is_none_or(|found| found.id != "bob") {
            return Err(format!("bob is not found by {email}"));
        }
    }
    Ok(())
}

/// The first mark of which the bytes contain a piece.
fn mark_in(bytes: &[u8]) -> Option<String> {
    marks_of(bytes).into_iter().next()
}

/// The marks of which the bytes contain a piece.
fn marks_of(bytes: &[u8]) -> Vec<String> {
    let found = |mark: &&[u8]| (0..=mark.len() - 8).step_by(4).any(|at| contains(bytes, &mark[at..at + 8]));
    MARKS.iter().copied().filter(found).map(|mark| mark.escape_ascii().to_string()).collect()
}

fn contains(bytes: &[u8], piece: &[u8]) -> bool {
    let Some((first, rest)) = piece.split_first() else { return true };
    let mut from = 0;
    while let Some(at) = bytes[from..].iter().position(|byte| byte == first) {
        from += at + 1;
        if bytes[from..].starts_with(rest) {
            return true;
        }
    }
    false
}

/// The files that contain pieces of marks, with the marks.
pub fn marks_in(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> Vec<(String, Vec<String>)> {
    let files = files.into_iter().map(|(name, bytes)| (name, marks_of(&bytes)));
    files.filter(|(_, marks)| !marks.is_empty()).collect()
}

/// All marks, as [`marks_in`] names them.
pub fn all_marks() -> Vec<String> {
    MARKS.iter().map(|mark| mark.escape_ascii().to_string()).collect()
}
