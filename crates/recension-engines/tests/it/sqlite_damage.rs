//! Damage to a store over SQLite: an error or the right answer, never a wrong value; and `verify` finds it.

use std::fs;

use crate::support::{T, answers, fill, open};
use recension::engine::{Engine, EngineError};
use rusqlite::Connection;

/// Changes a sound store behind the engine's back; returns the error of the first wrong answer, and what `verify`
/// lists.
fn changed_by(sql: &str) -> (Option<EngineError>, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let engine = open(&path).unwrap();
    fill(&engine);
    assert_eq!(engine.verify().unwrap().problems, []);
    drop(engine);
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let engine = match open(&path) {
        Ok(engine) => engine,
        Err(error) => return (Some(error), Vec::new()),
    };
    let error = answers(&engine).into_iter().find_map(|(_, answer)| answer.err());
    (error, engine.verify().unwrap().problems.into_iter().map(|problem| problem.what).collect())
}

#[test]
fn a_row_that_was_changed_is_damage_and_names_its_key() {
    for sql in [
        "UPDATE current SET value = x'00' WHERE key = x'6b01'",
        "UPDATE current SET value = NULL WHERE key = x'6b03'",
        "UPDATE past SET value = x'' WHERE key = x'6b02' AND seq = 3",
        "UPDATE past SET value = x'01' WHERE value IS NULL",
        "UPDATE current SET crc = crc + 1 WHERE key = x'6c6f6e67'",
        "UPDATE current SET key = x'6b09' WHERE key = x'6b03'",
    ] {
        let (error, problems) = changed_by(sql);
        let error = error.unwrap_or_else(|| panic!("{sql}: it was answered"));
        assert!(matches!(error, EngineError::Damaged { .. }), "{sql}: {error}");
        assert!(error.to_string().contains("checksum") && error.to_string().contains("store.db"), "{sql}: {error}");
        assert!(problems.iter().any(|what| what.contains("checksum")), "{sql}: {problems:?}");
    }
}

#[test]
fn a_commit_that_was_changed_or_lost_is_damage() {
    for sql in [
        "UPDATE commits SET time = time + 1 WHERE seq = 4",
        "UPDATE commits SET rows = rows + 1 WHERE seq = 4",
        "DELETE FROM commits WHERE seq = 4",
        "UPDATE commits SET time = 0 WHERE seq = 10",
        "UPDATE commits SET seq = -10 WHERE seq = 10",
        "DROP TABLE past",
    ] {
        let (error, problems) = changed_by(sql);
        let error = error.unwrap_or_else(|| panic!("{sql}: nothing was noticed"));
        // Without the newest commit its rows are not seen, and what it replaced is: `verify` is there for that.
        assert!(matches!(error, EngineError::Damaged { .. } | EngineError::NotYet { .. }), "{sql}: {error}");
        assert!(!problems.is_empty() || error.to_string().contains("damaged"), "{sql}: {problems:?}");
    }
}

#[test]
fn verify_finds_rows_that_are_lost_or_in_the_wrong_table() {
    for (sql, expected) in [
        ("DELETE FROM past WHERE key = x'6b02' AND seq = 3", "rows, and"),
        ("DELETE FROM current WHERE tree = 8", "not older than the current row"),
        ("INSERT INTO past SELECT * FROM current WHERE tree = 8", "not older than the current row"),
        ("UPDATE past SET seq = 99 WHERE key = x'6b02' AND seq = 3", "has no commit"),
        ("UPDATE past SET tree = -1 WHERE key = x'6b02' AND seq = 3", "no tree"),
        ("DELETE FROM commits WHERE seq = 10", "has no commit"),
        ("DELETE FROM commits WHERE seq = 2", "commit 2 is missing"),
    ] {
        let (_, problems) = changed_by(sql);
        assert!(problems.iter().any(|what| what.contains(expected)), "{sql}: {problems:?}");
    }
}

/// Flips bits all over the file. SQLite does not check its pages: where a flip hides a row (a key out of order, a
/// pointer that misses), reading it may answer "not there", and `verify` is what tells. A value that is answered
/// is always the right one.
#[test]
fn a_flipped_byte_never_shows_a_wrong_value_and_verify_tells() {
    let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = dir.path().join("store.db");
    let engine = open(&path).unwrap();
    fill(&engine);
    let sound: Vec<_> = answers(&engine).into_iter().map(|(name, answer)| (name, answer.unwrap())).collect();
    // What a single read may say of a row: one of the values it ever had as of then, or that it is not there.
    let right: Vec<_> = sound.iter().map(|(_, answer)| answer.clone()).collect();
    drop(engine);
    let bytes = fs::read(&path).unwrap();
    let (mut refused, mut told, mut harmless) = (0, 0, 0);
    for at in (0..bytes.len()).step_by(149) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, &flipped).unwrap();
        let Ok(engine) = open(&path) else {
            refused += 1;
            continue;
        };
        let found = answers(&engine);
        let mut differs = false;
        for ((name, answer), (_, expected)) in found.into_iter().zip(&sound) {
            match answer {
                Ok(answer) if answer == *expected => {}
                Ok(answer) if name.starts_with("get ") => {
                    differs = true;
                    assert!(answer == "None" || right.contains(&answer), "byte {at}: {name} answers {answer}");
                }
                Ok(answer) => {
                    differs = true;
                    assert!(!name.starts_with("time"), "byte {at}: {name} answers {answer} for {expected}");
                }
                Err(_) => differs = true,
            }
        }
        let problems = engine.verify().map(|report| report.problems.len());
        if matches!(problems, Ok(0)) {
            assert!(!differs, "byte {at}: answers differ, and verify says that all is well");
            harmless += 1;
        } else {
            told += 1;
        }
    }
    assert!(refused > 0 && told > 40, "refused {refused}, told {told}, harmless {harmless}");
}

#[test]
fn a_range_ends_after_its_first_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store.db");
    let engine = open(&path).unwrap();
    fill(&engine);
    drop(engine);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("UPDATE current SET value = x'00' WHERE key = x'6b02'").unwrap();
    let engine = open(&path).unwrap();
    let snapshot = engine.snapshot().unwrap();
    let range = recension::engine::KeyRange::all();
    let mut rows = snapshot.range(T, &range, recension::engine::Direction::Forward);
    let errors = rows.by_ref().filter(Result::is_err).count();
    assert_eq!(errors, 1);
    assert!(rows.next().is_none());
}
