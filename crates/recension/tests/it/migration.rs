//! Schema versions: documents of several versions side by side, read as the newest, and written as such.

use std::sync::atomic::{AtomicU32, Ordering};

use recension::serde_json::{Value, json};
use recension::{Document, Error, IndexSpec, ListOptions, Query, Store, Typed, ValueRange};
use serde::{Deserialize, Serialize};

/// Version 1 had `first` and `last`, version 2 had `name`, version 3 has `name` and `greeting`.
#[derive(Document, Serialize, Deserialize, Clone, PartialEq, Debug)]
#[recension(collection = "people", version = 3, version_field = "v")]
#[serde(deny_unknown_fields)]
struct Person {
    #[recension(id)]
    id: String,
    #[recension(index)]
    name: String,
    greeting: String,
}

fn step(from: u32, body: &Value) -> Result<Value, String> {
    let text = |name: &str| body[name].as_str().map(str::to_owned).ok_or_else(|| format!("there is no {name}"));
    match from {
        1 => Ok(json!({ "name": format!("{} {}", text("first")?, text("last")?) })),
        2 => Ok(json!({ "name": text("name")?, "greeting": format!("Hello {}", text("name")?) })),
        other => Err(format!("nothing is known of version {other}")),
    }
}

fn people(store: &Store) -> Typed<Person> {
    store.typed::<Person>().unwrap().with_migration(|from, body| step(from, &body))
}

fn ada() -> Person {
    Person { id: "ada".into(), name: "Ada Lovelace".into(), greeting: "Hello Ada Lovelace".into() }
}

