//! One store in several processes, beside Redis on a unix socket and `SQLite` with a write-ahead log in two processes:
//! `cargo run --release -p recension-engines --example processes`. It prints a line for each figure: what, who, the
//! median of its rounds. Redis is left out where there is no `redis-server`.
#![allow(clippy::cast_precision_loss)] // of counts

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use recension::engine::{Batch, Direction, Engine, KeyRange, NativeOptions, TreeId, Wanted, open_native};
use recension_remote::RemoteEngine;
use rusqlite::Connection;

const ROWS: usize = 10_000;
const ROUNDS: usize = 9;
const TREE: TreeId = TreeId(1);
const VALUE: [u8; 100] = [b'v'; 100];
const WRITING: Duration = Duration::from_secs(3);

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn key(n: usize) -> String {
    format!("key-{:08}", n * 7919 % ROWS)
}

/// The median of the rounds, in microseconds for one of `times`.
fn measure(what: &str, who: &str, times: usize, mut round: impl FnMut(usize) -> Result<()>) -> Result<()> {
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        (0..times).try_for_each(&mut round)?;
        rounds.push(began.elapsed().as_secs_f64() * 1e6 / times as f64);
    }
    rounds.sort_by(f64::total_cmp);
    println!("{what:<16} {who:<26} {:>10.2} us", rounds[ROUNDS / 2]);
    Ok(())
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let name = |at: usize| args.get(at).map(String::as_str);
    match (name(1), name(2)) {
        (Some("own"), Some(store)) => own(Path::new(store)),
        (Some("write"), Some(store)) => write_from_threads(Path::new(store), 8),
        (Some("hold"), Some(file)) => hold(Path::new(file)),
        _ => all(),
    }
}

/// Another process that has the store open until its input ends.
fn own(store: &Path) -> Result<()> {
    let _engine = open_native(store, &NativeOptions::default(), true)?;
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Another process that has a file of `SQLite` open until its input ends.
fn hold(file: &Path) -> Result<()> {
    let connection = Connection::open(file)?;
    connection.query_row("SELECT count(*) FROM t", [], |_| Ok(()))?;
    println!("ready");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn other(does: &str, at: &Path) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg(does).arg(at).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let out = child.stdout.take().ok_or("no output")?;
    BufReader::new(out).read_line(&mut String::new())?;
    Ok(child)
}

fn end(mut child: Child) -> Result<()> {
    drop(child.stdin.take());
    child.wait()?;
    Ok(())
}

fn all() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let store = dir.path().join("store");
    {
        let engine = open_native(&store, &NativeOptions::default(), false)?;
        for first in (0..ROWS).step_by(1000) {
            let mut batch = Batch::new();
            (first..first + 1000).for_each(|n| _ = batch.put(TREE, key(n).as_bytes(), &VALUE));
            engine.commit(batch)?;
        }
        ours("in this process", &*engine)?;
    }
    let owner = other("own", &store)?;
    let remote = RemoteEngine::connect(&store, Duration::from_secs(5))?;
    ours("through the socket", &remote)?;
    drop(remote);
    end(owner)?;
    sqlite(dir.path())?;
    redis(dir.path())?;
    writers(dir.path())
}

fn ours(who: &str, engine: &dyn Engine) -> Result<()> {
    let missing = || "a row is missing".into();
    // Each of a snapshot of its own: nothing that was read before helps.
    measure("get", who, 2000, |n| {
        let key = key(n);
        let snapshot = engine.snapshot_with(&[(TREE, key.as_bytes())])?;
        snapshot.get(TREE, key.as_bytes())?.map(|_| ()).ok_or_else(missing)
    })?;
    let snapshot = engine.snapshot()?;
    measure("64 gets", who, 200, |first| {
        let keys: Vec<String> = (0..64).map(|n| key(first * 64 + n)).collect();
        let keys: Vec<_> = keys.iter().map(|key| (TREE, key.as_bytes())).collect();
        if snapshot.get_many(&keys)?.iter().all(Option::is_some) { Ok(()) } else { Err(missing()) }
    })?;
    measure("range of 100", who, 200, |n| {
        let range = KeyRange { start: std::ops::Bound::Included(format!("key-{n:08}").into()), ..KeyRange::all() };
        let wanted = Wanted { rows: Some(100), values: true };
        let rows = snapshot.range_of(TREE, &range, Direction::Forward, wanted).take(100).count();
        if rows == 100 { Ok(()) } else { Err(missing()) }
    })?;
    measure("durable commit", who, 50, |n| {
        let mut batch = Batch::new();
        batch.put(TREE, key(n).as_bytes(), &VALUE);
        engine.commit(batch)?;
        Ok(())
    })
}

