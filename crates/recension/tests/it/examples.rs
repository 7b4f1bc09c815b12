//! The examples run to their ends; each checks what it prints.
#![allow(unreachable_pub)] // their `main` is one

#[path = "../../examples/attachments.rs"]
mod attachments;
#[path = "../../examples/first_steps.rs"]
mod first_steps;
#[path = "../../examples/goget.rs"]
mod goget;
#[path = "../../examples/larger_than_memory.rs"]
mod larger_than_memory;
#[path = "../../examples/live_changes.rs"]
mod live_changes;
#[path = "../../examples/migration.rs"]
mod migration;
#[path = "../../examples/proposal.rs"]
mod proposal;
#[path = "../../examples/time_travel.rs"]
mod time_travel;
#[path = "../../examples/transactions.rs"]
mod transactions;

#[test]
fn the_first_steps_run() {
    first_steps::main().unwrap();
}

#[test]
fn attachments_come_and_go_and_are_brought_back() {
    attachments::main().unwrap();
}

#[test]
fn a_shopping_list_is_kept() {
    goget::main().unwrap();
}

#[test]
fn more_than_fits_into_memory_is_kept() {
    larger_than_memory::main().unwrap();
}

#[test]
fn changes_are_followed() {
    live_changes::main().unwrap();
}

#[test]
fn documents_of_the_first_release_are_migrated() {
    migration::main().unwrap();
}

#[test]
fn what_a_program_did_on_a_branch_is_taken_over_only_after_a_person_has_looked() {
    let mut shown = String::new();
    let mut look = |text: &str, answer| {
        shown.push_str(text);
        answer
    };
    assert!(!proposal::run(|text| look(text, false)).unwrap());
    assert!(shown.contains("menu/pizza/price: 9 -> 10\nmenu/soup/price: 5 -> 6\n0 in conflict"), "{shown}");
    assert!(proposal::run(|_| true).unwrap());
    // Nobody is to be asked in a test.
    if !std::io::IsTerminal::is_terminal(&std::io::stdin()) {
        proposal::main().unwrap();
    }
}

#[test]
fn the_past_is_read_compared_and_restored() {
    time_travel::main().unwrap();
}

#[test]
fn money_is_neither_made_nor_lost() {
    transactions::main().unwrap();
}

/// What is read in one thread can be handed to another.
#[test]
fn stores_and_iterators_can_be_sent_between_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<recension::Store>();
    shared::<recension::Collection>();
    shared::<recension::CollectionAt>();
    sent::<recension::Documents>();
    sent::<recension::Found>();
    sent::<recension::History>();
    sent::<recension::Follow>();
    sent::<recension::CollectionDiff>();
}
