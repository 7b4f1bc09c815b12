//! A process that writes to a store which it shares with others, for `tests/it/kill_shared.rs`: `share_child DIR NAME`.
//! It prints `ack N` for each commit that it knows of, and ends when its standard input does.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use recension::engine::{EngineError, open_native};
use recension_conformance::killed::options;
use recension_conformance::shared::{is_there, write};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, dir, name] = &arguments[..] else { panic!("share_child DIR NAME") };
    let name: u32 = name.parse().expect("a number");
    let stopped = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&stopped);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        stop.store(true, Ordering::SeqCst);
    });
    let engine = open_native(Path::new(dir), &options(false), true).expect("the store is there or another's");
    let mut nth = 0;
    while !stopped.load(Ordering::SeqCst) {
        let made = match engine.commit(write(name, nth)) {
            Ok(_) => true,
            Err(EngineError::Unavailable { .. }) => false,
            Err(EngineError::Unknown { .. }) => loop {
                match is_there(&*engine, name, nth) {
                    Ok(there) => break there,
                    Err(EngineError::Unavailable { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            },
            Err(error) => panic!("{error}"),
        };
        if made {
            writeln!(std::io::stdout(), "ack {nth}").expect("somebody listens");
            nth += 1;
        }
    }
}
