//! The resources that a process uses, and the bytes that it has written, as the kernel counts them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Bytes, from `/proc/self`. Zero if the kernel does not tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Memory of the process's own: heap, stacks, caches.
    pub anonymous_bytes: u64,
    /// Mapped files that are in memory; they are in the page cache anyhow.
    pub mapped_bytes: u64,
    /// The bytes that it has caused to be written to the disk, in whole pages.
    pub written_bytes: u64,
}

/// The resources that this process uses now.
pub fn own() -> Usage {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    Usage {
        anonymous_bytes: field(&status, "RssAnon") * 1024,
        mapped_bytes: field(&status, "RssFile") * 1024,
        written_bytes: field(&io, "write_bytes"),
    }
}

/// Memory of a process that is resident, mapped files with it.
pub fn resident_bytes(id: u32) -> u64 {
    field(&std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default(), "VmRSS") * 1024
}

/// Memory of a process, of what it shares with others its part.
pub fn proportional_bytes(id: u32) -> u64 {
    field(&std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default(), "Pss") * 1024
}

/// Processor time that a process has had, with that of children of it that have ended and that it has waited for. Of
/// its own living threads the kernel tells nanoseconds, of all others hundredths of a second.
pub fn processor_time_of_all(id: u32) -> Duration {
    let own = threads_time(id).max(ticks(id, 0, 2));
    own + ticks(id, 2, 2)
}

/// The processor time of its living threads, if the kernel tells.
fn threads_time(id: u32) -> Duration {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{id}/task")) else { return Duration::ZERO };
    let of = |thread: std::fs::DirEntry| -> Option<u64> {
        std::fs::read_to_string(thread.path().join("schedstat")).ok()?.split_whitespace().next()?.parse().ok()
    };
    Duration::from_nanos(threads.flatten().filter_map(of).sum())
}

/// The sum of some of: user and system time, the same of children that have ended.
fn ticks(id: u32, first: usize, counters: usize) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    // The name, in parentheses, may have anything in it; the times are from the 12th after it on.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(11 + first).take(counters).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_nanos(ticks * 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1))
}

/// The processes that a process has started and that are alive.
pub fn children(id: u32) -> Vec<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|id| id.parse().ok()).collect()
}

/// A process and all that descends from it.
pub fn family(id: u32) -> Vec<u32> {
    let mut all = vec![id];
    let mut at = 0;
    while let Some(&id) = all.get(at) {
        all.extend(children(id));
        at += 1;
    }
    all
}

fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_names() {
        let text = "RssAnon:\t  12 kB\nRssAnonX: 7 kB\nwrite_bytes: 4096\ncancelled_write_bytes: 1\n";
        for (name, expected) in [("RssAnon", 12), ("write_bytes", 4096), ("cancelled_write_bytes", 1), ("none", 0)] {
            assert_eq!(field(text, name), expected, "{name}");
        }
    }

    #[test]
    fn the_kernel_says_what_this_process_uses() {
        assert!(own().anonymous_bytes > 0 && own().mapped_bytes > 0);
        let id = std::process::id();
        assert!(resident_bytes(id) > own().anonymous_bytes / 2);
        let begin = std::time::Instant::now();
        while ticks(id, 0, 2).is_zero() {
            assert!(begin.elapsed() < Duration::from_secs(20), "this loop costs processor time");
        }
        assert!(processor_time_of_all(id) >= ticks(id, 0, 2));
        assert_eq!((resident_bytes(0), processor_time_of_all(0)), (0, Duration::ZERO));
    }
}
