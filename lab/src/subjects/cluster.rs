//! Ours on shared logs. Here are the systems that a log can be on, each started by itself, and opening a log on them.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension_log::{LogAddress, SharedLog, open_log};

use super::{Given, Kind, OURS, named, our_version};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, etcd, mariadb, postgresql};

/// How long a system may take to accept a log.
const PATIENCE: Duration = Duration::from_secs(30);

/// A system that runs.
pub struct System {
    /// The address of its logs, but for their name.
    address: String,
    settings: String,
    _servers: Vec<Process>,
}

impl System {
    /// Opens a log by its name.
    pub fn log(&self, name: &str) -> Result<Arc<dyn SharedLog>> {
        let failed = |error: recension::engine::EngineError| LabError::Subject {
            what: "opening a log".to_owned(),
            why: error.to_string(),
        };
        let address = LogAddress::parse(&self.address.replace("LOG", name)).map_err(failed)?;
        let begin = Instant::now();
        loop {
            match open_log(&address) {
                Ok(log) => return Ok(log),
                Err(error) if begin.elapsed() > PATIENCE => return Err(failed(error)),
                Err(_) => std::thread::sleep(Duration::from_millis(50)), // another's process
            }
        }
    }

    /// The settings.
    pub fn settings(&self) -> String {
        self.settings.clone()
    }
}

/// Every system, ours in a folder first.
pub fn kinds() -> Vec<Kind> {
    vec![
        Kind::new(OURS, "a log in a folder, one file a record", our_version),
        Kind {
            missing: |_: &Given| postgresql::missing(),
            ..Kind::new("log-postgresql", "ours on a log in PostgreSQL", postgresql::version)
        },
        Kind {
            missing: |_| mariadb::missing(),
            ..Kind::new("log-mariadb", "ours on a log in MariaDB", mariadb::version)
        },
        Kind {
            missing: |_| etcd::missing(),
            ..Kind::new("log-etcd", "ours on a log in etcd, three members", etcd::version)
        },
    ]
}

/// Starts a system in a directory, which exists and is empty.
pub fn start(name: &str, dir: &Path) -> Result<System> {
    let place = Place { dir, traced: None };
    let system =
        |address: String, settings: &str, servers| System { address, settings: settings.to_owned(), _servers: servers };
    match named(kinds(), name, |kind| kind.name)?.name {
        "log-postgresql" => {
            let (server, at, _) = postgresql::start(&place)?;
            Ok(system(format!("postgres://lab@{at}/postgres?log=LOG"), postgresql::SETTINGS, vec![server]))
        }
        "log-mariadb" => {
            let (server, at, _) = mariadb::start(&place)?;
            Ok(system(format!("mysql://lab@{at}/mysql?log=LOG"), mariadb::SETTINGS, vec![server]))
        }
        "log-etcd" => {
            let (members, at) = etcd::start(&place)?;
            let hosts: Vec<_> = at.iter().map(ToString::to_string).collect();
            Ok(system(format!("etcd://{}/LOG", hosts.join(",")), etcd::SETTINGS, members))
        }
        _ => Ok(system(format!("file://{}", dir.join("LOG").display()), "files of one filesystem", Vec::new())),
    }
}
