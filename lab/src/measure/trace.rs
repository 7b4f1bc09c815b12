//! Counting what a subject asks of the kernel: its worker runs once under `strace`, apart from every timed
//! pass, and the syncs of a known number of commits are counted. The parser is pure.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The calls that make data durable, or hand it over to be.
pub const TRACED: &str = "trace=openat,open,creat,fsync,fdatasync,msync,sync_file_range,syncfs,write,pwrite64,writev,\
                          pwritev,pwritev2,close,sendto,sendmsg,sendfile";

/// Syncs that were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Syncs {
    /// `fsync` and `syncfs`.
    pub fsync: u64,
    /// `fdatasync`.
    pub fdatasync: u64,
    /// `msync` that waits.
    pub msync: u64,
    /// Writes to files that were opened with `O_SYNC` or `O_DSYNC`, or that ask for it themselves.
    pub synced_writes: u64,
    /// `sync_file_range`: not a durable sync.
    pub sync_file_range: u64,
}

impl Syncs {
    /// Those that wait for the disk.
    pub fn durable(&self) -> u64 {
        self.fsync + self.fdatasync + self.msync + self.synced_writes
    }
}

/// The reason why `strace` does not work here, if it does not.
pub fn unavailable() -> Option<String> {
    let tried = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    match tried {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("strace does not work here: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Some(format!("strace is not installed ({error}); `apt-get install strace`")),
    }
}

/// The arguments that run a program under `strace`, with what is seen in `file`.
pub fn arguments(file: &Path) -> Vec<String> {
    ["-f", "-qq", "-e", TRACED, "-o"].map(str::to_owned).into_iter().chain([file.display().to_string()]).collect()
}

/// The file that a worker tries to open as a mark before and after the commits that count.
pub const MARK: &str = "recension-lab-mark";

/// The syncs between the two marks. If there are no marks, all of them.
pub fn count(trace: &str) -> Syncs {
    let mut syncs = Syncs::default();
    let mut synced_files: HashMap<String, bool> = HashMap::new();
    let is_mark = |line: &str| line.contains(MARK) && !line.contains("resumed");
    let marks = trace.lines().filter(|line| is_mark(line)).count();
    let mut seen_marks = 0;
    for line in trace.lines() {
        seen_marks += usize::from(is_mark(line));
        // "1234  call(arguments) = result"; of a call that was interrupted by another thread's the first half
        // counts, as "<unfinished ...>".
        let Some((_, call)) = line.split_once(char::is_whitespace) else { continue };
        let call = call.trim_start();
        let Some((name, rest)) = call.split_once('(') else { continue };
        let result = rest.rsplit_once("= ").map_or("", |(_, result)| result.trim());
        if matches!(name, "openat" | "open" | "creat") && result.parse::<u32>().is_ok() {
            synced_files.insert(result.to_owned(), rest.contains("O_SYNC") || rest.contains("O_DSYNC"));
        }
        if marks >= 2 && seen_marks != 1 {
            continue;
        }
        let file = rest.split([',', ')', ' ']).next().unwrap_or_default();
        match name {
            "fsync" | "syncfs" => syncs.fsync += 1,
            "fdatasync" => syncs.fdatasync += 1,
            "msync" if rest.contains("MS_SYNC") => syncs.msync += 1,
            "sync_file_range" => syncs.sync_file_range += 1,
            "pwritev2" if rest.contains("RWF_DSYNC") || rest.contains("RWF_SYNC") => syncs.synced_writes += 1,
            "write" | "pwrite64" | "writev" | "pwritev" | "pwritev2" if synced_files.get(file) == Some(&true) => {
                syncs.synced_writes += 1;
            }
            _ => {}
        }
    }
    syncs
}

/// Calls that wrote: to files, pipes or sockets.
pub fn writes(trace: &str) -> u64 {
    const WRITES: [&str; 9] =
        ["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg", "sendfile", "sendfile64"];
    let call = |line: &str| Some(line.split_once(char::is_whitespace)?.1.trim_start().split_once('(')?.0.to_owned());
    trace.lines().filter(|line| call(line).is_some_and(|call| WRITES.contains(&call.as_str()))).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_between_the_marks_are_counted_by_kind() {
        let trace = r#"100  openat(AT_FDCWD, "data.mdb", O_RDWR|O_CREAT|O_CLOEXEC, 0600) = 4
100  openat(AT_FDCWD, "data.mdb", O_WRONLY|O_DSYNC|O_CLOEXEC) = 5
100  fdatasync(4)                      = 0
100  openat(AT_FDCWD, "recension-lab-mark", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file)
100  pwrite64(4, "x"..., 4096, 8192)   = 4096
101  fdatasync(4 <unfinished ...>
100  pwrite64(5, "m"..., 64, 4096)     = 64
101  <... fdatasync resumed>)          = 0
100  sync_file_range(4, 0, 4096, SYNC_FILE_RANGE_WRITE) = 0
100  msync(0x7f00, 4096, MS_ASYNC)     = 0
100  msync(0x7f00, 4096, MS_SYNC)      = 0
100  pwritev2(4, [{iov_base="", iov_len=1}], 1, 0, RWF_DSYNC) = 1
100  fsync(4)                          = 0
100  openat(AT_FDCWD, "recension-lab-mark", O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file)
100  fsync(4)                          = 0
"#;
        let found = count(trace);
        let expected = Syncs { fsync: 1, fdatasync: 1, msync: 1, synced_writes: 2, sync_file_range: 1 };
        assert_eq!(found, expected);
        assert_eq!(found.durable(), 5);
    }

    #[test]
    fn calls_that_write_are_counted_once_each() {
        let trace = "1 write(1, \"x\", 1) = 1\n2 sendfile(5, 6, [0], 9 <unfinished ...>\n1 close(5) = 0\n\
                     2 <... sendfile resumed>) = 9\n1 writev(3, [], 0) = 0\n";
        assert_eq!(writes(trace), 3);
    }

    #[test]
    fn a_file_opened_again_under_the_same_number_is_another_file() {
        let trace = "1 openat(AT_FDCWD, \"a\", O_WRONLY|O_SYNC) = 5\n1 write(5, \"x\", 1) = 1\n1 close(5) = 0\n\
                     1 openat(AT_FDCWD, \"b\", O_WRONLY) = 5\n1 write(5, \"x\", 1) = 1\n";
        assert_eq!(count(trace).synced_writes, 1);
    }
}
