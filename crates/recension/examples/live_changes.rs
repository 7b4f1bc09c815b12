//! Live changes: a reader that keeps a sum up to date while others write, and goes on where it had stopped.
//! Run it: `cargo run --example live_changes`

use std::collections::BTreeMap;

use recension::{Collection, Document, Position, Result};
use serde::{Deserialize, Serialize};

#[derive(Document, Serialize, Deserialize)]
#[recension(collection = "sales")]
struct Sale {
    #[recension(id)]
    id: u32,
    amount: u32,
}

/// Follows a collection until it has seen the document `last`; answers where it stopped.
fn follow(sales: &Collection, since: Position, last: &str, sums: &mut BTreeMap<String, u32>) -> Result<Position> {
    let mut feed = sales.follow(since);
    // It waits where it has caught up: `next` comes back with the next change.
    while let Some(change) = feed.next().transpose()? {
        let amount = match sales.get(&change.id)? {
            Some(document) => document.body.trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0),
            None => 0,
        };
        sums.insert(change.id.clone(), amount);
        if change.id == last {
            break;
        }
    }
    Ok(feed.position().clone())
}

pub(crate) fn main() -> Result<()> {
    let store = recension::open("memory:")?;
    let sales = store.typed::<Sale>()?;
    let mut sums = BTreeMap::new();

    let position = std::thread::scope(|scope| {
        let feed = scope.spawn(|| follow(sales.untyped(), Position::START, "99", &mut sums));
        for id in 0..100 {
            sales.put(&Sale { id, amount: id * 2 })?;
        }
        feed.join().expect("the follower has not panicked")
    })?;
    let sum: u32 = sums.values().sum();
    println!("{} sales of {sum}, up to position {position}", sums.len());
    assert_eq!((sums.len(), sum), (100, 9900));

    // A position is text, to be kept: a new reader goes on from there and is told only what is new.
    let kept = position.to_string();
    sales.update("7", |sale| {
        sale.amount = 1000;
        Ok(())
    })?;
    sales.put(&Sale { id: 100, amount: 1 })?;
    let changes: Vec<_> = sales.untyped().changes(kept.parse::<Position>()?)?.collect::<Result<_>>()?;
    for change in &changes {
        println!("since then: {} at commit {}", change.id, change.seq);
    }
    assert_eq!(changes.iter().map(|change| change.id.as_str()).collect::<Vec<_>>(), ["7", "100"]);
    follow(sales.untyped(), kept.parse()?, "100", &mut sums)?;
    assert_eq!(sums.values().sum::<u32>(), 9900 - 14 + 1000 + 1);
    Ok(())
}
