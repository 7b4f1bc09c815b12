//! Two versions of the software on one log: a newer one adds to the format, and the older one goes on, or stops and
//! says why. The newer one's records are written here to the byte, as docs/shared-log.md has them.

use std::sync::Arc;

use recension_engine::{Engine, EngineError, Seq};
use recension_log::{Appended, MemoryLog, Position, SharedLog};
use sha2::{Digest as _, Sha256};

use crate::support::{T, node, row, try_node, until, value};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("a_newer_format_that_can_be_read_is_gone_on_with", a_newer_format_that_can_be_read_is_gone_on_with),
    ("a_newer_format_that_cannot_be_read_stops_a_node", a_newer_format_that_cannot_be_read_stops_a_node),
    ("a_record_of_something_else_is_told", a_record_of_something_else_is_told),
];

/// A record that software of a newer version writes behind the newest of a log: one commit of one row. Software from
/// version `oldest_reader` on reads it rightly.
fn append_newer(log: &MemoryLog, version: u16, oldest_reader: u16, key: &[u8], bytes: &[u8]) {
    let newest = log.tail(Position(0)).unwrap().before();
    let before = log.read(newest, 1).unwrap().remove(0).1;
    let number = |at: usize| u64::from_le_bytes(before[at..at + 8].try_into().unwrap());
    let is_commit = before[6] == 2;
    let mut record = b"RecL".to_vec();
    record.extend_from_slice(&version.to_le_bytes());
    record.extend_from_slice(&[2, (version - oldest_reader) as u8]);
    record.extend_from_slice(&before[8..24]);
    record.extend_from_slice(&[9; 16]);
    let seq = number(56) + u64::from(is_commit);
    for number in [7, newest.0 + 1, seq, number(64)] {
        record.extend_from_slice(&number.to_le_bytes());
    }
    record.extend_from_slice(&Sha256::digest(&before));
    let mut body = vec![1];
    body.extend_from_slice(&1_u32.to_le_bytes());
    body.extend_from_slice(&T.0.to_le_bytes());
    body.push(1);
    for part in [key, bytes] {
        body.extend_from_slice(&(part.len() as u32).to_le_bytes());
        body.extend_from_slice(part);
    }
    record.extend_from_slice(&(body.len() as u32).to_le_bytes());
    record.extend_from_slice(&body);
    record.extend_from_slice(b"something that this version knows nothing of");
    let crc = crc32c::crc32c(&record);
    record.extend_from_slice(&crc.to_le_bytes());
    assert_eq!(log.append(newest.next(), &record).unwrap(), Appended::Written);
}

fn a_newer_format_that_can_be_read_is_gone_on_with() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let older = node(Arc::new(log.clone()), &folder.path().join("older"));
    older.commit(row(b"a", b"1")).unwrap();
    append_newer(&log, 2, 1, b"b", b"2");
    older.refresh().unwrap();
    assert_eq!(value(&older, b"b").as_deref(), Some(&b"2"[..]));
    assert_eq!(older.commit(row(b"c", b"3")).unwrap().seq, Seq(3));
    append_newer(&log, 2, 1, b"d", b"4");
    append_newer(&log, 3, 1, b"e", b"5");
    let new = node(Arc::new(log.clone()), &folder.path().join("new"));
    older.refresh().unwrap();
    assert_eq!(new.position(), older.position(), "equal chains over both formats");
    assert_eq!((new.head(), value(&new, b"e").as_deref()), (Seq(5), Some(&b"5"[..])));
    assert_eq!(new.verify().unwrap().problems, []);
}

fn a_newer_format_that_cannot_be_read_stops_a_node() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    let older = node(Arc::new(log.clone()), &folder.path().join("older"));
    older.commit(row(b"a", b"1")).unwrap();
    append_newer(&log, 2, 2, b"b", b"2");
    let is_clear = |error: &EngineError| {
        let says = error.to_string();
        matches!(error, EngineError::NewerFormat { found: 2, supported: 1, .. })
            && says.contains("record 3")
            && says.contains("newer release")
    };
    let refused = older.commit(row(b"c", b"3")).unwrap_err();
    assert!(is_clear(&refused), "{refused}");
    until("it is said of every commit", || older.commit(row(b"c", b"3")).is_err_and(|error| is_clear(&error)));
    assert_eq!(value(&older, b"a").as_deref(), Some(&b"1"[..]), "reads go on");
    assert_eq!(log.tail(Position(0)).unwrap(), Position(4), "nothing was written");
    drop(older);
    for name in ["older", "new"] {
        let refused = try_node(Arc::new(log.clone()), &folder.path().join(name)).map(drop).unwrap_err();
        assert!(is_clear(&refused), "{refused}");
    }
}

fn a_record_of_something_else_is_told() {
    let (log, folder) = (MemoryLog::new(), tempfile::tempdir().unwrap());
    assert_eq!(log.append(Position::FIRST, b"a table of somebody else's").unwrap(), Appended::Written);
    let refused = try_node(Arc::new(log), &folder.path().join("new")).map(drop).unwrap_err();
    assert!(matches!(refused, EngineError::Damaged { .. }), "{refused}");
    assert!(refused.to_string().contains("no record of this software"), "{refused}");
}
