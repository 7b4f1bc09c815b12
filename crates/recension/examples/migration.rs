//! Migration: a type that has changed, over documents that have not.
//! Run it: `cargo run --example migration`

use recension::serde_json::{Value, json};
use recension::{Document, Error, Query, Result, Store, ValueRange};
use serde::{Deserialize, Serialize};

/// What the first release wrote: a name in one piece.
mod first_release {
    use super::{Deserialize, Document, Serialize};

    #[derive(Document, Serialize, Deserialize)]
    #[recension(collection = "people")]
    pub(super) struct Person {
        #[recension(id)]
        pub(super) id: String,
        pub(super) name: String,
    }
}

/// Since then the last name stands alone, and there is an index on it.
#[derive(Document, Serialize, Deserialize, Debug, PartialEq)]
#[recension(collection = "people", version = 2)]
struct Person {
    #[recension(id)]
    id: String,
    first: String,
    #[recension(index)]
    last: String,
}

/// From each version to the next one.
fn migrate(from: u32, body: &Value) -> std::result::Result<Value, String> {
    match (from, body["name"].as_str().and_then(|name| name.rsplit_once(' '))) {
        (1, Some((first, last))) => Ok(json!({ "first": first, "last": last })),
        (1, None) => Err(format!("{} is no first and last name", body["name"])),
        (other, _) => Err(format!("there was no version {other}")),
    }
}

pub(crate) fn main() -> Result<()> {
    let store = Store::memory()?;
    let old = store.typed::<first_release::Person>()?;
    for (id, name) in [("ada", "Ada Lovelace"), ("grace", "Grace Brewster Hopper"), ("plato", "Plato")] {
        old.put(&first_release::Person { id: id.to_owned(), name: name.to_owned() })?;
    }

    let people = store.typed::<Person>()?.with_migration(|from, body| migrate(from, &body));
    // A read answers what the type is now. Nothing is written by it.
    let ada = people.get("ada")?;
    println!("{ada:?}");
    assert_eq!(ada.map(|ada| ada.last), Some("Lovelace".to_owned()));

    // A document that cannot be migrated says so, and stays as it is.
    let refused = people.get("plato").unwrap_err();
    println!("{refused}");
    assert!(matches!(refused, Error::Migration { from: 1, to: 2, .. }));
    old.untyped().put("plato", r#"{"name": "Plato of Athens"}"#)?;

    // Queries look at documents as they are stored: migrate them all, in bounded commits, while others go on.
    let query = Query::new().matching("last", ValueRange::equal("Hopper"));
    assert_eq!(people.find(&query)?.count(), 0);
    let done = people.migrate_all(|progress| println!("{} of {} seen", progress.migrated, progress.seen))?;
    assert_eq!((done.seen, done.migrated), (3, 3));
    for person in people.find(&query)? {
        println!("{:?}", person?);
    }
    assert_eq!(people.find(&query)?.count(), 1);

    // The first release does not guess at what the second one has written.
    let Err(refused) = old.get("ada") else { panic!("it reads what it does not know") };
    println!("{refused}");
    assert!(matches!(refused, Error::NewerSchema { found: 2, supported: 1, .. }));
    Ok(())
}
