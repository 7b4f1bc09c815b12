//! Endpoints and parameters that the recordings of CouchDB do not reach, or not far enough.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use crate::served::Served;
use serde_json::{Value, json};

pub(crate) struct Session(pub(crate) Served);

impl Session {
    pub(crate) fn start() -> Self {
        let session = Session(Served::start());
        assert_eq!(session.ask("PUT", "/db", ""), (201, json!({"ok": true})));
        session
    }

    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.0.ask(method, path, body.as_bytes());
        (status, crate::served::json(&body))
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, "").1
    }

    fn bulk(&self, body: &Value) -> Value {
        self.ask("POST", "/db/_bulk_docs", &body.to_string()).1
    }

    /// The status of a GET with a header.
    fn status_with(&self, path: &str, header: &str) -> String {
        let answer =
            self.0.raw(format!("GET {path} HTTP/1.1\r\nHost: x\r\n{header}\r\nConnection: close\r\n\r\n").as_bytes());
        answer.split("\r\n").next().unwrap_or_default().to_owned()
    }
}

fn conflicted() -> Value {
    let revision = |rev: &str, ids: [&str; 2], v: u32| json!({"_id": "c", "_rev": rev, "_revisions": {"start": 2, "ids": ids}, "v": v});
    json!({"new_edits": false, "docs": [revision("2-b", ["b", "a"], 2), revision("2-c", ["c", "a"], 3)]})
}

