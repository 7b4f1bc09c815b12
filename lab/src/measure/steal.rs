//! Processor time that the host of a virtual machine gave to others while we wanted it.

/// The counters of `/proc/stat` at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorTimes {
    total: u64,
    stolen: u64,
}

impl ProcessorTimes {
    /// The times of now; zeros if the kernel does not tell.
    pub fn now() -> Self {
        Self::parse(&std::fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    /// Parses the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal. Guests are counted in user
    /// already.
    fn parse(stat: &str) -> Self {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
        let times: Vec<u64> = line.split_whitespace().take(8).filter_map(|time| time.parse().ok()).collect();
        ProcessorTimes { total: times.iter().sum(), stolen: times.get(7).copied().unwrap_or_default() }
    }

    /// The percentage of all processor time that was stolen between `self` and `later`.
    pub fn percent_stolen(self, later: Self) -> u64 {
        let total = later.total.saturating_sub(self.total);
        (later.stolen.saturating_sub(self.stolen) * 100).checked_div(total).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_stolen_is_a_share_of_all() {
        let before = ProcessorTimes::parse("cpu  10 0 10 70 0 0 0 10 5 0\ncpu0 1 1 1 1 1 1 1 1\n");
        assert_eq!(before, ProcessorTimes { total: 100, stolen: 10 });
        let after = ProcessorTimes::parse("cpu  40 0 20 100 0 0 0 40 5 0\n");
        assert_eq!(before.percent_stolen(after), 30);
        assert_eq!(before.percent_stolen(before), 0);
        assert_eq!(ProcessorTimes::parse(""), ProcessorTimes::default());
    }
}
