//! `MariaDB` with `InnoDB` as durable as it can be.

use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use super::{Place, Process, free_port, said_by};
use crate::error::{LabError, Result};
use crate::measure::budget;

/// The settings, for the report.
pub const SETTINGS: &str = "InnoDB, innodb_flush_log_at_trx_commit=1, doublewrite, no binary log, \
    innodb_buffer_pool_size=256M, otherwise defaults; TCP on loopback, one connection, prepared statements";

/// Why it cannot be started.
pub fn missing() -> Option<String> {
    said_by("mariadbd", "--version").is_none().then(|| "no MariaDB server; `apt-get install mariadb-server`".to_owned())
}

/// Its version.
pub fn version() -> String {
    let said = said_by("mariadbd", "--version").unwrap_or_default();
    let version = said.split_whitespace().skip_while(|word| *word != "Ver").nth(1).unwrap_or("unknown");
    version.split('-').next().unwrap_or_default().to_owned()
}

/// Starts it; answers also whether its directory is new.
pub fn start(place: &Place<'_>) -> Result<(Process, SocketAddr, bool)> {
    let data = place.dir.join("data");
    let fresh = !data.exists();
    let init = place.dir.join("first.sql");
    if fresh {
        // One statement a line: it takes no second one.
        let user = "CREATE USER lab@'127.0.0.1';\nGRANT ALL ON *.* TO lab@'127.0.0.1';\n";
        std::fs::write(&init, user).map_err(LabError::io("writing MariaDB's first commands"))?;
        let output = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root"])
            .arg(format!("--datadir={}", data.display()))
            .output()
            .map_err(LabError::io("running mariadb-install-db"))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " | ");
            return Err(LabError::Subject { what: "mariadb-install-db".to_owned(), why });
        }
    }
    let address = free_port()?;
    let mut command = place.program("mariadbd");
    command.args(["--no-defaults", "--user=root", "--bind-address=127.0.0.1", "--skip-log-bin", "--skip-name-resolve"]);
    command.args(["--innodb-flush-log-at-trx-commit=1"]);
    command.arg(format!("--innodb-buffer-pool-size={}", budget::cache_bytes(256 << 20)));
    command.arg(format!("--port={}", address.port())).arg(format!("--datadir={}", data.display()));
    command.arg("--socket=lab.sock");
    if fresh {
        command.arg(format!("--init-file={}", init.display()));
    }
    let process = place.start("mariadbd", &mut command, || answers(address))?;
    Ok((process, address, fresh))
}

/// Whether it greets.
fn answers(address: SocketAddr) -> bool {
    use std::io::Read as _;
    let mut head = [0; 5];
    let greeted = TcpStream::connect(address).and_then(|mut stream| stream.read_exact(&mut head));
    greeted.is_ok() && head[4] == 10
}
