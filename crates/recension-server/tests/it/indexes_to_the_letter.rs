//! `_index` to the letter: what it refuses, what it leaves alone, and design documents as CouchDB writes them.

use serde_json::{Value, json};

use crate::served::{self, Served};

struct Session(Served);

impl Session {
    fn start() -> Self {
        let session = Session(Served::start());
        assert_eq!(session.0.ask("PUT", "/db", b"").0, 201);
        session
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, text) = self.0.ask(method, path, body.as_bytes());
        (status, served::json(&text))
    }

    fn index(&self, body: &Value) -> (u16, Value) {
        self.ask("POST", "/db/_index", body)
    }

    fn get(&self, path: &str) -> Value {
        self.ask("GET", path, &Value::Null).1
    }
}

#[test]
fn an_index_does_not_go_into_a_design_document_of_functions() {
    let session = Session::start();
    let design = json!({"views": {"v": {"map": "function (doc) { emit(doc._id); }"}}});
    assert_eq!(session.ask("PUT", "/db/_design/app", &design).0, 201);
    let mut named = design.clone();
    named["language"] = json!("javascript");
    assert_eq!(session.ask("PUT", "/db/_design/named", &named).0, 201);
    for ddoc in ["app", "named"] {
        let (status, answer) = session.index(&json!({"index": {"fields": ["a"]}, "ddoc": ddoc}));
        assert_eq!((status, answer["error"].as_str()), (400, Some("invalid_ddoc_lang")), "{answer}");
        assert_eq!(session.get(&format!("/db/_design/{ddoc}"))["views"], design["views"]);
    }
}

#[test]
fn what_an_index_does_not_understand_is_refused() {
    let session = Session::start();
    for (body, error) in [
        (json!({"index": {"fields": ["a"], "partial_filter_selector": 1}}), "invalid_selector_json"),
        (json!({"index": {"fields": ["a"], "partial_filter_selctor": {}}}), "invalid_key"),
        (json!({"index": {"fields": ["a"]}, "nam": "x"}), "invalid_key"),
        (json!({"index": {"fields": ["a"]}, "name": ""}), "invalid_empty_string"),
        (json!({"index": {"fields": ["a"]}, "ddoc": ""}), "invalid_empty_string"),
        (json!({"index": {"fields": ["a"]}, "ddoc": "_design/"}), "illegal_docid"),
        (json!({"index": {"fields": ["a"]}, "name": true}), "invalid_string"),
        (json!({"index": {"fields": ["a"]}, "type": "geo"}), "invalid_index"),
        (json!({"index": {"fields": ["a"]}, "w": 0}), "invalid_pos_integer"),
        (json!({"index": {"fields": ["a"]}, "partitioned": "no"}), "invalid_partitioned_value"),
        (json!({"index": {"fields": ["a"]}, "partitioned": true}), "invalid_design_doc"),
        (json!({"index": {"fields": [""]}}), "invalid_sort_field"),
        (json!({"index": {"fields": [{"a": "up"}]}}), "invalid_sort_field"),
        (json!({"index": {"fields": "a"}}), "invalid_sort_json"),
        (json!({"index": {"fields": ["a"], "language": "de"}, "type": "json"}), "invalid_key"),
        (json!({"index": {"fields": ["a"], "default_analyzer": "x"}, "type": "text"}), "invalid_key"),
        (json!({"index": []}), "invalid_index"),
        (json!({}), "missing_required_key"),
    ] {
        let (status, answer) = session.index(&body);
        assert_eq!((status, answer["error"].as_str()), (400, Some(error)), "{body}: {answer}");
    }
    for path in ["/db/_index?limit=0", "/db/_index?skip=-1", "/db/_index?limit=x"] {
        assert_eq!(session.get(path)["error"], "invalid_list_index_params", "{path}");
    }
    assert_eq!(session.get("/db/_index")["total_rows"], 1);
}

