//! Branches over HTTP: made, written, compared, merged and dropped by server admins, read by those who may read the
//! main line. A limited user tries to reach through them what is hidden from him.

use serde_json::{Value, json};

use crate::access_rules::{Rules, ids};

const MEMBERS: &str = r#"{"admins":{"names":["eve"],"roles":[]},"members":{"names":["ada","bob"],"roles":[]}}"#;

fn filled() -> Rules {
    let rules = Rules::start();
    for name in ["ada", "bob", "eve"] {
        rules.user(name, &json!([]));
    }
    assert_eq!(rules.admin("DELETE", "/db/_access", Value::Null).0, 200);
    assert_eq!(rules.admin("PUT", "/db/_security", serde_json::from_str(MEMBERS).unwrap()).0, 200);
    rules.put("a", json!({ "owner": "ada", "n": 1 }));
    rules.put("s", json!({ "owner": "secret", "n": 2 }));
    assert_eq!(rules.admin("POST", "/_branches", json!({ "name": "idea" })).0, 201);
    rules
}

#[test]
fn a_branch_is_made_written_compared_merged_renamed_and_dropped() {
    let rules = filled();
    let (status, written) = rules.as_user("ada:pencil", "PUT", "/db@idea/b", json!({ "n": 3 }));
    assert_eq!(status, 201, "{written}");
    assert_eq!(rules.admin("GET", "/db/b", Value::Null).0, 404);
    let (_, all) = rules.as_user("bob:pencil", "GET", "/db@idea/_all_docs", Value::Null);
    assert_eq!(ids(&all["rows"]), ["a", "b", "s"]);
    assert_eq!(rules.admin("GET", "/db@idea", Value::Null).1["db_name"], "db@idea");
    let (_, listed) = rules.admin("GET", "/_branches", Value::Null);
    assert_eq!((&listed["branches"][0]["name"], &listed["branches"][0]["from"]), (&json!("idea"), &json!("main")));
    let (_, names) = rules.admin("GET", "/_all_dbs", Value::Null);
    assert!(!names.to_string().contains('@'), "{names}");
    assert_eq!(rules.admin("PUT", "/new@idea", Value::Null).0, 201);
    assert_eq!(rules.admin("GET", "/_all_dbs?branch=idea", Value::Null).1, json!(["db@idea", "new@idea"]));
    assert_eq!(rules.admin("GET", "/_all_dbs?branch=idea&startkey=%22e%22", Value::Null).1, json!(["new@idea"]));
    assert_eq!(rules.admin("GET", "/_all_dbs?branch=none", Value::Null).0, 404);
    let (_, infos) = rules.admin("GET", "/_dbs_info?branch=idea", Value::Null);
    assert_eq!((&infos[0]["key"], &infos[1]["info"]["db_name"]), (&json!("db@idea"), &json!("new@idea")), "{infos}");
    assert_eq!(rules.admin("GET", "/_dbs_info?branch=none", Value::Null).0, 404);
    assert_eq!(rules.admin("POST", "/_dbs_info?branch=idea", json!({ "keys": [] })).0, 400);
    assert_eq!(rules.admin("GET", "/_db_updates?branch=idea&timeout=1", Value::Null).0, 400);
    assert_eq!(rules.as_user("ada:pencil", "GET", "/_all_dbs?branch=idea", Value::Null).0, 401);
    assert_eq!(rules.admin("DELETE", "/new@idea", Value::Null).0, 200);
    // The main line has no name of a branch; whoever writes it is told.
    for (method, path) in [("GET", "/db@main"), ("GET", "/db@main/a"), ("PUT", "/new@main"), ("DELETE", "/db@main")] {
        let (status, refused) = rules.admin(method, path, Value::Null);
        assert_eq!(status, 404, "{method} {path}: {refused}");
        assert!(refused["reason"].as_str().unwrap().starts_with("main is no branch"), "{method} {path}: {refused}");
    }
    let (_, diff) = rules.admin("GET", "/_diff?to=idea", Value::Null);
    assert_eq!((ids(&diff["differences"]), &diff["differences"][0]["before"]), (vec!["b"], &Value::Null));
    assert_eq!(rules.admin("POST", "/_tags", json!({ "name": "before" })).0, 201);
    let (status, merged) = rules.admin("POST", "/_merge", json!({ "from": "idea" }));
    assert_eq!((status, &merged["taken"]), (200, &json!(1)), "{merged}");
    assert_eq!(rules.admin("GET", "/db/b", Value::Null).0, 200);
    assert_eq!(rules.admin("GET", "/db/b?at=tag:before", Value::Null).0, 404);
    for (method, path, body, expected) in [
        ("POST", "/_branches", json!({ "name": "idea" }), 409),
        ("POST", "/_branches", json!({ "name": "x", "of": "main" }), 400),
        ("POST", "/_branches", json!({ "name": "a b" }), 400),
        ("POST", "/_branches", json!({ "name": "x", "from": "idea", "at": "seq:1" }), 400),
        ("POST", "/_tags", json!({ "name": "a/b" }), 400),
        ("POST", "/_tags", json!({ "name": "before" }), 409),
        ("PUT", "/_branches/idea", json!({ "name": "" }), 400),
        ("PUT", "/_branches/main", json!({ "name": "x" }), 400),
        ("DELETE", "/_branches/main", Value::Null, 400),
        ("POST", "/_branches", json!({ "name": "x", "from": "none" }), 404),
        ("POST", "/_merge", json!({ "from": "none" }), 404),
        ("POST", "/_merge", json!({ "from": "idea", "conflicts": "mine" }), 400),
        ("PUT", "/_branches/none", json!({ "name": "x" }), 404),
        ("DELETE", "/_branches/none", Value::Null, 404),
        ("GET", "/_diff?to=none", Value::Null, 404),
        ("GET", "/_diff", Value::Null, 400),
        ("GET", "/_diff?from=idea&to=idea", Value::Null, 400),
        ("GET", "/_diff?from_at=tag:before", Value::Null, 200),
        ("PUT", "/_branches/idea", json!({ "name": "done" }), 200),
        ("GET", "/db@idea", Value::Null, 404),
        ("GET", "/db@done/b", Value::Null, 200),
        // The name goes to another branch, which has nothing of the first one; and back.
        ("POST", "/_branches", json!({ "name": "idea", "at": "seq:1" }), 201),
        ("GET", "/db@idea", Value::Null, 404),
        ("DELETE", "/_branches/idea", Value::Null, 200),
        ("PUT", "/_branches/done", json!({ "name": "idea" }), 200),
        ("GET", "/db@idea/b", Value::Null, 200),
        ("GET", "/db@done/b", Value::Null, 404),
        ("PUT", "/_branches/idea", json!({ "name": "done" }), 200),
        ("PUT", "/only@done", Value::Null, 201),
        ("PUT", "/db@done/_security", json!({}), 409),
        ("PUT", "/db@done/_access", json!({ "read": {} }), 409),
        ("DELETE", "/_branches/done", Value::Null, 200),
        ("GET", "/db@done/b", Value::Null, 404),
        ("GET", "/only", Value::Null, 404),
        ("DELETE", "/_tags/before", Value::Null, 200),
        ("GET", "/db/b?at=tag:before", Value::Null, 400),
    ] {
        let (status, answer) = rules.admin(method, path, body);
        assert_eq!(status, expected, "{method} {path}: {answer}");
    }
}

