//! Erasing documents over HTTP, and whose past it is that `at` reads.

use crate::served::{self, Served};
use serde_json::{Value, json};

struct Session(Served);

impl Session {
    fn start() -> Self {
        let session = Session(Served::start());
        assert_eq!(session.ask("PUT", "/db", "").0, 201);
        session
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.0.ask(method, path, body.as_bytes());
        (status, served::json(&body))
    }

    fn put(&self, path: &str, body: &str) {
        let (status, answer) = self.ask("PUT", path, body);
        assert_eq!(status, 201, "{path}: {answer}");
    }

    /// The newest commit.
    fn head(&self) -> u64 {
        let (_, answer) = self.ask("GET", "/db/_changes?since=now", "");
        let seq = answer["last_seq"].to_string();
        seq.trim_matches('"').rsplit('-').next().and_then(|seq| seq.parse().ok()).unwrap_or_else(|| panic!("{answer}"))
    }
}

#[test]
fn an_erased_document_is_at_no_moment_and_in_no_list() {
    let session = Session::start();
    session.put("/db/ada", r#"{"name":"Ada"}"#);
    session.put("/db/bob", r#"{"name":"Bob"}"#);
    let then = session.head();
    for path in [format!("/db/ada?at={then}"), "/db/ada".to_owned(), format!("/db/ada/_history?at={then}")] {
        assert_eq!(session.ask("GET", &path, "").0, 200, "{path}");
    }
    let (status, answer) = session.ask("POST", "/db/_erase", r#"{"ids":["ada","nobody"]}"#);
    assert_eq!((status, &answer["erased"], &answer["settled"]), (200, &json!(1), &json!(false)), "{answer}");
    for settled in [false, true] {
        for path in [format!("/db/ada?at={then}"), "/db/ada".to_owned()] {
            assert_eq!(session.ask("GET", &path, "").0, 404, "{path}, settled: {settled}");
        }
        assert_eq!(session.ask("GET", "/db/ada/_history", "").0, 404);
        for path in [format!("/db/_all_docs?at={then}"), "/db/_all_docs".to_owned(), "/db/_changes".to_owned()] {
            let (status, answer) = session.ask("GET", &path, "");
            assert_eq!(status, 200, "{path}: {answer}");
            assert!(answer.to_string().contains("bob") && !answer.to_string().contains("ada"), "{path}: {answer}");
        }
        let (status, answer) = session.ask("POST", "/db/_erase?settle=true", r#"{"ids":["ada"]}"#);
        assert_eq!((status, &answer["erased"], &answer["settled"]), (200, &json!(0), &json!(true)), "{answer}");
    }
    let (_, told) = session.ask("GET", "/db/_erase", "");
    assert_eq!(told["erasures"].as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(told["erasures"][0]["documents"], json!(1));
    assert!(!told.to_string().contains("ada"), "{told}");
    // The id is free again.
    session.put("/db/ada", "{}");
}

#[test]
fn what_is_no_order_to_erase_is_refused() {
    let session = Session::start();
    session.put("/db/ada", "{}");
    let many = json!({"ids": (0..1001).map(|n| n.to_string()).collect::<Vec<_>>()}).to_string();
    for (method, path, body, status) in [
        ("POST", "/db/_erase", "", 400),
        ("POST", "/db/_erase", "[]", 400),
        ("POST", "/db/_erase", "{}", 400),
        ("POST", "/db/_erase", r#"{"ids":[]}"#, 400),
        ("POST", "/db/_erase", r#"{"ids":"ada"}"#, 400),
        ("POST", "/db/_erase", r#"{"ids":[1]}"#, 400),
        ("POST", "/db/_erase", r#"{"ids":["ada"],"revs":[]}"#, 400),
        ("POST", "/db/_erase", r#"{"ids":["_local/x"]}"#, 400),
        ("POST", "/db/_erase", &many, 400),
        ("PUT", "/db/_erase", r#"{"ids":["ada"]}"#, 405),
        ("POST", "/nope/_erase", r#"{"ids":["ada"]}"#, 404),
    ] {
        let (found, answer) = session.ask(method, path, body);
        assert_eq!(found, status, "{method} {path} {body}: {answer}");
        assert!(answer["error"].is_string() && answer["reason"].is_string(), "{answer}");
    }
    assert_eq!(session.ask("GET", "/db/ada", "").0, 200);
}

#[test]
fn a_database_has_no_past_before_it_was_made_whatever_had_its_name() {
    let session = Session::start();
    session.put("/db/secret", r#"{"of":"the first"}"#);
    let old = session.head();
    assert_eq!(session.ask("GET", &format!("/db/secret?at={old}"), "").0, 200);
    assert_eq!(session.ask("DELETE", "/db", "").0, 200);
    for path in [format!("/db/secret?at={old}"), format!("/db/_all_docs?at={old}")] {
        assert_eq!(session.ask("GET", &path, "").0, 404, "{path}: there is no such database");
    }
    assert_eq!(session.ask("PUT", "/db", "").0, 201);
    session.put("/db/own", "{}");
    let new = session.head();
    for path in [
        format!("/db/secret?at={old}"),
        format!("/db/_all_docs?at={old}"),
        format!("/db/_design_docs?at={old}"),
        format!("/db/secret/_history?at={old}"),
        format!("/db/secret/file?at={old}"),
        format!("/db/own?at={old}"),
    ] {
        let (status, answer) = session.ask("GET", &path, "");
        assert_eq!(status, 404, "{path}: {answer}");
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("was made at") && reason.contains("no past before"), "{path}: {answer}");
    }
    let (status, answer) = session.ask("POST", &format!("/db/_all_docs?at={old}"), r#"{"keys":["secret"]}"#);
    assert_eq!(status, 404, "{answer}");
    assert_eq!(session.ask("GET", "/db/secret/_history", "").0, 404);
    assert_eq!(session.ask("GET", &format!("/db/own?at={new}"), "").0, 200);
    assert_eq!(session.ask("GET", &format!("/db/secret?at={new}"), "").0, 404);
}
