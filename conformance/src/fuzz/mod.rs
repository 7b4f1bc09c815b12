//! Fuzz targets as plain functions over bytes. Each has an oracle, and panics if the oracle is violated.
//! `it/fuzz_corpus` runs them on stable Rust, on a stored corpus and seeded mutations of it. cargo-fuzz runs them
//! from `conformance/fuzz`.

mod apocrypha;
mod condition;
mod edits;
mod forge;
mod gateway;
mod golden;
mod json;
mod keys;
mod mutate;
mod query;
mod resp;
mod rows;
mod store;
mod words;

pub use forge::{forge_manifest, forge_run, forge_segment, forge_settled};
pub use golden::{GOLDEN, GOLDEN_SETTLED, golden_disk, golden_model, golden_settled_disk, golden_settled_model};
pub use mutate::mutate;

/// A fuzz target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name, which is also the name of its folder in the corpus.
    pub name: &'static str,
    /// Runs it on an input. A panic is a finding.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: [Target; 19] = [
    Target { name: "apocrypha", run: apocrypha::session },
    Target { name: "condition", run: condition::condition },
    Target { name: "environment", run: gateway::environment },
    Target { name: "fcgi", run: gateway::fcgi },
    Target { name: "keys", run: keys::keys },
    Target { name: "log", run: store::log },
    Target { name: "run", run: store::run },
    Target { name: "manifest", run: store::manifest },
    Target { name: "settled", run: store::settled },
    Target { name: "json", run: json::json },
    Target { name: "path", run: query::path },
    Target { name: "query", run: query::query },
    Target { name: "selector", run: query::selector },
    Target { name: "pipeline", run: query::pipeline },
    Target { name: "words", run: words::words },
    Target { name: "remote", run: recension_remote::fuzz::messages },
    Target { name: "resp", run: resp::resp },
    Target { name: "rows", run: rows::rows },
    Target { name: "scgi", run: gateway::scgi },
];

/// Runs the target of that name.
///
/// # Panics
/// If the target's oracle is violated, or there is no such target.
pub fn run_target(name: &str, input: &[u8]) {
    match TARGETS.iter().find(|target| target.name == name) {
        Some(target) => (target.run)(input),
        None => panic!("no fuzz target is called {name}"),
    }
}
