//! What is being measured, and how long it will take: a bar on a terminal, a line an operation elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// The progress of a run.
pub struct Progress {
    bar: Option<ProgressBar>,
    said: String,
}

impl Progress {
    /// Of a run that takes so many units.
    pub fn new(units: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(units);
            // The template is constant; where it were wrong, the default would do.
            let style = ProgressStyle::with_template("{elapsed_precise} [{bar:30}] {percent:>3} %, {eta} left  {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.enable_steady_tick(std::time::Duration::from_millis(500));
            bar
        });
        Progress { bar, said: String::new() }
    }

    /// Says nothing.
    pub fn silent() -> Self {
        Progress { bar: Some(ProgressBar::hidden()), said: String::new() }
    }

    /// What is going on now.
    pub fn at(&mut self, operation: &str, subject: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("{operation}: {subject}")),
            None if self.said != operation => {
                operation.clone_into(&mut self.said);
                eprintln!("  {operation}");
            }
            None => {}
        }
    }

    /// Units are done.
    pub fn done(&self, units: u64) {
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
