//! Every rule on every file of this repository. `RECENSION_TIDY=rewrite` writes `allowed.txt` anew, for moves of files:
//! look at what changes in it, it must not grow.

use std::path::Path;

use recension_tidy::allowed::Allowed;
use recension_tidy::{findings, paths, sources};

const HEAD: &str = "\
# What is older than a rule of crates/recension-tidy: `RULE SUBJECT: REASON`. It can only shrink: an entry that nothing
# needs any more fails the test as well. If files move, RECENSION_TIDY=rewrite writes it anew.
";

#[test]
fn a_reader_stumbles_on_nothing() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = here.join("allowed.txt");
    let allowed = Allowed::parse(&std::fs::read_to_string(&list).unwrap()).unwrap();
    let root = here.join("../..");
    let (sources, paths) = (sources(&root).unwrap(), paths(&root).unwrap());
    assert!(sources.iter().any(|source| source.path == "crates/recension-tidy/tests/tidy.rs"));
    let found = findings(&sources, &paths, &allowed);
    if std::env::var("RECENSION_TIDY").is_ok_and(|wish| wish == "rewrite") {
        std::fs::write(&list, format!("{HEAD}{}", allowed.rewritten(&found, "older than the rule"))).unwrap();
        return;
    }
    let faults = allowed.judge(&found);
    assert!(faults.is_empty(), "{} findings:\n{}", faults.len(), faults.join("\n"));
}
