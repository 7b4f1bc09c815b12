//! Folding texts: texts that differ only in case, or in case and accents, become equal texts. Pure.

/// The differences that are ignored when texts are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    Case,
    /// Case and accents: `José`, `JOSE` and `jose` are equal.
    #[cfg(feature = "unicode-collation")]
    Accents,
}

impl Fold {
    /// The folded text.
    pub fn of(self, text: &str) -> String {
        let lower = text.to_lowercase();
        match self {
            Fold::Case => lower,
            #[cfg(feature = "unicode-collation")]
            Fold::Accents if lower.is_ascii() => lower,
            #[cfg(feature = "unicode-collation")]
            Fold::Accents => accents::removed(&lower),
        }
    }
}

#[cfg(feature = "unicode-collation")]
mod accents {
    use icu_normalizer::DecomposingNormalizerBorrowed;
    use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

    /// Letters that ICU's root collation distinguishes from others by an accent only, and that have no accent to
    /// remove.
    const LETTERS: [(char, &str); 8] =
        [('ø', "o"), ('ł', "l"), ('đ', "d"), ('ħ', "h"), ('ŧ', "t"), ('ß', "ss"), ('æ', "ae"), ('œ', "oe")];

    /// Signs that modify the letter before them: attached ones, the points of Hebrew and Arabic, and all above and
    /// below.
    fn is_accent(class: u8) -> bool {
        matches!(class, 1 | 10..=36 | 200..)
    }

    pub(super) fn removed(lower: &str) -> String {
        let classes = CanonicalCombiningClassMapBorrowed::new();
        let mut out = String::with_capacity(lower.len());
        for letter in DecomposingNormalizerBorrowed::new_nfd().normalize_iter(lower.chars()) {
            match LETTERS.iter().find(|(known, _)| *known == letter) {
                Some((_, plain)) => out.push_str(plain),
                None if !letter.is_ascii() && is_accent(classes.get_u8(letter)) => {}
                None => out.push(letter),
            }
        }
        out
    }
}

#[cfg(all(test, feature = "unicode-collation"))]
mod tests {
    use super::*;

    #[test]
    fn texts_are_alike_without_case_and_without_accents() {
        for (text, case, accents) in [
            ("José", "josé", "jose"),
            ("JOSE\u{301}", "jose\u{301}", "jose"),
            ("Ångström", "ångström", "angstrom"),
            ("Łódź, Straße, Øre", "łódź, straße, øre", "lodz, strasse, ore"),
            ("Việt", "việt", "viet"),
            ("हिन्दी", "हिन्दी", "हिन्दी"),
            ("東京", "東京", "東京"),
            ("", "", ""),
        ] {
            assert_eq!((Fold::Case.of(text), Fold::Accents.of(text)), (case.to_owned(), accents.to_owned()));
        }
    }
}