#[test]
fn the_design_document_of_an_index_is_couchdbs() {
    let session = Session::start();
    // The vector of CouchDB's own documentation, which a version before partitions made, has another name.
    let (_, made) = session.index(&json!({"index": {"fields": ["foo"]}, "name": "foo-index", "type": "json"}));
    assert_eq!(made["id"], "_design/74644dcd981a77aa2a982e4eb0956fbad86c5a3f");
    let (_, again) = session.index(&json!({"index": {"fields": ["foo"]}, "name": "foo-index"}));
    assert_eq!((again["result"].as_str(), &again["id"]), (Some("exists"), &made["id"]));
    let filter =
        json!({"index": {"fields": [{"a": "desc"}], "partial_filter_selector": {"b": 1}}, "ddoc": "d", "name": "n"});
    assert_eq!(session.index(&filter).1["result"], "created");
    let mut design = session.get("/db/_design/d");
    assert!(design["_rev"].as_str().unwrap().starts_with("1-"));
    for member in ["_id", "_rev"] {
        design.as_object_mut().unwrap().remove(member);
    }
    let view = json!({
        "map": {"fields": {"a": "desc"}, "partial_filter_selector": {"b": {"$eq": 1}}},
        "reduce": "_count",
        "options": {"def": {"fields": [{"a": "desc"}], "partial_filter_selector": {"b": 1}}},
    });
    assert_eq!(design, json!({"language": "query", "views": {"n": view}}));
    let (_, list) = session.ask("GET", "/db/_index", &Value::Null);
    let own = list["indexes"].as_array().unwrap().iter().find(|own| own["name"] == "n").unwrap();
    assert_eq!(own["def"]["partial_filter_selector"], json!({"b": {"$eq": 1}}), "{own}");
}

#[test]
fn an_index_is_removed_without_what_stands_beside_it() {
    let session = Session::start();
    let index = |name: &str| json!({"index": {"fields": [name]}, "ddoc": "d", "name": name});
    for name in ["a", "b"] {
        assert_eq!(session.index(&index(name)).1["result"], "created");
    }
    let mut design = session.get("/db/_design/d");
    design["note"] = json!("kept");
    assert_eq!(session.ask("PUT", "/db/_design/d", &design).0, 201);
    for name in ["a", "b"] {
        assert_eq!(session.ask("DELETE", &format!("/db/_index/d/json/{name}"), &Value::Null).0, 200);
    }
    let left = session.get("/db/_design/d");
    assert_eq!((left["note"].as_str(), left["views"].as_object().map_or(0, serde_json::Map::len)), (Some("kept"), 0));
}

#[test]
fn plans_name_indexes_in_words_that_people_read() {
    let session = Session::start();
    for (body, name) in [
        (json!({"index": {"fields": ["address.city", "age"]}}), "_mango/address.city+age/"),
        (json!({"index": {"fields": ["b"]}, "name": "by-b"}), "_mango/by-b/"),
        (json!({"index": {"fields": ["c"]}, "ddoc": "app"}), "_mango/app/c/"),
        (json!({"index": {"fields": ["d"]}, "ddoc": "app", "name": "by d"}), "_mango/app/by_d/"),
    ] {
        assert_eq!(session.index(&body).1["result"], "created");
        let field = body["index"]["fields"][0].as_str().unwrap();
        let (_, told) = session.ask("POST", "/db/_explain", &json!({"selector": {field: {"$gt": 1}}, "sort": [field]}));
        let index = told["plan"]["index"].as_str().unwrap();
        assert!(index.starts_with(name) && index.len() == name.len() + 12, "{index}");
    }
}

