//! Every row of the table of routes, asked by a user whom an access rule limits: with each of its parameters, in each
//! form, of documents that are the user's and of those that are not. No answer has a word that the rule hides.

use serde_json::{Value, json};

use crate::access_rules::{ADA, Rules};
use crate::accounts::basic;

/// Ids, values, names of attachments, of revisions' members and of a former owner's: all of them have this word, and
/// nothing that the user may see has.
const HIDDEN: &str = "hush";
/// The longer words, of which a request that has the short one may have some.
const WORDS: [&str; 8] = ["hush 1", "hush 2", "hush 3", "hush p:", "p:hush", "hush.txt", "\"hush\":", "aHVzaA"];
/// The user's own words, which show that a request reached documents.
const OWN: &str = "mine";

/// What is put in the place of a path's names, beside the user's own.
const IDS: [&str; 3] = ["p:a", "p:was", "p:two"];

fn filled() -> Rules {
    let rules = Rules::partitioned();
    let members = json!({ "admins": { "names": [], "roles": ["_admin"] }, "members": { "names": ["ada", "bob"] } });
    assert_eq!(rules.admin("PUT", "/db/_security", members).0, 200);
    let design = json!({
        "views": {
            "v": { "map": "function (doc) { emit(doc.word, {_id: 'p:left'}); emit(doc.owner, doc); }" },
            "r": { "map": "function (doc) { emit(doc.word, 1); }", "reduce": "_count" },
        },
        "options": { "partitioned": false },
        "shows": { "s": "function (doc, req) { return {json: {doc: doc, req: req}}; }" },
        "lists": { "l": "function (head, req) { var row; send(JSON.stringify([head, req]));
            while (row = getRow()) send(JSON.stringify(row)); }" },
        "updates": { "u": "function (doc, req) { return [null, JSON.stringify([doc, req])]; }" },
        "filters": { "f": "function (doc, req) { return true; }" },
        "rewrites": [{ "from": "/x", "to": "../../_all_docs" }],
        "templates": { "t": "{{#rows}}{{id}} {{word}}{{/rows}} {{_id}} {{word}}" },
    });
    assert_eq!(rules.admin("PUT", "/db/_design/d", design).0, 201);
    let index =
        json!({ "index": { "fields": ["word"], "unique": true }, "ddoc": "i", "name": "n", "partitioned": false });
    assert_eq!(rules.admin("POST", "/db/_index", index).0, 200);
    let file = json!({ "hush.txt": { "content_type": "text/plain", "data": "aHVzaA==" } });
    rules.put("p:a", json!({ "owner": "ada", "word": "mine", "n": 1 }));
    rules.put("p:hush", json!({ "owner": "eve", "word": "hush 1", "n": 2, "hush": 1, "_attachments": file.clone() }));
    // It was another's, with a file, before it was hers; and the other way round.
    rules.put("p:was", json!({ "owner": "eve", "word": "hush 2", "hush": 2, "_attachments": file.clone() }));
    rules.put("p:was", json!({ "owner": "ada", "word": "mine 2", "n": 3 }));
    rules.put("p:left", json!({ "owner": "ada", "word": "mine 3", "n": 4 }));
    rules.put("p:left", json!({ "owner": "eve", "word": "hush 3", "n": 5 }));
    // Of two leaves of a conflict one is hidden, once the winner and once not.
    for (id, winner) in [("p:two", "ada"), ("p:second", "eve")] {
        let leaf = |rev: &str, owner: &str| {
            let word = if owner == "ada" { format!("mine {id}") } else { format!("hush {id}") };

            json!({ "_id": id, "_rev": format!("1-{rev}"), "owner": owner, "word": word,
                "_revisions": { "start": 1, "ids": [rev] } })
        };
        let other = if winner == "ada" { "eve" } else { "ada" };
        let docs = json!([leaf("f".repeat(32).as_str(), winner), leaf("0".repeat(32).as_str(), other)]);
        let made = rules.admin("POST", "/db/_bulk_docs", json!({ "new_edits": false, "docs": docs }));
        assert_eq!(made.0, 201, "{made:?}");
    }
    for name in ["idea", "hush"] {
        assert_eq!(rules.admin("POST", "/_branches", json!({ "name": name })).0, 201);
    }
    assert_eq!(rules.admin("PUT", "/db/_local/hush", json!({ "word": "hush" })).0, 201);
    assert_eq!(rules.admin("PUT", "/db/_consumers/hush", json!({})).0, 201);
    assert_eq!(rules.admin("PUT", "/db/_access", json!({ "read": { "owner": "$user.name" } })).0, 200);
    rules
}

