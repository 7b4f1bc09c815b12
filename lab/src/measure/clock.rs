//! Wall time, and the time that the processor gave to this thread or to the whole process.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, Timespec, clock_gettime};

use super::usage::{family, processor_time_of_all};

/// Processor time of the calling thread.
pub fn thread_cpu() -> Duration {
    duration(clock_gettime(ClockId::ThreadCPUTime))
}

/// Processor time of the process: threads of the background are in it.
pub fn process_cpu() -> Duration {
    duration(clock_gettime(ClockId::ProcessCPUTime))
}

#[allow(clippy::cast_sign_loss)] // these clocks start at 0
fn duration(time: Timespec) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Nanoseconds, as reports have them.
pub fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Waits until the process is at rest (its threads of the background have no more to do), or `most` has
/// passed. Returns whether it came to rest. It keeps one subject's background out of the next one's round.
pub fn come_to_rest(most: Duration) -> bool {
    let shortly = Rest { look: Duration::from_millis(2), part: 10, times: 2 };
    shortly.of(process_cpu, most)
}

/// Waits, as [`come_to_rest`] does, until this process and all that descend from it have had next to nothing to do for
/// 1.5 s: also what is paced, and sleeps now and then, has come to its end.
pub fn come_to_rest_wholly(most: Duration) -> bool {
    let wholly = Rest { look: Duration::from_millis(250), part: 50, times: 6 };
    let family = || family(std::process::id()).into_iter().map(processor_time_of_all).sum();
    wholly.of(family, most)
}

/// A definition of rest: less than a given part of the processor in each of several intervals, one after the other.
struct Rest {
    look: Duration,
    part: u32,
    times: u32,
}

impl Rest {
    fn of(&self, worked: impl Fn() -> Duration, most: Duration) -> bool {
        let start = Instant::now();
        let mut before = worked();
        let mut quiet = 0;
        while start.elapsed() < most {
            std::thread::sleep(self.look); // what is waited for is that nothing happens
            let now = worked();
            quiet = if now.saturating_sub(before) < self.look / self.part { quiet + 1 } else { 0 };
            if quiet == self.times {
                return true;
            }
            before = now;
        }
        false
    }
}

/// Waits for a moment: asleep while it is far, awake at the end, because a sleep overshoots.
pub fn wait_until(moment: Instant) {
    const AWAKE: Duration = Duration::from_micros(200);
    loop {
        let left = moment.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        if left > AWAKE {
            std::thread::sleep(left.saturating_sub(AWAKE));
        } else {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_processor_time_of_the_thread_that_does_it() {
        let (thread, process) = (thread_cpu(), process_cpu());
        let other = std::thread::spawn(|| (0..20_000_000_u64).fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1)));
        std::hint::black_box(other.join().unwrap());
        let (thread, process) = (thread_cpu().saturating_sub(thread), process_cpu().saturating_sub(process));
        assert!(process > thread, "the other thread's work is in the process's time: {process:?}, {thread:?}");
    }

    #[test]
    fn rest_is_several_looks_in_a_row_at_which_next_to_nothing_was_done() {
        let rest = Rest { look: Duration::from_millis(1), part: 10, times: 3 };
        let (looks, most) = (std::cell::Cell::new(0_u32), Duration::from_secs(20));
        let worked_until = |end: u32| {
            looks.set(0);
            move |looks: u32| Duration::from_millis(u64::from(looks.min(end)))
        };
        for end in [0, 1, 5] {
            let worked = worked_until(end);
            let look = || worked(looks.replace(looks.get() + 1));
            assert!(rest.of(look, most));
            assert_eq!(looks.get(), end + 1 + rest.times, "work until look {end}");
        }
        let always = worked_until(u32::MAX);
        assert!(!rest.of(|| always(looks.replace(looks.get() + 1)), Duration::from_millis(20)));
    }

    #[test]
    fn a_moment_is_never_met_early() {
        let moment = Instant::now() + Duration::from_millis(3);
        wait_until(moment);
        assert!(Instant::now() >= moment);
        wait_until(moment); // one that has passed is no wait
    }
}
