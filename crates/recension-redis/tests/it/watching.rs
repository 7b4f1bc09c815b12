//! WATCH: what is noticed of keys that others make, change and remove.

use crate::commands::{ask, check, door};

#[test]
fn a_watched_key_that_was_made_and_removed_is_noticed() {
    let (door, ..) = door();
    let (mut one, mut other) = (door.caller(), door.caller());
    let removals = [
        "SET k 1;DEL k",
        "LPUSH k a;LPOP k",
        "SET k 1;FLUSHDB",
        "SET k 1;GETDEL k",
        "SET k 1;RENAME k z",
        "SADD k a;SREM k a",
        "SET k 1;EXPIRE k -1",
        "HSET k a 1;HDEL k a",
        "ZADD k 1 a;ZPOPMIN k",
    ];
    for removal in removals {
        check(&mut one, "WATCH k\nOK");
        removal.split(';').for_each(|line| drop(ask(&mut other, line)));
        check(&mut one, "MULTI\nOK\nSET done 1\nQUEUED");
        assert_eq!(ask(&mut one, "EXEC"), "nil[]", "{removal}");
    }
    check(&mut one, "WATCH k\nOK");
    check(&mut other, "DEL k\n0\nSET other 1\nOK\nDEL other\n1\nFLUSHDB\nOK");
    check(&mut one, "MULTI\nOK\nSET done 1\nQUEUED\nEXEC\n[OK]");
}
