//! Conditions as people write them. The tests here have a corpus, and texts that chance makes of it.

use recension::conditions::{parse, query};
use recension::{IndexSpec, Query, Store};

/// A condition on the first line, and documents on the others.
///
/// Oracle: what is refused is refused at a place of the text; what is taken finds the same with indexes and without.
///
/// # Panics
/// Where that is not so.
pub(super) fn condition(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let text = String::from_utf8_lossy(&input[..end]);
    let clauses = match parse(&text) {
        Ok(clauses) => clauses,
        Err(refusal) => {
            let said = refusal.to_string();
            let place = said.lines().last().unwrap_or_default();
            assert!(place.trim_start() == "^" && place.len() <= text.chars().count() + 4, "{said}");
            return;
        }
    };
    let query = query(clauses);
    let Ok(things) = Store::memory().and_then(|store| store.collection("c")) else { return };
    for (nth, line) in input.get(end + 1..).unwrap_or_default().split(|byte| *byte == b'\n').take(12).enumerate() {
        // What is no document is refused.
        let _ = things.put(&nth.to_string(), line);
    }
    let found = |query: &Query| -> Option<Vec<String>> {
        let ids = things.find(query).ok()?.map(|document| Some(document.ok()?.id.into_owned()));
        let mut ids = ids.collect::<Option<Vec<_>>>()?;
        ids.sort();
        Some(ids)
    };
    let scanned = found(&query.clone().without_indexes());
    for path in ["a", "b", "a[]"] {
        let _ = things.create_index(IndexSpec::new(path, path), |_| ());
    }
    assert_eq!(found(&query), scanned, "{text}");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::condition;

    const CORPUS: [&str; 10] = [
        "a = 1 or b in [x, 'y z', 3]\n{\"a\":1}\n{\"b\":\"x\"}",
        "not (a missing or b >= -1.5e3) and a != null\n{\"a\":[1,2],\"b\":7}",
        "a[] contains 2 and b like 'P_rt%'\n{\"a\":[[2]],\"b\":\"Porto\"}",
        "a ~ '^x+$' or b ilike %Y\n{\"a\":\"xx\"}\n{\"b\":\"zy\"}",
        "a words 'hot \"green tea\" -cold' or a,b words tea in english\n{\"a\":\"hot green teas\"}",
        "a is array and b exists and _id prefix 0\n{\"a\":[],\"b\":null}",
        "a prefix Por and b not in [1, 2]\n{\"a\":\"Port\",\"b\":3}",
        "\"a\".'c d' > {\"x\": [1]}\n{\"a\":{\"c d\":{\"x\":[2]}}}",
        "a ailike 'jose%' and not not b = true\n{\"a\":\"José\",\"b\":true}",
        "a = 12345678901234567890123 or a = 1.0\n{\"a\":12345678901234567890123}\n{\"a\":1}",
    ];

    #[test]
    fn a_condition_is_refused_at_a_place_or_finds_the_same_by_every_way() {
        for input in CORPUS {
            condition(input.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn so_does_any_text_that_is_made_of_such(
            picked in prop::collection::vec((0..CORPUS.len(), 0_usize..60, 0_usize..25), 1..5),
            noise in "[ab()\\[\\]'\",=<>!~0-9 é]{0,6}",
        ) {
            let mut text = String::new();
            for (number, from, length) in picked {
                text.extend(CORPUS[number].chars().skip(from).take(length));
            }
            let at = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
            text.insert_str(at, &noise);
            condition(text.as_bytes());
        }

        #[test]
        fn so_do_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            condition(&bytes);
        }
    }
}
