//! One processor for a client and its server, which wait for each other and never work at the same time. By itself, the
//! system has both on one processor in some rounds and apart in others. If they are apart, each message wakes a
//! processor from sleep: any request then takes 70 us instead of 8, and a median only says which of the two happened
//! more often.

use std::io;

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// While it lives, every thread of this process and of the given ones runs on one processor. Afterwards they may run on
/// the same processors as before.
#[derive(Debug)]
pub struct Together {
    processes: Vec<u32>,
    before: CpuSet,
}

impl Together {
    /// Puts them together, on the first processor that this process may use.
    ///
    /// # Errors
    /// The system's error, if it does not allow it.
    pub fn with(mut processes: Vec<u32>) -> io::Result<Self> {
        processes.push(std::process::id());
        let before = sched_getaffinity(None)?;
        let first = (0..CpuSet::MAX_CPU).find(|processor| before.is_set(*processor)).unwrap_or_default();
        let mut one = CpuSet::new();
        one.set(first);
        let together = Together { processes, before };
        // If a later thread cannot be moved, the earlier ones get their processors back.
        together.put(&one)?;
        Ok(together)
    }

    fn put(&self, on: &CpuSet) -> io::Result<()> {
        let threads = self.processes.iter().flat_map(|process| threads_of(*process));
        threads.filter_map(Pid::from_raw).try_for_each(|thread| match sched_setaffinity(Some(thread), on) {
            // It ended meanwhile.
            Err(rustix::io::Errno::SRCH) => Ok(()),
            put => Ok(put?),
        })
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        // An error here is not returned: a thread that stays on its processor shows in the following rounds.
        let _ = self.put(&self.before);
    }
}

fn threads_of(process: u32) -> Vec<i32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_are_on_one_processor_and_then_where_they_were() {
        let before = sched_getaffinity(None).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let of_child = || sched_getaffinity(Pid::from_raw(child.id().cast_signed())).unwrap();
        let together = Together::with(vec![child.id()]).unwrap();
        let beside = std::thread::spawn(|| sched_getaffinity(None).unwrap().count());
        assert_eq!((sched_getaffinity(None).unwrap().count(), of_child().count(), beside.join().unwrap()), (1, 1, 1));
        drop(together);
        assert_eq!((sched_getaffinity(None).unwrap(), of_child()), (before, before));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
