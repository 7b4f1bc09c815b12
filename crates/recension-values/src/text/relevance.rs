//! The relevance of a document for a query of words: BM25 (Robertson and Zaragoza, 2009), with the usual constants. The
//! document's length counts as a class of lengths, for which a row of an index has room. Pure.

// Scores need no more digits than doubles have.
#![allow(clippy::cast_precision_loss)]

/// How soon further occurrences of a word count no more (BM25's k1).
const SATURATION: f64 = 1.2;
/// How much long documents are penalised (BM25's b).
const LENGTH_COUNTS: f64 = 0.75;

/// The length of which documents are taken to be where their average must not be told.
const USUAL_LENGTH: f64 = 100.0;

/// Lengths up to this one are classes of their own.
const EXACT: u32 = 16;

/// The class of a length: near lengths share a class, so that a small edit changes few rows.
pub fn length_class(words: u32) -> u8 {
    if words < EXACT {
        return words as u8;
    }
    let shift = words.ilog2() - 3;
    (EXACT + 8 * (shift - 1) + (words >> shift) - 8) as u8
}

/// The least length of a class.
pub fn length_of_class(class: u8) -> u64 {
    let class = u64::from(class);
    if class < u64::from(EXACT) {
        return class;
    }
    let above = class - u64::from(EXACT);
    (8 + above % 8) << (above / 8 + 1).min(40)
}

/// The data of relevance: the number of documents with words, and their length.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Relevance {
    documents: f64,
    average: f64,
}

impl Relevance {
    pub fn new(documents: u64, length: u64) -> Self {
        let documents = documents.max(1) as f64;
        Relevance { documents, average: (length as f64 / documents).max(1.0) }
    }

    /// Of a document alone: nothing is known of others.
    pub fn alone() -> Self {
        Relevance { documents: 1.0, average: USUAL_LENGTH }
    }

    /// The weight of a word that this many of the documents have.
    pub fn weight(&self, having: u64) -> f64 {
        let having = having as f64;
        (1.0 + (self.documents - having + 0.5).max(0.0) / (having + 0.5)).ln()
    }

    /// The weight of this many occurrences in a document of a class of lengths.
    pub fn occurrences(&self, count: usize, class: u8) -> f64 {
        let count = count as f64;
        let length = length_of_class(class) as f64 / self.average;
        count * (SATURATION + 1.0) / (count + SATURATION * (1.0 - LENGTH_COUNTS + LENGTH_COUNTS * length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_stands_for_lengths_that_are_near() {
        let mut before = 0;
        for words in (0..5000).chain([1 << 20, (1 << 20) + 7, u32::MAX]) {
            let class = length_class(words);
            assert!(class >= before, "{words}");
            before = class;
            let stands_for = length_of_class(class);
            let words = u64::from(words);
            assert!(stands_for <= words && words < stands_for + stands_for / 8 + 1, "{words}: {stands_for}");
        }
    }

    #[test]
    fn rare_words_frequent_occurrences_and_short_documents_say_more() {
        let relevance = Relevance::new(100, 2000);
        assert!(relevance.weight(1) > relevance.weight(50) && relevance.weight(100) > 0.0);
        assert!(relevance.occurrences(2, 10) > relevance.occurrences(1, 10));
        assert!(relevance.occurrences(1, length_class(10)) > relevance.occurrences(1, length_class(100)));
    }
}
