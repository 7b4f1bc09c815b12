//! HTML as a form of every answer: who gets it, what it shows, that it is text, and that it comes in pieces.

use std::io::Read as _;
use std::io::Write as _;

use serde_json::json;

use crate::served::Served;

const BROWSER: &str = "Accept: text/html,application/xhtml+xml,*/*;q=0.8";
const HOSTILE: &str = "\"><script>alert(1)</script>' onload=\u{202e}\0&amp;";

fn served() -> Served {
    let served = Served::start();
    served.ask("PUT", "/db", b"");
    let docs = json!({"docs": [
        {"_id": "a", "name": HOSTILE, "url": "https://example.org/?a&b", "pos": {"lat": 1.5}},
        {"_id": HOSTILE, HOSTILE: [HOSTILE, {"x": null}], "link": "javascript:alert(1)"},
        {"_id": "c", "name": "Ünïcode 😀", "n": 7},
    ]});
    assert_eq!(served.ask("POST", "/db/_bulk_docs", docs.to_string().as_bytes()).0, 201);
    served
}

/// An answer to a browser: its head and its body.
fn page(served: &Served, target: &str, headers: &str) -> (String, String) {
    let request = format!("GET {target} HTTP/1.0\r\nHost: x\r\n{BROWSER}\r\n{headers}\r\n");
    let answer = served.raw(request.as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

/// Every tag is one that the server writes, and none of them runs anything.
fn is_inert(html: &str) {
    let known = "!doctype html head meta title link body a header nav span bdi form label input button main h1 h2 \
                 dl dt dd ol ul li code pre i p div table thead tbody tr th td footer svg rect path circle";
    let known: Vec<&str> = known.split(' ').collect();
    for tag in html.split('<').skip(1) {
        let inside = tag.split('>').next().unwrap();
        let name = inside.split([' ', '\n']).next().unwrap().trim_start_matches('/').to_lowercase();
        assert!(known.contains(&name.as_str()), "<{inside}> in {html}");
        assert!(!inside.to_lowercase().contains("href=\"javascript:"), "{inside}");
        let attributes = inside.split('"').step_by(2).collect::<String>();
        assert!(!attributes.contains("onload"), "<{inside}>");
    }
}

#[test]
fn every_answer_has_a_page_for_browsers() {
    let served = served();
    for (target, expected) in [
        ("/", "Welcome"),
        ("/_all_dbs", "<a href=\"/db\">db</a>"),
        ("/_up", "ok"),
        ("/db", "doc_count"),
        ("/db/a", "<dt><bdi>pos</bdi></dt><dd><dl>"),
        ("/db/_all_docs", "<a href=\"/db/a\">a</a>"),
        ("/db/_all_docs?include_docs=true", "Ünïcode 😀"),
        ("/db/_all_docs?fields=pos.lat", "<td class=\"number\">1.5</td>"),
        ("/db/_changes", "last_seq"),
        ("/db/a/_history", "<a href=\"/db/a?at="),
        ("/db/_index", "_all_docs"),
        ("/db/missing", "<h1><bdi>404 Not Found</bdi></h1>"),
        ("/nowhere", "Database does not exist."),
    ] {
        let (head, html) = page(&served, target, "");
        assert!(head.contains("content-type: text/html; charset=utf-8"), "{target}: {head}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
        assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"), "{target}: {html}");
        assert!(html.contains(expected), "{target}: {html}");
        is_inert(&html);
    }
    // Who does not ask for it gets what CouchDB answers.
    assert_eq!(crate::served::json(&served.ask("GET", "/db/c", b"").1)["n"], 7);
}

#[test]
fn documents_stay_text_and_links_lead_to_them() {
    let served = served();
    let (_, list) = page(&served, "/db/_all_docs?at=1h&include_docs=true", "");
    assert!(list.starts_with("<!DOCTYPE html>"), "{list}");
    let (_, list) = page(&served, "/db/_all_docs?include_docs=true&title=%3Ch1%3E&lang=%22%3E", "");
    is_inert(&list);
    assert!(list.contains("<title>&lt;h1&gt;</title>") && list.contains("lang=\"en\""), "{list}");
    let to = list.split("href=\"").find(|to| to.starts_with("/db/%22")).unwrap().split('"').next().unwrap();
    let (head, html) = page(&served, to, "");
    assert!(head.starts_with("http/1.0 200") || head.starts_with("http/1.1 200"), "{head}");
    is_inert(&html);
    assert!(html.contains("&lt;script&gt;alert(1)") && html.contains("javascript:alert(1)</bdi>"), "{html}");
}

#[test]
fn pages_go_on_where_they_end() {
    let served = Served::start();
    served.ask("PUT", "/db", b"");
    let docs: Vec<_> = (0..25).map(|n| json!({"_id": format!("d{n:02}"), "n": n})).collect();
    served.ask("POST", "/db/_bulk_docs", json!({"docs": docs}).to_string().as_bytes());
    let (mut target, mut seen) = ("/db/_all_docs?limit=10".to_owned(), 0);
    for _ in 0..5 {
        let (_, html) = page(&served, &target, "");
        seen += html.matches("<th scope=\"row\">").count();
        let Some(next) = html.split("rel=\"next\" href=\"").nth(1) else { break };
        target = next.split('"').next().unwrap().replace("&amp;", "&");
    }
    assert_eq!(seen, 25, "{target}");
    let (_, changes) = page(&served, "/db/_changes?limit=10", "");
    assert!(changes.contains("rel=\"next\" href=\"/db/_changes?limit=10&amp;since="), "{changes}");
}

#[test]
fn a_page_has_a_tag_of_its_own() {
    let served = served();
    for target in ["/db/a", "/db/_all_docs"] {
        let (head, _) = page(&served, target, "");
        let tag = head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
        assert!(tag.ends_with("-html1\""), "{tag}");
        let of_page = tag.replace("w/", "W/");
        let (again, body) = page(&served, target, &format!("If-None-Match: {of_page}\r\n"));
        assert!(again.contains(" 304") && again.contains(&format!("etag: {tag}")), "{again}");
        assert_eq!(body, "");
        // That of the JSON is not the page's, nor the other way round.
        let json = of_page.replace("-html1", "");
        assert!(page(&served, target, &format!("If-None-Match: {json}\r\n")).0.contains(" 200"));
        let request = format!("GET {target} HTTP/1.0\r\nIf-None-Match: {of_page}\r\n\r\n");
        assert!(served.raw(request.as_bytes()).contains(" 200 "));
    }
}

#[test]
fn queries_and_other_forms_are_pages_too() {
    let served = served();
    let ask = |path: &str, body: &str| {
        let head =
            format!("POST {path} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        served.raw(format!("{head}\r\n{body}").as_bytes())
    };
    let found = ask("/db/_find?format=html", r#"{"selector":{"n":{"$gt":1}}}"#);
    assert!(found.contains("<a href=\"/db/c?format=html\">c</a>"), "{found}");
    let rows = ask("/db/_aggregate?format=html", r#"{"pipeline":[{"$group":{"_id":"$name","n":{"$sum":1}}}]}"#);
    assert!(rows.contains("<!DOCTYPE html>") && rows.contains("<td class=\"number\">1</td>"), "{rows}");
    let (head, lines) = page(&served, "/db/_all_docs?format=csv", "");
    assert!(head.contains("text/csv") && lines.starts_with("id,rev\r\n"), "{head}");
    let (head, _) = page(&served, "/db/_all_docs?format=json", "");
    assert!(head.contains("application/json"), "{head}");
}

#[test]
fn a_long_list_comes_in_pieces_and_a_long_document_is_whole() {
    let served = Served::start();
    served.ask("PUT", "/db", b"");
    let text = "<b>".repeat(100_000);
    for n in 0..20 {
        let doc = json!({"text": text, "n": n}).to_string();
        assert_eq!(served.ask("PUT", &format!("/db/d{n:02}"), doc.as_bytes()).0, 201);
    }
    let long = json!({"long": "<i>".repeat(500_000)}).to_string();
    assert_eq!(served.ask("PUT", "/db/long", long.as_bytes()).0, 201);
    let mut stream = served.connect();
    write!(stream, "GET /db/_all_docs?include_docs=true&format=html HTTP/1.0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    is_inert(answer.split_once("\r\n\r\n").unwrap().1);
    assert_eq!(answer.matches("<th scope=\"row\">").count(), 20);
    assert!(answer.contains("<pre tabindex=\"0\"><code>") && answer.ends_with("</html>\n"));
    let (_, html) = page(&served, "/db/long", "");
    is_inert(&html);
    assert_eq!(html.matches("&lt;i&gt;").count(), 500_000);
}

fn with_templates() -> Served {
    let served = served();
    let design = json!({"templates": {
        "row": {
            "head": "<!DOCTYPE html><title>{{ title or db }}</title><ul>",
            "row": "<li>{{ index }} <a href=\"{{ doc.url }}\">{{ doc.name }}</a></li>",
            "foot": "</ul><p>{{ rows }} of {{ answer.total_rows }}</p>",
        },
        "text": {"type": "text/plain; charset=utf-8", "row": "{{ doc.name }}|"},
        "endless": {"row": "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}"},
        "large": {"row": "{{ 'x' * 90000000 }}"},
        "deep": {"row": "{% macro again(n) %}{{ again(n) }}{% endmacro %}{{ again(1) }}"},
        "wrong": {"row": "{{ doc. }}"},
        "number": {"row": 7},
    }});
    let (status, answer) = served.ask("PUT", "/db/_design/site", design.to_string().as_bytes());
    assert_eq!(status, 201, "{answer}");
    served
}

#[test]
fn a_databases_template_makes_lists_and_documents() {
    let served = with_templates();
    let list = "/db/_all_docs?include_docs=true&startkey=%22a%22&template=site/row&title=%3Cb%3E";
    let (head, html) = page(&served, list, "");
    assert!(head.contains("content-security-policy: sandbox"), "{head}");
    assert!(html.starts_with("<!DOCTYPE html><title>&lt;b&gt;</title><ul><li>0 "), "{html}");
    assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
    assert!(html.ends_with("<p>2 of 4</p>"), "{html}");
    let (head, text) = page(&served, "/db/c?template=site/text", "");
    assert!(head.contains("content-type: text/plain; charset=utf-8"), "{head}");
    assert_eq!(text, "Ünïcode 😀|");
    // A template is as old as the moment.
    let again = json!({"templates": {"text": {"type": "text/plain", "row": "new {{ doc.name }}"}}});
    let (_, design) = served.ask("GET", "/db/_design/site", b"");
    let design = crate::served::json(&design);
    let rev = design["_rev"].as_str().unwrap();
    let (_, info) = served.ask("GET", "/db", b"");
    let seq = crate::served::json(&info)["update_seq"].as_str().unwrap().to_owned();
    let put = format!("/db/_design/site?rev={rev}");
    assert_eq!(served.ask("PUT", &put, again.to_string().as_bytes()).0, 201);
    assert_eq!(page(&served, "/db/c?template=site/text", "").1, "new Ünïcode 😀");
    assert_eq!(page(&served, &format!("/db/c?template=site/text&at={seq}"), "").1, "Ünïcode 😀|");
    let list = "/db/_all_docs?include_docs=true&startkey=%22c%22&template=site/text";
    assert_eq!(page(&served, list, "").1, "new Ünïcode 😀");
    assert_eq!(page(&served, &format!("{list}&at={seq}"), "").1, "Ünïcode 😀|");
}

#[test]
fn a_template_has_bounds_and_its_mistakes_are_told() {
    let served = with_templates();
    for (target, status, told) in [
        ("/db/c?template=site/endless", " 500", "fuel"),
        ("/db/c?template=site/large", " 500", "template_failed"),
        ("/db/c?template=site/deep", " 500", "template_failed"),
        ("/db/c?template=site/wrong", " 500", "syntax error"),
        ("/db/c?template=site/number", " 400", "no text"),
        ("/db/c?template=site/none", " 400", "has no template none"),
        ("/db/c?template=none/none", " 404", "missing"),
        ("/db/c?template=site", " 400", "design document/name"),
        ("/?template=site/row", " 400", "Templates are of databases"),
    ] {
        let (head, html) = page(&served, target, "");
        assert!(head.contains(status) && html.contains(told), "{target}: {head} {html}");
        is_inert(&html);
    }
}

#[test]
fn a_misspelt_member_of_a_design_document_is_told_where_these_are_listed() {
    let served = with_templates();
    let (_, before) = page(&served, "/_utils/db/indexes", "");
    assert!(before.contains("_design/site") && !before.contains("does nothing"), "{before}");
    let design = br#"{"validate_doc_updates":"function () { throw({forbidden: 'no'}) }"}"#;
    assert_eq!(served.ask("PUT", "/db/_design/rules", design).0, 201);
    let (_, told) = page(&served, "/_utils/db/indexes", "");
    assert!(told.contains("validate_doc_updates does nothing; perhaps validate_doc_update is meant"), "{told}");
}

#[test]
fn a_page_of_a_template_is_known_again_by_its_tag() {
    let served = with_templates();
    for target in ["/db/c?template=site/text", "/db/_all_docs?template=site/text"] {
        let tag = page(&served, target, "").0.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
        let header = format!("If-None-Match: {}\r\n", tag.replace("w/", "W/"));
        assert!(page(&served, target, &header).0.contains(" 304"), "{tag}");
        assert!(page(&served, &target.replace("text", "row"), &header).0.contains(" 304"), "of one design document");
        assert!(page(&served, &target.replace("template=site/text", ""), &header).0.contains(" 200"));
        let (_, design) = served.ask("GET", "/db/_design/site", b"");
        assert_eq!(served.ask("PUT", "/db/_design/site", design.as_bytes()).0, 201);
        assert!(page(&served, target, &header).0.contains(" 200"), "another revision of the template");
    }
}

/// A page that was made is sent again as it is, and only while it still would be made so.
#[test]
fn a_page_of_a_template_is_kept_until_something_changes() {
    let served = with_templates();
    let list = "/db/_all_docs?include_docs=true&startkey=%22a%22&template=site/row";
    let (head, made) = page(&served, list, "");
    let (again_head, again) = page(&served, list, "");
    let tag = |head: &str| head.split("etag: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned();
    assert_eq!((&again, tag(&again_head)), (&made, tag(&head)));
    for header in ["content-security-policy: sandbox", "content-type: text/html"] {
        assert!(again_head.contains(header) && again_head.contains(" 200"), "{again_head}");
    }
    // Who has it is told so; who has another gets this one.
    let with = |tag: &str| page(&served, list, &format!("If-None-Match: {}\r\n", tag.replace("w/", "W/"))).0;
    assert!(with(&tag(&head)).contains(" 304"));
    assert!(with("\"7-html1\"").contains(" 200"));
    // Its address with another parameter is another page.
    assert_ne!(page(&served, &format!("{list}&title=other"), "").1, made);
    for (id, body) in [("new", json!({"name": "<new>"})), ("again", json!({"name": "again"}))] {
        assert_eq!(served.ask("PUT", &format!("/db/{id}"), body.to_string().as_bytes()).0, 201);
        let (_, html) = page(&served, list, "");
        assert!(html != made && html.contains(body["name"].as_str().unwrap().trim_matches(['<', '>'])), "{html}");
        assert_eq!(page(&served, list, "Cache-Control: no-store\r\n").1, html, "made anew it is the same");
        assert_eq!(page(&served, list, "").1, html);
    }
    // A template of other words makes other pages, of documents that are as they were.
    let (_, text) = page(&served, "/db/c?template=site/text", "");
    let (_, design) = served.ask("GET", "/db/_design/site", b"");
    assert_eq!(served.ask("PUT", "/db/_design/site", design.replace("}}|", "}}!").as_bytes()).0, 201);
    assert_eq!(page(&served, "/db/c?template=site/text", "").1, text.replace('|', "!"));
}

#[test]
fn the_console_shows_and_restores_and_other_sites_cannot() {
    let served = served();
    let (head, html) = page(&served, "/_utils/", "");
    assert!(head.contains("script-src 'self'") && html.contains("<a href=\"/_utils/db\">db</a>"), "{html}");
    let (_, html) = page(&served, "/_utils/db?q=n+%3E+1&facet=name&sort=-n", "");
    assert!(html.contains("&amp;sort=-n&amp;doc=c#doc\">c</a>") && !html.contains("doc=a#"), "{html}");
    // A word is looked for in every member; a condition that is none is marked in place.
    let (head, html) = page(&served, "/_utils/db?q=nonsense", "");
    assert!(head.contains(" 200") && html.contains("0 of 3 · "), "{html}");
    let (_, html) = page(&served, "/_utils/db?q=n+%3E+1+and+(", "");
    assert!(html.contains("The search cannot be understood") && html.contains("value=\"n &gt; 1 and (\""), "{html}");
    let (head, _) = page(&served, "/_utils/db/doc/none", "");
    assert!(head.contains(" 404"), "{head}");
    for asset in ["style.css", "console.js", "icon.svg"] {
        let (head, _) = page(&served, &format!("/_utils/-/{asset}"), "");
        assert!(head.contains(" 200") && head.contains("etag"), "{asset}: {head}");
    }
    let rev = crate::served::json(&served.ask("GET", "/db/c", b"").1)["_rev"].as_str().unwrap().to_owned();
    let changed = json!({"n": 8, "_rev": rev}).to_string();
    assert_eq!(served.ask("PUT", "/db/c", changed.as_bytes()).0, 201);
    let restore = format!("/_utils/db/doc/c/restore?rev={rev}");
    assert_eq!(served.ask("POST", &restore, b"{}").0, 201);
    assert_eq!(crate::served::json(&served.ask("GET", "/db/c", b"").1)["n"], 7);
    let plain = format!("POST {restore} HTTP/1.0\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}");
    assert!(served.raw(plain.as_bytes()).contains(" 415 "));
}

#[test]
fn behind_a_proxy_with_a_path_of_its_own_links_and_tags_are_others() {
    let served = served();
    let below = "X-Forwarded-Prefix: /a%20b/\r\n";
    for path in ["/db/_all_docs", "/db", "/db/c", "/", "/_utils/", "/_utils/db", "/_utils/db/doc/c", "/_utils/db/query"]
    {
        let (_, html) = page(&served, path, below);
        for name in ["href", "src", "action", "data-to", "data-then", "data-newer"] {
            for to in html.split(&format!(" {name}=\"")).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                // A document may name another site.
                let external = to.starts_with("https://example.org/");
                assert!(external || to.starts_with("/a%20b/") || to.starts_with(['#', '?']), "{path}: {name}={to}");
            }
        }
        assert!(html.contains("href=\"/a%20b/"), "{path}: {html}");
        // What is no plain path is not believed.
        for other in ["//evil.example", "https://evil.example", "/\"><script>"] {
            assert!(!page(&served, path, &format!("X-Forwarded-Prefix: {other}\r\n")).1.contains("evil"), "{path}");
        }
    }
    let tag = |headers: &str| {
        let (head, _) = page(&served, "/db/c", headers);
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("etag: ").map(str::to_owned)).unwrap()
    };
    let (plain, other) = (tag(""), tag(below));
    assert_ne!(plain, other);
    for (headers, sent, status) in [("", &plain, " 304"), (below, &other, " 304"), (below, &plain, " 200")] {
        let (head, _) = page(&served, "/db/c", &format!("{headers}If-None-Match: {sent}\r\n"));
        assert!(head.contains(status), "{headers} {sent}: {head}");
    }
}
