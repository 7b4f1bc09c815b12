//! The tables of docs/src/compatibility.md: whatever they say that there is, the last column names what proves it:
//! recordings of CouchDB, a client's script, or `module::test`. Files are looked for by `pointers.rs`, tests here.

use crate::{Finding, Source};

/// The page.
const PAGE: &str = "docs/src/compatibility.md";

/// The findings of this rule.
pub fn findings(sources: &[Source]) -> Vec<Finding> {
    let Some(page) = sources.iter().find(|source| source.path == PAGE) else { return Vec::new() };
    let mut found = Vec::new();
    let mut header = true;
    for (at, line) in page.text.lines().enumerate() {
        if !line.starts_with('|') {
            header = true;
            continue;
        }
        // The head of a table, and the line below it.
        if std::mem::take(&mut header) || line.starts_with("|--") {
            continue;
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, _, _, says, proof, _] = cells.as_slice() else {
            let what = "a row has four cells: endpoint, methods, what there is, and the tests that prove it";
            found.push(Finding::at("compatibility", PAGE, at + 1, what));
            continue;
        };
        let named: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        if named.is_empty() && *says != "no" {
            let what = "the row names no test that proves it";
            found.push(Finding::at("compatibility", PAGE, at + 1, what));
        }
        for test in named.iter().filter(|name| name.contains("::") && !is_there(name, sources)) {
            let what = format!("there is no test `{test}`; name what is there now");
            found.push(Finding::at("compatibility", PAGE, at + 1, what));
        }
    }
    found
}

/// Whether a test binary has the test of a module.
fn is_there(name: &str, sources: &[Source]) -> bool {
    let Some((module, test)) = name.split_once("::") else { return false };
    let (file, function) = (format!("/tests/it/{module}.rs"), format!("fn {test}("));
    sources.iter().any(|source| source.path.ends_with(&file) && source.text.contains(&function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_test_that_is_there_is_found() {
        let source = |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let test = source("crates/x/tests/it/lists.rs", "#[test]\nfn they_list() {}\n");
        let found = |row: &str| {
            let text = format!("| endpoint | methods | | tests |\n|---|---|---|---|\n{row}\n");
            findings(&[source(PAGE, &text), test.clone()]).len()
        };
        assert_eq!(found("| `/a` | GET | yes | `lists::they_list` |"), 0);
        assert_eq!(found("| `/a` | GET | yes | `couchdb/lists.json` |"), 0);
        assert_eq!(found("| `/a` | | no | |"), 0);
        assert_eq!(found("| `/a` | GET | yes | |"), 1);
        assert_eq!(found("| `/a` | GET | yes |"), 1);
        assert_eq!(found("| `/a` | GET | yes | `lists::they_do_not` |"), 1);
    }
}
