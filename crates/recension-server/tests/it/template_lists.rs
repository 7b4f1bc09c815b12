//! Lists that a template makes: however a row is read, as it is stored or as JSON, it is the same row.

use serde_json::{Value, json};

use crate::served::Served;

/// A template of places, and the same with a condition, which leaves all its rows to the template's machine.
fn served() -> Served {
    let served = Served::start();
    assert_eq!(served.ask("PUT", "/db", b"").0, 201);
    let row = "<p>{{ index }} {{ id }} {{ doc._rev }} {{ doc.a }} {{ doc.b }} {{ row.key }}</p>";
    let conditional = row.replace("{{ doc.a }}", "{% if true %}{{ doc.a }}{% endif %}");
    let design = json!({"templates": {
        "places": {"head": "{{ answer.offset }}:", "row": row, "foot": "{{ rows }}."},
        "machine": {"head": "{{ answer.offset }}:", "row": conditional, "foot": "{{ rows }}."},
        "around": {"row": "{{ doc._attachments is defined }} {{ doc._conflicts is defined }} {{ row.value.rev }};"},
        "fails": {"row": "{{ doc.a }}{% if doc.a == 'wrong' %}{{ doc.a.b.c }}{% endif %}"},
        "json": {"type": "application/json", "head": "[", "row": "{{ doc.a|tojson }},", "foot": "0]"},
    }});
    put(&served, "_design/site", &design);
    for (id, document) in [
        ("a", json!({"a": "<b>&\"'\u{e9}\u{1}\\", "b": 1})),
        ("b<", json!({"b": 2, "a": "other order"})),
        ("c", json!({"a": 3})),
        ("d", json!({"x": [{"a": "}"}], "a": 12_345_678, "y": "\"", "b": true})),
        ("e", json!({"a": [1, 2], "b": {"c": 1.5}})),
        ("f", json!({"a": null, "b": -1})),
        ("g", json!({})),
    ] {
        put(&served, id, &document);
    }
    let rev = put(&served, "gone", &json!({"a": 1}));
    assert_eq!(served.ask("DELETE", &format!("/db/gone?rev={rev}"), b"").0, 200);
    let file = json!({"a": 1, "b": 2, "_attachments": {"f.txt": {"content_type": "text/plain", "data": "eA=="}}});
    put(&served, "h", &file);
    served
}

fn put(served: &Served, id: &str, document: &Value) -> String {
    let path = format!("/db/{}", id.replace('<', "%3C"));
    let (status, answer) = served.ask("PUT", &path, document.to_string().as_bytes());
    assert_eq!(status, 201, "{answer}");
    crate::served::json(&answer)["rev"].as_str().unwrap().to_owned()
}

