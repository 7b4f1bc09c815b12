//! What limited users get from filters, lists, partitions, queries and aggregations: the answer that a database would
//! give that had only their documents, wherever the others stand. Admins are given all of it, others none.

use serde_json::{Value, json};

use crate::access_rules::{ADA, BOB, Rules, ids};
use crate::accounts::basic;

/// Hers are 1, 2, 4 and 5: others stand first, in the middle and last.
const HERS: [&str; 4] = ["p:1", "p:2", "p:4", "p:5"];
const EVE: &str = "eve:pencil";

/// What a case compares of an answer.
type Shown<'s> = &'s dyn Fn(&Value) -> Value;

/// Both forms of a rule: one that an index of access serves, and one that is tested on each document.
fn rules() -> [Value; 2] {
    let own = json!({ "owner": "$user.name" });
    [own.clone(), json!({ "$or": [own, { "n": { "$gt": 1000 } }] })]
}

fn filled(rule: &Value) -> Rules {
    let rules = Rules::partitioned();
    rules.user("eve", &json!([]));
    rules.admin("PUT", "/db/_access", json!({ "read": rule }));
    let members = json!({ "admins": { "names": [], "roles": ["_admin"] }, "members": { "names": ["ada", "bob"] } });
    assert_eq!(rules.admin("PUT", "/db/_security", members).0, 200);
    for n in 0..7 {
        let owner = if HERS.contains(&&*format!("p:{n}")) { "ada" } else { "secret" };
        rules.put(&format!("p:{n}"), json!({ "owner": owner, "n": n, "even": n % 2 == 0 }));
    }
    rules.put("q:0", json!({ "owner": "secret", "n": 0 }));
    rules.put("q:1", json!({ "owner": "bob", "n": 1 }));
    rules
}

