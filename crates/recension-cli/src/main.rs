//! The `recension` binary: the command line and nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    recension_cli::main()
}