/// A row: its method, its path, the names of its parameters.
fn rows(rules: &Rules) -> Vec<(String, String, Vec<String>)> {
    let described = rules.admin("GET", "/_openapi.json", Value::Null).1;
    let mut rows = Vec::new();
    for (path, methods) in described["paths"].as_object().unwrap() {
        for (method, row) in methods.as_object().unwrap() {
            let parameters = row["parameters"].as_array().into_iter().flatten();
            let named = parameters.filter(|one| one["in"] == "query").filter_map(|one| one["name"].as_str());
            rows.push((method.to_ascii_uppercase(), path.clone(), named.map(str::to_owned).collect()));
        }
    }
    assert!(rows.len() > 120, "{}", rows.len());
    // What OpenAPI does not name: the console.
    let pages = [
        "",
        "/doc/{id}",
        "/doc/{id}/compare",
        "/doc/{id}/conflicts",
        "/query",
        "/query/compare",
        "/compare",
        "/export",
        "/new",
        "/changes",
        "/indexes",
        "/security",
    ];
    let console = pages.map(|page| ("GET".to_owned(), format!("/_utils/{{db}}{page}"), vec!["q".to_owned()]));
    let of_server = [
        "/_utils/",
        "/_utils/-/branches",
        "/_utils/-/branch-diff",
        "/_utils/-/merge",
        "/_utils/-/tasks",
        "/_utils/-/logs",
        "/_utils/-/samples",
        "/_utils/-/users",
        "/_utils/-/account",
    ];
    rows.extend(console);
    rows.extend(of_server.map(|path| ("GET".to_owned(), path.to_owned(), Vec::new())));
    rows
}

/// Values to be tried for a parameter.
fn values(name: &str) -> &'static [&'static str] {
    match name {
        "limit" => &["0", "1", "9"],
        "key" | "startkey" | "endkey" => &["%22hush%201%22", "%22mine%22", "%22p%3Ah%22"],
        "keys" => &["%5B%22p%3Ahush%22,%22hush%201%22%5D"],
        "open_revs" => {
            &["all", "%5B%221-ffffffffffffffffffffffffffffffff%22,%221-00000000000000000000000000000000%22%5D"]
        }
        "rev" => &["1-ffffffffffffffffffffffffffffffff", "1-00000000000000000000000000000000"],
        "filter" => &["d/f", "_design", "_doc_ids&doc_ids=%5B%22p%3Ahush%22%5D", "_view&view=d/v"],
        "feed" => &["longpoll&timeout=0", "continuous&timeout=0", "eventsource&timeout=0"],
        "since" => &["0", "now", "3", "0~0~4"],
        "style" => &["all_docs"],
        "at" => &["4", "tag:v1", "1h"],
        "update" => &["false", "lazy"],
        "fields" => &["hush,word"],
        "q" => &["hush", "n%20%3E%200&facet=word"],
        "branch" => &["hush"],
        "skip" | "group_level" | "heartbeat" | "timeout" | "seq_interval" | "count" => &["1"],
        "doc_ids" | "atts_since" => &["%5B%22p%3Ahush%22%5D"],
        _ => &["true", "false"],
    }
}

fn body(path: &str) -> Value {
    let find = json!({ "selector": { "$or": [{ "word": { "$gt": null } }, { "hush": 1 }] }, "conflicts": true,
        "execution_stats": true, "limit": 50 });
    match path.rsplit('/').next().unwrap_or_default() {
        "_find" | "_explain" => find,
        "_aggregate" => {
            json!({ "pipeline": [{ "$group": { "_id": "$word", "n": { "$sum": 1 }, "all": { "$push": "$owner" } } }] })
        }
        "_bulk_get" => json!({ "docs": [{ "id": "p:left" }, { "id": "p:two" }, { "id": "p:was" },
            { "id": "p:two", "rev": "1-00000000000000000000000000000000" }] }),
        "_all_docs" | "_design_docs" | "_local_docs" | "{view}" => json!({ "keys": ["p:left", "mine", "p:two"] }),
        "queries" => json!({ "queries": [{ "include_docs": true }, { "descending": true, "reduce": false }] }),
        "_bulk_docs" => json!({ "docs": [{ "_id": "p:x1", "owner": "ada", "word": "hush 1" }] }),
        "_revs_diff" | "_missing_revs" => json!({ "p:left": ["2-a"], "p:two": ["1-00000000000000000000000000000000"] }),
        "_changes" => json!({ "selector": {}, "doc_ids": ["p:left", "p:a"] }),
        "_dbs_info" => json!({ "keys": ["db", "db@idea"] }),
        "_update_by_query" | "_delete_by_query" => json!({ "selector": {}, "merge": { "x": 1 }, "dry_run": true }),
        "_replicate" => json!({ "source": "db", "target": "copy" }),
        "_session" => json!({ "name": "ada", "password": "pencil" }),
        _ => json!({ "owner": "ada", "word": format!("mine {}", path.len()) }),
    }
}

