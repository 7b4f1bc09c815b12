//! Real processes on a real directory: killed at random moments, out of disk, and two at a time.
//! What this cannot show is power loss (the page cache survives a process): the simulated disk does that.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use recension::disk::FsDisk;
use recension::engine::{Engine, EngineError, NativeEngine};
use recension_conformance::crash::env_number;
use recension_conformance::killed::{Written, check_all, options};
use recension_conformance::sim::Rng;

const CHILD: &str = env!("CARGO_BIN_EXE_kill_child");

fn start(what: &str, dir: &Path, (trial, sealed): (u64, bool)) -> (Child, BufReader<ChildStdout>) {
    let mut command = Command::new(CHILD);
    if sealed {
        command.env("KILL_CHILD_SEALED", "1");
    }
    command.arg(what).arg(dir).arg(trial.to_string()).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    (child, lines)
}

fn open(dir: &Path, sealed: bool) -> NativeEngine {
    NativeEngine::open(Arc::new(FsDisk::new(dir)), options(sealed)).unwrap()
}

/// Takes down what a child has said. A line cut off by the kill says nothing.
fn listen(lines: impl BufRead, acknowledged: &mut BTreeMap<u64, Written>) -> Vec<String> {
    let mut others = Vec::new();
    let before = acknowledged.keys().next_back().copied().unwrap_or(0);
    for line in lines.split(b'\n') {
        let line = String::from_utf8(line.unwrap()).unwrap();
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        match words[..] {
            ["ack", seq, name] if name.len() == Written { trial: 0, thread: 0, nth: 0 }.name().len() => {
                let again = acknowledged.insert(seq.parse().unwrap(), Written::parse(name).unwrap());
                assert_eq!(again, None, "seq {seq} was acknowledged twice");
            }
            ["open", head] => {
                let head: u64 = head.parse().unwrap();
                assert!(head >= before, "a child found {head} commits; {before} had been acknowledged");
            }
            _ => others.push(line),
        }
    }
    others
}

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed_a_hundred_times() {
    let trials = env_number("RECENSION_KILLS", 100);
    kill_again_and_again(trials, false);
    kill_again_and_again(trials, true);
}

fn kill_again_and_again(trials: u64, sealed: bool) {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64;
    let seed = env_number("RECENSION_SEED", now);
    println!("RECENSION_SEED={seed} (the moments of the kills; what they hit is the scheduler's choice)");
    let mut rng = Rng::new(seed);
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let mut acknowledged = BTreeMap::new();
    let mut productive = 0;
    for trial in 0..trials {
        let before = acknowledged.len();
        let (mut child, mut lines) = start("write", &store, (trial, sealed));
        // Some are killed while they open the store, most while they write.
        let opening = rng.percent(25);
        let moment_us = rng.below(if opening { 10_000 } else { 40_000 });
        if !opening {
            while lines.fill_buf().unwrap().is_empty() {}
        }
        let reader = std::thread::scope(|scope| {
            let reader = scope.spawn(|| listen(&mut lines, &mut acknowledged));
            std::thread::sleep(Duration::from_micros(moment_us));
            child.kill().unwrap();
            child.wait().unwrap();
            reader.join().unwrap()
        });
        assert_eq!(reader, Vec::<String>::new(), "trial {trial}");
        productive += u64::from(acknowledged.len() > before);
        // Mostly the next child recovers what this one left; now and then all is checked, and the store
        // closed cleanly.
        if trial % 10 == 9 || trial + 1 == trials {
            let engine = open(&store, sealed);
            check_all(&engine, &acknowledged).unwrap_or_else(|what| panic!("seed {seed}, trial {trial}: {what}"));
        }
    }
    println!("{} commits acknowledged in {productive} of {trials} lives", acknowledged.len());
    // How many write before they die is the scheduler's choice too; on a busy machine they are few.
    assert!(productive > trials / 10, "too few of the processes lived long enough to write");
}

#[test]
fn a_disk_that_runs_full_refuses_commits_and_keeps_the_acknowledged_ones() {
    // Files may not grow beyond 160 KiB: merged index runs do, and the system refuses. The signal that
    // comes with it is ignored, as a full disk sends none. `ulimit -f` counts 512 or 1024 bytes.
    for blocks in [100, 160, 240, 320] {
        let dir = tempfile::tempdir().unwrap();
        let store = dir.path().join("store");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" fill \"$1\" 0");
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).arg(CHILD).arg(&store).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut acknowledged = BTreeMap::new();
        let others = listen(BufReader::new(child.stdout.take().unwrap()), &mut acknowledged);
        child.wait().unwrap();
        assert!(!others.is_empty() && others.iter().all(|line| line.starts_with("refused")), "{blocks}: {others:?}");
        assert!(others[0].contains("large"), "the message says why: {}", others[0]);
        println!("{blocks} blocks: {} commits, then: {}", acknowledged.len(), others[0]);
        let engine = open(&store, false);
        check_all(&engine, &acknowledged).unwrap_or_else(|what| panic!("{blocks} blocks: {what}"));
        engine.commit(Written { trial: 1, thread: 0, nth: 0 }.batch()).unwrap();
    }
}

#[test]
fn a_second_process_is_told_who_holds_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(CHILD);
    command.arg("hold").arg(dir.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "open 0\n");
    let disk = || Arc::new(FsDisk::new(dir.path()));
    let error = NativeEngine::open(disk(), options(false)).err().unwrap();
    assert!(matches!(error, EngineError::Locked { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains(&child.id().to_string()) && message.contains("kill_child"), "{message}");
    drop(child.stdin.take());
    child.wait().unwrap();

    let engine = NativeEngine::open(disk(), options(false)).unwrap();
    let message = NativeEngine::open(disk(), options(false)).err().unwrap().to_string();
    assert!(message.contains("this process") && message.contains(&std::process::id().to_string()), "{message}");
    drop(engine);
    NativeEngine::open(disk(), options(false)).unwrap();
}

/// A process that is being started has copies of all files until it is another program.
#[test]
fn a_closed_store_is_free_while_processes_are_started() {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let mut opened =
            (0..300).map(|_| NativeEngine::open(Arc::new(FsDisk::new(dir.path())), options(false)).map(drop));
        let refused = opened.find_map(Result::err);
        stop.store(true, Ordering::Relaxed);
        assert!(refused.is_none(), "{refused:?}");
    });
}

#[test]
fn a_holder_that_was_killed_leaves_no_lock_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(CHILD);
    command.arg("hold").arg(dir.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(open(dir.path(), false).head().0, 0);
}
