//! Where clients and tutorials meet CouchDB's own habits: URLs as they are typed, who gets pages, cookies, the
//! databases of a fresh server, and what a single node says of itself.

use serde_json::{Value, json};

use crate::served::{self, Served};

pub(crate) fn fresh() -> Served {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    served
}

pub(crate) fn asked(served: &Served, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (status, text) = served.ask(method, path, body.as_bytes());
    (status, served::json(&text))
}

/// The status and the reason of a refusal.
fn refused(served: &Served, method: &str, path: &str, body: &Value) -> (u16, String) {
    let (status, answer) = asked(served, method, path, body);
    (status, answer["reason"].as_str().unwrap_or_default().to_owned())
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let head = answer.split("\r\n\r\n").next()?;
    let line = head.split("\r\n").find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}: ")))?;
    line.split_once(": ").map(|(_, value)| value)
}

#[test]
fn a_url_is_taken_as_it_is_typed() {
    let served = fresh();
    for id in ["1", "ä{|}", "a<b>`c^d"] {
        assert_eq!(asked(&served, "POST", "/db", &json!({"_id": id})).0, 201, "{id}");
    }
    for (path, ids) in [
        ("/db/_all_docs?key=\"1\"", vec!["1"]),
        ("/db/_all_docs?startkey=\"a<\"&endkey=\"a=\"", vec!["a<b>`c^d"]),
        ("/db/_all_docs?keys=[\"ä{|}\",\"1\"]", vec!["ä{|}", "1"]),
    ] {
        let (status, answer) = asked(&served, "GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        let rows: Vec<&str> =
            answer["rows"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(rows, ids, "{path}");
    }
    for path in ["/db/ä{|}", "/db/a<b>`c^d", "/db/ä%7b|%7D"] {
        assert_eq!(asked(&served, "GET", path, &Value::Null).0, 200, "{path}");
    }
    // Several requests over one connection, with bodies that look like requests.
    let body = "{\"_id\":\"GET /\\\"\"}";
    let one = format!(
        "POST /db HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let chunked = format!(
        "POST /db HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n\
         {:x}\r\n{}\r\n0\r\n\r\n",
        body.len() + 1,
        body.replace("GET", "PUT9")
    );
    let last = "GET /db/_all_docs?key=\"PUT9%20/\\\"\" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let answer = served.raw(format!("{one}{chunked}{last}").as_bytes());
    assert_eq!(answer.matches("HTTP/1.1 201").count(), 2, "{answer}");
    assert!(answer.contains("HTTP/1.1 200") && answer.contains("\"id\":\"PUT9 /\\\"\""), "{answer}");
}

#[test]
fn no_refusal_is_without_a_body_that_says_why() {
    let served = Served::start();
    let long = "x".repeat(200_000);
    for (request, status) in [
        ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), "400"),
        ("nonsense\r\n\r\n".to_owned(), "400"),
        ("GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n".to_owned(), "400"),
        (format!("GET / HTTP/1.1\r\nHost: x\r\nX: {long}\r\n\r\n"), "431"),
        (format!("GET /{long} HTTP/1.1\r\nHost: x\r\n\r\n"), "4"),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), "400"),
    ] {
        let answer = served.raw(request.as_bytes());
        let shown: String = answer.chars().take(300).collect();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{shown}");
        let body = served::json(answer.split_once("\r\n\r\n").unwrap_or_default().1);
        assert!(body["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{shown}");
        assert_eq!(header(&answer, "content-type"), Some("application/json"), "{shown}");
    }
    served.is_well();
}

#[test]
fn pages_are_for_browsers_and_for_who_asks_for_them() {
    let served = fresh();
    for (headers, path, is_page) in [
        ("Accept: text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2\r\n", "/db", false),
        ("Accept: text/html\r\n", "/", false),
        ("Accept: text/html,application/xhtml+xml\r\n", "/db", true),
        ("Accept: text/html\r\nSec-Fetch-Mode: navigate\r\n", "/db", true),
        ("Accept: text/html\r\nSec-Fetch-Mode: cors\r\n", "/db", false),
        ("Accept: text/html, text/*;q=0.5\r\nUser-Agent: w3m/0.5.3\r\n", "/db", true),
        ("Accept: */*\r\n", "/db?format=html", true),
    ] {
        let (status, body) = served.ask_with(headers, "GET", path, b"");
        assert_eq!((status, body.contains("<!DOCTYPE html>")), (200, is_page), "{headers}{path}");
    }
}

