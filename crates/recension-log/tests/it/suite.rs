//! What every log has to do, whatever system it lives on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use recension_log::{Appended, LogError, Position};

use crate::support::{System, Test};

/// Each test by its name.
pub(crate) const TESTS: &[(&str, Test)] = &[
    ("each_position_has_one_winner", each_position_has_one_winner),
    ("what_was_appended_is_read_from_anywhere", what_was_appended_is_read_from_anywhere),
    ("who_waits_is_woken_by_a_record", who_waits_is_woken_by_a_record),
    ("what_was_trimmed_is_gone_for_ever", what_was_trimmed_is_gone_for_ever),
    ("blobs_are_kept_by_name", blobs_are_kept_by_name),
    ("records_at_the_limit_are_kept", records_at_the_limit_are_kept),
    ("logs_of_two_names_are_two", logs_of_two_names_are_two),
];

fn each_position_has_one_winner(system: &System) {
    const WRITERS: usize = 8;
    let name = system.fresh_name();
    let wins = Mutex::new(BTreeMap::<u64, Vec<usize>>::new());
    let together = Barrier::new(WRITERS);
    let next = AtomicU64::new(1);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (wins, together, name, next) = (&wins, &together, &name, &next);
            scope.spawn(move || {
                let log = (system.open)(name);
                together.wait();
                loop {
                    let position = next.load(Ordering::SeqCst);
                    if position > system.race {
                        return;
                    }
                    let record = format!("{position} by {writer}");
                    match log.append(Position(position), record.as_bytes()) {
                        Ok(Appended::Written) => wins.lock().unwrap().entry(position).or_default().push(writer),
                        Ok(Appended::Taken) => {}
                        Err(error) if error.may_pass() => continue,
                        Err(error) => panic!("{error}"),
                    }
                    next.fetch_max(position + 1, Ordering::SeqCst);
                }
            });
        }
    });
    let wins = wins.into_inner().unwrap();
    let log = (system.open)(&name);
    assert_eq!(log.tail(Position(0)).unwrap(), Position(system.race + 1));
    let mut position = Position::FIRST;
    while position.0 <= system.race {
        for (at, record) in log.read(position, 100_000).unwrap() {
            assert_eq!(at, position, "no gap");
            let winners = &wins[&at.0];
            assert_eq!(winners.len(), 1, "{at} has one winner: {winners:?}");
            assert_eq!(record, format!("{at} by {}", winners[0]).into_bytes());
            position = position.next();
        }
    }
}

fn what_was_appended_is_read_from_anywhere(system: &System) {
    let name = system.fresh_name();
    let (one, other) = ((system.open)(&name), (system.open)(&name));
    assert_eq!(one.tail(Position(0)).unwrap(), Position(1));
    assert_eq!(one.read(Position(1), 1000).unwrap(), []);
    for n in 1..=40_u64 {
        let record = vec![n as u8; 1 + (n as usize * 977) % 5000];
        let (writer, reader) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        assert_eq!(writer.append(Position(n), &record).unwrap(), Appended::Written);
        assert_eq!(reader.append(Position(n), b"too late").unwrap(), Appended::Taken);
        assert_eq!(reader.tail(Position(n - 1)).unwrap(), Position(n + 1));
        assert_eq!(reader.tail(Position(0)).unwrap(), Position(n + 1));
        assert_eq!(reader.read(Position(n), 1).unwrap(), [(Position(n), record)]);
    }
    let mut read = Vec::new();
    while read.len() < 40 {
        let page = one.read(Position(read.len() as u64 + 1), 9000).unwrap();
        assert!(!page.is_empty() && page.iter().map(|(_, record)| record.len()).sum::<usize>() < 20_000);
        read.extend(page);
    }
    assert!(read.iter().enumerate().all(|(n, (at, record))| at.0 == n as u64 + 1 && record[0] == n as u8 + 1));
    assert_eq!(other.read(Position(41), 1000).unwrap(), []);
}

