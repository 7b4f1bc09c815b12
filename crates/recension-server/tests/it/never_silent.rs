//! Words that an endpoint does not understand: parameters, members and settings are refused by name where ignoring them
//! would give a wrong answer, or more rights than were meant.

use serde_json::json;

use crate::endpoints::Session;

#[test]
fn endpoints_of_our_own_refuse_a_parameter_that_they_do_not_know_and_couchdbs_ignore_it() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    for (method, path) in [
        ("POST", "/db/_aggregate?allowDiskUse=true"),
        ("GET", "/db/a/_history?include_doc=true"),
        ("PUT", "/db/_schema?chek=true"),
        ("POST", "/db/_erase?setle=true"),
        ("POST", "/db/_update_by_query?atomic=1"),
        ("GET", "/_diff?form=idea"),
        ("GET", "/_branches?parent=main"),
        ("POST", "/_merge?dry_run=true"),
        ("DELETE", "/_tags/v1?force=true"),
        ("GET", "/db/_topics?pattern=a"),
        ("PATCH", "/db/a?revision=1-a"),
    ] {
        let (status, answer) = session.ask(method, path, "{}");
        let name = path.split(['?', '=']).nth(1).unwrap();
        let named = format!("has no parameter \"{name}\"");
        assert!(status == 400 && answer["reason"].as_str().unwrap().contains(&named), "{method} {path}: {answer}");
    }
    // Words of other endpoints are not misspelt ones: clients send them everywhere.
    let written = session.ask("POST", "/db/_bulk_docs?partitioned=false&w=3", r#"{"docs":[{"_id":"b"}]}"#);
    assert_eq!(written.0, 201, "{}", written.1);
    for path in ["/db/_all_docs?_nonce=1", "/db/a?_nonce=1", "/db/_changes?_nonce=1", "/db/a/_history?limit=1"] {
        assert_eq!(session.ask("GET", path, "").0, 200, "{path}");
    }
}

#[test]
fn topics_are_sent_in_a_way_that_there_is() {
    let session = Session::start();
    for feed in ["evntsource", "continuous", "longpoll"] {
        let (status, answer) = session.ask("GET", &format!("/db/_topics?feed={feed}"), "");
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(status == 400 && reason.contains("normal, eventsource"), "{feed}: {answer}");
    }
    assert_eq!(session.ask("GET", "/db/_topics?feed=normal", "").0, 200);
}

#[test]
fn what_does_not_read_the_past_refuses_its_parameter() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    for (method, path) in [
        ("GET", "/db/_changes?at=1"),
        ("POST", "/db/_all_docs/queries?at=1"),
        ("PUT", "/db/a?at=1"),
        ("DELETE", "/db/a?at=1"),
        ("GET", "/db/_local/x?at=1"),
        ("POST", "/db/_bulk_get?at=1"),
        ("GET", "/_all_dbs?at=1"),
    ] {
        let (status, answer) = session.ask(method, path, r#"{"queries":[],"docs":[]}"#);
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(status == 400 && reason.contains("does not read the past"), "{method} {path}: {answer}");
    }
    let then = session.get("/db")["update_seq"].as_str().unwrap().to_owned();
    session.ask("PUT", "/db/b", "{}");
    assert_eq!(session.get(&format!("/db?at={then}"))["doc_count"], 1);
    assert_eq!(session.get("/db")["doc_count"], 2);
}

