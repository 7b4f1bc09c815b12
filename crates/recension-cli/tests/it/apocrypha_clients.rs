//! Clients in Python against the real `recension apocrypha`: our own (clients/python), and the existing one as it is on
//! `PyPI`, which `scripts/python-packages` installs.

use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn run(folder: &Path, file: &str) {
    let output = Command::new("python3")
        .args(["-B", "-W", "error::SyntaxWarning", file, "-v"])
        .current_dir(folder)
        .env("RECENSION_BINARY", env!("CARGO_BIN_EXE_recension"))
        .output()
        .expect("python3 is installed");
    let text = String::from_utf8_lossy(&output.stderr);
    let passed = text.lines().filter(|line| line.ends_with("... ok")).count();
    assert!(output.status.success() && passed > 5, "{text}");
}

#[test]
fn our_own_client_reads_writes_and_loses_nothing() {
    run(&repository().join("clients/python/tests"), "test_client.py");
}

#[test]
fn the_existing_client_works_as_it_is() {
    let folder = repository().join("conformance/apocrypha/pypi");
    assert!(
        folder.join("packages/apocrypha").exists(),
        "the existing client is not installed: run scripts/python-packages"
    );
    run(&folder, "test_original_client.py");
}
