//! Ours: `recension serve` with its default settings, and an admin.

use std::net::SocketAddr;
use std::path::PathBuf;

use super::{Place, Process};
use crate::error::Result;
use crate::given::Given;

/// Name and password of the admin that makes the requests.
pub const ADMIN: (&str, &str) = ("lab", "lab");

/// The program: the given one, or the one beside this program.
pub fn program(given: &Given) -> Option<PathBuf> {
    let beside = || std::env::current_exe().ok().map(|this| this.with_file_name("recension"));
    given.recension.clone().or_else(beside).filter(|file| file.is_file())
}

/// Why it cannot be started.
pub fn missing(given: &Given) -> Option<String> {
    let how = "there is no `recension` beside this program; `cargo build --release -p recension-cli --features full`, \
               or give --recension";
    program(given).is_none().then(|| how.to_owned())
}

/// Starts it.
pub fn start(place: &Place<'_>, given: &Given) -> Result<(Process, SocketAddr)> {
    let mut command = place.program(program(given).unwrap_or_else(|| PathBuf::from("recension")));
    command.arg("serve").arg(place.dir.join("store")).args(["--listen", "127.0.0.1:0", "--log", "warn"]);
    command.env("RECENSION_ADMIN", format!("{}:{}", ADMIN.0, ADMIN.1));
    place.start_that_says("recension serve", &mut command)
}
