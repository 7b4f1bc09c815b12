//! What was observed on the two existing servers of Apocrypha, over a socket: one test a case and dialect, from
//! conformance/apocrypha/cases.json, which says how it is to be read.

// A binary of its own: its harness makes a test of each recorded case.
#[path = "it/commanded/mod.rs"]
mod commanded;

use commanded::Commanded;
use libtest_mimic::{Arguments, Failed, Trial};
use recension_apocrypha::Dialect;
use serde_json::Value;

const CASES: &str = include_str!("../../../conformance/apocrypha/cases.json");

fn main() {
    let arguments = Arguments::from_args();
    let cases: Value = serde_json::from_str(CASES).unwrap();
    let mut trials = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        let initial = match case["initial"].as_str() {
            Some(fixture) => &cases["fixtures"][fixture],
            None => &case["initial"],
        };
        for dialect in case["dialects"].as_array().unwrap() {
            let dialect: Dialect = dialect.as_str().unwrap().parse().unwrap();
            let (case, initial) = (case.clone(), initial.to_string());
            let name = format!("{}: {}", dialect.name, case["id"].as_str().unwrap());
            trials.push(Trial::test(name, move || run(&case, &initial, dialect)));
        }
    }
    assert!(trials.len() > 100, "the cases are not all there");
    libtest_mimic::run(&arguments, trials).exit();
}

fn run(case: &Value, initial: &str, dialect: Dialect) -> Result<(), Failed> {
    let served = Commanded::start(dialect);
    served.load(initial);
    let mut client = served.client();
    for step in case["steps"].as_array().unwrap() {
        let words: Vec<&str> = step["query"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let reply = client.ask(&words);
        let lines: Vec<&str> = reply.split('\n').filter(|line| !line.is_empty()).collect();
        let holds = match &step["expect"] {
            Value::Null => true,
            Value::String(_) => reply.starts_with("error: "),
            expected => *expected == serde_json::json!(lines),
        };
        if !holds {
            return Err(format!("{words:?} was answered {lines:?}, not {}", step["expect"]).into());
        }
    }
    for pair in case["expect_at"].as_array().unwrap() {
        let path: Vec<&str> = pair[0].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let shown = client.ask(&[&path[..], &["--edit"]].concat());
        let found: Value = serde_json::from_str(&shown)?;
        // What is missing is shown as the empty object.
        let expected = if pair[1].is_null() { serde_json::json!({}) } else { pair[1].clone() };
        if found != expected {
            return Err(format!("{path:?} is {found}, not {expected}").into());
        }
    }
    Ok(())
}
