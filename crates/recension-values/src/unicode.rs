//! Sort keys of strings: the order of ICU's root collation (tertiary strength, normalisation on, punctuation
//! not ignored), as CouchDB has it, as an order of bytes. Pure. Keys lie on disk: the versions of the collation's
//! code and data are pinned in Cargo.toml, and a change of any key needs a new encoding number.

use std::sync::OnceLock;

use icu_collator::options::{CollatorOptions, Strength};
use icu_collator::{Collator, CollatorBorrowed, CollatorPreferences};

/// Ends a level of a sort key; every byte of a weight is greater.
const LEVEL_END: u8 = 1;
/// The weight that most characters have on the second and third level.
const COMMON: u8 = 5;

/// How runs of the common weight are encoded, on the second level and on the third (ICU's compression).
const SECOND: Runs = Runs { low: COMMON, high: COMMON + 0x40, max: 0x21 };
const THIRD: Runs = Runs { low: COMMON, high: COMMON + 0xc0, max: 0x61 };

struct Runs {
    low: u8,
    high: u8,
    max: usize,
}

impl Runs {
    /// Writes a run of `count` common weights before a greater weight (`rises`), or before a lesser one or the end.
    fn write(&self, mut count: usize, rises: bool, out: &mut Vec<u8>) {
        if count == 0 {
            return;
        }
        count -= 1;
        while count >= self.max {
            out.push(self.low.midpoint(self.high));
            count -= self.max;
        }
        out.push(if rises { self.high - count as u8 } else { self.low + count as u8 });
    }
}

/// The weights of each ASCII character in a sort key: its primary weight (one byte, or two if the second is not zero;
/// 0: the
/// character is ignored), and its tertiary one (0: the common one). All have the common weight on the second level.
///
/// The table is here so that the first string of a process does not wait for the collation's data (0.2 ms).
#[rustfmt::skip]
const ASCII: [(u16, u8); 128] = [
    (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0),
    (0x0000, 0x0), (0x0304, 0x0), (0x0306, 0x0), (0x0308, 0x0), (0x030a, 0x0), (0x030c, 0x0), (0x0000, 0x0), (0x0000, 0x0),
    (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0),
    (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0), (0x0000, 0x0),
    (0x0400, 0x0), (0x075a, 0x0), (0x0976, 0x0), (0x0a98, 0x0), (0x0daf, 0x0), (0x0a9a, 0x0), (0x0a92, 0x0), (0x0970, 0x0),
    (0x097c, 0x0), (0x097e, 0x0), (0x0a82, 0x0), (0x0c7d, 0x0), (0x0600, 0x0), (0x050e, 0x0), (0x0800, 0x0), (0x0a8c, 0x0),
    (0x1200, 0x0), (0x1400, 0x0), (0x1600, 0x0), (0x1800, 0x0), (0x1a00, 0x0), (0x1c00, 0x0), (0x1e00, 0x0), (0x2000, 0x0),
    (0x2200, 0x0), (0x2400, 0x0), (0x0736, 0x0), (0x072a, 0x0), (0x0c87, 0x0), (0x0c89, 0x0), (0x0c8b, 0x0), (0x0768, 0x0),
    (0x0a80, 0x0), (0x2b00, 0xdc), (0x2d00, 0xdc), (0x2f00, 0xdc), (0x3100, 0xdc), (0x3300, 0xdc), (0x3500, 0xdc), (0x3700, 0xdc),
    (0x3900, 0xdc), (0x3b00, 0xdc), (0x3d00, 0xdc), (0x3f00, 0xdc), (0x4100, 0xdc), (0x4300, 0xdc), (0x4500, 0xdc), (0x4700, 0xdc),
    (0x4900, 0xdc), (0x4b00, 0xdc), (0x4d00, 0xdc), (0x4f00, 0xdc), (0x5100, 0xdc), (0x5300, 0xdc), (0x5500, 0xdc), (0x5700, 0xdc),
    (0x5900, 0xdc), (0x5b00, 0xdc), (0x5d00, 0xdc), (0x0980, 0x0), (0x0a8e, 0x0), (0x0982, 0x0), (0x0c0a, 0x0), (0x050a, 0x0),
    (0x0c04, 0x0), (0x2b00, 0x0), (0x2d00, 0x0), (0x2f00, 0x0), (0x3100, 0x0), (0x3300, 0x0), (0x3500, 0x0), (0x3700, 0x0),
    (0x3900, 0x0), (0x3b00, 0x0), (0x3d00, 0x0), (0x3f00, 0x0), (0x4100, 0x0), (0x4300, 0x0), (0x4500, 0x0), (0x4700, 0x0),
    (0x4900, 0x0), (0x4b00, 0x0), (0x4d00, 0x0), (0x4f00, 0x0), (0x5100, 0x0), (0x5300, 0x0), (0x5500, 0x0), (0x5700, 0x0),
    (0x5900, 0x0), (0x5b00, 0x0), (0x5d00, 0x0), (0x0984, 0x0), (0x0c8f, 0x0), (0x0986, 0x0), (0x0c93, 0x0), (0x0000, 0x0),
];

fn collator() -> &'static CollatorBorrowed<'static> {
    static COLLATOR: OnceLock<CollatorBorrowed<'static>> = OnceLock::new();
    COLLATOR.get_or_init(|| {
        let mut options = CollatorOptions::default();
        options.strength = Some(Strength::Tertiary);
        match Collator::try_new(CollatorPreferences::default(), options) {
            Ok(collator) => collator,
            // The data of the root collation are compiled in.
            Err(error) => unreachable!("the root collation: {error}"),
        }
    })
}

