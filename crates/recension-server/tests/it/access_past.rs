//! What a limited user sends back or makes up carries no power: the rule and the roles of now decide what they are
//! shown, and what is stored decides what they may write.

use serde_json::{Value, json};

use crate::access_rules::{ADA, BOB, Rules, ids};
use crate::accounts::basic;
use crate::served;

impl Rules {
    /// Sends a body as it stands.
    fn raw(&self, user: &str, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, body) = self.server.ask_with(&basic(user), method, path, body.as_bytes());
        (status, served::json(&body))
    }

    /// The commit that the database stands at.
    fn head(&self) -> String {
        let info = self.admin("GET", "/db", Value::Null).1;
        info["update_seq"].as_str().unwrap().rsplit('-').next().unwrap().to_owned()
    }
}

#[test]
fn a_moment_that_a_user_makes_up_is_refused_in_every_feed() {
    let rules = Rules::start();
    rules.put("a", json!({ "owner": "ada", "secret": "once" }));
    let then = rules.head();
    rules.put("a", json!({ "owner": "eve", "secret": "now" }));
    rules.put("mine", json!({ "owner": "ada" }));
    let (_, own) = rules.changes(ADA, "0");
    let seal = own.split('-').nth(1).unwrap();
    for since in [
        format!("0~0~{then}"),
        format!("0~0~{then}-{seal}"),
        format!("0~0~{then}-0000000000000000"),
        format!("{then}-{seal}"),
        then.clone(),
        "1-".to_owned(),
        "-".to_owned(),
    ] {
        for feed in ["normal", "longpoll", "continuous", "eventsource", "live"] {
            for rest in ["", "&filter=_doc_ids&doc_ids=%5B%22a%22%5D", "&style=all_docs&limit=1"] {
                let path = format!("/db/_changes?include_docs=true&feed={feed}&timeout=0&since={since}{rest}");
                let (status, answer) = rules.as_user(ADA, "GET", &path, Value::Null);
                assert_eq!(status, 400, "{path}: {answer}");
            }
        }
        let path = format!("/db/_changes?include_docs=true&since={since}&filter=_selector");
        let (status, answer) = rules.as_user(ADA, "POST", &path, json!({ "selector": {} }));
        assert_eq!(status, 400, "{path}: {answer}");
    }
    // What the server gave to another user is worth nothing either.
    let (status, _) = rules.as_user(BOB, "GET", &format!("/db/_changes?since={own}"), Value::Null);
    assert_eq!(status, 400);
    let described = rules.as_user(ADA, "GET", "/db", Value::Null).1;
    let (rows, _) = rules.changes(ADA, described["update_seq"].as_str().unwrap());
    assert!(rows.is_empty(), "the description's position is one of a feed: {rows:?}");
}

#[test]
fn a_feed_that_is_gone_on_with_shows_what_the_rules_of_now_let_through() {
    let rules = Rules::start();
    rules.user("ada", &json!(["blue"]));
    for id in ["a", "b", "c", "d", "e"] {
        rules.put(id, json!({ "team": "blue", "secret": id }));
    }
    rules.put("f", json!({ "owner": "ada" }));
    let page = rules.as_user(ADA, "GET", "/db/_changes?include_docs=true&limit=1", Value::Null).1;
    let held = page["last_seq"].as_str().unwrap().to_owned();
    assert_eq!(ids(&page["results"]), ["a"]);
    let rest = format!("/db/_changes?include_docs=true&since={held}");
    rules.put("c", json!({ "team": "red", "secret": "hidden" }));
    let read = |path: &str| rules.as_user(ADA, "GET", path, Value::Null).1;
    let shown = |answer: &Value| {
        let rows = answer["results"].as_array().unwrap().iter();
        rows.filter(|row| row["doc"].get("secret").is_some()).count()
    };
    let answer = read(&rest);
    assert_eq!(shown(&answer), 3, "b, d and e: {answer}");
    rules.user("ada", &json!([]));
    let answer = read(&rest);
    assert_eq!(shown(&answer), 0, "{answer}");
    let mine: Vec<&str> = ids(&answer["results"]).into_iter().filter(|id| *id == "f").collect();
    assert_eq!(mine, ["f"], "{answer}");
    // A replica that goes on from here is told that all of them are gone.
    let last = answer["last_seq"].as_str().unwrap();
    let (rows, _) = rules.changes(ADA, last);
    for id in ["a", "b", "c", "d", "e"] {
        let all = answer["results"].as_array().unwrap().iter().chain(&rows);
        assert!(all.clone().any(|row| row["id"] == id && row["deleted"] == true), "{id}: {answer} {rows:?}");
    }
}

