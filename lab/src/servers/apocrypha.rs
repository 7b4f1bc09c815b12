//! Ours: `recension apocrypha`, on a store in its directory.

use std::net::{SocketAddr, TcpStream};

use super::recension::program;
use super::{Place, Process, free_port};
use crate::error::Result;
use crate::given::Given;

/// Starts it. `durability` is `disk` or `process`; with `trace` it prints every command.
pub fn start(place: &Place<'_>, given: &Given, durability: &str, trace: bool) -> Result<(Process, SocketAddr)> {
    let address = free_port()?;
    let mut command = place.program(program(given).unwrap_or_else(|| "recension".into()));
    command.args(["apocrypha", "--headless", "--no-unix", "--tcp-port", &address.port().to_string()]);
    command.args(["--durability", durability, "--database"]).arg(place.dir.join("db"));
    // The user may have set one for their own server.
    command.env_remove("RECENSION_APOCRYPHA_TOKEN").env_remove("RECENSION_APOCRYPHA_DIALECT");
    command.env_remove("RECENSION_TLS_CERTIFICATE").env_remove("RECENSION_TLS_KEY");
    if trace {
        command.arg("--trace");
    }
    let process = place.start("recension apocrypha", &mut command, || TcpStream::connect(address).is_ok())?;
    Ok((process, address))
}