#[test]
fn fields_that_an_index_has_are_read_of_it_alone() {
    let session = Session::start();
    let docs = br#"{"docs":[{"_id":"a","n":1.50,"m":{"x":"\u00e9"}},{"_id":"b","n":2,"m":{"x":{"y":[1]}}},
        {"_id":"c","n":3,"m":{"z":1}},{"_id":"d","n":[4],"m":{"x":null}},{"_id":"e","m":{"x":1}}]}"#;
    assert_eq!(session.0.ask("POST", "/db/_bulk_docs", docs).0, 201);
    assert_eq!(session.index(&json!({"index": {"fields": ["n", "m.x"]}, "name": "both"})).1["result"], "created");
    let asked = |fields: Value| {
        json!({"selector": {"n": {"$gt": 1}, "m.x": {"$exists": true}}, "fields": fields, "sort": ["n"],
            "execution_stats": true})
    };
    let texts = |text: &str| -> Vec<String> {
        let rows = text.lines().filter(|line| line.starts_with("{\"_id\"") || line.starts_with("{\"m\""));
        rows.map(|row| row.trim_end_matches(',').to_owned()).collect()
    };
    for (fields, without_index) in
        [(json!(["_id", "n", "m.x"]), json!(["_id", "n", "m.x", "none"])), (json!(["m.x"]), json!(["m.x", "none"]))]
    {
        let of = |fields: &Value| session.0.ask("POST", "/db/_find", asked(fields.clone()).to_string().as_bytes()).1;
        let (of_index, of_documents) = (of(&fields), of(&without_index));
        assert_eq!(texts(&of_index), texts(&of_documents));
        assert_eq!(texts(&of_index).len(), 3, "{of_index}");
        let examined = |text: &str| served::json(text)["execution_stats"]["total_docs_examined"].as_u64();
        assert_eq!((examined(&of_index), examined(&of_documents)), (Some(0), Some(3)), "{of_index}");
        let told = session.ask("POST", "/db/_explain", &asked(fields)).1;
        assert_eq!((&told["covering"], &told["mrargs"]["include_docs"]), (&json!(true), &json!(false)), "{told}");
    }
    // Pages, and conflicts, which no index has.
    let mut page = asked(json!(["_id", "n"]));
    page["limit"] = json!(2);
    let first = session.ask("POST", "/db/_find", &page).1;
    page["bookmark"] = first["bookmark"].clone();
    let rest = session.ask("POST", "/db/_find", &page).1;
    assert_eq!(rest["docs"], json!([{"_id": "d", "n": [4]}]), "{first} {rest}");
    page["bookmark"] = rest["bookmark"].clone();
    let none = session.ask("POST", "/db/_find", &page).1;
    assert_eq!((&none["docs"], &none["bookmark"]), (&json!([]), &rest["bookmark"]));
    let mut whole = asked(json!(["_id", "n"]));
    whole["conflicts"] = json!(true);
    assert_eq!(session.ask("POST", "/db/_find", &whole).1["execution_stats"]["total_docs_examined"], 3);
}

