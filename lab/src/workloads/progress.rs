//! Progress: the present measurement, and the remaining time. A bar on a terminal, a line for each operation elsewhere.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::measure::stats::as_f64;

/// Below this share of the run, the remaining time is not estimated.
const TOLD_FROM: f64 = 0.02;

/// The progress of a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    said: String,
    sitting: String,
    begin: Instant,
    units: u64,
    done: Cell<u64>,
}

impl Progress {
    /// The progress of a run of this many units.
    pub fn new(units: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(units);
            // The template is constant. If it were wrong, the default would be used.
            let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {percent:>3} %, {eta} left  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.enable_steady_tick(std::time::Duration::from_millis(500));
            bar
        });
        Progress { bar, said: String::new(), sitting: String::new(), begin: Instant::now(), units, done: Cell::new(0) }
    }

    /// Prints nothing.
    pub fn silent() -> Self {
        Progress {
            bar: Some(ProgressBar::hidden()),
            said: String::new(),
            sitting: String::new(),
            begin: Instant::now(),
            units: 0,
            done: Cell::new(0),
        }
    }

    /// Sets the present sitting, if there are several.
    pub fn sitting(&mut self, which: usize, of: usize) {
        if of > 1 {
            self.sitting = format!("sitting {which} of {of}, ");
        }
    }

    /// Sets the present measurement.
    pub fn at(&mut self, operation: &str, subject: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("{}{operation}: {subject}", self.sitting)),
            None if self.said != operation => {
                operation.clone_into(&mut self.said);
                let left = left(self.begin.elapsed(), self.done.get(), self.units);
                let left = left.map(|left| format!("  (about {} s left)", left.as_secs())).unwrap_or_default();
                // If nobody reads the progress, the run goes on.
                let _ = writeln!(io::stderr(), "  {}{operation}{left}", self.sitting);
            }
            None => {}
        }
    }

    /// Units are done.
    pub fn done(&self, units: u64) {
        self.done.set(self.done.get() + units);
        if let Some(bar) = &self.bar {
            bar.inc(units);
        }
    }

    /// The end.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The remaining time, if it goes on at the same speed.
fn left(elapsed: Duration, done: u64, units: u64) -> Option<Duration> {
    let share = as_f64(usize::try_from(done).ok()?) / as_f64(usize::try_from(units).ok().filter(|units| *units > 0)?);
    (share >= TOLD_FROM).then(|| elapsed.mul_f64((1.0 / share - 1.0).max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_from_what_is_done() {
        let ten = Duration::from_secs(10);
        for (done, units, expected) in [
            (0, 100, None),
            (1, 100, None),
            (25, 100, Some(30)),
            (50, 100, Some(10)),
            (100, 100, Some(0)),
            (150, 100, Some(0)),
            (5, 0, None),
        ] {
            assert_eq!(left(ten, done, units).map(|left| left.as_secs()), expected, "{done} of {units}");
        }
    }
}
