//! What CouchDB's own integration tests and its sources found: conditional reads of what changes beside a revision,
//! slashes, HEAD where there is GET, ranges, the words of `_bulk_get`, and two revisions that disagree.

use serde_json::{Value, json};

use crate::served::{self, Served};
use crate::to_the_letter::{asked, fresh};

/// The head of an answer, with its status line.
fn head(served: &Served, method: &str, path: &str, header: &str) -> String {
    let request = format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n");
    let answer = served.raw(request.as_bytes());
    answer.split("\r\n\r\n").next().unwrap_or_default().to_ascii_lowercase()
}

fn status(head: &str) -> &str {
    head.split(' ').nth(1).unwrap_or_default()
}

#[test]
fn what_changes_while_the_revision_stays_has_no_tag() {
    let served = fresh();
    let revision = |hash: char| json!({"_id": "a", "_rev": format!("1-{}", hash.to_string().repeat(32))});
    let write = |hash| {
        let body = json!({"docs": [revision(hash)], "new_edits": false});
        assert_eq!(asked(&served, "POST", "/db/_bulk_docs", &body).0, 201);
    };
    write('b');
    let known = format!("If-None-Match: \"1-{}\"\r\n", "b".repeat(32));
    // As long as there is no conflict, an answer without conflicts is still right.
    for query in ["", "?revs=true", "?conflicts=true", "?deleted_conflicts=true", "?attachments=true&conflicts=true"] {
        assert_eq!(status(&head(&served, "GET", &format!("/db/a{query}"), &known)), "304", "{query}");
    }
    write('a');
    for query in ["?conflicts=true", "?meta=true", "?revs_info=true", "?local_seq=true", "?attachments=true&meta=true"]
    {
        let head = head(&served, "GET", &format!("/db/a{query}"), &known);
        assert!(status(&head) == "200" && !head.contains("etag:"), "{query}: {head}");
    }
    assert_eq!(status(&head(&served, "GET", "/db/a?deleted_conflicts=true", &known)), "304");
}

#[test]
fn several_slashes_are_one() {
    let served = fresh();
    assert_eq!(asked(&served, "PUT", "/db//a", &json!({})).0, 201);
    for path in ["/db/a", "//db/a", "/db//a", "/db///a/"] {
        assert_eq!(asked(&served, "GET", path, &Value::Null).1["_id"], "a", "{path}");
    }
    assert_eq!(asked(&served, "GET", "//db//_all_docs", &Value::Null).1["total_rows"], 1);
    assert_eq!(asked(&served, "GET", "//_all_dbs", &Value::Null).0, 200);
}

#[test]
fn there_is_a_head_wherever_there_is_a_get() {
    let served = fresh();
    for path in [
        "/_uuids",
        "/_membership",
        "/_dbs_info",
        "/_active_tasks",
        "/_cluster_setup",
        "/_node/_local",
        "/_node/_local/_config",
        "/_node/_local/_config/log",
        "/_node/_local/_config/log/level",
        "/db/_security",
        "/db/_revs_limit",
        "/db/_purged_infos",
        "/db/_purged_infos_limit",
        "/db/_index",
    ] {
        assert_eq!(status(&head(&served, "HEAD", path, "")), "200", "{path}");
    }
    assert_eq!(asked(&served, "GET", "/_node/_local", &Value::Null).1, json!({"name": "nonode@nohost"}));
    assert_eq!(asked(&served, "GET", "/_node/other", &Value::Null).1["reason"], "no such node: other");
    assert_eq!(status(&head(&served, "HEAD", "/db/_revs_diff", "")), "405");
}

