//! Printing. If the reader closes the output (`recension-lab doctor | head`), the printing ends, which is not a
//! failure.

use std::fmt;
use std::io::{self, Write};

use crate::error::{LabError, Result};

/// Prints as `print!` does. If nobody reads, it returns an error instead of a panic.
pub fn print(text: fmt::Arguments<'_>) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_fmt(text).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => LabError::ClosedPipe,
        _ => LabError::io("writing the output")(error),
    })
}

/// The same of a line, as `println!`.
macro_rules! say {
    ($($text:tt)*) => {
        $crate::output::print(format_args!("{}\n", format_args!($($text)*)))
    };
}
pub(crate) use say;
