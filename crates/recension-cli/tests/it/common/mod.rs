//! Runs the real binary, as a user does.
#![allow(dead_code, unreachable_pub, reason = "memory.rs is a crate of its own that uses a part")]

pub mod served;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory of its own with a store in it.
pub struct Place {
    pub dir: TempDir,
}

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Place { dir: TempDir::new().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        // It may be a key, which nobody else may read.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
        name.to_owned()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recension"));
        command.args(args).current_dir(self.path()).env("NO_COLOR", "1").env("TZ", "UTC");
        for name in ["RECENSION_STORE", "RECENSION_KEY", "RECENSION_COLLECTION_KEYS", "COLUMNS", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs with an empty standard input.
    pub fn run(&self, args: &[&str]) -> Ended {
        self.run_with(args, b"")
    }

    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Ended {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A command that refuses early closes its input: that is no failure of the test.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ended {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs what must succeed; answers standard output.
    #[track_caller]
    pub fn ok(&self, args: &[&str]) -> String {
        self.ok_with(args, b"")
    }

    #[track_caller]
    pub fn ok_with(&self, args: &[&str], input: &[u8]) -> String {
        let ended = self.run_with(args, input);
        assert_eq!(ended.code, 0, "{args:?}: {}", ended.err);
        ended.out
    }

    /// Runs what must fail with `code`; answers standard error.
    #[track_caller]
    pub fn fails(&self, code: i32, args: &[&str]) -> String {
        self.fails_with(code, args, b"")
    }

    #[track_caller]
    pub fn fails_with(&self, code: i32, args: &[&str], input: &[u8]) -> String {
        let ended = self.run_with(args, input);
        assert_eq!(ended.code, code, "{args:?}: {} {}", ended.out, ended.err);
        ended.err
    }
}
