//! The examples run to their ends.

#[path = "../examples/first_steps.rs"]
mod first_steps;

#[test]
fn the_first_steps_run() {
    first_steps::main().unwrap();
}

/// What is read in one thread can be handed to another.
#[test]
fn stores_and_iterators_can_be_sent_between_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    shared::<recension::document::Store>();
    shared::<recension::document::Collection>();
    shared::<recension::document::CollectionAt>();
    sent::<recension::document::Documents>();
    sent::<recension::document::Found>();
    sent::<recension::document::History>();
}
