//! Three nodes, each a process of its own, write to one log while nodes and servers are killed and stopped, networks
//! part, disks are full and clocks are stepped. After each round: nothing that was acknowledged is lost, nothing is
//! there twice, all have the same, what was read fresh was fresh, and feeds are whole. `RECENSION_ROUNDS` is the number
//! of rounds (10; `make attack` takes 100, with longer stops), `RECENSION_SEED` chooses who is struck.

#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "../it/servers.rs"]
mod servers;
#[allow(dead_code, reason = "the other tests use the rest of it")]
#[path = "../it/support.rs"]
mod support;

mod galera;
mod history;
mod node;
mod processes;
mod proxy;
mod rounds;
mod systems;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// What makes this program a node.
const NODE: &str = "RECENSION_TEST_NODE";

fn main() -> ExitCode {
    if let Ok(arguments) = std::env::var(NODE) {
        node::run(&arguments);
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let mut trials = vec![trial("history: lies_are_found".to_owned(), history::tests::lies_are_found)];
    for (name, start) in [("postgresql", systems::postgres as systems::Start), ("etcd", systems::etcd)] {
        trials.push(Trial::test(format!("{name}: rounds_of_faults_lose_nothing"), move || {
            rounds::rounds_of_faults_lose_nothing(start()?);
            Ok(())
        }));
    }
    trials.push(Trial::test("galera: a_member_that_is_killed_stops_nobody", || {
        galera::a_member_that_is_killed_stops_nobody(galera::start()?);
        Ok(())
    }));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(name: String, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
