//! The arguments of queries: paths, values, ranges.
//!
//! Oracle: a path that is read and written reads as the same path again. A value found in a text is JSON. A query has
//! the same results with an index and without. A selector that is written and read again selects the same documents.

use recension::json::{Path, minify};
use recension::{At, Collation, IndexSpec, Literal, Pipeline, Query, Selector, Store, ValueRange};

use super::edits::Source;

/// A path (up to the end of the first line), and a text to look into.
pub(super) fn path(input: &[u8]) {
    let (path, text) = split(input, b'\n');
    let Ok(path) = String::from_utf8_lossy(path).parse::<Path>() else { return };
    let written = path.to_string();
    assert_eq!(written.parse::<Path>().ok().as_ref(), Some(&path), "written as {written:?}");
    if let Ok(text) = minify(text) {
        if let Some(found) = path.find(&text) {
            assert_eq!(minify(found.as_bytes()).as_deref(), Ok(found), "found by {written:?} in {text}");
        }
    } else {
        // A text that is not JSON may give anything, but no panic.
        _ = path.find(&String::from_utf8_lossy(text));
    }
}

pub(super) fn split(input: &[u8], at: u8) -> (&[u8], &[u8]) {
    let end = input.iter().position(|&byte| byte == at).unwrap_or(input.len());
    (&input[..end], input.get(end + 1..).unwrap_or_default())
}

/// Documents, one in each line, and a query on their member `a`. The first line chooses the query.
pub(super) fn query(input: &[u8]) {
    let mut source = Source(input);
    let (kind, order) = (source.byte(), source.byte());
    let mut lines = source.0.split(|&byte| byte == b'\n');
    let mut literal = || Literal::json(lines.next().unwrap_or_default()).ok();
    let (Some(first), Some(second)) = (literal(), literal()) else { return };
    let range = match kind % 7 {
        0 => ValueRange::equal(first),
        1 => ValueRange::at_least(first),
        2 => ValueRange::above(first),
        3 => ValueRange::at_most(first),
        4 => ValueRange::below(first),
        5 => ValueRange::between(first, second),
        _ => ValueRange::above(first).and(ValueRange::at_most(second)),
    };
    let (Ok(store), Ok(path)) = (Store::memory(), "a".parse::<Path>()) else { return };
    let Ok(collection) = store.collection("c") else { return };
    for (nth, line) in lines.take(20).enumerate() {
        let body = [b"{\"a\":", line, b"}"].concat();
        let Ok(body) = String::from_utf8(body) else { continue };
        // A document that is not JSON, or too long for an index, is refused.
        _ = collection.put(&format!("{nth}"), &body);
    }
    let mut query = Query::new().matching(path.clone(), range);
    if order & 1 == 1 {
        query = query.sort(path.clone(), recension::engine::Direction::Backward);
    }
    let answers = || -> Option<Vec<String>> {
        let found = collection.find(&query).ok()?;
        let mut answers: Vec<String> = found.map_while(Result::ok).map(|document| document.id.to_string()).collect();
        answers.sort();
        Some(answers)
    };
    let by_scan = answers();
    if collection.create_index(IndexSpec::new("a", path), |_| ()).is_ok() {
        assert_eq!(answers(), by_scan, "with an index, and without");
    }
}

/// A pipeline on the first line, and documents on the others.
pub(super) fn pipeline(input: &[u8]) {
    let (text, rest) = split(input, b'\n');
    let Ok(pipeline) = Pipeline::from_json(text) else { return };
    let Ok(collection) = Store::memory().and_then(|store| store.collection("c")) else { return };
    for (nth, line) in rest.split(|&byte| byte == b'\n').take(10).enumerate() {
        _ = collection.put(&format!("{nth}"), line);
    }
    let Ok(at) = collection.at(At::Now) else { return };
    // The bound of memory changes only whether it is refused.
    let rows = at.aggregate(&Query::new(), &pipeline);
    for row in rows.iter().flatten() {
        assert_eq!(minify(row.as_bytes()).as_deref(), Ok(row.as_str()), "a row that is no minified JSON");
    }
    if let (Ok(rows), Ok(again)) = (rows, at.aggregate(&Query::new(), &pipeline.bytes_max(1 << 20))) {
        assert_eq!(rows, again);
    }
}

/// A selector (or a pipeline) on the first line, and members of documents on the others.
pub(super) fn selector(input: &[u8]) {
    let (text, rest) = split(input, b'\n');
    _ = Pipeline::from_json(text);
    let Ok(selector) = Selector::from_json(text) else { return };
    let again = Selector::from_json(selector.to_json());
    let Ok(collection) = Store::memory().and_then(|store| store.collection("c")) else { return };
    if collection.create_index(IndexSpec::new("a", "a"), |_| ()).is_err() {
        return;
    }
    for (nth, line) in rest.split(|&byte| byte == b'\n').take(10).enumerate() {
        // A document that is not JSON, or too long for an index, is refused.
        _ = collection.put(&format!("{nth}"), [b"{\"a\":", line, b",\"b\":[", line, b"]}"].concat());
    }
    let answers = |query: &Query| -> Vec<String> {
        let Ok(found) = collection.find(query) else { return Vec::new() };
        let mut answers: Vec<String> = found.map_while(Result::ok).map(|document| document.id.to_string()).collect();
        answers.sort();
        answers
    };
    let query = |selector: &Selector| Query::new().selecting(selector.clone()).collated(Collation::Binary);
    let by_scan = answers(&query(&selector).without_indexes());
    assert_eq!(answers(&query(&selector)), by_scan, "with an index, and without");
    if let Ok(again) = again {
        assert_eq!(answers(&query(&again)), by_scan, "{} as it was written", selector.to_json());
    }
}