#[test]
fn a_member_that_would_be_ignored_is_refused_where_it_would_open_or_copy_too_much() {
    let session = Session::start();
    for (path, body, named) in [
        ("/db/_security", r#"{"member":{"names":["ann"]}}"#, "perhaps `members` is meant"),
        ("/db/_security", r#"{"members":{"name":["ann"]}}"#, "no `name`"),
        ("/db/_security", r#"{"Admins":{"names":["ann"]}}"#, "perhaps `admins` is meant"),
        ("/_replicate", r#"{"source":"db","target":"copy","doc_id":["a"]}"#, "perhaps `doc_ids` is meant"),
        ("/_replicate", r#"{"source":"db","target":"copy","verbose":true}"#, "no member `verbose`"),
        ("/_replicate", r#"{"source":"db","target":"copy","winning_revs_only":true}"#, "do not have it"),
        (
            "/_replicate",
            r#"{"source":"db","target":"copy","create_target_params":{"partitioned":true}}"#,
            "do not have it",
        ),
    ] {
        let method = if path == "/_replicate" { "POST" } else { "PUT" };
        let (status, answer) = session.ask(method, path, body);
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(status == 400 && reason.contains(named), "{path} {body}: {answer}");
    }
    // A program's own members stay.
    let own = r#"{"members":{"names":["ann"],"roles":[]},"admins":{},"couchdb_auth_only":true,"cloudant":{}}"#;
    assert_eq!(session.ask("PUT", "/db/_security", own).0, 200);
    let tuned =
        r#"{"source":"db","target":"copy","create_target":true,"worker_processes":2,"winning_revs_only":false}"#;
    assert_eq!(session.ask("POST", "/_replicate", tuned).0, 200);
    // In a document people note other things, too; one that is nearly an option ends the replication.
    session.ask("PUT", "/_replicator/x", r#"{"source":"db","target":"copy","selectr":{"n":1},"comment":"mine"}"#);
    let mut document = session.get("/_replicator/x");
    while document["_replication_state"].is_null() {
        document = session.get("/_replicator/x");
    }
    assert_eq!(document["_replication_state"], "failed");
    assert!(document["_replication_state_reason"].to_string().contains("selectr"), "{document}");
}

/// Of two that have one name, the other one would be lost: a name without a right, or a right without a name.
#[test]
fn a_member_that_comes_twice_is_refused_by_name_and_is_in_a_document_once() {
    let session = Session::start();
    for (method, path, body, name) in [
        ("PUT", "/db/_security", r#"{"members":{"names":["ann"]},"members":{"names":[]}}"#, "members"),
        ("PUT", "/db/_security", r#"{"admins":{"names":["ann"],"\u006eames":[]}}"#, "names"),
        ("POST", "/_session", r#"{"name":"x","name":"ada","password":"y"}"#, "name"),
        ("POST", "/db/_purge", r#"{"a":["1-a"],"b":[],"a":["1-b"]}"#, "a"),
        ("POST", "/_replicate", r#"{"source":"db","target":"a","target":"b"}"#, "target"),
        ("POST", "/_replicate", r#"{"source":{"url":"http://a/b","url":"http://b/b"},"target":"a"}"#, "url"),
        ("POST", "/_replicate", r#"{"source":"db","target":"a","_local_id":"x","id":"y"}"#, "replication_id"),
        ("POST", "/db/_bulk_get", r#"{"docs":[{"id":"a"}],"docs":[]}"#, "docs"),
        ("POST", "/db/_bulk_get", r#"{"docs":[{"id":"a","id":"b"}]}"#, "id"),
        ("POST", "/db/_bulk_docs", r#"{"docs":[{"_id":"twice"}],"docs":[{"_id":"twice"}]}"#, "docs"),
        ("POST", "/db/_bulk_docs", r#"{"new_edits":false,"docs":[{"_id":"twice"}],"new_edits":true}"#, "new_edits"),
        ("POST", "/db/_all_docs", r#"{"keys":["a"],"keys":["b"]}"#, "keys"),
        ("POST", "/db/_all_docs/queries", r#"{"queries":[{"limit":1}],"queries":[]}"#, "queries"),
        ("POST", "/db/_all_docs/queries", r#"{"queries":[{"limit":1,"limit":2}]}"#, "limit"),
        ("POST", "/db/_design_docs", r#"{"keys":["a"],"keys":["b"]}"#, "keys"),
        ("POST", "/db/_local_docs", r#"{"keys":["a"],"keys":["b"]}"#, "keys"),
        ("POST", "/db/_local_docs/queries", r#"{"queries":[{"skip":1,"skip":2}]}"#, "skip"),
        ("POST", "/db/_index/_bulk_delete", r#"{"docids":["a"],"docids":[]}"#, "docids"),
        ("POST", "/_dbs_info", r#"{"keys":["db"],"keys":["x"]}"#, "keys"),
        ("PUT", "/db/_schema", r#"{"properties":{"a":{"type":"string"},"a":{"type":"number"}}}"#, "`a`"),
    ] {
        let (status, answer) = session.ask(method, path, body);
        let twice = answer["reason"].as_str().unwrap_or_default().contains(&format!("{name} is there twice"));
        assert!(status == 400 && twice, "{path} {body}: {answer}");
    }
    assert!(session.get("/db/_security")["members"]["names"].is_null());
    assert_eq!(session.get("/db/twice")["error"], "not_found");
    // CouchDB takes members of a log-in that it does not know; documents have one rule: the last one counts.
    let known = session.ask("POST", "/_session", r#"{"name":"x","password":"y","otp":"1"}"#);
    assert_eq!(known.0, 401, "{}", known.1);
    let design = r#"{"language":"x","language":"javascript","views":{"a":{"map":"1"}},
                     "views":{"v":{"map":"1","map":"function(doc){}"}}}"#;
    session.ask("PUT", "/db/_design/one", design);
    let two = design.replacen('{', r#"{"_id":"_design/two","#, 1);
    session.ask("POST", "/db/_bulk_docs", &format!(r#"{{"docs":[{two}]}}"#));
    for name in ["one", "two"] {
        let (_, text) = session.0.ask("GET", &format!("/db/_design/{name}"), b"");
        assert!(text.contains(r#""language":"javascript","views":{"v":{"map":"function(doc){}"}}"#), "{text}");
    }
}

#[test]
fn a_difference_is_not_cut_to_less_than_was_asked_for() {
    let session = Session::start();
    let (status, answer) = session.ask("GET", "/_diff?limit=1001", "");
    assert!(status == 400 && answer["reason"].to_string().contains("`limit` is 1000 at most"), "{answer}");
    session.ask("POST", "/_branches", r#"{"name":"idea"}"#);
    assert_eq!(session.ask("GET", "/_diff?limit=1000&from=idea", "").0, 200);
}

#[test]
fn json_of_another_kind_is_not_called_invalid_json() {
    let session = Session::start();
    for (path, kind) in [("/db/_retention", "a JSON string"), ("/db/_expiry", "the path of a member, or null")] {
        for body in ["5", "{}", "[\"head\"]"] {
            let (status, answer) = session.ask("PUT", path, body);
            let reason = answer["reason"].as_str().unwrap_or_default();
            assert!(status == 400 && reason.contains(kind), "{path} {body}: {answer}");
        }
        assert_eq!(session.ask("PUT", path, "{").1["reason"], "invalid UTF-8 JSON");
    }
}

/// An array of the members' values is no object, though it reads as one.
#[test]
fn an_array_is_not_taken_for_an_object() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    session.ask("PUT", "/db/_consumers/c", "{}");
    for (method, path, body) in [
        ("POST", "/_branches", r#"["idea",null,null]"#),
        ("POST", "/_tags", r#"["v1",null,null]"#),
        ("POST", "/_merge", "[]"),
        ("POST", "/_tokens", r#"["all",[],"admin",null]"#),
        ("POST", "/_backup", "[[]]"),
        ("POST", "/db/_erase", r#"[["a"]]"#),
        ("PUT", "/db/_consumers/d", "[]"),
        ("POST", "/db/_consumers/c/fetch", "[5]"),
    ] {
        let (status, answer) = session.ask(method, path, body);
        let reason = answer["reason"].as_str().unwrap_or_default().to_lowercase();
        assert!(status == 400 && reason.contains("object"), "{method} {path}: {answer}");
    }
    assert_eq!(session.get("/db/a")["_id"], "a");
    assert_eq!(session.get("/_tokens")["tokens"], json!([]));
}

#[test]
fn whoever_puts_a_setting_without_effect_is_told_so() {
    let session = Session::start();
    for (path, warned) in
        [("chttpd/port", true), ("couchdb/single_node", true), ("my_program/x", true), ("log/level", false)]
    {
        let body = if path == "log/level" { "\"info\"" } else { "\"1\"" };
        let head = session.0.raw(
            format!(
                "PUT /_node/_local/_config/{path} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nConnection: \
                 close\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        assert_eq!(head.contains("warning: 299") && head.contains("no effect"), warned, "{path}: {head}");
    }
}

#[test]
fn a_word_that_is_nearly_right_is_refused_where_it_would_change_the_answer() {
    let session = Session::start();
    session.ask("PUT", "/db/a", r#"{"n":1}"#);
    for (method, path, body, named) in [
        ("GET", "/db/_all_docs?include_doc=true", "", "include_docs"),
        ("GET", "/db/_changes?sinse=5", "", "since"),
        ("GET", "/db/a?revz=true", "", "rev"),
        ("GET", "/_all_dbs?descendin=true", "", "descending"),
        ("POST", "/db/_all_docs", r#"{"keyz":["a"]}"#, "key"),
        ("POST", "/db/_all_docs/queries", r#"{"queries":[{"start_keys":"a"}]}"#, "start_key"),
        ("POST", "/db/_bulk_docs", r#"{"docs":[{"_id":"b"}],"new_edit":false}"#, "new_edits"),
        ("POST", "/db/_bulk_docs", r#"{"docs":[{"_id":"b"}],"atomic":true}"#, "atomic=true"),
        ("POST", "/db/_bulk_get", r#"{"docs":[{"id":"a","_rev":"1-a"}]}"#, "rev"),
        ("POST", "/db/_changes", r#"{"doc_id":["a"]}"#, "doc_ids"),
        ("POST", "/db/_changes", r#"{"selector":{"n":1}}"#, "filter=_selector"),
        ("GET", "/db/a?conflicts=yes", "", "Invalid boolean parameter"),
        ("GET", "/db/_changes?include_docs=1", "", "Invalid boolean parameter"),
        ("PUT", "/db/c?new_edits=no", "{}", "Invalid boolean parameter"),
        ("POST", "/db/_erase?settle=yes", r#"{"ids":["none"]}"#, "Invalid boolean parameter"),
        ("POST", "/db/_find", r#"{"selector":{"n":{"$type":"nubmer"}}}"#, "$type"),
        ("POST", "/db/_find", r#"{"selector":{"n":{"$lt":1e400}}}"#, "1e400"),
        ("POST", "/db/_find", r#"{"selector":{"n":{"$in":[1,[-1e999]]}}}"#, "-1e999"),
        ("PUT", "/db/_schema", r#"{"requird":["n"]}"#, "required"),
        ("PUT", "/db/_access", r#"{"read":{"owner":"$user.nam"}}"#, "$user.nam"),
        ("GET", "/db/a?at=2999-01-01", "", "still to come"),
        ("POST", "/_branches", r#"{"name":"x","at":"2999-01-01T00:00:00Z"}"#, "still to come"),
    ] {
        let (status, answer) = session.ask(method, path, body);
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(status == 400 && reason.contains(named), "{method} {path} {body}: {answer}");
    }
    // What clients send besides, and what functions are given, is not ours to judge.
    session.ask("PUT", "/db/_design/d", r#"{"filters":{"f":"function () { return true; }"}}"#);
    assert_eq!(session.ask("GET", "/db/_changes?filter=d/f&sinze=1", "").0, 501, "no functions in this program");
    for path in ["/db/_all_docs?start_key=%22a%22&_=123", "/db/a?t=123&cache=no", "/db/_changes?feed=normal&stale=ok"] {
        let (status, answer) = session.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {answer}");
    }
}

#[test]
fn the_servers_own_notes_are_in_no_difference() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    let found = session.get("/_diff?from_at=1");
    let names: Vec<&str> =
        found["differences"].as_array().unwrap().iter().map(|one| one["db"].as_str().unwrap()).collect();
    assert_eq!(names, ["db"], "{found}");
    assert_eq!(found["more"], false);
    let none = session.get("/_diff?from_at=1&limit=0");
    assert_eq!((&none["differences"], &none["more"]), (&json!([]), &json!(true)));
}

#[test]
fn functions_of_another_language_are_refused_by_the_name_of_the_language() {
    let session = Session::start();
    let design = json!({"language": "erlang", "views": {"v": {"map": "x"}}, "shows": {"s": "x"}, "lists": {"l": "x"},
        "updates": {"u": "x"}, "filters": {"f": "x"}});
    assert_eq!(session.ask("PUT", "/db/_design/e", &design.to_string()).0, 201);
    for (method, path) in [
        ("GET", "/db/_design/e/_view/v"),
        ("GET", "/db/_design/e/_show/s"),
        ("GET", "/db/_design/e/_list/l/v"),
        ("POST", "/db/_design/e/_update/u"),
        ("GET", "/db/_changes?filter=e/f"),
        ("GET", "/db/_changes?filter=_view&view=e/v"),
    ] {
        let (status, answer) = session.ask(method, path, "");
        assert_eq!((status, &answer["error"]), (500, &json!("unknown_query_language")), "{path}: {answer}");
        assert!(answer["reason"].as_str().unwrap().contains("erlang"), "{answer}");
    }
}

#[test]
fn what_stands_twice_or_in_another_place_is_refused_by_name() {
    let session = Session::start();
    session.ask("PUT", "/db/a", r#"{"n":1}"#);
    for (method, path, body, named) in [
        ("GET", "/db/_all_docs?limit=1&limit=2", "", "\"limit\" is given twice"),
        ("GET", "/db/_all_docs?startkey=%22a%22&start_key=%22b%22", "", "\"start_key\" is given twice"),
        ("GET", "/db/a?rev=1-a&rev=2-b", "", "\"rev\" is given twice"),
        ("DELETE", "/db/a?rev=1-a&rev=2-b", "", "\"rev\" is given twice"),
        ("PUT", "/db/b?new_edits=false&new_edits=true", "{}", "\"new_edits\" is given twice"),
        ("GET", "/db/_changes?since=0&since=3", "", "\"since\" is given twice"),
        ("GET", "/_diff?from=main&from=idea", "", "\"from\" is given twice"),
        ("POST", "/db/_find?limit=1", r#"{"selector":{}}"#, "has no parameter \"limit\": it is a member of the body"),
        ("POST", "/db/_bulk_docs?new_edits=false", r#"{"docs":[]}"#, "has no parameter \"new_edits\""),
        ("POST", "/_replicate?continuous=true", r#"{"source":"db","target":"x"}"#, "has no parameter \"continuous\""),
        ("POST", "/db/_bulk_get", r#"{"docs":[{"id":"a"}],"revs":true}"#, "\"revs\" is no member of the body"),
        ("POST", "/db/_bulk_get", r#"{"docs":[{"id":"a","rv":"1-a"}]}"#, "perhaps \"rev\""),
        ("POST", "/db/_bulk_get", r#"{"docs":[{"ID":"a"}]}"#, "perhaps \"id\""),
        ("GET", "/db/_changes?doc_ids=%5B%22a%22%5D", "", "filter=_doc_ids"),
        ("GET", "/db/_changes?view=d/v", "", "filter=_view"),
        ("GET", "/db/a?atts_since=x", "", "invalid UTF-8 JSON"),
        ("PUT", "/db/_consumers/c", r#"{"since":"99999"}"#, "commit 99999 has not been made"),
        ("POST", "/_replicate", r#"{"source":{"url":"db","heders":{}},"target":"x"}"#, "no member `heders`"),
        ("POST", "/_replicate", r#"{"source":{"url":"db","auth":{"iam":{}}},"target":"x"}"#, "no member `iam`"),
    ] {
        let (status, answer) = session.ask(method, path, body);
        let reason = answer["reason"].as_str().unwrap_or_default();
        assert!(status == 400 && reason.contains(named), "{method} {path} {body}: {answer}");
    }
    // The same value twice is no question, and marks against caches may stand twice.
    for path in ["/db/_all_docs?limit=1&limit=1", "/db/a?_=1&_=2", "/db/_all_docs?start_key=%22a%22&end_key=%22b%22"] {
        assert_eq!(session.ask("GET", path, "").0, 200, "{path}");
    }
    let head = session.0.raw(
        b"COPY /db/a HTTP/1.1\r\nHost: x\r\nDestination: b?rv=1-a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    assert!(head.starts_with("HTTP/1.1 400") && head.contains("no \\\"rv\\\""), "{head}");
}

#[test]
fn a_path_that_goes_on_behind_an_endpoint_is_not_that_endpoint() {
    let session = Session::start();
    session.ask("PUT", "/db/a", r#"{"n":1}"#);
    for (method, path, body) in [
        ("GET", "/db/_changes/x", ""),
        ("GET", "/_all_dbs/x", ""),
        ("POST", "/db/_find/x", r#"{"selector":{}}"#),
        ("POST", "/db/_update_by_query/x", r#"{"selector":{},"merge":{"n":2}}"#),
        ("POST", "/db/_erase/x", r#"{"ids":["a"]}"#),
        ("PUT", "/db/_retention/x", r#""head""#),
        ("POST", "/_replicate/x", r#"{"source":"db","target":"copy","create_target":true}"#),
        ("GET", "/_session/x", ""),
        ("POST", "/db/_bulk_docs/x", r#"{"docs":[{"_id":"b"}]}"#),
    ] {
        let (status, answer) = session.ask(method, path, body);
        assert!(status == 404 && answer["reason"].as_str().unwrap_or_default().contains("\"x\""), "{path}: {answer}");
    }
    assert_eq!(session.get("/db/a")["n"], 1);
    assert_eq!(session.get("/db/_retention"), "everything");
    for path in ["/db/_changes/", "/_all_dbs/", "/db/a/"] {
        assert_ne!(session.ask("GET", path, "").0, 500, "{path}");
    }
}

#[test]
fn a_position_that_has_not_been_is_that_of_a_store_that_went_back() {
    let session = Session::start();
    session.ask("PUT", "/db/a", "{}");
    let raw = session.0.raw(b"GET /db/_leaves?since=99999 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(raw.contains("\"_id\":\"a\""), "{raw}");
    let updates = session.get("/_db_updates?since=99999");
    assert!(updates["results"].to_string().contains("\"db\""), "{updates}");
}
