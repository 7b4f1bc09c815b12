//! What queries of words, of many values and of elements take at 100,000 documents, and writes with an index of words
//! or views beside those without, beside SQLite with FTS5 on the same machine:
//! `cargo run --release -p recension-engines --example word_figures [documents]`
//!
//! Times are those of the processor (of this thread, which does all of the work), so that they are good on a machine
//! that has other things to do. Both stores are on disk and do not wait for it. Only the durable writes at the end wait
//! for the disk: their times are those of the clock.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use recension::disk::FsDisk;
use recension::engine::{Durability, NativeEngine, NativeOptions};
use recension::{
    Emitted, IndexSpec, Language, Loader, MapInput, Mapper, Query, Result, Selector, Store, View, ViewOptions, Write,
};
use rusqlite::Connection;
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: u32 = 200;
const WRITES: usize = 4000;
const DURABLE_WRITES: usize = 1000;

/// The time that this thread has had of a processor.
fn spent() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().expect("a time"), now.tv_nsec.try_into().expect("less than a second"))
}

fn timed(rounds: u32, mut work: impl FnMut(u32) -> usize) -> (Duration, usize) {
    let found = work(0);
    let begun = spent();
    for round in 0..rounds {
        work(round);
    }
    (spent().saturating_sub(begun) / rounds, found)
}

fn told(what: &str, ours: (Duration, usize), theirs: Option<(Duration, usize)>) {
    let mut line = format!("{what}: {:.3} ms, {} found", ours.0.as_secs_f64() * 1e3, ours.1);
    if let Some((time, found)) = theirs {
        let times = ours.0.as_secs_f64() / time.as_secs_f64();
        // Writing to a String cannot fail.
        let _ = write!(line, "; SQLite {:.3} ms, {found} found: {times:.2} times", time.as_secs_f64() * 1e3);
    }
    println!("{line}");
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % n
    }

    /// Words of which few are frequent.
    fn text(&mut self) -> String {
        let word =
            |chance: &mut Self| format!("w{}", chance.below(4000).min(chance.below(4000)).min(chance.below(4000)));
        (0..40).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }
}

fn id(n: usize) -> String {
    format!("d{n:06}")
}

fn body(n: usize, chance: &mut Chance) -> String {
    let text = chance.text();
    let (first, second) = (chance.below(40), chance.below(40));
    format!("{{\"text\":\"{text}\",\"n\":{n},\"tags\":[\"t{first}\",\"t{second}\"]}}")
}

/// Emits a member.
struct By(&'static str);

impl Mapper for By {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        let own = |input: &MapInput| {
            let found = self
                .0
                .parse::<recension::Path>()
                .ok()
                .and_then(|path| path.find(&input.document.body).map(str::to_owned));
            found.map(|key| Emitted { key, value: "1".to_owned() }).into_iter().collect()
        };
        Ok(documents.iter().map(own).collect())
    }

    fn in_commit(&self) -> bool {
        true
    }
}

