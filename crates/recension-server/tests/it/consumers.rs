//! Consumers over HTTP: making them, fetching with a wait, acknowledging, giving back, groups, dead letters, rights.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::accounts::{ADMIN, Served};

fn made(server: &Served, options: &Value) {
    server.admin("PUT", "/orders", &json!({}));
    assert_eq!(server.admin("PUT", "/orders/_consumers/kitchen", options).status, 201);
}

/// What is handed out: ids and attempts.
fn fetched(server: &Served, asked: &Value) -> Vec<(String, u64)> {
    let answer = server.admin("POST", "/orders/_consumers/kitchen/fetch", asked);
    assert_eq!(answer.status, 200, "{}", answer.body);
    let answer = answer.json();
    let messages = answer["messages"].as_array().unwrap();
    messages.iter().map(|one| (one["id"].as_str().unwrap().to_owned(), one["attempt"].as_u64().unwrap())).collect()
}

#[test]
fn messages_come_to_one_of_a_group_until_they_are_acknowledged() {
    let server = Served::start();
    made(&server, &json!({}));
    for id in ["a", "b", "c"] {
        server.admin("PUT", &format!("/orders/{id}"), &json!({"dish": id}));
    }
    let first = server.admin("POST", "/orders/_consumers/kitchen/fetch", &json!({"max": 2})).json();
    assert_eq!((&first["messages"][0]["id"], &first["messages"][1]["doc"]), (&json!("a"), &json!({"dish": "b"})));
    assert_eq!(fetched(&server, &json!({})), [("c".to_owned(), 1)], "another of the group has the others");
    assert_eq!(fetched(&server, &json!({})), []);
    // As it was handed out, with all else that it has.
    let acknowledged = json!({"messages": [first["messages"][0]]});
    let path = "/orders/_consumers/kitchen/acknowledge";
    assert_eq!(server.admin("POST", path, &acknowledged).json(), json!({"ok": true, "acknowledged": 1}));
    assert_eq!(server.admin("POST", path, &acknowledged).json()["acknowledged"], 0);
    let second = &first["messages"][1];
    let given = json!({"messages": [{"id": second["id"], "seq": second["seq"]}]});
    let given = server.admin("POST", "/orders/_consumers/kitchen/give_back", &given).json();
    assert_eq!(given, json!({"ok": true, "given_back": 1}));
    assert_eq!(fetched(&server, &json!({})), [("b".to_owned(), 2)]);
    let status = server.admin("GET", "/orders/_consumers/kitchen", &Value::Null).json();
    assert_eq!((&status["unacknowledged"], &status["options"]["acknowledge_seconds"]), (&json!(2), &json!(30)));
    assert_eq!(server.admin("GET", "/orders/_consumers", &Value::Null).json(), json!({"consumers": ["kitchen"]}));
    // A consumer is the database's: one of the same name has none.
    server.admin("DELETE", "/orders", &Value::Null);
    server.admin("PUT", "/orders", &json!({}));
    assert_eq!(server.admin("GET", "/orders/_consumers", &Value::Null).json(), json!({"consumers": []}));
}

#[test]
fn who_waits_is_handed_the_next_message_at_once() {
    let server = Served::start();
    made(&server, &json!({"since": "now"}));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let began = Instant::now();
            (fetched(&server, &json!({"wait_seconds": 60})), began.elapsed())
        });
        // It may not have begun to wait yet, which makes no difference.
        server.admin("PUT", "/orders/a", &json!({}));
        let (messages, waited) = waiting.join().unwrap();
        assert_eq!(messages, [("a".to_owned(), 1)]);
        assert!(waited < Duration::from_secs(50), "{waited:?}");
    });
    assert_eq!(fetched(&server, &json!({"wait_seconds": 1})), []);
}

#[test]
fn what_nobody_acknowledges_becomes_a_dead_letter() {
    let server = Served::start();
    server.admin("PUT", "/spoiled", &json!({}));
    made(&server, &json!({"acknowledge_seconds": 1, "dead_letters": {"database": "spoiled", "after": 1}}));
    server.admin("PUT", "/orders/a", &json!({"dish": "pizza"}));
    assert_eq!(fetched(&server, &json!({})), [("a".to_owned(), 1)]);
    assert_eq!(fetched(&server, &json!({"wait_seconds": 2})), [], "it is buried, and not handed out again");
    let letters = server.admin("GET", "/spoiled/_all_docs?include_docs=true", &Value::Null).json();
    let letter = &letters["rows"][0]["doc"];
    assert_eq!((&letter["consumer"], &letter["document"]["dish"]), (&json!("kitchen"), &json!("pizza")), "{letters}");
}