#[test]
fn nobody_reaches_through_branches_what_is_hidden_from_him() {
    let rules = filled();
    rules.admin("POST", "/_tags", json!({ "name": "then" }));
    assert_eq!(rules.admin("PUT", "/new@idea", Value::Null).0, 201);
    // From now on a rule hides the secret. The branch was made before it.
    assert_eq!(rules.admin("PUT", "/db/_access", json!({ "read": { "owner": "$user.name" } })).0, 200);
    for user in ["ada:pencil", "bob:pencil"] {
        for (method, path, body) in [
            ("GET", "/db@idea", Value::Null),
            ("GET", "/db@idea/s", Value::Null),
            ("GET", "/db@idea/a", Value::Null),
            ("GET", "/db@idea/_all_docs?include_docs=true", Value::Null),
            ("GET", "/db@idea/_changes?include_docs=true", Value::Null),
            ("POST", "/db@idea/_find", json!({ "selector": { "owner": "secret" } })),
            ("POST", "/db@idea/_bulk_get", json!({ "docs": [{ "id": "s" }] })),
            ("POST", "/db@idea/_revs_diff", json!({ "s": ["1-x"] })),
            ("GET", "/db@idea/s?at=tag:then", Value::Null),
            ("PUT", "/db@idea/s", json!({})),
            ("PUT", "/db@idea/_security", json!({})),
            ("DELETE", "/db@idea/_access", Value::Null),
            ("GET", "/new@idea", Value::Null),
            ("GET", "/_users@idea", Value::Null),
            ("GET", "/_users@idea/_all_docs", Value::Null),
            ("GET", "/_recension@idea", Value::Null),
            ("GET", "/_branches", Value::Null),
            ("GET", "/_all_dbs?branch=idea", Value::Null),
            ("POST", "/_branches", json!({ "name": "mine" })),
            ("PUT", "/_branches/idea", json!({ "name": "mine" })),
            ("DELETE", "/_branches/idea", Value::Null),
            ("GET", "/_tags", Value::Null),
            ("POST", "/_tags", json!({ "name": "mine" })),
            ("DELETE", "/_tags/then", Value::Null),
            ("GET", "/_diff?to=idea", Value::Null),
            ("POST", "/_merge", json!({ "from": "idea", "dry_run": true })),
        ] {
            let (status, answer) = rules.as_user(user, method, path, body);
            assert!([401, 403, 404].contains(&status), "{user} {method} {path}: {status} {answer}");
            assert!(!answer.to_string().contains("secret"), "{user} {method} {path}: {answer}");
        }
        let (status, answer) = rules.as_user(user, "GET", "/db/s?at=tag:then", Value::Null);
        assert_eq!(status, 403, "{answer}");
    }
    // Nor which branches there are.
    rules.user("zoe", &json!([]));
    for user in ["ada:pencil", "zoe:pencil"] {
        for (path, other) in
            [("/db@idea", "/db@none"), ("/db@idea/a", "/db@none/a"), ("/db@idea/_all_docs", "/db@x@y/_all_docs")]
        {
            let [there, nowhere] = [path, other].map(|path| rules.as_user(user, "GET", path, Value::Null));
            assert_eq!(there, nowhere, "{user} {path}");
        }
    }
    // A name of very many parts is looked at as deep as any other.
    let deep = format!("/db{}", "@".repeat(60_000));
    assert_eq!(rules.as_user("zoe:pencil", "GET", &deep, Value::Null).0, 403);
    // An admin of the database reads the branch, and changes no rights there.
    assert_eq!(rules.as_user("eve:pencil", "GET", "/db@idea/s", Value::Null).0, 200);
    assert_eq!(rules.as_user("eve:pencil", "PUT", "/db@idea/_security", json!({})).0, 409);
    assert_eq!(rules.as_user("eve:pencil", "POST", "/_merge", json!({ "from": "idea" })).0, 401);
    // What is lost on main is lost on the branch.
    let nobody =
        json!({ "admins": { "names": [], "roles": ["_admin"] }, "members": { "names": [], "roles": ["_admin"] } });
    assert_eq!(rules.admin("PUT", "/db/_security", nobody).0, 200);
    assert_eq!(rules.as_user("eve:pencil", "GET", "/db@idea/s", Value::Null).0, 403);
    assert_eq!(rules.admin("DELETE", "/db", Value::Null).0, 200);
    assert_eq!(rules.as_user("eve:pencil", "GET", "/db@idea/s", Value::Null).0, 404);
    // Nor is it found by those who may use another database that has the name now.
    assert_eq!(rules.admin("PUT", "/db", Value::Null).0, 201);
    assert_eq!(rules.admin("PUT", "/db/_security", serde_json::from_str(MEMBERS).unwrap()).0, 200);
    for user in ["ada:pencil", "eve:pencil"] {
        assert_eq!(rules.as_user(user, "GET", "/db", Value::Null).0, 200);
        assert_eq!(rules.as_user(user, "GET", "/db@idea/s", Value::Null).0, 404);
    }
    assert_eq!(rules.admin("GET", "/db@idea/s", Value::Null).0, 200);
}

