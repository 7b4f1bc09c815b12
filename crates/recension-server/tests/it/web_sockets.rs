//! Topics over WebSocket, with a client of another's make: what is said, what is missed, pages of other sites, the end.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, WebSocket, client};

use crate::accounts::{ADMIN, Served, basic};

fn request(server: &Served, path: &str, headers: &[(&'static str, &str)]) -> Request<()> {
    let mut request = format!("ws://{}{path}", server.address).into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    request
}

fn connected(server: &Served, request: Request<()>) -> Result<WebSocket<TcpStream>, u16> {
    let stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    match client(request, stream) {
        Ok((socket, _)) => Ok(socket),
        Err(tokio_tungstenite::tungstenite::HandshakeError::Failure(Error::Http(answer))) => {
            Err(answer.status().as_u16())
        }
        Err(error) => panic!("{error}"),
    }
}

fn as_admin() -> String {
    basic(ADMIN).trim().trim_start_matches("Authorization: ").to_owned()
}

/// The next text.
fn told(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        match socket.read().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

/// How the server closes the socket.
fn closed(socket: &mut WebSocket<TcpStream>) -> CloseCode {
    loop {
        match socket.read().unwrap() {
            Message::Close(frame) => return frame.unwrap().code,
            Message::Ping(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn members_hear_what_is_said_until_they_say_something_themselves() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    let ask = request(&server, "/orders/_topics?match=new.*", &[("authorization", &as_admin())]);
    let mut socket = connected(&server, ask).unwrap();
    // It is there once the server counts it among those that listen.
    let said = |topic: &str, message: &str| {
        let answer = server.ask(ADMIN, "POST", &format!("/orders/_topics/{topic}"), message);
        answer.json()["heard"].as_u64().unwrap()
    };
    assert_eq!(said("new.pizza", "hello"), 1);
    assert_eq!(said("old", "unheard"), 0);
    assert_eq!(told(&mut socket), json!({"topic": "new.pizza", "message": "hello"}));
    let large = "x".repeat(3 << 20);
    assert_eq!(said("new.large", &large), 1);
    assert_eq!(told(&mut socket)["message"], large);
    socket.send(Message::Ping("there?".into())).unwrap();
    loop {
        match socket.read().unwrap() {
            Message::Pong(word) => break assert_eq!(&word[..], b"there?"),
            other => assert!(other.is_ping(), "{other:?}"),
        }
    }
    socket.send(Message::text("something")).unwrap();
    assert_eq!(closed(&mut socket), CloseCode::Unsupported);
}

#[test]
fn rights_that_end_end_a_socket() {
    let server = Served::start();
    server.user("ada", &["reader"]);
    server.admin("PUT", "/orders", &json!({}));
    server.admin("PUT", "/orders/_security", &json!({"members": {"roles": ["reader"]}}));
    let as_ada = basic("ada:pw").trim().trim_start_matches("Authorization: ").to_owned();
    let mut socket = connected(&server, request(&server, "/orders/_topics", &[("authorization", &as_ada)])).unwrap();
    server.admin("PUT", "/orders/_security", &json!({"members": {"roles": ["others"]}}));
    server.ask(ADMIN, "POST", "/orders/_topics/t", "not for her");
    assert_eq!(closed(&mut socket), CloseCode::Policy);
}

/// A branch has the same topics however often the server has opened it, and its name may go to another branch.
#[test]
fn a_socket_on_a_branch_hears_that_branch_and_none_that_gets_its_name() {
    let server = Served::start();
    server.user("ada", &[]);
    server.admin("PUT", "/orders", &json!({}));
    server.admin("PUT", "/orders/_security", &json!({"members": {"names": ["ada"]}}));
    server.admin("POST", "/_branches", &json!({"name": "idea"}));
    let as_ada = basic("ada:pw").trim().trim_start_matches("Authorization: ").to_owned();
    let listening =
        || connected(&server, request(&server, "/orders@idea/_topics", &[("authorization", &as_ada)])).unwrap();
    let mut socket = listening();
    // More branches than the server keeps open.
    for number in 0..recension_wire::limits::OPEN_BRANCHES_MAX + 2 {
        server.admin("POST", "/_branches", &json!({"name": format!("b{number}")}));
        assert_eq!(server.ask(ADMIN, "GET", &format!("/orders@b{number}"), "").status, 200);
    }
    server.ask(ADMIN, "POST", "/orders@b1/_topics/t", "of another branch");
    server.ask(ADMIN, "POST", "/orders/_topics/t", "of the main line");
    assert_eq!(server.ask(ADMIN, "POST", "/orders@idea/_topics/t", "there").json()["heard"], 1);
    assert_eq!(told(&mut socket), json!({"topic": "t", "message": "there"}));
    server.admin("PUT", "/_branches/idea", &json!({"name": "thought"}));
    server.admin("POST", "/_branches", &json!({"name": "idea"}));
    let mut anew = listening();
    assert_eq!(server.ask(ADMIN, "POST", "/orders@idea/_topics/t", "of another").json()["heard"], 1);
    assert_eq!(told(&mut anew)["message"], "of another");
    assert_eq!(closed(&mut socket), CloseCode::Policy);
    server.admin("DELETE", "/_branches/idea", &json!(null));
    assert_eq!(closed(&mut anew), CloseCode::Policy);
}

#[test]
fn pages_of_other_sites_and_handshakes_that_are_none_are_refused() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    let own = format!("http://{}", server.address);
    let admin = as_admin();
    for (headers, status) in [
        (vec![("authorization", &*admin), ("origin", "https://evil.example")], Some(403)),
        (vec![("authorization", &*admin), ("origin", "null")], Some(403)),
        (vec![("authorization", &*admin), ("sec-fetch-site", "cross-site")], Some(403)),
        (vec![("authorization", &*admin), ("origin", &*own)], None),
        (vec![], Some(401)),
        (vec![("authorization", &*admin), ("sec-websocket-version", "12")], Some(426)),
        (vec![("authorization", &*admin), ("sec-websocket-key", "short")], Some(400)),
    ] {
        let found = connected(&server, request(&server, "/orders/_topics", &headers)).err();
        assert_eq!(found, status, "{headers:?}");
    }
}

#[test]
fn answers_to_pings_do_not_gather_for_a_client_that_does_not_read() {
    let server = Served::start();
    server.admin("PUT", "/orders", &json!({}));
    let ask = request(&server, "/orders/_topics", &[("authorization", &as_admin())]);
    let mut socket = connected(&server, ask).unwrap();
    let stream = socket.get_mut();
    // Masked with zeros (RFC 6455, 5.3), each with the longest text that a ping has.
    let ping = [&[0x89, 0x80 | 0x7d, 0, 0, 0, 0][..], &[b'x'; 125]].concat();
    let pings = ping.repeat(1000);
    for _ in 0..200 {
        stream.write_all(&pings).unwrap();
    }
    // A text ends the socket.
    stream.write_all(&[0x81, 0x80, 0, 0, 0, 0]).unwrap();
    let mut answered = Vec::new();
    let _ = stream.read_to_end(&mut answered);
    let sent = 200_000 * (ping.len() - 4);
    assert!(!answered.is_empty() && answered.len() < sent / 2, "{} of {sent} bytes", answered.len());
}
