//! The process that is killed. It writes commits into a store, and prints each acknowledged commit on standard output,
//! after the commit has returned and never before. Used by `kill_native.rs`.
//!
//! `kill_child write DIR TRIAL` commits until it is killed; `kill_child fill DIR TRIAL` until a commit is
//! refused, and tries a few more times; `kill_child hold DIR` opens the store and waits for standard input
//! to end. If `KILL_CHILD_SEALED` is set, the store is encrypted.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use recension::disk::FsDisk;
use recension::engine::{Engine, NativeEngine};
use recension_conformance::killed::{Written, options};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["write", dir, trial] => number(trial).and_then(|trial| write(dir, trial)),
        ["fill", dir, trial] => number(trial).and_then(|trial| fill(dir, trial)),
        ["hold", dir] => hold(dir),
        _ => Err("usage: kill_child write|fill DIR TRIAL, or kill_child hold DIR".to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error {error}"));
            ExitCode::FAILURE
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|e| format!("{text}: {e}"))
}

/// Prints one line, in one write: the reader gets all of it or nothing.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // If nobody reads any more, nobody relies on the line either.
    _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}

fn open(dir: &str) -> Result<NativeEngine, String> {
    let engine =
        NativeEngine::open(Arc::new(FsDisk::new(dir)), options(std::env::var_os("KILL_CHILD_SEALED").is_some()))
            .map_err(|e| e.to_string())?;
    say(&format!("open {}", engine.head()));
    Ok(engine)
}

fn write(dir: &str, trial: u64) -> Result<(), String> {
    let engine = open(dir)?;
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let engine = &engine;
            scope.spawn(move || {
                for nth in 0.. {
                    let written = Written { trial, thread, nth };
                    match engine.commit(written.batch()) {
                        Ok(commit) => say(&format!("ack {} {}", commit.seq, written.name())),
                        Err(error) => return say(&format!("error {error}")),
                    }
                }
            });
        }
    });
    Ok(())
}

fn fill(dir: &str, trial: u64) -> Result<(), String> {
    let engine = open(dir)?;
    let refused = AtomicBool::new(false);
    let more = AtomicU64::new(0);
    for nth in 0..100_000 {
        let written = Written { trial, thread: 0, nth };
        match engine.commit(written.batch()) {
            Ok(commit) => say(&format!("ack {} {}", commit.seq, written.name())),
            Err(error) => {
                say(&format!("refused {error}"));
                refused.store(true, Ordering::Relaxed);
            }
        }
        if refused.load(Ordering::Relaxed) && more.fetch_add(1, Ordering::Relaxed) > 5 {
            return Ok(());
        }
    }
    Err("the disk never became full".to_owned())
}

fn hold(dir: &str) -> Result<(), String> {
    let _engine = open(dir)?;
    std::io::stdin().read_to_end(&mut Vec::new()).map_err(|e| e.to_string())?;
    Ok(())
}
