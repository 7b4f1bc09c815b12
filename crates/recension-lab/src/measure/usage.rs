//! What a process holds and has written, as the kernel counts it.

use serde::{Deserialize, Serialize};

/// Bytes, from `/proc/self`. Zero where the kernel does not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Memory of the process's own: heap, stacks, caches.
    pub anonymous_bytes: u64,
    /// Mapped files that are in memory; they are in the page cache anyhow.
    pub mapped_bytes: u64,
    /// What it has caused to be written to the disk, in whole pages.
    pub written_bytes: u64,
}

/// What this process uses now.
pub fn own() -> Usage {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let io = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    Usage {
        anonymous_bytes: field(&status, "RssAnon") * 1024,
        mapped_bytes: field(&status, "RssFile") * 1024,
        written_bytes: field(&io, "write_bytes"),
    }
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
    }
}
