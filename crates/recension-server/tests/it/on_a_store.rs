//! Servers on stores that somebody else holds too: what a server does without being asked over HTTP, and what it reads.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use crate::served::Served;
use recension::engine::{
    Batch, CommitInfo, Direction, Engine, EngineError, KeyRange, Keys, MemoryEngine, Profile, Reads, Result,
    RetentionRule, Rows, Seq, Snapshot, Stats, Timestamp, TreeId, Value, VerifyReport, Versions,
};
use recension::{At, IndexSpec, Store, Write};
use serde_json::{Value as Json, json};

/// An engine that counts the rows that it is asked for.
#[derive(Default)]
struct Counting {
    engine: MemoryEngine,
    profile: Profile,
    rows: Arc<AtomicU64>,
    /// The threads that have read.
    threads: Threads,
    /// Why no commit is taken.
    broken: Arc<Mutex<Option<EngineError>>>,
}

type Threads = Arc<Mutex<BTreeSet<String>>>;

struct CountingSnapshot {
    snapshot: Arc<dyn Snapshot>,
    rows: Arc<AtomicU64>,
    threads: Threads,
}

impl Engine for Counting {
    fn head(&self) -> Seq {
        self.engine.head()
    }

    fn snapshot_at(&self, seq: Seq) -> Result<Arc<dyn Snapshot>> {
        Ok(Arc::new(CountingSnapshot {
            snapshot: self.engine.snapshot_at(seq)?,
            rows: Arc::clone(&self.rows),
            threads: Arc::clone(&self.threads),
        }))
    }

    fn commit_at(&self, time: Timestamp) -> Result<Option<CommitInfo>> {
        self.engine.commit_at(time)
    }

    fn commit(&self, batch: Batch) -> Result<CommitInfo> {
        self.engine.commit(batch)
    }

    fn wait_beyond(&self, seq: Seq, timeout: Duration) -> Seq {
        self.engine.wait_beyond(seq, timeout)
    }

    fn wake_beyond(&self, seq: Seq, waker: &Waker) -> bool {
        self.engine.wake_beyond(seq, waker)
    }

    fn checkpoint(&self) -> Result<()> {
        self.engine.checkpoint()
    }

    fn retention(&self) -> Result<Vec<RetentionRule>> {
        self.engine.retention()
    }

    fn verify(&self) -> Result<VerifyReport> {
        self.engine.verify()
    }

    fn check_writes(&self) -> Result<()> {
        self.broken.lock().unwrap().clone().map_or(Ok(()), Err)
    }

    fn profile(&self) -> Profile {
        self.profile
    }

    fn stats(&self) -> Result<Stats> {
        self.engine.stats()
    }
}

impl Snapshot for CountingSnapshot {
    fn seq(&self) -> Seq {
        self.snapshot.seq()
    }

    fn time(&self) -> Result<Timestamp> {
        self.snapshot.time()
    }

    fn get(&self, tree: TreeId, key: &[u8]) -> Result<Option<Value<'_>>> {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.threads.lock().unwrap().insert(std::thread::current().name().unwrap_or_default().to_owned());
        self.snapshot.get(tree, key)
    }

    fn range(&self, tree: TreeId, range: &KeyRange, direction: Direction) -> Rows<'_> {
        let rows = &self.rows;
        Box::new(self.snapshot.range(tree, range, direction).inspect(|_| {
            rows.fetch_add(1, Ordering::Relaxed);
        }))
    }

    fn keys(&self, tree: TreeId, range: &KeyRange) -> Keys<'_> {
        self.snapshot.keys(tree, range)
    }

    fn versions(&self, tree: TreeId, key: &[u8]) -> Versions<'_> {
        self.snapshot.versions(tree, key)
    }
}

fn asked(served: &Served, method: &str, path: &str, body: &Json) -> Json {
    let (status, text) = served.ask(method, path, body.to_string().as_bytes());
    assert!(status < 300, "{method} {path}: {text}");
    crate::served::json(&text)
}

