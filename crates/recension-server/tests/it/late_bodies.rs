//! Rights that are taken away while the body of a request is still to come: the request is not carried out. And while a
//! long answer is read: it is broken off.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::accounts::{ADMIN, Served, basic};
use crate::feed_rights::{Shown, TAKINGS, change_user, header_of, prepared, user_path};
use recension::{Store, Write};
use serde_json::json;

/// A request whose rights were decided, and whose body is still to come.
struct Late {
    stream: TcpStream,
    body: String,
}

impl Late {
    /// Sends the head. A server says that it goes on once it reads the body: after it has let the request in.
    fn of(server: &Served, header: &str, method: &str, path: &str, body: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\n{header}Content-Type: application/json\r\nContent-Length: {}\r\n\
             Expect: 100-continue\r\nConnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut said = [0; 25];
        stream.read_exact(&mut said).unwrap();
        assert!(said.starts_with(b"HTTP/1.1 100 Continue\r\n\r\n"), "{method} {path}: {:?}", said.escape_ascii());
        Late { stream, body: body.to_owned() }
    }

    /// Sends the body, and returns the status and the answer.
    fn finish(mut self) -> (u16, String) {
        self.stream.write_all(self.body.as_bytes()).unwrap();
        let mut answer = String::new();
        self.stream.read_to_string(&mut answer).unwrap();
        (answer[9..12].parse().unwrap(), answer)
    }
}

