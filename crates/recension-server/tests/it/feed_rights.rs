//! Rights that are taken away from who reads a feed: it ends, and sends nothing of what came after; over real sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::accounts::{ADMIN, Served, basic, token};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use recension::Store;
use recension_server::config::Config;
use serde_json::json;

const KINDS: [&str; 3] = ["continuous", "longpoll", "eventsource"];

/// Seconds after which a test gives up: fewer than those after which a feed that waits ends by itself.
const PATIENCE: Duration = Duration::from_secs(40);

/// A feed that is open.
struct Open {
    stream: TcpStream,
    text: String,
    kind: &'static str,
}

impl Open {
    /// Opens a feed, and waits until it has sent what there was.
    fn of(server: &Served, path: &str, kind: &'static str, header: &str) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        // A long poll waits from now on; the others have sent a row before.
        let (since, sign) = if kind == "longpoll" { ("now", "\"results\":[") } else { ("0", "\"seq\":") };
        let request =
            format!("GET {path}?feed={kind}&since={since} HTTP/1.1\r\nHost: x\r\n{header}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut open = Open { stream, text: String::new(), kind };
        assert!(open.read_until(|text| text.contains(sign)), "{kind}: {}", open.text);
        assert!(open.text.starts_with("HTTP/1.1 200"), "{kind}: {}", open.text);
        open
    }

    /// Reads until something is there; returns `false` at the end.
    fn read_until(&mut self, there: impl Fn(&str) -> bool) -> bool {
        let deadline = Instant::now() + PATIENCE;
        let mut piece = [0; 4096];
        while !there(&self.text) {
            match self.stream.read(&mut piece) {
                Ok(0) => return false,
                Ok(length) => self.text.push_str(&String::from_utf8_lossy(&piece[..length])),
                Err(_) => assert!(Instant::now() < deadline, "{} does not end: {}", self.kind, self.text),
            }
        }
        true
    }

    /// Reads to the end, which has to be the one of a whole answer.
    fn end(mut self) -> String {
        self.read_until(|_| false);
        assert!(self.text.ends_with("0\r\n\r\n"), "{} is broken off: {}", self.kind, self.text);
        self.text
    }
}

/// By what a reader is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shown {
    Cookie,
    Password,
    Token,
    Nothing,
}

use Shown::{Cookie, Nothing, Password, Token};

const SECRET: &[u8] = b"a secret of the tests, of 32 bytes";

/// A server with a database of which `ada` is a member by her role, and `eve` by her name.
pub(crate) fn prepared() -> Served {
    prepared_on(Served::start())
}

fn prepared_on(server: Served) -> Served {
    server.user("ada", &["reader"]);
    server.admin("PUT", "/db", &json!({}));
    server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["reader"]}}));
    server.admin("PUT", "/db/before", &json!({}));
    assert_eq!(server.set("jwt_keys", "hmac:k", &BASE64_STANDARD.encode(SECRET)).status, 200);
    server
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

pub(crate) fn header_of(server: &Served, shown: Shown, token_seconds: u64) -> String {
    match shown {
        Cookie => server.log_in("ada"),
        Password => basic("ada:pw"),
        Token => {
            let claims = json!({"sub": "ada", "exp": seconds() + token_seconds, "_couchdb.roles": ["reader"]});
            format!("Authorization: Bearer {}\r\n", token(&claims, SECRET))
        }
        Nothing => String::new(),
    }
}

pub(crate) fn user_path() -> &'static str {
    "/_users/org.couchdb.user:ada"
}

/// Changes a member of the user's document.
pub(crate) fn change_user(server: &Served, member: &str, value: serde_json::Value) {
    let mut user = server.admin("GET", user_path(), &json!({})).json();
    user[member] = value;
    server.admin("PUT", user_path(), &user);
}

/// Everything that takes rights away: what it is called, by what it is felt, how it is done.
pub(crate) type Taking = (&'static str, &'static [Shown], fn(&Served));