#[test]
fn a_document_of_any_older_version_is_read_as_the_newest_and_written_back_with_the_next_write() {
    let store = Store::memory().unwrap();
    let raw = store.collection("people").unwrap();
    for old in [
        r#"{"first":"Ada","last":"Lovelace"}"#,
        r#"{"v":1,"first":"Ada","last":"Lovelace"}"#,
        r#"{"name":"Ada Lovelace","v":2}"#,
        r#"{"greeting":"Hello Ada Lovelace","v":3,"name":"Ada Lovelace"}"#,
    ] {
        raw.put("ada", old).unwrap();
        let head = store.engine().head();
        let people = people(&store);
        let head = head.max(store.engine().head());
        assert_eq!(people.get("ada").unwrap(), Some(ada()), "{old}");
        assert_eq!(store.engine().head(), head, "a read writes nothing");
        people.update("ada", |_| Ok(())).unwrap();
        let body = raw.get("ada").unwrap().unwrap().body;
        assert_eq!(body, r#"{"v":3,"name":"Ada Lovelace","greeting":"Hello Ada Lovelace"}"#);
    }
    // Past revisions are migrated as they are read, and stay as they were.
    let history: Vec<_> = people(&store).history("ada").unwrap().map(|revision| revision.unwrap().value).collect();
    assert_eq!(history, vec![Some(ada()); 8]);
    assert_eq!(raw.history("ada").unwrap().last().unwrap().unwrap().body, r#"{"first":"Ada","last":"Lovelace"}"#);
}

#[test]
fn what_cannot_be_migrated_is_an_error_and_not_a_guess() {
    let store = Store::memory().unwrap();
    let raw = store.collection("people").unwrap();
    for (id, body, part) in [
        (
            "newer",
            r#"{"v":4,"name":"x","greeting":"y"}"#,
            "version 4 of its schema, and this program knows versions up to 3",
        ),
        ("zero", r#"{"v":0}"#, "member v is to be the version of its schema"),
        ("text", r#"{"v":"3"}"#, "member v is to be the version of its schema"),
        ("refused", r#"{"first":"Ada"}"#, "was not migrated from version 1 to 2: there is no last"),
        (
            "digits",
            r#"{"first":"a","last":"b","n":123456789012345678901}"#,
            "number 123456789012345678901 has more digits",
        ),
        ("fraction", r#"{"first":"a","last":"b","n":[0.1000000000000000055]}"#, "0.1000000000000000055 has more"),
    ] {
        raw.put(id, body).unwrap();
        let message = people(&store).get(id).unwrap_err().to_string();
        assert!(message.contains(part) && message.contains(id) && message.contains("people"), "{message}");
        assert_eq!(raw.get(id).unwrap().unwrap().body, body);
    }
    raw.put("exact", r#"{"first":"a","last":"b","n":[18446744073709551615,-1.50,1e2,0.1,5e-324]}"#).unwrap();
    assert!(people(&store).get("exact").is_ok());
    let message = store.typed::<Person>().unwrap().get("refused").unwrap_err().to_string();
    assert!(message.contains("with_migration"), "{message}");
    // Not even by accident: a change of a document that was not understood is not written.
    assert!(matches!(
        people(&store).update("newer", |_| Ok(())),
        Err(Error::NewerSchema { found: 4, supported: 3, .. })
    ));
}

#[test]
fn a_whole_collection_is_migrated_in_bounded_commits_and_again_after_it_was_broken_off() {
    let store = Store::memory().unwrap();
    let raw = store.collection("people").unwrap();
    let mut loader = raw.loader();
    for i in 0..2500 {
        let body =
            if i % 3 == 0 { format!(r#"{{"v":2,"name":"n{i}"}}"#) } else { format!(r#"{{"first":"f","last":"{i}"}}"#) };
        assert!(loader.push(recension::Write::put(&format!("{i:04}"), body).unwrap()).unwrap().is_empty());
    }
    loader.finish().unwrap();
    raw.put("1500", r#"{"first":"broken"}"#).unwrap();
    let people = people(&store);
    let mut steps = Vec::new();
    let error = people.migrate_all(|progress| steps.push(progress.migrated)).unwrap_err();
    assert!(matches!(&error, Error::Migration { id, .. } if id == "1500"), "{error}");
    assert_eq!(steps, [1000]);

    raw.put("1500", r#"{"first":"f","last":"mended"}"#).unwrap();
    let done = people.migrate_all(|_| {}).unwrap();
    assert_eq!((done.seen, done.migrated), (2500, 1500));
    assert_eq!(people.migrate_all(|_| {}).unwrap().migrated, 0);
    let query = Query::new().matching("name", ValueRange::equal("f mended"));
    assert_eq!(people.find(&query).unwrap().count(), 1);
    assert!(
        raw.list(&ListOptions::default()).unwrap().all(|document| document.unwrap().body.starts_with(r#"{"v":3,"#))
    );
}

#[test]
fn writers_at_work_during_a_migration_lose_nothing() {
    let store = Store::memory().unwrap();
    let raw = store.collection("people").unwrap();
    raw.create_index(IndexSpec::new("name", "name"), |_| {}).unwrap();
    for i in 0..200 {
        raw.put(&format!("{i:03}"), format!(r#"{{"first":"f","last":"{i}"}}"#)).unwrap();
    }
    // Every document is written between the moment at which it is read and its migrated write.
    let written = AtomicU32::new(0);
    let writer = raw.clone();
    let people = store.typed::<Person>().unwrap().with_migration(move |from, body| {
        let at = written.load(Ordering::Relaxed);
        if from == 1 && at < 200 {
            written.store(at + 1, Ordering::Relaxed);
            writer.put(&format!("{at:03}"), format!(r#"{{"first":"second","last":"{at}"}}"#)).unwrap();
        }
        step(from, &body)
    });
    assert_eq!(people.migrate_all(|_| {}).unwrap().migrated, 200);
    let names: Vec<_> = people.list(&ListOptions::default()).unwrap().map(|person| person.unwrap().name).collect();
    assert_eq!(names, (0..200).map(|i| format!("second {i}")).collect::<Vec<_>>());
    assert!(raw.list(&ListOptions::default()).unwrap().all(|document| document.unwrap().body.contains("\"v\":3")));
}
