//! What a caller is told of itself, who may do nothing, and who hears messages.

use std::sync::Arc;

use recension::Store;
use recension_redis::{Caller, Door, Settings};

use crate::commands::{ask, check, door};
#[test]
fn who_has_no_password_does_nothing() {
    let store = Store::memory().unwrap();
    let authenticate = Arc::new(|name: &str, password: &[u8]| name == "default" && password == b"secret");
    let settings = Settings { authenticate: Some(authenticate), ..Settings::default() };
    let mut caller = Door::on(&store, settings).caller();
    check(
        &mut caller,
        "
        GET a
        !NOAUTH Authentication required.
        PING
        !NOAUTH Authentication required.
        MULTI
        !NOAUTH Authentication required.
        SUBSCRIBE a
        !NOAUTH Authentication required.
        AUTH wrong
        !WRONGPASS invalid username-password pair or user is disabled.
        AUTH ada secret
        !WRONGPASS invalid username-password pair or user is disabled.
        GET a
        !NOAUTH Authentication required.
        AUTH secret
        OK
        GET a
        nil
        RESET
        RESET
        GET a
        !NOAUTH Authentication required.
        ",
    );
    assert!(ask(&mut caller, "HELLO 3").starts_with("!NOAUTH"));
    assert!(ask(&mut caller, "HELLO 3 AUTH default secret SETNAME x").contains("\"proto\"=3"));
    check(&mut caller, "CLIENT GETNAME\n\"x\"\nHELLO 4\n!NOPROTO unsupported protocol version");
    let mut open = Door::on(&store, Settings::default()).caller();
    assert!(ask(&mut open, "AUTH x").starts_with("!ERR AUTH <password> called without"));
}

/// redis-py's `client_info` and `client_list` read these.
#[test]
fn a_connection_tells_of_itself() {
    let store = Store::memory().unwrap();
    let mut caller = Door::on(&store, Settings::default()).caller();
    let told = ask(&mut caller, "CLIENT LIST");
    for field in ["id=1 ", " flags=N ", " db=0 ", " sub=0 psub=0 ", " multi=-1 ", " user=default ", " resp=2"] {
        assert!(told.contains(field), "{field}: {told}");
    }
    for asked in ["CLIENT INFO", "CLIENT LIST ID 1", "CLIENT LIST ID 7 1", "CLIENT LIST TYPE normal"] {
        assert_eq!(ask(&mut caller, asked), told, "{asked}");
    }
    check(
        &mut caller,
        "
        CLIENT LIST ID 2
        \"\"
        CLIENT LIST TYPE replica
        \"\"
        CLIENT LIST TYPE pubsub
        \"\"
        CLIENT LIST TYPE foo
        !ERR Unknown client type 'foo'
        CLIENT LIST ID x
        !ERR Invalid client ID
        CLIENT LIST ID
        !ERR syntax error
        CLIENT LIST FOO
        !ERR syntax error
        ",
    );
    check(
        &mut caller,
        "
        CLIENT SETINFO LIB-NAME redis-py
        OK
        CLIENT SETINFO lib-ver 5.0.1
        OK
        CLIENT SETINFO LIB-AGE 7
        !ERR Unrecognized option 'LIB-AGE'
        ",
    );
    let spaced = caller.call(&[b"CLIENT", b"SETINFO", b"LIB-NAME", b"a b"]);
    assert!(format!("{spaced:?}").contains("lib-name cannot contain spaces, newlines or special characters."));
    let named = caller.call(&[b"HELLO", b"2", b"SETNAME", b"a b"]);
    assert!(format!("{named:?}").contains("Client names cannot contain spaces"), "{named:?}");
    assert!(ask(&mut caller, "CLIENT INFO").contains(" lib-name=redis-py lib-ver=5.0.1 "));
    let counted = |caller: &mut Caller| {
        let info = ask(caller, "INFO stats");
        let (_, number) = info.split_once("total_commands_processed:").unwrap();
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap()
    };
    let before = counted(&mut caller);
    check(&mut caller, "CONFIG RESETSTAT\nOK");
    assert!(before > 5 && counted(&mut caller) < 3);
}

#[test]
fn messages_reach_who_listens() {
    let (door, store, _) = door();
    let (mut one, mut other) = (door.caller(), door.caller());
    ask(&mut one, "SUBSCRIBE a");
    assert!(ask(&mut one, "GET a").starts_with("!ERR Can't execute 'get': only (P|S)SUBSCRIBE"));
    check(
        &mut one,
        r#"
        UNSUBSCRIBE a
        ["unsubscribe" "a" 0]
        SUBSCRIBE a b
        [["subscribe" "a" 1] ["subscribe" "b" 2]]
        PSUBSCRIBE n*
        ["psubscribe" "n*" 3]
        PING
        ["pong" ""]
        "#,
    );
    check(
        &mut other,
        r#"
        PUBLISH a hello
        1
        MULTI
        OK
        PUBLISH news x
        QUEUED
        SET k v
        QUEUED
        PUBLISH zero x
        QUEUED
        EXEC
        [1 OK 0]
        PUBSUB NUMSUB a z
        ["a" 1 "z" 0]
        PUBSUB NUMPAT
        1
        PUBSUB CHANNELS b*
        ["b"]
        "#,
    );
    assert_eq!(store.topics().publish("b", "from the program").unwrap(), 1);
    let subscriber = one.subscriber().unwrap();
    let heard: Vec<String> = std::iter::from_fn(|| subscriber.try_next())
        .map(|received| match received {
            recension::Received::Message(message, _) => message.payload.escape_ascii().to_string(),
            recension::Received::Missed(_) => panic!("nothing was missed"),
        })
        .collect();
    assert_eq!(heard, ["hello", "x", "from the program"]);
    check(
        &mut one,
        r#"
        UNSUBSCRIBE a
        ["unsubscribe" "a" 2]
        UNSUBSCRIBE
        ["unsubscribe" "b" 1]
        PUNSUBSCRIBE
        ["punsubscribe" "n*" 0]
        UNSUBSCRIBE
        ["unsubscribe" nil 0]
        GET a
        nil
        "#,
    );
}
