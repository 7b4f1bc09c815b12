//! Clients that people use, in Node, against the real `recension serve`: one test a file of conformance/clients,
//! which fails with any test of it. `make test` installs the packages: `npm ci` in that folder.

use std::path::Path;
use std::process::Command;

fn run(file: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/clients");
    assert!(
        folder.join("node_modules/pouchdb").exists(),
        "the packages are not installed: run scripts/node-packages, or `npm ci --ignore-scripts` in {}",
        folder.display()
    );
    let output = Command::new("node")
        .args(["--test", "--test-reporter=tap", file])
        .current_dir(&folder)
        .env("RECENSION_BINARY", env!("CARGO_BIN_EXE_recension"))
        .output()
        .expect("node is installed");
    let text = String::from_utf8_lossy(&output.stdout);
    let passed = text.lines().filter(|line| line.trim_start().starts_with("ok ")).count();
    assert!(output.status.success() && passed > 0, "{text}{}", String::from_utf8_lossy(&output.stderr));
}

macro_rules! files {
    ($($test:ident: $file:literal),*) => {
        const FILES: &[&str] = &[$($file),*];
        $(#[test] fn $test() { run($file); })*
    };
}

#[test]
fn no_file_is_left_out() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/clients");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    // Redis clients have a module of their own.
    let tests = names.filter(|name| name.ends_with(".test.js") && name != "ioredis.test.js");
    let left_out: Vec<String> = tests.filter(|name| !FILES.contains(&name.as_str())).collect();
    assert!(left_out.is_empty(), "files without a line here: {left_out:?}");
}

files! {
    pouchdb_syncs_with_conflicts_and_attachments_and_through_kills: "pouchdb.test.js",
    pouchdb_syncs_with_a_branch_which_is_merged: "branches.test.js",
    pouchdb_syncs_through_any_of_three_servers_and_a_balancer: "cluster.test.js",
    servers_that_replicate_and_pouchdb_agree: "replication.test.js",
    replicas_of_limited_users_have_what_they_may_read: "access.test.js",
    fauxton_browses_edits_queries_and_replicates: "fauxton.test.js",
    views_and_functions_serve_nano_pouchdb_and_an_application: "views.test.js",
    nano_reads_and_writes: "nano.test.js",
    the_console_in_chromium: "console.test.js",
    the_consoles_pages_of_the_server_in_chromium: "console-server.test.js",
    the_consoles_other_forms_in_chromium: "console-forms.test.js",
    the_consoles_branches_in_chromium: "console-branches.test.js",
    the_page_that_make_run_ends_with: "walkthrough.test.js",
    pouchdbs_find_plugin_and_nano_query: "find.test.js",
    what_couchdb_lacks_and_what_nobody_should_send_is_answered: "beyond.test.js"
}
