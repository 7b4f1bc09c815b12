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

#[test]
fn a_script_holds_no_more_than_a_reply() {
    let (door, _, _) = door();
    let mut caller = door.caller();
    assert_eq!(caller.call(&[b"SET", b"long", &vec![b'x'; 20 << 20]]), Reply::Ok);
    let script = "local a = redis.call('GET', KEYS[1]); local b = a; local c = a; local d = a; return 1";
    let reply = printed(&caller.call(&[b"EVAL", script.as_bytes(), b"1", b"long"]));
    assert!(reply.contains("its variables hold more than 64 MiB"), "{reply:.100}");
    let again = "local a = 1; for i = 1, 10 do a = redis.call('GET', KEYS[1]) end return #a";
    assert_eq!(caller.call(&[b"EVAL", again.as_bytes(), b"1", b"long"]), Reply::Integer(20 << 20));
}
