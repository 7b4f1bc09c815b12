//! Taking texts apart: Unicode's word boundaries, lower case, and the stems of a language. Pure.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation as _;

use super::Language;
use crate::limits::TEXT_WORD_BYTES_MAX;

/// The rules of a language's stems.
fn rules(language: Language) -> Option<Algorithm> {
    Some(match language {
        Language::Plain => return None,
        Language::Danish => Algorithm::Danish,
        Language::Dutch => Algorithm::Dutch,
        Language::English => Algorithm::English,
        Language::Finnish => Algorithm::Finnish,
        Language::French => Algorithm::French,
        Language::German => Algorithm::German,
        Language::Italian => Algorithm::Italian,
        Language::Norwegian => Algorithm::Norwegian,
        Language::Portuguese => Algorithm::Portuguese,
        Language::Russian => Algorithm::Russian,
        Language::Spanish => Algorithm::Spanish,
        Language::Swedish => Algorithm::Swedish,
    })
}

/// The words of a text, each with its range of bytes in the text.
pub(super) fn words(language: Language, text: &str) -> impl Iterator<Item = (String, Range<usize>)> {
    let stemmer = rules(language).map(Stemmer::create);
    text.unicode_word_indices().filter(|(_, word)| !word.contains('\0')).map(move |(at, word)| {
        let lower = shortened(word.to_lowercase());
        let stem = stemmer.as_ref().map(|stemmer| stemmer.stem(&lower).into_owned());
        // If a word's stem is empty, the word stays as it is: no word is empty.
        (stem.filter(|stem| !stem.is_empty()).unwrap_or(lower), at..at + word.len())
    })
}

fn shortened(mut word: String) -> String {
    let mut end = word.len().min(TEXT_WORD_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    word.truncate(end);
    word
}