#[test]
fn a_client_may_number_its_requests_itself() {
    let served = fresh();
    let id = |header: &str| {
        let head = head(&served, "GET", "/", header);
        head.split("x-couch-request-id: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned()
    };
    assert_eq!(id("X-Couch-Request-ID: ab-12_z\r\n"), "ab-12_z");
    for wrong in ["a b", "", &"a".repeat(37)] {
        assert_eq!(id(&format!("X-Couch-Request-ID: {wrong}\r\n")).len(), 10, "{wrong}");
    }
}

#[test]
fn a_range_of_all_is_all_and_one_that_is_turned_round_is_nowhere() {
    let served = fresh();
    // Stored as it is, without compression.
    let put = "PUT /db/a/f HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 10\r\n\
               Connection: close\r\n\r\n0123456789";
    assert!(served.raw(put.as_bytes()).contains(" 201 "));
    for (range, expected) in
        [("0-", "200"), ("0-9", "206"), ("2-", "206"), ("5-3", "416"), ("10-", "416"), ("0-1,4-5", "206")]
    {
        assert_eq!(status(&head(&served, "GET", "/db/a/f", &format!("Range: bytes={range}\r\n"))), expected, "{range}");
    }
    // Of one that is stored compressed there are no parts, and nothing beyond its end.
    let put = "PUT /db/b/t HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\
               Connection: close\r\n\r\n0123456789";
    assert!(served.raw(put.as_bytes()).contains(" 201 "));
    for (range, expected) in [("2-", "200"), ("0-1,4-5", "200"), ("5-3", "416"), ("10-", "416"), ("-0", "416")] {
        for method in ["GET", "HEAD"] {
            let told = head(&served, method, "/db/b/t", &format!("Range: bytes={range}\r\n"));
            assert_eq!(status(&told), expected, "{method} {range}");
        }
    }
}

#[test]
fn several_ranges_are_parts_of_one_answer() {
    let served = fresh();
    let put = "PUT /db/a/f HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: 10\r\n\
               Connection: close\r\n\r\n0123456789";
    assert!(served.raw(put.as_bytes()).contains(" 201 "));
    let told = |method: &str, ranges: &str| {
        let request =
            format!("{method} /db/a/f HTTP/1.1\r\nHost: x\r\nRange: bytes={ranges}\r\nConnection: close\r\n\r\n");
        served.raw(request.as_bytes())
    };
    let parts = told("GET", "0-1, -3,4-99");
    assert!(parts.starts_with("HTTP/1.1 206 ") && parts.contains("content-security-policy: sandbox\r\n"), "{parts}");
    let boundary = parts.split("multipart/byteranges; boundary=\"").nth(1).unwrap().split('"').next().unwrap();
    let expected = [("0-1", "01"), ("7-9", "789"), ("4-9", "456789")].map(|(range, bytes)| {
        format!("\r\n--{boundary}\r\nContent-Type: image/png\r\nContent-Range: bytes {range}/10\r\n\r\n{bytes}")
    });
    let (_, body) = parts.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, format!("{}\r\n--{boundary}--\r\n", expected.concat()));
    for (method, ranges, status) in [("GET", "0-1,5-3", "416"), ("GET", "0-1,0-", "200"), ("HEAD", "0-1,4-5", "206")] {
        assert!(told(method, ranges).starts_with(&format!("HTTP/1.1 {status} ")), "{method} {ranges}");
    }
}

#[test]
fn local_documents_are_copied_and_copied_to() {
    let served = fresh();
    let copy = |from: &str, to: &str| {
        served.ask_with(&format!("Destination: {to}\r\n"), "COPY", &format!("/db/{from}"), b"").0
    };
    assert_eq!(asked(&served, "PUT", "/db/_local/l", &json!({"v": 1})).0, 201);
    for (from, to, status) in [
        ("_local/l", "_local/m", 201),
        ("_local/l", "plain", 201),
        ("_local/l", "plain", 409),
        ("_local/none", "x", 404),
        ("plain", "_local/p", 201),
        ("_local/m", "_local/m?rev=0-1", 201),
        ("_local/m", "_local/m?rev=x", 400),
        ("_local/l", "_x", 400),
        ("_local/l", "http://x/y", 400),
    ] {
        assert_eq!(copy(from, to), status, "{from} to {to}");
    }
    for (path, rev) in [("_local/m", "0-2"), ("plain", "1-7a7e4b29f3af401e69b6f86e4c26b727"), ("_local/p", "0-1")] {
        let (_, document) = asked(&served, "GET", &format!("/db/{path}"), &Value::Null);
        assert_eq!(document, json!({"_id": path, "_rev": rev, "v": 1}));
    }
}

