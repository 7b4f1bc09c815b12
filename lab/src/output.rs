//! What the program prints. A reader that goes away (`recension-lab doctor | head`) ends the printing, and is no
//! failure.

use std::fmt;
use std::io::{self, Write};

use crate::error::{LabError, Result};

/// Prints as `print!` does, without its panic where nobody reads.
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
