//! What the crate switches on in a program that uses it.

use std::fs;
use std::path::Path;

/// Cargo switches a feature on for everybody in a program once one crate asks for it.
#[test]
fn no_feature_of_serde_json_is_switched_on_for_other_crates() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let line = |file: &Path, section: &str| {
        let text = fs::read_to_string(file).unwrap();
        let (_, rest) = text.split_once(&format!("\n[{section}]\n")).unwrap();
        let of_section = rest.split("\n[").next().unwrap();
        of_section.lines().find(|line| line.starts_with("serde_json")).unwrap().to_owned()
    };
    assert_eq!(line(&root.join("../../Cargo.toml"), "workspace.dependencies"), "serde_json = \"1\"");
    assert_eq!(line(&root.join("Cargo.toml"), "dependencies"), "serde_json = { workspace = true, optional = true }");
    let own = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert!(!own.contains("\"serde_json/"), "a feature of the crate switches one of serde_json on");
}
