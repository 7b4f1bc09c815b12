//! The documents layer on SQLite: what stands on the engine's newer promises (keys with their own commit's seq,
//! counters, dependencies) holds there as it does on the engines of the library's own tests.

use std::thread;
use std::time::Duration;

use recension::engine::Seq;
use recension::{At, Error, IndexSpec, ListOptions, Query, ReplicatedWrite, RevId, Store, ValueRange};

fn store() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("store.db").display());
    (Store::on(recension_engines::open(&address).unwrap()).unwrap(), folder)
}

#[test]
fn documents_their_changes_their_counts_and_their_past_are_there() {
    let (store, _folder) = store();
    let menu = store.collection("menu").unwrap();
    menu.create_index(IndexSpec::unique("n", "n"), |_| {}).unwrap();
    let first = menu.put("a", r#"{"n":1}"#).unwrap();
    menu.put("b", r#"{"n":2}"#).unwrap();
    let last = menu.replace("a", &first.rev, r#"{"n":3}"#).unwrap();
    assert!(matches!(menu.put("c", r#"{"n":3}"#), Err(Error::NotUnique { .. })));
    let changes: Vec<_> = menu.changes(Seq::ZERO).unwrap().map(|c| c.unwrap()).map(|c| (c.id, c.seq)).collect();
    assert_eq!(changes, [("b".to_owned(), Seq(last.seq.0 - 1)), ("a".to_owned(), last.seq)]);
    assert_eq!((menu.count().unwrap(), menu.at(At::Seq(first.seq)).unwrap().count().unwrap()), (2, 1));
    let query = Query::new().matching("n", ValueRange::at_least(1));
    let then = menu.at(At::Seq(first.seq)).unwrap();
    assert_eq!(then.find(&query).unwrap().map(|d| d.unwrap().body.into_owned()).collect::<Vec<_>>(), [r#"{"n":1}"#]);
}

#[test]
fn conflicts_are_kept_and_purged_and_the_past_still_has_them() {
    let (store, _folder) = store();
    let menu = store.collection("menu").unwrap();
    let mut last = menu.put("a", "{}").unwrap().rev;
    for n in 0..40 {
        last = menu.replace("a", &last, format!("{{\"n\":{n}}}")).unwrap().rev;
    }
    let path = menu.replication().ancestry("a", &last).unwrap().unwrap();
    assert_eq!(path.len(), 41);
    let theirs = RevId::with_suffix(21, "theirs").unwrap();
    let sent = ReplicatedWrite::new("a", theirs, &path[21..30], false, "{}").unwrap();
    let merged = menu.replication().merge_revisions([sent]).unwrap().remove(0).unwrap().unwrap();
    assert_eq!(menu.conflicts("a").unwrap(), [theirs]);
    assert_eq!(menu.replication().ancestry("a", &theirs).unwrap().unwrap()[1..], path[21..]);
    assert_eq!(store.check(At::Now).unwrap().problems, []);
    assert_eq!(menu.replication().purge("a", &[theirs]).unwrap(), [theirs]);
    assert_eq!(
        (menu.conflicts("a").unwrap(), menu.replication().ancestry("a", &last).unwrap().unwrap()),
        (vec![], path)
    );
    assert_eq!(menu.at(At::Seq(merged.seq)).unwrap().conflicts("a").unwrap(), [theirs]);
    assert_eq!(store.check(At::Now).unwrap().problems, []);
}

#[test]
fn transfers_under_contention_keep_the_sum_and_a_follower_sees_them_all() {
    const ACCOUNTS: u64 = 6;
    let (store, _folder) = store();
    let accounts = store.collection("accounts").unwrap();
    for account in 0..ACCOUNTS {
        accounts.put(&account.to_string(), r#"{"balance":100}"#).unwrap();
    }
    let balance =
        |body: &str| -> i64 { body.trim_start_matches(r#"{"balance":"#).trim_end_matches('}').parse().unwrap() };
    thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for turn in 0..30_u64 {
                    let (from, to) = ((thread + turn) % ACCOUNTS, (thread * 3 + turn * 5 + 1) % ACCOUNTS);
                    let moved = store.transaction(|tx| {
                        let accounts = tx.collection("accounts")?;
                        let of = |id: u64| Ok::<_, Error>(balance(&accounts.get(&id.to_string())?.unwrap().body));
                        if from != to {
                            let (have, had) = (of(from)?, of(to)?);
                            accounts.put(&from.to_string(), format!("{{\"balance\":{}}}", have - 7))?;
                            accounts.put(&to.to_string(), format!("{{\"balance\":{}}}", had + 7))?;
                        }
                        Ok(())
                    });
                    moved.unwrap();
                }
            });
        }
    });
    let all: Vec<_> = accounts.list(&ListOptions::default()).unwrap().map(|d| d.unwrap()).collect();
    assert_eq!(all.iter().map(|d| balance(&d.body)).sum::<i64>(), 600);
    let mut feed = store.follow(Seq::ZERO);
    let mut seen = std::collections::BTreeSet::new();
    while let Some(change) = feed.next_timeout(Duration::ZERO).unwrap() {
        assert!(seen.insert(change.id));
    }
    assert_eq!(seen.len() as u64, ACCOUNTS);
}
