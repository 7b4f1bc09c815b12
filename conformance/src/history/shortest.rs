//! Running a history on an engine, and making one that shows a difference as short as it gets.

use std::panic::AssertUnwindSafe;

use super::steps::steps;
use super::{Step, run};
use crate::suite::EngineFactory;

fn outcome(factory: &dyn EngineFactory, steps: &[Step]) -> Result<(), String> {
    let ran = std::panic::catch_unwind(AssertUnwindSafe(|| run(factory, steps)));
    ran.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(|&words| words.to_owned()));
        Err(format!("panic: {}", words.unwrap_or_default()))
    })
}

/// Runs the history of `seed` on the engine.
///
/// # Errors
/// The seed, the difference, and a short list of steps that shows one.
pub fn check(factory: &dyn EngineFactory, seed: u64) -> Result<(), String> {
    let mut steps = steps(seed);
    let Err(mut what) = outcome(factory, &steps) else { return Ok(()) };
    // Leaves out larger pieces first, then smaller ones, as long as it still fails.
    let mut piece = steps.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + piece).min(steps.len()));
            match outcome(factory, &fewer) {
                Err(still) => (steps, what) = (fewer, still),
                Ok(()) => at += piece,
            }
        }
        piece /= 2;
    }
    let shown: Vec<_> = steps.iter().enumerate().map(|(number, step)| format!("  {number}: {step:?}")).collect();
    Err(format!("{}, RECENSION_SEED={seed}: {what}\n{}", factory.name(), shown.join("\n")))
}
