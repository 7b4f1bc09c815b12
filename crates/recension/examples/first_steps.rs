//! First steps: a collection, a change, a query through an index, and a look back.
//! Run it: `cargo run --example first_steps`

use recension::engine::Direction;
use recension::{At, Error, IndexSpec, Query, Result, ValueRange};

pub(crate) fn main() -> Result<()> {
    // A path such as "menu.store" instead of "memory:" keeps it on disk.
    let store = recension::open("memory:")?;
    let menu = store.collection("menu")?;

    // Documents are JSON objects under an id. A collection comes into being with its first one.
    let pizza = menu.put("pizza", r#"{"topping": "pineapple", "price": 9.5}"#)?;
    menu.put("salad", r#"{"topping": "feta", "price": 7}"#)?;
    menu.put("soup", r#"{"topping": "croutons", "price": 5.25}"#)?;
    println!("pizza is at revision {}, commit {}", pizza.rev, pizza.seq);

    // A replacement names the revision that it was made from, so that no change of others is lost.
    menu.replace("pizza", &pizza.rev, r#"{"topping": "mushrooms", "price": 10}"#)?;
    match menu.replace("pizza", &pizza.rev, r#"{"topping": "anchovies", "price": 11}"#) {
        Err(error @ Error::Conflict { .. }) => println!("{error}"),
        other => println!("unexpected: {other:?}"),
    }

    // An index is built while others go on; queries say whether they used one.
    menu.create_index(IndexSpec::new("by-price", "price"), |_| {})?;
    let query = Query::new().matching("price", ValueRange::at_most(9)).sort("price", Direction::Forward);
    let cheap = menu.find(&query)?;
    println!("up to 9, by {}:", cheap.plan().summary());
    for document in cheap {
        println!("  {}", document?.to_json());
    }

    // Every commit can be read again, and every revision restored.
    let before = menu.at(At::Seq(pizza.seq))?;
    println!("at commit {} there were {} documents", before.seq(), before.count()?);
    menu.restore("pizza", &pizza.rev)?;
    for revision in menu.history("pizza")? {
        let revision = revision?;
        println!("  {}  {}", revision.rev, revision.body);
    }
    Ok(())
}
