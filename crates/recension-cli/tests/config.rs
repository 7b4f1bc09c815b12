//! What `recension config` says `serve` would do.

mod common;

use common::Place;

#[test]
fn a_store_that_is_named_wins_over_the_files_and_the_files_over_the_default() {
    let place = Place::new();
    let with = place.file("with.toml", "store = \"of-the-file.store\"\n");
    let without = place.file("without.toml", "");
    for (args, store) in [
        (vec!["config", "--config", &with], "of-the-file.store"),
        (vec!["config", "--config", &without], "recension.store"),
        (vec!["config", "--config", &with, "--store", "named.store"], "named.store"),
        // Also where the name is the default's.
        (vec!["config", "--config", &with, "--store", "recension.store"], "recension.store"),
        (vec!["config", "--config", &with, "named.store"], "named.store"),
    ] {
        let output = place.command(&args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("store = \"{store}\"\n")), "{args:?}: {text}");
    }
}
