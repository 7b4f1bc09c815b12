//! What was found by asking this server and CouchDB 3.4.3 the same questions, thousands of them, one after the other.

use serde_json::{Value, json};

use crate::accounts;
use crate::served::Served;
use crate::to_the_letter::{asked, fresh};

const REV: &str = "1-967a00dff5e02add41819138abb3284d";

fn read(served: &Served, path: &str) -> Value {
    let (status, answer) = asked(served, "GET", path, &Value::Null);
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

fn status(served: &Served, method: &str, path: &str, body: &Value) -> u16 {
    asked(served, method, path, body).0
}

/// The ids of rows, or their keys.
fn named(answer: &Value) -> Vec<&str> {
    let name = |row: &'_ Value| row["id"].as_str().or(row["key"].as_str()).map(str::to_owned);
    let rows = answer["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| name(row).is_some()), "{answer}");
    rows.iter().map(|row| row["id"].as_str().or(row["key"].as_str()).unwrap()).collect()
}

#[test]
fn a_revision_of_a_document_that_never_was_is_refused_where_couchdb_looks_for_it() {
    let served = fresh();
    let named = json!({"_rev": REV});
    // The first write of a database.
    assert_eq!(status(&served, "PUT", "/db/new", &named), 409);
    assert_eq!(status(&served, "PUT", &format!("/db/new?rev={REV}"), &json!({})), 409);
    let both = json!({"docs": [{"_id": "a"}, {"_id": "new", "_rev": REV}]});
    let (_, rows) = asked(&served, "POST", "/db/_bulk_docs", &both);
    assert_eq!((&rows[0]["ok"], &rows[1]["error"]), (&json!(true), &json!("conflict")), "{rows}");
    // Later ones are taken: the document may have been made elsewhere.
    assert_eq!(status(&served, "PUT", "/db/new", &named), 201);
    let (_, rows) = asked(&served, "POST", "/db/_bulk_docs", &json!({"docs": [{"_id": "newer", "_rev": REV}]}));
    assert!(rows[0]["rev"].as_str().unwrap().starts_with("2-"), "{rows}");
    // Not if CouchDB has to look: for attachments, and at every design document.
    let with = json!({"_rev": REV, "_attachments": {"a": {"data": "aGk=", "content_type": "text/plain"}}});
    assert_eq!(status(&served, "PUT", "/db/attached", &with), 409);
    assert_eq!(status(&served, "PUT", "/db/_design/d", &named), 409);
    assert_eq!(status(&served, "DELETE", &format!("/db/none?rev={REV}"), &Value::Null), 404);
    // Replicas bring whatever they have.
    let replica = json!({"new_edits": false, "docs": [{"_id": "replica", "_rev": REV}]});
    assert_eq!(asked(&served, "POST", "/db/_bulk_docs", &replica), (201, json!([])));
}

#[test]
fn a_malformed_design_document_is_refused_when_a_replica_brings_it_too() {
    let served = fresh();
    for (body, reason) in [
        (json!({"views": "x"}), "`views` field must have object type"),
        (json!({"views": {"v": {}}}), "View `v` must contain map function"),
        (json!({"validate_doc_update": 1}), "`validate_doc_update` field must have string type"),
    ] {
        let mut document = body.clone();
        document["_id"] = json!("_design/d");
        document["_rev"] = json!(REV);
        let brought = json!({"new_edits": false, "docs": [document, {"_id": "a", "_rev": REV}]});
        let row = json!({"id": "_design/d", "rev": REV, "error": "invalid_design_doc", "reason": reason});
        assert_eq!(asked(&served, "POST", "/db/_bulk_docs", &brought), (201, json!([row])), "{body}");
        let (status, answer) = asked(&served, "PUT", "/db/_design/d?new_edits=false", &document);
        assert_eq!((status, answer["reason"].as_str().unwrap()), (400, reason), "{body}");
    }
    assert_eq!(status(&served, "GET", "/db/_design/d", &Value::Null), 404);
    assert_eq!(status(&served, "GET", "/db/a", &Value::Null), 200);
}

#[test]
fn lists_of_a_kind_have_the_keys_of_that_kind() {
    let served = fresh();
    for path in ["/db/a", "/db/b", "/db/c", "/db/_design/d", "/db/_local/l"] {
        assert_eq!(status(&served, "PUT", path, &json!({})), 201);
    }
    for (path, ids) in [
        ("_design_docs?keys=[\"a\",\"_design/d\",\"_design/none\"]", vec!["_design/d", "_design/none"]),
        ("_design_docs?keys=[\"a\",\"_design/d\"]&limit=1", vec![]),
        ("_local_docs?keys=[\"a\",\"_local/l\",\"_local/none\"]", vec!["_local/l", "_local/none"]),
        ("_local_docs?keys=[\"a\",\"_local/l\"]&limit=1", vec![]),
        ("_all_docs?keys=[\"_local/l\",\"b\"]&include_docs=true", vec!["_local/l", "b"]),
        ("_all_docs?startkey_docid=b", vec!["b", "c"]),
        ("_all_docs?startkey_docid=b&endkey_docid=b", vec!["b"]),
        ("_all_docs?startkey=\"a\"&startkey_docid=b&endkey=\"a\"", vec!["a"]),
        ("_all_docs?descending=true&startkey_docid=b&limit=1", vec!["b"]),
    ] {
        assert_eq!(named(&read(&served, &format!("/db/{path}"))), ids, "{path}");
    }
    let local = read(&served, "/db/_all_docs?keys=[\"_local/l\"]&include_docs=true");
    assert_eq!(local["rows"][0]["doc"], json!({"_id": "_local/l", "_rev": "0-1"}));
    assert_eq!(named(&asked(&served, "POST", "/db/_all_docs", &json!({"startkey_docid": "c"})).1), ["c"]);
    assert_eq!(status(&served, "GET", "/db/_local_docs?partition=a", &Value::Null), 400);
}

#[test]
fn conflicts_are_told_of_the_winner_alone() {
    let served = fresh();
    let other = "1-a67a00dff5e02add41819138abb3284d";
    for rev in [REV, other] {
        assert_eq!(status(&served, "PUT", "/db/a?new_edits=false", &json!({"_rev": rev})), 201);
    }
    assert_eq!(read(&served, "/db/a?conflicts=true")["_conflicts"], json!([REV]));
    for rev in [REV, other] {
        assert_eq!(read(&served, &format!("/db/a?conflicts=true&meta=true&rev={rev}")).get("_conflicts"), None);
    }
}

#[test]
fn replicas_are_told_what_they_lack_in_the_order_of_revisions() {
    let served = fresh();
    assert_eq!(status(&served, "PUT", "/db/a", &json!({})), 201);
    let (third, second) = ("3-967a00dff5e02add41819138abb3284d", "2-967a00dff5e02add41819138abb3284d");
    let (_, answer) = asked(&served, "POST", "/db/_revs_diff", &json!({"a": [third, second], "b": [third, second]}));
    assert_eq!((&answer["a"]["missing"], &answer["b"]["missing"]), (&json!([second, third]), &json!([third, second])));
    for path in ["_revs_diff", "_missing_revs", "_purge"] {
        let (status, answer) = asked(&served, "POST", &format!("/db/{path}"), &json!({"a": REV}));
        assert_eq!((status, answer["reason"].as_str().unwrap()), (400, "Invalid list of revisions"), "{path}");
    }
}

#[test]
fn documents_of_replications_are_listed_by_their_states() {
    let served = fresh();
    for (id, target) in [("a", json!(1)), ("b", json!("http://127.0.0.1:1/none"))] {
        let document = json!({"source": "http://127.0.0.1:1/db", "target": target});
        assert_eq!(status(&served, "PUT", &format!("/_replicator/{id}"), &document), 201);
    }
    let ids = |query: &str| -> Vec<String> {
        let answer = read(&served, &format!("/_scheduler/docs{query}"));
        assert_eq!(answer["total_rows"], 2, "{answer}");
        answer["docs"].as_array().unwrap().iter().map(|row| row["doc_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(""), ["a", "b"]);
    assert_eq!(ids("?descending=true"), ["b", "a"]);
    assert_eq!(ids("?states=FAILED,completed"), ["a"]);
    assert_eq!(ids("?states=initializing,pending,running,crashing,error"), ["b"]);
    let (status, answer) = asked(&served, "GET", "/_scheduler/docs?states=gone", &Value::Null);
    assert_eq!((status, answer["error"].as_str().unwrap()), (400, "query_parse_error"));
    assert!(answer["reason"].as_str().unwrap().starts_with("Unknown states [gone]. Choose from: "), "{answer}");
}

#[test]
fn a_replication_of_the_wrong_types_is_refused_by_the_name_of_the_member() {
    let served = fresh();
    for (member, reason) in [
        (json!({"doc_ids": 1}), "parameter `doc_ids` must be an array"),
        (json!({"selector": 1}), "parameter `selector` must be a JSON object"),
        (json!({"continuous": "x"}), "parameter `continuous` must be a boolean"),
        (json!({"filter": 1}), "parameter `filter` must be a string"),
    ] {
        let mut asked_for = member.clone();
        asked_for["source"] = json!("db");
        asked_for["target"] = json!("other");
        let (status, answer) = asked(&served, "POST", "/_replicate", &asked_for);
        assert_eq!((status, answer["reason"].as_str().unwrap()), (400, reason));
    }
    let (status, answer) = asked(&served, "POST", "/_replicate", &json!([]));
    assert_eq!((status, answer["reason"].as_str().unwrap()), (400, "Request body must be a JSON object"));
}

#[test]
fn who_logs_in_is_led_to_this_server_alone() {
    let served = fresh();
    for (next, expected) in [
        ("/db", 302),
        ("http://other.example/", 400),
        ("//other.example", 400),
        ("/%5Cother.example", 400),
        ("db", 400),
    ] {
        let (status, answer) = asked(&served, "DELETE", &format!("/_session?next={next}"), &Value::Null);
        assert_eq!(status, expected, "{next}: {answer}");
        if status == 400 {
            assert_eq!(answer["reason"], "path must begin with a /.", "{next}");
        }
    }
}

#[test]
fn lists_of_accounts_are_for_server_admins() {
    let server = accounts::Served::start();
    server.user("ada", &[]);
    let members = json!({"members": {"names": ["ada"]}, "admins": {"names": ["ada"]}});
    server.admin("PUT", "/_replicator/_security", &members);
    for path in
        ["/_users/_all_docs", "/_users/_changes", "/_replicator/_all_docs", "/_replicator/_changes", "/_global_changes"]
    {
        for who in ["", "ada:pw"] {
            let answer = server.ask(who, "GET", path, "");
            assert_eq!(
                (answer.status, answer.json()["reason"].as_str().unwrap()),
                (401, "You are not a server admin.")
            );
        }
        assert_eq!(server.ask(accounts::ADMIN, "GET", path, "").status, 200, "{path}");
    }
    assert_eq!(server.ask("ada:pw", "GET", "/_replicator", "").status, 200);
    assert_eq!(server.ask("ada:pw", "GET", "/_users/org.couchdb.user:ada", "").status, 200);
}

#[test]
fn who_asks_for_a_replication_owns_its_document_and_nobody_else_reads_its_password() {
    let server = accounts::Served::start();
    for name in ["ada", "eve"] {
        server.user(name, &[]);
    }
    server.admin("PUT", "/_replicator/_security", &json!({"members": {"names": ["ada", "eve"]}}));
    let ends = |more: &str| format!(r#"{{"source":"http://ada:swordfish@127.0.0.1:1/a","target":"http://b/b"{more}}}"#);
    let made = server.ask("ada:pw", "PUT", "/_replicator/hers", &ends(""));
    assert_eq!(made.status, 201, "{}", made.body);
    assert_eq!(server.ask("ada:pw", "POST", "/_replicator", &ends(r#","_id":"too""#)).status, 201);
    for id in ["hers", "too"] {
        let document = server.ask("ada:pw", "GET", &format!("/_replicator/{id}"), "").json();
        assert_eq!((&document["owner"], document["source"].is_string()), (&json!("ada"), true), "{document}");
    }
    for (method, path, body) in [
        ("GET", "/_replicator/hers", ""),
        ("GET", "/_replicator/hers?open_revs=all", ""),
        ("GET", "/_replicator/_leaves", ""),
        ("GET", "/_replicator/_design_docs?include_docs=true", ""),
        ("GET", "/_utils/_replicator", ""),
        ("GET", "/_utils/_replicator/export", ""),
        ("POST", "/_replicator/_find", r#"{"selector":{}}"#),
        ("POST", "/_replicator/_aggregate", r#"{"pipeline":[{"$match":{}}]}"#),
        ("POST", "/_replicator/_all_docs/queries", r#"{"queries":[{"include_docs":true}]}"#),
        ("POST", "/_replicator/_bulk_get", r#"{"docs":[{"id":"hers"}]}"#),
    ] {
        let answer = server.ask("eve:pw", method, path, body);
        assert!(!answer.body.contains("swordfish"), "{method} {path}: {}", answer.body);
    }
    let rev = server.admin("GET", "/_replicator/hers", &Value::Null).json()["_rev"].as_str().unwrap().to_owned();
    for body in [ends(&format!(r#","_rev":"{rev}""#)), ends(&format!(r#","owner":"ada","_rev":"{rev}""#))] {
        assert_eq!(server.ask("eve:pw", "PUT", "/_replicator/hers", &body).status, 403, "{body}");
    }
    assert_eq!(server.ask("eve:pw", "DELETE", &format!("/_replicator/hers?rev={rev}"), "").status, 403);
    assert_eq!(server.ask("eve:pw", "PUT", "/_replicator/as_her", &ends(r#","owner":"ada""#)).status, 403);
    // The database that an admin makes anew has the rule, too.
    server.admin("DELETE", "/_replicator", &Value::Null);
    server.admin("PUT", "/_replicator", &Value::Null);
    assert_eq!(
        server.admin("GET", "/_replicator/_access", &Value::Null).json(),
        json!({"read": {"owner": "$user.name"}})
    );
}

#[test]
fn a_query_that_reads_many_documents_for_few_says_so() {
    let served = fresh();
    let docs: Vec<Value> = (0..30).map(|n| json!({"_id": format!("d{n}"), "n": n, "even": n % 2 == 0})).collect();
    assert_eq!(status(&served, "POST", "/db/_bulk_docs", &json!({"docs": docs})), 201);
    for (selector, many) in [(json!({"n": 1}), true), (json!({"n": -1}), true), (json!({"even": true}), false)] {
        let (_, answer) = asked(&served, "POST", "/db/_find", &json!({"selector": selector, "limit": 100}));
        let warning = answer["warning"].as_str().unwrap();
        assert!(warning.starts_with("No matching index found"), "{warning}");
        assert_eq!(warning.contains("The number of documents examined is high"), many, "{selector}: {warning}");
    }
}

#[test]
fn databases_are_listed_by_their_names() {
    let served = fresh();
    assert_eq!(status(&served, "PUT", "/other", &Value::Null), 201);
    for (query, names) in [
        ("key=\"db\"", json!(["db"])),
        ("key=1", json!([])),
        ("keys=[\"other\",\"none\",\"db\"]", json!(["db", "other"])),
        ("startkey=\"db\"&endkey=\"other\"", json!(["db", "other"])),
        ("startkey=\"db\"&endkey=\"other\"&inclusive_end=false", json!(["db"])),
    ] {
        assert_eq!(read(&served, &format!("/_all_dbs?{query}")), names, "{query}");
    }
    assert_eq!(status(&served, "GET", "/_all_dbs?keys=1", &Value::Null), 400);
}

#[test]
fn revisions_of_one_branch_have_one_leaf() {
    let served = fresh();
    let replicas = json!({"new_edits": false, "docs": [
        {"_id": "a", "_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]}},
        {"_id": "a", "_rev": "2-c", "_revisions": {"start": 2, "ids": ["c", "a"]}},
    ]});
    assert_eq!(status(&served, "POST", "/db/_bulk_docs", &replicas), 201);
    for (query, expected) in [
        ("[\"1-a\",\"2-b\"]&latest=true", vec!["2-c", "2-b"]),
        ("[\"2-b\",\"2-b\"]&latest=true", vec!["2-b"]),
        ("[\"2-b\",\"2-b\"]", vec!["2-b", "2-b"]),
    ] {
        let answer = read(&served, &format!("/db/a?open_revs={query}"));
        let revs: Vec<&str> =
            answer.as_array().unwrap().iter().map(|row| row["ok"]["_rev"].as_str().unwrap()).collect();
        assert_eq!(revs, expected, "{query}");
    }
}

#[test]
fn questions_that_are_asked_together_are_posted() {
    let served = fresh();
    for list in ["_all_docs", "_design_docs", "_local_docs"] {
        let path = format!("/db/{list}/queries");
        let (status, answer) = asked(&served, "GET", &path, &Value::Null);
        assert_eq!((status, &answer["reason"]), (405, &json!("Only POST allowed")), "{path}");
        let body = br#"{"queries":[{}]}"#;
        assert_eq!(served.ask_with("Content-Type: text/plain\r\n", "POST", &path, body).0, 200, "{path}");
    }
    assert_eq!(status(&served, "GET", "/db/_all_docs/others", &Value::Null), 404);
}

#[test]
fn a_query_within_a_partition_names_no_other() {
    let served = fresh();
    assert_eq!(status(&served, "PUT", "/parts?partitioned=true", &Value::Null), 201);
    let docs = json!({"docs": [{"_id": "a:1"}, {"_id": "b:1"}]});
    assert_eq!(status(&served, "POST", "/parts/_bulk_docs", &docs), 201);
    let find = |path: &str, partition: Value| {
        let (_, answer) = asked(&served, "POST", path, &json!({"selector": {}, "partition": partition}));
        answer["docs"].as_array().map_or_else(|| answer["reason"].clone(), |docs| docs[0]["_id"].clone())
    };
    let within = "/parts/_partition/a/_find";
    assert_eq!(find(within, json!("a")), "a:1");
    assert_eq!(find(within, json!("b")), "`partition` names another partition than the path");
    assert_eq!(find("/parts/_find", json!("b")), "b:1");
    for wrong in [json!(1), json!(null)] {
        assert_eq!(find("/parts/_find", wrong), "Partition must be a string");
    }
}

#[test]
fn a_form_that_is_none_is_refused_by_its_type() {
    let served = fresh();
    let post = |head: &str| served.ask_with(head, "POST", "/db/a", b"{}").0;
    assert_eq!(post(""), 400);
    assert_eq!(post("Referer: http://x/\r\nContent-Type: application/x-www-form-urlencoded\r\n"), 415);
    assert_eq!(post("Referer: http://x/\r\nContent-Type: multipart/form-data; boundary=x\r\n"), 405);
}

#[test]
fn sequences_begin_with_how_often_their_database_was_updated() {
    let served = fresh();
    let number = |sequence: &Value| sequence.as_str().unwrap().split_once('-').map(|(number, _)| number.to_owned());
    let numbers = |path: &str, since: &Value| {
        let answer = read(&served, &format!("{path}since={}", since.as_str().unwrap()));
        let rows = answer["results"].as_array().unwrap();
        let rows: Vec<_> = rows.iter().map(|row| number(&row["seq"]).unwrap()).collect();
        (rows, answer["last_seq"].clone())
    };
    let start = json!("0");
    assert_eq!(read(&served, "/db")["update_seq"], start);
    let (rows, last) = numbers("/db/_changes?", &start);
    assert_eq!((rows, number(&last).as_deref()), (vec![], Some("0")));
    // Another database of the store counts for itself.
    assert_eq!(status(&served, "PUT", "/other", &Value::Null), 201);
    assert_eq!(status(&served, "PUT", "/other/x", &json!({})), 201);
    let three = json!({"docs": [{"_id": "a"}, {"_id": "b"}, {"_id": "c"}]});
    assert_eq!(status(&served, "POST", "/db/_bulk_docs", &three), 201);
    let (rows, last) = numbers("/db/_changes?", &start);
    assert_eq!((rows, number(&last)), (vec!["1".to_owned(), "2".to_owned(), "3".to_owned()], Some("3".to_owned())));
    let (_, first) = numbers("/db/_changes?limit=1&", &start);
    assert_eq!(number(&first).as_deref(), Some("1"));
    assert_eq!(numbers("/db/_changes?", &first).0, ["2", "3"]);
    assert_eq!(numbers("/db/_changes?descending=true&", &start).0, ["3", "2", "1"]);

    // A document that is written again, and one that goes.
    let (_, again) = asked(&served, "PUT", "/db/a", &json!({"_rev": REV}));
    let rev = again["rev"].as_str().unwrap();
    assert_eq!(status(&served, "DELETE", &format!("/db/a?rev={rev}"), &Value::Null), 200);
    let (rows, last) = numbers("/db/_changes?", &last);
    assert_eq!((rows, number(&last).as_deref()), (vec!["4".to_owned()], Some("5")));
    let (_, purged) = asked(&served, "POST", "/db/_purge", &json!({"b": [REV]}));
    assert_eq!(purged["purged"]["b"], json!([REV]), "{purged}");
    for path in ["/db", "/db/_all_docs?update_seq=true"] {
        assert_eq!(number(&read(&served, path)["update_seq"]).as_deref(), Some("6"), "{path}");
    }

    // What the number says decides nothing, and a moment may be told by the whole.
    let (_, commit) = last.as_str().unwrap().split_once('-').unwrap();
    let alone = json!(commit);
    assert_eq!(numbers("/db/_changes?", &alone).0, numbers("/db/_changes?", &last).0);
    assert_eq!(named(&read(&served, &format!("/db/_all_docs?at={}", last.as_str().unwrap()))), ["b", "c"]);
    assert_eq!(status(&served, "GET", "/db/_changes?since=1-x", &Value::Null), 400);
}

#[test]
fn a_selector_is_asked_about_each_leaf_if_the_feed_has_all_leaves() {
    let served = fresh();
    let leaf =
        |id: &str, rev: &str, t: &str, deleted: bool| json!({"_id": id, "_rev": rev, "_deleted": deleted, "t": t});
    let docs = json!({"new_edits": false, "docs": [
        leaf("loses", "2-bb", "no", false), leaf("loses", "2-ab", "yes", false),
        leaf("wins", "2-bb", "yes", false), leaf("wins", "2-ab", "no", false),
        leaf("deleted", "2-bb", "yes", false), leaf("deleted", "3-ab", "yes", true)]});
    assert_eq!(status(&served, "POST", "/db/_bulk_docs", &docs), 201);
    let rows = |style: &str| {
        let (_, answer) = asked(
            &served,
            "POST",
            &format!("/db/_changes?filter=_selector&style={style}"),
            &json!({"selector": {"t": "yes"}}),
        );
        let row = |row: &Value| {
            let revs: Vec<&str> =
                row["changes"].as_array().unwrap().iter().map(|own| own["rev"].as_str().unwrap()).collect();
            format!("{} {}", row["id"].as_str().unwrap(), revs.join(" "))
        };
        answer["results"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    // With an index and without: an index has winners alone.
    for indexed in [false, true] {
        if indexed {
            assert_eq!(status(&served, "POST", "/db/_index", &json!({"index": {"fields": ["t"]}})), 200);
        }
        assert_eq!(rows("main_only"), ["deleted 2-bb", "wins 2-bb"], "indexed: {indexed}");
        assert_eq!(rows("all_docs"), ["deleted 2-bb 3-ab", "loses 2-ab", "wins 2-bb"], "indexed: {indexed}");
    }
}

/// Their passwords are hashed on the way, and nothing else is changed.
#[test]
fn documents_of_users_and_of_replications_keep_their_numbers() {
    let server = accounts::Served::start();
    let numbers = r#""n":123456789012345678901234567890,"f":0.1234567890123456789"#;
    server.admin("PUT", "/numbers", &Value::Null);
    let kept = server.ask(accounts::ADMIN, "PUT", "/numbers/a", &format!("{{{numbers}}}"));
    assert_eq!(kept.status, 201, "{}", kept.body);
    let stored = server.admin("GET", "/numbers/a", &Value::Null).body;
    let stored = &stored[stored.find("\"n\":").unwrap()..stored.rfind('}').unwrap()];
    assert!(stored.contains("123456789012345678901234567890"), "{stored}");
    let user = |name: &str| {
        let head = format!(r#""_id":"org.couchdb.user:{name}","name":"{name}","type":"user","roles":[]"#);
        format!(r#"{{{head},"password":"pw",{numbers}}}"#)
    };
    for (method, path, body) in [
        ("PUT", "/_users/org.couchdb.user:a", user("a")),
        ("POST", "/_users", user("b")),
        ("POST", "/_users/_bulk_docs", format!(r#"{{"docs":[{}]}}"#, user("c"))),
        ("PUT", "/_replicator/r", format!(r#"{{"source":"numbers","target":"numbers","_id":"r",{numbers}}}"#)),
    ] {
        let written = server.ask(accounts::ADMIN, method, path, &body);
        assert_eq!(written.status, 201, "{method} {path}: {}", written.body);
    }
    let ended = || server.admin("GET", "/_replicator/r", &Value::Null).json()["_replication_state"].is_string();
    while !ended() {
        std::thread::yield_now();
    }
    let users = ["a", "b", "c"].map(|name| format!("/_users/org.couchdb.user:{name}"));
    for path in users.iter().map(String::as_str).chain(["/_replicator/r"]) {
        let document = server.admin("GET", path, &Value::Null).body;
        assert!(document.contains(stored) && !document.contains("\"password\""), "{path}: {document}");
    }
    let twice = format!(r#"{{"docs":[{}],"docs":[]}}"#, user("d"));
    let refused = server.ask(accounts::ADMIN, "POST", "/_users/_bulk_docs", &twice);
    assert!(refused.status == 400 && refused.body.contains("docs is there twice"), "{}", refused.body);
}
