//! A program that is only a worker, for tests and for programs that embed the library. The `recension` program is its
//! own worker.

fn main() -> std::process::ExitCode {
    match recension_script::run_worker() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}