fn page(served: &Served, target: &str) -> (u16, String) {
    let answer = served.raw(format!("GET {target} HTTP/1.0\r\nHost: x\r\n\r\n").as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

#[test]
fn rows_are_the_same_however_they_are_read() {
    let served = served();
    for query in [
        "startkey=%22a%22&include_docs=true",
        "startkey=%22a%22&include_docs=true&descending=true&skip=1&limit=4",
        "startkey=%22a%22",
        "startkey=%22a%22&include_docs=true&conflicts=true",
        "startkey=%22a%22&include_docs=true&attachments=true",
        "keys=%5B%22h%22,%22none%22,%22gone%22,%22a%22%5D&include_docs=true",
        "keys=%5B%5D",
        "limit=0&include_docs=true",
    ] {
        let of = |name: &str| page(&served, &format!("/db/_all_docs?{query}&template=site/{name}"));
        let (places, machine) = (of("places"), of("machine"));
        assert_eq!(places.0, 200, "{places:?}");
        assert_eq!(places.1, machine.1, "{query}");
    }
    let (_, text) =
        page(&served, "/db/_all_docs?startkey=%22a%22&endkey=%22c%22&include_docs=true&template=site/places");
    assert!(text.starts_with("1:<p>0 a 1-") && text.ends_with(" c</p>3."), "{text}");
    assert!(text.contains(" &lt;b&gt;&amp;&#34;&#39;\u{e9}\u{2401}\\ 1 a</p>"), "{text}");
    assert!(text.contains("<p>1 b&lt; 1-") && text.contains(" other order 2 b&lt;</p>"), "{text}");
}

#[test]
fn what_is_put_around_a_document_is_there_for_its_template() {
    let served = served();
    let (_, text) = page(&served, "/db/_all_docs?startkey=%22g%22&include_docs=true&template=site/around");
    let rows: Vec<&str> = text.split(';').collect();
    assert!(rows[0].starts_with("False False 1-") && rows[1].starts_with("True False 1-"), "{text}");
}

#[test]
fn an_earlier_moment_is_read_with_the_template_of_that_moment() {
    let served = served();
    let info = crate::served::json(&served.ask("GET", "/db", b"").1);
    let seq = info["update_seq"].as_str().unwrap().to_owned();
    let list = "/db/_all_docs?startkey=%22c%22&endkey=%22d%22&include_docs=true&template=site/places";
    let before = page(&served, list);
    let rev = crate::served::json(&served.ask("GET", "/db/c", b"").1)["_rev"].as_str().unwrap().to_owned();
    put(&served, "c", &json!({"a": "new", "_rev": rev}));
    let design = crate::served::json(&served.ask("GET", "/db/_design/site", b"").1);
    put(&served, "_design/site", &json!({"_rev": design["_rev"], "templates": {"places": {"row": "[{{ doc.a }}]"}}}));
    assert_eq!(page(&served, list), (200, "[new][12345678]".to_owned()));
    assert_eq!(page(&served, &format!("{list}&at={seq}")), before);
    assert_eq!(page(&served, list), (200, "[new][12345678]".to_owned()));
}

#[test]
fn a_long_list_is_kept_whole_and_one_that_fails_is_broken_off() {
    let served = served();
    let long = "long ".repeat(40);
    let many: Vec<Value> = (0..2000).map(|n| json!({"_id": format!("m{n:04}"), "a": format!("{n} {long}")})).collect();
    let (status, _) = served.ask("POST", "/db/_bulk_docs", json!({"docs": many}).to_string().as_bytes());
    assert_eq!(status, 201);
    let list = "/db/_all_docs?startkey=%22m%22&include_docs=true&template=site/places";
    let (status, made) = page(&served, list);
    assert!(status == 200 && made.len() > 400_000 && made.ends_with("2000."), "{}", made.len());
    let metrics = served.ask("GET", "/_node/_local/_prometheus", b"").1;
    let held = metrics.lines().find_map(|line| line.strip_prefix("recension_lists_memory_bytes "));
    assert_eq!(held, Some(made.len().to_string().as_str()), "it is kept");
    assert_eq!(page(&served, list), (200, made));
    // The first piece of an answer that fails is not sent; a later one breaks it off.
    put(&served, "l", &json!({"a": "wrong"}));
    let (status, text) = page(&served, "/db/_all_docs?startkey=%22l%22&include_docs=true&template=site/fails");
    assert!(status == 500 && text.contains("template_failed"), "{status} {text}");
    put(&served, "n", &json!({"a": "wrong"}));
    let target = "/db/_all_docs?startkey=%22m%22&include_docs=true&template=site/fails";
    let answer = served.raw(format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes());
    assert!(answer.starts_with("HTTP/1.1 200") && !answer.ends_with("\r\n0\r\n\r\n"), "it is not taken for whole");
}

#[test]
fn a_template_may_make_json() {
    let served = served();
    let target = "/db/_all_docs?startkey=%22c%22&endkey=%22d%22&include_docs=true&template=site/json";
    assert_eq!(page(&served, target), (200, "[3,12345678,0]".to_owned()));
}