/// Requests that write, and requests that are told what came later.
const ASKED: [(&str, &str, &str); 10] = [
    ("PUT", "/db/late", r#"{"late":1}"#),
    ("POST", "/db", r#"{"_id":"late"}"#),
    ("POST", "/db/_bulk_docs", r#"{"docs":[{"_id":"late"}]}"#),
    ("PUT", "/db/late/file", "late"),
    ("PUT", "/db/_local/late", r#"{"late":1}"#),
    ("POST", "/db/_update_by_query", r#"{"selector":{},"merge":{"late":1}}"#),
    ("POST", "/db/_topics/late", "1"),
    ("POST", "/db/_find", r#"{"selector":{}}"#),
    ("POST", "/db/_changes?filter=_selector", r#"{"selector":{}}"#),
    ("POST", "/db/_all_docs", r#"{"keys":["after"]}"#),
];

#[test]
fn a_request_whose_rights_end_before_its_body_does_nothing() {
    for (name, all, take) in TAKINGS {
        for shown in all {
            for (method, path, body) in ASKED {
                let server = prepared();
                let late = Late::of(&server, &header_of(&server, *shown, 3600), method, path, body);
                take(&server);
                let dropped = name == "database dropped";
                if !dropped {
                    server.admin("PUT", "/db/after", &json!({}));
                }
                let (status, answer) = late.finish();
                let what = format!("{name}, {shown:?}: {method} {path}");
                assert!(matches!(status, 401 | 403 | 404 | 503), "{what}: {answer}");
                assert!(!answer.contains("after"), "{what}: {answer}");
                if !dropped {
                    let after = server.admin("GET", "/db/_all_docs?include_docs=true", &json!({})).body;
                    assert!(!after.contains("late"), "{what}: {after}");
                    assert_eq!(server.ask(ADMIN, "GET", "/db/_local/late", "").status, 404, "{what}");
                }
            }
        }
    }
}

#[test]
fn a_request_whose_sender_still_may_is_carried_out() {
    for shown in [Shown::Cookie, Shown::Password, Shown::Token] {
        for (method, path, body) in ASKED {
            let server = prepared();
            let late = Late::of(&server, &header_of(&server, shown, 3600), method, path, body);
            server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["reader", "writer"]}}));
            let (status, answer) = late.finish();
            assert!(matches!(status, 200 | 201), "{shown:?}: {method} {path}: {answer}");
        }
    }
}

#[test]
fn a_session_by_cookie_goes_on_while_its_user_sends_and_a_token_does_not() {
    let server = prepared();
    assert_eq!(server.set("chttpd_auth", "timeout", "1").status, 200);
    for (shown, status) in [(Shown::Cookie, 201), (Shown::Token, 401)] {
        let header = header_of(&server, shown, 1);
        let late = Late::of(&server, &header, "PUT", &format!("/db/{shown:?}"), "{}");
        while server.ask_with(&header, "GET", "/db", "").status == 200 {
            std::thread::yield_now();
        }
        let (said, answer) = late.finish();
        assert_eq!(said, status, "{shown:?}: {answer}");
    }
}

#[test]
fn who_is_no_admin_any_more_writes_as_none() {
    for (path, body) in [
        ("/db/_design/late", r#"{"language":"query","views":{}}"#),
        ("/db/_security", r#"{"members":{"roles":["late"]}}"#),
        ("/db/_revs_limit", "5"),
        ("/_node/_local/_config/admins/late", r#""late""#),
        ("/_users/org.couchdb.user:late", r#"{"name":"late","type":"user","roles":["chief"],"password":"late"}"#),
    ] {
        let server = prepared();
        server.admin(
            "PUT",
            "/db/_security",
            &json!({"admins": {"roles": ["chief"]}, "members": {"roles": ["reader"]}}),
        );
        if path.starts_with("/db") {
            change_user(&server, "roles", json!(["chief", "reader"]));
            let late = Late::of(&server, &basic("ada:pw"), "PUT", path, body);
            change_user(&server, "roles", json!(["reader"]));
            let (status, answer) = late.finish();
            assert_eq!(status, 503, "{path}: {answer}");
        }
        assert_eq!(server.set("admins", "eve", "pw").status, 200);
        let late = Late::of(&server, &basic("eve:pw"), "PUT", path, body);
        server.admin("DELETE", "/_node/_local/_config/admins/eve", &json!({}));
        let (status, answer) = late.finish();
        assert_eq!(status, 401, "{path}: {answer}");
        let security = server.admin("GET", "/db/_security", &json!({})).body;
        assert!(!security.contains("late"), "{security}");
        assert_eq!(server.admin("GET", "/db/_revs_limit", &json!({})).body.trim(), "1000");
        assert_eq!(server.ask(ADMIN, "GET", "/db/_design/late", "").status, 404);
        assert_eq!(server.ask(ADMIN, "GET", "/_users/org.couchdb.user:late", "").status, 404);
    }
}

#[test]
fn a_limited_user_reads_by_the_rule_of_the_moment_in_which_the_request_is_whole() {
    let server = prepared();
    server.admin("PUT", "/db/theirs", &json!({"owner": "ada", "word": "secret"}));
    server.admin("PUT", "/db/_access", &json!({"read": {"owner": "$user.name"}}));
    for (path, body) in [
        ("/db/_find", r#"{"selector":{}}"#),
        ("/db/_bulk_get", r#"{"docs":[{"id":"theirs"}]}"#),
        ("/db/_all_docs?include_docs=true", r#"{"keys":["theirs"]}"#),
        ("/db/_aggregate", r#"{"pipeline":[{"$match":{}}]}"#),
        ("/db/_changes?include_docs=true&filter=_selector", r#"{"selector":{}}"#),
    ] {
        server.admin("PUT", "/db/_access", &json!({"read": {"owner": "$user.name"}}));
        let late = Late::of(&server, &basic("ada:pw"), "POST", path, body);
        server.admin("PUT", "/db/_access", &json!({"read": {"boss": "$user.name"}}));
        let (status, answer) = late.finish();
        assert!(status == 503 && !answer.contains("secret"), "{path}: {answer}");
    }
}

#[test]
fn the_owner_of_an_account_sends_late_and_in_vain_after_it_was_deleted() {
    for deletes in [false, true] {
        let server = prepared();
        let mut user = server.ask("ada:pw", "GET", user_path(), "").json();
        user["note"] = json!("late");
        let late = Late::of(&server, &basic("ada:pw"), "PUT", user_path(), &user.to_string());
        if deletes {
            let path = format!("{}?rev={}", user_path(), user["_rev"].as_str().unwrap());
            server.admin("DELETE", &path, &json!({}));
            let (status, answer) = late.finish();
            assert_eq!(status, 401, "{answer}");
        } else {
            server.admin("PUT", "/db/another", &json!({}));
            let (status, answer) = late.finish();
            assert_eq!(status, 201, "{answer}");
            change_user(&server, "note", json!("again"));
        }
    }
}

#[test]
fn a_change_of_many_documents_ends_with_the_rights_of_who_asked() {
    let store = Store::memory().unwrap();
    let server = Served::on(store.clone());
    server.user("ada", &["reader"]);
    server.admin("PUT", "/db", &json!({}));
    server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["reader"]}}));
    let all = store.collection("db").unwrap();
    let write = |number: usize| Write::put(&format!("d{number}"), r#"{"n":1}"#).unwrap();
    for some in 0..MANY / 1000 {
        all.bulk((some * 1000..(some + 1) * 1000).map(write).collect::<Vec<_>>()).unwrap();
    }
    let changed = || all.get("d0").unwrap().unwrap().body.contains("late");
    let change = r#"{"selector":{"n":1},"merge":{"late":1}}"#;
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| server.ask("ada:pw", "POST", "/db/_update_by_query", change));
        while !changed() {
            std::thread::yield_now();
        }
        server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["writer"]}}));
        let answer = asked.join().unwrap();
        assert_eq!(answer.status, 403, "{}", answer.body);
    });
    let late = server.ask(ADMIN, "POST", "/db/_aggregate", r#"{"pipeline":[{"$match":{"late":1}},{"$count":"n"}]}"#);
    let late = late.json()["rows"][0]["n"].as_u64().unwrap();
    assert!(late < MANY as u64, "{late}");
}

#[test]
fn a_long_answer_is_broken_off_when_its_readers_rights_end_and_not_when_others_change() {
    let many: Vec<_> = (0..60)
        .map(|number| json!({"_id": format!("d{number}"), "owner": "ada", "text": "x".repeat(200_000)}))
        .collect();
    let paths = ["_all_docs?include_docs=true", "_changes?include_docs=true", "_leaves?since=0", "long/file"];
    for (limited, path) in paths.map(|path| (false, path)).into_iter().chain([(true, paths[0]), (true, paths[1])]) {
        for (ends, take) in [
            (false, (|server| drop(server.admin("PUT", "/db/other", &json!({})))) as fn(&Served)),
            (true, |server| change_user(server, "roles", json!([]))),
            (true, |server| drop(server.admin("PUT", "/db/_access", &json!({"read": {"boss": "$user.name"}})))),
        ] {
            let server = prepared();
            for some in many.chunks(30) {
                server.admin("POST", "/db/_bulk_docs", &json!({ "docs": some }));
            }
            let long = server.ask(ADMIN, "PUT", "/db/long/file", &"y".repeat(12_000_000));
            assert_eq!(long.status, 201, "{}", long.body);
            if limited {
                server.admin("PUT", "/db/_access", &json!({"read": {"owner": "$user.name"}}));
            }
            let mut stream = TcpStream::connect(server.address).unwrap();
            let head = format!("GET /db/{path} HTTP/1.1\r\nHost: x\r\n{}Connection: close\r\n\r\n", basic("ada:pw"));
            stream.write_all(head.as_bytes()).unwrap();
            stream.read_exact(&mut [0; 12]).unwrap();
            take(&server);
            let mut rest = Vec::new();
            let whole = stream.read_to_end(&mut rest).is_ok() && rest.len() > 12_000_000;
            assert_eq!(whole, !ends, "{path}, limited: {limited}: {} bytes", rest.len());
        }
    }
}

/// Documents of many commits.
const MANY: usize = 20_000;
