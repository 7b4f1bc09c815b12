//! A budget of memory for one process, including the page cache, so that a store that is larger than its memory can be
//! measured on any machine. It is a control group (version 2 or 1), if we may make one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{LabError, Result};

/// Tells a worker how many bytes its budget has.
const TOLD: &str = "RECENSION_LAB_BUDGET_BYTES";
/// How long ended processes may take to leave the group.
const LEAVING_MAX: Duration = Duration::from_secs(2);
/// The divisor of a budget for the size of a subject's own cache, if the subject has to be told one.
const CACHE_PART: u64 = 4;

/// The budget in bytes, if this process is a worker that runs in one.
pub fn told() -> Option<u64> {
    std::env::var(TOLD).ok()?.parse().ok()
}

/// The size of a subject's own cache, if it would be `wanted` bytes without a budget. In a budget, it is at most its
/// part of that.
pub fn cache_bytes(wanted: u64) -> u64 {
    told().map_or(wanted, |budget| wanted.min(budget / CACHE_PART))
}

/// A control group of ours; it is removed when it is dropped.
#[derive(Debug)]
pub struct Budget {
    dir: PathBuf,
    /// The file of its limit.
    limit: &'static str,
    /// Its bytes.
    pub bytes: u64,
    /// The mechanism, for the report.
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
                    return Ok(Budget {
                        dir,
                        limit,
                        bytes,
                        how: format!("{how}, {} MiB with the page cache", bytes >> 20),
                    });
                }
                Err(why) => tried.push(format!("{root}: {why}")),
            }
        }
        Err(LabError::Unavailable {
            reason: format!("no control group with a limit of memory could be made ({})", tried.join("; ")),
        })
    }

    /// Makes the group anew for the next process. The page cache would otherwise hold pages of earlier processes'
    /// files, which count as used memory until they have been reclaimed. After many large subjects that is a large
    /// part.
    ///
    /// # Errors
    /// [`LabError::Unavailable`] if a process is still in it.
    pub fn renew(&self) -> Result<()> {
        let begin = Instant::now();
        loop {
            match fs::remove_dir(&self.dir) {
                Err(error) if error.kind() == ErrorKind::ResourceBusy && begin.elapsed() < LEAVING_MAX => {
                    std::thread::sleep(Duration::from_millis(2)); // there is nothing to wait on
                }
                Ok(()) => break,
                Err(error) if error.kind() == ErrorKind::NotFound => break,
                Err(error) => return Err(self.not_renewed(&error)),
            }
        }
        make(&self.dir, self.limit, self.bytes).map_err(|error| self.not_renewed(&error))
    }

    fn not_renewed(&self, error: &std::io::Error) -> LabError {
        let reason = format!("the control group {} could not be made anew: {error}", self.dir.display());
        LabError::Unavailable { reason }
    }

    /// The size of a subject's own cache, in bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.bytes / CACHE_PART
    }

    /// The environment variable that tells a process its budget: name and value.
    pub fn tells(&self) -> (&'static str, String) {
        (TOLD, self.bytes.to_string())
    }

    /// A description of the budget, for the report.
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
    // In version 2 the controller has to be delegated first. If it is delegated already, or in version 1, this fails
    // and does not matter.
    let _ = fs::write(parent.join("cgroup.subtree_control"), "+memory");
    fs::create_dir(dir)?;
    // If the directory is not a control group, writing would make a file that limits nothing. So it looks first.
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
    fn a_budget_is_made_renewed_and_removed_or_says_why_not() {
        match Budget::of(64 << 20) {
            Ok(budget) => {
                let entrance = budget.entrance();
                assert!(entrance.exists(), "{entrance:?}");
                let mut inside = std::process::Command::new("sleep").arg("60").spawn().unwrap();
                fs::write(&entrance, inside.id().to_string()).unwrap();
                let refused = budget.renew().unwrap_err();
                inside.kill().unwrap();
                inside.wait().unwrap();
                assert!(refused.to_string().contains("could not be made anew"), "{refused}");
                for _ in 0..2 {
                    budget.renew().unwrap();
                    assert_eq!(
                        fs::read_to_string(budget.dir.join(budget.limit)).unwrap().trim(),
                        (64 << 20).to_string()
                    );
                    assert_eq!(fs::read_to_string(&entrance).unwrap(), "");
                }
                drop(budget);
                assert!(!entrance.exists(), "{entrance:?}");
            }
            Err(error) => assert!(error.to_string().contains("/sys/fs/cgroup"), "{error}"),
        }
    }
}