fn sqlite(path: &str, documents: usize) -> rusqlite::Result<Connection> {
    let db = Connection::open(path)?;
    db.execute_batch(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; CREATE TABLE d (id TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID;
         CREATE TABLE tags (tag TEXT, id TEXT, PRIMARY KEY (tag, id)) WITHOUT ROWID;
         CREATE VIRTUAL TABLE words USING fts5(text, id UNINDEXED); BEGIN;",
    )?;
    let mut chance = Chance(7);
    for n in 0..documents {
        let body = body(n, &mut chance);
        db.prepare_cached("INSERT INTO d VALUES (?, ?)")?.execute((id(n), &body))?;
        db.prepare_cached("INSERT INTO words (text, id) SELECT json_extract(?, '$.text'), ?")?
            .execute((&body, id(n)))?;
        db.prepare_cached("INSERT OR IGNORE INTO tags SELECT value, ? FROM json_each(?, '$.tags')")?
            .execute((id(n), &body))?;
    }
    db.execute_batch("COMMIT; ANALYZE;")?;
    Ok(db)
}

fn ours(path: &str, documents: usize) -> Result<Store> {
    let disk = Arc::new(FsDisk::new(path));
    let options = NativeOptions { durability: Durability::Process, ..NativeOptions::default() };
    let store = Store::on(Arc::new(NativeEngine::open(disk, options)?))?;
    let mut loader: Loader = store.collection("d")?.loader();
    let mut chance = Chance(7);
    for n in 0..documents {
        loader.push(Write::put(&id(n), body(n, &mut chance))?)?;
    }
    loader.finish()?;
    let all = store.collection("d")?;
    all.create_text_index("words", ["text"], Language::Plain)?;
    all.create_index(IndexSpec::new("tags", "tags[]"), |_| ())?;
    store.compact()?;
    Ok(store)
}

fn main() {
    let documents = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| dir.path().join(name).display().to_string();
    let store = ours(&path("ours"), documents).expect("a store");
    let db = sqlite(&path("sqlite"), documents).expect("a database");
    let all = store.collection("d").expect("the collection");
    let find = |selector: &str| {
        let query = Query::new().selecting(Selector::from_json(selector).expect("a selector"));
        all.find(&query)
            .expect("an answer")
            .map(|document| document.expect("a document").body.len())
            .filter(|l| *l > 0)
            .count()
    };
    let asked = |sql: &str, argument: &str| {
        let mut statement = db.prepare_cached(sql).expect("a statement");
        let rows = statement.query_map([argument], |row| row.get::<_, String>(0)).expect("an answer");
        rows.map(|body| body.expect("a row").len()).filter(|length| *length > 0).count()
    };
    let words = "SELECT d.body FROM words JOIN d ON d.id = words.id WHERE words MATCH ?";
    for (what, text) in [("two words", "w1500 w200"), ("two frequent words", "w1 w2"), ("a phrase", "\"w3 w4\"")] {
        let selector = format!("{{\"text\":{{\"$text\":{}}}}}", recension::json::quote(text));
        told(what, timed(ROUNDS, |_| find(&selector)), Some(timed(ROUNDS, |_| asked(words, text))));
    }
    let many: Vec<String> = (0..1000).map(|n| format!("\"{}\"", id(n * 97 % documents))).collect();
    let many = format!("[{}]", many.join(","));
    let by_ids = format!("{{\"_id\":{{\"$in\":{many}}}}}");
    let sql = "SELECT body FROM d WHERE id IN (SELECT value FROM json_each(?))";
    told("1,000 ids", timed(ROUNDS, |_| find(&by_ids)), Some(timed(ROUNDS, |_| asked(sql, &many))));
    let two = r#"{"tags":{"$all":["t3","t5"]}}"#;
    let sql = "SELECT d.body FROM tags a JOIN tags b USING (id) JOIN d USING (id) WHERE a.tag = ? AND b.tag = 't5'";
    told("all of two tags", timed(ROUNDS, |_| find(two)), Some(timed(ROUNDS, |_| asked(sql, "t3"))));
    let writes = |name: &str, prepare: &dyn Fn(&recension::Collection)| {
        let own = store.collection(name).expect("a collection");
        let mut chance = Chance(9);
        for n in 0..WRITES {
            own.put(&id(n), body(n, &mut chance)).expect("a write");
        }
        prepare(&own);
        let begun = spent();
        for n in 0..WRITES {
            own.put(&id(n + WRITES / 2), body(n, &mut chance)).expect("a write");
        }
        spent().saturating_sub(begun) / WRITES as u32
    };
    let plain = writes("plain", &|_| ());
    let with_words =
        writes("worded", &|own| own.create_text_index("words", ["text"], Language::Plain).expect("an index"));
    let views = |own: &recension::Collection| {
        for (at, member) in ["n", "text", "tags"].into_iter().enumerate() {
            let view = View::new(&format!("by {member}, {at}"), ViewOptions::default(), Arc::new(By(member)));
            own.views().update(&view, &AtomicBool::new(false), |_| ()).expect("a view");
        }
    };
    let with_views = writes("viewed", &views);
    let table = |file: &str, durable: bool, worded: bool| sqlite_writes(&path(file), durable, worded);
    let (theirs, theirs_worded) = (table("plain", false, false), table("worded", false, true));
    for (what, time, plain) in [
        ("a write", plain, plain),
        ("with an index of words", with_words, plain),
        ("with three views in the commit", with_views, plain),
        ("a write of SQLite's", theirs, theirs),
        ("with FTS5", theirs_worded, theirs),
    ] {
        println!("{what}: {:.1} us, {:.2} times", time.as_secs_f64() * 1e6, time.as_secs_f64() / plain.as_secs_f64());
    }
    let durable = |name: &str, worded: bool| {
        let store = Store::on(Arc::new(
            NativeEngine::open(Arc::new(FsDisk::new(path(name))), NativeOptions::default()).expect("a store"),
        ));
        let own = store.expect("a store").collection("d").expect("a collection");
        if worded {
            own.create_text_index("words", ["text"], Language::Plain).expect("an index");
        }
        let mut chance = Chance(9);
        let begun = Instant::now();
        for n in 0..DURABLE_WRITES {
            own.put(&id(n), body(n, &mut chance)).expect("a write");
        }
        begun.elapsed() / DURABLE_WRITES as u32
    };
    let rows = [
        ("a durable write", durable("lone", false)),
        ("with an index of words", durable("lone, worded", true)),
        ("a durable write of SQLite's", table("durable", true, false)),
        ("with FTS5", table("durable, worded", true, true)),
    ];
    for pair in rows.chunks(2) {
        for (what, time) in pair {
            let times = time.as_secs_f64() / pair[0].1.as_secs_f64();
            println!("{what}: {:.1} us of the clock, {times:.2} times", time.as_secs_f64() * 1e6);
        }
    }
}

/// What a write takes in SQLite; of the clock if it is durable.
fn sqlite_writes(path: &str, durable: bool, worded: bool) -> Duration {
    let db = Connection::open(path).expect("a database");
    let synchronous = if durable { "FULL" } else { "OFF" };
    db.execute_batch(&format!(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous={synchronous};
         CREATE TABLE d (id TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID;
         CREATE VIRTUAL TABLE words USING fts5(text, id UNINDEXED);"
    ))
    .expect("tables");
    let mut chance = Chance(9);
    let writes = if durable { DURABLE_WRITES } else { WRITES };
    let (clock, begun) = (Instant::now(), spent());
    for n in 0..writes {
        let body = body(n, &mut chance);
        let write = || {
            db.prepare_cached("BEGIN IMMEDIATE")?.execute(())?;
            db.prepare_cached("INSERT INTO d VALUES (?, ?)")?.execute((id(n), &body))?;
            if worded {
                db.prepare_cached("INSERT INTO words (text, id) SELECT json_extract(?, '$.text'), ?")?
                    .execute((&body, id(n)))?;
            }
            db.prepare_cached("COMMIT")?.execute(())
        };
        write().expect("a write");
    }
    let time = if durable { clock.elapsed() } else { spent().saturating_sub(begun) };
    time / writes as u32
}
