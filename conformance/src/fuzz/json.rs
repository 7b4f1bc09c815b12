//! JSON in: which texts are accepted, and what minifying makes of them.
//!
//! Oracle: `serde_json` accepts the same texts and reads the same value before and after. Minifying twice changes
//! nothing. An error is at a place within the text. The patch from one text to another makes that other text, and no
//! patch panics.

use recension::json::{JsonPatch, JsonProblem, diff, merge_patch, minify, minify_object};
use serde_json::Value;

/// Any bytes as JSON.
pub(super) fn json(input: &[u8]) {
    let theirs = serde_json::from_slice::<Value>(input);
    match (minify(input), &theirs) {
        (Ok(text), theirs) => {
            assert_eq!(minify(text.as_bytes()).as_deref(), Ok(text.as_str()), "minifying twice");
            assert!(text.len() <= input.len(), "minified, and longer: {text}");
            match (theirs, serde_json::from_str::<Value>(&text)) {
                (Ok(before), Ok(after)) => assert_eq!(*before, after, "another value: {text}"),
                (Err(before), Err(after)) if beyond_serde(before) && beyond_serde(&after) => {}
                (before, after) => panic!("{text}: accepted here, {before:?} there, then {after:?}"),
            }
        }
        (Err(error), theirs) => {
            assert!(error.offset <= input.len() && error.line > 0 && error.column > 0, "{error:?}");
            let ours_alone = matches!(error.problem, JsonProblem::TooDeep(_) | JsonProblem::TooLong(_));
            assert!(theirs.is_err() || ours_alone, "refused here, accepted there: {error}");
        }
    }
    // The same parser through another function.
    let object = minify(input).is_ok_and(|text| text.starts_with('{'));
    assert_eq!(minify_object(input).is_ok_and(|minified| minified.kind == "an object"), object);
    patches(input);
}

/// Any bytes as a patch, and as a text to patch.
fn patches(input: &[u8]) {
    const DOCUMENT: &str = r#"{"a":{"b":[1,2.50,{"c":"x"}]},"d":null,"e":[[]]}"#;
    if let Ok(patch) = JsonPatch::from_json(input) {
        assert_eq!(JsonPatch::from_json(patch.to_json()).ok(), Some(patch.clone()), "a patch reads back");
        if let Ok(text) = patch.apply(DOCUMENT) {
            assert_eq!(minify(text.as_bytes()).as_deref(), Ok(text.as_str()), "patched, and not minified");
        }
    }
    let merged = merge_patch(DOCUMENT, input).is_ok();
    assert_eq!(merged, minify(input).is_ok());
    if let Ok(text) = minify(input) {
        let made = JsonPatch::between(DOCUMENT, &text).and_then(|patch| patch.apply(DOCUMENT));
        assert!(made.is_ok_and(|made| diff(made, &text).is_ok_and(|changes| changes.is_empty())), "{text}");
    }
}

/// JSON that `serde_json` refuses: numbers beyond its range, and 128 levels.
fn beyond_serde(error: &serde_json::Error) -> bool {
    let error = error.to_string();
    error.starts_with("number out of range") || error.starts_with("recursion limit exceeded")
}