#[test]
fn lists_partitions_queries_and_aggregations_have_what_the_rule_lets_through() {
    let key = |id: &str| json!({ "key": id, "error": "not_found" });
    let by_ids = |rows: &[&str]| json!(rows);
    let found = |selector: Value| json!({ "selector": selector, "limit": 100 });
    let group = json!({ "pipeline": [{ "$group": { "_id": "$even", "many": { "$sum": 1 }, "n": { "$sum": "$n" } } }] });
    let total = json!({ "pipeline": [{ "$match": { "n": { "$gte": 0 } } },
        { "$group": { "_id": null, "n": { "$sum": "$n" }, "least": { "$min": "$n" }, "most": { "$max": "$n" } } }] });
    for rule in rules() {
        let rules = filled(&rule);
        let list = |answer: &Value| json!(ids(&answer["rows"]));
        let docs = |answer: &Value| json!(ids(&answer["docs"]));
        let rows = |answer: &Value| answer["rows"].clone();
        let counted = |answer: &Value| json!([answer["doc_count"], answer["doc_del_count"]]);
        let of_keys = |answer: &Value| {
            let row = |row: &Value| if row["error"].is_null() { row["id"].clone() } else { row.clone() };
            json!(answer["rows"].as_array().unwrap().iter().map(row).collect::<Vec<_>>())
        };
        let lists = |answer: &Value| {
            let lists = answer["results"].as_array().unwrap().iter();
            json!(lists.map(|list| (&list["total_rows"], ids(&list["rows"]))).collect::<Vec<_>>())
        };
        let queries = json!({ "queries": [{ "limit": 1 }, { "startkey": "p:2", "endkey": "p:4", "include_docs": true },
            { "descending": true, "skip": 1, "limit": 2 }] });
        let cases: Vec<(&str, &str, Value, Shown<'_>, Value)> = vec![
            ("GET", "_all_docs", Value::Null, &list, by_ids(&HERS)),
            ("GET", "_all_docs?include_docs=true&conflicts=true", Value::Null, &list, by_ids(&HERS)),
            ("GET", "_all_docs?descending=true&limit=2", Value::Null, &list, by_ids(&["p:5", "p:4"])),
            ("GET", "_all_docs?skip=1&limit=2", Value::Null, &list, by_ids(&["p:2", "p:4"])),
            ("GET", "_all_docs?startkey=%22p:3%22&limit=1", Value::Null, &list, by_ids(&["p:4"])),
            (
                "POST",
                "_all_docs",
                json!({ "keys": ["p:0", "p:1", "p:6", "x"] }),
                &of_keys,
                json!([key("p:0"), "p:1", key("p:6"), key("x")]),
            ),
            (
                "POST",
                "_all_docs/queries",
                queries,
                &lists,
                json!([[null, ["p:1"]], [null, ["p:2", "p:4"]], [null, ["p:4", "p:2"]]]),
            ),
            ("GET", "_design_docs", Value::Null, &list, by_ids(&[])),
            ("GET", "_partition/p/_all_docs", Value::Null, &list, by_ids(&HERS)),
            ("GET", "_partition/q/_all_docs", Value::Null, &list, by_ids(&[])),
            ("GET", "_partition/p", Value::Null, &counted, json!([4, null])),
            ("GET", "_partition/q", Value::Null, &counted, json!([0, null])),
            ("POST", "_partition/p/_find", found(json!({})), &docs, by_ids(&HERS)),
            ("POST", "_partition/q/_find", found(json!({})), &docs, by_ids(&[])),
            ("POST", "_find", found(json!({ "n": { "$gt": 1 } })), &docs, by_ids(&HERS[1..])),
            ("POST", "_find", found(json!({ "$or": [{ "owner": "secret" }, { "n": 4 }] })), &docs, by_ids(&["p:4"])),
            (
                "POST",
                "_aggregate",
                group.clone(),
                &rows,
                json!([{ "_id": false, "many": 2, "n": 6 }, { "_id": true, "many": 2, "n": 6 }]),
            ),
            ("POST", "_aggregate", total.clone(), &rows, json!([{ "_id": null, "n": 12, "least": 1, "most": 5 }])),
        ];
        for (method, path, body, shown, expected) in cases {
            let path = format!("/db/{path}");
            let (status, answer) = rules.as_user(ADA, method, &path, body.clone());
            assert_eq!(status, 200, "{method} {path}: {answer}");
            assert_eq!(shown(&answer), expected, "{method} {path}: {answer}");
            let told = answer.to_string();
            assert!(!told.contains("secret") && !told.contains("\"q:"), "{method} {path}: {answer}");
            assert_eq!(rules.as_user(EVE, method, &path, body.clone()).0, 403, "no member: {method} {path}");
            let (status, all) = rules.admin(method, &path, body);
            assert_eq!(status, 200, "{method} {path}: {all}");
        }
        assert_eq!(rules.admin("GET", "/db/_partition/p", Value::Null).1["doc_count"], 7);
        let all = rules.admin("POST", "/db/_aggregate", total.clone()).1;
        assert_eq!(all["rows"][0]["n"], 22);
    }
}

