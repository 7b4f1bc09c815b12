//! express-pouchdb: `PouchDB` over `LevelDB`, in one Node process, behind Express. `scripts/node-packages lab/node`
//! installs it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Place, Process, said_by};
use crate::error::{LabError, Result};
use crate::given::Given;

/// The folder of the scripts and their packages.
pub fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("node")
}

/// Why what needs Node and the packages cannot be run.
pub fn missing(_: &Given) -> Option<String> {
    if said_by("node", "--version").is_none() {
        return Some("no Node; `apt-get install nodejs npm`".to_owned());
    }
    let there = scripts().join("node_modules/express-pouchdb/package.json").is_file();
    (!there).then(|| "its packages are not installed; `scripts/node-packages lab/node`".to_owned())
}

/// The version of a package, and Node's.
pub fn version() -> String {
    let file = scripts().join("node_modules/express-pouchdb/package.json");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let package: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let node = said_by("node", "--version").unwrap_or_default();
    format!("{} on Node {}", package["version"].as_str().unwrap_or("unknown"), node.trim_start_matches('v'))
}

/// Starts it.
pub fn start(place: &Place<'_>) -> Result<(Process, SocketAddr)> {
    let data = place.dir.join("data");
    std::fs::create_dir_all(&data).map_err(LabError::io("making a directory"))?;
    let mut command = place.program("node");
    // It writes its configuration and its log into the directory that it is started in.
    command.arg(scripts().join("express-pouchdb.js")).arg(&data).current_dir(place.dir);
    place.start_that_says("express-pouchdb", &mut command)
}
