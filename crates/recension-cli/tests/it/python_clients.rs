//! Clients from `PyPI`, and schemathesis on `/_openapi.json`, against the real `recension serve`.
//! `scripts/python-packages` installs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::served::Served;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/clients/python")
}

/// A program of the environment.
fn program(name: &str) -> Command {
    let path = folder().join(".venv/bin").join(name);
    assert!(path.exists(), "the packages are not installed: run scripts/python-packages");
    let mut command = Command::new(path);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("NO_COLOR", "1");
    command
}

fn passes(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn ibmcloudant_reads_and_writes_with_passwords_and_cookies() {
    let served = Served::start();
    let mut pytest = program("pytest");
    pytest.args(["-q", "-p", "no:cacheprovider", "test_cloudant.py"]).current_dir(folder());
    let text = passes(pytest.env("RECENSION_URL", &served.url));
    assert!(text.contains("passed"), "{text}");
}

#[test]
fn couchdb3_queries_reads_views_and_follows_feeds() {
    let served = Served::start();
    let mut pytest = program("pytest");
    pytest.args(["-q", "-p", "no:cacheprovider", "test_couchdb3.py"]).current_dir(folder());
    let text = passes(pytest.env("RECENSION_URL", &served.url));
    assert!(text.contains("passed"), "{text}");
}

/// Requests made from the description, sensible ones and nonsense, are answered as it says: with statuses that it
/// names, content types that it names, bodies of its schemas, and never with a failure of the server.
#[test]
fn what_the_description_says_holds_for_requests_that_are_made_from_it() {
    let served = Served::start();
    let url = served.url_of_admin();
    let curl = |args: &[&str]| passes(Command::new("curl").args(["-sS", "--fail-with-body"]).args(args));
    curl(&["-X", "PUT", &format!("{url}/fuzz?partitioned=true")]);
    curl(&["-X", "PUT", &format!("{url}/fuzz/p:1"), "-d", r#"{"v":1}"#]);
    let mut description: Value = serde_json::from_str(&curl(&[&format!("{url}/_openapi.json")])).unwrap();
    let paths = description["paths"].as_object_mut().unwrap();
    for (path, item) in &mut *paths {
        // Requests of one database that there is reach further than those of any.
        for parameter in item["parameters"].as_array_mut().unwrap() {
            let one_of = match parameter["name"].as_str().unwrap() {
                "db" => serde_json::json!(["fuzz"]),
                "node" => serde_json::json!(["_local"]),
                _ => continue,
            };
            parameter["schema"] = serde_json::json!({"enum": one_of});
        }
        let item = item.as_object_mut().unwrap();
        // What would drop the database or change who may do what ends the test for all others.
        match path.as_str() {
            "/{db}" => drop(item.remove("delete")),
            "/{db}/_security" | "/_node/{node}/_config/{section}/{setting}" => {
                item.remove("put");
                item.remove("delete");
            }
            // Feeds that wait are for other tests.
            "/{db}/_changes" | "/_db_updates" => {
                for operation in item.values_mut().filter(|operation| operation.is_object()) {
                    let query = operation["parameters"].as_array_mut().unwrap();
                    query.retain(|parameter| !matches!(parameter["name"].as_str(), Some("feed")));
                }
            }
            _ => {}
        }
    }
    paths.remove("/_session");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("openapi.json");
    std::fs::write(&file, description.to_string()).unwrap();
    let examples = if std::env::var_os("RECENSION_LONG").is_some() { "12" } else { "3" };
    let mut schemathesis = program("schemathesis");
    schemathesis
        .arg("run")
        .arg(&file)
        .args(["--url", &served.url, "--auth", "adm:pass", "--seed", "1", "--max-examples", examples])
        .args(["--phases", "examples,coverage,fuzzing", "--request-timeout", "10", "--no-shrink"])
        .args([
            "--checks",
            "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        ])
        .current_dir(dir.path());
    passes(&mut schemathesis);
    curl(&[&format!("{url}/_up")]);
}