#[test]
fn no_answer_to_a_limited_user_has_a_word_that_the_rule_hides() {
    let rules = filled();
    let (mut wrong, mut asked, mut reached) = (Vec::new(), 0, 0);
    let mut ask = |method: &str, path: &str, more: &str, body: &Value| {
        let body = if matches!(method, "GET" | "HEAD") { String::new() } else { body.to_string() };
        let head = format!("{}{more}", basic(ADA));
        let (status, answer) = rules.server.ask_with(&head, method, path, body.as_bytes());
        asked += 1;
        reached += usize::from(answer.contains(OWN));
        // What the request itself says may come back.
        let request = format!("{} {body}", path.replace("%20", " ").replace("%22", "\"").replace("%3A", ":"));
        let leaks = |word: &&str| answer.contains(*word) && !request.contains(*word);
        let leaked = WORDS.iter().chain([&HIDDEN]).find(|word| leaks(word));
        if let Some(word) = leaked.copied().or((status >= 500 && status != 501).then_some("")) {
            let at = answer.find(word).unwrap_or_default();
            let around: String = answer.chars().skip(at.saturating_sub(80)).take(240).collect();
            wrong.push(format!("{method} {path} {more:?}: {status} {around}"));
        }
    };
    for (method, path, parameters) in rows(&rules) {
        let named = path
            .replace("{db}", "db")
            .replace("/_design/{name}", "/_design/d")
            .replace("{design}", "i")
            .replace("{partition}", "p")
            .replace("{node}", "_local")
            .replace("{section}", "log")
            .replace("{setting}", "level");
        let functions = if path.contains("_show") {
            "s"
        } else if path.contains("_list") {
            "l"
        } else {
            "u"
        };
        let named = named.replace("{function}", functions).replace("{path}", "x").replace("{attachment}", "f.txt");
        let mut paths: Vec<String> = IDS.iter().map(|id| named.replace("{id}", id)).collect();
        paths.extend(["v", "r"].map(|view| named.replace("{view}", view).replace("{id}", "p:left")));
        paths.sort_unstable();
        paths.dedup();
        // What logs out, or ends the database, is for admins; so that is never done.
        for path in paths {
            let path = path.replace("{view}", "v").replace(['{', '}'], "");
            let body = body(&path.replace("/v", "/{view}"));
            ask(&method, &path, "", &body);
            if method == "GET" {
                for form in ["text/html", "text/csv", "application/x-ndjson", "multipart/mixed"] {
                    ask(&method, &path, &format!("Accept: {form}\r\nSec-Fetch-Dest: document\r\n"), &body);
                }
                ask(&method, &format!("{path}?template=d/t"), "", &body);
            }
            for name in &parameters {
                for value in values(name) {
                    ask(&method, &format!("{path}?{name}={value}"), "", &body);
                    let rest = "include_docs=true&conflicts=true&attachments=true&revs=true&meta=true&update_seq=true";
                    ask(&method, &format!("{path}?{name}={value}&{rest}"), "", &body);
                }
            }
        }
    }
    for id in ["p:hush", "p:second", "p:left", "p:none"] {
        for (method, path) in [
            ("GET", String::new()),
            ("GET", "?open_revs=all".to_owned()),
            ("GET", "/hush.txt".to_owned()),
            ("GET", "?rev=1-ffffffffffffffffffffffffffffffff&attachments=true".to_owned()),
            ("PUT", String::new()),
            ("DELETE", "?rev=1-ffffffffffffffffffffffffffffffff".to_owned()),
        ] {
            ask(method, &format!("/db/{id}{path}"), "", &json!({ "owner": "ada", "word": "own" }));
        }
    }
    // A value that only a hidden document has, in a unique index.
    for (method, path) in [("PUT", "/db/p:y"), ("POST", "/db"), ("POST", "/db/_bulk_docs")] {
        let doc = json!({ "_id": "p:y", "owner": "ada", "word": "hush 1" });
        let sent = if path.contains("bulk") { json!({ "docs": [doc] }) } else { doc };
        let (_, answer) = rules.as_user(ADA, method, path, sent);
        let told = answer.to_string();
        assert!(told.contains("unique") && !told.contains("p:hush"), "{method} {path}: {told}");
    }
    assert!(asked > 2000 && reached > 100, "{asked} requests, {reached} of which read something");
    assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
}
