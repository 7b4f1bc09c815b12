//! API tokens, as an operator types them and a program shows them.

use std::process::Command;

use crate::common::Place;
use crate::common::served::Served;

fn curl(args: &[&str]) -> String {
    let output = Command::new("curl").arg("-sS").args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tokens_are_created_listed_and_revoked() {
    let place = Place::new();
    place.ok(&["put", "menu", "pizza", "{}"]);
    let text = place.ok(&["token", "create", "reports", "--database", "menu", "--expires", "30d"]);
    assert!(text.starts_with("rec_") && text.trim_end().len() == 47, "{text}");
    let listed: serde_json::Value = serde_json::from_str(&place.ok(&["token", "list"])).unwrap();
    assert_eq!(
        (&listed["name"], &listed["rights"], &listed["databases"]),
        (&"reports".into(), &"read".into(), &"menu".into())
    );
    assert!(listed["expires"].is_string() && !listed.to_string().contains(text.trim_end()), "{listed}");
    place.ok(&["token", "revoke", listed["id"].as_str().unwrap()]);
    assert_eq!(place.ok(&["token", "list"]), "");
    for (code, args, message) in [
        (1, &["token", "revoke", "none"][..], "no token none"),
        (5, &["token", "create", "x"], "at least one database"),
        (5, &["token", "create", "x", "--rights", "server", "--database", "a"], "no database in particular"),
        (2, &["token", "create", "x", "--rights", "all"], "rights are metrics, read, write, admin or server"),
        (2, &["token", "create", "x", "--expires", "1y"], "not a duration"),
    ] {
        let said = place.fails(code, args);
        assert!(said.contains(message), "{args:?}: {said}");
    }
}

#[test]
fn a_token_of_the_command_line_opens_the_server_that_has_the_store_open() {
    let served = Served::start();
    let (url, admin) = (&served.url, served.url_of_admin());
    curl(&["-X", "PUT", &format!("{admin}/orders")]);
    let made = curl(&[
        "-X",
        "POST",
        &format!("{admin}/_tokens"),
        "-d",
        r#"{"name":"reports","databases":["ord*"],"rights":"read"}"#,
    ]);
    let made: serde_json::Value = serde_json::from_str(&made).unwrap();
    let bearer = format!("Authorization: Bearer {}", made["token"].as_str().unwrap());
    assert!(curl(&["-H", &bearer, &format!("{url}/orders")]).contains("doc_count"));
    assert!(curl(&["-H", &bearer, "-X", "PUT", &format!("{url}/orders/a"), "-d", "{}"]).contains("only read"));
}
