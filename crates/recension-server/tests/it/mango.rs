//! Mango beyond what the recordings have: indexes follow design documents, the past, partitions, fallbacks, hostile
//! input, aggregation within its memory, writing by query.

use crate::served::{self, Served};
use recension_server::config::Config;
use serde_json::{Value, json};

struct Session(Served);

impl Session {
    fn start() -> Self {
        let session = Session(Served::start());
        session.ask("PUT", "/db", &Value::Null);
        session
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, body) = self.0.ask(method, path, body.as_bytes());
        (status, served::json(&body))
    }

    fn ok(&self, method: &str, path: &str, body: &Value) -> Value {
        let (status, answer) = self.ask(method, path, body);
        assert!(status < 300, "{method} {path} {body}: {status} {answer}");
        answer
    }

    fn refused(&self, path: &str, body: &Value) -> (u16, String) {
        let (status, answer) = self.ask("POST", path, body);
        (status, answer["error"].as_str().unwrap_or_default().to_owned())
    }

    fn fill(&self, db: &str, count: usize) {
        let docs: Vec<Value> = (0..count)
            .map(|n| json!({ "_id": format!("d{n:04}"), "n": n, "kind": (["a", "b", "c"][n % 3]), "tags": [format!("t{}", n % 7)] }))
            .collect();
        self.ok("POST", &format!("/{db}/_bulk_docs"), &json!({ "docs": docs }));
    }

    fn ids(&self, path: &str, asked: &Value) -> Vec<String> {
        let found = self.ok("POST", path, asked);
        found["docs"].as_array().unwrap().iter().map(|doc| doc["_id"].as_str().unwrap().to_owned()).collect()
    }

    fn index_of(&self, asked: &Value) -> Value {
        self.ok("POST", "/db/_explain", asked)["plan"]["index"].clone()
    }
}

#[test]
fn the_stores_indexes_follow_design_documents() {
    let session = Session::start();
    session.fill("db", 300);
    let asked = json!({ "selector": { "n": { "$gte": 290 } }, "limit": 100 });
    assert_eq!(session.index_of(&asked), Value::Null);
    // As replication brings it.
    let view =
        json!({ "map": { "fields": { "n": "asc" } }, "reduce": "_count", "options": { "def": { "fields": ["n"] } } });
    let ddoc = json!({ "language": "query", "views": { "by-n": view } });
    let rev = session.ok("PUT", "/db/_design/got", &ddoc)["rev"].clone();
    let found = session.ok("POST", "/db/_find", &asked);
    assert_eq!((found["docs"].as_array().unwrap().len(), &found["warning"]), (10, &Value::Null));
    assert!(session.index_of(&asked).as_str().unwrap().starts_with("_mango/got/by-n/"));
    let listed = session.ok("GET", "/db/_index", &Value::Null);
    assert_eq!(listed["indexes"][1]["def"], json!({ "fields": [{ "n": "asc" }] }));
    // Another definition under the same name is another index.
    let changed = json!({ "index": { "fields": [{ "n": "desc" }] }, "ddoc": "got", "name": "by-n" });
    assert_eq!(session.ok("POST", "/db/_index", &changed)["result"], "created");
    assert_eq!(session.ok("POST", "/db/_index", &changed)["result"], "exists");
    assert_eq!(session.ids("/db/_find", &asked).len(), 10);
    assert_ne!(rev, session.ok("GET", "/db/_design/got", &Value::Null)["_rev"]);
    session.ok("DELETE", "/db/_index/got/json/by-n", &Value::Null);
    assert_eq!(session.ask("GET", "/db/_design/got", &Value::Null).0, 404);
    assert_eq!(session.index_of(&asked), Value::Null);
    let (status, _) = session.ask("DELETE", "/db/_index/_design/got/json/by-n", &Value::Null);
    assert_eq!(status, 404);
}

