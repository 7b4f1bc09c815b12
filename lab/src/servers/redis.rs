//! Redis with its log synced at every write, so that it is as durable as the others. If less durability is compared,
//! with less.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::{Place, Process, free_port, said_by};
use crate::error::Result;
use crate::given::Given;

/// The options, for the report.
pub const SETTINGS: &str = "appendonly yes, appendfsync always, save \"\"";

/// Why it cannot be started.
pub fn missing(_: &Given) -> Option<String> {
    said_by("redis-server", "--version").is_none().then(|| "no redis-server; `apt-get install redis-server`".to_owned())
}

/// Its version.
pub fn version() -> String {
    let said = said_by("redis-server", "--version").unwrap_or_default();
    said.split_whitespace().find_map(|word| word.strip_prefix("v=")).unwrap_or("unknown").to_owned()
}

/// Starts it so that what it acknowledges survives loss of power.
pub fn start(place: &Place<'_>) -> Result<(Process, SocketAddr)> {
    start_with(place, &["--appendonly", "yes", "--appendfsync", "always", "--save", ""])
}

/// Starts it with these settings.
pub fn start_with(place: &Place<'_>, settings: &[&str]) -> Result<(Process, SocketAddr)> {
    let address = free_port()?;
    let mut command = place.program("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string(), "--dir"]).arg(place.dir);
    command.args(settings);
    Ok((place.start("redis-server", &mut command, || answers(address))?, address))
}

/// Starts it so that what it acknowledges survives loss of power, listening at a unix socket alone.
pub fn start_at(place: &Place<'_>, socket: &Path) -> Result<Process> {
    let mut command = place.program("redis-server");
    command.args(["--port", "0", "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--dir"]);
    command.arg(place.dir).arg("--unixsocket").arg(socket);
    place.start("redis-server", &mut command, || UnixStream::connect(socket).is_ok_and(pongs))
}

/// Whether it answers: it listens before it has read its log.
fn answers(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok_and(pongs)
}

fn pongs(mut stream: impl Read + Write) -> bool {
    let mut said = [0; 5];
    let asked = stream.write_all(b"PING\r\n").and_then(|()| stream.read_exact(&mut said));
    asked.is_ok() && &said == b"+PONG"
}
