//! The engine contract on the engine over each system.

use std::sync::Arc;

use libtest_mimic::Trial;
use recension_conformance::suite::engines::Replicated;
use recension_conformance::suite::{CASES, EngineFactory};

use crate::support::System;
use crate::trial;

/// Every case of the contract.
pub(crate) fn trials(system: &Arc<System>) -> Vec<Trial> {
    let of_system = system.clone();
    let make = move |_: &std::path::Path| (of_system.open)(&of_system.fresh_name());
    let factory: Arc<dyn EngineFactory> = Arc::new(Replicated::over(system.name, Box::new(make)));
    CASES
        .iter()
        .map(|(name, case)| {
            let factory = factory.clone();
            trial(format!("{}: contract: {name}", system.name), move || case(&*factory))
        })
        .collect()
}