#[test]
fn an_index_that_cannot_be_made_is_told_once_and_stops_no_query() {
    let session = Session::start();
    session.fill("db", 3);
    session.ok("PUT", "/db/long", &json!({ "n": "x".repeat(10_000) }));
    let index = json!({ "index": { "fields": ["n"] }, "ddoc": "long" });
    assert_eq!(session.refused("/db/_index", &index), (403, "forbidden".to_owned()));
    assert_eq!(session.ok("GET", "/db/_index", &Value::Null)["total_rows"], 1);
    let view = json!({ "map": { "fields": { "n": "asc" } }, "options": { "def": { "fields": ["n"] } } });
    session.ok("PUT", "/db/_design/got", &json!({ "language": "query", "views": { "n": view } }));
    for _ in 0..2 {
        assert_eq!(session.ids("/db/_find", &json!({ "selector": { "n": 1 } })), ["d0001"]);
    }
    session.ok("PUT", "/db/longer", &json!({ "n": "y".repeat(10_000) }));
}

#[test]
fn alternatives_elements_and_lists_go_by_indexes() {
    let session = Session::start();
    session.fill("db", 1500);
    for field in ["n", "kind"] {
        session.ok("POST", "/db/_index", &json!({ "index": { "fields": [field] } }));
    }
    let either = json!({ "selector": { "$or": [{ "n": 7 }, { "n": { "$gt": 1497 } }, { "_id": "d0001" }] } });
    assert_eq!(session.ids("/db/_find", &either), ["d0001", "d0007", "d1498", "d1499"]);
    let told = session.ok("POST", "/db/_explain", &either);
    assert_eq!(told["plan"]["union"].as_array().unwrap().len(), 3);
    let ids: Vec<String> = (0..1000).map(|n| format!("d{n:04}")).collect();
    let many = json!({ "selector": { "_id": { "$in": ids } }, "limit": 2000, "execution_stats": true });
    let found = session.ok("POST", "/db/_find", &many);
    assert_eq!(found["docs"].as_array().unwrap().len(), 1000);
    assert_eq!(found["execution_stats"]["total_docs_examined"], 1000);
    // A page, its next one, and one whose bookmark is another query's.
    let mut page = json!({ "selector": { "kind": "a" }, "sort": ["kind"], "limit": 3 });
    let first = session.ok("POST", "/db/_find", &page);
    page["bookmark"] = first["bookmark"].clone();
    assert_eq!(session.ids("/db/_find", &page), ["d0009", "d0012", "d0015"]);
    page["selector"] = json!({ "kind": "b" });
    assert_eq!(session.refused("/db/_find", &page), (400, "invalid_bookmark".to_owned()));
    page["bookmark"] = json!("nonsense");
    assert_eq!(session.refused("/db/_find", &page), (400, "invalid_bookmark".to_owned()));
}

#[test]
fn elements_of_arrays_go_by_indexes() {
    let session = Session::start();
    session.fill("db", 300);
    session.ok("POST", "/db/_index", &json!({ "index": { "fields": ["tags[]"] }, "ddoc": "tags", "name": "tags" }));
    session.ok("POST", "/db/_index", &json!({ "index": { "fields": ["tags\\[]"] }, "ddoc": "odd", "name": "odd" }));
    let asked = |selector: Value| json!({ "selector": { "tags": selector }, "limit": 300, "execution_stats": true });
    for selector in [json!({ "$elemMatch": { "$eq": "t3" } }), json!({ "$all": ["t3"] })] {
        let asked = asked(selector);
        let index = session.index_of(&asked);
        assert!(index.as_str().is_some_and(|name| name.starts_with("_mango/tags/tags/")), "{asked}: {index}");
        let found = session.ok("POST", "/db/_find", &asked);
        assert_eq!(found["docs"].as_array().unwrap().len(), 43);
        assert_eq!(found["execution_stats"]["total_docs_examined"], 43);
    }
}

#[test]
fn groups_come_from_an_index_that_lacks_no_document() {
    let session = Session::start();
    session.fill("db", 300);
    let by = json!({ "pipeline": [{ "$group": { "_id": "$kind", "n": { "$sum": 1 }, "sum": { "$sum": "$n" } } }] });
    let scanned = session.ok("POST", "/db/_aggregate", &by)["rows"].clone();
    assert_eq!(scanned[0], json!({ "_id": "a", "n": 100, "sum": 14850 }));
    session.ok("POST", "/db/_index", &json!({ "index": { "fields": ["kind", "n"] } }));
    assert_eq!(session.ok("POST", "/db/_aggregate", &by)["rows"], scanned);
    // Documents that the index lacks are a group, and one without the number is in its group.
    session.ok("PUT", "/db/e1", &json!({ "n": 5 }));
    session.ok("PUT", "/db/e2", &json!({ "kind": "a" }));
    let rows = session.ok("POST", "/db/_aggregate", &by)["rows"].clone();
    assert_eq!(rows[0], json!({ "_id": null, "n": 1, "sum": 5 }));
    assert_eq!(rows[1], json!({ "_id": "a", "n": 101, "sum": 14850 }));
}

