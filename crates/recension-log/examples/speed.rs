//! What each system takes, for people to look at: bare appends, and commits of one writer, of many, and of several
//! nodes, with where the time of each node's commits went. `cargo run --release -p recension-log --example speed --
//! postgresql etcd` measures those systems, without names all; `--without mysql` leaves one out. A system that is asked
//! for and missing ends it with an exit code that is not 0.

#![allow(clippy::cast_precision_loss, reason = "rates, for people to read")]

#[path = "../tests/it/servers.rs"]
mod servers;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/it/support.rs"]
mod support;

use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use recension_engine::Engine as _;
use recension_log::Position;

use support::{System, node, row};

/// How long each measurement takes.
const TIME: Duration = Duration::from_secs(4);
/// Bytes of a value.
const VALUE: usize = 300;

fn main() -> ExitCode {
    let (mut asked, mut left_out) = (Vec::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--without" => left_out.extend(arguments.next()),
            _ => asked.push(argument),
        }
    }
    let known = servers::NAMES;
    if let Some(unknown) = asked.iter().chain(&left_out).find(|name| !known.contains(&name.as_str())) {
        eprintln!("{unknown} is no system; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    let is_asked = |name: &str| {
        (asked.is_empty() || asked.iter().any(|asked| asked == name)) && !left_out.iter().any(|left| left == name)
    };
    let (systems, running) = servers::start(&is_asked);
    let mut missing = false;
    for system in systems {
        match system {
            Ok(system) => speed(&system),
            Err(servers::Missing { system, why }) => {
                eprintln!("{system} was not measured: {why}; or leave it out with --without {system}");
                missing = true;
            }
        }
    }
    drop(running);
    if missing { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints commits a second of one writer, of many, and of several nodes, beside the bare log.
fn speed(system: &System) {
    let log = (system.open)(&system.fresh_name());
    for len in [VALUE, 200 << 10] {
        let (record, began, mut appends) = (vec![7; len], Instant::now(), 0_u64);
        let first = log.tail(Position(0)).unwrap().0;
        while began.elapsed() < TIME / 2 {
            log.append(Position(first + appends), &record).unwrap();
            appends += 1;
        }
        let rate = appends as f64 / began.elapsed().as_secs_f64();
        println!("{}: bare appends of {len} bytes: {rate:.0}/s, {:.1} MB/s", system.name, rate * len as f64 / 1e6);
    }
    for (nodes, writers) in [(1, 1), (1, 16), (1, 64), (3, 16)] {
        let name = system.fresh_name();
        let folder = tempfile::tempdir().unwrap();
        let engines: Vec<_> =
            (0..nodes).map(|n| node((system.open)(&name), &folder.path().join(n.to_string()))).collect();
        let counts: Vec<AtomicU64> = (0..nodes).map(|_| AtomicU64::new(0)).collect();
        let start = Barrier::new(nodes * writers);
        std::thread::scope(|scope| {
            for (n, engine) in engines.iter().enumerate() {
                for writer in 0..writers {
                    let (start, count) = (&start, &counts[n]);
                    scope.spawn(move || {
                        start.wait();
                        let (began, mut at) = (Instant::now(), 0_u64);
                        while began.elapsed() < TIME {
                            engine.commit(row(format!("{n}.{writer}.{at}").as_bytes(), &[7; VALUE])).unwrap();
                            at += 1;
                        }
                        count.fetch_add(at, Ordering::Relaxed);
                    });
                }
            }
        });
        let counts: Vec<u64> = counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let sum: u64 = counts.iter().sum();
        println!(
            "{}: {nodes} nodes, {writers} writers each: {:.0} commits/s; of each node {counts:?}; {} records",
            system.name,
            sum as f64 / TIME.as_secs_f64(),
            engines[0].position().0
        );
        for (n, engine) in engines.iter().enumerate() {
            let details = engine.stats().unwrap().details;
            let spent = details.iter().skip_while(|(name, ..)| *name != "records written");
            let spent: Vec<String> = spent.map(|(name, number, unit)| format!("{name} {number} {unit}")).collect();
            println!("{}: node {n}: {}", system.name, spent.join(", "));
        }
    }
}
