//! Commands and their replies, as Redis 7 gives them, as lines: a request, then what redis-cli would print.

use std::sync::Arc;

use recension::Store;
use recension::engine::{ManualClock, MemoryEngine, Timestamp};
use recension_redis::resp::Requests;
use recension_redis::{Caller, Door, Reply, Settings};

pub(crate) fn printed(reply: &Reply) -> String {
    let all = |items: &[Reply]| format!("[{}]", items.iter().map(printed).collect::<Vec<_>>().join(" "));
    match reply {
        Reply::Ok => "OK".into(),
        Reply::Simple(word) => (*word).into(),
        Reply::Status(text) => text.clone(),
        Reply::Error(message) => format!("!{message}"),
        Reply::Integer(number) => number.to_string(),
        Reply::Double(number) => format!(",{number}"),
        Reply::Bulk(bytes) => format!("\"{}\"", bytes.escape_ascii()),
        Reply::Null => "nil".into(),
        Reply::NullArray => "nil[]".into(),
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => all(items),
        Reply::Map(pairs) | Reply::Pairs(pairs) => {
            let pairs = pairs.iter().map(|(name, value)| format!("{}={}", printed(name), printed(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(" "))
        }
    }
}

pub(crate) fn ask(caller: &mut Caller, line: &str) -> String {
    let mut requests = Requests::default();
    requests.feed(format!("{line}\n").as_bytes());
    let words = requests.next_request().unwrap().unwrap();
    printed(&caller.call(&words.iter().map(Vec::as_slice).collect::<Vec<_>>()))
}

/// Each pair of lines is a request and its reply.
pub(crate) fn check(caller: &mut Caller, script: &str) {
    let lines: Vec<&str> = script.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for pair in lines.chunks(2) {
        let [request, reply] = pair else { panic!("{pair:?} has no reply") };
        assert_eq!(ask(caller, request).trim_end(), *reply, "{request}");
    }
}

pub(crate) fn door() -> (Door, Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp(1_795_000_000_000_000)));
    let engine = Arc::new(MemoryEngine::with_clock(clock.clone()));
    let store = Store::with_clock(engine, clock.clone()).unwrap();
    (Door::on(&store, Settings::default()), store, clock)
}

#[test]
fn strings_and_numbers() {
    let (door, store, _) = door();
    check(
        &mut door.caller(),
        r#"
        GET a
        nil
        SET a 1
        OK
        set a 2 nx
        nil
        SET a 2 XX GET
        "1"
        SET b x NX GET
        nil
        SET a 3 NX XX
        !ERR syntax error
        SET a 3 EX
        !ERR syntax error
        SET a 3 EX 0
        !ERR invalid expire time in 'set' command
        SET a 3 EX 1 PX 1
        !ERR syntax error
        MGET a b c
        ["2" "x" nil]
        MSET a 1 b 2 c 3
        OK
        MSET a 1 b
        !ERR wrong number of arguments for 'mset' command
        MSETNX c 1 d 2
        0
        MSETNX d 1 e 2
        1
        EXISTS a a d z
        3
        DEL a z b
        2
        SETNX a 5
        1
        SETNX a 6
        0
        INCR a
        6
        INCRBY a -10
        -4
        DECRBY a 6
        -10
        GET a
        "-10"
        SET n 9223372036854775807
        OK
        INCR n
        !ERR increment or decrement would overflow
        SET t text
        OK
        INCR t
        !ERR value is not an integer or out of range
        INCRBYFLOAT f 10.5
        "10.5"
        INCRBYFLOAT f 0.1
        "10.6"
        INCRBYFLOAT t 1
        !ERR value is not a valid float
        APPEND t s
        5
        STRLEN t
        5
        GETRANGE t 1 -2
        "ext"
        GETRANGE t -100 100
        "texts"
        GETRANGE t 3 1
        ""
        SETRANGE t 6 x
        7
        GET t
        "texts\x00x"
        GETSET t new
        "texts\x00x"
        GETDEL t
        "new"
        TYPE t
        none
        TYPE a
        string
        RENAME a z
        OK
        RENAME a z
        !ERR no such key
        RENAMENX z n
        0
        GET z
        "-10"
        NOTHING
        !ERR unknown command 'NOTHING', with args beginning with:
        GET
        !ERR wrong number of arguments for 'get' command
        "#,
    );
    assert_eq!(store.key_namespaces().unwrap(), ["redis"]);
}

#[test]
fn keys_end() {
    let (door, _, clock) = door();
    let mut caller = door.caller();
    check(
        &mut caller,
        r#"
        SET a 1 EX 100
        OK
        TTL a
        100
        PTTL a
        100000
        EXPIRETIME a
        1795000100
        SET a 2 KEEPTTL
        OK
        INCR a
        3
        TTL a
        100
        EXPIRE a 50 GT
        0
        EXPIRE a 50 LT
        1
        EXPIRE a 60 NX
        0
        PEXPIRE a 60000 XX
        1
        PEXPIRETIME a
        1795000060000
        TTL none
        -2
        PERSIST a
        1
        PERSIST a
        0
        TTL a
        -1
        GETEX a PX 5000
        "3"
        SETEX b 3 x
        OK
        PSETEX c 3000 x
        OK
        SET d 1 PXAT 1795000004000
        OK
        EXPIREAT b -5
        1
        EXISTS b
        0
        EXPIRE b 5
        0
        EXPIRE a 9223372036854775807
        !ERR invalid expire time in 'expire' command
        "#,
    );
    clock.advance(4_000_000);
    check(&mut caller, "MGET a c d\n[\"3\" nil nil]\nKEYS *\n[\"a\"]\nTTL a\n1\nDBSIZE\n1");
}