#[test]
fn dead_letters_are_not_brought_to_another_database_of_the_name() {
    let server = Served::start();
    server.admin("PUT", "/spoiled", &json!({}));
    let options = json!({"acknowledge_seconds": 1, "dead_letters": {"database": "spoiled", "after": 1}});
    made(&server, &options);
    server.admin("PUT", "/orders/a", &json!({"dish": "pizza"}));
    assert_eq!(fetched(&server, &json!({})), [("a".to_owned(), 1)]);
    let status = server.admin("GET", "/orders/_consumers/kitchen", &Value::Null).json();
    assert_eq!(status["options"]["dead_letters"], options["dead_letters"]);
    server.admin("DELETE", "/spoiled", &Value::Null);
    for makes in [false, true] {
        if makes {
            server.admin("PUT", "/spoiled", &json!({}));
        }
        let refused = server.ask(ADMIN, "POST", "/orders/_consumers/kitchen/fetch", r#"{"wait_seconds":2}"#);
        assert!(refused.status == 409 && refused.body.contains("spoiled"), "{}", refused.body);
    }
    assert_eq!(server.admin("GET", "/spoiled", &Value::Null).json()["doc_count"], 0);
    server.admin("PUT", "/orders/_consumers/kitchen", &options);
    assert_eq!(fetched(&server, &json!({"wait_seconds": 2})), []);
    assert_eq!(server.admin("GET", "/spoiled", &Value::Null).json()["doc_count"], 1);
}

#[test]
fn rights_that_end_while_one_waits_end_the_wait() {
    let server = Served::start();
    server.user("cook", &["kitchen"]);
    made(&server, &json!({}));
    server.admin("PUT", "/orders/_security", &json!({"members": {"roles": ["kitchen"]}}));
    let fetch = |who: &str, wait: u64| {
        server.ask(who, "POST", "/orders/_consumers/kitchen/fetch", &json!({"wait_seconds": wait}).to_string())
    };
    assert_eq!(fetch("cook:pw", 0).status, 200);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| fetch("cook:pw", 60).status);
        server.admin("PUT", "/orders/_security", &json!({"members": {"roles": ["others"]}}));
        assert_eq!(waiting.join().unwrap(), 403);
    });
    server.admin("PUT", "/orders/a", &json!({}));
    assert_eq!(fetched(&server, &json!({})), [("a".to_owned(), 1)], "nobody else was handed it");
}

#[test]
fn what_cannot_be_asked_of_a_consumer_is_refused_and_changes_nothing() {
    let server = Served::start();
    made(&server, &json!({}));
    for (method, path, body) in [
        ("PUT", "/orders/_consumers/x", json!({"since": "yesterday"})),
        ("PUT", "/orders/_consumers/x", json!({"acknowledge_seconds": 0})),
        ("PUT", "/orders/_consumers/x", json!({"more": 1})),
        ("PUT", "/orders/_consumers/x", json!({"dead_letters": {"database": "_users", "after": 1}})),
        ("PUT", "/orders/_consumers/-x", json!({})),
        ("POST", "/orders/_consumers/kitchen/fetch", json!({"max": 0})),
        ("POST", "/orders/_consumers/kitchen/fetch", json!({"max": 1001})),
        ("POST", "/orders/_consumers/kitchen/acknowledge", json!({})),
        ("POST", "/orders/_consumers/kitchen/acknowledge", json!({"messages": [{"id": "a"}]})),
    ] {
        let answer = server.ask(ADMIN, method, path, &body.to_string());
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.body);
    }
    let missing = server.ask(ADMIN, "PUT", "/orders/_consumers/x", r#"{"dead_letters":{"database":"none","after":1}}"#);
    assert_eq!(missing.status, 404, "{}", missing.body);
    assert_eq!(server.ask(ADMIN, "POST", "/orders/_consumers/x/fetch", "").status, 404);
    assert_eq!(server.admin("GET", "/orders/_consumers", &Value::Null).json(), json!({"consumers": ["kitchen"]}));
    assert_eq!(server.admin("DELETE", "/orders/_consumers/kitchen", &Value::Null).status, 200);
    assert_eq!(server.ask(ADMIN, "DELETE", "/orders/_consumers/kitchen", "").status, 404);
}
