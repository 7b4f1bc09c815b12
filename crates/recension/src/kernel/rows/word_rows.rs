//! The rows of an index of words: for each word of a document a row with its places, and one row of counters. Layout:
//! docs/documents-format.md, "Indexes of words". Pure.

use crate::kernel::rows::index_keys::IndexRow;
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::limits::TEXT_WORDS_MAX;
use recension_values::text::{DocumentWords, Language, length_class, length_of_class};

/// The key of the counters. No word is empty.
pub(crate) const COUNTERS_KEY: &[u8] = &[0];

/// The counters of an index: documents, and the sum of their lengths.
pub(crate) type Tally = [i64; 2];

/// The beginning of the keys of a word's rows.
pub(crate) fn word_key(word: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(word.len() + 1);
    key.extend(word.as_bytes());
    key.push(0);
    key
}

/// The length of the word at the beginning of a key, with the zero behind it.
pub(crate) fn word_len(key: &[u8]) -> Option<usize> {
    key.iter().position(|byte| *byte == 0).map(|at| at + 1)
}

/// The rows for the values of a document.
pub(crate) fn rows_of<'v>(
    spec: &IndexSpec,
    language: Language,
    values: impl IntoIterator<Item = &'v str>,
    id: &str,
) -> Result<Vec<IndexRow>> {
    let words = DocumentWords::of(language, values);
    if words.places.len() > TEXT_WORDS_MAX {
        return Err(Error::TooManyEntries {
            index: spec.name.clone(),
            id: id.to_owned(),
            entries: words.places.len(),
            max: TEXT_WORDS_MAX,
        });
    }
    let class = length_class(words.length);
    // A map is in the order of its words' bytes.
    let row = |(word, places): (&String, &Vec<u32>)| IndexRow { key: word_key(word), value: value(class, places) };
    Ok(words.places.iter().map(row).collect())
}

fn value(class: u8, places: &[u32]) -> Vec<u8> {
    let mut value = Vec::with_capacity(1 + 2 * places.len());
    value.push(class);
    let mut before = 0;
    for place in places {
        let mut distance = place - before;
        before = *place;
        while distance >= 0x80 {
            value.push(distance as u8 | 0x80);
            distance >>= 7;
        }
        value.push(distance as u8);
    }
    value
}

/// The length class of a row's document.
pub(crate) fn class_in(value: &[u8]) -> Option<u8> {
    value.first().copied()
}

/// How often the row's word stands in its document.
pub(crate) fn count_in(value: &[u8]) -> usize {
    value.iter().skip(1).filter(|byte| **byte < 0x80).count()
}

/// The places of a row; `None` if it is damaged.
pub(crate) fn places_in(value: &[u8]) -> Option<Vec<u32>> {
    let mut places = Vec::new();
    let (mut place, mut distance, mut shift) = (0_u32, 0_u32, 0);
    for byte in value.get(1..)? {
        distance |= u32::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if *byte < 0x80 {
            place = place.checked_add(distance)?;
            places.push(place);
            (distance, shift) = (0, 0);
        }
    }
    (shift == 0 && !places.is_empty()).then_some(places)
}

/// The amounts that a document with these rows adds to the counters.
pub(crate) fn tally(rows: &[IndexRow]) -> Tally {
    match rows.first().and_then(|row| class_in(&row.value)) {
        Some(class) => [1, length_of_class(class).cast_signed()],
        None => [0, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_give_back_what_they_were_made_of_and_cuts_are_no_rows() {
        let places = [0, 1, 127, 128, 300, 70_000, u32::MAX];
        let whole = value(7, &places);
        assert_eq!(places_in(&whole).as_deref(), Some(&places[..]));
        assert_eq!((class_in(&whole), count_in(&whole)), (Some(7), places.len()));
        for cut in 0..whole.len() {
            assert_ne!(places_in(&whole[..cut]).as_deref(), Some(&places[..]), "{cut}");
        }
        assert_eq!(places_in(&[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), None);
        let spec = IndexSpec::words("w", ["a"], Language::Plain);
        let rows = rows_of(&spec, Language::Plain, [r#""b a b""#, "5"], "d").unwrap();
        let keys: Vec<_> = rows.iter().map(|row| row.key.clone()).collect();
        assert_eq!(keys, [b"a\0".to_vec(), b"b\0".to_vec()]);
        assert_eq!(places_in(&rows[1].value).as_deref(), Some(&[0, 2][..]));
        assert_eq!((tally(&rows), tally(&[])), ([1, 3], [0, 0]));
    }
}
