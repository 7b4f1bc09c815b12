//! The original server of Apocrypha in Python. It comes with the package of its client on `PyPI`, which
//! `scripts/python-packages apocrypha` installs.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};

use super::{Place, Process, free_port, said_by};
use crate::error::Result;
use crate::given::{Given, PYTHON};

/// The folder of its package.
fn packages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/apocrypha/pypi/packages")
}

/// Why it cannot be started.
pub fn missing(_: &Given) -> Option<String> {
    if said_by(PYTHON, "--version").is_none() {
        return Some("no Python; `apt-get install python3`".to_owned());
    }
    let there = packages().join("apocrypha/server.py").is_file();
    (!there).then(|| "its package is not installed; `scripts/python-packages apocrypha`".to_owned())
}

/// Its version.
pub fn version() -> String {
    let found = std::fs::read_dir(packages()).into_iter().flatten().flatten().find_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_prefix("apocrypha-")?.strip_suffix(".dist-info")?.to_owned())
    });
    let python = said_by(PYTHON, "--version").unwrap_or_default();
    format!("{} on {python}", found.unwrap_or_else(|| "unknown".to_owned()))
}

/// Starts it.
pub fn start(place: &Place<'_>) -> Result<(Process, SocketAddr)> {
    let address = free_port()?;
    let mut command = place.program(PYTHON);
    // With -B Python writes nothing beside the package.
    command.args([
        "-B",
        "-m",
        "apocrypha.server",
        "--host",
        "127.0.0.1",
        "--port",
        &address.port().to_string(),
        "--config",
    ]);
    command.arg(place.dir.join("db.json")).env("PYTHONPATH", packages());
    let process = place.start("Apocrypha in Python", &mut command, || TcpStream::connect(address).is_ok())?;
    Ok((process, address))
}