#[test]
fn what_is_asked_for_by_name_is_used_or_told() {
    let session = Session::start();
    session.fill("db", 30);
    session.ok("POST", "/db/_index", &json!({ "index": { "fields": ["n"] }, "ddoc": "d", "name": "n" }));
    let mut asked = json!({ "selector": { "kind": "a" }, "use_index": ["d", "n"], "limit": 1 });
    let found = session.ok("POST", "/db/_find", &asked);
    let lines: Vec<&str> = found["warning"].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], "_design/d, n was not used because it is not a valid index for this query.");
    assert_eq!(lines[1], "No matching index found, create an index to optimize query time.");
    asked["allow_fallback"] = json!(false);
    assert_eq!(session.refused("/db/_find", &asked), (400, "invalid_index".to_owned()));
    asked["selector"] = json!({ "n": { "$gt": 27 } });
    asked["use_index"] = json!("_design/d");
    assert_eq!(session.ids("/db/_find", &asked), ["d0028"]);
    let mixed = json!({ "selector": { "n": 1 }, "sort": [{ "n": "asc" }, { "kind": "desc" }] });
    assert_eq!(session.refused("/db/_find", &mixed), (400, "unsupported_mixed_sort".to_owned()));
}

#[test]
fn partitions_and_the_past_are_queried() {
    let session = Session::start();
    session.ok("PUT", "/parts?partitioned=true", &Value::Null);
    let docs: Vec<Value> = (0..10).map(|n| json!({ "_id": format!("p{}:{n}", n % 2), "n": n })).collect();
    session.ok("POST", "/parts/_bulk_docs", &json!({ "docs": docs }));
    let asked = json!({ "selector": { "n": { "$gt": 4 } } });
    assert_eq!(session.ids("/parts/_partition/p1/_find", &asked), ["p1:5", "p1:7", "p1:9"]);
    session.ok("POST", "/parts/_index", &json!({ "index": { "fields": ["n"] } }));
    let then = session.ok("GET", "/parts", &Value::Null)["update_seq"].as_str().unwrap().to_owned();
    session.ok("POST", "/parts/_delete_by_query", &json!({ "selector": { "n": { "$gte": 5 } } }));
    assert_eq!(session.ids("/parts/_partition/p1/_find", &asked), [""; 0]);
    let before = format!("/parts/_partition/p1/_find?at={then}");
    assert_eq!(session.ids(&before, &asked), ["p1:5", "p1:7", "p1:9"]);
    let told = session.ok("POST", "/parts/_partition/p1/_explain", &asked);
    assert_eq!((&told["partitioned"], &told["opts"]["partition"]), (&json!(true), &json!("p1")));
}

#[test]
fn what_is_too_large_is_refused() {
    let session = Session::start();
    session.fill("db", 2);
    let deep = (0..300).fold(json!(1), |inner, _| json!({ "a": inner }));
    let or: Vec<Value> = (0..20_000).map(|n| json!({ "a": n })).collect();
    let many: Vec<usize> = (0..150_000).collect();
    for selector in [
        json!({ "x": deep }),
        json!({ "$or": or }),
        json!({ "a": { "$in": many } }),
        json!({ "a": { "$regex": "a".repeat(1_000_000) } }),
        json!({ "a": { "$regex": "((a{1000}){1000}){1000}" } }),
    ] {
        let (status, error) = session.refused("/db/_find", &json!({ "selector": selector }));
        assert!(status == 400 && ["invalid_selector", "bad_arg", "bad_request"].contains(&&*error), "{status} {error}");
    }
    assert_eq!(session.ids("/db/_find", &json!({ "selector": { "n": 1 } })), ["d0001"]);
}

