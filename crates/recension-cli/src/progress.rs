//! A progress bar on standard error, for people only: if it is not a terminal, nothing is drawn.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::rc::Rc;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use recension::EraseProgress;

/// The progress of a long command.
pub struct Progress {
    bar: ProgressBar,
    bytes: Rc<Cell<u64>>,
    asked: Cell<u64>,
}

impl Progress {
    /// Progress through an input of `len` bytes, if the length is known (a file).
    pub fn of_bytes(len: Option<u64>, quiet: bool) -> Self {
        let template = match len {
            Some(_) => "{bar:30} {percent:>3}%  {bytes} of {total_bytes}  {msg}  {eta} left",
            None => "{spinner} {bytes}  {msg}  {elapsed}",
        };
        Progress::start(len, template, quiet)
    }

    /// Progress of `len` steps, such as documents.
    pub fn of_documents(len: Option<u64>, quiet: bool) -> Self {
        let template = match len {
            Some(_) => "{bar:30} {percent:>3}%  {human_pos} of {human_len} documents  {msg}  {eta} left",
            None => "{spinner} {human_pos} documents  {msg}  {elapsed}",
        };
        Progress::start(len, template, quiet)
    }

    /// Progress of a command that takes disk and gives it back.
    pub fn of_disk(quiet: bool) -> Self {
        Progress::start(None, "{spinner} {bytes} on disk  {elapsed}", quiet)
    }

    /// Progress of a search through the keys of a collection.
    pub fn of_trees(quiet: bool) -> Self {
        Progress::start(None, "{spinner} {human_pos} keys  {msg}  {elapsed}", quiet)
    }

    /// Shows how far the search is.
    pub fn show_trees(&self, now: EraseProgress) {
        self.bar.set_position(now.keys);
        self.bar.set_message(format!("{} of {} trees", now.trees_done, now.trees));
    }

    fn start(len: Option<u64>, template: &str, quiet: bool) -> Self {
        let bar = len.map_or_else(ProgressBar::new_spinner, ProgressBar::new);
        if quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress { bar, bytes: Rc::default(), asked: Cell::new(0) }
    }

    /// `reader`, with a count of the bytes read.
    pub fn count<R: Read>(&self, reader: R) -> Counted<R> {
        Counted { reader, bytes: Rc::clone(&self.bytes) }
    }

    /// Starts again: the input is read once more from its beginning.
    pub fn again(&self) {
        self.bytes.set(0);
        self.bar.set_position(0);
    }

    /// Shows the number of bytes so far, and of documents.
    pub fn show_bytes(&self, documents: u64) {
        // This is called for each document, and would cost more than most of them.
        self.asked.set(self.asked.get() + 1);
        if !self.asked.get().is_multiple_of(256) {
            return;
        }
        self.bar.set_position(self.bytes.get());
        self.bar.set_message(format!("{} documents  {}", HumanCount(documents), self.rate(documents)));
    }

    fn rate(&self, documents: u64) -> String {
        let seconds = self.bar.elapsed().as_secs_f64().max(0.001);
        #[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a rate to look at")]
        let rate = (documents as f64 / seconds) as u64;
        format!("{}/s", HumanCount(rate))
    }

    /// Shows how many documents are done.
    pub fn show_documents(&self, documents: u64) {
        self.bar.set_position(documents);
        // The message costs more than the count, so it is made only now and then.
        if documents.is_multiple_of(512) {
            self.bar.set_message(self.rate(documents));
        }
    }

    /// Shows how many documents of all are done.
    pub fn show_documents_of(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        self.bar.set_message(self.rate(done));
    }

    /// Shows how many bytes are done.
    pub fn show_position(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Shows how many bytes of all are done.
    pub fn show_copied(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Shows how many bytes there are on disk.
    pub fn show_disk(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    /// A line above the bar.
    pub fn line(&self, text: &str) {
        // Standard error may be closed. That is no reason to stop.
        self.bar.suspend(|| drop(writeln!(io::stderr(), "{text}")));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A reader that counts its bytes.
pub struct Counted<R> {
    reader: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.bytes.set(self.bytes.get() + read as u64);
        Ok(read)
    }
}