#[test]
fn a_database_that_was_made_on_a_branch_comes_along_as_it_is_there() {
    let rules = filled();
    assert_eq!(rules.admin("PUT", "/parts@idea?partitioned=true", Value::Null).0, 201);
    assert_eq!(rules.admin("PUT", "/parts@idea/a:1", json!({ "n": 1 })).0, 201);
    let (_, merged) = rules.admin("POST", "/_merge", json!({ "from": "idea" }));
    assert_eq!((&merged["made"], &merged["taken"]), (&json!(["parts"]), &json!(1)), "{merged}");
    assert_eq!(rules.admin("GET", "/parts", Value::Null).1["props"]["partitioned"], json!(true));
    assert_eq!(rules.admin("PUT", "/parts/plain", json!({})).0, 400);
    // It is announced, and for admins until they say otherwise.
    let (_, events) = rules.admin("GET", "/_db_updates", Value::Null);
    let is_made = |event: &Value| event["db_name"] == "parts" && event["type"] == "created";
    assert!(events["results"].as_array().unwrap().iter().any(is_made), "{events}");
    assert_eq!(rules.as_user("ada:pencil", "GET", "/parts/a:1", Value::Null).0, 403);
    // Nothing is merged into itself.
    assert_eq!(rules.admin("POST", "/_merge", json!({ "from": "main" })).0, 400);
}

