//! Opening a store of any kind by its address.

use std::path::PathBuf;

use recension::engine::{Batch, EngineError, Seq, TreeId};
use recension_engines::Address;

#[test]
fn an_address_is_understood_or_refused_with_what_would_be() {
    let native = |path: &str| Address::Native(PathBuf::from(path));
    let sqlite = |path: &str| Address::Sqlite(PathBuf::from(path));
    for (address, expected) in [
        ("memory:", Address::Memory),
        ("sqlite:notes.db", sqlite("notes.db")),
        ("sqlite:/var/lib/notes.db", sqlite("/var/lib/notes.db")),
        ("sqlite:a:b", sqlite("a:b")),
        ("notes", native("notes")),
        ("/var/lib/notes", native("/var/lib/notes")),
        ("./sqlite:notes", native("./sqlite:notes")),
        ("dir/a:b", native("dir/a:b")),
        ("12:30", native("12:30")),
        ("ümläut: notes", native("ümläut: notes")),
    ] {
        assert_eq!(Address::parse(address).unwrap(), expected, "{address}");
    }
    for (address, why) in [
        ("", "empty"),
        ("memory:name", "no name"),
        ("sqlite:", "file must follow"),
        ("sqlite::memory:", "write memory:"),
        ("oracle://localhost/x", "sqlite:FILE"),
        ("file:notes", "./"),
        ("notes\0", "zero byte"),
    ] {
        match Address::parse(address) {
            Err(EngineError::BadAddress { address: named, why: found }) => {
                assert_eq!(named, address);
                assert!(found.contains(why), "{address}: {found}");
            }
            other => panic!("{address}: {other:?}"),
        }
    }
}

#[test]
fn every_kind_of_store_opens_and_takes_a_commit() {
    let dir = tempfile::tempdir().unwrap();
    let at = |kind: &str, name: &str| format!("{kind}{}", dir.path().join(name).display());
    let mut addresses = vec![("memory:".to_owned(), "memory"), (at("", "native"), "native")];
    if cfg!(feature = "sqlite") {
        addresses.push((at("sqlite:", "store.db"), "sqlite"));
    }
    for (address, name) in addresses {
        for round in 1..=2 {
            let engine = recension_engines::open(&address).unwrap();
            let mut batch = Batch::new();
            batch.put(TreeId(1), b"k", b"v");
            let expected = if name == "memory" { 1 } else { round };
            assert_eq!(engine.commit(batch).unwrap().seq, Seq(expected), "{address}");
            assert_eq!(engine.stats().unwrap().engine, name);
        }
    }
    #[cfg(not(feature = "sqlite"))]
    assert!(matches!(recension_engines::open("sqlite:x"), Err(EngineError::BadAddress { .. })));
}