fn sqlite(dir: &Path) -> Result<()> {
    let who = "SQLite, WAL, 2 processes";
    let file = dir.join("sqlite.db");
    let mut connection = Connection::open(&file)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "full")?;
    connection.execute("CREATE TABLE t (k TEXT PRIMARY KEY, v BLOB) WITHOUT ROWID", [])?;
    let filling = connection.transaction()?;
    for n in 0..ROWS {
        filling.execute("INSERT INTO t VALUES (?, ?)", (key(n), VALUE))?;
    }
    filling.commit()?;
    let holder = other("hold", &file)?;
    let get = |n: usize| -> Result<()> {
        let mut statement = connection.prepare_cached("SELECT v FROM t WHERE k = ?")?;
        let _: Vec<u8> = statement.query_row([key(n)], |row| row.get(0))?;
        Ok(())
    };
    measure("get", who, 2000, get)?;
    measure("64 gets", who, 50, |first| (first * 64..first * 64 + 64).try_for_each(get))?;
    measure("range of 100", who, 200, |n| {
        let mut statement = connection.prepare_cached("SELECT k, v FROM t WHERE k >= ? ORDER BY k LIMIT 100")?;
        let mut rows = statement.query([format!("key-{n:08}")])?;
        while let Some(row) = rows.next()? {
            let _: (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        }
        Ok(())
    })?;
    let mut turn = 0_u64;
    measure("durable commit", who, 50, |n| {
        // It writes nothing if the value is the same.
        let mut value = VALUE;
        turn += 1;
        value[..8].copy_from_slice(&turn.to_le_bytes());
        connection.prepare_cached("UPDATE t SET v = ? WHERE k = ?")?.execute((value, key(n)))?;
        Ok(())
    })?;
    end(holder)
}

fn redis(dir: &Path) -> Result<()> {
    let socket = dir.join("redis.sock");
    let arguments = ["--port", "0", "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--unixsocket"];
    let mut command = Command::new("redis-server");
    let started = command.args(arguments).arg(&socket).arg("--dir").arg(dir).stdout(Stdio::null()).spawn();
    let Ok(mut server) = started else {
        println!("there is no redis-server: it is left out");
        return Ok(());
    };
    let done = measure_redis(&socket);
    server.kill()?;
    server.wait()?;
    done
}

fn measure_redis(socket: &Path) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut stream = loop {
        match UnixStream::connect(socket) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > deadline => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut answers = BufReader::with_capacity(64 << 10, stream.try_clone()?);
    let mut ask = |commands: &[Vec<Vec<u8>>]| -> Result<()> {
        let mut request = Vec::new();
        for command in commands {
            write!(request, "*{}\r\n", command.len())?;
            for word in command {
                write!(request, "${}\r\n", word.len())?;
                request.extend_from_slice(word);
                request.extend_from_slice(b"\r\n");
            }
        }
        stream.write_all(&request)?;
        for _ in commands {
            let mut line = String::new();
            answers.read_line(&mut line)?;
            if let Some(len) = line.strip_prefix('$') {
                answers.read_exact(&mut vec![0; len.trim().parse::<usize>()? + 2])?;
            }
        }
        Ok(())
    };
    let get = |n: usize| vec![b"GET".to_vec(), key(n).into_bytes()];
    let set = |n: usize| vec![b"SET".to_vec(), key(n).into_bytes(), VALUE.to_vec()];
    for first in (0..ROWS).step_by(1000) {
        ask(&(first..first + 1000).map(set).collect::<Vec<_>>())?;
    }
    let who = "Redis, unix socket";
    measure("get", who, 2000, |n| ask(&[get(n)]))?;
    measure("64 gets", who, 200, |first| ask(&(first * 64..first * 64 + 64).map(get).collect::<Vec<_>>()))?;
    measure("durable commit", who, 50, |n| ask(&[set(n)]))
}

/// Durable commits a second: of 64 threads of this process, and of 8 threads in each of 8 processes.
fn writers(dir: &Path) -> Result<()> {
    let store = dir.join("threads");
    let rate = commits_a_second(&*open_native(&store, &NativeOptions::default(), false)?, 64)?;
    println!("{:<16} {:<26} {rate:>10.0} /s", "writers", "64 threads");
    let store = dir.join("processes");
    drop(open_native(&store, &NativeOptions::default(), false)?);
    let start = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("write").arg(&store).stdout(Stdio::piped()).spawn()
    };
    let children = (0..8).map(|_| start()).collect::<std::io::Result<Vec<_>>>()?;
    let mut rate = 0.0;
    for child in children {
        rate += String::from_utf8(child.wait_with_output()?.stdout)?.trim().parse::<f64>()?;
    }
    println!("{:<16} {:<26} {rate:>10.0} /s", "writers", "8 processes x 8 threads");
    Ok(())
}

fn write_from_threads(store: &Path, threads: usize) -> Result<()> {
    let engine = open_native(store, &NativeOptions::default(), true)?;
    println!("{}", commits_a_second(&*engine, threads)?);
    Ok(())
}

fn commits_a_second(engine: &dyn Engine, threads: usize) -> Result<f64> {
    let began = Instant::now();
    let write = |thread: usize| -> Result<usize> {
        let mut count = 0;
        while began.elapsed() < WRITING {
            let mut batch = Batch::new();
            batch.put(TREE, format!("{}-{thread}-{count}", std::process::id()).as_bytes(), &VALUE);
            engine.commit(batch)?;
            count += 1;
        }
        Ok(count)
    };
    let counts = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || write(thread))).collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?).collect::<Result<Vec<_>>>()
    })?;
    Ok(counts.iter().sum::<usize>() as f64 / began.elapsed().as_secs_f64())
}