#[test]
fn aggregations_answer_or_say_that_they_take_too_much() {
    let config = Config { max_list_memory: 200_000, ..Config::default() };
    let session = Session(Served::with(config));
    session.ok("PUT", "/db", &Value::Null);
    session.fill("db", 3000);
    let by = |path: &str| json!({ "pipeline": [{ "$group": { "_id": path, "n": { "$sum": 1 }, "most": { "$max": "$n" } } }] });
    let rows = session.ok("POST", "/db/_aggregate", &by("$kind"));
    assert_eq!(rows["rows"][2], json!({ "_id": "c", "n": 1000, "most": 2999 }));
    assert_eq!(session.refused("/db/_aggregate", &by("$n")), (400, "bad_request".to_owned()));
    let wrong = json!({ "pipeline": [{ "$lookup": {} }] });
    assert_eq!(session.refused("/db/_aggregate", &wrong), (400, "bad_pipeline".to_owned()));
    // Nothing of it is held on to.
    assert_eq!(session.ok("POST", "/db/_aggregate", &by("$kind"))["rows"][0]["n"], 1000);
}

#[test]
fn documents_are_written_by_query_in_commits_of_many() {
    let session = Session::start();
    session.fill("db", 1200);
    session.ok("PUT", "/db/_design/x", &json!({ "kind": "a" }));
    let patch = json!([{ "op": "replace", "path": "/n", "value": -1 }]);
    let asked = json!({ "selector": { "kind": "a" }, "patch": patch });
    let done = session.ok("POST", "/db/_update_by_query", &asked);
    assert_eq!((&done["matched"], &done["written"]), (&json!(400), &json!(400)));
    assert_eq!(session.ok("POST", "/db/_update_by_query", &asked)["unchanged"], 400);
    // A patch that cannot be carried out leaves its document alone.
    let wrong = json!({ "selector": { "n": { "$gt": 1190 } }, "patch": [{ "op": "remove", "path": "/none" }] });
    let done = session.ok("POST", "/db/_update_by_query", &wrong);
    assert_eq!((&done["written"], done["left"].as_array().unwrap().len()), (&json!(0), 6));
    assert_eq!(done["left"][0]["error"], "patch_failed");
    let few = session.ok("POST", "/db/_delete_by_query", &json!({ "selector": { "n": -1 }, "limit": 10 }));
    assert_eq!(few["written"], 10);
    assert_eq!(session.refused("/db/_update_by_query", &json!({ "selector": {} })).0, 400);
    assert_eq!(session.ask("GET", "/db/_design/x", &Value::Null).0, 200);
}

