//! Replications of the server end with the rights of who asked for them: no revision that was written later is copied.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::accounts::{ADMIN, Served, basic};

/// A server with a database `from` that has a document, and an empty one `to`.
fn prepared() -> Served {
    let server = Served::start();
    for name in ["from", "to"] {
        server.admin("PUT", &format!("/{name}"), &json!({}));
    }
    server.admin("PUT", "/from/before", &json!({}));
    server
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn is_there(server: &Served, path: &str) -> bool {
    server.ask(ADMIN, "GET", path, "").status == 200
}

fn tasks(server: &Served) -> usize {
    server.admin("GET", "/_active_tasks", &Value::Null).json().as_array().unwrap().len()
}

/// The header of who may ask for replications.
fn shown(server: &Served, how: &str) -> (String, Option<String>) {
    assert_eq!(server.set("admins", "eve", "pw").status, 200);
    match how {
        "token" => {
            let made = server.admin("POST", "/_tokens", &json!({"name": "t", "rights": "server"}));
            let made = made.json();
            let header = format!("Authorization: Bearer {}\r\n", made["token"].as_str().unwrap());
            (header, Some(made["id"].as_str().unwrap().to_owned()))
        }
        "cookie" => (server.log_in("eve"), None),
        _ => (basic("eve:pw"), None),
    }
}

#[test]
fn a_replication_ends_when_who_asked_for_it_is_no_server_admin_any_more() {
    for (how, ends) in [("token", true), ("password", true), ("cookie", true), ("password", false)] {
        let server = prepared();
        let (header, token) = shown(&server, how);
        let wanted = json!({"source": "from", "target": "to", "continuous": true}).to_string();
        let begun = server.ask_with(&header, "POST", "/_replicate", &wanted);
        assert_eq!(begun.status, 202, "{how}: {}", begun.body);
        until("it copies", || is_there(&server, "/to/before"));
        if ends {
            match token {
                Some(id) => drop(server.admin("DELETE", &format!("/_tokens/{id}"), &Value::Null)),
                None => drop(server.admin("DELETE", "/_node/_local/_config/admins/eve", &Value::Null)),
            }
            server.admin("PUT", "/from/later", &json!({}));
            until("it ends", || tasks(&server) == 0);
        } else {
            server.admin("PUT", "/_node/_local/_config/admins/other", &json!("pw"));
            server.admin("PUT", "/from/later", &json!({}));
            until("it goes on", || is_there(&server, "/to/later"));
        }
        assert_eq!(is_there(&server, "/to/later"), !ends, "{how}");
    }
}

/// A document of ada's in `_replicator`, whose replication runs.
fn of_a_member(id: &str) -> Served {
    let server = prepared();
    server.user("ada", &["writer"]);
    server.admin("PUT", "/_replicator/_security", &json!({"members": {"roles": ["writer"]}}));
    let url = |name: &str| format!("http://{ADMIN}@{}/{name}", server.address);
    let wanted = json!({"_id": id, "source": url("from"), "target": url("to"), "continuous": true});
    let made = server.ask("ada:pw", "POST", "/_replicator/_bulk_docs", &json!({ "docs": [wanted] }).to_string());
    assert!(made.status == 201 && !made.body.contains("forbidden"), "{}", made.body);
    assert_eq!(server.ask("ada:pw", "GET", &format!("/_replicator/{id}"), "").json()["owner"], "ada");
    until("it copies", || is_there(&server, "/to/before"));
    server
}

#[test]
fn the_replication_of_a_members_document_ends_with_the_members_rights() {
    for (how, take) in [
        (
            "no member",
            (|server| {
                server.admin("PUT", "/_replicator/_security", &json!({"members": {"roles": ["other"]}}));
            }) as fn(&Served),
        ),
        ("another role", |server| {
            let mut user = server.admin("GET", "/_users/org.couchdb.user:ada", &Value::Null).json();
            user["roles"] = json!([]);
            server.admin("PUT", "/_users/org.couchdb.user:ada", &user);
        }),
        ("deleted", |server| {
            let user = server.admin("GET", "/_users/org.couchdb.user:ada", &Value::Null).json();
            let rev = user["_rev"].as_str().unwrap();
            server.admin("DELETE", &format!("/_users/org.couchdb.user:ada?rev={rev}"), &Value::Null);
        }),
    ] {
        let server = of_a_member("hers");
        take(&server);
        server.admin("PUT", "/from/later", &json!({}));
        let document = || server.admin("GET", "/_replicator/hers", &Value::Null).json();
        until("it ends", || document()["_replication_state"] == "failed");
        let reason = document()["_replication_state_reason"].as_str().unwrap().to_owned();
        assert!(reason.contains("may not any more"), "{how}: {reason}");
        assert!(!is_there(&server, "/to/later"), "{how}");
        until("no task is left", || tasks(&server) == 0);
    }
    let server = of_a_member("hers");
    let mut user = server.admin("GET", "/_users/org.couchdb.user:ada", &Value::Null).json();
    user["password"] = json!("another");
    server.admin("PUT", "/_users/org.couchdb.user:ada", &user);
    server.admin("PUT", "/from/later", &json!({}));
    until("another password ends nothing", || is_there(&server, "/to/later"));
}

#[test]
fn what_members_and_strangers_asked_for_gets_no_rights_of_server_admins_later() {
    let server = prepared();
    server.user("ada", &["writer"]);
    server.admin("PUT", "/_replicator/_security", &json!({"members": {"roles": []}, "admins": {"names": ["ada"]}}));
    server.admin("DELETE", "/_replicator/_access", &Value::Null);
    // Replications wait while the database is not there.
    let wanted = json!({"source": "from", "target": "to"}).to_string();
    for (who, id) in [("ada:pw", "hers"), ("", "nobodys")] {
        let made = server.ask(who, "PUT", &format!("/_replicator/{id}"), &wanted);
        assert_eq!(made.status, 201, "{who}: {}", made.body);
    }
    let nobodys = server.admin("GET", "/_replicator/nobodys", &Value::Null).json();
    assert_eq!(nobodys.get("owner"), Some(&Value::Null), "{nobodys}");
    server.admin("PUT", "/_replicator/_security", &json!({"members": {"roles": ["_admin"]}}));
    for id in ["hers", "nobodys"] {
        let path = format!("/_replicator/{id}");
        let document = server.admin("GET", &path, &Value::Null).json();
        // As if it had not been looked at yet.
        let asked = json!({"source": "from", "target": "to", "owner": document["owner"], "_rev": document["_rev"]});
        let put = || {
            server.ask(ADMIN, "PUT", &path, &{
                let mut asked = asked.clone();
                asked["_rev"] = server.admin("GET", &path, &Value::Null).json()["_rev"].clone();
                asked.to_string()
            })
        };
        until("it is written", || put().status == 201);
        until("it has failed", || server.admin("GET", &path, &Value::Null).json()["_replication_state"] == "failed");
    }
    assert!(!is_there(&server, "/to/before"));
    server.admin("PUT", "/_replicator/servers", &json!({"source": "from", "target": "to"}));
    until("a server admin's document copies", || is_there(&server, "/to/before"));
}
