//! Figures of queries over 100,000 orders on the native engine, in a directory that is thrown away. With a path as its
//! argument it writes the orders there too, a JSON document a line, for others to be measured beside it.
//!
//! `cargo run --release -p recension --example query_figures [ORDERS.ndjson]`

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use recension::disk::FsDisk;
use recension::engine::{Direction, Durability, NativeEngine, NativeOptions};
use recension::{Fold, IndexSpec, Pipeline, Query, Result, Selector, Store, Write};

const ORDERS: u64 = 100_000;
const RUNS: usize = 15;

/// Numbers that look like chance, and are a function of the order's number and what they are of.
fn draw(number: u64, of: u64, below: u64) -> u64 {
    let mut x = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ of.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 29)) % below
}

/// 300 bytes to 3 kB.
fn order(n: u64) -> String {
    let state = ["open", "paid", "sent", "done", "lost"][draw(n, 1, 100).min(4) as usize];
    let mut body = format!(
        r#"{{"number":{n},"state":"{state}","customer":{{"id":{},"name":"customer {:05}","country":"{}"}},{},{}"#,
        draw(n, 2, 10_000),
        draw(n, 2, 10_000),
        ["PT", "ES", "FR", "DE", "IT", "PL", "SE", "NO"][draw(n, 3, 8) as usize],
        format_args!("\"placed\":{}", 1_700_000_000 + draw(n, 4, 50_000_000)),
        format_args!("\"total\":{}", draw(n, 5, 100_000)),
    );
    let tags: Vec<String> = (0..draw(n, 6, 4)).map(|tag| format!("\"tag{}\"", draw(n, 60 + tag, 50))).collect();
    let items: Vec<String> = (0..=draw(n, 7, 6))
        .map(|item| format!(r#"{{"sku":"s{:05}","count":{}}}"#, draw(n, 70 + item, 20_000), 1 + draw(n, 80 + item, 9)))
        .collect();
    let words: Vec<String> = (0..10 + draw(n, 8, 300)).map(|word| format!("w{}", draw(n, 1000 + word, 5000))).collect();
    // Writing to a String cannot fail.
    let _ =
        write!(body, r#","tags":[{}],"items":[{}],"note":"{}"}}"#, tags.join(","), items.join(","), words.join(" "));
    body
}

fn measured(name: &str, mut work: impl FnMut() -> Result<(u64, String)>) -> Result<()> {
    let mut times = Vec::new();
    let mut found = (0, String::new());
    for _ in 0..RUNS {
        let start = Instant::now();
        found = work()?;
        times.push(start.elapsed());
    }
    times.sort();
    println!("{name:34} {:>10.3} ms  {:>6} rows  {}", times[RUNS / 2].as_secs_f64() * 1e3, found.0, found.1);
    Ok(())
}

fn by(path: &'static str, backward: bool) -> impl Fn(Query) -> Query {
    move |query| query.sort(path, if backward { Direction::Backward } else { Direction::Forward })
}

/// What is done with the query of a selector.
type Order = Box<dyn Fn(Query) -> Query>;

#[allow(clippy::too_many_lines)] // a table
fn cases() -> Vec<(&'static str, String, Order)> {
    let customers: Vec<String> = (0..1000).map(|n| (n * 10).to_string()).collect();
    let ids: Vec<String> = (0..1000).map(|n| format!("\"o{:06}\"", n * 97)).collect();
    vec![
        ("equality", r#"{"customer.id":77}"#.to_owned(), Box::new(|query| query)),
        ("range", r#"{"placed":{"$gte":1720000000,"$lt":1720050000}}"#.to_owned(), Box::new(|query| query)),
        (
            "or of two indexes",
            r#"{"$or":[{"customer.id":77},{"items":{"$elemMatch":{"sku":"s00077"}}}]}"#.to_owned(),
            Box::new(|query| query),
        ),
        (
            "or of two indexes, sorted",
            r#"{"$or":[{"customer.id":77},{"customer.id":78,"state":"lost"},{"placed":{"$lt":1700020000}}]}"#
                .to_owned(),
            Box::new(by("total", true)),
        ),
        ("in of 1,000 ids", format!(r#"{{"_id":{{"$in":[{}]}}}}"#, ids.join(",")), Box::new(|query| query)),
        (
            "in of 1,000 values, first 100",
            format!(r#"{{"customer.id":{{"$in":[{}]}}}}"#, customers.join(",")),
            Box::new(|query| query.limit(100)),
        ),
        (
            "elemMatch",
            r#"{"items":{"$elemMatch":{"sku":"s00077","count":{"$gt":2}}}}"#.to_owned(),
            Box::new(|query| query),
        ),
        ("all", r#"{"tags":{"$all":["tag1","tag2"]}}"#.to_owned(), Box::new(|query| query)),
        (
            "two indexes at once",
            r#"{"tags":{"$all":["tag1"]},"customer.country":"PT","total":{"$lt":20000}}"#.to_owned(),
            Box::new(|query| query),
        ),
        ("prefix", r#"{"customer.name":{"$regex":"^customer 0007"}}"#.to_owned(), Box::new(|query| query)),
        ("sort with index, 20", r#"{"state":"lost"}"#.to_owned(), Box::new(|query| by("total", true)(query).limit(20))),
        (
            "sort by another field, 20",
            r#"{"customer.id":{"$gt":5000}}"#.to_owned(),
            Box::new(|query| by("placed", false)(query).limit(20)),
        ),
        (
            "page 100 of 20, index",
            r#"{"state":"lost"}"#.to_owned(),
            Box::new(|query| by("total", true)(query).skip(1980).limit(20)),
        ),
        ("substring scan", r#"{"note":{"$contains":"w4711 w12"}}"#.to_owned(), Box::new(|query| query)),
        (
            "sort without index, 20",
            "{}".to_owned(),
            Box::new(|query| by("number", true)(query.without_indexes()).limit(20)),
        ),
        (
            "sort all without index",
            "{}".to_owned(),
            Box::new(|query| by("number", true)(query.select(["number"]).without_indexes())),
        ),
    ]
}

fn main() -> Result<()> {
    let place = std::env::temp_dir().join(format!("query-figures-{}", std::process::id()));
    let options = NativeOptions { durability: Durability::Process, ..NativeOptions::default() };
    let store = Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(&place)), options)?))?;
    let orders = store.collection("orders")?;
    let mut lines = std::env::args().nth(1).and_then(|path| std::fs::File::create(path).ok());
    let numbers: Vec<u64> = (0..ORDERS).collect();
    for chunk in numbers.chunks(1000) {
        let bodies: Vec<String> = chunk.iter().map(|n| order(*n)).collect();
        if let Some(file) = &mut lines {
            let _ = writeln!(file, "{}", bodies.join("\n"));
        }
        let writes = chunk.iter().zip(bodies).map(|(n, body)| Write::put(&format!("o{n:06}"), body));
        let writes = writes.collect::<Result<Vec<_>>>()?;
        orders.bulk(writes)?.into_iter().try_for_each(|written| written.map(drop))?;
    }
    for spec in [
        IndexSpec::new("state-total", "state").then_descending("total"),
        IndexSpec::new("customer", "customer.id"),
        IndexSpec::new("name", "customer.name"),
        IndexSpec::new("placed", "placed"),
        IndexSpec::new("country-total", "customer.country").then("total"),
        IndexSpec::new("sku", "items[].sku"),
        IndexSpec::new("tag", "tags[]"),
    ] {
        orders.create_index(spec, |_| {})?;
    }
    store.compact()?;
    let at = orders.at(recension::At::Now)?;
    let cases = cases();
    for (name, selector, order) in &cases {
        measured(name, || {
            let query = order(Query::new().selecting(Selector::from_json(selector)?));
            if name.starts_with("sort all") {
                return Ok((at.select(&query)?.count() as u64, String::new()));
            }
            let found = at.find(&query)?;
            let plan = found.plan().summary();
            let mut count = 0;
            for document in found {
                std::hint::black_box(document?);
                count += 1;
            }
            Ok((count, plan))
        })?;
    }
    let sums = [("total", Fold::sum("total")), ("orders", Fold::Count)];
    for (name, path) in [("group by state, documents", "state"), ("group by country, index", "customer.country")] {
        let query = if path == "state" {
            Query::new().without_indexes()
        } else {
            Query::new().matching(path, recension::ValueRange::anything())
        };
        measured(name, || {
            Ok((at.aggregate(&query, &Pipeline::new().group([path], sums.clone()))?.len() as u64, String::new()))
        })?;
    }
    drop((at, orders, store));
    let _ = std::fs::remove_dir_all(place);
    Ok(())
}
