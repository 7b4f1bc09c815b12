//! Whether the machine is quiet: what other processes and, in a virtual machine, its host do meanwhile. What this
//! process and those that it has waited for used is not theirs.

use std::time::{Duration, Instant};

use super::usage::processor_time_of_all;

/// How long is looked before it is said whether the machine is quiet.
const LOOK: Duration = Duration::from_secs(3);
/// Percent of all processor time that other processes may use.
const OTHERS_PERCENT_MAX: u64 = 8;
/// Percent of all processor time that the host may give to others.
const STOLEN_PERCENT_MAX: u64 = 2;

/// The counters of `/proc/stat` at a moment, and this process's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    total: u64,
    busy: u64,
    stolen: u64,
    own: Duration,
}

/// What others used in a span, in percent of all processor time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// Other processes.
    pub used: u64,
    /// The host of a virtual machine.
    pub stolen: u64,
}

impl ProcessorTimes {
    /// The times of now; zeros if the kernel does not tell.
    pub fn now() -> Self {
        let own = processor_time_of_all(std::process::id());
        Self::parse(&std::fs::read_to_string("/proc/stat").unwrap_or_default(), own)
    }

    /// Parses the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal. Guests are counted in user
    /// already.
    fn parse(stat: &str, own: Duration) -> Self {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let times: Vec<u64> = line.split_whitespace().take(8).filter_map(|time| time.parse().ok()).collect();
        let busy = times.iter().take(3).sum();
        ProcessorTimes { total: times.iter().sum(), busy, stolen: times.get(7).copied().unwrap_or_default(), own }
    }

    /// What others used between `self` and `later`.
    pub fn others(self, later: Self) -> Others {
        let ticks = rustix::param::clock_ticks_per_second();
        let total = later.total.saturating_sub(self.total);
        let own = later.own.saturating_sub(self.own).as_millis() as u64 * ticks / 1000;
        let percent = |part: u64| (part * 100).checked_div(total).unwrap_or_default();
        let used = later.busy.saturating_sub(self.busy).saturating_sub(own);
        Others { used: percent(used), stolen: percent(later.stolen.saturating_sub(self.stolen)) }
    }
}

impl Others {
    /// What makes the machine not quiet, in words.
    pub fn disturb(self) -> Option<String> {
        let Others { used, stolen } = self;
        if stolen > STOLEN_PERCENT_MAX {
            return Some(format!("the host gave {stolen} % of the processor time to others"));
        }
        (used > OTHERS_PERCENT_MAX).then(|| format!("other processes used {used} % of the processor time"))
    }
}

/// Waits until the machine is quiet, or for `most`; answers why it is not. `told` hears what is waited for.
pub fn wait(most: Duration, mut told: impl FnMut(&str)) -> Option<String> {
    let begin = Instant::now();
    loop {
        let before = ProcessorTimes::now();
        std::thread::sleep(LOOK.min(most)); // what is waited for is that nothing happens
        let why = before.others(ProcessorTimes::now()).disturb()?;
        if begin.elapsed() >= most {
            return Some(why);
        }
        told(&why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_used_is_a_share_of_all_without_our_own() {
        let ticks = u32::try_from(rustix::param::clock_ticks_per_second()).unwrap();
        let before = ProcessorTimes::parse("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1 1 1 1 1 1 1 1\n", Duration::ZERO);
        assert_eq!((before.total, before.busy, before.stolen), (100, 20, 10));
        // 40 of 100 more were busy, of which 25 by us; 30 were stolen.
        let after = ProcessorTimes::parse("cpu  40 0 20 100 0 0 0 40 5 0\n", Duration::from_secs(25) / ticks);
        assert_eq!(before.others(after), Others { used: 15, stolen: 30 });
        assert_eq!(before.others(before), Others::default());
        assert_eq!(ProcessorTimes::parse("", Duration::ZERO), ProcessorTimes::default());
        for (used, stolen, part) in
            [(0, 0, None), (8, 2, None), (15, 0, Some("other processes used 15 %")), (0, 3, Some("the host gave 3 %"))]
        {
            let words = Others { used, stolen }.disturb();
            assert_eq!(words.is_some(), part.is_some(), "{used} {stolen}");
            assert!(part.is_none_or(|part| words.unwrap().starts_with(part)));
        }
    }

    #[test]
    fn a_busy_machine_is_waited_for_until_the_bound_and_no_longer() {
        // A child that nobody has waited for yet is as another's.
        let mut busy = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let mut said = 0;
        let why = wait(Duration::from_millis(900), |_| said += 1);
        busy.kill().and_then(|()| busy.wait()).unwrap();
        // One of many processors is a small part of all.
        let few = std::thread::available_parallelism().is_ok_and(|count| count.get() <= 4);
        assert!(!few || why.is_some_and(|why| why.contains("processor time")));
        assert!(said <= 1);
    }
}