pub(crate) const TAKINGS: [Taking; 10] = [
    ("access rule set", &[Cookie, Password, Token], |server| {
        server.admin("PUT", "/db/_access", &json!({ "read": { "owner": "$user.name" } }));
    }),
    ("_security changed", &[Cookie, Password, Token], |server| {
        server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["writer"]}}));
    }),
    ("role taken", &[Cookie, Password], |server| change_user(server, "roles", json!([]))),
    ("user deleted", &[Cookie, Password], |server| {
        let user = server.admin("GET", user_path(), &json!({})).json();
        server.admin("DELETE", &format!("{}?rev={}", user_path(), user["_rev"].as_str().unwrap()), &json!({}));
    }),
    ("password changed", &[Cookie, Password], |server| change_user(server, "password", json!("another"))),
    ("users dropped", &[Cookie, Password], |server| {
        server.admin("DELETE", "/_users", &json!({}));
    }),
    ("database dropped", &[Cookie, Password, Token], |server| {
        server.admin("DELETE", "/db", &json!({}));
    }),
    ("database dropped and made again for all", &[Cookie, Password, Token], |server| {
        server.admin("DELETE", "/db", &json!({}));
        server.admin("PUT", "/db", &json!({}));
        server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["reader"]}}));
    }),
    ("cookies signed anew", &[Cookie], |server| {
        assert_eq!(server.set("chttpd_auth", "secret", "another").status, 200);
    }),
    ("key of tokens taken", &[Token], |server| {
        server.admin("DELETE", "/_node/_local/_config/jwt_keys/hmac:k", &json!({}));
    }),
];

#[test]
fn a_feed_ends_with_the_rights_of_who_reads_it_and_sends_nothing_of_what_came_after() {
    for (name, all, take) in TAKINGS {
        for shown in all {
            let server = prepared();
            let header = header_of(&server, *shown, 3600);
            let open = KINDS.map(|kind| Open::of(&server, "/db/_changes", kind, &header));
            take(&server);
            let dropped = name == "database dropped";
            if !dropped {
                server.admin("PUT", "/db/after", &json!({}));
            }
            for open in open {
                let (what, kind) = (format!("{name}, {shown:?}, {}", open.kind), open.kind);
                let text = open.end();
                assert!(!text.contains("after"), "{what}: {text}");
                // Where it stands: behind what was sent, so that nothing is missed by who may again.
                let stands = text.rsplit_once("\"last_seq\":\"").map(|(_, rest)| rest.split('"').next().unwrap());
                assert_eq!(stands.is_some(), kind != "eventsource", "{what}: {text}");
                if let Some(stands) = stands.filter(|_| !name.starts_with("database")) {
                    let again = server.ask(ADMIN, "GET", &format!("/db/_changes?since={stands}"), "").body;
                    assert!(again.contains("\"after\""), "{what}: {stands}: {again}");
                }
            }
            // And who asks anew is refused, or is shown what they still may read: nothing.
            let again = server.ask_with(&header, "GET", "/db/_changes", "");
            assert!(!again.body.contains("after") || name.starts_with("database"), "{name}: {}", again.body);
            let again = again.status;
            let made_again = matches!(name, "database dropped and made again for all" | "access rule set");
            assert!(if made_again { again == 200 } else { matches!(again, 401 | 403 | 404) }, "{name}: {again}");
        }
    }
}

#[test]
fn a_feed_ends_with_its_cookie_or_its_token() {
    let server = prepared();
    assert_eq!(server.set("chttpd_auth", "timeout", "3").status, 200);
    for shown in [Cookie, Token] {
        let (header, began) = (header_of(&server, shown, 3), Instant::now());
        let open = KINDS.map(|kind| Open::of(&server, "/db/_changes", kind, &header));
        for open in open {
            open.end();
        }
        assert!(began.elapsed() >= Duration::from_secs(1), "{shown:?}: it was good for so long");
        assert!(matches!(server.ask_with(&header, "GET", "/db", "").status, 401 | 403), "{shown:?}");
    }
}