/// Appends the sort key of a string. It has no zero byte.
pub fn write_sort_key(text: &str, out: &mut Vec<u8>) {
    if text.is_ascii() { write_ascii(text.as_bytes(), out) } else { write_any(text, out) }
}

fn write_any(text: &str, out: &mut Vec<u8>) {
    let Ok(()) = collator().write_sort_key_to(text, out);
}

/// A prefix of the sort keys of all strings that begin with `prefix`; other strings may have it too.
pub fn write_primaries(prefix: &str, out: &mut Vec<u8>) {
    // No ASCII character changes by what follows it; others may.
    let ascii = prefix.bytes().position(|byte| !byte.is_ascii()).unwrap_or(prefix.len());
    let start = out.len();
    write_sort_key(&prefix[..ascii], out);
    if let Some(end) = out[start..].iter().position(|&byte| byte == LEVEL_END) {
        out.truncate(start + end);
    }
}

fn write_ascii(text: &[u8], out: &mut Vec<u8>) {
    let weights = |byte: u8| ASCII[usize::from(byte & 0x7f)];
    let (mut count, mut marked, mut second_bytes) = (0_usize, 0, 0);
    let start = out.len();
    out.extend(text.iter().map(|&byte| {
        let (primary, tertiary) = weights(byte);
        count += usize::from(primary > 0);
        marked |= tertiary;
        second_bytes |= primary & 0xff;
        primary.to_be_bytes()[0]
    }));
    // Letters and digits, of which most texts consist, have primary weights of one byte.
    if count < text.len() || second_bytes > 0 {
        out.truncate(start);
        write_primaries_of(text.iter().map(|&byte| weights(byte).0), out);
    }
    out.push(LEVEL_END);
    SECOND.write(count, false, out);
    out.push(LEVEL_END);
    if marked == 0 {
        THIRD.write(count, false, out);
        return;
    }
    let mut common = 0;
    for (_, tertiary) in text.iter().map(|&byte| weights(byte)).filter(|(primary, _)| *primary > 0) {
        if tertiary == 0 {
            common += 1;
        } else {
            THIRD.write(common, true, out);
            common = 0;
            out.push(tertiary);
        }
    }
    THIRD.write(common, false, out);
}

/// Primary weights of one byte, of two or of none.
fn write_primaries_of(weights: impl ExactSizeIterator<Item = u16>, out: &mut Vec<u8>) {
    let mut written = out.len();
    out.resize(written + 2 * weights.len(), 0);
    for primary in weights {
        let bytes = primary.to_be_bytes();
        if let Some(place) = out.get_mut(written..written + 2) {
            place.copy_from_slice(&bytes);
        }
        // The next weight overwrites the second byte if there is none, and both bytes of an ignored character.
        written += usize::from(primary > 0) + usize::from(bytes[1] > 0);
    }
    out.truncate(written);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fast(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        write_ascii(text.as_bytes(), &mut key);
        key
    }

    fn exact(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        write_any(text, &mut key);
        key
    }

    #[test]
    fn the_fast_way_writes_icus_key_of_every_pair_of_ascii_characters_and_of_long_runs() {
        for a in 0..128_u8 {
            for b in 0..128_u8 {
                let text: String = [a, b].map(char::from).iter().collect();
                assert_eq!(fast(&text), exact(&text), "{text:?}");
            }
        }
        for length in [0, 1, 32, 33, 34, 65, 66, 67, 96, 97, 98, 99, 193, 194, 195, 196, 1000] {
            for end in ["", "A", ":", "a:;b,c", "\u{0}"] {
                let text = format!("{}{end}", "x".repeat(length));
                assert_eq!(fast(&text), exact(&text), "{length} {end:?}");
            }
        }
    }

    #[test]
    fn no_sort_key_has_a_zero_byte() {
        for character in ('\0'..=char::MAX).step_by(7) {
            assert!(!exact(character.encode_utf8(&mut [0; 4])).contains(&0), "{character:?}");
        }
    }

    /// Keys lie on disk. If this fails after an update of ICU4X, make a new encoding; do not change the keys.
    #[test]
    fn keys_are_what_they_were_when_encoding_2_was_made() {
        for (text, expected) in [
            ("", "0101"),
            ("Hello World", "39334141470457474d4131010f01dcc1dc08"),
            ("user-000123@example.com", "534f334d050e1212121416180a8033592b43494133082f4743011b011b"),
            ("東京都", "fa354afa035cfa890a01070107"),
            ("München", "4353452f3933450144960901dc0b"),
        ] {
            let key: Vec<String> = exact(text).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(key.concat(), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn the_fast_way_writes_icus_key_of_any_ascii_text(text in "[\u{0}-\u{7f}]{0,40}|[a-cA-C:;,. ]{0,150}") {
            prop_assert_eq!(fast(&text), exact(&text));
        }

        #[test]
        fn strings_begin_with_the_primaries_of_their_prefixes(prefix in "[ -~é]{0,4}", rest in any::<String>()) {
            let mut start = Vec::new();
            write_primaries(&prefix, &mut start);
            let text = [prefix, rest].concat();
            prop_assert!(exact(&text).starts_with(&start), "{:?}", text);
        }
    }
}
