//! Access rules: a user is shown by every endpoint what the rule lets through, and nothing else; what leaves their set
//! is told as gone and never deletes a document.
#![allow(clippy::needless_pass_by_value)] // bodies are made where they are sent

use serde_json::{Value, json};

use crate::accounts::basic;
use crate::served::{self, Served};

pub(crate) struct Rules {
    pub(crate) server: Served,
}

pub(crate) const ADA: &str = "ada:pencil";
pub(crate) const BOB: &str = "bob:pencil";

impl Rules {
    pub(crate) fn start() -> Self {
        Self::of("/db")
    }

    pub(crate) fn partitioned() -> Self {
        Self::of("/db?partitioned=true")
    }

    fn of(made: &str) -> Self {
        let rules = Rules { server: Served::start() };
        rules.admin("PUT", "/_users", Value::Null);
        for name in ["ada", "bob"] {
            rules.user(name, &json!([]));
        }
        rules.admin("PUT", made, Value::Null);
        rules.admin("PUT", "/db/_security", json!({ "admins": { "names": [], "roles": ["_admin"] } }));
        let rule = json!({ "read": { "$or": [{ "owner": "$user.name" }, { "team": { "$in": "$user.roles" } }] } });
        assert_eq!(rules.admin("PUT", "/db/_access", rule).0, 200);
        rules
    }

    pub(crate) fn user(&self, name: &str, roles: &Value) {
        let path = format!("/_users/org.couchdb.user:{name}");
        let mut user = json!({ "name": name, "password": "pencil", "type": "user", "roles": roles });
        if let Some(rev) = self.admin("GET", &path, Value::Null).1.get("_rev") {
            user["_rev"] = rev.clone();
        }
        let (status, answer) = self.admin("PUT", &path, user);
        assert_eq!(status, 201, "{answer}");
    }

    pub(crate) fn admin(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, body) = self.server.ask(method, path, body.as_bytes());
        (status, served::json(&body))
    }

    pub(crate) fn as_user(&self, user: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, body) = self.server.ask_with(&basic(user), method, path, body.as_bytes());
        (status, served::json(&body))
    }

    pub(crate) fn put(&self, id: &str, body: Value) -> String {
        let mut body = body;
        let path = format!("/db/{id}");
        if let Some(rev) = self.admin("GET", &path, Value::Null).1.get("_rev") {
            body["_rev"] = rev.clone();
        }
        self.admin("PUT", &path, body).1["rev"].as_str().unwrap().to_owned()
    }

    /// The rows of a feed, and where it ends.
    pub(crate) fn changes(&self, user: &str, since: &str) -> (Vec<Value>, String) {
        let (status, answer) =
            self.as_user(user, "GET", &format!("/db/_changes?style=all_docs&since={since}"), Value::Null);
        assert_eq!(status, 200, "{answer}");
        (answer["results"].as_array().unwrap().clone(), answer["last_seq"].as_str().unwrap().to_owned())
    }
}

pub(crate) fn ids(rows: &Value) -> Vec<&str> {
    rows.as_array().unwrap().iter().map(|row| row.get("id").or(row.get("_id")).unwrap().as_str().unwrap()).collect()
}