#[test]
fn a_cookie_says_when_it_ends() {
    let served = Served::start();
    served.ask("PUT", "/_node/_local/_config/admins/ada", b"\"secret\"");
    let log_in = |path: &str, of_type: &str, body: &str| {
        served.raw(
            format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {of_type}\r\nContent-Length: {}\r\nConnection: \
                 close\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        )
    };
    let form = "application/x-www-form-urlencoded";
    let answer = log_in("/_session", form, "name=ada&password=secret");
    let cookie = header(&answer, "set-cookie").unwrap();
    let (before, rest) = cookie.split_once("; Version=1; Expires=").unwrap();
    assert!(before.starts_with("AuthSession=") && rest.contains(" GMT; Max-Age=600; Path=/; HttpOnly"), "{cookie}");
    assert!(rest.as_bytes()[7] == b'-' && rest.as_bytes()[11] == b'-', "{cookie}");
    for (of_type, body, status, reason) in [
        (form, "name=ada&password=no", "401", "Name or password is incorrect."),
        (form, "password=no", "400", "request body must contain a username"),
        (
            "application/json",
            "{\"name\":\"ada\",\"username\":\"eve\"}",
            "400",
            "request body contains different usernames",
        ),
        ("text/plain", "name=ada&password=secret", "415", "Content-Type must be"),
    ] {
        let answer = log_in("/_session", of_type, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.contains(reason), "{body}: {answer}");
    }
    let answer = log_in("/_session?fail=/login", form, "name=ada&password=no");
    assert!(answer.starts_with("HTTP/1.1 302") && header(&answer, "location") == Some("http://x/login"), "{answer}");
    assert!(header(&answer, "set-cookie").unwrap().starts_with("AuthSession=; Version=1; Expires=Thu, 01-Jan-1970"));
    let (status, answer) = served.ask("GET", "/_session?basic=true", b"");
    assert_eq!((status, served::json(&answer)["reason"].as_str()), (401, Some("Please login.")));
    let (_, who) = served.ask("GET", "/_session", b"");
    assert_eq!(served::json(&who)["info"], json!({"authentication_handlers": ["cookie", "default"]}));
}

#[test]
fn a_fresh_server_is_a_single_node_that_was_set_up() {
    let served = Served::start();
    assert_eq!(asked(&served, "GET", "/_all_dbs", &Value::Null).1, json!(["_global_changes", "_replicator", "_users"]));
    for name in ["_global_changes", "_replicator", "_users"] {
        assert_eq!(asked(&served, "GET", &format!("/{name}"), &Value::Null).0, 200, "{name}");
    }
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let (_, shards) = asked(&served, "GET", "/db/_shards", &Value::Null);
    assert_eq!(shards, json!({"shards": {"00000000-ffffffff": ["nonode@nohost"]}}));
    let (_, shard) = asked(&served, "GET", "/db/_shards/some/doc", &Value::Null);
    assert_eq!(shard, json!({"range": "00000000-ffffffff", "nodes": ["nonode@nohost"]}));
    assert_eq!(asked(&served, "POST", "/db/_sync_shards", &json!({})), (202, json!({"ok": true})));
    assert_eq!(refused(&served, "POST", "/db/_compact/none", &json!({})), (404, "missing".to_owned()));
    let design = json!({"views": {"v": {"map": "function (doc) { emit(doc._id); }"}}});
    // A write is no redirection: its body would be lost on the way.
    assert_eq!(asked(&served, "PUT", "/db/_design%2Fx", &design).0, 201);
    assert_eq!(asked(&served, "GET", "/db/_design%2Fx", &Value::Null).0, 301);
    assert_eq!(asked(&served, "GET", "/db/_design/x", &Value::Null).1["views"], design["views"]);
    assert_eq!(asked(&served, "POST", "/db/_compact/x", &json!({})), (202, json!({"ok": true})));
}

