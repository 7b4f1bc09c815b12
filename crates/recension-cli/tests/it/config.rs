//! What `recension config` says `serve` would do.

use crate::common::Place;

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

#[test]
fn the_service_of_the_package_starts_what_its_configuration_says() {
    const UNIT: &str = include_str!("../../../../packaging/recension.service");
    let configuration = include_str!("../../../../packaging/recension.toml");
    let setting = |name: &str| UNIT.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let place = Place::new();
    let file = place.file("recension.toml", configuration);
    let command = setting("ExecStart").unwrap().replace("/etc/recension/recension.toml", &file);
    let mut words = command.split_whitespace();
    assert_eq!(words.next(), Some("/usr/bin/recension"));
    assert_eq!(words.next(), Some("serve"));
    let output = place.command(&[&["config"], &words.collect::<Vec<_>>()[..]].concat()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The folder that the unit makes for it, and is allowed to write to.
    let state = format!("store = \"/var/lib/{}/", setting("StateDirectory").unwrap());
    assert!(text.contains(&state), "{text}");
    assert!(text.contains("listen = \"127.0.0.1:5984\""), "{text}");
}
