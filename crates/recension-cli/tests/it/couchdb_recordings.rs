//! What Apache CouchDB 3.4.3 answered (conformance/couchdb, its FORMAT.md), asked of the real `recension serve`: one
//! test an area, which fails with any step.

use std::process::Command;

use crate::common::served::Served;

fn replay(area: &str) {
    let served = Served::start();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/tools/replay.py");
    let recordings = format!("{}/../../conformance/couchdb/{area}.json", env!("CARGO_MANIFEST_DIR"));
    let output =
        Command::new("python3").args([script, &served.url, "--user", "adm:pass", &recordings]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let passed: u32 = text.lines().last().and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0);
    assert!(output.status.success() && passed > 0, "{text}{}", String::from_utf8_lossy(&output.stderr));
}

macro_rules! areas {
    ($($test:ident: $area:literal),*) => { $(#[test] fn $test() { replay($area); })* };
}

areas! {
    the_server_answers_as_couchdb: "server",
    documents_answer_as_couchdbs: "documents",
    attachments_answer_as_couchdbs: "attachments",
    revisions_answer_as_couchdbs: "revisions",
    revision_ids_are_couchdbs: "rev-vectors",
    bulk_writes_answer_as_couchdbs: "bulk",
    lists_of_documents_answer_as_couchdbs: "all_docs",
    databases_answer_as_couchdbs: "database",
    queries_answer_as_couchdbs: "mango",
    feeds_of_changes_answer_as_couchdbs: "changes",
    purges_answer_as_couchdbs: "purge",
    access_is_granted_and_refused_as_by_couchdb: "auth",
    replications_answer_as_couchdbs: "replication",
    views_answer_as_couchdbs: "views",
    partitions_answer_as_couchdbs: "partitioned",
    validation_functions_answer_as_couchdbs: "validation",
    update_functions_answer_as_couchdbs: "update-functions"
}
