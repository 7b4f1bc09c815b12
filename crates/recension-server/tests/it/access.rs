//! Who may do what: every route by who asks and of which database, sessions, tokens, users, settings; over real
//! sockets.

use std::net::SocketAddr;
use std::path::Path;

use crate::accounts::{ADMIN, Connection, Served, basic};
use crate::described::described;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use recension_server::Server;
use recension_server::config::Config;
use serde_json::{Value, json};

/// Who is let through to an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
enum To {
    /// Everybody.
    All,
    /// Members; of a public database everybody is one.
    Members,
    /// Admins of the database.
    Admins,
    /// The same, for design documents, where members are told so by another status.
    DesignAdmins,
    /// Server admins, and tokens for metrics.
    Metrics,
    /// Server admins.
    ServerAdmins,
}

/// Anonymous, a user that is no member, a member, an admin of the database, a server admin.
const ASKING: [&str; 5] = ["", "outsider:pw", "member:pw", "dba:pw", ADMIN];

/// What each of them is answered, where whoever is let through is answered `granted`.
fn expected(to: To, public: bool, granted: u16) -> [u16; 5] {
    let g = granted;
    match to {
        To::All => [g; 5],
        To::Members if public => [g; 5],
        To::Members => [401, 403, g, g, g],
        To::Admins if public => [401, 401, 401, g, g],
        // Who is no member is told so first.
        To::Admins => [401, 403, 401, g, g],
        To::DesignAdmins if public => [401, 403, 403, g, g],
        To::DesignAdmins => [401, 403, 403, g, g],
        To::Metrics | To::ServerAdmins => [401, 401, 401, 401, g],
    }
}

/// Any status but 401 and 403: endpoints that others are building.
const ANYTHING: u16 = 0;

