//! The async handles, on two executors: tokio with several threads, and one that does nothing but wait for one future.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_core::Stream;
use recension::asynchronous::AsyncStore;
use recension::{Document, Error, Expect, IndexSpec, ListOptions, Position, Query, Result, Store, ValueRange, Write};
use serde::{Deserialize, Serialize};

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

async fn all<S: Stream + Unpin>(mut stream: S) -> Vec<S::Item> {
    let mut items = Vec::new();
    while let Some(item) = next(&mut stream).await {
        items.push(item);
    }
    items
}

fn on_tokio<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(future)
}

fn on_a_current_thread<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Runs a test on each executor.
macro_rules! on_each_executor {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            on_tokio(scenario::$name()).unwrap();
            on_a_current_thread(scenario::$name()).unwrap();
            pollster::block_on(scenario::$name()).unwrap();
        }
    )*};
}

on_each_executor! { documents_are_written_and_read values_are_written_and_read changes_are_followed_as_they_come }

#[derive(Document, Serialize, Deserialize, PartialEq, Debug)]
struct Account {
    #[recension(id)]
    id: u32,
    #[recension(index)]
    balance: i64,
}

mod scenario {
    use super::*;

    pub(super) async fn documents_are_written_and_read() -> Result<()> {
        let folder = tempfile::tempdir().unwrap();
        let store = AsyncStore::open(folder.path().join("store").to_str().unwrap()).await?;
        let menu = store.collection("menu")?;
        let first = menu.put("pizza", r#"{"n":0}"#).await?;
        let second = menu.replace("pizza", &first.rev, r#"{"n":1}"#).await?;
        assert!(matches!(menu.replace("pizza", &first.rev, "{}").await, Err(Error::Conflict { .. })));
        assert!(matches!(menu.create(Some("pizza"), "{}").await, Err(Error::Conflict { .. })));
        assert_eq!(menu.get("pizza").await?.unwrap().rev, second.rev);
        menu.run(|menu| menu.create_index(IndexSpec::unique("n", "n"), |_| {})).await?;
        assert_eq!(menu.get_by("n", vec![1.into()]).await?.unwrap().rev, second.rev);
        assert_eq!(menu.get_by("n", vec![0.into()]).await?, None);
        menu.delete("pizza", &second.rev).await?;
        assert!(menu.get("pizza").await?.is_none());
        // More than one batch, and exactly two.
        for count in [200, 128, 0] {
            menu.run(|menu| menu.delete_matching(&Query::new())).await?;
            let writes =
                (0..count).map(|i| Write::put(&format!("{i:03}"), format!(r#"{{"n":{i}}}"#)).unwrap()).collect();
            assert!(menu.bulk(writes).await?.iter().all(Result::is_ok));
            let ids: Vec<_> =
                all(menu.list(ListOptions::default()).await?).await.into_iter().map(|d| d.unwrap().id).collect();
            assert_eq!(ids, (0..count).map(|i| format!("{i:03}")).collect::<Vec<_>>());
            let query = Query::new().matching("n", ValueRange::at_least(100));
            assert_eq!(all(menu.find(query).await?).await.len(), count.max(100) - 100);
        }
        Ok(())
    }

    pub(super) async fn values_are_written_and_read() -> Result<()> {
        let store = AsyncStore::from(Store::memory()?);
        let accounts = store.typed::<Account>().await?;
        accounts.put(Account { id: 1, balance: 10 }).await?;
        accounts.put(Account { id: 2, balance: 0 }).await?;
        let inside = accounts.clone();
        let moved = store
            .transaction(move |tx| {
                let accounts = inside.blocking().within(tx)?;
                let take = |account: &mut Account| {
                    account.balance -= 3;
                    Ok(())
                };
                accounts.update("1", take)?;
                accounts.upsert("2", |account| Ok(Account { id: 2, balance: account.map_or(0, |a| a.balance) + 3 }))?;
                Ok(3)
            })
            .await?;
        assert_eq!(moved, 3);
        accounts.upsert("3", |found| Ok(found.unwrap_or(Account { id: 3, balance: -1 }))).await?;
        let double = |account: &mut Account| {
            account.balance *= 2;
            Ok(())
        };
        assert_eq!(accounts.update("1", double).await?.balance, 14);
        assert_eq!(accounts.get("2").await?, Some(Account { id: 2, balance: 3 }));
        assert!(matches!(accounts.get_by("balance", vec![3.into()]).await, Err(Error::IndexNotUsable { .. })));
        let balances: Vec<_> =
            all(accounts.list(ListOptions::default()).await?).await.into_iter().map(|a| a.unwrap().balance).collect();
        assert_eq!(balances, [14, 3, -1]);
        let query = Query::new().matching("balance", ValueRange::above(0));
        assert_eq!(all(accounts.find(query).await?).await.len(), 2);
        Ok(())
    }

    pub(super) async fn changes_are_followed_as_they_come() -> Result<()> {
        let store = AsyncStore::from(Store::memory()?);
        let menu = store.collection("menu")?;
        let mut feed = menu.follow(Position::START);
        let mut of_store = store.follow(Position::START);
        let writer = {
            let menu = menu.blocking().clone();
            std::thread::spawn(move || {
                for i in 0..300 {
                    menu.put(&i.to_string(), "{}").unwrap();
                }
            })
        };
        for i in 0..300 {
            assert_eq!(next(&mut feed).await.unwrap()?.id, i.to_string());
            assert_eq!(next(&mut of_store).await.unwrap()?.id, i.to_string());
        }
        writer.join().unwrap();
        // A new feed goes on where the first one stands.
        let mut on = menu.follow(feed.position().clone());
        menu.put("new", "{}").await?;
        assert_eq!(next(&mut on).await.unwrap()?.id, "new");
        assert_eq!(next(&mut feed).await.unwrap()?.id, "new");
        menu.run(|menu| menu.merge_patch("0", Expect::Anything, r#"{"a":1}"#)).await?;
        assert_eq!(next(&mut feed).await.unwrap()?.id, "0");
        Ok(())
    }
}

/// The pool has 500 threads at most: if feeds held them while they wait, nothing could be written any more.
#[test]
fn a_thousand_feeds_wait_without_a_thread_and_are_woken_by_a_commit() {
    let store = AsyncStore::from(Store::memory().unwrap());
    let menu = store.collection("menu").unwrap();
    let begun = Arc::new(AtomicUsize::new(0));
    let follow_all = async {
        let feeds: Vec<_> = (0..1000)
            .map(|_| {
                let mut feed = menu.follow(Position::START);
                let begun = begun.clone();
                tokio::spawn(async move {
                    begun.fetch_add(1, Ordering::SeqCst);
                    next(&mut feed).await
                })
            })
            .collect();
        // On one thread, who has begun has also asked for its first change: all of them are before the writer.
        while begun.load(Ordering::SeqCst) < feeds.len() {
            tokio::task::yield_now().await;
        }
        menu.put("a", "{}").await.unwrap();
        for feed in feeds {
            assert_eq!(feed.await.unwrap().unwrap().unwrap().id, "a");
        }
    };
    let in_time = async { tokio::time::timeout(Duration::from_mins(2), follow_all).await };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(in_time).expect("the feeds have let the writer through");
}
