//! A budget of memory for one process, the page cache included, so that a store that is larger than memory
//! can be measured on a machine where it is not. By a control group (version 2 or 1) where we may make one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{LabError, Result};

/// Tells a worker how many bytes its budget has.
const TOLD: &str = "RECENSION_LAB_BUDGET_BYTES";
/// The part of a budget that a subject's own cache is given, where it has to be told.
const CACHE_PART: u64 = 4;

/// The budget that this process is in, in bytes, where it is a worker in one.
pub fn told() -> Option<u64> {
    std::env::var(TOLD).ok()?.parse().ok()
}

/// How large a subject's own cache is made that would be `wanted` bytes: in a budget, no more than its part.
pub fn cache_bytes(wanted: u64) -> u64 {
    told().map_or(wanted, |budget| wanted.min(budget / CACHE_PART))
}

/// A control group of ours; it is removed when it is dropped.
#[derive(Debug)]
pub struct Budget {
    dir: PathBuf,
    /// How much.
    pub bytes: u64,
    /// Which mechanism it is, for the report.
    pub how: String,
}

impl Budget {
    /// Makes one.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] with what was tried.
    pub fn of(bytes: u64) -> Result<Self> {
        let name = format!("recension-lab-{}", std::process::id());
        let mut tried = Vec::new();
        for (root, limit, how) in [
            ("/sys/fs/cgroup", "memory.max", "control group v2"),
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "control group v1"),
        ] {
            let dir = Path::new(root).join(&name);
            match make(&dir, limit, bytes) {
                Ok(()) => {
                    return Ok(Budget { dir, bytes, how: format!("{how}, {} MiB with the page cache", bytes >> 20) });
                }
                Err(why) => tried.push(format!("{root}: {why}")),
            }
        }
        Err(LabError::Unavailable {
            reason: format!("no control group with a limit of memory could be made ({})", tried.join("; ")),
        })
    }

    /// What a subject's own cache is given, in bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.bytes / CACHE_PART
    }

    /// What tells a process of it: the name of a variable, and its value.
    pub fn tells(&self) -> (&'static str, String) {
        (TOLD, self.bytes.to_string())
    }

    /// How it is measured within, for the report.
    pub fn note(&self) -> String {
        format!("{}, caches that have to be set of {} MiB", self.how, self.cache_bytes() >> 20)
    }

    /// The file that a process writes its number to in order to enter.
    pub fn entrance(&self) -> PathBuf {
        self.dir.join("cgroup.procs")
    }
}

fn make(dir: &Path, limit: &str, bytes: u64) -> std::io::Result<()> {
    let parent = dir.parent().unwrap_or(dir);
    // Version 2: the controller has to be handed down first; where it is already, or in version 1, this
    // fails and does not matter.
    let _ = fs::write(parent.join("cgroup.subtree_control"), "+memory");
    fs::create_dir(dir)?;
    // In a directory that is no control group's this makes a file that limits nothing: look first.
    let file = dir.join(limit);
    let set = if file.exists() {
        fs::write(&file, bytes.to_string())
    } else {
        Err(std::io::Error::new(std::io::ErrorKind::Unsupported, format!("there is no {limit}")))
    };
    set.inspect_err(|_| {
        let _ = fs::remove_dir(dir);
    })
}

impl Drop for Budget {
    fn drop(&mut self) {
        // Fails while a process is in it; an empty control group left behind costs nothing.
        let _ = fs::remove_dir(&self.dir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_made_and_removed_or_says_why_not() {
        match Budget::of(64 << 20) {
            Ok(budget) => {
                let entrance = budget.entrance();
                assert!(entrance.exists(), "{entrance:?}");
                drop(budget);
                assert!(!entrance.exists(), "{entrance:?}");
            }
            Err(error) => assert!(error.to_string().contains("/sys/fs/cgroup"), "{error}"),
        }
    }
}