#[test]
fn statistics_and_explanations_have_couchdbs_members() {
    let session = Session::start();
    let docs = json!({"docs": [{"_id": "a", "n": 1}, {"_id": "b", "n": 2}, {"_id": "c", "m": 3}]});
    assert_eq!(session.ask("POST", "/db/_bulk_docs", &docs).0, 201);
    for field in ["n", "m"] {
        let index = json!({"index": {"fields": [field]}, "ddoc": field, "name": field});
        assert_eq!(session.index(&index).1["result"], "created");
    }
    let stats = |asked: Value| session.ask("POST", "/db/_find", &asked).1["execution_stats"].clone();
    let few = stats(json!({"selector": {"n": {"$gt": 0}}, "execution_stats": true, "r": 3}));
    assert_eq!((&few["total_docs_examined"], &few["total_quorum_docs_examined"]), (&json!(0), &json!(2)), "{few}");
    let all = stats(json!({"selector": {"x": 1}, "execution_stats": true}));
    assert_eq!((&all["total_keys_examined"], &all["total_docs_examined"]), (&json!(3), &json!(3)), "{all}");
    let told = |asked: Value| session.ask("POST", "/db/_explain", &asked);
    let backward = told(json!({"selector": {"n": {"$beginsWith": "A"}}, "sort": [{"n": "desc"}]})).1;
    assert_eq!(backward["mrargs"]["start_key"], json!(["A\u{ffff}", "<MAX>"]), "{backward}");
    assert_eq!((&backward["mrargs"]["end_key"], &backward["mrargs"]["direction"]), (&json!(["A"]), &json!("rev")));
    // What cannot be answered is explained.
    let (status, none) = told(json!({"selector": {"n": 1}, "sort": ["x"]}));
    assert_eq!((status, &none["index"]), (200, &Value::Null), "{none}");
    let named = |told: &Value| -> Vec<String> {
        told["index_candidates"].as_array().unwrap().iter().map(|own| own["index"]["name"].to_string()).collect()
    };
    assert_eq!(named(&none), ["\"n\"", "\"m\"", "\"_all_docs\""]);
    let (status, refused) = session.ask("POST", "/db/_find", &json!({"selector": {"n": 1}, "sort": ["x"]}));
    assert_eq!((status, &refused["error"]), (400, &json!("no_usable_index")));
    // Without an order, an index that was asked for as descending is read forward; of equal indexes the shorter one.
    assert_eq!(session.index(&json!({"index": {"fields": [{"n": "desc"}, {"o": "desc"}]}, "ddoc": "a"})).0, 200);
    assert_eq!(session.index(&json!({"index": {"fields": [{"n": "desc"}]}, "ddoc": "down", "name": "down"})).0, 200);
    let down = json!({"selector": {"n": {"$gt": 0}}, "use_index": "down"});
    let found = session.ask("POST", "/db/_find", &down).1;
    let ids =
        |found: &Value| found["docs"].as_array().unwrap().iter().map(|doc| doc["_id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&found), ["a", "b"], "{found}");
    let mut backward = down.clone();
    backward["sort"] = json!([{"n": "desc"}]);
    assert_eq!(ids(&session.ask("POST", "/db/_find", &backward).1), ["b", "a"]);
    assert_eq!(told(json!({"selector": {"n": 1}})).1["index"]["def"]["fields"].as_array().unwrap().len(), 1);
    // Every document has a revision: an index that ends with it serves without.
    let with_rev = json!({"index": {"fields": ["o", "_rev"]}, "ddoc": "rev", "name": "with-rev"});
    assert_eq!(session.index(&with_rev).1["result"], "created");
    assert_eq!(told(json!({"selector": {"o": 1}})).1["index"]["name"], "with-rev");
    let (status, wrong) = session.ask("POST", "/db/_find", &json!({"selector": {"n": {"$beginsWith": 1}}}));
    assert_eq!((status, &wrong["error"]), (400, &json!("invalid_operator")));
}

#[test]
fn documents_are_found_by_their_conflicts_if_the_request_wants_them() {
    let session = Session::start();
    // What no document's text has is indexed by CouchDB; here queries do without.
    let index = json!({"index": {"fields": ["_conflicts"]}, "name": "c"});
    assert_eq!(session.index(&index).1["result"], "created");
    let partial = json!({"index": {"fields": ["n"], "partial_filter_selector": {"_conflicts": {"$exists": true}}}});
    assert_eq!(session.index(&partial).1["result"], "created");
    for (id, conflicts) in [("a", 0), ("b", 1), ("c", 2), ("d", 1), ("e", 0)] {
        let revision = |number| json!({"_id": id, "_rev": format!("1-{number:032x}"), "n": number});
        let docs: Vec<Value> = (0..=conflicts).map(revision).collect();
        let written = session.ask("POST", "/db/_bulk_docs", &json!({"docs": docs, "new_edits": false}));
        assert_eq!(written, (201, json!([])));
    }
    let find = |body: Value| session.ask("POST", "/db/_find", &body).1;
    let ids = |answer: &Value| -> Vec<String> {
        answer["docs"].as_array().unwrap().iter().map(|doc| doc["_id"].as_str().unwrap().to_owned()).collect()
    };
    for (selector, expected) in [
        (json!({"_conflicts": {"$exists": true}}), vec!["b", "c", "d"]),
        (json!({"_conflicts": {"$size": 2}}), vec!["c"]),
        (json!({"_conflicts": {"$exists": false}}), vec!["a", "e"]),
        (json!({"$or": [{"_id": "a"}, {"_conflicts": {"$size": 1}}]}), vec!["a", "b", "d"]),
        (json!({"n": 2, "_conflicts": {"$exists": true}}), vec!["c"]),
        (json!({"$nor": [{"_conflicts": {"$exists": true}}]}), vec!["a", "e"]),
        (json!({"_conflicts.1": {"$gte": "1-"}}), vec!["c"]),
    ] {
        assert_eq!(ids(&find(json!({"selector": selector, "conflicts": true}))), expected, "{selector}");
    }
    // Pages of one, with a skipped document before.
    let mut page = json!({"selector": {"_conflicts": {"$exists": true}}, "conflicts": true, "limit": 1, "skip": 1,
        "execution_stats": true, "fields": ["_id", "_conflicts"]});
    let first = find(page.clone());
    let older = format!("1-{:032x}", 1);
    assert_eq!(first["docs"], json!([{"_id": "c", "_conflicts": [older, format!("1-{:032x}", 0)]}]), "{first}");
    assert_eq!(first["execution_stats"]["results_returned"], 1);
    (page["skip"], page["bookmark"]) = (json!(0), first["bookmark"].clone());
    let second = find(page.clone());
    assert_eq!(ids(&second), ["d"]);
    page["bookmark"] = second["bookmark"].clone();
    assert!(ids(&find(page)).is_empty());
    // Without `conflicts` no document has them, and the answer says so.
    let without = find(json!({"selector": {"_conflicts": {"$exists": true}}}));
    assert!(ids(&without).is_empty() && without["warning"].as_str().unwrap().contains("\"conflicts\": true"));
    let by_query = json!({"selector": {"_conflicts": {"$exists": true}}});
    let (status, refused) = session.ask("POST", "/db/_delete_by_query", &by_query);
    assert_eq!((status, &refused["error"]), (400, &json!("invalid_selector")));
}
