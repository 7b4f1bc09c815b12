//! `/{db}/_schema`, and that every way of writing over HTTP is tested.

use crate::served::{self, Served};
use serde_json::{Value, json};

fn ask(server: &Served, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let (status, body) = server.ask(method, path, body.as_bytes());
    (status, served::json(&body))
}

#[test]
fn what_does_not_fit_the_schema_is_forbidden_whoever_brings_it() {
    let server = Served::start();
    let ask = |method: &str, path: &str, body: Value| ask(&server, method, path, &body);
    ask("PUT", "/db", Value::Null);
    assert_eq!(ask("GET", "/db/_schema", Value::Null).0, 404);
    ask("PUT", "/db/old", json!({ "n": -1 }));
    let schema = json!({ "properties": { "n": { "minimum": 0 } } });
    let (status, checked) = ask("PUT", "/db/_schema?check=true", schema.clone());
    assert_eq!((status, &checked["ok"], &checked["refused"]), (200, &json!(false), &json!(1)));
    assert_eq!(checked["problems"][0]["path"], "/n");
    assert_eq!(ask("GET", "/db/_schema", Value::Null).0, 404, "only tested");
    let (status, bad) = ask("PUT", "/db/_schema", json!({ "type": "numbr" }));
    assert_eq!((status, &bad["error"]), (400, &json!("bad_schema")));
    let set = ask("PUT", "/db/_schema", schema.clone()).1;
    assert_eq!(ask("GET", "/db/_schema", Value::Null), (200, schema.clone()));
    let (status, refused) = ask("PUT", "/db/a", json!({ "n": -2 }));
    assert_eq!((status, &refused["error"]), (403, &json!("forbidden")));
    assert!(refused["reason"].as_str().unwrap().contains("at /n: -2 is less than"), "{refused}");
    assert_eq!(ask("POST", "/db", json!({ "n": -2 })).0, 403);
    let docs = json!([{ "_id": "b", "n": 1 }, { "_id": "c", "n": -1 }]);
    let (_, results) = ask("POST", "/db/_bulk_docs", json!({ "docs": docs }));
    assert_eq!((&results[0]["ok"], &results[1]["error"]), (&json!(true), &json!("forbidden")));
    let docs = json!([{ "_id": "d", "_rev": "1-d", "n": -1 }, { "_id": "e", "_rev": "1-e", "n": 1 }]);
    let (_, results) = ask("POST", "/db/_bulk_docs", json!({ "docs": docs, "new_edits": false }));
    assert_eq!(results.as_array().unwrap().len(), 1, "{results}");
    assert_eq!((&results[0]["id"], &results[0]["error"]), (&json!("d"), &json!("forbidden")));
    let merge = json!({ "selector": {}, "merge": { "n": -5 } });
    let (_, done) = ask("POST", "/db/_update_by_query", merge);
    assert_eq!((&done["written"], &done["left"][0]["error"]), (&json!(0), &json!("forbidden")));
    assert_eq!(ask("PUT", "/db/_design/x", json!({ "n": -1 })).0, 201);
    assert_eq!(ask("DELETE", "/db/_schema", Value::Null).0, 200);
    assert_eq!(ask("PUT", "/db/a", json!({ "n": -2 })).0, 201);
    let then = format!("/db/_schema?at=seq:{}", set["seq"]);
    assert_eq!(ask("GET", &then, Value::Null), (200, schema));
    let (_, history) = ask("GET", "/db/_schema?history=true", Value::Null);
    assert_eq!(history["history"].as_array().unwrap().len(), 2, "{history}");
    assert_eq!(history["history"][1]["seq"], set["seq"]);
}