#[test]
fn explained_queries_and_indexes_tell_no_counts() {
    for rule in rules() {
        let rules = filled(&rule);
        let index = json!({ "index": { "fields": ["n"] }, "ddoc": "i", "name": "n", "partitioned": false });
        rules.admin("POST", "/db/_index", index);
        let asked = json!({ "selector": { "n": { "$gt": 1 } }, "execution_stats": true });
        let (status, told) = rules.as_user(ADA, "POST", "/db/_explain", asked.clone());
        assert_eq!(
            (status, &told["selector"], &told["plan"]),
            (200, &json!({ "n": { "$gt": 1 } }), &Value::Null),
            "{told}"
        );
        assert!(told["index"].is_object() && !told.to_string().contains("owner"), "{told}");
        assert!(rules.admin("POST", "/db/_explain", asked.clone()).1["plan"].is_object());
        let found = rules.as_user(ADA, "POST", "/db/_find", asked.clone()).1;
        assert_eq!(found["execution_stats"], Value::Null);
        let of_partition = rules.as_user(ADA, "POST", "/db/_partition/p/_explain", asked.clone()).1;
        assert_eq!((&of_partition["partitioned"], &of_partition["opts"]["partition"]), (&json!(true), &json!("p")));
        // Groups whose values an index has.
        let group = json!({ "pipeline": [{ "$group": { "_id": null, "n": { "$sum": "$n" } } }] });
        assert_eq!(rules.as_user(ADA, "POST", "/db/_aggregate", group).1["rows"][0]["n"], 12);
        let listed = rules.as_user(ADA, "GET", "/db/_index", Value::Null);
        assert_eq!(listed, rules.admin("GET", "/db/_index", Value::Null));
        assert_eq!(listed.1["total_rows"], 2);
        for (method, path) in [
            ("POST", "/db/_index"),
            ("POST", "/db/_index/_bulk_delete"),
            ("DELETE", "/db/_index/_design/i/json/n"),
            ("GET", "/db/_local_docs"),
            ("GET", "/db/_design/i/_info"),
            ("GET", "/db/_partition/p/_all_docs?at=1"),
            ("POST", "/db/_aggregate?at=1"),
        ] {
            assert_eq!(rules.as_user(ADA, method, path, json!({})).0, 403, "{method} {path}");
        }
        for (method, path) in [("POST", "/db/_explain"), ("GET", "/db/_index")] {
            assert_eq!(rules.as_user(EVE, method, path, asked.clone()).0, 403, "{path}");
        }
    }
}

impl Rules {
    /// The rows of a filtered feed, each as its id and whether it is gone, and where it ends.
    fn filtered(&self, user: &str, query: &str, body: &Value, since: &str) -> (Vec<(String, bool)>, String) {
        let method = if body.is_null() { "GET" } else { "POST" };
        let path = format!("/db/_changes?style=all_docs&since={since}&{query}");
        let (status, answer) = self.as_user(user, method, &path, body.clone());
        assert_eq!(status, 200, "{path}: {answer}");
        let rows = answer["results"].as_array().unwrap().iter();
        let rows = rows.map(|row| (row["id"].as_str().unwrap().to_owned(), row["deleted"] == true));
        (rows.collect(), answer["last_seq"].as_str().unwrap().to_owned())
    }
}

/// Each filter, with documents that pass it or not, are hidden or not, and leave.
#[test]
fn filtered_feeds_have_what_passes_and_tell_what_leaves_whatever_it_says() {
    let few = json!({ "doc_ids": ["p:0", "p:1", "p:2", "p:5", "x"] });
    let even = json!({ "selector": { "even": true } });
    let listed = "filter=_doc_ids&doc_ids=%5B%22p:1%22,%22p:6%22%5D";
    for rule in rules() {
        for (query, body, first, later) in [
            (
                "filter=_doc_ids",
                few.clone(),
                vec!["p:1", "p:2", "p:5"],
                vec![("p:1", true), ("p:2", true), ("p:0", false)],
            ),
            ("", few.clone(), vec!["p:1", "p:2", "p:5"], vec![("p:1", true), ("p:2", true), ("p:0", false)]),
            (listed, Value::Null, vec!["p:1"], vec![("p:1", true)]),
            // 1 never passed. That it has left is told, since it might have passed before.
            ("filter=_selector", even.clone(), vec!["p:2", "p:4"], vec![("p:1", true), ("p:2", true), ("p:0", false)]),
            ("filter=_design", Value::Null, vec!["_design/d"], vec![("_design/d", false)]),
        ] {
            let rules = filled(&rule);
            rules.put("_design/d", json!({ "n": 1 }));
            let (rows, since) = rules.filtered(ADA, query, &body, "0");
            let expected: Vec<_> = first.iter().map(|id| ((*id).to_owned(), false)).collect();
            assert_eq!(rows, expected, "{query}");
            assert!(rules.filtered(ADA, query, &body, &since).0.is_empty(), "{query}");
            // What changes and stays hidden is not told.
            rules.put("p:3", json!({ "owner": "secret", "even": true, "n": 3 }));
            assert!(rules.filtered(ADA, query, &body, &since).0.is_empty(), "{query}");
            for id in ["p:1", "p:2"] {
                rules.put(id, json!({ "owner": "secret", "even": false }));
            }
            rules.put("p:0", json!({ "owner": "ada", "even": true }));
            rules.put("p:4", json!({ "owner": "ada", "even": false }));
            rules.put("_design/d", json!({ "n": 2 }));
            let (rows, _) = rules.filtered(ADA, query, &body, &since);
            let expected: Vec<_> = later.iter().map(|(id, gone)| ((*id).to_owned(), *gone)).collect();
            assert_eq!(rows, expected, "{query}");
            // In pages of one row it is the same.
            let (mut paged, mut stands) = (Vec::new(), since);
            for _ in 0..12 {
                let (rows, next) = rules.filtered(ADA, &format!("{query}&limit=1"), &body, &stands);
                paged.extend(rows);
                stands = next;
            }
            assert_eq!(paged, expected, "{query}");
            let mine = |who: &str| rules.filtered(who, query, &body, "0").0;
            assert!(mine(BOB).iter().all(|(id, _)| id.starts_with("_design/")), "{query}");
            assert_eq!(rules.as_user(EVE, "GET", &format!("/db/_changes?{query}"), Value::Null).0, 403);
        }
    }
}

