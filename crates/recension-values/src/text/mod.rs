//! The words of texts, for conditions: how a text is split into words (Unicode's word boundaries, lower case, and the
//! stems of a language if one is named), and at which places of a document each word is. Pure.

mod query;
mod relevance;

use std::collections::BTreeMap;
use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation as _;

pub use self::query::Clause;
pub use self::query::TextQuery;
pub use self::relevance::{Relevance, length_class, length_of_class};
use crate::error::{Error, Result};
use crate::json::{Event, Parser};
use crate::limits::TEXT_WORD_BYTES_MAX;

/// Places between the words of two strings, so that no phrase reaches from one into the other.
const BETWEEN_STRINGS: u32 = 1000;

/// The language of a text's words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Language {
    /// No language: words are as they are written, in lower case.
    #[default]
    Plain,
    /// Danish.
    Danish,
    /// Dutch.
    Dutch,
    /// English.
    English,
    /// Finnish.
    Finnish,
    /// French.
    French,
    /// German.
    German,
    /// Italian.
    Italian,
    /// Norwegian.
    Norwegian,
    /// Portuguese.
    Portuguese,
    /// Russian.
    Russian,
    /// Spanish.
    Spanish,
    /// Swedish.
    Swedish,
}

/// Every language: its name, and the rules of its stems.
const LANGUAGES: [(&str, Language, Option<Algorithm>); 13] = [
    ("plain", Language::Plain, None),
    ("danish", Language::Danish, Some(Algorithm::Danish)),
    ("dutch", Language::Dutch, Some(Algorithm::Dutch)),
    ("english", Language::English, Some(Algorithm::English)),
    ("finnish", Language::Finnish, Some(Algorithm::Finnish)),
    ("french", Language::French, Some(Algorithm::French)),
    ("german", Language::German, Some(Algorithm::German)),
    ("italian", Language::Italian, Some(Algorithm::Italian)),
    ("norwegian", Language::Norwegian, Some(Algorithm::Norwegian)),
    ("portuguese", Language::Portuguese, Some(Algorithm::Portuguese)),
    ("russian", Language::Russian, Some(Algorithm::Russian)),
    ("spanish", Language::Spanish, Some(Algorithm::Spanish)),
    ("swedish", Language::Swedish, Some(Algorithm::Swedish)),
];

impl Language {
    /// The language with this name: `plain`, `english`, `german`, …
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn named(name: &str) -> Result<Self> {
        let known = LANGUAGES.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name));
        known.map(|(_, language, _)| *language).ok_or_else(|| Error::BadName {
            what: "language",
            name: name.chars().take(80).collect(),
            why: "it is plain, danish, dutch, english, finnish, french, german, italian, norwegian, portuguese, \
                  russian, spanish or swedish",
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// Its number in the catalogue.
    pub fn number(self) -> u8 {
        LANGUAGES.iter().position(|(_, language, _)| *language == self).unwrap_or(0) as u8
    }

    /// The language with this number.
    pub fn of_number(number: u8) -> Option<Self> {
        LANGUAGES.get(usize::from(number)).map(|(_, language, _)| *language)
    }

    fn row(self) -> &'static (&'static str, Language, Option<Algorithm>) {
        LANGUAGES.iter().find(|(_, language, _)| *language == self).unwrap_or(&LANGUAGES[0])
    }

    /// The words of a text, each with its range of bytes in the text.
    pub fn words(self, text: &str) -> impl Iterator<Item = (String, Range<usize>)> {
        let stemmer = self.row().2.map(Stemmer::create);
        text.unicode_word_indices().filter(|(_, word)| !word.contains('\0')).map(move |(at, word)| {
            let lower = shortened(word.to_lowercase());
            let stem = stemmer.as_ref().map(|stemmer| stemmer.stem(&lower).into_owned());
            // If a word's stem is empty, the word stays as it is: no word is empty.
            (stem.filter(|stem| !stem.is_empty()).unwrap_or(lower), at..at + word.len())
        })
    }
}

fn shortened(mut word: String) -> String {
    let mut end = word.len().min(TEXT_WORD_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    word.truncate(end);
    word
}

/// The words of a document, with their places.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentWords {
    pub places: BTreeMap<String, Vec<u32>>,
    /// How many words there are.
    pub length: u32,
}

impl DocumentWords {
    /// The words of all strings within some values, which are minified JSON texts.
    pub fn of<'v>(language: Language, values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut words = DocumentWords::default();
        let mut place = 0_u32;
        for value in values {
            let mut parser = Parser::of_text(value);
            while let Ok(Some(event)) = parser.next_event() {
                let Event::String(text) = event else { continue };
                for (word, _) in language.words(&text.decode()) {
                    words.places.entry(word).or_default().push(place);
                    words.length = words.length.saturating_add(1);
                    place = place.saturating_add(1);
                }
                place = place.saturating_add(BETWEEN_STRINGS);
            }
        }
        words
    }

    /// The places of a word, or if `begins`, of all words with this prefix.
    pub fn places_of(&self, word: &str, begins: bool) -> Vec<u32> {
        if !begins {
            return self.places.get(word).cloned().unwrap_or_default();
        }
        let from = self.places.range(word.to_owned()..);
        let mut places: Vec<u32> =
            from.take_while(|(known, _)| known.starts_with(word)).flat_map(|(_, places)| places.clone()).collect();
        places.sort_unstable();
        places
    }
}
