//! Logs and the engine over them: in memory, in a folder, and on real systems, which are started once, on loopback, and
//! stopped at the end whatever happened. The tests of a system that is not installed fail, and say what to install.

mod behind;
mod caches;
mod contract;
mod faults;
mod formats;
mod moving;
mod network;
mod nodes;
mod project;
mod rights;
mod servers;
mod suite;
mod support;
mod went_back;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};
use support::System;

fn trial(name: String, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let is_server = |system: &str| !["memory", "folder"].contains(&system);
    let wanted = |system: &str| {
        let asked = arguments.filter.as_deref().is_none_or(|filter| filter.starts_with(system));
        !is_server(system) || (asked && !arguments.list)
    };
    let mut trials = Vec::new();
    let on_memory =
        [behind::ON_MEMORY, caches::TESTS, faults::TESTS, formats::TESTS, moving::TESTS, went_back::ON_MEMORY];
    for (name, test) in on_memory.into_iter().flatten() {
        trials.push(trial(format!("engine: {name}"), *test));
    }
    let (systems, running) = servers::start(&wanted);
    for system in systems {
        match system {
            Ok(system) => trials.extend(trials_of(&Arc::new(system))),
            Err(servers::Missing { system, why }) => {
                trials.push(Trial::test(format!("{system}: is installed"), move || Err(why.into())));
            }
        }
    }
    let outcome = libtest_mimic::run(&arguments, trials);
    drop(running);
    outcome.exit_code()
}

/// Everything that is tried on one system.
fn trials_of(system: &Arc<System>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, test) in suite::TESTS {
        let system = system.clone();
        trials.push(trial(format!("{}: {name}", system.name), move || test(&system)));
    }
    for (name, test) in [nodes::TESTS, behind::TESTS, went_back::TESTS].into_iter().flatten() {
        let system = system.clone();
        trials.push(trial(format!("{}: {name}", system.name), move || test(&system)));
    }
    if system.address.is_some() {
        let system = system.clone();
        let name = format!("{}: what_is_lost_on_the_way_loses_nothing", system.name);
        trials.push(trial(name, move || network::what_is_lost_on_the_way_loses_nothing(&system)));
    }
    if system.tls_address.is_some() && system.name != "etcd" {
        let system = system.clone();
        trials.push(trial(format!("{}: tls_is_checked", system.name), move || network::tls_is_checked(&system)));
    }
    if project::Client::of(system).is_some() {
        for (name, test) in [
            (
                "passwords_are_checked_and_not_repeated",
                network::passwords_are_checked_and_not_repeated as crate::support::Test,
            ),
            ("documents_are_rows", project::documents_are_rows),
            ("the_least_rights_are_enough", rights::the_least_rights_are_enough),
        ] {
            let system = system.clone();
            trials.push(trial(format!("{}: {name}", system.name), move || test(&system)));
        }
    }
    if system.name == "etcd" {
        let system = system.clone();
        let name = "etcd: tls_is_checked_and_a_role_of_one_prefix_is_enough".to_owned();
        trials.push(trial(name, move || rights::a_role_of_one_prefix_is_enough(&system)));
    }
    if !system.members.is_empty() {
        let system = system.clone();
        let name = format!("{}: a_member_that_is_killed_stops_nobody", system.name);
        trials.push(trial(name, move || network::a_member_that_is_killed_stops_nobody(&system)));
    }
    if system.with_contract {
        trials.extend(contract::trials(system));
    }
    trials
}