#[test]
fn filtered_feeds_show_documents_and_refuse_what_does_not_read() {
    let rules = filled(&rules()[0]);
    let body = json!({ "selector": { "even": true } });
    let (_, since) = rules.filtered(ADA, "filter=_selector", &body, "0");
    rules.put("p:2", json!({ "owner": "secret", "even": true }));
    rules.put("p:4", json!({ "owner": "ada", "even": true, "n": 44 }));
    let path = format!("/db/_changes?filter=_selector&include_docs=true&since={since}");
    let told = rules.as_user(ADA, "POST", &path, body).1;
    let (gone, there) = (&told["results"][0], &told["results"][1]);
    assert_eq!((&gone["doc"]["_id"], &gone["doc"]["_deleted"]), (&json!("p:2"), &json!(true)), "{told}");
    assert_eq!(gone["doc"]["_rev"], gone["changes"][0]["rev"]);
    assert_eq!((&there["doc"]["n"], &there["deleted"]), (&json!(44), &Value::Null), "{told}");
    let some = json!({ "selector": { "even": true }, "fields": ["_id", "n"] });
    let all = "/db/_changes?filter=_selector&include_docs=true";
    for told in [rules.as_user(ADA, "POST", &path, some.clone()).1, rules.admin("POST", all, some).1] {
        let last = told["results"].as_array().unwrap().last().unwrap();
        assert_eq!(last["doc"], json!({ "_id": "p:4", "n": 44 }), "{told}");
    }
    for (query, body, status) in [
        ("filter=_selector", Value::Null, 400),
        ("filter=_selector", json!({ "selector": { "$x": 1 } }), 400),
        ("filter=_selector", json!({ "selector": {}, "fields": "n" }), 400),
        ("filter=_doc_ids", json!({ "doc_ids": 7 }), 400),
        ("filter=_view", Value::Null, 400),
        ("filter=none", Value::Null, 400),
        ("filter=none/f", Value::Null, 404),
    ] {
        let method = if body.is_null() { "GET" } else { "POST" };
        let (found, answer) = rules.as_user(ADA, method, &format!("/db/_changes?{query}"), body);
        assert_eq!(found, status, "{query}: {answer}");
    }
}

