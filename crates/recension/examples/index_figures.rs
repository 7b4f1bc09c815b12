//! Figures of indexes and queries on the native engine, in a directory that is thrown away; commits survive the
//! process and not power loss, so that it is not the disk's sync that is measured.
//!
//! `cargo run --release -p recension --example index_figures`

use std::sync::Arc;
use std::time::{Duration, Instant};

use recension::disk::FsDisk;
use recension::engine::{Direction, Durability, NativeEngine, NativeOptions};
use recension::{Collation, Collection, IndexSpec, Path, Query, Result, Store, ValueRange, Write};

const COLLECTIONS: u32 = 100_000;
const DOCUMENTS: u32 = 50_000;

fn store(place: &std::path::Path) -> Result<Store> {
    let options = NativeOptions { durability: Durability::Process, ..NativeOptions::default() };
    Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(place)), options)?))
}

fn path(text: &str) -> Path {
    text.parse().expect("a path")
}

fn micros(time: Duration, times: u32) -> String {
    format!("{:.2} us", time.as_secs_f64() * 1e6 / f64::from(times))
}

/// The median of five.
fn timed(mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[2])
}

fn keys() -> Result<()> {
    println!("keys: time and bytes, Unicode | binary");
    for text in ["hello", "user-000123@example.com", "2026-11-21T10:00:00Z", "München", "東京都"] {
        let json = format!("\"{text}\"");
        let mut cells = Vec::new();
        for collation in [Collation::Unicode, Collation::Binary] {
            let time = timed(|| {
                for _ in 0..100_000 {
                    std::hint::black_box(collation.key(std::hint::black_box(&json))?);
                }
                Ok(())
            })?;
            cells.push(format!("{} {} bytes", micros(time, 100_000), collation.key(&json)?.len()));
        }
        println!("  {text:26} {}", cells.join(" | "));
    }
    Ok(())
}

fn body(n: u32, members: u32) -> String {
    let members: Vec<String> = (0..members).map(|m| format!("\"m{m}\":{}", (n * 31 + m * 7) % 1000)).collect();
    format!("{{\"name\":\"name {n}\",{}}}", members.join(","))
}

fn many_indexes(store: &Store) -> Result<()> {
    println!("a document of 100 members, put 2,000 times, by the number of indexes on it");
    for indexes in [0, 1, 10, 100] {
        let collection = store.collection(&format!("with-{indexes}"))?;
        let start = Instant::now();
        for m in 0..indexes {
            collection.create_index(IndexSpec::new(format!("m{m}"), path(&format!("m{m}"))), |_| {})?;
        }
        let creation = start.elapsed();
        let put = |round: u32| {
            let start = Instant::now();
            for n in 0..2000 {
                collection.put(&format!("d{n}"), body(n + round, 100))?;
            }
            Result::Ok(start.elapsed())
        };
        let (first, changed, same) = (put(0)?, put(1)?, put(1)?);
        println!(
            "  {indexes:3}: created in {}, new {}, all values changed {}, none changed {}",
            micros(creation, 1),
            micros(first, 2000),
            micros(changed, 2000),
            micros(same, 2000)
        );
    }
    Ok(())
}

fn many_collections(place: &std::path::Path) -> Result<()> {
    let opened = store(place)?;
    let start = Instant::now();
    for n in 0..COLLECTIONS {
        opened.collection(&format!("user-{n}"))?.put("d", r#"{"n":1}"#)?;
    }
    println!("{COLLECTIONS} collections with a document: {} each", micros(start.elapsed(), COLLECTIONS));
    drop(opened);
    let start = Instant::now();
    let opened = store(place)?;
    let open = start.elapsed();
    let start = Instant::now();
    opened.collection("user-77777")?.get("d")?;
    println!("  opened in {}, a document of one of them read in {}", micros(open, 1), micros(start.elapsed(), 1));
    let start = Instant::now();
    for n in (0..COLLECTIONS).step_by(100) {
        let indexed = opened.collection(&format!("user-{n}"))?;
        indexed.create_index(IndexSpec::new("n", path("n")), |_| {})?;
    }
    println!("  an index in each of 1000 of them: {} each", micros(start.elapsed(), 1000));
    Ok(())
}

fn queries(collection: &Collection) -> Result<()> {
    let start = Instant::now();
    for from in (0..DOCUMENTS).step_by(1000) {
        let writes = (from..from + 1000).map(|n| Write::put(&format!("d{n:06}"), body(n, 10)));
        collection.bulk(writes.collect::<Result<Vec<_>>>()?)?;
    }
    println!("{DOCUMENTS} documents of 11 members loaded: {} each", micros(start.elapsed(), DOCUMENTS));
    for spec in [
        IndexSpec::new("m1", path("m1")),
        IndexSpec::new("name", path("name")),
        IndexSpec::new("m1-m2", path("m1")).then_descending(path("m2")),
    ] {
        let start = Instant::now();
        let name = spec.name.clone();
        collection.create_index(spec, |_| {})?;
        println!("  index {name} built: {} a document", micros(start.elapsed(), DOCUMENTS));
    }
    let one = Query::new().matching(path("m1"), ValueRange::equal(7));
    let some = Query::new().matching(path("m1"), ValueRange::between(100, 199));
    let name = Query::new().matching(path("name"), ValueRange::equal("name 4711"));
    let sorted = one.clone().sort(path("m2"), Direction::Backward).limit(10);
    let all = Query::new().matching(path("m1"), ValueRange::anything());
    for (what, query) in [
        ("one name", name.clone()),
        ("one value, 50 documents", one.clone().through("m1")),
        ("one value, cheapest way", one.clone()),
        ("one value, sorted by another, 10 of it", sorted),
        ("a tenth, by index", some.clone().through("m1")),
        ("a tenth, by scan", some.clone().without_indexes()),
        ("all, by index", all.clone().through("m1")),
        ("all, by scan", all.clone().without_indexes()),
    ] {
        let mut count = 0;
        let time = timed(|| {
            count = collection.find(&query)?.try_fold(0, |count, document| document.map(|_| count + 1))?;
            Ok(())
        })?;
        println!("  find   {what:40} {:>12} {count} documents", micros(time, 1));
    }
    for (what, query) in [("a tenth, covering", some.clone().through("m1")), ("all, covering", all.through("m1"))] {
        let query = query.select([path("m1")]);
        let mut count = 0;
        let time = timed(|| {
            count = collection.select(&query)?.try_fold(0, |count, row| row.map(|_| count + 1))?;
            Ok(())
        })?;
        println!("  select {what:40} {:>12} {count} documents", micros(time, 1));
    }
    let time = timed(|| collection.count_matching(&some).map(drop))?;
    println!("  count  {:40} {:>12}", "a tenth", micros(time, 1));
    println!("{}", collection.explain(&one.sort(path("m2"), Direction::Backward).limit(10))?);
    Ok(())
}

fn main() -> Result<()> {
    let place = std::env::temp_dir().join(format!("recension-index-figures-{}", std::process::id()));
    keys()?;
    let opened = store(&place.join("a"))?;
    many_indexes(&opened)?;
    queries(&opened.collection("queries")?)?;
    drop(opened);
    many_collections(&place.join("b"))?;
    // What cannot be removed is left to the system's temporary directory.
    let _ = std::fs::remove_dir_all(&place);
    Ok(())
}
