//! What `recension doctor` says of the program, the machine and its clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recension::engine::Timestamp;
use recension::format_time;
use rustix::process::{Resource, getrlimit};

use super::{Finding, span};
use crate::output::{bytes, count};

/// A server with fewer descriptors than this refuses connections early.
const OPEN_FILES_FEW: u64 = 4_096;
/// A store that was written later than this before now has a clock beside it that goes wrong.
const CLOCK_BEHIND_MAX: Duration = Duration::from_secs(2);
/// Less memory than this is not what the server's defaults are for.
const MEMORY_LITTLE: u64 = 512 << 20;

/// The program.
pub(super) fn program() -> Finding {
    let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    Finding::fine("program", format!("recension {}, {os} {machine}", env!("CARGO_PKG_VERSION")))
}

/// Descriptors that a process may have.
pub(super) fn open_files() -> Finding {
    let limit = getrlimit(Resource::Nofile);
    match (limit.current, limit.maximum) {
        (Some(now), most) if now < OPEN_FILES_FEW && most.is_some_and(|most| most < OPEN_FILES_FEW) => {
            let advice = "a busy server needs more: `LimitNOFILE=65536` in its systemd unit, or `ulimit -n 65536`";
            Finding::warning("open files", format!("{} for a process", count(now)), advice)
        }
        (Some(now), _) => Finding::fine("open files", format!("{} for a process", count(now))),
        (None, _) => Finding::fine("open files", "without a limit"),
    }
}

/// The memory that is there for new work.
pub(super) fn memory() -> Finding {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix(" kB"));
    match available.and_then(|number| number.trim().parse::<u64>().ok()).map(|number| number * 1024) {
        Some(free) if free < MEMORY_LITTLE => {
            let advice = "a server's budgets take up to 512 MiB: lower max_body_memory and max_list_memory";
            Finding::warning("memory", format!("{} available", bytes(free)), advice)
        }
        Some(free) => Finding::fine("memory", format!("{} available", bytes(free))),
        None => Finding::fine("memory", "this system does not say how much is available"),
    }
}

/// The clock, by the newest commit, which lies in the past.
pub(super) fn clock(newest: Timestamp, now: SystemTime) -> Finding {
    let since_1970 = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let said = format_time(Timestamp(since_1970.as_micros() as u64));
    let ahead = Duration::from_micros(newest.0).saturating_sub(since_1970);
    if ahead > CLOCK_BEHIND_MAX {
        let found = format!("it is {said}, and the newest commit is {} later", span(ahead));
        return Finding::fault("clock", found, "set the clock (timedatectl): times of commits and tokens depend on it");
    }
    Finding::fine("clock", said)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    #[test]
    fn a_clock_behind_the_newest_commit_is_a_fault() {
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        let commit = Timestamp(1_000_000_000_000);
        assert_eq!(clock(commit, at(1_000_000)).state, State::Fine);
        assert_eq!(clock(commit, at(999_999)).state, State::Fine);
        let wrong = clock(commit, at(900_000));
        assert_eq!(wrong.state, State::Fault);
        assert!(wrong.found.contains("27 h later"), "{}", wrong.found);
    }
}
