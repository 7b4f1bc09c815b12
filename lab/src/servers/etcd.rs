//! Three members of etcd on loopback, with its own defaults, which are durable.

use std::net::SocketAddr;

use super::{Place, Process, free_port, said_by};
use crate::error::{LabError, Result};

/// The settings, for the report.
pub const SETTINGS: &str = "three members on loopback, otherwise defaults";

/// Why it cannot be started.
pub fn missing() -> Option<String> {
    said_by("etcd", "--version").is_none().then(|| "no etcd server; `apt-get install etcd-server`".to_owned())
}

/// Its version.
pub fn version() -> String {
    let said = said_by("etcd", "--version").unwrap_or_default();
    said.split_whitespace().nth(2).unwrap_or("unknown").to_owned()
}

/// Starts the members in directories of their own. Returns their addresses for clients.
pub fn start(place: &Place<'_>) -> Result<(Vec<Process>, Vec<SocketAddr>)> {
    let ports = (0..3).map(|_| Ok((free_port()?, free_port()?))).collect::<Result<Vec<_>>>()?;
    let cluster: Vec<_> = ports.iter().enumerate().map(|(n, (_, peer))| format!("m{n}=http://{peer}")).collect();
    let mut members = Vec::new();
    for (n, (client, peer)) in ports.iter().enumerate() {
        let dir = place.dir.join(format!("member-{n}"));
        std::fs::create_dir_all(&dir).map_err(LabError::io("making the directory of a member of etcd"))?;
        let own = Place { dir: &dir, traced: place.traced };
        let mut command = own.program("etcd");
        command.current_dir(&dir).args(["--logger", "zap", "--log-level", "error", "--name", &format!("m{n}")]);
        command.arg("--data-dir").arg(dir.join("data"));
        for (flag, address) in [
            ("--listen-client-urls", client),
            ("--advertise-client-urls", client),
            ("--listen-peer-urls", peer),
            ("--initial-advertise-peer-urls", peer),
        ] {
            command.arg(flag).arg(format!("http://{address}"));
        }
        command.arg("--initial-cluster").arg(cluster.join(","));
        // A single member is not ready: opening the log waits until the members have found each other.
        members.push(own.start("etcd", &mut command, || true)?);
    }
    Ok((members, ports.into_iter().map(|(client, _)| client).collect()))
}