#[test]
fn every_way_of_reading_shows_what_the_rule_lets_through() {
    let rules = Rules::start();
    rules.user("bob", &json!(["blue"]));
    rules.put("a", json!({ "owner": "ada", "n": 1 }));
    rules.put("b", json!({ "owner": "bob", "n": 2 }));
    rules.put("c", json!({ "team": "blue", "n": 3 }));
    let hidden = rules.put("d", json!({ "owner": "eve", "n": 4 }));
    let all = rules.as_user(ADA, "GET", "/db/_all_docs?include_docs=true", Value::Null).1;
    assert_eq!(ids(&all["rows"]), ["a"], "{all}");
    assert_eq!(all["rows"][0]["doc"]["n"], 1);
    assert_eq!(ids(&rules.as_user(BOB, "GET", "/db/_all_docs", Value::Null).1["rows"]), ["b", "c"]);
    let keys = rules.as_user(BOB, "POST", "/db/_all_docs", json!({ "keys": ["a", "b"] })).1;
    assert_eq!((&keys["rows"][0]["error"], &keys["rows"][1]["id"]), (&json!("not_found"), &json!("b")));
    let found = rules.as_user(BOB, "POST", "/db/_find", json!({ "selector": { "n": { "$gt": 0 } } })).1;
    assert_eq!(ids(&found["docs"]), ["b", "c"], "{found}");
    for (path, status) in [("/db/b", 200), ("/db/c", 200), ("/db/a", 404), ("/db/d", 404), ("/db/none", 404)] {
        assert_eq!(rules.as_user(BOB, "GET", path, Value::Null).0, status, "{path}");
    }
    assert_eq!(rules.as_user(BOB, "GET", &format!("/db/d?rev={hidden}"), Value::Null).0, 404);
    let all = rules.as_user(BOB, "GET", "/db/d?open_revs=all", Value::Null).1;
    assert_eq!(all, json!([]));
    let asked = json!({ "docs": [{ "id": "b" }, { "id": "d", "rev": hidden }] });
    let many = rules.as_user(BOB, "POST", "/db/_bulk_get?revs=true&latest=true", asked).1;
    assert_eq!(many["results"][0]["docs"][0]["ok"]["n"], 2, "{many}");
    assert_eq!(many["results"][1]["docs"][0]["error"]["error"], "not_found", "{many}");
    let (rows, _) = rules.changes(BOB, "0");
    assert_eq!(ids(&json!(rows)), ["b", "c"]);
    for (method, path) in [
        ("GET", "/db/_local_docs"),
        ("POST", "/db/_purge"),
        ("GET", "/db/_access"),
        ("PUT", "/db/_access"),
        ("GET", "/db/b/_history"),
        ("POST", "/db/_index"),
        ("GET", "/db/_leaves"),
        ("GET", "/db/_design/x/_rewrite/y"),
        ("GET", "/db/_design/x/_info"),
        ("POST", "/db/_update_by_query"),
        ("GET", "/db/_security"),
        ("GET", "/db/_schema"),
        ("GET", "/db/_all_docs?at=1"),
        ("COPY", "/db/a"),
        ("GET", "/_utils/db/db"),
        ("GET", "/_utils/db/query?find=%7B%22selector%22:%7B%7D%7D"),
        ("GET", "/_utils/db/export"),
        ("GET", "/_utils/db/doc/theirs/conflicts"),
    ] {
        let (status, answer) = rules.as_user(BOB, method, path, json!({}));
        assert!(matches!(status, 403..=405), "{method} {path}: {status} {answer}");
        assert!(!answer.to_string().contains("eve"), "{method} {path}: {answer}");
    }
    let file = json!({ "x": { "content_type": "text/plain", "data": "aGVsbG8=" } });
    for (id, owner, status) in [("mine", "bob", 200), ("theirs", "eve", 404)] {
        let rev = rules.put(id, json!({ "owner": owner, "_attachments": file }));
        for path in [format!("/db/{id}/x"), format!("/db/{id}/x?rev={rev}")] {
            assert_eq!(rules.as_user(BOB, "GET", &path, Value::Null).0, status, "{path}");
        }
    }
    let all = rules.admin("GET", "/db/_all_docs", Value::Null).1;
    assert_eq!(all["total_rows"], 6);
}

#[test]
fn what_is_written_and_written_over_is_of_the_rule() {
    let rules = Rules::start();
    let foreign = rules.put("b", json!({ "owner": "bob" }));
    let write = |path: &str, body: Value| rules.as_user(ADA, "PUT", path, body);
    let (status, made) = write("/db/a", json!({ "owner": "ada" }));
    assert_eq!(status, 201, "{made}");
    assert_eq!(write("/db/x", json!({ "owner": "bob" })).0, 403);
    assert_eq!(write("/db/b", json!({ "owner": "ada", "_rev": foreign })).0, 403);
    assert_eq!(write("/db/a", json!({ "owner": "bob", "_rev": made["rev"] })).0, 403, "it is not given away");
    assert_eq!(rules.as_user(ADA, "DELETE", &format!("/db/b?rev={foreign}"), Value::Null).0, 403);
    let docs = json!([
        { "_id": "c", "owner": "bob" }, { "_id": "d", "owner": "ada" },
        { "_id": "b", "owner": "ada", "_rev": foreign },
    ]);
    let (_, rows) = rules.as_user(ADA, "POST", "/db/_bulk_docs", json!({ "docs": docs }));
    assert_eq!(
        (&rows[0]["error"], &rows[1]["ok"], &rows[2]["error"]),
        (&json!("forbidden"), &json!(true), &json!("forbidden"))
    );
    let docs = json!([
        { "_id": "b", "_rev": "9-b", "owner": "ada" }, { "_id": "e", "_rev": "1-e", "owner": "ada" },
        { "_id": "f", "_rev": "1-f", "owner": "bob" }, { "_id": "b", "_rev": "9-c", "_deleted": true },
    ]);
    let (_, rows) = rules.as_user(ADA, "POST", "/db/_bulk_docs", json!({ "docs": docs, "new_edits": false }));
    assert_eq!(ids(&rows), ["b", "f", "b"], "{rows}");
    assert_eq!(rules.admin("GET", "/db/b", Value::Null).1["_rev"].as_str(), Some(&*foreign));
    assert_eq!(ids(&rules.admin("GET", "/db/_all_docs", Value::Null).1["rows"]), ["a", "b", "d", "e"]);
    assert_eq!(
        rules.as_user(ADA, "DELETE", &format!("/db/a?rev={}", made["rev"].as_str().unwrap()), Value::Null).0,
        200
    );
}

