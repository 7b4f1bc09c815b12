//! The short form of the attacks of `conformance/attacks`, each as a test. `make attack` runs the long form.

use std::process::Command;

/// Runs an attack and fails with what it printed.
fn attack(name: &str) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/attacks/run.py");
    let binary = env!("CARGO_BIN_EXE_recension");
    let done = Command::new("python3").args([script, "--binary", binary, name]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    // A name that no attack begins with has shown nothing.
    assert!(said.contains(" attacks, 0 failures") && !said.contains("\n0 attacks"), "{said}");
}

#[test]
fn what_was_acknowledged_survives_kill_9_among_writers() {
    attack("kill");
}

#[test]
fn commands_that_are_killed_leave_nothing_half_done() {
    attack("commands");
}

#[test]
fn damage_to_any_kind_of_file_is_an_error_or_changes_no_answer() {
    attack("damage");
}

#[test]
fn lists_and_feeds_that_nobody_reads_stay_within_the_bound_of_memory() {
    attack("memory");
}

#[test]
fn rights_that_are_taken_away_end_open_feeds() {
    attack("rights");
}

#[test]
fn hostile_http_takes_nothing_from_others() {
    attack("hostile");
}

#[test]
fn a_full_disk_loses_nothing() {
    attack("full");
}

#[test]
fn a_loss_of_power_loses_nothing() {
    attack("power");
}

#[test]
fn clients_that_do_not_read_do_not_take_the_memory_of_others() {
    attack("pressure");
}

#[test]
fn a_limited_user_reads_and_writes_nothing_that_the_rule_hides() {
    attack("limited");
}

#[test]
fn logs_that_go_back_and_damaged_backups_are_noticed() {
    attack("older");
}
