//! Replies and scripts that would hold too much.

use recension_redis::Reply;

use crate::commands::{ask, door, printed};

#[test]
fn replies_that_are_too_long_are_refused_before_anything_is_changed() {
    let (door, store, _) = door();
    let mut caller = door.caller();
    let long = vec![b'x'; 1 << 20];
    for _ in 0..70 {
        assert!(matches!(caller.call(&[b"RPUSH", b"list", &long]), Reply::Integer(_)));
    }
    assert_eq!(caller.call(&[b"SET", b"long", &long]), Reply::Ok);
    let many: Vec<&[u8]> = std::iter::once(&b"MGET"[..]).chain([&b"long"[..]; 70]).collect();
    for request in [&many[..], &[b"LRANGE", b"list", b"0", b"-1"], &[b"LPOP", b"list", b"70"]] {
        let reply = printed(&caller.call(request));
        assert!(reply.starts_with("!ERR that is more than one reply has"), "{reply:.100}");
    }
    assert_eq!(caller.call(&[b"LLEN", b"list"]), Reply::Integer(70));
    assert!(matches!(caller.call(&[b"LPOP", b"list", b"30"]), Reply::Array(taken) if taken.len() == 30));
    assert_eq!(ask(&mut caller, "MULTI"), "OK");
    assert_eq!(ask(&mut caller, "SET a 1"), "QUEUED");
    for _ in 0..70 {
        assert_eq!(ask(&mut caller, "GET long"), "QUEUED");
    }
    let reply = ask(&mut caller, "EXEC");
    assert!(reply.starts_with("!EXECABORT Transaction discarded: its replies"), "{reply:.100}");
    assert!(store.keys("redis").unwrap().get("a").unwrap().is_none());
    assert_eq!(ask(&mut caller, "GET a"), "nil");
}

/// Nobody who never comes to EXEC, or is blocked for ever, can fill the memory; and what is short always has room.
#[test]
fn what_callers_keep_has_one_bound_together() {
    let (door, ..) = door();
    let no_room =
        "!ERR other clients keep too much in transactions, watched keys and blocked commands: try again later";
    let (mut one, mut other, mut third) = (door.caller(), door.caller(), door.caller());
    let long = vec![b'x'; 1 << 20];
    assert_eq!(ask(&mut one, "MULTI"), "OK");
    for _ in 0..62 {
        assert_eq!(one.call(&[b"SET", b"a", &long]), Reply::Simple("QUEUED"));
    }
    assert_eq!(ask(&mut other, "MULTI"), "OK");
    assert_eq!(other.call(&[b"SET", b"a", &long]), Reply::Simple("QUEUED"));
    assert_eq!(printed(&other.call(&[b"SET", b"a", &[long.as_slice(); 2].concat()])), no_room);
    assert!(ask(&mut other, "EXEC").starts_with("!EXECABORT"));
    // Keys that are watched, and requests that wait.
    let keys: Vec<Vec<u8>> = (0..1000).map(|n| format!("{n:07000}").into_bytes()).collect();
    let with = |name: &'static str, behind: Option<&'static str>| -> Vec<&[u8]> {
        let keys = keys.iter().map(Vec::as_slice);
        std::iter::once(name.as_bytes()).chain(keys).chain(behind.map(str::as_bytes)).collect()
    };
    assert_eq!(printed(&other.call(&with("WATCH", None))), no_room);
    assert_eq!(printed(&other.call(&with("BLPOP", Some("0")))), no_room);
    // What is short.
    assert_eq!(ask(&mut third, "WATCH a"), "OK");
    assert_eq!(ask(&mut third, "MULTI"), "OK");
    assert_eq!(ask(&mut third, "SET b 1"), "QUEUED");
    assert_eq!(ask(&mut third, "EXEC"), "[OK]");
    assert_eq!(ask(&mut one, "DISCARD"), "OK");
    assert_eq!(printed(&other.call(&with("WATCH", None))), "OK");
    assert_eq!(printed(&third.call(&with("WATCH", None))), "OK");
    assert_eq!(printed(&one.call(&with("WATCH", None))), "OK");
    assert_eq!(printed(&door.caller().call(&with("WATCH", None))), no_room, "four times as much");
    assert_eq!(ask(&mut other, "UNWATCH"), "OK");
    assert_eq!(printed(&door.caller().call(&with("WATCH", None))), "OK");
}

