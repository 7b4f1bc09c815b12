//! What encryption at rest costs: loads, reads and durable writes of an encrypted store beside those of a plain one,
//! and of `SQLCipher` beside those of the same program without a key, if `sqlcipher` is installed (as Debian has it):
//! `cargo run --release -p recension-engines --example sealed_figures [documents]`
//!
//! Each figure is the median of three rounds, in which plain and encrypted take turns. Times are those of the clock.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension::Key;
use recension::disk::FsDisk;
use recension::engine::{Durability, NativeEngine, NativeOptions};
use recension::{Loader, Result, Store, Write};

const ROUNDS: usize = 3;
const GETS: u64 = 100_000;
const DURABLE_WRITES: u64 = 1000;
const WHAT: [&str; 3] = ["load, with settling", "get", "durable write"];

fn id(n: u64) -> String {
    format!("d{n:07}")
}

/// About 500 bytes that compress to about half.
fn body(n: u64) -> String {
    let mut text = format!("{{\"n\":{n},\"text\":\"");
    let mut state = n;
    while text.len() < 490 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        // Writing to a String cannot fail.
        let _ = write!(text, "word{} ", state >> 52);
    }
    text + "\"}"
}

/// The ids that are read, spread over all.
fn chosen(documents: u64) -> impl Iterator<Item = String> {
    (0..GETS).map(move |n| id(n.wrapping_mul(7_919) % documents))
}

fn timed(work: impl FnOnce() -> Result<()>) -> Duration {
    let begun = Instant::now();
    work().expect("no error");
    begun.elapsed()
}

fn ours(dir: &std::path::Path, key: Option<&Key>, documents: u64) -> [Duration; 3] {
    let open = |durability| {
        let options = NativeOptions { durability, key: key.cloned(), ..NativeOptions::default() };
        Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(dir)), options).expect("a store"))).expect("a store")
    };
    let store = open(Durability::Process);
    let load = timed(|| {
        let mut loader: Loader = store.collection("d")?.loader();
        for n in 0..documents {
            loader.push(Write::put(&id(n), body(n))?)?;
        }
        loader.finish()?;
        store.compact().map(drop)
    });
    let all = store.collection("d").expect("a collection");
    let get = timed(|| {
        for id in chosen(documents) {
            assert!(all.get(&id)?.is_some());
        }
        Ok(())
    });
    drop((all, store));
    let store = open(Durability::Disk);
    let all = store.collection("d").expect("a collection");
    let put = timed(|| {
        for n in 0..DURABLE_WRITES {
            all.put(&id(documents + n), body(n))?;
        }
        Ok(())
    });
    [load, get, put]
}

/// Runs SQL in `SQLCipher`'s program; `None` if it is not installed.
fn sqlcipher(file: &std::path::Path, key: bool, sql: &str) -> Option<Duration> {
    let begun = Instant::now();
    let mut child = Command::new("sqlcipher").arg(file).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().ok()?;
    let pragma =
        if key { "PRAGMA key = \"x'2DD29CA851E7B56E4697B0E1F08507293D761A05CE4D1B628663F411A8086D99'\";" } else { "" };
    let mut input = child.stdin.take()?;
    input.write_all(format!("{pragma} PRAGMA journal_mode=WAL;\n{sql}").as_bytes()).ok()?;
    drop(input);
    assert!(child.wait().expect("an end").success(), "sqlcipher failed");
    Some(begun.elapsed())
}

fn theirs(file: &std::path::Path, key: bool, documents: u64) -> Option<[Duration; 3]> {
    let insert = |n: u64, body: u64| format!("INSERT INTO d VALUES ('{}', '{}');\n", id(n), self::body(body));
    let mut load = "PRAGMA synchronous=OFF; CREATE TABLE d (id TEXT PRIMARY KEY, body TEXT); BEGIN;\n".to_owned();
    (0..documents).for_each(|n| load += &insert(n, n));
    load += "COMMIT;\n";
    let gets: Vec<String> = chosen(documents).map(|id| format!("SELECT body FROM d WHERE id = '{id}';\n")).collect();
    let puts: Vec<String> = (0..DURABLE_WRITES).map(|n| insert(documents + n, n)).collect();
    Some([
        sqlcipher(file, key, &load)?,
        sqlcipher(file, key, &gets.concat())?,
        sqlcipher(file, key, &format!("PRAGMA synchronous=FULL;\n{}", puts.concat()))?,
    ])
}

fn told(who: &str, mut rounds: Vec<[[Duration; 3]; 2]>) {
    for (number, what) in WHAT.iter().enumerate() {
        rounds.sort_by_key(|[plain, sealed]| sealed[number].as_nanos() * 1000 / plain[number].as_nanos().max(1));
        let [plain, sealed] = rounds[rounds.len() / 2].map(|times| times[number].as_secs_f64());
        println!(
            "{who}, {what}: plain {:.1} ms, encrypted {:.1} ms, {:.2} times",
            plain * 1e3,
            sealed * 1e3,
            sealed / plain
        );
    }
}

fn main() {
    let documents = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let key = Key::generate().expect("random bytes");
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = |name: &str| dir.path().join(name);
        own.push([ours(&path("plain"), None, documents), ours(&path("sealed"), Some(&key), documents)]);
        let pair = theirs(&path("plain.db"), false, documents).zip(theirs(&path("sealed.db"), true, documents));
        others.extend(pair.map(|(plain, sealed)| [plain, sealed]));
    }
    told("Recension", own);
    if others.is_empty() {
        println!("SQLCipher: not here (apt install sqlcipher)");
    } else {
        told("SQLCipher", others);
    }
}
