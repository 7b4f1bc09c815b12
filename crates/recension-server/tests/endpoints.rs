//! Endpoints and parameters that the recordings of CouchDB do not reach, or not far enough.

mod served;

use serde_json::{Value, json};
use served::Served;

struct Session(Served);

impl Session {
    fn start() -> Self {
        let session = Session(Served::start());
        assert_eq!(session.ask("PUT", "/db", ""), (201, json!({"ok": true})));
        session
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.0.ask(method, path, body.as_bytes());
        (status, serde_json::from_str(&unchunked(&body)).unwrap_or(Value::Null))
    }

    fn get(&self, path: &str) -> Value {
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

/// A body without the lines that say how long its chunks are. Good for answers of short lines only.
fn unchunked(body: &str) -> String {
    if !body.ends_with("0\r\n\r\n") {
        return body.to_owned();
    }
    let mut rest = body;
    let mut out = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        out.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    out
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
    let keys: Vec<_> = all.as_array().into_iter().flatten().map(|info| &info["key"]).collect();
    assert_eq!(keys, ["_users", "db"]);
    assert_eq!(session.ask("POST", "/_dbs_info", "{}").0, 400);
    assert!(session.0.ask("GET", "/_metrics", b"").1.contains("recension_http_requests_total{code=\"2xx\"}"));
}