#[test]
fn a_script_holds_no_more_than_a_reply() {
    let (door, _, _) = door();
    let mut caller = door.caller();
    assert_eq!(caller.call(&[b"SET", b"long", &vec![b'x'; 20 << 20]]), Reply::Ok);
    let script = "local t = {} for i = 1, 4 do t[i] = redis.call('GET', KEYS[1]) end return 1";
    let reply = printed(&caller.call(&[b"EVAL", script.as_bytes(), b"1", b"long"]));
    assert!(reply.contains("its values take more than 64 MiB"), "{reply:.100}");
    let again = "local a = 1; for i = 1, 10 do a = redis.call('GET', KEYS[1]) end return #a";
    assert_eq!(caller.call(&[b"EVAL", again.as_bytes(), b"1", b"long"]), Reply::Integer(20 << 20));
}

#[test]
fn scripts_that_are_remembered_are_bounded_together() {
    let (door, ..) = door();
    let mut caller = door.caller();
    let text = |number: usize, length: usize| format!("return {number} --{}", "x".repeat(length)).into_bytes();
    let refused = printed(&caller.call(&[b"EVAL", &text(1, 300_000), b"0"]));
    assert_eq!(refused, "!ERR a script has at most 256 KiB");
    let Reply::Bulk(first) = caller.call(&[b"SCRIPT", b"LOAD", &text(0, 200_000)]) else { panic!("not loaded") };
    let there = |caller: &mut recension_redis::Caller| printed(&caller.call(&[b"SCRIPT", b"EXISTS", &first]));
    for number in 1..10 {
        assert_eq!(
            caller.call(&[b"EVAL", &text(number, 200_000), b"0"]),
            Reply::Integer(i64::try_from(number).unwrap())
        );
        assert_eq!(there(&mut caller), "[1]");
    }
    assert_eq!(caller.call(&[b"EVAL", &text(10, 200_000), b"0"]), Reply::Integer(10));
    assert_eq!(there(&mut caller), "[0]", "it is forgotten, and loaded again by clients that are told NOSCRIPT");
}

#[test]
fn every_script_ends_within_bounds() {
    let (door, _, _) = door();
    let mut caller = door.caller();
    for (script, expected) in [
        ("while true do end", "more than a million steps"),
        ("pcall(function() while true do end end) return 1", "more than a million steps"),
        ("local function f() return 1 + f() end return f()", "stack overflow"),
        ("local s = 'x' while true do s = s .. s end", "more than 64 MiB"),
        ("local t = {} while true do t[#t + 1] = {t, t, t, t, t, t, t, t, t, t} end", "more than"),
        ("return string.rep('x', 1e15)", "more than 64 MiB"),
        ("return string.match(string.rep('a', 100000), '(.-)(.-)(.-)b')", "too many steps"),
        ("return string.find(string.rep('a', 5000), string.rep('a?', 5000) .. 'a')", "too complex"),
        ("return cjson.decode(string.rep('[', 200))", "too many nested"),
        ("local t = {} t[1] = t return cjson.encode(t)", "excessive nesting"),
        ("return unpack({}, -9e18, 9e18)", "too many results"),
        ("table.insert({1}, -9.3e18, 5) return table.remove({1}, -9.3e18) or 'none'", "none"),
    ] {
        let reply = printed(&caller.call(&[b"EVAL", script.as_bytes(), b"0"]));
        assert!(reply.contains(expected), "{script}: {reply:.200}");
    }
    // The connection goes on.
    assert_eq!(ask(&mut caller, "PING"), "PONG");
}