/// Both lines go on counting databases from the fork, so the two that are made next have the same number.
#[test]
fn a_database_of_a_branch_is_not_found_by_those_of_another_one_of_its_name() {
    let rules = filled();
    assert_eq!(rules.admin("PUT", "/new@idea", Value::Null).0, 201);
    assert_eq!(rules.admin("PUT", "/new@idea/s", json!({ "owner": "secret" })).0, 201);
    assert_eq!(rules.admin("PUT", "/new", Value::Null).0, 201);
    assert_eq!(rules.admin("PUT", "/new/_security", serde_json::from_str(MEMBERS).unwrap()).0, 200);
    for user in ["ada:pencil", "eve:pencil"] {
        assert_eq!(rules.as_user(user, "GET", "/new", Value::Null).0, 200);
        for path in ["/new@idea/s", "/new@idea/_all_docs?include_docs=true"] {
            let (status, answer) = rules.as_user(user, "GET", path, Value::Null);
            assert_eq!(status, 404, "{user} {path}: {answer}");
        }
    }
    assert_eq!(rules.admin("GET", "/new@idea/s", Value::Null).0, 200);
}

#[test]
fn consumers_of_a_branch_are_not_those_of_the_main_line() {
    let rules = filled();
    assert_eq!(rules.admin("PUT", "/db@idea/_consumers/there", json!({})).0, 201);
    assert_eq!(rules.admin("PUT", "/db/_consumers/here", json!({})).0, 201);
    let names = |db: &str| rules.admin("GET", &format!("/{db}/_consumers"), Value::Null).1["consumers"].clone();
    assert_eq!((names("db"), names("db@idea")), (json!(["here"]), json!(["there"])));
    assert_eq!(rules.admin("POST", "/_branches", json!({ "name": "later" })).0, 201);
    assert_eq!(names("db@later"), json!(["here"]), "a branch begins as its parent");
    assert_eq!(rules.admin("DELETE", "/db@later/_consumers/here", Value::Null).0, 200);
    assert_eq!((names("db"), names("db@later")), (json!(["here"]), json!([])));
    // Dead letters of the main line on a branch: there would be a collection that hides it.
    let letters = json!({ "dead_letters": { "database": "db@idea", "after": 1 } });
    assert_eq!(rules.as_user("eve:pencil", "PUT", "/db/_consumers/here", letters).0, 400);
}

#[test]
fn a_difference_tells_attachments_and_a_merge_that_breaks_something_says_where() {
    let rules = filled();
    let attached = json!({ "_attachments": { "f": { "content_type": "text/plain", "data": "aGk=" } } });
    assert_eq!(rules.admin("PUT", "/db@idea/with", attached).0, 201);
    let (_, diff) = rules.admin("GET", "/_diff?to=idea", Value::Null);
    let after = &diff["differences"][0]["after"];
    assert!(after["body"] == json!({}) && after["attachments"]["f"].as_str().is_some_and(|it| it.starts_with("md5-")));
    assert_eq!(rules.admin("PUT", "/db/_schema", json!({ "properties": { "n": { "type": "number" } } })).0, 200);
    assert_eq!(rules.admin("PUT", "/db@idea/wrong", json!({ "n": "text" })).0, 201);
    for asked in [json!({ "from": "idea", "dry_run": true }), json!({ "from": "idea" })] {
        let (status, refused) = rules.admin("POST", "/_merge", asked);
        let reason = refused["reason"].as_str().unwrap_or_default();
        assert!(status == 403 && reason.starts_with("in db, document \"wrong\" does not fit"), "{refused}");
    }
    assert_eq!(rules.admin("GET", "/db/with", Value::Null).0, 404, "nothing was merged");
}