#[test]
fn nobody_is_let_in_and_then_asked_for_a_name() {
    let server = prepared();
    server.admin("PUT", "/db/_security", &json!({}));
    // A cookie that ends leaves what is everybody's.
    assert_eq!(server.set("chttpd_auth", "timeout", "1").status, 200);
    let header = server.log_in("ada");
    let opened = [(Nothing, String::new()), (Cookie, header)];
    let mut open: Vec<Open> = Vec::new();
    for (_, header) in &opened {
        open.extend(KINDS.map(|kind| Open::of(&server, "/db/_changes", kind, header)));
    }
    let ended =
        |server: &Served| server.ask_with(&opened[1].1, "GET", "/_session", "").json()["userCtx"]["name"].is_null();
    let deadline = Instant::now() + PATIENCE;
    while !ended(&server) {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    server.admin("PUT", "/db/public", &json!({}));
    for open in &mut open {
        assert!(open.read_until(|text| text.contains("\"public\"")), "{}: {}", open.kind, open.text);
    }
    assert_eq!(server.set("chttpd", "require_valid_user", "true").status, 200);
    server.admin("PUT", "/db/after", &json!({}));
    for open in open {
        let text = open.end();
        assert!(!text.contains("after"), "{text}");
    }
}

#[test]
fn a_feed_goes_on_for_who_still_may() {
    for shown in [Cookie, Password, Token] {
        let server = prepared();
        let header = header_of(&server, shown, 3600);
        let mut open = KINDS.map(|kind| Open::of(&server, "/db/_changes", kind, &header));
        change_user(&server, "roles", json!(["reader", "poet"]));
        server.admin("PUT", "/db/_security", &json!({"members": {"roles": ["reader", "writer"]}}));
        assert_eq!(server.set("chttpd_auth", "allow_persistent_cookies", "false").status, 200);
        server.admin("PUT", "/db/after", &json!({}));
        for open in &mut open {
            assert!(open.read_until(|text| text.contains("\"after\"")), "{shown:?}, {}: {}", open.kind, open.text);
        }
    }
}

/// Nothing tells the server of what a program beside it does: what it sends it asks for all the same.
#[test]
fn what_another_user_of_the_store_takes_away_is_taken_away() {
    let store = Store::memory().unwrap();
    for (name, take) in [
        (
            "security",
            (|store| {
                let security = r#"{"members":{"roles":["writer"]}}"#;
                store.collection("db").unwrap().settings().set("security", Some(security)).unwrap();
            }) as fn(&Store),
        ),
        ("user", |store| {
            let users = store.collection("_users").unwrap();
            let ada = users.get("org.couchdb.user:ada").unwrap().unwrap();
            users.delete("org.couchdb.user:ada", &ada.rev).unwrap();
        }),
        ("database", |store| {
            assert!(store.drop_collection("db").unwrap());
            let members = r#"{"members":{"roles":["reader"]}}"#;
            assert!(store.collection("db").unwrap().make(&[("security", members)]).unwrap());
        }),
    ] {
        let server = prepared_on(Served::on(store.clone()));
        let header = header_of(&server, Cookie, 3600);
        let open = KINDS.map(|kind| Open::of(&server, "/db/_changes", kind, &header));
        take(&store);
        store.collection("db").unwrap().put("after", "{}").unwrap();
        for open in open {
            let text = open.end();
            assert!(!text.contains("after"), "{name}: {text}");
        }
        store.drop_collection("db").unwrap();
        store.drop_collection("_users").unwrap();
        store.collection("_users").unwrap().make(&[]).unwrap();
    }
}

#[test]
fn events_of_databases_end_with_a_server_admins_place() {
    let server = Served::with(Config { store: "memory:".into(), admins: vec![ADMIN.into()], ..Config::default() });
    server.admin("PUT", "/before", &json!({}));
    assert_eq!(server.set("admins", "bob", "secret").status, 200);
    let header = basic("bob:secret");
    let open = KINDS.map(|kind| Open::of(&server, "/_db_updates", kind, &header));
    server.admin("DELETE", "/_node/_local/_config/admins/bob", &json!({}));
    server.admin("PUT", "/after", &json!({}));
    for open in open {
        let text = open.end();
        assert!(!text.contains("after"), "{text}");
    }
}
