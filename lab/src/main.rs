//! The laboratory's program; everything is in the library.

fn main() -> std::process::ExitCode {
    recension_lab::cli::main()
}