#[test]
fn a_change_by_query_deletes_nothing_and_says_whether_more_match() {
    let session = Session::start();
    session.fill("db", 10);
    for (change, named) in [
        (r#""merge":{"_deleted":true}"#, "_delete_by_query"),
        (r#""merge":{"n":2,"_deleted":true}"#, "_delete_by_query"),
        (r#""merge":{"\u005fid":"x"}"#, "`_id`"),
        (r#""merge":{"_rev":null}"#, "`_rev`"),
        (r#""merge":{"_attachments":{}}"#, "`_attachments`"),
        (r#""merge":{"_foo":1}"#, "`_foo`"),
        (r#""patch":[{"op":"add","path":"/_deleted","value":true}]"#, "_delete_by_query"),
        (r#""patch":[{"op":"add","path":"/_attachments/a","value":{}}]"#, "`_attachments`"),
        (r#""patch":[{"op":"copy","from":"/kind","path":"/_id"}]"#, "`_id`"),
        (r#""patch":[{"op":"replace","path":"","value":{"_deleted":true}}]"#, "_delete_by_query"),
    ] {
        let body = format!("{{\"selector\":{{\"n\":1}},{change}}}");
        let (status, refused) = session.0.ask("POST", "/db/_update_by_query", body.as_bytes());
        assert!(status == 400 && refused.contains(named), "{change}: {status} {refused}");
    }
    // What a document has elsewhere is not moved to where it would delete it.
    session.ok("PUT", "/db/e", &json!({ "e": 1, "old": { "_deleted": true } }));
    let moved = json!([{ "op": "move", "from": "/old", "path": "" }]);
    let done = session.ok("POST", "/db/_update_by_query", &json!({ "selector": { "e": 1 }, "patch": moved }));
    assert_eq!((&done["written"], &done["left"][0]["id"]), (&json!(0), &json!("e")));
    assert!(done["left"][0]["reason"].to_string().contains("_deleted"), "{done}");
    assert_eq!(session.ok("GET", "/db", &Value::Null)["doc_count"], 11);

    let change = |limit: Value, dry_run: bool| {
        let mut asked = json!({ "selector": { "kind": "a" }, "merge": { "seen": limit }, "dry_run": dry_run });
        if !limit.is_null() {
            asked["limit"] = limit;
        }
        let done = session.ok("POST", "/db/_update_by_query", &asked);
        (done["matched"].as_u64().unwrap(), done["written"].as_u64().unwrap(), done["more"].as_bool().unwrap())
    };
    for (limit, matched, more) in [
        (json!(0), 0, true),
        (json!(3), 3, true),
        (json!(4), 4, false),
        (json!(u64::MAX), 4, false),
        (Value::Null, 4, false),
    ] {
        assert_eq!(change(limit.clone(), true), (matched, 0, more), "{limit}");
        let (now, _, there_are_more) = change(limit.clone(), false);
        assert_eq!((now, there_are_more), (matched, more), "{limit}");
    }
    let delete = json!({ "selector": { "kind": "a" }, "limit": 3 });
    assert_eq!(session.ok("POST", "/db/_delete_by_query", &delete)["more"], true);
    let rest = session.ok("POST", "/db/_delete_by_query", &delete);
    assert_eq!((&rest["written"], &rest["more"]), (&json!(1), &json!(false)));
}

#[test]
fn words_are_found_through_indexes_that_design_documents_define() {
    let session = Session::start();
    let docs = json!([
        { "_id": "a", "title": "Soups", "text": ["Hot soup, cold soup"] },
        { "_id": "b", "title": "Rice", "text": "with a soup" },
        { "_id": "c", "title": "Tea" },
    ]);
    session.ok("POST", "/db/_bulk_docs", &json!({ "docs": docs }));
    let asked =
        json!({ "selector": { "$text": { "$search": "soup", "$language": "english", "$fields": ["title", "text"] } } });
    assert_eq!(session.ids("/db/_find", &asked), ["a", "b"]);
    let mut sorted = asked.clone();
    sorted["sort"] = json!(["$score"]);
    assert_eq!(session.ask("POST", "/db/_find", &sorted).0, 400);
    let index = json!({ "type": "text", "ddoc": "w", "name": "words",
        "index": { "fields": ["title", { "name": "text", "type": "string" }], "language": "english" } });
    assert_eq!(session.ok("POST", "/db/_index", &index)["result"], "created");
    assert_eq!(session.ok("POST", "/db/_index", &index)["result"], "exists");
    let listed = session.ok("GET", "/db/_index", &Value::Null);
    assert_eq!(listed["indexes"][1]["type"], "text", "{listed}");
    assert_eq!(listed["indexes"][1]["def"]["language"], "english");
    assert_eq!(session.ids("/db/_find", &sorted), ["a", "b"]);
    let explained = session.ok("POST", "/db/_explain", &sorted);
    assert_eq!(explained["index"]["name"], "words", "{explained}");
    assert_eq!((&explained["plan"]["words"], &explained["plan"]["sort"]), (&json!("soup"), &json!("relevance")));
    sorted["use_index"] = json!(["w", "words"]);
    assert_eq!(session.ids("/db/_find", &sorted), ["a", "b"]);
    let rev = session.ok("GET", "/db/b", &Value::Null)["_rev"].clone();
    session.ok("PUT", "/db/b", &json!({ "_rev": rev, "title": "soup" }));
    let before = session.ok("GET", "/db/b/_history", &Value::Null);
    assert_eq!(session.ids("/db/_find", &sorted)[0], "b", "{before}");
    // Beside an index of the other kind in one design document; one of them goes and leaves the other.
    let other = json!({ "ddoc": "w", "name": "by-title", "index": { "fields": ["title"] } });
    session.ok("POST", "/db/_index", &other);
    session.ok("DELETE", "/db/_index/w/text/words", &Value::Null);
    assert_eq!(session.ok("GET", "/db/_index", &Value::Null)["total_rows"], 2);
    assert_eq!(session.index_of(&asked), Value::Null);
    session.ok("DELETE", "/db/_index/w/json/by-title", &Value::Null);
    assert_eq!(session.ask("GET", "/db/_design/w", &Value::Null).0, 404);
    for (index, error) in [
        (json!({ "type": "text", "index": { "fields": [] } }), "invalid_fields"),
        (json!({ "type": "text", "index": { "fields": [5] } }), "invalid_fields"),
        (json!({ "type": "text", "index": { "fields": ["a"], "language": "klingon" } }), "invalid_index"),
        (json!({ "type": "spatial", "index": {} }), "invalid_index"),
    ] {
        assert_eq!(session.refused("/db/_index", &index), (400, error.to_owned()), "{index}");
    }
}

#[test]
fn answers_are_lines_and_tables_where_they_are_asked_for() {
    let session = Session::start();
    session.fill("db", 30);
    let first = session.0.ask("GET", "/db/_changes", b"");
    let seq = served::json(&first.1)["last_seq"].clone();
    let text = |path: &str, asked: &Value| {
        let (status, body) = session.0.ask("POST", path, asked.to_string().as_bytes());
        (status, body)
    };
    let asked = json!({ "selector": { "n": { "$lt": 2 } }, "fields": ["_id", "n", "tags"] });
    let (status, lines) = text("/db/_find?format=ndjson", &asked);
    assert_eq!(
        (status, &*lines),
        (200, "{\"_id\":\"d0000\",\"n\":0,\"tags\":[\"t0\"]}\n{\"_id\":\"d0001\",\"n\":1,\"tags\":[\"t1\"]}\n")
    );
    let (_, table) = text("/db/_find?format=csv", &asked);
    assert_eq!(table, "_id,n,tags\r\nd0000,0,\"[\"\"t0\"\"]\"\r\nd0001,1,\"[\"\"t1\"\"]\"\r\n");
    assert_eq!(text("/db/_find?format=csv", &json!({ "selector": { "n": 1 } })).0, 400);
    let groups = json!({ "pipeline": [
        { "$group": { "_id": "$kind", "count": { "$sum": 1 } } }, { "$sort": { "_id": 1 } }, { "$limit": 2 }] });
    let (_, lines) = text("/db/_aggregate?format=ndjson", &groups);
    assert_eq!(lines, "{\"_id\":\"a\",\"count\":10}\n{\"_id\":\"b\",\"count\":10}\n");
    assert_eq!(text("/db/_aggregate?format=csv", &groups).1, "_id,count\r\na,10\r\nb,10\r\n");
    // As of a moment, like all else.
    session.ok("POST", "/db/_delete_by_query", &json!({ "selector": { "kind": "a" } }));
    let at = seq.as_str().unwrap();
    assert_eq!(text(&format!("/db/_aggregate?format=csv&at={at}"), &groups).1, "_id,count\r\na,10\r\nb,10\r\n");
    assert_eq!(text("/db/_aggregate?format=csv", &groups).1, "_id,count\r\nb,10\r\nc,10\r\n");
}

#[test]
fn a_table_that_no_program_reads_back_is_refused_and_none_loses_a_column() {
    let session = Session::start();
    let docs: Vec<Value> = (0..1200).map(|n| json!({ "_id": format!("{n:04}"), "n": n })).collect();
    session.ok("PUT", "/tables", &Value::Null);
    session.ok("POST", "/tables/_bulk_docs", &json!({ "docs": docs }));
    session.ok("PUT", "/tables/late", &json!({ "late": 1, "": 2, "a\u{0}b": 3 }));
    let text = |path: &str, asked: &Value| session.0.ask("POST", path, asked.to_string().as_bytes());
    let kept = json!({ "pipeline": [{ "$sort": { "_id": 1 } }, { "$project": { "n": 1, "late": 1 } }] });
    let (status, table) = text("/tables/_aggregate?format=csv", &kept);
    assert!(status == 200 && table.starts_with("n,late\r\n0,\r\n") && table.ends_with("\r\n,1\r\n"), "{status}");
    let (status, refused) =
        text("/tables/_aggregate?format=csv", &json!({ "pipeline": [{ "$match": { "late": 1 } }] }));
    assert!(status == 400 && refused.contains("can be no column of a table"), "{refused}");
    let (status, refused) =
        text("/tables/_find?format=csv", &json!({ "selector": { "n": 1 }, "fields": ["n", "n", "_id"] }));
    assert!(status == 400 && refused.contains(r#"two columns of the table would be named \"n\""#), "{refused}");
    let (status, _) = session.0.ask("GET", "/tables/_all_docs?format=csv&fields=rev", b"");
    assert_eq!(status, 400);
}

#[test]
fn a_question_that_has_a_member_twice_is_refused() {
    let session = Session::start();
    session.fill("db", 3);
    for (path, body) in [
        ("/db/_find", r#"{"selector":{"n":{"$gt":0},"n":{"$lt":2}}}"#),
        ("/db/_find", r#"{"selector":{"n":{"$gt":0,"$gt":1}}}"#),
        ("/db/_explain", r#"{"selector":{"n":1,"\u006e":2}}"#),
        ("/db/_delete_by_query", r#"{"selector":{"n":1,"n":{"$gte":0}}}"#),
        ("/db/_changes?filter=_selector", r#"{"selector":{"n":1,"n":2}}"#),
        ("/db/_index", r#"{"index":{"fields":["n"],"partial_filter_selector":{"n":1,"n":2}}}"#),
    ] {
        let (status, refused) = session.0.ask("POST", path, body.as_bytes());
        assert!(
            status == 400 && refused.contains("n is there twice") || refused.contains("$gt is there twice"),
            "{path}: {status} {refused}"
        );
    }
    // Nor does the request itself lose one: of two selectors, one deletes more.
    for (path, body) in [
        ("/db/_find", r#"{"selector":{"n":1},"selector":{}}"#),
        ("/db/_explain", r#"{"selector":{},"limit":1,"limit":2}"#),
        ("/db/_delete_by_query", r#"{"selector":{"n":1},"selector":{}}"#),
        ("/db/_aggregate", r#"{"pipeline":[],"pipeline":[{"$match":{"n":1}}]}"#),
        ("/db/_changes?filter=_doc_ids", r#"{"doc_ids":["a"],"doc_ids":["b"]}"#),
        ("/db/_index", r#"{"index":{"fields":["n"]},"index":{"fields":["kind"]}}"#),
        ("/db/_index", r#"{"index":{"fields":["n"],"fields":["kind"]}}"#),
        ("/db/_index", r#"{"index":{"fields":[{"n":"asc","n":"desc"}]},"name":"x"}"#),
    ] {
        let (status, refused) = session.0.ask("POST", path, body.as_bytes());
        assert!(status == 400 && refused.contains("is there twice in the request"), "{path}: {status} {refused}");
    }
    let (status, refused) = session.0.ask("PUT", "/db/_access", br#"{"read":{"n":1,"n":2}}"#);
    assert!(status == 400 && refused.contains("`n` is there twice"), "{refused}");
    let (status, _) = session.0.ask("PUT", "/db/_access", br#"{"read":{"n":1},"read":{"n":{"$exists":true}}}"#);
    assert_eq!(status, 400);
}

#[test]
fn writings_by_query_are_among_the_tasks_while_they_run() {
    let session = Session::start();
    for part in 0..6 {
        let docs: Vec<Value> = (0..2000).map(|n| json!({ "_id": format!("d{part}-{n:04}"), "n": n })).collect();
        session.ok("POST", "/db/_bulk_docs", &json!({ "docs": docs }));
    }
    std::thread::scope(|scope| {
        let changed = scope.spawn(|| {
            let asked = json!({ "selector": { "n": { "$gte": 0 } }, "merge": { "x": 1 } });
            session.ok("POST", "/db/_update_by_query", &asked)["written"].clone()
        });
        let mut seen = false;
        while !changed.is_finished() {
            let tasks = session.ok("GET", "/_active_tasks", &Value::Null);
            let task = tasks.as_array().unwrap().iter().find(|task| task["type"] == "update_by_query").cloned();
            if let Some(task) = task.filter(|task| task["changes_done"].as_u64() > Some(0)) {
                assert_eq!((&task["database"], &task["total_changes"]), (&json!("db"), &json!(12_000)), "{task}");
                seen = true;
            }
        }
        assert_eq!(changed.join().unwrap(), 12_000);
        assert!(seen, "it was never among the tasks");
    });
    assert_eq!(session.ok("GET", "/_active_tasks", &Value::Null), json!([]));
}
