//! `PostgreSQL` with its own defaults, which are durable. Only the memory is changed: 256 MiB of shared buffers.

use std::fs::File;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;

use super::{Place, Process, free_port, said_by};
use crate::error::{LabError, Result};
use crate::measure::budget;

/// The settings, for the report.
pub const SETTINGS: &str = "fsync=on, synchronous_commit=on, shared_buffers=256MB, otherwise defaults; TCP on \
    loopback, one connection, prepared statements";

/// The user that runs it if we are root, since it refuses to run as root.
const USER: &str = "postgres";

/// The folder in which Debian has the programs of the newest version.
fn programs() -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    found.sort();
    found.into_iter().rev().find(|dir| dir.join("initdb").is_file())
}

/// Why it cannot be started.
pub fn missing() -> Option<String> {
    programs().is_none().then(|| "no PostgreSQL server; `apt-get install postgresql`".to_owned())
}

/// Its version.
pub fn version() -> String {
    let said = programs().and_then(|dir| said_by(&dir.join("postgres").display().to_string(), "--version"));
    said.unwrap_or_default().split_whitespace().nth(2).unwrap_or("unknown").to_owned()
}

/// The numbers of a user and of its group.
fn user(name: &str) -> Option<(u32, u32)> {
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut fields = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':').skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// Starts it; answers also whether its directory is new.
pub fn start(place: &Place<'_>) -> Result<(Process, SocketAddr, bool)> {
    let programs = programs().ok_or_else(|| LabError::Unavailable { reason: missing().unwrap_or_default() })?;
    let data = place.dir.join("data");
    let fresh = !data.exists();
    let other = rustix::process::geteuid().is_root().then(|| user(USER)).flatten();
    if fresh {
        std::fs::create_dir(&data).map_err(LabError::io("making PostgreSQL's directory"))?;
        if let Some((id, group)) = other {
            chown(&data, Some(id), Some(group)).map_err(LabError::io("giving PostgreSQL its directory"))?;
        }
        let mut init = Command::new(programs.join("initdb"));
        init.args(["--auth=trust", "--username=lab", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"]).arg(&data);
        let output = as_user(&mut init, &data, other).output().map_err(LabError::io("running initdb"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " | ");
            return Err(LabError::Subject { what: "initdb".to_owned(), why });
        }
        // One sync of the filesystem for what initdb would sync file by file.
        File::open(&data)
            .and_then(|dir| rustix::fs::syncfs(dir).map_err(Into::into))
            .map_err(LabError::io("syncing PostgreSQL's directory"))?;
    }
    let address = free_port()?;
    let mut command = place.program(programs.join("postgres"));
    command.arg("-D").arg(&data).args(["-h", "127.0.0.1", "-p", &address.port().to_string()]);
    command.args(["-c", "unix_socket_directories=", "-c", "fsync=on", "-c", "synchronous_commit=on"]);
    command.arg("-c").arg(format!("shared_buffers={}kB", budget::cache_bytes(256 << 20) >> 10));
    let process = place.start("postgres", as_user(&mut command, &data, other), || answers(address))?;
    // Its fast shutdown: at a TERM it waits for its clients to go.
    Ok((process.ended_by(Signal::INT), address, fresh))
}

fn as_user<'c>(command: &'c mut Command, dir: &Path, other: Option<(u32, u32)>) -> &'c mut Command {
    command.current_dir(dir);
    match other {
        Some((id, group)) => command.uid(id).gid(group),
        None => command,
    }
}

/// Whether it takes sessions: it listens a little earlier.
fn answers(address: SocketAddr) -> bool {
    use std::io::{Read as _, Write as _};
    let mut said = [0; 9];
    let session = b"\0\0\0\x20\0\x03\0\0user\0lab\0database\0postgres\0\0";
    let mut session = session.to_vec();
    if let (Ok(length), Some(head)) = (u32::try_from(session.len()), session.get_mut(..4)) {
        head.copy_from_slice(&length.to_be_bytes());
    }
    let asked = TcpStream::connect(address).and_then(|mut stream| {
        stream.write_all(&session)?;
        stream.read_exact(&mut said)
    });
    // "R", length 8, and 0: let in.
    asked.is_ok() && said == *b"R\0\0\0\x08\0\0\0\0"
}
