//! What a query answers at two moments, on the console's page and as a file: rows that came, went and changed, within
//! bounds, as text, and for those alone who may read the database.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::access_rules::{ADA, Rules};
use crate::accounts;
use crate::served::{self, Served};

const BROWSER: &str = "Accept: text/html,application/xhtml+xml\r\n";
const HOSTILE: &str = "\"><script>alert(1)</script>' onload=&amp;";

fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "%{byte:02X}");
        out
    })
}

/// The commit that a database has come to.
fn commit(served: &Served) -> u64 {
    let seq = served::json(&served.ask("GET", "/db", b"").1)["update_seq"].as_str().unwrap().to_owned();
    seq.rsplit('-').next().unwrap().parse().unwrap()
}

fn bulk(served: &Served, docs: &Value) {
    let (status, answer) = served.ask("POST", "/db/_bulk_docs", json!({ "docs": docs }).to_string().as_bytes());
    assert!(status == 201 && !answer.contains("\"error\""), "{answer}");
}

fn rev(served: &Served, id: &str) -> String {
    served::json(&served.ask("GET", &format!("/db/{id}"), b"").1)["_rev"].as_str().unwrap().to_owned()
}

fn index(served: &Served) {
    let (status, answer) = served.ask("POST", "/db/_index", br#"{"index": {"fields": ["score"]}}"#);
    assert_eq!(status, 200, "{answer}");
}

/// Scores before and after a day, and the commit between.
fn scores(indexed: bool) -> (Served, u64) {
    let served = Served::start();
    served.ask("PUT", "/db", b"");
    if indexed {
        index(&served);
    }
    bulk(
        &served,
        &json!([
            {"_id": "ann", "score": 90, "team": "a"}, {"_id": "bob", "score": 80, "team": "b"},
            {"_id": "cid", "score": 70, "team": "a"}, {"_id": "dan", "score": 60, "team": "b"},
            {"_id": "eve", "score": 10, "team": "a"},
        ]),
    );
    let then = commit(&served);
    bulk(
        &served,
        &json!([
            {"_id": "bob", "_rev": rev(&served, "bob"), "score": 95, "team": "b"},
            {"_id": "cid", "_rev": rev(&served, "cid"), "score": 1, "team": "a"},
            {"_id": HOSTILE, "score": 99, "team": HOSTILE, HOSTILE: [HOSTILE]},
            {"_id": "dan", "_rev": rev(&served, "dan"), "score": 60, "team": "b", "note": HOSTILE},
        ]),
    );
    (served, then)
}

fn page(served: &Served, query: &Value, from: &str, to: &str) -> String {
    let name = if query.is_array() { "pipeline" } else { "find" };
    let query = encoded(&query.to_string());
    let path = format!("/_utils/db/query/compare?{name}={query}&from={from}&to={to}");
    let (status, html) = served.ask_with(BROWSER, "GET", &path, b"");
    assert_eq!(status, 200, "{html}");
    html
}

/// The rows of a page's table: their cells without markup.
fn rows(html: &str) -> Vec<Vec<String>> {
    let body = html.split("<tbody>").nth(1).unwrap_or_default().split("</tbody>").next().unwrap();
    let plain = |cell: &str| {
        let text: String = cell.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let cells = |row: &str| row.split("</td>").flat_map(|cell| cell.split("</th>")).map(plain).collect::<Vec<_>>();
    body.split("</tr>").map(cells).filter(|row| row.len() > 1).collect()
}

#[test]
fn rows_of_a_query_that_came_went_and_changed_are_told() {
    let (served, then) = scores(false);
    let (then, top) = (then.to_string(), json!({"selector": {"score": {"$gt": 50}}, "fields": ["_id", "score"]}));
    let html = page(&served, &top, &then, "now");
    let told: Vec<String> = rows(&html).iter().map(|row| row[..3].join("|")).collect();
    let hostile = HOSTILE.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&#34;");
    let hostile = hostile.replace('\'', "&#39;");
    assert_eq!(told, [format!("{hostile}|came|1"), "bob|changed|2 → 3".to_owned(), "cid|went|3".to_owned()], "{html}");
    assert!(html.contains("1 came, 1 changed, 1 went, 2 stayed the same."), "{html}");
    assert!(!html.contains("<script>alert") && html.contains("&lt;script"), "{html}");
    // Only the member that is different, with both of its values.
    assert_eq!(rows(&html)[1][3..5], ["score80".to_owned(), "score95".to_owned()], "{html}");
    assert!(html.contains(&format!("href=\"/_utils/db/doc/bob/compare?from={then}&amp;to=now\"")), "{html}");
    // The other way round, and with one moment twice.
    let back: Vec<String> = rows(&page(&served, &top, "now", &then)).iter().map(|row| row[1].clone()).collect();
    assert_eq!(back, ["changed", "came", "went"]);
    assert!(page(&served, &top, &then, &then).contains("answers the same at both"));
    // Before there was a database, there was no row.
    assert!(page(&served, &top, "1", "now").contains("4 came, 0 changed, 0 went"), "before it was made");
}

#[test]
fn a_query_with_a_limit_is_compared_as_it_is_answered_and_a_pipeline_by_its_ids() {
    let (served, then) = scores(true);
    let then = then.to_string();
    let top = json!({"selector": {"score": {"$gt": 0}}, "sort": [{"score": "desc"}], "limit": 2, "fields": ["score"]});
    let html = page(&served, &top, &then, "now");
    let told: Vec<String> = rows(&html).iter().map(|row| row[1..5].join("|")).collect();
    assert_eq!(told, ["came|1|no row|score99", "changed|2|score80|score95", "went|1|score90|no row"], "{html}");
    let teams = json!([{"$group": {"_id": "$team", "points": {"$sum": "$score"}}}, {"$sort": {"_id": 1}}]);
    let html = page(&served, &teams, &then, "now");
    let told: Vec<Vec<String>> = rows(&html).into_iter().filter(|row| row[0].len() == 1).collect();
    assert_eq!(told[0][..2], ["a".to_owned(), "changed".to_owned()], "{html}");
    assert_eq!(told[0][3..5], ["points170".to_owned(), "points101".to_owned()], "{html}");
    assert!(html.contains("1 came, 2 changed, 0 went, 0 stayed the same."), "{html}");
    let count = json!([{"$count": "all"}]);
    let html = page(&served, &count, &then, "now");
    assert!(html.contains("0 came, 1 changed, 0 went") && rows(&html)[0][3..5] == ["all5", "all6"], "{html}");
    // An index that was made later is none of then: it is said which moment lacks it.
    let (served, then) = scores(false);
    index(&served);
    let html = page(&served, &top, &then.to_string(), "now");
    assert!(html.contains(&format!("As of {then}: No index exists for this sort")), "{html}");
}

#[test]
fn the_differences_of_a_query_are_a_file_too() {
    let (served, then) = scores(false);
    let find = encoded(&json!({"selector": {"score": {"$gt": 50}}}).to_string());
    let file = |form: &str| {
        let path = format!("/_utils/db/export?of=differences&find={find}&from={then}&to=now&format={form}");
        served.ask("GET", &path, b"").1
    };
    let all = served::json(&file("json"));
    let told: Vec<String> = all["rows"].as_array().unwrap().iter().map(|row| row["what"].to_string()).collect();
    assert_eq!(told, ["\"came\"", "\"changed\"", "\"changed\"", "\"went\""], "{all}");
    let bob = &all["rows"][1];
    assert_eq!((&bob["id"], &bob["before"]["score"], &bob["after"]["score"]), (&json!("bob"), &json!(80), &json!(95)));
    assert!(file("csv").contains("id,what,place_before,place_after,before,after\r\n"), "{}", file("csv"));
    assert!(file("ndjson").contains("{\"id\":\"cid\",\"what\":\"went\",\"place_before\":3,"), "{}", file("ndjson"));
}

#[test]
fn what_cannot_be_compared_says_why_and_what_to_do() {
    let served = Served::start();
    served.ask("PUT", "/db", b"");
    let docs: Vec<Value> = (0..2100).map(|n| json!({"_id": format!("d{n:04}"), "n": n})).collect();
    let before = commit(&served);
    bulk(&served, &json!(docs));
    let everything = json!({"selector": {"n": {"$gte": 0}}, "limit": 5000});
    let html = page(&served, &everything, &before.to_string(), "now");
    assert!(html.contains("role=\"alert\"") && html.contains("more than 2000 rows"), "{html}");
    let to = html.split("href=\"/_utils/db/compare?").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    let (_, all) = served.ask_with(BROWSER, "GET", &format!("/_utils/db/compare?{to}"), b"");
    assert!(all.contains("came in") && all.contains("There are more"), "{all}");
    let path = format!("/_utils/db/export?of=differences&find={}", encoded(&everything.to_string()));
    let (status, answer) = served.ask("GET", &format!("{path}&from={before}&to=now&format=json"), b"");
    assert!(status == 400 && answer.contains("smaller limit"), "{answer}");
    // Within the bounds, more differences than a page shows.
    let many = json!({"selector": {"n": {"$gte": 0}}, "limit": 1999});
    let html = page(&served, &many, &before.to_string(), "now");
    assert!(rows(&html).len() == 200 && html.contains("1,799 more"), "{}", rows(&html).len());
    for (query, from, expected) in [
        (json!({"selector": {"n": {"$no": 1}}}), "1", "role=\"alert\""),
        (json!({"selector": {}}), "yesterday<b>", "yesterday&lt;b&gt;"),
        (json!([{"$nothing": 1}]), "1", "role=\"alert\""),
    ] {
        let html = page(&served, &query, &encoded(from), "now");
        assert!(html.contains(expected) && !html.contains("<tbody>"), "{query}: {html}");
    }
    let (status, html) = served.ask_with(BROWSER, "GET", "/_utils/db/query/compare", b"");
    assert!(status == 200 && html.contains("Nothing was asked yet"), "{html}");
}

#[test]
fn who_may_not_read_the_database_or_not_all_of_it_compares_nothing() {
    let paths = |find: &str| {
        [
            format!("/_utils/db/query/compare?find={find}&from=1&to=now"),
            format!("/_utils/db/export?of=differences&find={find}&from=1&to=now&format=json"),
        ]
    };
    let find = encoded(&json!({"selector": {"_id": {"$gt": null}}}).to_string());
    let server = accounts::Served::start();
    server.ask(accounts::ADMIN, "PUT", "/db", "");
    server.ask(accounts::ADMIN, "PUT", "/db/secret-one", r#"{"word": "hidden-word"}"#);
    for path in paths(&find) {
        let refused = server.ask_with(BROWSER, "GET", &path, "");
        assert!(refused.status == 401 && !refused.body.contains("secret-one"), "{path}: {}", refused.body);
    }
    // A user whom a rule of the database limits is shown nothing of it: no other pages of the console are theirs.
    let rules = Rules::start();
    rules.put("of-bob", json!({"owner": "bob"}));
    rules.put("of-ada", json!({"owner": "ada"}));
    for path in paths(&find) {
        let (status, body) = rules.server.ask_with(&accounts::basic(ADA), "GET", &path, b"");
        assert!(status == 403 && !body.contains("of-bob") && !body.contains("of-ada"), "{path}: {body}");
    }
}
