//! The real `recension serve` on a free port; it ends with the test.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A server of its own, with the admin `adm`, password `pass`.
pub struct Served {
    process: Child,
    pub url: String,
    _dir: tempfile::TempDir,
}

impl Served {
    pub fn start() -> Self {
        Served::with(&[])
    }

    /// With more arguments.
    pub fn with(args: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_recension"))
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "warn"])
            .args(args)
            .arg(dir.path().join("store"))
            .env("RECENSION_ADMIN", "adm:pass")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect("it says where it listens").trim_end_matches('/');
        Served { url: url.to_owned(), process, _dir: dir }
    }

    /// A figure of the server's memory, in bytes, by its name in `/proc/PID/status`.
    #[allow(dead_code)] // some of the tests ask
    pub fn memory(&self, name: &str) -> usize {
        self.status(name) * 1024
    }

    /// The server's threads.
    #[allow(dead_code)] // one of the tests asks
    pub fn threads(&self) -> usize {
        self.status("Threads")
    }

    fn status(&self, name: &str) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).expect(name);
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect(line)
    }

    /// The URL with the admin in it.
    pub fn url_of_admin(&self) -> String {
        self.url.replacen("://", "://adm:pass@", 1)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