fn ids(feed: &Json) -> Vec<&str> {
    feed["results"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect()
}

#[test]
fn a_server_whose_store_takes_no_writes_is_not_up_but_for_readers() {
    let counting = Counting::default();
    let broken = Arc::clone(&counting.broken);
    let served = Served::on(Store::on(Arc::new(counting)).unwrap());
    let up = |path| served.ask("GET", path, b"");
    assert_eq!(up("/_up").0, 200);
    for (error, says) in [
        (EngineError::Poisoned { cause: "syncing /secret/place".to_owned() }, "until it is opened again"),
        (EngineError::Unavailable { why: "secret.example does not answer".to_owned() }, "does not answer"),
        (EngineError::Moved { to: "postgres://secret".to_owned() }, "has moved"),
        (EngineError::ReadOnly, "for reading only"),
        (EngineError::Backend { engine: "x", message: "secret".to_owned() }, "takes no writes now"),
    ] {
        *broken.lock().unwrap() = Some(error);
        let (status, text) = up("/_up");
        assert!(status == 503 && text.contains("no_writes") && text.contains(says), "{status} {text}");
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(up("/_up?reads=true").0, 200);
        assert_eq!(up("/_up?reads=maybe").0, 400);
    }
    *broken.lock().unwrap() = None;
    assert_eq!(up("/_up").0, 200);
}

#[test]
fn a_request_to_a_branch_reads_as_few_rows_as_one_to_the_main_line() {
    let counting = Counting::default();
    let rows = Arc::clone(&counting.rows);
    let store = Store::on(Arc::new(counting)).unwrap();
    store.collection("db").unwrap().put("a", "{}").unwrap();
    for number in 0..100 {
        store.branch(&format!("b{number}"), At::Now).unwrap();
    }
    let served = Served::on(store);
    let read = |path: &str| {
        served.ask("GET", path, b"");
        let before = rows.load(Ordering::Relaxed);
        assert_eq!(served.ask("GET", path, b"").0, 200, "{path}");
        rows.load(Ordering::Relaxed) - before
    };
    let (main, branch) = (read("/db/a"), read("/db@b99/a"));
    assert!(branch < main * 2 + 20, "{branch} rows were read, {main} on the main line");
}

#[test]
fn a_feed_of_few_documents_reads_few_rows() {
    const DOCUMENTS: u64 = 5000;
    let counting = Counting::default();
    let rows = Arc::clone(&counting.rows);
    let store = Store::on(Arc::new(counting)).unwrap();
    let db = store.collection("db").unwrap();
    db.create_index(IndexSpec::new("group", "of.group"), |_| {}).unwrap();
    let body = |n: u64| json!({"of": {"group": n % 1000}, "n": n}).to_string();
    let writes = (0..DOCUMENTS).map(|n| Write::put(&format!("d{n:04}"), body(n)).unwrap());
    assert!(db.bulk(writes).unwrap().iter().all(std::result::Result::is_ok));
    let served = Served::on(store);
    let read = |method: &str, path: &str, body: &Json| {
        let before = rows.load(Ordering::Relaxed);
        let feed = asked(&served, method, path, body);
        (feed, rows.load(Ordering::Relaxed) - before)
    };
    // More than are read at a time before a way around is looked for: what is read of the whole feed is that page.
    let page = 1024 + 200;
    let selector = json!({"selector": {"of.group": 7, "n": {"$gt": 1000}}});
    let found = ["d1007", "d2007", "d3007", "d4007"];
    for (method, path, body, found, most) in [
        ("POST", "/db/_changes?filter=_selector", &selector, &found[..], page),
        ("POST", "/db/_changes?filter=_selector&include_docs=true&style=all_docs", &selector, &found[..], page),
        (
            "POST",
            "/db/_changes?filter=_doc_ids",
            &json!({"doc_ids": ["d4999", "d0003", "x"]}),
            &["d0003", "d4999"],
            page,
        ),
        // No index helps: all is read.
        ("POST", "/db/_changes?filter=_selector", &json!({"selector": {"n": 4321}}), &["d4321"], u64::MAX),
    ] {
        let (feed, read) = read(method, path, body);
        assert_eq!(ids(&feed), found, "{path} {body}");
        assert!(read <= most, "{path} {body}: {read} rows were read");
        assert!(most < u64::MAX || read >= DOCUMENTS, "{path} {body}: only {read} rows were read");
    }
    // Backwards, and from where a feed was left.
    let (feed, read_backwards) = read("POST", "/db/_changes?filter=_selector&descending=true", &selector);
    assert_eq!(ids(&feed), ["d4007", "d3007", "d2007", "d1007"]);
    assert!(read_backwards <= page, "{read_backwards}");
    let (feed, _) = read("POST", "/db/_changes?filter=_selector&limit=3", &selector);
    let last = feed["last_seq"].as_str().unwrap();
    let (feed, _) = read("POST", &format!("/db/_changes?filter=_selector&since={last}"), &selector);
    assert_eq!(ids(&feed), ["d4007"]);
}

#[test]
fn collections_of_any_name_are_databases_and_those_of_the_server_are_not() {
    let store = Store::memory().unwrap();
    for name in ["Cities", "2026.people", "a.b", "_hidden", "plain"] {
        store.collection(name).unwrap().put("x", "{\"n\":1}").unwrap();
    }
    let served = Served::on(store.clone());
    let all = asked(&served, "GET", "/_all_dbs", &json!(null));
    assert_eq!(all, json!(["2026.people", "Cities", "_global_changes", "_replicator", "_users", "a.b", "plain"]));
    for name in ["Cities", "2026.people", "a.b"] {
        assert_eq!(asked(&served, "GET", &format!("/{name}"), &json!(null))["db_name"], json!(name));
        assert_eq!(asked(&served, "GET", &format!("/{name}/x"), &json!(null))["n"], json!(1));
        assert_eq!(asked(&served, "PUT", &format!("/{name}/y"), &json!({}))["ok"], json!(true));
    }
    let feed = asked(&served, "GET", "/_db_updates", &json!(null));
    assert!(feed["results"].as_array().unwrap().iter().any(|row| row["db_name"] == "Cities"), "{feed}");
    // Over HTTP none is made of such a name, as in CouchDB.
    assert_eq!(served.ask("PUT", "/Towns", b"").0, 400);
    assert_eq!(served.ask("GET", "/_hidden/x", b"").0, 404);
    assert_eq!(asked(&served, "DELETE", "/Cities", &json!(null)), json!({"ok": true}));
    assert_eq!(served.ask("GET", "/Cities", b"").0, 404);
}

#[test]
fn events_that_were_not_noted_are_noted_when_the_server_starts() {
    let told = |served: &Served| -> Vec<String> {
        let feed = asked(served, "GET", "/_db_updates", &json!(null));
        let text = |row: &Json, name: &str| row[name].as_str().unwrap().to_owned();
        let rows = feed["results"].as_array().unwrap().iter();
        rows.filter(|row| !text(row, "db_name").starts_with('_'))
            .map(|row| format!("{} {}", text(row, "type"), text(row, "db_name")))
            .collect()
    };
    let store = Store::memory().unwrap();
    let mut served = Served::on(store.clone());
    for db in ["/dropped", "/kept"] {
        asked(&served, "PUT", db, &json!(null));
    }
    served.stop();
    // What a server leaves that is killed between a change and its note: the change without the note.
    assert!(store.drop_collection("dropped").unwrap());
    assert!(store.collection("made").unwrap().make(&[]).unwrap());
    let all = ["created dropped", "created kept", "deleted dropped", "created made"];
    let mut served = Served::on(store.clone());
    assert_eq!(told(&served), all);
    served.stop();
    // Everything is noted once.
    let head = store.engine().head();
    let served = Served::on(store.clone());
    assert_eq!(told(&served), all);
    assert_eq!(store.engine().head(), head, "a start that has nothing to note writes nothing");
}

#[test]
fn requests_read_on_threads_of_their_own_where_reads_may_wait() {
    for (profile, expected) in [
        (Profile::default(), "recension-requests"),
        (Profile::default().with_reads(Reads::MappedFiles), "tokio-rt-worker"),
        (Profile::default().with_reads(Reads::Memory), "tokio-rt-worker"),
    ] {
        let counting = Counting { profile, ..Counting::default() };
        let threads = Arc::clone(&counting.threads);
        let served = Served::on(Store::on(Arc::new(counting)).unwrap());
        asked(&served, "PUT", "/db", &json!(null));
        asked(&served, "PUT", "/db/a", &json!({"n": 1}));
        threads.lock().unwrap().clear();
        assert_eq!(asked(&served, "GET", "/db/a", &json!(null))["n"], 1);
        assert_eq!(served.ask("GET", "/db/b", b"").0, 404);
        asked(&served, "GET", "/db", &json!(null));
        // The replicator looks for its documents from time to time, on a thread of its own.
        let threads = threads.lock().unwrap().clone();
        let threads = threads.iter().filter(|name| *name != "recension-replicator").collect::<Vec<_>>();
        assert_eq!(threads, [expected], "{profile:?}");
    }
}