#[test]
fn how_a_rule_finds_documents_is_told() {
    let rules = Rules::start();
    let explained = || rules.admin("GET", "/db/_access?explain=true", Value::Null).1;
    let reads = |expected: &str| {
        for _ in 0..200 {
            if explained()["reads"] == expected {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("{}", explained());
    };
    reads("the index of access");
    assert_eq!(explained()["paths"], json!(["owner", "team"]));
    rules.admin("PUT", "/db/_access", json!({ "read": { "n": { "$lt": 3 } } }));
    reads("every document");
    assert_eq!(explained()["paths"], json!([]));
    assert_eq!(rules.admin("DELETE", "/db/_access", Value::Null).0, 200);
    assert_eq!(explained()["error"], "not_found");
}

/// The same feeds, by the index and document by document.
#[test]
fn an_index_and_reading_every_document_tell_the_same() {
    let of = |serves: bool| {
        let rules = Rules::start();
        let own = json!({ "owner": "$user.name" });
        // An alternative that nothing meets, and no index serves.
        let tested = json!({ "$or": [own, { "n": { "$gt": 1000 } }] });
        rules.admin("PUT", "/db/_access", json!({ "read": if serves { own } else { tested } }));
        let mut told = Vec::new();
        let mut since = "0".to_owned();
        for round in 0..12_usize {
            for n in 0..6 {
                let owner = ["ada", "bob", "eve"][(n * 7 + round * (n + 1)) % 3];
                let id = format!("d{n}");
                if (n + round).is_multiple_of(5) && round > 0 {
                    let rev = rules.admin("GET", &format!("/db/{id}"), Value::Null).1["_rev"].clone();
                    if let Some(rev) = rev.as_str() {
                        rules.admin("DELETE", &format!("/db/{id}?rev={rev}"), Value::Null);
                    }
                } else if !(n + round).is_multiple_of(4) {
                    rules.put(&id, json!({ "owner": owner, "n": round }));
                }
            }
            let (rows, last) = rules.changes(ADA, &since);
            let rows = rows.iter().map(|row| {
                let revs = row["changes"].as_array().unwrap().iter();
                let generations = revs.map(|own| own["rev"].as_str().unwrap().split('-').next().unwrap());
                let generations: Vec<&str> = generations.collect();
                format!("{} {} {}", row["id"], generations.join(","), row["deleted"])
            });
            let mut rows: Vec<String> = rows.collect();
            rows.sort();
            told.push(rows);
            if !round.is_multiple_of(3) {
                since = last;
            }
        }
        told
    };
    assert_eq!(of(true), of(false));
}

/// Pushes what a replica was told back to the server, as a replication does.
fn push_back(rules: &Rules, user: &str, rows: &[Value]) {
    let docs: Vec<Value> = rows
        .iter()
        .flat_map(|row| {
            row["changes"].as_array().unwrap().iter().map(move |own| json!({ "id": row["id"], "rev": own["rev"] }))
        })
        .collect();
    let got = rules.as_user(user, "POST", "/db/_bulk_get?revs=true", json!({ "docs": docs })).1;
    let all: Vec<Value> = got["results"].as_array().unwrap().iter().map(|row| row["docs"][0]["ok"].clone()).collect();
    assert!(all.iter().all(|doc| doc["_revisions"].is_object()), "{got}");
    let asked: serde_json::Map<String, Value> =
        all.iter().map(|doc| (doc["_id"].as_str().unwrap().to_owned(), json!([doc["_rev"]]))).collect();
    assert_eq!(rules.as_user(user, "POST", "/db/_revs_diff", Value::Object(asked)).1, json!({}));
    let pushed = rules.as_user(user, "POST", "/db/_bulk_docs", json!({ "docs": all, "new_edits": false })).1;
    assert_eq!(pushed, json!([]));
}

#[test]
fn what_leaves_a_set_is_gone_for_replicas_and_there_for_others() {
    let rules = Rules::start();
    let first = rules.put("a", json!({ "owner": "ada" }));
    rules.put("x", json!({ "owner": "bob" }));
    let (rows, since) = rules.changes(ADA, "0");
    assert_eq!(rows[0]["changes"], json!([{ "rev": first }]));
    // The document is changed so that she may not read it.
    let second = rules.put("a", json!({ "owner": "bob" }));
    let (rows, after) = rules.changes(ADA, &since);
    assert_eq!((rows.len(), &rows[0]["deleted"], &rows[0]["id"]), (1, &json!(true), &json!("a")));
    let gone = rows[0]["changes"][0]["rev"].as_str().unwrap().to_owned();
    assert!(gone.starts_with("2-") && gone != second, "{gone}");
    push_back(&rules, ADA, &rows);
    assert_eq!(rules.admin("GET", "/db/a?conflicts=true", Value::Null).1["_rev"].as_str(), Some(&*second));
    assert_eq!(rules.admin("GET", "/db/a?open_revs=all", Value::Null).1.as_array().unwrap().len(), 1);
    assert!(rules.changes(ADA, &after).0.is_empty());
    assert!(rules.changes(ADA, "0").0.is_empty(), "who never had it is told nothing");
    // It comes back with a new revision.
    let third = rules.put("a", json!({ "owner": "ada" }));
    let (rows, _) = rules.changes(ADA, &after);
    assert_eq!(rows[0]["changes"], json!([{ "rev": third }]));
}

#[test]
fn roles_that_come_and_go_take_unchanged_documents_along() {
    let rules = Rules::start();
    rules.user("ada", &json!(["blue"]));
    let rev = rules.put("t", json!({ "team": "blue", "n": 1 }));
    let (rows, one) = rules.changes(ADA, "0");
    assert_eq!(rows[0]["changes"], json!([{ "rev": rev }]));
    rules.user("ada", &json!([]));
    let (rows, two) = rules.changes(ADA, &one);
    assert_eq!(rows[0]["deleted"], true, "{rows:?}");
    push_back(&rules, ADA, &rows);
    rules.user("ada", &json!(["blue"]));
    // One replica was told that it is gone, another one was not: both are told the same.
    let back = rules.changes(ADA, &two).0;
    let name = back[0]["changes"][0]["rev"].as_str().unwrap().to_owned();
    assert!(name.starts_with("3-"), "{name}");
    push_back(&rules, ADA, &back);
    let (rows, three) = rules.changes(ADA, &one);
    assert_eq!((rows.len(), &rows[0]["changes"]), (1, &back[0]["changes"]));
    let got = rules.as_user(ADA, "GET", &format!("/db/t?rev={name}&revs=true"), Value::Null).1;
    assert_eq!((&got["n"], got["_revisions"]["ids"].as_array().unwrap().len()), (&json!(1), 3));
    // An edit of the made-up revision is one of the real one, and the made-up one is told to be gone.
    let edited = rules.as_user(ADA, "PUT", "/db/t", json!({ "team": "blue", "n": 2, "_rev": name }));
    assert_eq!(edited.0, 201, "{edited:?}");
    let (rows, _) = rules.changes(ADA, &three);
    let told: Vec<&str> =
        rows[0]["changes"].as_array().unwrap().iter().map(|own| own["rev"].as_str().unwrap()).collect();
    assert_eq!((told.len(), told[0]), (2, edited.1["rev"].as_str().unwrap()), "{rows:?}");
    assert!(told[1].starts_with("4-"), "{told:?}");
    push_back(&rules, ADA, &rows);
    assert_eq!(rules.admin("GET", "/db/t", Value::Null).1["n"], 2);
    assert_eq!(rules.admin("GET", "/db/t?open_revs=all", Value::Null).1.as_array().unwrap().len(), 1);
}

#[test]
fn a_feed_in_pages_is_of_one_moment() {
    let rules = Rules::start();
    for n in 0..10 {
        rules.put(&format!("d{n}"), json!({ "owner": "ada" }));
    }
    let (_, since) = rules.changes(ADA, "0");
    for n in 0..10 {
        rules.put(&format!("d{n}"), json!({ "owner": if n % 2 == 0 { "bob" } else { "ada" } }));
    }
    let mut stands = since;
    let mut seen = Vec::new();
    loop {
        let path = format!("/db/_changes?limit=3&since={stands}");
        let answer = rules.as_user(ADA, "GET", &path, Value::Null).1;
        for row in answer["results"].as_array().unwrap() {
            seen.push((row["id"].as_str().unwrap().to_owned(), row["deleted"] == true));
        }
        stands = answer["last_seq"].as_str().unwrap().to_owned();
        if answer["results"].as_array().unwrap().len() < 3 {
            break;
        }
        // What is hidden in between is not forgotten.
        rules.put("d9", json!({ "owner": "bob", "n": seen.len() }));
    }
    // The pages are of one moment, without what is hidden by now (d9); the last request goes on to the present after
    // them.
    let (pages, later) = seen.split_at(10);
    let of = |gone| pages.iter().filter(|(_, own)| *own == gone).count();
    assert_eq!((of(true), of(false)), (6, 4), "{seen:?}");
    assert_eq!(pages.last(), Some(&("d9".to_owned(), true)));
    assert_eq!(later, [("d9".to_owned(), true)]);
    assert!(rules.changes(ADA, &stands).0.is_empty());
}
