//! How much memory this process may have, for defaults that fit: the machine's memory, or less if a control group (a
//! container, a service's limit) says so. Linux only; elsewhere nothing is known.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// A file is large if it has more than this part of the memory.
const LARGE_PART: u64 = 16;

/// Bytes of memory that this process may have, its page cache included; `None` if the system does not tell. It is asked
/// once.
pub(super) fn memory_bytes() -> Option<u64> {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    *MEMORY.get_or_init(|| memory_below(Path::new("/")))
}

/// Whether a file of this many bytes may be too large for this process's memory, besides other files.
pub(super) fn crowds_memory(file_bytes: u64) -> bool {
    memory_bytes().is_some_and(|memory| file_bytes > memory / LARGE_PART)
}

fn memory_below(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| total_of(&text));
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let limits = groups.lines().filter_map(|line| limit_of(root, line));
    machine.into_iter().chain(limits).min()
}

/// The line `MemTotal:  24689340 kB`.
fn total_of(meminfo: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The least limit of a group and its parents. A line is `0::/a/b` in version 2, `4:cpu,memory:/a/b` in version 1. In a
/// container the file system may show the groups of the host's path as its root, so the root is always looked at.
fn limit_of(root: &Path, line: &str) -> Option<u64> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (mount, file) = match controllers {
        "" => ("sys/fs/cgroup", "memory.max"),
        _ if controllers.split(',').any(|name| name == "memory") => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        _ => return None,
    };
    Path::new(path.trim_start_matches('/'))
        .ancestors()
        .filter_map(|group| fs::read_to_string(root.join(mount).join(group).join(file)).ok()?.trim().parse().ok())
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files, and what is known there.
    fn among(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        memory_below(root.path())
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemFree:  1 kB\nMemTotal:       1024 kB\nBuffers: 2 kB\n");

    #[test]
    fn the_least_limit_of_all_groups_around_it_holds() {
        let own = ("proc/self/cgroup", "0::/a/b\n");
        assert_eq!(among(&[]), None);
        assert_eq!(among(&[MACHINE]), Some(1 << 20));
        assert_eq!(among(&[MACHINE, own]), Some(1 << 20));
        let none = ("sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(among(&[MACHINE, own, none]), Some(1 << 20));
        let outer = ("sys/fs/cgroup/a/memory.max", "5000\n");
        assert_eq!(among(&[MACHINE, own, none, outer]), Some(5000));
        let container = ("sys/fs/cgroup/memory.max", "4000\n");
        assert_eq!(among(&[MACHINE, own, none, outer, container]), Some(4000));
        // A limit of another group.
        assert_eq!(among(&[MACHINE, own, ("sys/fs/cgroup/c/memory.max", "1\n")]), Some(1 << 20));
    }

    #[test]
    fn groups_of_version_1_are_known_by_their_controller() {
        let own = ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/a\n1:name=systemd:/x\nnot a line\n");
        let limit = ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "6000\n");
        let other = ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n");
        // The value of version 1 if there is no limit.
        let whole = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(among(&[MACHINE, own, other, whole]), Some(1 << 20));
        assert_eq!(among(&[MACHINE, own, limit, other, whole]), Some(6000));
    }

    #[test]
    fn this_machine_tells() {
        assert!(memory_bytes().is_some_and(|bytes| bytes > 1 << 20) || !cfg!(target_os = "linux"));
        assert!(!crowds_memory(0));
        assert_eq!(crowds_memory(u64::MAX), cfg!(target_os = "linux"));
    }
}