#[test]
fn bulk_get_answers_leaves_revisions_and_errors_by_document() {
    let session = Session::start();
    assert_eq!(session.bulk(&conflicted()), json!([]));
    session.bulk(&json!({"docs": [{"_id": "a", "v": 1}]}));
    let asked = json!({"docs": [
        {"id": "c"}, {"id": "c", "rev": "2-b"}, {"id": "c", "rev": "1-a"}, {"id": "nope"}, {"id": "c", "rev": "x"}, {"id": 1},
    ]});
    let (status, answer) = session.ask("POST", "/db/_bulk_get?revs=true", &asked.to_string());
    assert_eq!(status, 200);
    let docs = |at: usize| answer["results"][at]["docs"].as_array().unwrap().clone();
    let leaf = |rev: &str, v: u32| json!({"ok": {"_id": "c", "_rev": rev, "v": v, "_revisions": {"start": 2, "ids": [&rev[2..], "a"]}}});
    assert_eq!(docs(0), [leaf("2-c", 3), leaf("2-b", 2)]);
    assert_eq!(docs(1), [leaf("2-b", 2)]);
    assert_eq!(docs(2), [json!({"error": {"id": "c", "rev": "1-a", "error": "not_found", "reason": "missing"}})]);
    assert_eq!(
        docs(3),
        [json!({"error": {"id": "nope", "rev": "undefined", "error": "not_found", "reason": "missing"}})]
    );
    assert_eq!(docs(4)[0]["error"]["reason"], "Invalid rev format");
    assert_eq!(docs(5)[0]["error"]["error"], "illegal_docid");
    let (_, latest) = session.ask("POST", "/db/_bulk_get?latest=true", r#"{"docs":[{"id":"c","rev":"1-a"}]}"#);
    assert_eq!(latest["results"][0]["docs"].as_array().map(Vec::len), Some(2));
    assert_eq!(session.ask("POST", "/db/_bulk_get", "{}").0, 400);
    assert_eq!(session.ask("POST", "/db/_bulk_get", r#"{"docs":[]}"#).1, json!({"results": []}));
}

#[test]
fn what_a_replica_lacks_is_told_with_what_it_may_stand_on() {
    let session = Session::start();
    session.bulk(&conflicted());
    let asked = r#"{"c":["2-b","2-z"],"known":["1-a"],"empty":[]}"#;
    let (status, diff) = session.ask("POST", "/db/_revs_diff", asked);
    assert_eq!(status, 200);
    assert_eq!(diff["c"]["missing"], json!(["2-z"]));
    assert_eq!(diff["known"], json!({"missing": ["1-a"]}));
    assert!(diff.get("empty").is_none());
    let (_, missing) = session.ask("POST", "/db/_missing_revs", asked);
    assert_eq!(missing, json!({"missing_revs": {"c": ["2-z"], "known": ["1-a"]}}));
    assert_eq!(session.ask("POST", "/db/_revs_diff", r#"{"c":["x"]}"#).1["reason"], "Invalid rev format");
}

#[test]
fn feeds_are_filtered_by_ids_selectors_and_kind() {
    let session = Session::start();
    session.bulk(
        &json!({"docs": [{"_id": "a", "v": 1}, {"_id": "b", "v": 2}, {"_id": "_design/d"}, {"_id": "c", "v": 3}]}),
    );
    let ids = |(status, feed): (u16, Value)| {
        assert_eq!(status, 200, "{feed}");
        feed["results"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let post = |query: &str, body: &str| ids(session.ask("POST", &format!("/db/_changes?{query}"), body));
    assert_eq!(post("filter=_doc_ids", r#"{"doc_ids":["c","nope","a","c"]}"#), ["a", "c"]);
    assert_eq!(post("filter=_doc_ids&limit=1", r#"{"doc_ids":["c","a"]}"#), ["a"]);
    assert_eq!(ids(session.ask("GET", "/db/_changes?filter=_doc_ids&doc_ids=[%22b%22]", "")), ["b"]);
    assert_eq!(post("filter=_selector", r#"{"selector":{"v":{"$gt":1}}}"#), ["b", "c"]);
    assert_eq!(ids(session.ask("GET", "/db/_changes?filter=_design", "")), ["_design/d"]);
    // CouchDB looks these up, and counts what it passed over as still to come.
    let pending = |query: &str, body: &str| {
        let method = if body.is_empty() { "GET" } else { "POST" };
        session.ask(method, &format!("/db/_changes?{query}"), body).1["pending"].as_u64().unwrap()
    };
    assert_eq!(pending("filter=_design", ""), 3);
    assert_eq!(pending("filter=_doc_ids", r#"{"doc_ids":["c","nope","a"]}"#), 2);
    assert_eq!(pending("filter=_doc_ids&limit=1", r#"{"doc_ids":["c","a"]}"#), 3);
    assert_eq!(pending("filter=_doc_ids&since=now", r#"{"doc_ids":["c"]}"#), 0);
    let first = session.get("/db/_changes?limit=1")["last_seq"].as_str().unwrap().to_owned();
    assert_eq!(pending(&format!("filter=_doc_ids&since={first}"), r#"{"doc_ids":["c"]}"#), 2);
    let many: Vec<String> = (0..101).map(|number| format!("\"{number}\"")).collect();
    assert_eq!(pending("filter=_doc_ids", &format!(r#"{{"doc_ids":[{}]}}"#, many.join(","))), 0);
    assert_eq!(pending("filter=_selector", r#"{"selector":{"v":1}}"#), 0);
    for (path, status) in [
        ("/db/_changes?filter=_selector", 400),
        ("/db/_changes?filter=_doc_ids", 400),
        ("/db/_changes?filter=x", 400),
        ("/db/_changes?filter=nope/x", 404),
    ] {
        assert_eq!(session.ask("POST", path, "{}").0, status, "{path}");
    }
}

#[test]
fn what_couchdbs_replicator_notes_in_a_document_is_kept() {
    let session = Session::start();
    let notes = json!({
        "_replication_id": "c0ebe9256695ff083347cbf95f93e280", "source": "a", "_replication_state": "error",
        "_replication_state_time": "2026-11-21T10:00:00Z", "_replication_state_reason": "db_not_found",
        "_replication_stats": {"docs_read": 1},
    });
    let told = |id: &str, rev: &str| {
        let mut told = notes.clone();
        (told["_id"], told["_rev"]) = (json!(id), json!(rev));
        told
    };
    let (status, answer) = session.ask("PUT", "/db/r", &notes.to_string());
    assert_eq!(status, 201, "{answer}");
    assert_eq!(session.get("/db/r"), told("r", answer["rev"].as_str().unwrap()));
    assert_eq!(session.bulk(&json!({"new_edits": false, "docs": [told("s", "1-a")]})), json!([]));
    assert_eq!(session.get("/db/s"), told("s", "1-a"));
    let refused = session.ask("PUT", "/db/t", r#"{"_replication_other":1}"#);
    assert_eq!((refused.0, &refused.1["error"]), (400, &json!("doc_validation")), "{}", refused.1);
}

#[test]
fn a_feed_goes_on_within_a_commit_of_many_documents() {
    let session = Session::start();
    let docs: Vec<Value> = (0..1000).map(|number| json!({"_id": format!("{number:04}")})).collect();
    session.bulk(&json!({"docs": docs}));
    let mut seen = Vec::new();
    let mut since = "0".to_owned();
    loop {
        let feed = session.get(&format!("/db/_changes?limit=300&since={since}"));
        let rows = feed["results"].as_array().unwrap();
        if rows.is_empty() {
            assert_eq!(feed["pending"], 0);
            break;
        }
        seen.extend(rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()));
        assert_eq!(feed["pending"], json!(1000 - seen.len()));
        feed["last_seq"].as_str().unwrap().clone_into(&mut since);
    }
    assert_eq!(seen, (0..1000).map(|number| format!("{number:04}")).collect::<Vec<_>>());
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let session = Session::start();
    let rev = session.ask("PUT", "/db/a", "{}").1["rev"].as_str().unwrap().to_owned();
    assert_eq!(session.status_with("/db/a", &format!("If-None-Match: \"{rev}\"")), "HTTP/1.1 304 Not Modified");
    assert_eq!(session.status_with("/db/a", &format!("If-None-Match: {rev}")), "HTTP/1.1 200 OK");
    let head = session.0.raw(b"GET /db/_all_docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").to_lowercase();
    let tag = head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    assert!(tag.starts_with("w/\""), "{tag}");
    let header = format!("If-None-Match: {}", tag.to_uppercase());
    assert_eq!(session.status_with("/db/_all_docs", &header), "HTTP/1.1 304 Not Modified");
    session.ask("PUT", "/db/b", "{}");
    assert_eq!(session.status_with("/db/_all_docs", &header), "HTTP/1.1 200 OK");
}

#[test]
fn compaction_gives_up_old_bodies_and_keeps_leaves() {
    let session = Session::start();
    session.bulk(&conflicted());
    let first = session.ask("PUT", "/db/a", r#"{"v":1}"#).1["rev"].as_str().unwrap().to_owned();
    let second = session.ask("PUT", &format!("/db/a?rev={first}"), r#"{"v":2}"#).1["rev"].as_str().unwrap().to_owned();
    assert_eq!(session.get(&format!("/db/a?rev={first}"))["v"], 1);
    assert_eq!(session.ask("POST", "/db/_compact", "{}").0, 202);
    assert_eq!(session.ask("GET", &format!("/db/a?rev={first}"), "").0, 404);
    for path in [format!("/db/a?rev={second}"), "/db/a".into(), "/db/c?rev=2-b".into(), "/db/c?rev=2-c".into()] {
        assert_eq!(session.ask("GET", &path, "").0, 200, "{path}");
    }
    let info = session.get("/db/a?revs_info=true")["_revs_info"].clone();
    assert_eq!(info, json!([{"rev": second, "status": "available"}, {"rev": first, "status": "missing"}]));
    session.ask("PUT", &format!("/db/a?rev={second}"), r#"{"v":3}"#);
    assert_eq!(
        session.ask("GET", &format!("/db/a?rev={second}"), "").0,
        404,
        "it was written before, and is no leaf now"
    );
}

#[test]
fn lists_answer_several_queries_and_keys_of_what_is_deleted() {
    let session = Session::start();
    session.bulk(&json!({"docs": [{"_id": "a"}, {"_id": "b"}, {"_id": "c"}]}));
    let rev = session.get("/db/b")["_rev"].as_str().unwrap().to_owned();
    session.ask("DELETE", &format!("/db/b?rev={rev}"), "");
    let keys = session.ask("POST", "/db/_all_docs?include_docs=true", r#"{"keys":["b",1,"a"]}"#).1;
    assert_eq!((&keys["rows"][0]["value"]["deleted"], &keys["rows"][0]["doc"]), (&json!(true), &Value::Null));
    assert_eq!(keys["rows"][1], json!({"key": 1, "error": "not_found"}));
    assert_eq!(keys["rows"][2]["doc"]["_id"], "a");
    let queries = r#"{"queries":[{"limit":1},{"startkey":"b","descending":false},{"keys":["a"]}]}"#;
    let (status, answer) = session.ask("POST", "/db/_all_docs/queries", queries);
    assert_eq!(status, 200);
    let rows = |at: usize| answer["results"][at]["rows"].as_array().unwrap().len();
    assert_eq!((rows(0), rows(1), rows(2)), (1, 1, 1), "{answer}");
    for (query, count) in [
        ("startkey=%22z%22&endkey=%22a%22", 0),
        ("endkey=[]", 2),
        ("endkey=null", 0),
        ("startkey={}&descending=true", 2),
        ("startkey={}", 0),
        ("key=1", 0),
        ("skip=1&limit=5", 1),
    ] {
        let list = session.get(&format!("/db/_all_docs?{query}"));
        assert_eq!(list["rows"].as_array().map(Vec::len), Some(count), "{query}: {list}");
    }
}

#[test]
fn databases_are_described_together() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    let (status, infos) = session.ask("POST", "/_dbs_info", r#"{"keys":["db","nope"]}"#);
    assert_eq!((status, &infos[0]["info"]["doc_count"], &infos[1]["error"]), (200, &json!(1), &json!("not_found")));
    let all = session.get("/_dbs_info");
    let names: Vec<_> = all.as_array().unwrap().iter().map(|info| info["key"].as_str().unwrap()).collect();
    assert_eq!(names, ["_global_changes", "_replicator", "_users", "db"]);
    assert_eq!(session.ask("POST", "/_dbs_info", "{}").0, 400);
    assert!(session.0.ask("GET", "/_metrics", b"").1.contains("recension_http_requests_total{code=\"2xx\"}"));
}

#[test]
fn what_happens_to_databases_is_told_once_each_at_its_last_time() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    session.ask("PUT", "/other", "");
    session.ask("PUT", "/db/b", "{}");
    session.ask("DELETE", "/other", "");
    let told = |path: &str| {
        let feed = session.get(path);
        let rows = feed["results"].as_array().unwrap_or_else(|| panic!("{feed}")).clone();
        let text = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        let rows: Vec<_> = rows
            .iter()
            .filter(|row| !row["db_name"].as_str().is_some_and(|name| name.starts_with('_')))
            .map(|row| format!("{} {}", text(row, "type"), text(row, "db_name")))
            .collect();
        (rows, text(&feed, "last_seq"))
    };
    let (rows, last) = told("/_db_updates");
    assert_eq!(rows, ["created db", "created other", "updated db", "deleted other"]);
    assert_eq!(told(&format!("/_db_updates?since={last}")).0, [""; 0]);
    assert_eq!(told("/_db_updates?descending=true").0[0], "deleted other");
    // One event at a time comes to the same.
    let (mut all, mut since) = (Vec::new(), "0".to_owned());
    for _ in 0..20 {
        let (rows, last) = told(&format!("/_db_updates?limit=1&since={since}"));
        all.extend(rows);
        since = last;
    }
    assert_eq!(all, rows);
    assert_eq!(session.ask("GET", "/_db_updates?feed=x", "").0, 400);
}

#[test]
fn feeds_of_databases_wait_for_what_comes() {
    let session = Session::start();
    let ask = |path: &str| {
        let mut stream = session.0.connect();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        BufReader::new(stream)
    };
    let mut continuous = ask("/_db_updates?feed=continuous&since=now&heartbeat=true");
    let longpoll = ask("/_db_updates?feed=longpoll&since=now");
    let until = |reader: &mut BufReader<TcpStream>, word: &str| {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert!(reader.read_line(&mut line).unwrap() > 0, "ended before {word}");
        }
        line
    };
    // Both heads are sent once their first pages are read: nothing that comes then is missed.
    let mut longpoll = longpoll;
    until(&mut longpoll, "results");
    until(&mut continuous, "transfer-encoding");
    session.ask("PUT", "/new", "");
    let created = until(&mut continuous, "created");
    assert!(created.contains(r#""db_name":"new","type":"created""#), "{created}");
    until(&mut longpoll, r#""db_name":"new""#);
    until(&mut longpoll, "last_seq");
    session.ask("PUT", "/new/a", "{}");
    until(&mut continuous, "updated");
    session.ask("DELETE", "/new", "");
    until(&mut continuous, "deleted");
}

#[test]
fn documents_of_partitioned_databases_have_a_partition_and_are_listed_by_it() {
    let session = Session::start();
    session.ask("PUT", "/p?partitioned=true", "");
    assert_eq!(session.get("/p")["props"], json!({"partitioned": true}));
    for id in ["a:1", "a:2", "b:1", "_design/d", "_local/x"] {
        assert_eq!(session.ask("PUT", &format!("/p/{id}"), r#"{"v":1}"#).0, 201, "{id}");
    }
    let refused = [
        ("PUT", "/p/none", "{}", "Doc id must be of form partition:id"),
        ("PUT", "/p/:x", "{}", "Partition must not be empty"),
        ("PUT", "/p/a:", "{}", "Document id must not be empty"),
        ("PUT", "/p/none/attachment.txt", "text", "Doc id must be of form partition:id"),
        ("POST", "/p", "{}", "Doc id must be of form partition:id"),
        ("POST", "/p/_bulk_docs", r#"{"docs":[{"_id":"a:ok"},{"_id":"bad"}]}"#, "Doc id must be of form partition:id"),
        (
            "POST",
            "/p/_bulk_docs",
            r#"{"new_edits":false,"docs":[{"_id":"a:ok","_rev":"1-a"},{"_id":"bad","_rev":"1-a"}]}"#,
            "Doc id must be of form partition:id",
        ),
        ("GET", "/p/_partition/_a", "", "Partition must not start with an underscore"),
        ("GET", "/db/_partition/a", "", "database is not partitioned"),
    ];
    for (method, path, body, reason) in refused {
        let (status, answer) = session.ask(method, path, body);
        assert_eq!((status, &answer["reason"]), (400, &json!(reason)), "{method} {path}");
    }
    assert_eq!(session.ask("GET", "/p/a:ok", "").0, 404, "nothing of a refused bulk is written");
    let info = session.get("/p/_partition/a");
    assert_eq!((&info["doc_count"], &info["partition"], &info["db_name"]), (&json!(2), &json!("a"), &json!("p")));
    assert_eq!(session.get("/p/_partition/none")["doc_count"], 0);
    for (query, offset, ids) in [
        ("", json!(1), &["a:1", "a:2"][..]),
        ("?startkey=%22a:2%22", json!(2), &["a:2"]),
        ("?descending=true", json!(1), &["a:2", "a:1"]),
        ("?key=%22b:1%22", json!(3), &[]),
        ("?limit=1", json!(1), &["a:1"]),
    ] {
        let list = session.get(&format!("/p/_partition/a/_all_docs{query}"));
        let found: Vec<_> = list["rows"].as_array().unwrap().iter().map(|row| row["id"].clone()).collect();
        assert_eq!(json!(found), json!(ids), "{query}");
        assert_eq!((&list["offset"], &list["total_rows"]), (&offset, &json!(4)), "{query}");
    }
    let keys = session.ask("POST", "/p/_partition/a/_all_docs", r#"{"keys":["a:1","b:1"]}"#).1;
    assert_eq!((&keys["rows"][0]["id"], &keys["rows"][1]["error"]), (&json!("a:1"), &json!("not_found")));
    assert_eq!(session.ask("GET", "/p/_partition/a/_changes", "").0, 404);
}

#[test]
fn seqs_are_told_of_every_nth_row_where_that_is_asked_for() {
    let session = Session::start();
    session.bulk(&json!({"docs": (0..7).map(|id| json!({"_id": id.to_string()})).collect::<Vec<_>>()}));
    let feed = session.get("/db/_changes?seq_interval=3");
    let told: Vec<_> = feed["results"].as_array().unwrap().iter().map(|row| !row["seq"].is_null()).collect();
    // CouchDB counts the rows that the limit leaves, of which there are 10^15 if none is given.
    assert_eq!(told, [false, true, false, false, true, false, false]);
    let last = session.get("/db/_changes")["last_seq"].clone();
    assert_eq!(feed["last_seq"], last);
    // From a seq that was told, the feed goes on behind its row.
    let second = feed["results"][1]["seq"].as_str().unwrap();
    assert_eq!(session.get(&format!("/db/_changes?since={second}"))["results"].as_array().map(Vec::len), Some(5));
}

/// The head and the body of an answer, the body without its chunks' lengths.
fn answered(session: &Session, method: &str, path: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = session.0.connect();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let (head, mut body) = (head.to_lowercase(), Vec::new());
    if !head.contains("transfer-encoding: chunked") {
        reader.read_to_end(&mut body).unwrap();
        return (head, body);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let length = usize::from_str_radix(line.trim(), 16).unwrap();
        let mut piece = vec![0; length + 2];
        reader.read_exact(&mut piece).unwrap();
        if length == 0 {
            return (head, body);
        }
        body.extend_from_slice(&piece[..length]);
    }
}

fn many(session: &Session, count: usize) {
    let text = "What is said often is packed well. ".repeat(4);
    let docs: Vec<Value> = (0..count).map(|id| json!({"_id": format!("{id:05}"), "n": id, "text": text})).collect();
    session.bulk(&json!({"docs": docs}));
}

#[test]
fn answers_are_compressed_as_the_client_asks_and_mean_the_same() {
    let session = Session::start();
    many(&session, 2000);
    session.ask("PUT", "/db/large", &json!({"text": "x".repeat(200_000)}).to_string());
    session.ask("PUT", "/db/small", "{}");
    for path in
        ["/db/_all_docs?include_docs=true", "/db/_all_docs?limit=20", "/db/_changes?include_docs=true", "/db/large"]
    {
        let (plain_head, plain) = answered(&session, "GET", path, "");
        assert!(!plain_head.contains("content-encoding"), "{plain_head}");
        assert!(plain_head.contains("vary:") && plain_head.contains("accept-encoding"), "{plain_head}");
        // HEAD says that there are other forms, and tells of the plain one.
        let head = answered(&session, "HEAD", path, "Accept-Encoding: gzip\r\n").0;
        assert!(head.contains("accept-encoding") && !head.contains("content-encoding"), "{path}: {head}");
        for coding in ["gzip", "br", "zstd"] {
            let (head, body) = answered(&session, "GET", path, &format!("Accept-Encoding: {coding}\r\n"));
            assert!(head.contains(&format!("content-encoding: {coding}\r\n")), "{path}: {head}");
            assert!(head.contains("accept-encoding"), "{path}: {head}");
            assert!(body.len() * 2 < plain.len(), "{path} {coding}: {} of {}", body.len(), plain.len());
            let mut read = Vec::new();
            match coding {
                "gzip" => flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut read).map(|_| ()).unwrap(),
                "br" => brotli::BrotliDecompress(&mut &body[..], &mut read).unwrap(),
                _ => read = zstd::decode_all(&body[..]).unwrap(),
            }
            assert!(read == plain, "{path} {coding}");
        }
    }
}

#[test]
fn tags_are_weak_where_the_answer_is_compressed_and_hold_for_every_form() {
    let session = Session::start();
    let rev = session.ask("PUT", "/db/large", &json!({"text": "x".repeat(5000)}).to_string()).1["rev"].clone();
    let rev = rev.as_str().unwrap();
    let gzip = "Accept-Encoding: gzip\r\n";
    assert!(answered(&session, "GET", "/db/large", "").0.contains(&format!("\r\netag: \"{rev}\"\r\n")));
    assert!(answered(&session, "GET", "/db/large", gzip).0.contains(&format!("\r\netag: w/\"{rev}\"\r\n")));
    // CouchDB sends no digest with an attachment as it is stored.
    session.ask("PUT", "/db/attached", r#"{"_attachments":{"a":{"data":"eHh4eA==","content_type":"text/plain"}}}"#);
    let head = answered(&session, "GET", "/db/attached/a", gzip).0;
    assert!(head.contains("content-encoding: gzip") && !head.contains("content-md5"), "{head}");
    // Clients read revisions off HEAD.
    let head = answered(&session, "HEAD", "/db/large", gzip).0;
    assert!(head.contains(&format!("\r\netag: \"{rev}\"\r\n")) && !head.contains("content-encoding"), "{head}");
    for tag in [format!("\"{rev}\""), format!("W/\"{rev}\"")] {
        let (head, body) = answered(&session, "GET", "/db/large", &format!("{gzip}If-None-Match: {tag}\r\n"));
        assert!(head.starts_with("http/1.1 304") && head.contains("accept-encoding") && body.is_empty(), "{head}");
    }
    let (head, _) = answered(&session, "DELETE", "/db/large", &format!("If-Match: W/\"{rev}\"\r\n"));
    assert!(head.starts_with("http/1.1 200"), "{head}");
}

#[test]
fn what_is_short_what_waits_and_what_is_stored_is_not_compressed() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    let rev = session.get("/db/a")["_rev"].as_str().unwrap().to_owned();
    let put = format!(
        "PUT /db/a/x.bin?rev={rev} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: \
         5000\r\nConnection: close\r\n\r\n{}",
        " ".repeat(5000)
    );
    assert!(session.0.raw(put.as_bytes()).contains("201 Created"));
    let all = "Accept-Encoding: br, zstd\r\n";
    for path in
        ["/db/a", "/db/a/x.bin", "/db/_changes?feed=continuous&timeout=0", "/db/_changes?feed=longpoll", "/db/nope"]
    {
        let head = answered(&session, "GET", path, all).0;
        assert!(!head.contains("content-encoding"), "{path}: {head}");
    }
}

#[test]
fn bodies_may_come_gzipped_and_are_unpacked_within_the_bound() {
    let session =
        Session(Served::with(recension_server::config::Config { max_request_size: 100_000, ..Default::default() }));
    session.ask("PUT", "/db", "");
    let send = |coding: &str, plain: &[u8], cut: usize| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packed.write_all(plain).unwrap();
        let mut packed = packed.finish().unwrap();
        packed.truncate(packed.len() - cut);
        let head = format!(
            "POST /db HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: \
             {coding}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            packed.len()
        );
        session.0.raw(&[head.as_bytes(), &packed].concat())[9..12].parse::<u16>().unwrap()
    };
    assert_eq!(send("gzip", br#"{"_id":"packed"}"#, 0), 201);
    assert_eq!(session.ask("GET", "/db/packed", "").0, 200);
    assert_eq!(send("gzip", br#"{"_id":"cut"}"#, 6), 400);
    assert_eq!(send("gzip", format!("{{\"a\":\"{}\"}}", "x".repeat(100_000)).as_bytes(), 0), 413);
    assert_eq!(send("br", b"{}", 0), 415);
    session.0.is_well();
}

#[test]
fn lists_come_in_lines_and_in_tables_where_the_client_wants_them() {
    let session = Session::start();
    session.bulk(&json!({"docs": [
        {"_id": "a", "name": "Ada, \"Countess\"", "address": {"city": "London"}}, {"_id": "b", "tags": [1, 2]},
    ]}));
    let ask = |path: &str, accept: &str| {
        let (head, body) = answered(&session, "GET", path, &format!("Accept: {accept}\r\n"));
        assert!(head.starts_with("http/1.1 200") && head.contains("vary: accept"), "{head}");
        (head, String::from_utf8(body).unwrap())
    };
    let objects = |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let lines = "application/x-ndjson";
    let (head, text) = ask("/db/_all_docs", lines);
    assert!(head.contains("content-type: application/x-ndjson\r\n"), "{head}");
    assert_eq!(json!(objects(&text)), session.get("/db/_all_docs")["rows"]);
    let docs = objects(&ask("/db/_all_docs?include_docs=true", lines).1);
    assert_eq!(docs[0]["doc"], session.get("/db/a"));
    let changes = objects(&ask("/db/_changes", lines).1);
    let feed = session.get("/db/_changes");
    assert_eq!(json!(changes[..2]), feed["results"]);
    assert_eq!(changes[2], json!({"last_seq": feed["last_seq"], "pending": 0}));
    let history = objects(&ask("/db/a/_history", lines).1);
    assert_eq!(json!(history), session.get("/db/a/_history")["history"]);

    let revs = ["a", "b"].map(|id| session.get(&format!("/db/{id}"))["_rev"].as_str().unwrap().to_owned());
    let (head, table) = ask("/db/_all_docs?fields=name,address.city,tags", "text/csv");
    assert!(head.contains("content-type: text/csv"), "{head}");
    let expected = format!(
        "id,rev,name,address.city,tags\r\na,{},\"Ada, \"\"Countess\"\"\",London,\r\nb,{},,,\"[1,2]\"\r\n",
        revs[0], revs[1]
    );
    assert_eq!(table, expected);
    assert_eq!(ask("/db/_all_docs", "text/csv").1, format!("id,rev\r\na,{}\r\nb,{}\r\n", revs[0], revs[1]));
    let history = ask("/db/a/_history", "text/csv").1;
    assert!(history.starts_with("rev,seq,time,deleted\r\n") && history.contains(&revs[0]), "{history}");
    // A tag of one form is not the other's.
    let tag = head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_uppercase();
    assert_eq!(session.status_with("/db/_all_docs", &format!("If-None-Match: {tag}")), "HTTP/1.1 200 OK");
    let same = format!("Accept: text/csv\r\nIf-None-Match: {}", tag.replace("-CSV", "-csv"));
    assert_eq!(session.status_with("/db/_all_docs?fields=name", &same), "HTTP/1.1 304 Not Modified");
}

/// As PouchDB's tests want it: all of them can be read, whichever came first, until they are compacted.
#[test]
fn revisions_that_come_together_with_their_ancestors_are_all_kept() {
    let session = Session::start();
    let revision = |rev: &str, ids: &[&str]| json!({"_id": "foo", "_rev": rev, "_deleted": rev == "3-a3", "is": rev, "_revisions": {"start": ids.len(), "ids": ids}});
    let docs = [
        revision("3-a3", &["a3", "a2", "a1"]),
        revision("1-a1", &["a1"]),
        revision("1-b1", &["b1"]),
        revision("2-a2", &["a2", "a1"]),
    ];
    assert_eq!(session.bulk(&json!({"new_edits": false, "docs": docs})), json!([]));
    for rev in ["1-a1", "2-a2", "3-a3", "1-b1"] {
        assert_eq!(session.get(&format!("/db/foo?rev={rev}"))["is"], rev);
    }
    session.ask("POST", "/db/_compact", "{}");
    for (rev, status) in [("1-a1", 404), ("2-a2", 404), ("3-a3", 200), ("1-b1", 200)] {
        assert_eq!(session.ask("GET", &format!("/db/foo?rev={rev}"), "").0, status, "{rev}");
    }
}

#[test]
fn a_feed_since_a_commit_that_the_store_does_not_have_begins_at_the_beginning() {
    let session = Session::start();
    session.ask("PUT", "/db", "");
    session.bulk(&json!({"docs": [{"_id": "a"}, {"_id": "b"}]}));
    let ids = |feed: &Value| -> Vec<String> {
        feed["results"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    let last = session.get("/db/_changes")["last_seq"].clone();
    let last = last.as_str().unwrap();
    assert!(ids(&session.get(&format!("/db/_changes?since={last}"))).is_empty());
    // The client has heard of commits of a newer copy of this store.
    let feed = session.get("/db/_changes?since=99999");
    assert_eq!((ids(&feed), feed["last_seq"].as_str()), (vec!["a".to_owned(), "b".to_owned()], Some(last)));
}
