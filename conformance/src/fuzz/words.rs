//! Queries of words.
//!
//! Oracle: a query has the same results with an index of words and without, in each language, and by relevance too. A
//! text with marked words is the text with marks added.

use recension::{IndexSpec, Language, Query, Selector, Store, TextQuery};

use super::query::split;

/// A query in the first line, and texts of documents in the others.
pub(super) fn words(input: &[u8]) {
    let (asked, rest) = split(input, b'\n');
    let asked = String::from_utf8_lossy(asked);
    for language in [Language::Plain, Language::English] {
        let Ok(query) = TextQuery::new(&asked, language) else { return };
        let Ok(collection) = Store::memory().and_then(|store| store.collection("c")) else { return };
        for (nth, line) in rest.split(|&byte| byte == b'\n').take(10).enumerate() {
            let text = String::from_utf8_lossy(line);
            if let Some(marked) = query.highlight(&text, "", "", text.len() + 1) {
                assert_eq!(marked, text);
            }
            _ = query.highlight(&text, "<", ">", nth);
            let quoted = recension::json::quote(&text);
            _ = collection.put(&format!("{nth}"), format!("{{\"a\":{quoted},\"b\":[1,{{\"c\":{quoted}}}]}}"));
        }
        let query = Query::new().selecting(Selector::contains_text_in(["a", "b"], query));
        let answers = |query: &Query| -> Vec<String> {
            let Ok(found) = collection.find(query) else { return Vec::new() };
            let mut answers: Vec<String> =
                found.map_while(Result::ok).map(|document| document.id.to_string()).collect();
            answers.sort();
            answers
        };
        let by_scan = answers(&query);
        if collection.create_index(IndexSpec::words("w", ["a", "b"], language), |_| ()).is_ok() {
            assert_eq!(answers(&query), by_scan, "with an index, and without");
            assert_eq!(answers(&query.by_relevance()), by_scan, "by relevance, and without");
        }
    }
}