#[test]
fn each_leaf_that_a_user_may_read_is_asked_whether_it_passes() {
    for rule in rules() {
        let rules = filled(&rule);
        let leaf = |id: &str, rev: &str, n: u8| json!({ "_id": id, "_rev": rev, "owner": "ada", "n": n });
        let docs = json!({ "new_edits": false, "docs": [
            leaf("p:loses", "1-b", 2), leaf("p:loses", "1-a", 77),
            leaf("p:wins", "1-b", 77), leaf("p:wins", "1-a", 2) ] });
        assert_eq!(rules.admin("POST", "/db/_bulk_docs", docs).0, 201);
        let path = "/db/_changes?style=all_docs&filter=_selector";
        let (_, answer) = rules.as_user(ADA, "POST", path, json!({ "selector": { "n": 77 } }));
        let row = |row: &Value| format!("{} {}", row["id"].as_str().unwrap(), row["changes"]);
        let rows: Vec<_> = answer["results"].as_array().unwrap().iter().map(row).collect();
        assert_eq!(rows, [r#"p:loses [{"rev":"1-a"}]"#, r#"p:wins [{"rev":"1-b"}]"#], "{answer}");
    }
}

#[test]
fn an_attachment_is_that_of_the_document_as_the_user_reads_it() {
    for rule in rules() {
        let rules = filled(&rule);
        let file = json!({ "a.json": { "content_type": "application/json", "data": "Nw==" } });
        let docs = json!({ "new_edits": false, "docs": [
            { "_id": "p:file", "_rev": "1-b", "owner": "secret", "_attachments": { "b.json": file["a.json"] } },
            { "_id": "p:file", "_rev": "1-a", "owner": "ada", "_attachments": file } ] });
        assert_eq!(rules.admin("POST", "/db/_bulk_docs", docs).0, 201);
        let read = |name: &str| rules.as_user(ADA, "GET", &format!("/db/p:file/{name}"), Value::Null);
        assert_eq!(read("a.json"), (200, json!(7)));
        assert_eq!(read("b.json").0, 404, "it is of the winner, which is hidden");
    }
}

/// PouchDB notes the seq of the last row, and not where the feed ended.
#[test]
fn a_feed_that_goes_on_from_a_row_comes_up_to_now() {
    let rules = filled(&rules()[0]);
    let first = rules.changes(ADA, "0").0;
    let stands = first.last().unwrap()["seq"].as_str().unwrap().to_owned();
    rules.put("p:2", json!({ "owner": "ada", "n": 22 }));
    let (rows, ended) = rules.changes(ADA, &stands);
    assert_eq!(ids(&json!(rows)), ["p:2"]);
    assert!(rules.changes(ADA, &ended).0.is_empty());
}

#[test]
fn replicators_of_other_makes_find_what_they_ask_for() {
    let rules = filled(&rules()[0]);
    let rev = rules.admin("GET", "/db/p:1", Value::Null).1["_rev"].as_str().unwrap().to_owned();
    let hidden = rules.admin("GET", "/db/p:0", Value::Null).1["_rev"].as_str().unwrap().to_owned();
    let asked = json!({ "p:1": [rev, "5-aa"], "n:1": ["1-bb"] });
    let missing = rules.as_user(ADA, "POST", "/db/_missing_revs", asked).1;
    assert_eq!(missing, json!({ "missing_revs": { "p:1": ["5-aa"], "n:1": ["1-bb"] } }));
    // What was made up for her is never missing.
    let since = rules.changes(ADA, "0").1;
    rules.put("p:1", json!({ "owner": "secret" }));
    let gone = rules.changes(ADA, &since).0[0]["changes"][0]["rev"].clone();
    let missing = rules.as_user(ADA, "POST", "/db/_missing_revs", json!({ "p:1": [gone] })).1;
    assert_eq!(missing, json!({ "missing_revs": {} }));
    // CouchDB's replicator asks for parts, and pushes documents with attachments in parts.
    let boundary = "xx";
    let text = |members: Value| {
        let file = json!({ "a.txt": { "follows": true, "content_type": "text/plain", "length": 5 } });
        let mut doc = json!({ "_attachments": file });
        doc.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        format!(
            "--{boundary}\r\nContent-Type: application/json\r\n\r\n{doc}\r\n--{boundary}\r\n\r\nhello\r\n--{boundary}--"
        )
    };
    let head = |user: &str| format!("{}Content-Type: multipart/related; boundary=\"{boundary}\"\r\n", basic(user));
    let push = |members: Value, path: &str| rules.server.ask_with(&head(ADA), "PUT", path, text(members).as_bytes()).0;
    let revisions = json!({ "start": 1, "ids": ["abc"] });
    let new = "/db/p:new?new_edits=false";
    assert_eq!(push(json!({ "_rev": "1-abc", "_revisions": revisions, "owner": "secret" }), new), 403);
    assert_eq!(push(json!({ "_rev": "1-abc", "_revisions": revisions, "owner": "ada" }), new), 201);
    assert_eq!(push(json!({ "owner": "secret" }), "/db/p:other"), 403);
    assert_eq!(push(json!({ "owner": "ada", "_rev": hidden }), "/db/p:0"), 403);
    assert_eq!(
        push(
            json!({ "owner": "ada", "_rev": gone, "_deleted": true, "_revisions":
        { "start": 2, "ids": [gone.as_str().unwrap().split_once('-').unwrap().1] } }),
            "/db/p:1?new_edits=false"
        ),
        201
    );
    assert_eq!(rules.admin("GET", "/db/p:1?open_revs=all", Value::Null).1.as_array().unwrap().len(), 1);
    let ask = |path: &str| {
        let head = format!("{}Accept: multipart/mixed\r\n", basic(ADA));
        let (status, body) = rules.server.ask_with(&head, "GET", path, b"");
        (status, body)
    };
    let (status, parts) = ask("/db/p:new?revs=true&latest=true&open_revs=%5B%221-abc%22,%227-none%22%5D");
    assert_eq!(status, 200, "{parts}");
    assert!(parts.contains("\"data\":\"aGVsbG8=\"") && parts.contains("\"missing\":\"7-none\""), "{parts}");
    let (status, parts) = ask(&format!("/db/p:0?revs=true&open_revs=%5B%22{hidden}%22%5D"));
    assert!(status == 200 && parts.contains("missing") && !parts.contains("secret"), "{parts}");
}

/// Whether a word is rare is told by all documents: the order of one's own would tell whether others have it.
#[test]
fn the_order_of_relevance_says_nothing_of_what_the_rule_hides() {
    let rules = Rules::start();
    let index = json!({ "index": { "fields": ["text"] }, "type": "text", "ddoc": "w", "name": "w" });
    assert_eq!(rules.admin("POST", "/db/_index", index).0, 200);
    rules.put("a", json!({ "owner": "ada", "text": "fever fever cough" }));
    rules.put("b", json!({ "owner": "ada", "text": "cough cough fever" }));
    rules.put("c", json!({ "owner": "ada", "text": "fever fever fever cough" }));
    let asked = json!({ "selector": { "text": { "$text": "fever cough" } }, "sort": ["$score"], "limit": 1 });
    let found = || rules.as_user(ADA, "POST", "/db/_find", asked.clone()).1;
    let by_admin = || rules.admin("POST", "/db/_find", asked.clone()).1["docs"][0]["_id"].clone();
    // The bookmark has the score at its end.
    let before = found();
    assert_eq!(before["docs"].as_array().unwrap().len(), 1, "{before}");
    let first = by_admin();
    for number in 0..9 {
        rules.put(&format!("hidden{number}"), json!({ "owner": "bob", "text": "fever, and a long text about it" }));
    }
    let (after, end) = (found(), |answer: &Value| answer["bookmark"].as_str().unwrap()[26..].to_owned());
    assert_eq!((&after["docs"], end(&after)), (&before["docs"], end(&before)));
    assert!(by_admin() == "b" && first != "b", "{first}");
}