fn who_waits_is_woken_by_a_record(system: &System) {
    let name = system.fresh_name();
    let (one, other) = ((system.open)(&name), (system.open)(&name));
    for n in 1..=5_u64 {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let end = Instant::now() + Duration::from_secs(30);
                while other.tail(Position(n - 1)).unwrap() == Position(n) && Instant::now() < end {
                    other.wait_for(Position(n), Duration::from_secs(5));
                }
                other.tail(Position(0)).unwrap()
            });
            one.append(Position(n), b"news").unwrap();
            assert_eq!(waiting.join().unwrap(), Position(n + 1));
        });
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.wait_for(Position(6), Duration::from_mins(2)));
        while !waiting.is_finished() {
            other.wake();
            std::thread::yield_now();
        }
    });
}

fn what_was_trimmed_is_gone_for_ever(system: &System) {
    let name = system.fresh_name();
    let (log, sleeper) = ((system.open)(&name), (system.open)(&name));
    for n in 1..=20 {
        log.append(Position(n), &[n as u8; 100]).unwrap();
    }
    log.trim(Position(15)).unwrap();
    assert!(matches!(log.read(Position(3), 1000), Err(LogError::Trimmed { .. })));
    assert!(matches!(log.read(Position(14), 1), Err(LogError::Trimmed { .. })));
    assert_eq!(log.read(Position(15), 1).unwrap(), [(Position(15), vec![15; 100])]);
    assert_eq!(log.tail(Position(0)).unwrap(), Position(21));
    // Who has slept since long ago must not find a position free that was taken.
    let late = sleeper.append(Position(4), b"late");
    assert!(!matches!(late, Ok(Appended::Written)), "{late:?}");
    // The newest record stays, whatever is asked for.
    log.trim(Position(1000)).unwrap();
    assert_eq!(log.read(Position(20), 1).unwrap(), [(Position(20), vec![20; 100])]);
    assert_eq!(log.append(Position(21), b"goes on").unwrap(), Appended::Written);
}

fn blobs_are_kept_by_name(system: &System) {
    let name = system.fresh_name();
    let (one, other) = ((system.open)(&name), (system.open)(&name));
    let (one, other) = (one.blobs(), other.blobs());
    assert_eq!(one.get("a/b").unwrap(), None);
    for blob in ["a/b", "a/a", "a", "ab", "b/0"] {
        one.put(blob, blob.as_bytes()).unwrap();
    }
    assert_eq!(other.list("a/").unwrap(), ["a/a", "a/b"]);
    assert_eq!(other.get("a").unwrap().as_deref(), Some(&b"a"[..]));
    other.put("a", b"anew").unwrap();
    assert_eq!(one.get("a").unwrap().as_deref(), Some(&b"anew"[..]));
    one.delete("a/a").unwrap();
    one.delete("a/a").unwrap();
    assert_eq!(other.list("a").unwrap(), ["a", "a/b", "ab"]);
}

fn records_at_the_limit_are_kept(system: &System) {
    let log = (system.open)(&system.fresh_name());
    let profile = log.profile();
    // Bytes that no system can make small.
    let mut state = 1_u64;
    let mut bytes = |len: usize| -> Vec<u8> {
        (0..len)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state as u8
            })
            .collect()
    };
    let record = bytes(profile.record_bytes_max);
    assert_eq!(log.append(Position(1), &record).unwrap(), Appended::Written);
    assert!(log.read(Position(1), 1).unwrap() == [(Position(1), record)]);
    let blob = bytes(profile.blob_bytes_max);
    log.blobs().put("large", &blob).unwrap();
    assert!(log.blobs().get("large").unwrap() == Some(blob));
}

fn logs_of_two_names_are_two(system: &System) {
    let (one, other) = ((system.open)(&system.fresh_name()), (system.open)(&system.fresh_name()));
    one.append(Position(1), b"one").unwrap();
    one.blobs().put("blob", b"one").unwrap();
    assert_eq!(other.tail(Position(0)).unwrap(), Position(1));
    assert_eq!(other.blobs().get("blob").unwrap(), None);
    assert_eq!(other.append(Position(1), b"other").unwrap(), Appended::Written);
    assert_eq!(one.read(Position(1), 1).unwrap(), [(Position(1), b"one".to_vec())]);
}