#[test]
fn an_index_is_deleted_by_either_form_of_its_design_document() {
    let served = fresh();
    for path in ["_design/d/json/n", "_design%2Fd/json/n", "d/json/n"] {
        let made = json!({"index": {"fields": ["n"]}, "ddoc": "d", "name": "n"});
        assert_eq!(asked(&served, "POST", "/db/_index", &made).1["result"], "created");
        assert_eq!(asked(&served, "DELETE", &format!("/db/_index/{path}"), &Value::Null).0, 200, "{path}");
    }
    assert_eq!(asked(&served, "DELETE", "/db/_index/_design/d/json/n", &Value::Null).0, 404);
    assert_eq!(asked(&served, "GET", "/db/_index/x", &Value::Null).0, 404);
}

#[test]
fn words_are_those_of_couchdb_beside_us() {
    let served = fresh();
    let (_, root) = asked(&served, "GET", "/", &Value::Null);
    assert_eq!(root["features"], json!(["partitioned", "scheduler"]));
    let (_, told) = asked(&served, "POST", "/db/_explain", &json!({"selector": {"n": 1}}));
    assert_eq!((&told["fields"], &told["opts"]["fields"]), (&json!([]), &json!([])));
    for (method, path, body, reason) in [
        ("PUT", "/db/x?new_edits=false", json!({"a": 1}), "When `new_edits: false`, the document needs `_rev` or"),
        ("GET", "/db/_design/x/_update/u", Value::Null, "Update functions do not allow GET"),
    ] {
        let (_, refused) = asked(&served, method, path, &body);
        assert!(refused["reason"].as_str().unwrap_or_default().starts_with(reason), "{path}: {refused}");
    }
    // A body is said to be JSON; what has no body needs no type.
    let post = |path: &str, more: &str, body: &str| {
        let request = format!("POST {path} HTTP/1.1\r\nHost: x\r\n{more}Connection: close\r\n\r\n{body}");
        served.raw(request.as_bytes()).get(9..12).map(str::to_owned).unwrap_or_default()
    };
    for (more, body, status) in [
        ("Content-Length: 2\r\n", "{}", "415"),
        ("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n", "415"),
        ("Content-Type: application/json; charset=utf-8\r\nContent-Length: 2\r\n", "{}", "202"),
        ("Content-Length: 0\r\n", "", "202"),
        ("", "", "202"),
    ] {
        assert_eq!(post("/db/_compact", more, body), status, "{more}");
    }
}

#[test]
fn what_is_wrong_in_a_bulk_get_stands_in_its_place() {
    let served = fresh();
    let docs = json!([1, {}, {"rev": "1-a"}, {"id": ""}, {"id": "_x"}, {"id": "a", "rev": "x"},
        {"id": "a", "atts_since": "1-a"}, {"id": "a", "atts_since": ["1-a", "x"]}]);
    let (status, answer) = asked(&served, "POST", "/db/_bulk_get", &json!({"docs": docs}));
    assert_eq!(status, 200, "{answer}");
    let told: Vec<Value> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let error = &row["docs"][0]["error"];
            json!([row["id"], error["rev"], error["error"], error["reason"]])
        })
        .collect();
    let reserved = "Only reserved document ids may start with underscore.";
    let expected = json!([
        [null, null, "bad_request", "document must be a JSON object"],
        [null, null, "bad_request", "document must be a JSON object"],
        [null, null, "bad_request", "document id missed"],
        ["", null, "illegal_docid", "Document id must not be empty"],
        ["_x", null, "illegal_docid", reserved],
        ["a", "x", "bad_request", "Invalid rev format"],
        ["a", "1-a", "bad_request", "att_since value must be array of revs."],
        ["a", "x", "bad_request", "Invalid rev format"],
    ]);
    assert_eq!(json!(told), expected);
    for name in ["rev", "open_revs", "new_edits", "w", "atts_since"] {
        let (status, answer) = asked(&served, "POST", &format!("/db/_bulk_get?{name}=1"), &json!({"docs": []}));
        let reason = format!("\"{name}\" query parameter is not acceptable");
        assert_eq!((status, answer["reason"].as_str()), (400, Some(reason.as_str())));
    }
    assert_eq!(served.ask("PUT", "/parts?partitioned=true", b"").0, 201);
    let (_, answer) = asked(&served, "POST", "/parts/_bulk_get", &json!({"docs": [{"id": "a"}]}));
    let error = json!({"id": "a", "rev": null, "error": "illegal_docid",
        "reason": "Doc id must be of form partition:id"});
    assert_eq!(answer["results"][0]["docs"][0]["error"], error);
}