#[test]
fn hashes_are_documents() {
    let (door, store, _) = door();
    let cities = store.collection("cities").unwrap();
    cities.put("porto", r#"{"name":"Porto","people":231800,"tags":["a"],"x":null}"#).unwrap();
    check(
        &mut door.caller(),
        r#"
        HGETALL cities:porto
        {"name"="Porto" "people"="231800" "tags"="[\"a\"]" "x"="null"}
        HSET cities:lisbon name Lisbon country Portugal
        2
        HSET cities:lisbon name Lisboa mayor X
        1
        HMGET cities:lisbon name none
        ["Lisboa" nil]
        HINCRBY cities:lisbon visits 5
        5
        HINCRBYFLOAT cities:lisbon visits 0.5
        "5.5"
        HINCRBY cities:lisbon name 1
        !ERR hash value is not an integer
        HSETNX cities:lisbon name Y
        0
        HDEL cities:lisbon mayor none
        1
        HKEYS cities:lisbon
        ["name" "country" "visits"]
        HVALS cities:lisbon
        ["Lisboa" "Portugal" "5.5"]
        HLEN cities:lisbon
        3
        HEXISTS cities:lisbon name
        1
        HSTRLEN cities:lisbon name
        6
        HSCAN cities:lisbon 0 MATCH n*
        ["0" ["name" "Lisboa"]]
        TYPE cities:lisbon
        hash
        GET cities:lisbon
        !WRONGTYPE Operation against a key holding the wrong kind of value
        INCR cities:lisbon
        !WRONGTYPE Operation against a key holding the wrong kind of value
        HSET s f v
        1
        SET str v
        OK
        HSET str f v
        !WRONGTYPE Operation against a key holding the wrong kind of value
        EXPIRE cities:lisbon 5
        !ERR a document expires by the rule of its collection
        TTL cities:lisbon
        -1
        DEL cities:porto s none
        2
        SELECT 1
        OK
        HSET a f v
        1
        SELECT 16
        !ERR DB index is out of range
        "#,
    );
    let mut caller = door.caller();
    assert!(ask(&mut caller, "HSET cities:lisbon _x 1").starts_with("!ERR field \"_x\": names that start with _"));
    assert_eq!(cities.get("lisbon").unwrap().unwrap().body, r#"{"name":"Lisboa","country":"Portugal","visits":5.5}"#);
    assert!(cities.get("porto").unwrap().is_none());
    assert_eq!(store.collection("hashes").unwrap().count().unwrap(), 0);
}

#[test]
fn a_hash_without_fields_is_no_hash() {
    let (door, store, _) = door();
    check(&mut door.caller(), "HSET a:b f v\n1\nHDEL a:b f\n1\nEXISTS a:b\n0\nHDEL a:b f\n0\nHGETALL a:b\n{}");
    assert_eq!(store.collection("a").unwrap().count().unwrap(), 0);
}

#[test]
fn a_hash_without_a_collection_is_kept_under_its_key() {
    let (door, store, _) = door();
    check(
        &mut door.caller(),
        r#"
        HSET session:7 _user ada
        1
        HINCRBYFLOAT session:7 seen 0.1
        "0.1"
        HINCRBYFLOAT session:7 seen 0.2
        "0.3"
        EXPIRE session:7 100
        1
        TTL session:7
        100
        HGETALL session:7
        {"_user"="ada" "seen"="0.3"}
        HSCAN session:7 0 NOVALUES
        ["0" ["_user" "seen"]]
        HSCAN session:7 0 COUNT 1 NOVALUES
        ["1" ["_user"]]
        HSCAN session:7 1
        ["0" ["seen" "0.3"]]
        KEYS *
        ["session:7"]
        RENAME session:7 session:8
        OK
        HLEN session:8
        2
        FLUSHDB
        OK
        EXISTS session:8
        0
        "#,
    );
    assert!(store.collections(recension::At::Now).unwrap().is_empty(), "no collection is made");
}

#[test]
fn what_is_not_understood_deletes_nothing() {
    let (door, ..) = door();
    let mut caller = door.caller();
    check(&mut caller, "SET a 1\nOK");
    for wrong in ["FLUSHDB 3", "FLUSHALL FOO", "FLUSHALL ASYNC SYNC", "FLUSHDB ASYNC x"] {
        assert_eq!(ask(&mut caller, wrong), "!ERR syntax error", "{wrong}");
        check(&mut caller, &format!("MULTI\nOK\n{wrong}\nQUEUED\nEXEC\n[!ERR syntax error]"));
    }
    check(&mut caller, "GET a\n\"1\"\nMULTI\nOK\nFLUSHDB\nQUEUED\nSELECT 1\nQUEUED\nSET b 1\nQUEUED\nEXEC\n[OK OK OK]");
    check(&mut caller, "DBSIZE\n1\nSELECT 0\nOK\nEXISTS a\n0");
}

#[test]
fn transactions_are_whole_and_watched_keys_guard_them() {
    let (door, store, _) = door();
    let (mut one, mut other) = (door.caller(), door.caller());
    check(
        &mut one,
        "
        EXEC
        !ERR EXEC without MULTI
        MULTI
        OK
        SET a 1
        QUEUED
        INCR a
        QUEUED
        HSET h:x f v
        QUEUED
        INCR h:x
        QUEUED
        GET a
        QUEUED
        ",
    );
    assert_eq!(ask(&mut other, "GET a"), "nil");
    let before = store.engine().head();
    assert_eq!(
        ask(&mut one, "EXEC"),
        r#"[OK 2 1 !WRONGTYPE Operation against a key holding the wrong kind of value "2"]"#
    );
    assert!(store.engine().head().0 <= before.0 + 1, "one commit");
    check(&mut one, "WATCH a h:x\nOK\nMULTI\nOK\nSET b 1\nQUEUED");
    check(&mut other, "SET a 9\nOK");
    check(&mut one, "EXEC\nnil[]\nEXISTS b\n0\nWATCH h:x none\nOK\nMULTI\nOK\nSET b 1\nQUEUED");
    check(&mut other, "HSET h:x f w\n0");
    check(&mut one, "EXEC\nnil[]\nWATCH none\nOK\nMULTI\nOK\nSET b 1\nQUEUED\nEXEC\n[OK]");
    check(
        &mut one,
        "
        WATCH a
        OK
        UNWATCH
        OK
        MULTI
        OK
        MULTI
        !ERR MULTI calls can not be nested
        WATCH a
        !ERR WATCH inside MULTI is not allowed
        PING
        QUEUED
        SUBSCRIBE c
        !ERR SUBSCRIBE is not allowed in transactions
        EXEC
        !EXECABORT Transaction discarded because of previous errors.
        MULTI
        OK
        NOTHING
        !ERR unknown command 'NOTHING', with args beginning with:
        SET c 1
        QUEUED
        EXEC
        !EXECABORT Transaction discarded because of previous errors.
        MULTI
        OK
        SET c 1
        QUEUED
        DISCARD
        OK
        DISCARD
        !ERR DISCARD without MULTI
        EXISTS c
        0
        ",
    );
}

#[test]
fn a_pipeline_is_one_commit_and_its_commands_see_each_other() {
    let (door, store, _) = door();
    let mut caller = door.caller();
    check(&mut caller, "SET z 0\nOK");
    let before = store.engine().head();
    let words = |line: &str| line.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    let lines = ["SET a 1", "GET a", "INCR a", "NOSUCH", "INCR a", "SET b x", "INCR b", "GET a"];
    let mut replies = Vec::new();
    caller.call_all(lines.map(words).to_vec(), &mut replies);
    let told: Vec<String> = replies.iter().map(printed).collect();
    let refused = "!ERR value is not an integer or out of range";
    assert_eq!(
        told,
        ["OK", "\"1\"", "2", "!ERR unknown command 'NOSUCH', with args beginning with: ", "3", "OK", refused, "\"3\""]
    );
    assert_eq!(store.engine().head().0, before.0 + 2, "the error parts two stretches");
}

#[test]
fn keys_are_scanned_in_pages_by_patterns() {
    let (door, ..) = door();
    let mut caller = door.caller();
    for n in 0..25 {
        check(&mut caller, &format!("SET k:{n:02} v\nOK\nSET other:{n} v\nOK"));
    }
    let (mut cursor, mut found) = ("0".to_owned(), Vec::new());
    loop {
        let request = ["SCAN", &cursor, "MATCH", "k:*[05]", "COUNT", "4"].map(str::as_bytes);
        let Reply::Array(parts) = caller.call(&request) else { panic!("no array") };
        let [Reply::Bulk(next), Reply::Array(keys)] = &parts[..] else { panic!("{parts:?}") };
        found.extend(keys.iter().map(printed));
        cursor = String::from_utf8(next.clone()).unwrap();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found, [r#""k:00""#, r#""k:05""#, r#""k:10""#, r#""k:15""#, r#""k:20""#]);
    check(
        &mut caller,
        r#"
        SCAN 99999
        !ERR invalid cursor
        SCAN 0 COUNT 0
        !ERR syntax error
        SCAN 0 TYPE hash COUNT 100
        ["0" []]
        DBSIZE
        50
        KEYS k:0[12]
        ["k:01" "k:02"]
        SELECT 2
        OK
        DBSIZE
        0
        SET k:00 other
        OK
        FLUSHDB
        OK
        SELECT 0
        OK
        DBSIZE
        50
        FLUSHALL
        OK
        DBSIZE
        0
        "#,
    );
}
