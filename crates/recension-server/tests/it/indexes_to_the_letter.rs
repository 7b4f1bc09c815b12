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
