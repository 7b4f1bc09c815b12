//! A worker alone, for tests and for programs that embed the library: the `recension` program is one itself.

fn main() -> std::process::ExitCode {
    match recension_script::run_worker() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}