#[test]
fn every_answer_has_a_number_and_a_proxy_nearby_says_what_its_client_asked_for() {
    let served = fresh();
    let ask = |headers: &str| {
        served.raw(
            format!(
                "POST /db HTTP/1.1\r\nHost: inner\r\n{headers}Content-Type: application/json\r\nContent-Length: 2\r\n\
                 Connection: close\r\n\r\n{{}}"
            )
            .as_bytes(),
        )
    };
    let (one, other) = (ask(""), ask("X-Forwarded-Host: outer.example:8443\r\nX-Forwarded-Proto: https\r\n"));
    let number = |answer: &str| header(answer, "x-couch-request-id").unwrap().to_owned();
    assert!(number(&one).len() == 10 && number(&one) != number(&other), "{one}{other}");
    assert!(header(&one, "location").unwrap().starts_with("http://inner/db/"), "{one}");
    assert!(header(&other, "location").unwrap().starts_with("https://outer.example:8443/db/"), "{other}");
    let odd = ask("X-Forwarded-Host: evil@x/y\r\n");
    assert!(header(&odd, "location").unwrap().starts_with("http://inner/db/"), "{odd}");
}

#[test]
fn what_couchdb_refuses_is_refused() {
    let served = fresh();
    assert_eq!(served.ask("PUT", "/parts?partitioned=true", b"").0, 201);
    for (method, path, body, status, reason) in [
        ("PUT", "/db/_security", json!([]), 400, "Body must be a JSON object"),
        ("PUT", "/db/_security", json!({"members": []}), 400, "members must be a JSON object"),
        ("PUT", "/db/_security", json!({"members": {"names": "ada"}}), 400, "names must be a JSON list of strings"),
        ("PUT", "/db/_security", json!({"admins": {"roles": [1]}}), 400, "roles must be a JSON list of strings"),
        ("PUT", "/db/_design/a", json!({"views": {"v": {}}}), 400, "View `v` must contain map function"),
        ("PUT", "/db/_design/a", json!({"views": {"v": {"map": 1}}}), 400, "`views.v.map` field must have string type"),
        ("PUT", "/db/_design/a", json!({"views": []}), 400, "`views` field must have object type"),
        ("PUT", "/db/_design/a", json!({"shows": {"s": 1}}), 400, "`shows.s` field must have string or object type"),
        ("PUT", "/db/_design/a", json!({"rewrites": 1}), 400, "`rewrites` field must have array or string type"),
        ("PUT", "/db/_design/a", json!({"validate_doc_update": {}}), 400, "field must have string type"),
        ("PUT", "/db/_design/a", json!({"options": {"partitioned": true}}), 400, "cannot be true in a non-partitioned"),
        ("PUT", "/db/_design/a", json!({"language": 1}), 400, "`language` field must have string type"),
        ("PUT", "/_nosuch", Value::Null, 400, "Name: '_nosuch'."),
        ("PUT", "/_users2?partitioned=true", Value::Null, 400, "Name: '_users2'."),
        ("PUT", "/new?partitioned=maybe", Value::Null, 400, "Invalid `partitioned` parameter"),
        ("PUT", "/_replicator?partitioned=true", Value::Null, 400, "Cannot partition a system database"),
        ("PUT", "/new?q=0", Value::Null, 400, "The `q` value should be a positive integer."),
        ("PUT", "/new?placement=x", Value::Null, 400, "The `placement` value should be in a format `zone:n`."),
        ("PUT", "/new?placement=x:1", Value::Null, 400, "There are no zones here."),
        ("PUT", "/new?engine=x", Value::Null, 400, "invalid_engine_extension"),
        ("PUT", "/db/r", json!({"_revisions": {}}), 400, "_revisions.start isn't an integer."),
        ("PUT", "/db/r", json!({"_revisions": {"start": 1, "ids": 1}}), 400, "_revisions.ids isn't a array."),
        ("POST", "/parts/_purge", json!({"x": ["1-aa"]}), 400, "Doc id must be of form partition:id"),
        ("GET", "/db/_all_docs?partition=a", Value::Null, 400, "not supported on this db"),
        ("POST", "/db/_find?partition=a", json!({"selector": {}}), 400, "not supported on this db"),
        ("POST", "/db/_find", json!({"selector": {}, "partition": "a"}), 400, "specified on non-partitioned db"),
        ("GET", "/parts/_partition/a/_all_docs?partition=b", Value::Null, 400, "Conflicting value for `partition`"),
        ("POST", "/db/_find", json!({"selector": {"a..b": 1}}), 400, "Invalid field name: a..b"),
        ("POST", "/db/_find", json!({"selector": {"_id": {"": null}}}), 400, "Invalid field name: _id."),
        ("POST", "/db/_find", json!({"selector": {}, "fields": ["a."]}), 400, "Invalid field name: a."),
        ("POST", "/db/_find", json!({"selector": {}, "sort": {}}), 400, "Sort must be an array of sort specs, not: {}"),
        ("GET", "/db/_all_docs?key=\"a\"&keys=[\"a\",\"b\"]", Value::Null, 400, "`keys` is incompatible with `key`"),
        ("POST", "/db/_all_docs?startkey=\"a\"", json!({"keys": ["a", "b"]}), 400, "`keys` is incompatible with"),
        ("GET", "/db/_all_docs?keys=1", Value::Null, 400, "`keys` parameter must be an array."),
        ("GET", "/db/_all_docs?group=true", Value::Null, 400, "Invalid use of grouping on a map view."),
        ("GET", "/db/_all_docs?reduce=true", Value::Null, 400, "Reduce is invalid for map-only views."),
        ("GET", "/db/_all_docs?stale=x", Value::Null, 400, "Invalid value for `stale`."),
        ("GET", "/db/_changes?filter=x", Value::Null, 400, "`filter` must be of the form `designname/filtername`"),
        ("GET", "/db/_changes?filter=/f", Value::Null, 400, "`filter` must be of the form `designname/filtername`"),
        ("GET", "/db/_changes?filter=d/", Value::Null, 400, "`filter` must be of the form `designname/filtername`"),
        ("GET", "/db/_changes?filter=d/f/g", Value::Null, 400, "`filter` must be of the form `designname/filtername`"),
        ("GET", "/db/_changes?filter=_x", Value::Null, 400, "unknown builtin filter name"),
        ("GET", "/db/_changes?heartbeat=0", Value::Null, 400, "The heartbeat value should be a positive integer"),
        ("GET", "/db/_changes?seq_interval=0", Value::Null, 400, "invalid_seq_interval"),
        (
            "POST",
            "/db/_changes?filter=_selector",
            json!({"selector": 1}),
            400,
            "Selector error: expected a JSON object",
        ),
        ("POST", "/db/_changes?filter=_selector", json!({"selector": {"$x": 1}}), 400, "Invalid operator: $x"),
        ("PUT", "/db/n", json!({"_attachments": {"a": {}}}), 400, "Invalid attachment data for a"),
        ("PUT", "/db/n", json!({"_attachments": {"a": {"data": "%"}}}), 400, "Invalid attachment data for a"),
        (
            "PUT",
            "/db/n",
            json!({"_attachments": {"_a": {"data": ""}}}),
            400,
            "'_a' starts with prohibited character '_'",
        ),
        (
            "PUT",
            "/db/n",
            json!({"_attachments": {"a": {"data": "", "content_type": 5}}}),
            400,
            "Invalid attachment data for a",
        ),
        ("PUT", "/db/50%", json!({}), 400, "invalid_url_encoding"),
        ("GET", "/db/_all_docs?key=\"50%\"", Value::Null, 400, "invalid_url_encoding"),
        ("POST", "/db/n", json!({}), 400, "Referer header required."),
        ("GET", "/_uuids?count=1001", Value::Null, 400, "count parameter too large"),
        ("PUT", "/db/_purged_infos_limit", json!("x"), 400, "`purged_infos_limit` must be positive integer"),
        ("POST", "/db/_purged_infos_limit", json!(5), 405, "Only GET,PUT allowed"),
        ("PUT", "/db/stub", json!({"_attachments": {"a": {"stub": true, "revpos": 1}}}), 412, "stub"),
    ] {
        let (got, why) = refused(&served, method, path, &body);
        assert!(got == status && why.contains(reason), "{method} {path} {body}: {got} {why}");
    }
    // One that says another revision than the attachment is from means other bytes.
    let (_, made) = asked(&served, "PUT", "/db/a", &json!({"_attachments": {"f": {"data": "aGk="}}}));
    let mut doc = json!({"_rev": made["rev"], "_attachments": {"f": {"stub": true, "revpos": 10}}});
    assert_eq!(refused(&served, "PUT", "/db/a", &doc).0, 412);
    doc["_attachments"]["f"]["revpos"] = json!(1);
    assert_eq!(asked(&served, "PUT", "/db/a", &doc).0, 201);
}

