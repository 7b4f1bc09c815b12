//! The words of texts, for conditions: how a text is split into words (Unicode's word boundaries, lower case, and the
//! stems of a language if one is named), and at which places of a document each word is. Pure.

mod query;
mod relevance;
#[cfg(feature = "words")]
mod stems;

use std::collections::BTreeMap;
use std::ops::Range;

pub use self::query::Clause;
pub use self::query::TextQuery;
pub use self::relevance::{Relevance, length_class, length_of_class};
use crate::error::{Error, Result};
use crate::json::{Event, Parser};
use recension_engine::EngineError;

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

/// Every language, and its name.
const LANGUAGES: [(&str, Language); 13] = [
    ("plain", Language::Plain),
    ("danish", Language::Danish),
    ("dutch", Language::Dutch),
    ("english", Language::English),
    ("finnish", Language::Finnish),
    ("french", Language::French),
    ("german", Language::German),
    ("italian", Language::Italian),
    ("norwegian", Language::Norwegian),
    ("portuguese", Language::Portuguese),
    ("russian", Language::Russian),
    ("spanish", Language::Spanish),
    ("swedish", Language::Swedish),
];

impl Language {
    /// The language with this name: `plain`, `english`, `german`, …
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn named(name: &str) -> Result<Self> {
        let known = LANGUAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, language)| *language).ok_or_else(|| Error::BadName {
            what: "language",
            name: name.chars().take(80).collect(),
            why: "it is plain, danish, dutch, english, finnish, french, german, italian, norwegian, portuguese, \
                  russian, spanish or swedish",
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        LANGUAGES[usize::from(self.number())].0
    }

    /// Its number in the catalogue.
    pub fn number(self) -> u8 {
        LANGUAGES.iter().position(|(_, language)| *language == self).unwrap_or(0) as u8
    }

    /// The language with this number.
    pub fn of_number(number: u8) -> Option<Self> {
        LANGUAGES.get(usize::from(number)).map(|(_, language)| *language)
    }

    /// Whether this program can take texts apart into words.
    ///
    /// # Errors
    /// [`EngineError::NotBuiltIn`].
    pub fn built_in(self) -> Result<()> {
        if cfg!(feature = "words") {
            return Ok(());
        }
        Err(EngineError::not_built_in("an index of words, or a query for words,", "words").into())
    }

    /// The words of a text, each with its range of bytes in the text.
    #[cfg(feature = "words")]
    pub fn words(self, text: &str) -> impl Iterator<Item = (String, Range<usize>)> {
        stems::words(self, text)
    }

    /// No index or query of words exists in such a build: [`Language::built_in`] is asked first.
    #[cfg(not(feature = "words"))]
    #[allow(clippy::unused_self)] // the same call in a build that has words
    fn words(self, _: &str) -> impl Iterator<Item = (String, Range<usize>)> {
        std::iter::empty()
    }
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
