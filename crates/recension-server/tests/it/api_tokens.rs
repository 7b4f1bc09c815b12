//! API tokens over HTTP: what each right opens, other databases, the end, revoking; and topics of a database.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::accounts::{ADMIN, Answered, Served, basic};

/// A token with a right to the databases that a pattern means; its id and its text.
fn token(server: &Served, rights: &str, databases: &[&str], seconds: Option<u64>) -> (String, String) {
    let wanted = json!({"name": rights, "databases": databases, "rights": rights, "expires_seconds": seconds});
    let made = server.admin("POST", "/_tokens", &wanted).json();
    (made["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned())
}

fn bearer(server: &Served, token: &str, method: &str, path: &str, body: &str) -> Answered {
    server.ask_with(&format!("Authorization: Bearer {token}\r\n"), method, path, body)
}

/// A stream of events that is open.
struct Stream {
    stream: TcpStream,
    text: String,
}

impl Stream {
    fn of(server: &Served, path: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\n{}Connection: close\r\n\r\n", basic(ADMIN));
        stream.write_all(request.as_bytes()).unwrap();
        Stream { stream, text: String::new() }
    }

    /// Reads until it is there; returns `false` at the end.
    fn until(&mut self, there: &str) -> bool {
        let mut piece = [0; 4096];
        while !self.text.contains(there) {
            match self.stream.read(&mut piece).expect("it goes on") {
                0 => return false,
                length => self.text.push_str(&String::from_utf8_lossy(&piece[..length])),
            }
        }
        true
    }
}

fn status(server: &Served, token: &str, method: &str, path: &str, body: &str) -> u16 {
    bearer(server, token, method, path, body).status
}

#[test]
fn a_token_opens_what_it_is_for_and_nothing_else() {
    let server = Served::start();
    for db in ["orders", "orders-old", "staff"] {
        server.admin("PUT", &format!("/{db}"), &json!({}));
        server.admin("PUT", &format!("/{db}/_security"), &json!({"members": {"names": ["nobody"]}}));
        server.admin("PUT", &format!("/{db}/a"), &json!({}));
    }
    let tokens = ["read", "write", "admin", "server"]
        .map(|rights| token(&server, rights, if rights == "server" { &[] } else { &["orders*"] }, None).1);
    // Each with what the four are answered.
    for (method, path, body, expected) in [
        ("GET", "/orders/a", "", [200, 200, 200, 200]),
        ("GET", "/orders-old/_all_docs", "", [200, 200, 200, 200]),
        ("POST", "/orders/_find", r#"{"selector":{}}"#, [200, 200, 200, 200]),
        ("POST", "/orders/_all_docs", r#"{"keys":["a"]}"#, [200, 200, 200, 200]),
        ("POST", "/orders", "{}", [403, 201, 201, 201]),
        ("PUT", "/orders/b", "{}", [403, 201, 409, 409]),
        ("POST", "/orders/_bulk_docs", r#"{"docs":[]}"#, [403, 201, 201, 201]),
        ("DELETE", "/orders/a", "", [403, 409, 409, 409]),
        ("PUT", "/orders/_local/x", "{}", [403, 201, 201, 201]),
        ("POST", "/orders/_topics/t", "x", [403, 200, 200, 200]),
        ("PUT", "/orders/_design/d", "{}", [403, 403, 201, 409]),
        ("POST", "/orders/_index", "{}", [403, 401, 400, 400]),
        ("PUT", "/orders/_revs_limit", "1000", [403, 401, 200, 200]),
        ("GET", "/staff/a", "", [403, 403, 403, 200]),
        ("GET", "/_users/_all_docs", "", [401, 401, 401, 200]),
        ("GET", "/_all_dbs", "", [401, 401, 401, 200]),
        ("PUT", "/new", "", [403, 401, 401, 201]),
        ("GET", "/_tokens", "", [401, 401, 401, 200]),
        ("POST", "/_tokens", "{}", [401, 401, 401, 400]),
    ] {
        for (token, expected) in tokens.iter().zip(expected) {
            let found = bearer(&server, token, method, path, body);
            assert_eq!(found.status, expected, "{method} {path}: {}", found.body);
        }
    }
    // The console writes with its reader's rights.
    let rev = server.admin("PUT", "/orders/past", &json!({})).json()["rev"].as_str().unwrap().to_owned();
    let restore = format!("/_utils/orders/doc/past/restore?rev={rev}");
    let found = tokens.each_ref().map(|token| status(&server, token, "POST", &restore, ""));
    assert_eq!(found, [403, 201, 201, 201]);
    let told = bearer(&server, &tokens[0], "GET", "/_session", "").json();
    assert_eq!((&told["userCtx"]["name"], &told["info"]["authenticated"]), (&json!("token:read"), &json!("token")));
}

#[test]
fn a_page_of_another_site_that_has_a_token_may_write_with_it_and_with_a_password_not() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    let text = token(&server, "write", &["*"], None).1;
    let foreign = |credentials: &str, id: &str| {
        let headers = format!("Origin: https://a.example\r\nSec-Fetch-Site: cross-site\r\n{credentials}");
        server.ask_with(&headers, "PUT", &format!("/orders/{id}"), "{}").status
    };
    assert_eq!(foreign(&format!("Authorization: Bearer {text}\r\n"), "a"), 201);
    assert_eq!(foreign(&basic(ADMIN), "b"), 403);
    assert_eq!(status(&server, &text, "GET", "/orders/b", ""), 404);
}

#[test]
fn a_token_ends_and_is_revoked_and_its_text_is_kept_nowhere() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    let (id, text) = token(&server, "read", &["*"], None);
    assert_eq!(status(&server, &text, "GET", "/orders", ""), 200);
    assert_eq!(status(&server, &format!("{text}x"), "GET", "/orders", ""), 401);
    let listed = server.admin("GET", "/_tokens", &Value::Null);
    assert!(listed.body.contains(&id) && !listed.body.contains(&text[4..]), "{}", listed.body);
    assert_eq!(server.admin("DELETE", &format!("/_tokens/{id}"), &Value::Null).status, 200);
    assert_eq!(status(&server, &text, "GET", "/orders", ""), 401);
    assert_eq!(server.ask(ADMIN, "DELETE", &format!("/_tokens/{id}"), "").status, 404);
    let (_, short) = token(&server, "read", &["*"], Some(1));
    let deadline = Instant::now() + Duration::from_mins(1);
    while status(&server, &short, "GET", "/orders", "") == 200 {
        assert!(Instant::now() < deadline, "it does not end");
        std::thread::sleep(Duration::from_millis(50));
    }
    for wrong in [
        json!({"name": "", "rights": "read", "databases": ["a"]}),
        json!({"name": "x", "rights": "read"}),
        json!({"name": "x", "rights": "server", "databases": ["a"]}),
        json!({"name": "x", "rights": "all", "databases": ["a"]}),
        json!({"name": "x", "rights": "read", "databases": ["a"], "more": 1}),
        // Rights are not branched: it would open nothing.
        json!({"name": "x", "rights": "read", "databases": ["a@idea"]}),
    ] {
        let answer = server.ask(ADMIN, "POST", "/_tokens", &wrong.to_string());
        assert_eq!(answer.status, 400, "{wrong}: {}", answer.body);
    }
}

#[test]
fn a_token_for_metrics_reads_nothing_else() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    server.admin("PUT", "/orders/a", &json!({}));
    let (_, token) = token(&server, "metrics", &[], None);
    let ask = |method: &str, path: &str, body: &str| status(&server, &token, method, path, body);
    for (method, path) in [("GET", "/_metrics"), ("HEAD", "/_metrics"), ("GET", "/_node/_local/_prometheus")] {
        assert_eq!(ask(method, path, ""), 200, "{method} {path}");
    }
    for path in
        ["/orders", "/orders/a", "/orders/_all_docs", "/orders/_changes", "/_tokens", "/_all_dbs", "/_active_tasks"]
    {
        assert!(matches!(ask("GET", path, ""), 401 | 403), "{path}");
    }
    for (method, path) in [("PUT", "/orders/b"), ("PUT", "/more"), ("POST", "/orders/_find"), ("DELETE", "/orders")] {
        assert!(matches!(ask(method, path, "{\"selector\":{}}"), 401 | 403), "{method} {path}");
    }
    let wrong = json!({"name": "x", "rights": "metrics", "databases": ["a"]});
    assert_eq!(server.ask(ADMIN, "POST", "/_tokens", &wrong.to_string()).status, 400);
}

#[test]
fn documents_of_a_database_expire_by_a_rule() {
    let server = Served::start();
    server.admin("PUT", "/drafts", &json!({}));
    assert_eq!(server.admin("GET", "/drafts/_expiry", &Value::Null).json(), Value::Null);
    server.admin("PUT", "/drafts/_expiry", &json!("ends.at"));
    assert_eq!(server.admin("GET", "/drafts/_expiry", &Value::Null).json(), json!("ends.at"));
    server.admin("PUT", "/drafts/a", &json!({"ends": {"at": 1}}));
    server.admin("PUT", "/drafts/b", &json!({"ends": {"at": 1e12}}));
    let deadline = Instant::now() + Duration::from_mins(1);
    while server.ask(ADMIN, "GET", "/drafts/a", "").status == 200 {
        assert!(Instant::now() < deadline, "it is not deleted");
        std::thread::sleep(Duration::from_millis(50));
    }
    let changes = server.admin("GET", "/drafts/_changes", &Value::Null).json();
    let deleted: Vec<&Value> =
        changes["results"].as_array().unwrap().iter().filter(|row| row["deleted"] == true).collect();
    assert_eq!((deleted.len(), &deleted[0]["id"]), (1, &json!("a")), "{changes}");
    assert_eq!(server.ask(ADMIN, "PUT", "/drafts/_expiry", "\"a[\"").status, 400);
    assert_eq!(server.ask(ADMIN, "PUT", "/drafts/_expiry", "5").status, 400);
}

#[test]
fn members_say_and_hear_and_are_told_what_they_missed() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    server.admin("PUT", "/others", &json!({}));
    let mut stream = Stream::of(&server, "/orders/_topics?feed=eventsource&match=new.*");
    assert!(stream.until(": listening"), "{}", stream.text);
    let said = server.ask(ADMIN, "POST", "/orders/_topics/new.pizza", "hello").json();
    assert_eq!(said, json!({"ok": true, "heard": 1}));
    assert_eq!(server.ask(ADMIN, "POST", "/orders/_topics/old", "x").json()["heard"], 0);
    assert_eq!(server.ask(ADMIN, "POST", "/others/_topics/new.pizza", "x").json()["heard"], 0);
    assert!(stream.until(r#"data: {"topic":"new.pizza","message":"hello"}"#), "{}", stream.text);
    // Rights that end, end it.
    server.admin("DELETE", "/orders", &Value::Null);
    assert!(!stream.until("nothing more comes"));
    assert!(stream.text.ends_with("0\r\n\r\n"), "{}", stream.text);
}

#[test]
fn a_token_that_cannot_be_made_is_refused_with_what_it_must_be() {
    let server = Served::start();
    for (wanted, why) in [
        (json!({"name": "t", "databases": ["*"], "rights": "server"}), "for no database in particular"),
        (json!({"name": "t", "rights": "read"}), "for at least one database"),
        (json!({"name": "", "databases": ["*"], "rights": "read"}), "a name of 1 to 256 bytes"),
        (json!({"name": "t", "databases": ["a@b"], "rights": "read"}), "databases of the main line"),
    ] {
        let refused = server.ask(ADMIN, "POST", "/_tokens", &wanted.to_string());
        let reason = refused.json()["reason"].as_str().unwrap().to_owned();
        assert!(refused.status == 400 && reason.contains(why), "{reason}");
    }
}