#[test]
fn what_couchdb_takes_is_taken() {
    let served = fresh();
    let docs = json!({"docs": [{"_id": "a", "a": 1}, {"_id": "b", "a": 2}]});
    assert_eq!(asked(&served, "POST", "/db/_bulk_docs", &docs).0, 201);
    for (selector, found) in [
        (json!({"a": {"$mod": [0, 1]}}), 0),
        (json!({"a": 1, "$or": []}), 1),
        (json!({"$or": []}), 0),
        (json!({"_rev": {"$gt": null}}), 2),
        // Ids are above all that is no text, as they are in the list of documents.
        (json!({"_id": {"$gt": {}}}), 2),
        (json!({"_id": {"$lte": []}}), 0),
        (json!({"_id": {"$not": {"$lt": {}}}}), 2),
        (json!({"a": {"$lt": {}}}), 2),
    ] {
        let (status, answer) = asked(&served, "POST", "/db/_find", &json!({"selector": selector}));
        assert_eq!((status, answer["docs"].as_array().map(Vec::len)), (200, Some(found)), "{selector} {answer}");
    }
    let index = json!({"index": {"fields": ["_rev"]}, "name": "by-rev"});
    assert_eq!(asked(&served, "POST", "/db/_index", &index).1["result"], "created");
    assert_eq!(
        asked(&served, "POST", "/db/_find", &json!({"selector": {"_rev": {"$gt": "1"}}})).1["docs"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    // A replica's document whose `_rev` is not what `_revisions` say: the latter count.
    let doc = json!({"_id": "c", "_rev": "9-ff", "_revisions": {"start": 2, "ids": ["bb", "aa"]}});
    let odd = json!({"new_edits": false, "docs": [doc]});
    assert_eq!(asked(&served, "POST", "/db/_bulk_docs", &odd), (201, json!([])));
    assert_eq!(asked(&served, "GET", "/db/c", &Value::Null).1["_rev"], "2-bb");
    // A `;` separates parameters, and one key may stand beside a range.
    let rows = |path: &str| asked(&served, "GET", path, &Value::Null).1["rows"].as_array().map(Vec::len);
    assert_eq!(rows("/db/_all_docs?limit=2;skip=1"), Some(2));
    assert_eq!(rows("/db/_all_docs?startkey=\"a\"&keys=[\"b\"]"), Some(1));
    // A feed with seqs in some rows counts what its limit leaves.
    let seqs = |query: &str| -> Vec<bool> {
        let (_, feed) = asked(&served, "GET", &format!("/db/_changes?{query}"), &Value::Null);
        feed["results"].as_array().unwrap().iter().map(|row| row["seq"].is_string()).collect()
    };
    assert_eq!(seqs("seq_interval=3&limit=4"), [false, true, false, false]);
    assert_eq!(seqs("seq_interval=2&limit=4"), [true, false, true, false]);
    let security = json!({"readers": {"names": ["ada"]}});
    assert_eq!(asked(&served, "PUT", "/db/_security", &security).0, 200);
}

#[test]
fn a_partition_in_the_query_is_the_one_below_partition() {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/parts?partitioned=true", b"").0, 201);
    let docs = json!({"docs": [{"_id": "a:1", "n": 1}, {"_id": "a:2", "n": 2}, {"_id": "b:1", "n": 1}]});
    assert_eq!(asked(&served, "POST", "/parts/_bulk_docs", &docs).0, 201);
    let (_, all) = asked(&served, "GET", "/parts/_all_docs?partition=a", &Value::Null);
    assert_eq!(all["rows"].as_array().map(Vec::len), Some(2), "{all}");
    for (path, body) in [
        ("/parts/_find?partition=a", json!({"selector": {"n": {"$gt": 0}}})),
        ("/parts/_find", json!({"selector": {"n": {"$gt": 0}}, "partition": "a"})),
    ] {
        let (status, found) = asked(&served, "POST", path, &body);
        assert_eq!((status, found["docs"].as_array().map(Vec::len)), (200, Some(2)), "{path} {found}");
    }
}

#[test]
fn a_compaction_gives_the_disk_back_of_what_retention_does_not_keep() {
    let folder = tempfile::tempdir().unwrap();
    let engine = recension_engines::open(&folder.path().join("store").display().to_string()).unwrap();
    let served = Served::on(recension::Store::on(engine).unwrap());
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    assert_eq!(served.ask("PUT", "/db/_retention", b"\"head\"").0, 200);
    let text = "0123456789abcdef".repeat(64);
    let mut revs = vec![Value::Null; 500];
    for round in 0..8 {
        let doc = |number: usize| {
            let mut doc =
                json!({"_id": format!("d{number:03}"), "round": round, "text": format!("{text}{number}{round}")});
            if !revs[number].is_null() {
                doc["_rev"] = revs[number].clone();
            }
            doc
        };
        let docs: Vec<Value> = (0..revs.len()).map(doc).collect();
        let (status, written) = asked(&served, "POST", "/db/_bulk_docs", &json!({ "docs": docs }));
        assert_eq!(status, 201);
        revs = written.as_array().unwrap().iter().map(|row| row["rev"].clone()).collect();
    }
    let sizes = || asked(&served, "GET", "/db", &Value::Null).1["sizes"].clone();
    let before = sizes()["store"].as_u64().unwrap();
    assert!(before >= sizes()["active"].as_u64().unwrap(), "{}", sizes());
    // Two jobs at once; the second is served by one more run.
    for _ in 0..2 {
        assert_eq!(asked(&served, "POST", "/db/_compact", &json!({})).0, 202);
    }
    let runs = || asked(&served, "GET", "/db", &Value::Null).1["compact_running"] == json!(true);
    assert!((0..100_000).any(|_| !runs()), "it ends");
    let after = sizes()["store"].as_u64().unwrap();
    assert!(after < before / 3, "{before} {after}");
    let (_, doc) = asked(&served, "GET", "/db/d007", &Value::Null);
    assert_eq!((doc["round"].as_u64(), &doc["_rev"]), (Some(7), &revs[7]));
}

#[test]
fn local_documents_are_written_among_others_with_their_revisions() {
    let served = fresh();
    let write = |docs: Value| asked(&served, "POST", "/db/_bulk_docs", &json!({ "docs": docs }));
    let (_, first) = write(json!([{"_id": "_local/x", "n": 1}, {"_id": "a"}]));
    assert_eq!(first[0], json!({"ok": true, "id": "_local/x", "rev": "0-1"}));
    assert_eq!(write(json!([{"_id": "_local/x", "_rev": "0-1", "n": 2}])).1[0]["rev"], "0-2");
    assert_eq!(asked(&served, "GET", "/db/_local/x", &Value::Null).1["n"], 2);
    assert_eq!(write(json!([{"_id": "_local/x", "_rev": "0-2", "_deleted": true}])).1[0]["ok"], true);
    assert_eq!(asked(&served, "GET", "/db/_local/x", &Value::Null).0, 404);
    let posted = asked(&served, "POST", "/db", &json!({"_id": "_local/y", "n": 1}));
    assert_eq!(posted, (201, json!({"ok": true, "id": "_local/y", "rev": "0-1"})));
    assert_eq!(asked(&served, "GET", "/db/_local/y", &Value::Null).1["n"], 1);
    assert_eq!(
        write(json!([{"_id": "b", "_rev": "0-x"}])),
        (400, json!({"error": "bad_request", "reason": "Invalid rev format"}))
    );
}

#[test]
fn a_post_may_say_which_method_it_means() {
    let served = fresh();
    let ask = |method: &str, meant: &str, path: &str, body: &[u8]| {
        served.ask_with(&format!("X-HTTP-Method-Override: {meant}\r\n"), method, path, body).0
    };
    assert_eq!(ask("POST", "PUT", "/db/a", b"{\"n\":1}"), 201);
    let (_, made) = asked(&served, "GET", "/db/a", &Value::Null);
    // Others mean what they are, and words that are no method nothing.
    assert_eq!(ask("GET", "DELETE", "/db/a", b""), 200);
    assert_eq!(ask("POST", "PURGE", "/db", b"{}"), 201);
    assert_eq!(ask("POST", "DELETE", &format!("/db/a?rev={}", made["_rev"].as_str().unwrap()), b""), 200);
    assert_eq!(asked(&served, "GET", "/db/a", &Value::Null).0, 404);
}

#[test]
fn an_attachment_that_is_not_there_is_said_to_be_missing() {
    let served = fresh();
    let doc = json!({"_attachments": {"f": {"data": "aGk="}}});
    let rev = asked(&served, "PUT", "/db/a", &doc).1["rev"].as_str().unwrap().to_owned();
    for (path, status, error) in [
        ("/db/none/f".to_owned(), 404, "missing"),
        ("/db/a/none".to_owned(), 404, "Document is missing attachment"),
        (format!("/db/a/none?rev={rev}"), 404, "Document is missing attachment"),
        ("/db/a/f".to_owned(), 409, "Document update conflict."),
        ("/db/a/f?rev=4-00000000000000000000000000000000".to_owned(), 409, "missing_rev"),
    ] {
        assert_eq!(refused(&served, "DELETE", &path, &Value::Null), (status, error.to_owned()), "{path}");
    }
    assert_eq!(asked(&served, "DELETE", &format!("/db/a/f?rev={rev}"), &Value::Null).0, 200);
    assert_eq!(refused(&served, "PUT", &format!("/db/a/f?rev={rev}"), &Value::Null).1, "Document update conflict.");
}

#[test]
fn attachments_that_follow_are_what_was_announced() {
    let served = fresh();
    let put = |announced: &Value, bytes: &str| {
        let mut announced = announced.clone();
        announced["follows"] = json!(true);
        announced["content_type"] = json!("text/plain");
        let doc = json!({"_attachments": {"f": announced}});
        let body = format!("--b\r\nContent-Type: application/json\r\n\r\n{doc}\r\n--b\r\n\r\n{bytes}\r\n--b--");
        let head = "Content-Type: multipart/related; boundary=b\r\n";
        let (status, answer) = served.ask_with(head, "PUT", "/db/m", body.as_bytes());
        (status, served::json(&answer)["reason"].as_str().unwrap_or_default().to_owned())
    };
    // The MD5 of other bytes.
    let other = "md5-rL0Y20zC+Fzt72VPzMSk2A==";
    for (announced, reason) in [
        (json!({"length": 4}), "attachment shorter than expected"),
        (json!({"length": 2}), "attachment longer than expected"),
        (json!({"length": 3, "digest": other}), "Possible message corruption."),
    ] {
        assert_eq!(put(&announced, "bar"), (400, reason.to_owned()), "{announced}");
    }
    assert_eq!(asked(&served, "GET", "/db/m", &Value::Null).0, 404);
    assert_eq!(put(&json!({"length": 3, "digest": other}), "foo").0, 201);
    // Clients send the digest that they have read, which is that of the bytes as they are stored.
    let read = asked(&served, "GET", "/db/m", &Value::Null).1["_attachments"]["f"]["digest"].clone();
    assert_ne!(read, other);
    let rev = asked(&served, "GET", "/db/m", &Value::Null).1["_rev"].as_str().unwrap().to_owned();
    assert_eq!(asked(&served, "DELETE", &format!("/db/m?rev={rev}"), &Value::Null).0, 200);
    assert_eq!(put(&json!({"length": 3, "digest": read}), "foo").0, 201);
    assert_eq!(put(&json!({"digest": "sha1-AAAA"}), "foo").0, 409);
}

#[test]
fn only_documents_as_json_are_written_in_a_batch() {
    let served = fresh();
    for (method, path, head, status) in [
        ("PUT", "/db/a?batch=ok", "", 202),
        ("POST", "/db?batch=ok", "Content-Type: application/json\r\n", 202),
        ("PUT", "/db/b/f?batch=ok", "Content-Type: text/plain\r\n", 201),
        ("COPY", "/db/a?batch=ok", "Destination: c\r\n", 201),
    ] {
        let (got, answer) = served.ask_with(head, method, path, b"{}");
        assert_eq!((got, served::json(&answer)["rev"].is_string()), (status, status == 201), "{method} {path}");
    }
}
