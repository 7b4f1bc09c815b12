//! Every case of the contract suite on every engine, each a line of its own in the results.
//!
//! A binary of its own: it makes its list of tests as it runs (`harness = false`).

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use recension_conformance::suite::{CASES, EngineFactory, engines};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for engine in engines::every() {
        let engine: Arc<dyn EngineFactory> = engine.into();
        for (name, case) in CASES {
            let (name, engine) = (format!("{}: {name}", engine.name()), engine.clone());
            // A panic is the case's failure; the runner catches it.
            trials.push(Trial::test(name, move || {
                case(&*engine);
                Ok(())
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}