#[test]
fn revisions_that_disagree_are_named_by_where_they_stand() {
    let served = fresh();
    let (_, first) = asked(&served, "PUT", "/db/a", &json!({}));
    let rev = first["rev"].as_str().unwrap();
    let other = format!("1-{}", "0".repeat(32));
    let reason = |answer: &str| served::json(answer)["reason"].as_str().unwrap_or_default().to_owned();
    let body = json!({"_rev": rev}).to_string();
    let (status, answer) = served.ask("PUT", &format!("/db/a?rev={other}"), body.as_bytes());
    assert_eq!(status, 400);
    assert_eq!(reason(&answer), "Document rev from request body and query string have different values");
    let header = format!("If-Match: \"{other}\"\r\n");
    let (status, answer) = served.ask_with(&header, "PUT", "/db/a", body.as_bytes());
    assert_eq!((status, reason(&answer).as_str()), (400, "Document rev and etag have different values"));
}

#[test]
fn small_words_are_couchdbs() {
    let served = fresh();
    let refused = |method: &str, path: &str, body: &Value| {
        let (status, answer) = asked(&served, method, path, body);
        (status, answer["reason"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(refused("POST", "/db", &json!({"_id": "_design/"})), (400, "Illegal document id `_design/`".to_owned()));
    asked(&served, "PUT", "/db/gone", &json!({}));
    asked(&served, "DELETE", "/db/gone?rev=1-967a00dff5e02add41819138abb3284d", &Value::Null);
    let (status, answer) = served.ask_with("Destination: b\r\n", "COPY", "/db/gone", b"");
    assert_eq!((status, &served::json(&answer)["reason"]), (404, &json!("deleted")));
    let view = json!({"views": {"v": {"map": "function (doc) { emit(1); }"}}, "lists": {"l": "function () {}"}});
    assert_eq!(asked(&served, "PUT", "/db/_design/d", &view).0, 201);
    for path in ["/db/_design/d/_view", "/db/_design/d/_view/v/x"] {
        assert_eq!(refused("GET", path, &Value::Null).0, 405, "{path}");
    }
    let list = "POST /db/_design/d/_list/l/v HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\
                Connection: close\r\n\r\n{}";
    assert!(served.raw(list.as_bytes()).contains(" 415 "));
    asked(&served, "PUT", "/db/_local/a", &json!({"n": 1}));
    let queries = json!({"queries": [{"include_docs": true}, {"keys": ["_local/b"]}]});
    let (_, several) = asked(&served, "POST", "/db/_local_docs/queries", &queries);
    assert_eq!(several["results"][0]["rows"][0]["doc"]["n"], 1, "{several}");
    assert_eq!(several["results"][1]["rows"], json!([{"key": "_local/b", "error": "not_found"}]));
}

#[test]
fn the_node_tells_its_statistics_and_versions() {
    let served = fresh();
    let ask = |path: &str| asked(&served, "GET", &format!("/_node/_local/{path}"), &Value::Null);
    assert_eq!(asked(&served, "PUT", "/db/a", &json!({})).0, 201);
    assert_eq!(asked(&served, "GET", "/db/b", &Value::Null).0, 404);
    let all = ask("_stats").1;
    assert_eq!(all["couchdb"]["httpd_request_methods"]["PUT"]["type"], "counter");
    // The database and the document.
    assert_eq!(all["couchdb"]["httpd_status_codes"]["201"]["value"], 2, "{all}");
    assert_eq!(ask("_stats/couchdb/httpd_status_codes/404/value").1, 1);
    assert_eq!(ask("_stats/couchdb/httpd_status_codes/409").1["value"], 0);
    assert!(ask("_stats/couchdb/httpd/requests").1["value"].as_u64().unwrap() >= 5);
    let times = ask("_stats/couchdb/request_time").1;
    assert_eq!((&times["type"], times["value"]["percentile"].as_array().unwrap().len()), (&json!("histogram"), 6));
    assert!(times["value"]["arithmetic_mean"].as_f64().unwrap() > 0.0);
    assert_eq!(ask("_stats/couchdb/no/such").1, Value::Null);
    assert!(ask("_stats/couchdb/database_writes").1["value"].as_u64().unwrap() >= 2);
    let system = ask("_system").1;
    assert!(system["uptime"].is_u64() && system["memory"]["processes"].as_u64().unwrap() > 1_000_000, "{system}");
    assert_eq!(ask("_versions").1["javascript_engine"]["name"], "quickjs");
    assert_eq!(ask("_nothing").0, 404);
    assert_eq!(asked(&served, "POST", "/_node/_local/_stats", &json!({})).0, 405);
    assert_eq!(asked(&served, "GET", "/_node/other/_stats", &Value::Null).0, 404);
}

#[test]
fn ids_are_made_as_the_setting_says() {
    let served = fresh();
    let set =
        |key: &str, value: &str| asked(&served, "PUT", &format!("/_node/_local/_config/uuids/{key}"), &json!(value)).0;
    let ids = || -> Vec<String> {
        let answer = asked(&served, "GET", "/_uuids?count=100", &Value::Null).1;
        serde_json::from_value(answer["uuids"].clone()).unwrap()
    };
    assert_eq!(set("algorithm", "nothing"), 400);
    assert_eq!(set("algorithm", "sequential"), 200);
    let sequence = ids();
    assert!(sequence.iter().filter(|id| id[..26] == sequence[0][..26]).count() >= 50, "{sequence:?}");
    assert_eq!((set("utc_id_suffix", "-frog"), set("algorithm", "utc_id")), (200, 200));
    let times = ids();
    assert!(times.is_sorted() && times.iter().all(|id| id.len() == 19 && id.ends_with("-frog")), "{times:?}");
    assert!(head(&served, "GET", "/_uuids", "").contains("\r\netag: \""));
}

#[test]
fn what_couchdbs_clients_say_otherwise_is_understood() {
    let served = fresh();
    // What is missing is told before what may be misspelt.
    let (status, answer) = asked(&served, "POST", "/db/_bulk_docs", &json!({"doc": [{"foo": "bar"}]}));
    assert_eq!((status, &answer["reason"]), (400, &json!("POST body must include `docs` parameter.")));
    let (status, answer) = asked(&served, "GET", "/db/_partition", &Value::Null);
    assert_eq!((status, &answer["reason"]), (400, &json!("invalid_partition_req")));
    for path in ["/_all_dbs/_all_docs", "/_dbs_info/_all_docs"] {
        assert_eq!(asked(&served, "GET", path, &Value::Null).0, 404, "{path}");
    }
    // An index of all texts is a search engine's.
    let (status, answer) = asked(&served, "POST", "/db/_index", &json!({"index": {}, "type": "text"}));
    assert_eq!((status, &answer["error"]), (503, &json!("required index service unavailable")));
    // CouchDB does not answer from a partial index alone.
    let index = json!({"index": {"fields": ["a"], "partial_filter_selector": {"b": 1}}, "ddoc": "d", "name": "n"});
    assert_eq!(asked(&served, "POST", "/db/_index", &index).0, 200);
    let query = json!({"selector": {"a": 1}, "fields": ["a"], "use_index": "d"});
    let explained = asked(&served, "POST", "/db/_explain", &query).1;
    assert_eq!((&explained["covering"], &explained["mrargs"]["include_docs"]), (&json!(false), &json!(true)));
    assert_eq!(explained["plan"]["covering"], true, "{explained}");
}
