//! The examples run to their ends.

#[path = "../examples/first_steps.rs"]
mod first_steps;

#[test]
fn the_first_steps_run() {
    first_steps::main().unwrap();
}