/// Every route: method, path, body, who is let through, and what those are answered.
const ROUTES: &[(&str, &str, &str, To, u16)] = &[
    ("GET", "/", "", To::All, 200),
    ("GET", "/_up", "", To::All, 200),
    ("GET", "/_uuids", "", To::All, 200),
    ("GET", "/_session", "", To::All, 200),
    ("DELETE", "/_session", "", To::All, 200),
    ("GET", "/_branches", "", To::ServerAdmins, 200),
    ("POST", "/_branches", "{}", To::ServerAdmins, 400),
    ("PUT", "/_branches/none", r#"{"name":"x"}"#, To::ServerAdmins, 404),
    ("DELETE", "/_branches/none", "", To::ServerAdmins, 404),
    ("GET", "/_tags", "", To::ServerAdmins, 200),
    ("POST", "/_tags", "{}", To::ServerAdmins, 400),
    ("DELETE", "/_tags/none", "", To::ServerAdmins, 404),
    ("POST", "/_merge", r#"{"from":"none"}"#, To::ServerAdmins, 404),
    ("GET", "/_diff", "", To::ServerAdmins, 400),
    ("GET", "/_tokens", "", To::ServerAdmins, 200),
    ("POST", "/_tokens", "{}", To::ServerAdmins, 400),
    ("DELETE", "/_tokens/none", "", To::ServerAdmins, 404),
    ("GET", "/_all_dbs", "", To::ServerAdmins, 200),
    ("GET", "/_dbs_info", "", To::ServerAdmins, 200),
    // Each row of its answer is decided on its own.
    ("POST", "/_dbs_info", r#"{"keys":[]}"#, To::All, 200),
    ("GET", "/_openapi.json", "", To::All, 200),
    ("GET", "/_db_updates", "", To::ServerAdmins, 200),
    ("POST", "/_replicate", "{}", To::ServerAdmins, 400),
    ("POST", "/_backup", "[]", To::ServerAdmins, 400),
    ("GET", "/_active_tasks", "", To::ServerAdmins, 200),
    ("GET", "/_membership", "", To::ServerAdmins, 200),
    ("GET", "/_metrics", "", To::Metrics, 200),
    ("GET", "/_node/_local/_prometheus", "", To::Metrics, 200),
    ("GET", "/_node/_local/_stats", "", To::Metrics, 200),
    ("GET", "/_node/_local/_system", "", To::Metrics, 200),
    ("GET", "/_node/_local/_versions", "", To::ServerAdmins, 200),
    ("GET", "/_node/_local/_config", "", To::ServerAdmins, 200),
    ("GET", "/_node/_local/_config/chttpd/port", "", To::ServerAdmins, 200),
    ("PUT", "/_node/_local/_config/vhosts/b", "\"c\"", To::ServerAdmins, 200),
    ("DELETE", "/_node/_local/_config/vhosts/b", "", To::ServerAdmins, 200),
    ("GET", "/{db}", "", To::Members, 200),
    ("HEAD", "/{db}", "", To::Members, 200),
    ("PUT", "/{db}", "", To::ServerAdmins, 412),
    ("POST", "/{db}", "{}", To::Members, 201),
    ("GET", "/{db}/a", "", To::Members, 200),
    ("HEAD", "/{db}/a", "", To::Members, 200),
    ("PUT", "/{db}/a", "{}", To::Members, 409),
    ("DELETE", "/{db}/a", "", To::Members, 409),
    ("COPY", "/{db}/a", "", To::Members, 400),
    ("GET", "/{db}/a/none", "", To::Members, ANYTHING),
    ("GET", "/{db}/_design/a", "", To::Members, 200),
    ("PUT", "/{db}/_design/a", "{}", To::DesignAdmins, 409),
    ("DELETE", "/{db}/_design/a", "", To::DesignAdmins, 409),
    ("GET", "/{db}/_local/a", "", To::Members, 404),
    ("PUT", "/{db}/_local/a", "{}", To::Members, 201),
    ("DELETE", "/{db}/_local/b", "", To::Members, 404),
    ("GET", "/{db}/_all_docs", "", To::Members, 200),
    ("GET", "/{db}/_design_docs", "", To::Members, 200),
    ("GET", "/{db}/_local_docs", "", To::Members, 200),
    ("POST", "/{db}/_bulk_docs", r#"{"docs":[]}"#, To::Members, 201),
    ("POST", "/{db}/_bulk_get", r#"{"docs":[]}"#, To::Members, 200),
    ("POST", "/{db}/_revs_diff", "{}", To::Members, 200),
    ("POST", "/{db}/_missing_revs", "{}", To::Members, 200),
    ("GET", "/{db}/_changes", "", To::Members, 200),
    ("POST", "/{db}/_changes", "{}", To::Members, 200),
    ("POST", "/{db}/_purge", "{}", To::ServerAdmins, 201),
    ("POST", "/{db}/_erase", r#"{"ids":["none"]}"#, To::ServerAdmins, 200),
    ("GET", "/{db}/_erase", "", To::ServerAdmins, 200),
    ("GET", "/{db}/_purged_infos", "", To::Members, 200),
    ("GET", "/{db}/_purged_infos_limit", "", To::ServerAdmins, 200),
    ("PUT", "/{db}/_purged_infos_limit", "1000", To::ServerAdmins, 200),
    ("GET", "/{db}/_access", "", To::Admins, 404),
    ("PUT", "/{db}/_access", r#"{"read":7}"#, To::Admins, 400),
    ("DELETE", "/{db}/_access", "", To::Admins, 200),
    ("GET", "/{db}/_leaves", "", To::Members, 200),
    ("GET", "/{db}/_schema", "", To::Members, 404),
    ("PUT", "/{db}/_schema", r#"{"type":"none"}"#, To::Admins, 400),
    ("DELETE", "/{db}/_schema", "", To::Admins, 200),
    ("GET", "/{db}/_security", "", To::Members, 200),
    ("PUT", "/{db}/_security", "[", To::Admins, 400),
    ("POST", "/{db}/_compact", "{}", To::Admins, 202),
    ("POST", "/{db}/_view_cleanup", "{}", To::Admins, 202),
    ("POST", "/{db}/_ensure_full_commit", "{}", To::Members, 201),
    ("GET", "/{db}/_revs_limit", "", To::Members, 200),
    ("PUT", "/{db}/_revs_limit", "1000", To::Admins, 200),
    ("GET", "/{db}/_retention", "", To::Members, 200),
    ("PUT", "/{db}/_retention", "\"everything\"", To::Admins, 200),
    ("GET", "/{db}/_expiry", "", To::Members, 200),
    ("PUT", "/{db}/_expiry", "null", To::Admins, 200),
    ("GET", "/{db}/_topics", "", To::Members, 200),
    ("POST", "/{db}/_topics/t", "x", To::Members, 200),
    ("GET", "/{db}/_consumers", "", To::Members, 200),
    // The first of them makes it, or forgets it.
    ("PUT", "/{db}/_consumers/c", "{}", To::Admins, ANYTHING),
    ("GET", "/{db}/_consumers/c", "", To::Members, 200),
    ("POST", "/{db}/_consumers/c/fetch", "{}", To::Members, 200),
    ("POST", "/{db}/_consumers/c/acknowledge", r#"{"messages":[]}"#, To::Members, 200),
    ("POST", "/{db}/_consumers/c/give_back", r#"{"messages":[]}"#, To::Members, 200),
    ("DELETE", "/{db}/_consumers/c", "", To::Admins, ANYTHING),
    ("GET", "/_scheduler/jobs", "", To::ServerAdmins, 200),
    ("GET", "/_scheduler/jobs/none", "", To::ServerAdmins, 404),
    ("GET", "/_scheduler/docs", "", To::ServerAdmins, 200),
    ("GET", "/_scheduler/docs/_replicator", "", To::ServerAdmins, 200),
    ("GET", "/_scheduler/docs/_replicator/none", "", To::ServerAdmins, 404),
    ("GET", "/_cluster_setup", "", To::ServerAdmins, 200),
    ("GET", "/_reshard", "", To::ServerAdmins, 501),
    ("POST", "/_search_analyze", "{}", To::ServerAdmins, 501),
    ("POST", "/_nouveau_analyze", "{}", To::ServerAdmins, 501),
    // Who may not see all databases is asked who they are.
    ("GET", "/_utils/", "", To::All, 200),
    ("GET", "/_utils/-/style.css", "", To::All, 200),
    ("GET", "/_utils/{db}", "", To::Members, 200),
    ("GET", "/_utils/{db}?q=n=1&facet=n", "", To::Members, 200),
    ("GET", "/_utils/{db}/doc/a", "", To::Members, 200),
    ("GET", "/_utils/{db}/doc/a/compare", "", To::Members, 200),
    ("GET", "/_utils/{db}/compare", "", To::Members, 200),
    ("GET", "/_utils/{db}/changes", "", To::Members, 200),
    ("GET", "/_utils/{db}/indexes", "", To::Members, 200),
    ("GET", "/_utils/{db}/security", "", To::Members, 200),
    ("GET", "/_utils/{db}/query", "", To::Members, 200),
    ("GET", "/_utils/{db}/export", "", To::Members, 200),
    ("GET", "/_utils/{db}/doc/a/conflicts", "", To::Members, 200),
    ("GET", "/_utils/-/samples", "", To::ServerAdmins, 200),
    ("POST", "/_utils/-/backups", "{}", To::ServerAdmins, 400),
    ("POST", "/_utils/-/restore", "{}", To::ServerAdmins, 400),
    ("POST", "/_utils/{db}/doc/a/restore", "{}", To::Members, 400),
    ("POST", "/_utils/{db}/doc/_design%2Fa/restore?rev=1-none", "{}", To::DesignAdmins, 404),
    ("GET", "/_node/_local/_smoosh/status", "", To::ServerAdmins, 501),
    ("POST", "/_node/_local/_restart", "{}", To::ServerAdmins, 501),
    ("POST", "/{db}/_temp_view", "{}", To::Members, 410),
    ("POST", "/{db}/_find", "{}", To::Members, 400),
    ("POST", "/{db}/_partition/a/_find", "{}", To::Members, 400),
    ("POST", "/{db}/_partition/a/_explain", "{}", To::Members, 400),
    ("GET", "/{db}/_partition/a/_design/a/_view/v", "", To::Members, 400),
    ("GET", "/{db}/_design/a/_view/v", "", To::Members, 404),
    ("POST", "/{db}/_design/a/_view/v/queries", "{}", To::Members, 404),
    ("GET", "/{db}/_design/a/_info", "", To::Members, 200),
    ("GET", "/{db}/_design/a/_show/s/a", "", To::Members, 404),
    ("POST", "/{db}/_design/a/_show/s/a", "{}", To::Members, 404),
    ("GET", "/{db}/_design/a/_list/l/v", "", To::Members, 404),
    ("POST", "/{db}/_design/a/_list/l/v", "{}", To::Members, 404),
    ("POST", "/{db}/_design/a/_update/u", "{}", To::Members, 404),
    ("PUT", "/{db}/_design/a/_update/u/a", "{}", To::Members, 404),
    ("GET", "/{db}/_design/a/_rewrite/x", "", To::Members, 404),
    ("GET", "/{db}/_design/a/_search/s", "", To::Members, 501),
    ("GET", "/{db}/_design/a/_search_info/s", "", To::Members, 501),
    ("GET", "/{db}/_design/a/_nouveau/s", "", To::Members, 501),
    ("GET", "/{db}/_design/a/_nouveau_info/s", "", To::Members, 501),
    ("POST", "/{db}/_search_cleanup", "{}", To::Admins, 501),
    ("POST", "/{db}/_nouveau_cleanup", "{}", To::Admins, 501),
    ("POST", "/{db}/_explain", "{}", To::Members, 400),
    ("POST", "/{db}/_aggregate", "{}", To::Members, 400),
    ("POST", "/{db}/_update_by_query", "{}", To::Members, 400),
    ("POST", "/{db}/_delete_by_query", "{}", To::Members, 400),
    ("POST", "/{db}/_index", "{}", To::Admins, 400),
    ("POST", "/{db}/_index/_bulk_delete", r#"{"docids":[]}"#, To::Admins, 200),
    ("GET", "/{db}/_index", "", To::Members, 200),
    ("DELETE", "/{db}/_index/a/json/i", "", To::Admins, 404),
    ("DELETE", "/{db}/_index/a/text/i", "", To::Admins, 404),
    ("GET", "/{db}/_partition/a", "", To::Members, 400),
    ("GET", "/{db}/_shards", "", To::Members, 200),
    ("POST", "/{db}/_sync_shards", "{}", To::ServerAdmins, 202),
    ("GET", "/{db}/a/_history", "", To::Members, ANYTHING),
    ("GET", "/{db}/_none", "", To::Members, 404),
    // Last, for then it is gone.
    ("DELETE", "/{db}", "", To::ServerAdmins, 200),
];

#[test]
fn every_route_lets_in_who_may_and_nobody_else() {
    let server = Served::start();
    for name in ["outsider", "member", "dba"] {
        server.user(name, if name == "member" { &["reader"] } else { &[] });
    }
    let mut wrong = Vec::new();
    for (db, public) in [("private", false), ("public", true)] {
        server.admin("PUT", &format!("/{db}"), &json!({}));
        let members = if public { json!({}) } else { json!({"roles": ["reader"]}) };
        let security = json!({"admins": {"names": ["dba"]}, "members": members});
        server.admin("PUT", &format!("/{db}/_security"), &security);
        server.admin("PUT", &format!("/{db}/a"), &json!({}));
        server.admin("PUT", &format!("/{db}/_design/a"), &json!({}));
        for (method, path, body, to, granted) in ROUTES {
            let path = path.replace("{db}", db);
            for (who, expected) in ASKING.iter().zip(expected(*to, public, *granted)) {
                let found = server.ask(who, method, &path, body).status;
                let fits = found == expected || (expected == ANYTHING && !matches!(found, 401 | 403));
                if !fits {
                    wrong.push(format!("{method} {path} as {who:?}: expected {expected}, found {found}"));
                }
            }
        }
        server.admin("PUT", &format!("/{db}"), &json!({}));
        let asked = json!({"keys": [db]}).to_string();
        let told = server.ask("outsider:pw", "POST", "/_dbs_info", &asked).json();
        assert_eq!(told, json!([{"key": db, "error": "not_found"}]), "of what one may not see");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names in the table of routes stand in this one. A route that is added without a line fails here.
#[test]
fn every_route_has_a_line_in_the_table() {
    let named: Vec<&str> = ROUTES.iter().flat_map(|(_, path, ..)| path.split('/')).collect();
    let source = include_str!("../../src/routes/table.rs");
    let paths = source.lines().filter_map(|line| line.split('"').nth(1)).filter(|path| path.starts_with('/'));
    let names: Vec<&str> = paths.flat_map(|path| path.split('/')).filter(|name| name.starts_with('_')).collect();
    assert!(names.len() > 30, "the files are not read as they were: {names:?}");
    let missing: Vec<_> = names.iter().filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "routes without a line: {missing:?}");
}

/// Both ways for paths, from the table to the description for methods, too: neither forgets what the other has.
#[test]
fn every_route_is_described_and_what_is_described_is_there() {
    let server = Served::start();
    let description = server.ask("", "GET", "/_openapi.json", "").json();
    let paths = description["paths"].as_object().unwrap();
    for (method, path, _, to, granted) in ROUTES {
        if matches!(*granted, 410 | 501) || path.starts_with("/_utils") || *method == "COPY" || *path == "/{db}/_none" {
            continue;
        }
        let operation = &description["paths"][described(path)][method.to_lowercase()];
        let right = match to {
            To::All => "everybody",
            To::Members | To::DesignAdmins => "members",
            To::Admins => "admins",
            To::Metrics => "server admins and tokens for metrics",
            To::ServerAdmins => "server admins",
        };
        assert_eq!(operation["x-right"], right, "{method} {path}: {operation}");
    }
    server.admin("PUT", "/here?partitioned=true", &json!({}));
    server.admin("PUT", "/here/a:1", &json!({}));
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(name, _)| *name != "parameters") {
            let names = [
                ("{db}", "here"),
                ("{id}", "a:1"),
                ("{node}", "_local"),
                ("{section}", "chttpd"),
                ("{setting}", "port"),
            ];
            let asked = names.iter().fold(path.clone(), |path, (from, to)| path.replace(from, to));
            let asked = asked.replace(['{', '}'], "");
            let answer = server.ask(ADMIN, &method.to_uppercase(), &asked, "");
            assert!(!matches!(answer.status, 405 | 501), "{method} {path} is described: {}", answer.body);
            assert!(operation["responses"].is_object());
            if asked == "/here" && method == "delete" {
                server.admin("PUT", "/here?partitioned=true", &json!({}));
            }
        }
    }
}

#[test]
fn users_see_and_change_their_own_document_only() {
    let server = Served::start();
    server.user("ada", &["a"]);
    server.user("bob", &[]);
    let own = "/_users/org.couchdb.user:ada";
    let document = server.ask("ada:pw", "GET", own, "").json();
    assert_eq!(document["password_scheme"], "pbkdf2");
    assert_eq!(document["pbkdf2_prf"], "sha256");
    assert_eq!(document.get("password"), None);
    // Others do not, by whatever way.
    let put =
        json!({"_rev": document["_rev"], "name": "ada", "type": "user", "roles": ["a"], "password": "x"}).to_string();
    for who in ["", "bob:pw"] {
        for (method, path, body) in [
            ("GET", own, ""),
            ("GET", "/_users/org.couchdb.user:ada?open_revs=all", ""),
            ("PUT", own, put.as_str()),
            ("DELETE", own, ""),
            ("POST", "/_users", put.as_str()),
            ("GET", "/_users/_all_docs?include_docs=true", ""),
            ("GET", "/_users/_changes?include_docs=true", ""),
            ("POST", "/_users/_bulk_get", r#"{"docs":[{"id":"org.couchdb.user:ada"}]}"#),
            ("POST", "/_users/_bulk_docs", r#"{"docs":[]}"#),
            ("GET", "/_users/org.couchdb.user:ada/_history", ""),
            ("PUT", "/_users/_security", "{}"),
            ("COPY", own, ""),
        ] {
            let answer = server.ask(who, method, path, body);
            assert!((401..=405).contains(&answer.status), "{who} {method} {path}: {}", answer.body);
            assert!(!answer.body.contains("derived_key"), "{who} {method} {path}");
        }
    }
    // The owner changes the password, and nothing else; a remembered one ends at once.
    let roles = put.replace("[\"a\"]", "[\"a\",\"b\"]");
    assert_eq!(server.ask("ada:pw", "PUT", own, &roles).json()["reason"], "Only _admin may edit roles");
    assert_eq!(server.ask("ada:pw", "PUT", own, &put).status, 201);
    assert_eq!(server.ask("ada:pw", "GET", own, "").status, 401);
    assert_eq!(server.ask("ada:x", "GET", own, "").status, 200);
    // To members others' documents are as if they were not there, and lists stay closed.
    server.set("couchdb", "users_db_security_editable", "true");
    server.admin("PUT", "/_users/_security", &json!({}));
    assert_eq!(server.ask("bob:pw", "GET", own, "").status, 404);
    assert_eq!(server.ask("bob:pw", "GET", "/_users/_all_docs", "").status, 401);
    let new = json!({"_id": "org.couchdb.user:eve", "name": "eve", "type": "user", "roles": [], "password": "pw"});
    assert_eq!(server.ask("", "POST", "/_users", &new.to_string()).status, 201, "members make users of themselves");
    assert_eq!(server.ask("eve:pw", "GET", "/_session", "").json()["userCtx"]["name"], "eve");
}

#[test]
fn no_way_of_writing_users_stores_a_password() {
    let server = Served::start();
    let user = |name: &str| json!({"_id": format!("org.couchdb.user:{name}"), "name": name, "type": "user", "roles": [], "password": "pw"});
    server.admin("PUT", "/_users/org.couchdb.user:a", &user("a"));
    server.admin("POST", "/_users", &user("b"));
    server.admin("POST", "/_users/_bulk_docs", &json!({"docs": [user("c")]}));
    let mut replicated = user("d");
    replicated["_rev"] = json!("1-967a00dff5e02add41819138abb3284d");
    server.admin("POST", "/_users/_bulk_docs", &json!({"docs": [replicated.clone()], "new_edits": false}));
    replicated["_id"] = json!("org.couchdb.user:e");
    replicated["name"] = json!("e");
    server.admin("PUT", "/_users/org.couchdb.user:e?new_edits=false", &replicated);
    for name in ["a", "b", "c", "d", "e"] {
        let document = server.admin("GET", &format!("/_users/org.couchdb.user:{name}"), &Value::Null).json();
        assert_eq!((document.get("password"), &document["iterations"]), (None, &json!(10)), "{document}");
        assert_eq!(server.ask(&format!("{name}:pw"), "GET", "/_session", "").status, 200, "{name}");
    }
    let bad = json!({"docs": [user("f"), {"_id": "org.couchdb.user:g", "name": "x", "type": "user", "roles": []}]});
    let rows = server.admin("POST", "/_users/_bulk_docs", &bad).json();
    assert_eq!(rows[0]["ok"], true);
    assert_eq!(rows[1]["reason"], "Doc ID must be of the form org.couchdb.user:name");
    let multipart = "Authorization: Basic YWRtOnBhc3M=\r\nContent-Type: multipart/related; boundary=x\r\nX-";
    assert_eq!(server.ask_with(multipart, "PUT", "/_users/org.couchdb.user:h", "--x--").status, 415);
}

#[test]
fn a_session_is_begun_goes_on_and_ends() {
    let server = Served::start();
    server.user("ada", &["a"]);
    for (content_type, body) in [
        ("application/x-www-form-urlencoded", "name=ada&password=pw"),
        ("application/json", r#"{"name":"ada","password":"pw"}"#),
    ] {
        let mut connection = Connection::to(server.address);
        let header = format!("Content-Type: {content_type}\r\nX-");
        let answer = connection.ask(&header, "POST", "/_session?next=/_up", body);
        assert_eq!((answer.status, answer.json()), (302, json!({"ok": true, "name": "ada", "roles": ["a"]})));
        assert!(answer.head.contains("HttpOnly; SameSite=Lax"), "{}", answer.head);
        let cookie = format!("Cookie: a=b; {}\r\n", answer.cookie());
        let who = connection.ask(&cookie, "GET", "/_session", "").json();
        assert_eq!(who["userCtx"], json!({"name": "ada", "roles": ["a"]}));
        assert_eq!(who["info"]["authenticated"], "cookie");
    }
    assert_eq!(server.ask("", "POST", "/_session", r#"{"name":"ada","password":"no"}"#).status, 401);
    assert_eq!(server.ask_with("Cookie: AuthSession=!\r\n", "GET", "/_session", "").status, 400);
    assert!(server.ask("", "DELETE", "/_session", "").head.contains("set-cookie: AuthSession=; "));
    // Of a session of a long time little is left at once: it is gone on with, with every answer.
    let cookie = server.log_in("ada");
    assert!(!server.ask_with(&cookie, "GET", "/_session", "").head.contains("set-cookie"));
    // Another password, and another secret, end it.
    let own = "/_users/org.couchdb.user:ada";
    let rev = server.ask_with(&cookie, "GET", own, "").json()["_rev"].clone();
    let changed = json!({"_rev": rev, "name": "ada", "type": "user", "roles": ["a"], "password": "pw"});
    assert_eq!(server.ask_with(&cookie, "PUT", own, &changed.to_string()).status, 201);
    let nobody = json!({"name": null, "roles": []});
    assert_eq!(server.ask_with(&cookie, "GET", "/_session", "").json()["userCtx"], nobody);
    let cookie = server.log_in("ada");
    server.set("chttpd_auth", "secret", "another");
    assert_eq!(server.ask_with(&cookie, "GET", "/_session", "").json()["userCtx"], nobody);
}

#[test]
fn requests_of_many_users_on_one_connection_and_on_many_are_never_mixed_up() {
    let server = Served::start();
    let names: Vec<String> = (0..6).map(|number| format!("user{number}")).collect();
    for name in &names {
        server.user(name, &[]);
        server.admin("PUT", &format!("/of-{name}"), &json!({}));
        server.admin("PUT", &format!("/of-{name}/_security"), &json!({"members": {"names": [name]}}));
        server.admin("PUT", &format!("/of-{name}/mine"), &json!({"owner": name}));
    }
    let headers: Vec<_> = names.iter().map(|name| [server.log_in(name), basic(&format!("{name}:pw"))]).collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (names, headers, address) = (&names, &headers, server.address);
            scope.spawn(move || {
                let mut connection = Connection::to(address);
                for turn in 0..150 {
                    let (at, other) = ((thread + turn) % names.len(), (thread + turn * 5 + 1) % names.len());
                    let header = &headers[at][turn % 2];
                    let who = connection.ask(header, "GET", "/_session", "").json();
                    assert_eq!(who["userCtx"]["name"], names[at].as_str());
                    let own = connection.ask(header, "GET", &format!("/of-{}/mine", names[other]), "");
                    let expected = if at == other { 200 } else { 403 };
                    assert_eq!(own.status, expected, "{} asks for {}'s", names[at], names[other]);
                    let nobody = connection.ask("", "GET", "/_session", "").json();
                    assert_eq!(nobody["userCtx"]["name"], Value::Null, "the connection remembers nobody");
                }
            });
        }
    });
}

#[test]
fn what_a_connection_remembers_ends_with_what_it_rests_on() {
    let server = Served::start();
    server.user("ada", &["a"]);
    let mut connection = Connection::to(server.address);
    let mut who = |header: &str| {
        let answer = connection.ask(header, "GET", "/_session", "");
        let user = if answer.status == 200 { answer.json()["userCtx"].clone() } else { Value::Null };
        (answer.status, user)
    };
    let ada = basic("ada:pw");
    let document = |server: &Served| server.ask(ADMIN, "GET", "/_users/org.couchdb.user:ada", "").json();
    for _ in 0..3 {
        assert_eq!(who(&ada), (200, json!({"name": "ada", "roles": ["a"]})));
    }
    // A password of the same length, and nobody.
    assert_eq!(who(&basic("ada:pv")).0, 401);
    assert_eq!(who(""), (200, json!({"name": null, "roles": []})));
    // Other roles with the same password, then another password, then no user.
    assert_eq!(who(&ada).0, 200);
    let mut changed = document(&server);
    changed["roles"] = json!(["b"]);
    server.admin("PUT", "/_users/org.couchdb.user:ada", &changed);
    assert_eq!(who(&ada), (200, json!({"name": "ada", "roles": ["b"]})));
    let mut changed = document(&server);
    changed["password"] = json!("other");
    server.admin("PUT", "/_users/org.couchdb.user:ada", &changed);
    assert_eq!(who(&ada).0, 401);
    let other = basic("ada:other");
    assert_eq!(who(&other), (200, json!({"name": "ada", "roles": ["b"]})));
    let rev = document(&server)["_rev"].as_str().unwrap().to_owned();
    assert_eq!(server.ask(ADMIN, "DELETE", &format!("/_users/org.couchdb.user:ada?rev={rev}"), "").status, 200);
    assert_eq!(who(&other).0, 401);
    // Server admins by the settings.
    let second = basic("second:x");
    assert_eq!(server.set("admins", "second", "x").status, 200);
    assert_eq!(who(&second), (200, json!({"name": "second", "roles": ["_admin"]})));
    assert_eq!(server.set("admins", "second", "y").status, 200);
    assert_eq!(who(&second).0, 401);
    assert_eq!(server.set("admins", "second", "x").status, 200);
    assert_eq!(who(&second).0, 200);
    assert_eq!(server.ask(ADMIN, "DELETE", "/_node/_local/_config/admins/second", "").status, 200);
    assert_eq!(who(&second).0, 401);
}

#[test]
fn settings_take_effect_at_once_and_outlive_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let config = |dir: &Path| Config {
        store: dir.join("store").display().to_string(),
        admins: vec![ADMIN.into()],
        ..Config::default()
    };
    let server = Served::with(config(dir.path()));
    server.admin("PUT", "/db", &json!({}));
    assert_eq!(server.set("couchdb", "max_document_size", "20").json(), "8000000");
    assert_eq!(server.ask(ADMIN, "PUT", "/db/a", &json!({"a": "a".repeat(100)}).to_string()).status, 413);
    assert_eq!(server.set("couchdb", "max_document_size", "much").status, 400);
    server.set("chttpd", "enable_cors", "true");
    server.set("cors", "origins", "https://a.example");
    let cors = server.ask_with("Origin: https://a.example\r\n", "GET", "/", "");
    assert!(cors.head.contains("access-control-allow-origin: https://a.example"), "{}", cors.head);
    server.set("chttpd", "require_valid_user", "true");
    assert_eq!(server.ask("", "GET", "/", "").status, 401);
    assert_eq!(server.ask("", "GET", "/_up", "").status, 401);
    server.set("chttpd", "require_valid_user_except_for_up", "true");
    assert_eq!(server.ask("", "GET", "/_up", "").status, 200);
    assert_eq!(server.set("admins", "bob", "secret").status, 200);
    let shown = server.ask("bob:secret", "GET", "/_node/_local/_config/admins", "").json();
    assert!(shown["bob"].as_str().unwrap().starts_with("-pbkdf2:sha256-"), "{shown}");
    assert!(!shown.to_string().contains("pass"), "{shown}");
    drop(server);
    let server = Served::with(config(dir.path()));
    assert_eq!(server.ask("", "GET", "/", "").status, 401);
    assert_eq!(
        server.ask("bob:secret", "GET", "/_all_dbs", "").json(),
        json!(["_global_changes", "_replicator", "_users", "db"])
    );
    assert_eq!(server.ask(ADMIN, "DELETE", "/_node/_local/_config/chttpd/require_valid_user", "").json(), "true");
    assert_eq!(server.ask("", "GET", "/", "").status, 200);
}

#[test]
fn the_first_start_makes_an_admin_and_none_is_needed_for_a_party_on_loopback() {
    let dir = tempfile::tempdir().unwrap();
    let config = |dir: &Path| Config { store: dir.join("store").display().to_string(), ..Config::default() };
    let server = Served::with(config(dir.path()));
    let admin = server.first_admin.clone().expect("it was made");
    let who = format!("{}:{}", admin.name, admin.password);
    assert_eq!(server.ask("", "GET", "/_all_dbs", "").status, 401);
    assert_eq!(server.ask(&who, "GET", "/_all_dbs", "").status, 200);
    let last = server.ask(&who, "DELETE", "/_node/_local/_config/admins/admin", "");
    assert_eq!(last.status, 403, "the last admin stays");
    drop(server);
    let server = Served::with(config(dir.path()));
    assert!(server.first_admin.is_none());
    assert_eq!(server.ask(&who, "GET", "/_all_dbs", "").status, 200);
    let party = Served::with(Config { store: "memory:".into(), admin_party: true, ..Config::default() });
    assert_eq!(party.ask("", "GET", "/_all_dbs", "").status, 200);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listen = SocketAddr::from(([0, 0, 0, 0], 0));
    let open = runtime.block_on(Server::bind(Config { store: "memory:".into(), listen, ..Config::default() }));
    assert!(open.is_err(), "no other interface without an admin");
}

#[test]
fn a_session_that_is_used_is_renewed_when_a_tenth_of_it_has_passed() {
    let server = Served::start();
    server.user("ada", &[]);
    server.set("chttpd_auth", "secret", "known");
    let salt =
        server.admin("GET", "/_users/org.couchdb.user:ada", &json!({})).json()["salt"].as_str().unwrap().to_owned();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    // A session lasts 600 seconds.
    let aged = |seconds: u64| {
        let mut bytes = format!("ada:{:X}", now - seconds).into_bytes();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, format!("known{salt}").as_bytes());
        let signature = ring::hmac::sign(&key, &bytes);
        bytes.push(b':');
        bytes.extend_from_slice(signature.as_ref());
        let header = format!("Cookie: AuthSession={}\r\n", BASE64_URL_SAFE_NO_PAD.encode(bytes));
        server.ask_with(&header, "GET", "/_session", "")
    };
    for (seconds, name, renewed) in [(5, json!("ada"), false), (120, json!("ada"), true), (700, json!(null), false)] {
        let answer = aged(seconds);
        assert_eq!(answer.json()["userCtx"]["name"], name, "after {seconds} s");
        assert_eq!(answer.head.contains("set-cookie"), renewed, "after {seconds} s: {}", answer.head);
        if renewed {
            let header = format!("Cookie: {}\r\n", answer.cookie());
            assert_eq!(server.ask_with(&header, "GET", "/_session", "").json()["userCtx"]["name"], "ada");
        }
    }
}

#[test]
fn guessing_is_slowed_down_and_then_refused() {
    let server = Served::start();
    server.user("ada", &[]);
    assert_eq!(server.ask("ada:pw", "GET", "/_session", "").status, 200);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let guess = |number: usize| {
            let server = &server;
            scope.spawn(move || server.ask(&format!("ada:{number}"), "GET", "/_session", "").status)
        };
        let guesses: Vec<_> = (0..24).map(guess).collect();
        guesses.into_iter().map(|guess| guess.join().unwrap()).collect()
    });
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert!(refused >= 10, "{statuses:?}");
    assert_eq!(server.ask("ada:pw", "GET", "/_session", "").status, 200, "who is remembered does not wait");
}
