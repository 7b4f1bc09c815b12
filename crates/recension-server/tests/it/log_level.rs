//! What is logged, as a setting: it holds at once, is kept, is shown in the console, and is checked.

use recension::Store;
use serde_json::Value;

use crate::accounts::{ADMIN, Served};

const LEVEL: &str = "/_node/_local/_config/log/level";

/// The lines of the log with a word, as the console shows them.
fn logged(served: &Served, word: &str) -> String {
    served.ask(ADMIN, "GET", &format!("/_utils/-/logs?q={word}"), "").body
}

#[test]
fn the_level_holds_at_once_and_is_kept() {
    recension_server::logs::init("info", false);
    let store = Store::memory().unwrap();
    let served = Served::on(store.clone());
    let seen = |served: &Served, database: &str| {
        served.ask(ADMIN, "GET", &format!("/{database}"), "");
        logged(served, database).contains("DEBUG answered")
    };
    assert!(logged(&served, "").contains("<code id=\"level\">info</code>"));
    assert!(!seen(&served, "first-at-info"));
    assert_eq!(served.set("log", "level", "debug").json(), "info");
    assert!(seen(&served, "then-at-debug"));
    let page = logged(&served, "");
    assert!(page.contains("<code id=\"level\">debug</code>") && page.contains("As configured"), "{page}");
    // Who has no right to a setting has none to this.
    for (method, body) in [("PUT", "\"off\""), ("DELETE", ""), ("GET", "")] {
        assert_eq!(served.ask("", method, LEVEL, body).status, 401, "{method}");
    }
    assert_eq!(served.ask("", "GET", "/_utils/-/logs", "").status, 401);
    // A form of another site, sent with the cookie of an admin.
    let cookie = served.ask("", "POST", "/_session", r#"{"name":"adm","password":"pass"}"#).cookie();
    let header = format!("Cookie: {cookie}\r\nSec-Fetch-Site: cross-site\r\n");
    assert_eq!(served.ask_with(&header, "PUT", LEVEL, "\"off\"").status, 403);
    for wrong in ["loud", "", "warn,", "hyper"] {
        let answer = served.set("log", "level", wrong);
        assert_eq!(answer.status, 400, "{wrong}");
        assert!(answer.body.contains("off, error, warn, info, debug, trace"), "{}", answer.body);
    }
    assert!(seen(&served, "still-at-debug"));
    // CouchDB's name of it.
    assert_eq!(served.set("log", "level", "warning").status, 200);
    assert!(!seen(&served, "then-at-warn"));
    drop(served);
    let served = Served::on(store);
    assert_eq!(served.ask(ADMIN, "GET", LEVEL, "").json(), "warning");
    assert!(logged(&served, "").contains("<code id=\"level\">warn</code>"));
    assert_eq!(served.ask(ADMIN, "DELETE", LEVEL, "").json(), "warning");
    assert_eq!(served.ask(ADMIN, "GET", LEVEL, "").json(), Value::from("info"));
    assert!(!logged(&served, "").contains("As configured"));
}
