//! How long a new node takes until it answers, beside copying the snapshot that it begins with.
//! `cargo run --release -p recension-log --example new_node -- 100000 postgresql folder` measures a store of this many
//! documents on those systems.

#[path = "../tests/it/servers.rs"]
mod servers;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/it/support.rs"]
mod support;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension::{Store, Write};
use recension_log::SharedLog;

use support::{System, node};

/// Documents that are written at once.
const TOGETHER: usize = 1000;
/// Each is measured so often.
const TIMES: usize = 3;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let documents = arguments.next().and_then(|number| number.parse().ok());
    let asked: Vec<String> = arguments.collect();
    let (Some(documents), false) = (documents, asked.is_empty()) else {
        eprintln!("new_node DOCUMENTS SYSTEM...; there are {}", servers::NAMES.join(", "));
        return ExitCode::from(2);
    };
    let (systems, running) = servers::start(&|name| asked.iter().any(|asked| asked == name));
    let mut missing = false;
    for system in systems {
        match system {
            Ok(system) => measure(&system, documents),
            Err(servers::Missing { system, why }) => {
                eprintln!("{system} was not measured: {why}");
                missing = true;
            }
        }
    }
    drop(running);
    if missing { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn measure(system: &System, documents: usize) {
    let name = system.fresh_name();
    let folder = tempfile::tempdir().unwrap();
    let one = Arc::new(node((system.open)(&name), &folder.path().join("one")));
    let cities = Store::on(one.clone()).unwrap().collection("cities").unwrap();
    for first in (0..documents).step_by(TOGETHER) {
        let writes = (first..documents.min(first + TOGETHER)).map(|n| {
            let text = format!(r#"{{"number":{n},"name":"city {n}","text":"{}"}}"#, "x".repeat(200));
            Write::put(&n.to_string(), text).unwrap()
        });
        assert!(cities.bulk(writes).unwrap().iter().all(Result::is_ok));
    }
    let began = Instant::now();
    one.write_snapshot().unwrap();
    let written = began.elapsed();
    let log = (system.open)(&name);
    for time in 0..TIMES {
        let (bytes, copied) = copy(&*log, &folder.path().join(format!("copy{time}")));
        let began = Instant::now();
        let new = Arc::new(node((system.open)(&name), &folder.path().join(format!("new{time}"))));
        let cities = Store::on(new).unwrap().collection("cities").unwrap();
        assert!(cities.get(&(documents - 1).to_string()).unwrap().is_some());
        let ready = began.elapsed();
        println!(
            "{}: {documents} documents, a snapshot of {} KiB: written in {:.2} s, copied in {:.2} s, a node ready in \
             {:.2} s: {:.2} x",
            system.name,
            bytes >> 10,
            written.as_secs_f64(),
            copied.as_secs_f64(),
            ready.as_secs_f64(),
            ready.as_secs_f64() / copied.as_secs_f64()
        );
    }
}

/// Copies the pieces of the snapshots, of which there is one, to durable files.
fn copy(log: &dyn SharedLog, to: &Path) -> (usize, Duration) {
    std::fs::create_dir(to).unwrap();
    let (began, mut bytes) = (Instant::now(), 0);
    for (n, name) in log.blobs().list("piece/").unwrap().into_iter().enumerate() {
        let piece = log.blobs().get(&name).unwrap().unwrap();
        let mut file = File::create_new(to.join(n.to_string())).unwrap();
        file.write_all(&piece).unwrap();
        file.sync_all().unwrap();
        bytes += piece.len();
    }
    (bytes, began.elapsed())
}