#[test]
fn a_later_user_of_a_name_has_nothing_of_the_former_one() {
    let rules = Rules::start();
    rules.user("ada", &json!(["blue"]));
    rules.put("a", json!({ "team": "blue" }));
    let (_, since) = rules.changes(ADA, "0");
    let (status, _) = rules.as_user(ADA, "PUT", "/db/_local/mark", json!({ "at": since }));
    assert_eq!(status, 201);
    let user = rules.admin("GET", "/_users/org.couchdb.user:ada", Value::Null).1;
    let rev = user["_rev"].as_str().unwrap();
    assert_eq!(rules.admin("DELETE", &format!("/_users/org.couchdb.user:ada?rev={rev}"), Value::Null).0, 200);
    let again = json!({ "name": "ada", "password": "pencil", "type": "user", "roles": [] });
    assert_eq!(rules.admin("PUT", "/_users/org.couchdb.user:ada", again).0, 201);
    assert_eq!(rules.as_user(ADA, "GET", &format!("/db/_changes?since={since}"), Value::Null).0, 400);
    assert_eq!(rules.as_user(ADA, "GET", "/db/_local/mark", Value::Null).0, 404);
    assert!(rules.changes(ADA, "0").0.is_empty());
}

#[test]
fn the_rule_judges_what_is_stored_and_not_the_text_that_came() {
    let rules = Rules::start();
    let bad = [
        r#"{"owner":"ada","owner":"bob"}"#,
        r#"{"owner":"ada","own\u0065r":"bob"}"#,
        r#"{"own\u0065r":"ada", "owner" : "bob"}"#,
        r#"{ "owner" : "bob" }"#,
        r#"{"x":{"owner":"ada"},"owner":["bob"]}"#,
        r#"{"_deleted":true,"_deleted":false,"owner":"bob"}"#,
        r#"{"_d\u0065leted":false,"owner":"bob"}"#,
    ];
    let good = [
        r#"{"owner":"bob","owner":"ada"}"#,
        r#"{"a": 1, "owner": "ada"}"#,
        "\n{ \"owner\"\t:\r\n\"ada\" }\n",
        r#"{"own\u0065r":"\u0061da"}"#,
    ];
    let with = |text: &str, members: &str| text.replacen('{', &format!("{{{members},"), 1);
    for (texts, fine) in [(&bad[..], false), (&good[..], true)] {
        for (number, text) in texts.iter().enumerate() {
            let id = format!("{fine}{number}");
            let (status, answer) = rules.raw(ADA, "PUT", &format!("/db/{id}put"), text);
            assert_eq!(status, if fine { 201 } else { 403 }, "{text}: {answer}");
            let (status, answer) = rules.raw(ADA, "POST", "/db", &with(text, &format!("\"_id\":\"{id}post\"")));
            assert_eq!(status, if fine { 201 } else { 403 }, "{text}: {answer}");
            let (status, answer) = rules.raw(ADA, "POST", "/db", text);
            assert_eq!(status, if fine { 201 } else { 403 }, "{text}: {answer}");
            let path = format!("/db/{id}rev?new_edits=false");
            let (status, answer) = rules.raw(ADA, "PUT", &path, &with(text, r#""_rev":"1-a""#));
            assert_eq!(status, if fine { 201 } else { 403 }, "{text}: {answer}");
            let doc = with(text, &format!("\"_id\":\"{id}bulk\""));
            let (_, rows) = rules.raw(ADA, "POST", "/db/_bulk_docs", &format!("{{\"docs\":[{doc},{text}]}}"));
            for row in rows.as_array().unwrap() {
                assert_eq!(row["ok"] == true, fine, "{text}: {row}");
            }
            let doc = with(text, &format!("\"_id\":\"{id}replica\",\"_rev\":\"1-a\""));
            let body = format!("{{\"docs\":[{doc}],\"new_edits\":false}}");
            let (_, rows) = rules.raw(ADA, "POST", "/db/_bulk_docs", &body);
            assert_eq!(rows.as_array().unwrap().is_empty(), fine, "{text}: {rows}");
        }
    }
    let all = rules.admin("GET", "/db/_all_docs?include_docs=true", Value::Null).1;
    for row in all["rows"].as_array().unwrap() {
        assert_eq!(row["doc"]["owner"], "ada", "{row}");
    }
}

#[test]
fn a_leaf_that_a_user_may_not_write_is_not_replaced_and_lends_no_attachment() {
    let rules = Rules::start();
    // A conflict: the winner is of ada, the other leaf of eve and with a file.
    let file = json!({ "x": { "content_type": "text/plain", "data": "aGlkZGVu" } });
    let docs = json!([
        { "_id": "d", "_rev": "1-b", "owner": "ada" },
        { "_id": "d", "_rev": "1-a", "owner": "eve", "_attachments": file },
        { "_id": "theirs", "_rev": "1-a", "owner": "eve", "_attachments": file },
        { "_id": "gone", "_rev": "1-a", "owner": "eve", "_attachments": file },
        { "_id": "gone", "_rev": "2-b", "_revisions": { "start": 2, "ids": ["b", "a"] }, "_deleted": true,
          "_attachments": { "x": { "stub": true } } },
    ]);
    rules.admin("POST", "/db/_bulk_docs", json!({ "docs": docs, "new_edits": false }));
    let leaves = || rules.admin("GET", "/db/d?open_revs=all", Value::Null).1.as_array().unwrap().len();
    assert_eq!(leaves(), 2);
    let stub = json!({ "x": { "stub": true } });
    let attempts = [
        json!({ "_id": "d", "_rev": "2-c", "_revisions": { "start": 2, "ids": ["c", "a"] }, "_deleted": true }),
        json!({ "_id": "d", "_rev": "2-c", "_revisions": { "start": 2, "ids": ["c", "a"] }, "owner": "ada" }),
        json!({ "_id": "d", "_rev": "3-e", "_revisions": { "start": 3, "ids": ["e", "c", "a"] }, "owner": "ada",
            "_attachments": stub }),
        json!({ "_id": "theirs", "_rev": "2-c", "_revisions": { "start": 2, "ids": ["c", "a"] }, "owner": "ada",
            "_attachments": stub }),
        json!({ "_id": "theirs", "_rev": "9-c", "owner": "ada" }),
        json!({ "_id": "theirs", "_rev": "9-c", "_deleted": true }),
        json!({ "_id": "gone", "_rev": "3-c", "_revisions": { "start": 3, "ids": ["c", "b", "a"] }, "owner": "ada",
            "_attachments": stub }),
    ];
    for attempt in attempts {
        let (_, rows) = rules.as_user(ADA, "POST", "/db/_bulk_docs", json!({ "docs": [attempt], "new_edits": false }));
        assert_eq!(rows.as_array().unwrap().len(), 1, "{attempt}: {rows}");
        let path = format!("/db/{}?new_edits=false", attempt["_id"].as_str().unwrap());
        let (status, answer) = rules.as_user(ADA, "PUT", &path, attempt.clone());
        assert!(matches!(status, 403 | 409), "{attempt}: {status} {answer}");
    }
    assert_eq!(rules.admin("GET", "/db/d?rev=1-a", Value::Null).1["owner"], "eve");
    assert_eq!(leaves(), 2);
    assert_eq!(rules.admin("GET", "/db/theirs", Value::Null).1["_rev"], "1-a");
    // One's own leaf goes on, by edits and by replicas.
    let (status, own) = rules.as_user(ADA, "PUT", "/db/d", json!({ "_rev": "1-b", "owner": "ada", "n": 1 }));
    assert_eq!(status, 201, "{own}");
    let suffix = own["rev"].as_str().unwrap().split('-').nth(1).unwrap().to_owned();
    let next =
        json!({ "_id": "d", "_rev": "3-f", "_revisions": { "start": 3, "ids": ["f", suffix, "b"] }, "owner": "ada" });
    let (_, rows) = rules.as_user(ADA, "POST", "/db/_bulk_docs", json!({ "docs": [next], "new_edits": false }));
    assert_eq!(rows, json!([]));
}

#[test]
fn a_hidden_revision_is_guessed_by_no_answer() {
    let rules = Rules::start();
    let hidden = rules.put("theirs", json!({ "owner": "eve", "salary": 7 }));
    let wrong = format!("1-{}", "0".repeat(32));
    let old = rules.put("sold", json!({ "owner": "ada", "price": 3 }));
    rules.put("sold", json!({ "owner": "eve" }));
    for (path, body) in [
        ("/db/_revs_diff", json!({ "theirs": [hidden, wrong] })),
        ("/db/_missing_revs", json!({ "theirs": [hidden, wrong] })),
    ] {
        let (status, answer) = rules.as_user(ADA, "POST", path, body);
        assert_eq!(status, 200);
        let answer = answer.to_string();
        assert!(answer.contains(&hidden) && answer.contains(&wrong), "{path}: {answer}");
    }
    let write = |rev: &str| rules.as_user(ADA, "PUT", "/db/theirs", json!({ "owner": "ada", "_rev": rev }));
    assert_eq!(write(&hidden), write(&wrong));
    let delete = |rev: &str| rules.as_user(ADA, "DELETE", &format!("/db/theirs?rev={rev}"), Value::Null);
    assert_eq!(delete(&hidden), delete(&wrong));
    // What a document said before it was given away is hidden with it.
    for path in [
        format!("/db/sold?rev={old}"),
        format!("/db/sold?rev={old}&latest=true"),
        format!("/db/sold/x?rev={old}"),
        format!("/db/sold?rev={hidden}"),
    ] {
        assert_eq!(rules.as_user(ADA, "GET", &path, Value::Null).0, 404, "{path}");
    }
    let (_, open) = rules.as_user(ADA, "GET", &format!("/db/sold?open_revs=[%22{old}%22]"), Value::Null);
    assert_eq!(open[0]["missing"], json!(old), "{open}");
    let (_, many) = rules.as_user(ADA, "POST", "/db/_bulk_get", json!({ "docs": [{ "id": "sold", "rev": old }] }));
    assert!(!many.to_string().contains("price"), "{many}");
    // An older revision of a document that is theirs is read.
    let first = rules.put("kept", json!({ "owner": "ada", "n": 1 }));
    rules.put("kept", json!({ "owner": "ada", "n": 2 }));
    assert_eq!(rules.as_user(ADA, "GET", &format!("/db/kept?rev={first}"), Value::Null).1["n"], 1);
}

#[test]
fn local_documents_are_each_users_own() {
    let rules = Rules::start();
    assert_eq!(rules.admin("PUT", "/db/_local/mark", json!({ "of": "admin" })).0, 201);
    assert_eq!(rules.as_user(ADA, "GET", "/db/_local/mark", Value::Null).0, 404);
    let (status, made) = rules.as_user(ADA, "PUT", "/db/_local/mark", json!({ "of": "ada" }));
    assert_eq!((status, made["id"].as_str()), (201, Some("_local/mark")), "{made}");
    let bulk = json!({ "docs": [{ "_id": "_local/mark", "of": "bob" }] });
    assert_eq!(rules.as_user(BOB, "POST", "/db/_bulk_docs", bulk).1[0]["ok"], true);
    for (user, of) in [(ADA, "ada"), (BOB, "bob")] {
        let (_, own) = rules.as_user(user, "GET", "/db/_local/mark", Value::Null);
        assert_eq!((own["of"].as_str(), own["_id"].as_str()), (Some(of), Some("_local/mark")), "{own}");
    }
    assert_eq!(rules.admin("GET", "/db/_local/mark", Value::Null).1["of"], "admin");
    assert_eq!(rules.as_user(ADA, "GET", "/db/_local/user~bob~0~mark", Value::Null).0, 404);
    assert_eq!(rules.as_user(ADA, "DELETE", "/db/_local/mark", Value::Null).0, 200);
    assert_eq!(rules.as_user(BOB, "GET", "/db/_local/mark", Value::Null).0, 200);
}

#[test]
fn routes_that_are_not_for_limited_users_refuse_them() {
    let rules = Rules::start();
    rules.put("a", json!({ "owner": "ada" }));
    let description = rules.as_user(ADA, "GET", "/_openapi.json", Value::Null).1;
    let mut refused = 0;
    for (path, item) in description["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/{db}")) {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters") {
            let asked = path.replace("{db}", "db").replace("{id}", "a").replace(['{', '}'], "");
            let status = rules.as_user(ADA, &method.to_uppercase(), &asked, json!({})).0;
            if operation["x-limited-users"] == true {
                assert!(status != 401 && status != 405 && status < 500, "{method} {path}: {status}");
            } else {
                assert!(matches!(status, 401 | 403), "{method} {path}: {status}");
                refused += 1;
            }
        }
    }
    assert!(refused > 30, "{refused}");
    for (method, path) in [("COPY", "/db/a"), ("GET", "/db/_design/d/file"), ("PUT", "/db/_find"), ("TRACE", "/db/a")] {
        let (status, answer) = rules.as_user(ADA, method, path, Value::Null);
        assert!(matches!(status, 403 | 405), "{method} {path}: {status} {answer}");
    }
}
