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
/// Between a compressed lead byte and a primary of another one that sorts before or after it.
const LEAD_CHANGES_DOWN: u8 = 3;
const LEAD_CHANGES_UP: u8 = 0xff;

/// How runs of the common weight are written, on the second level and on the third (ICU's compression).
const SECOND: Runs = Runs { low: COMMON, high: COMMON + 0x40, max: 0x21 };
const THIRD: Runs = Runs { low: COMMON, high: COMMON + 0xc0, max: 0x61 };

struct Runs {
    low: u8,
    high: u8,
    max: usize,
}

impl Runs {
    /// A run of `count` common weights before a greater weight (`rises`), or before a lesser one or the end.
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

/// What an ASCII character is in a sort key. All have the common weight on the second level.
#[derive(Clone, Copy, Default, Debug)]
struct Weight {
    /// One or two bytes; of none, the character is ignored.
    primary: [u8; 2],
    primary_len: u8,
    /// The lead byte of the primary is written once for a run of characters that share it.
    shares_lead: bool,
    /// 0: the common one.
    tertiary: u8,
}

struct Order {
    collator: CollatorBorrowed<'static>,
    /// `None` where the data are not of the form that the fast way knows.
    ascii: Option<[Weight; 128]>,
}

fn order() -> &'static Order {
    static ORDER: OnceLock<Order> = OnceLock::new();
    ORDER.get_or_init(|| {
        let mut options = CollatorOptions::default();
        options.strength = Some(Strength::Tertiary);
        let collator = match Collator::try_new(CollatorPreferences::default(), options) {
            Ok(collator) => collator,
            // The data of the root are compiled in.
            Err(error) => unreachable!("the root collation: {error}"),
        };
        let ascii = ascii_weights(&collator);
        Order { collator, ascii }
    })
}

fn ascii_weights(collator: &CollatorBorrowed<'_>) -> Option<[Weight; 128]> {
    let mut weights = [Weight::default(); 128];
    let key = |text: &str| {
        let mut key = Vec::new();
        let Ok(()) = collator.write_sort_key_to(text, &mut key);
        key
    };
    for (byte, weight) in weights.iter_mut().enumerate() {
        let character = char::from(byte as u8);
        let one = key(&character.to_string());
        if one == [LEVEL_END, LEVEL_END] {
            continue;
        }
        let (primary, tertiary) = match *one.as_slice() {
            [p, LEVEL_END, COMMON, LEVEL_END, t] => ([p, 0], t),
            [p, q, LEVEL_END, COMMON, LEVEL_END, t] => ([p, q], t),
            _ => return None,
        };
        // A lone weight is common, or greater and a byte that no run can be.
        if tertiary != COMMON && tertiary <= THIRD.high {
            return None;
        }
        let primary_len = if primary[1] == 0 { 1 } else { 2 };
        let two = key(&format!("{character}{character}"));
        let shares_lead = primary_len == 2 && two.starts_with(&[primary[0], primary[1], primary[1], LEVEL_END]);
        *weight = Weight { primary, primary_len, shares_lead, tertiary: if tertiary == COMMON { 0 } else { tertiary } };
    }
    Some(weights)
}

/// Appends the sort key of a string. It has no zero byte.
pub(super) fn write_sort_key(text: &str, out: &mut Vec<u8>) {
    let order = order();
    match &order.ascii {
        Some(weights) if text.is_ascii() => write_ascii(weights, text.as_bytes(), out),
        _ => write_any(order, text, out),
    }
}

fn write_any(order: &Order, text: &str, out: &mut Vec<u8>) {
    let Ok(()) = order.collator.write_sort_key_to(text, out);
}

/// The beginning of the sort keys of all strings that begin with `prefix`, which other strings may have too.
pub(super) fn write_primaries(prefix: &str, out: &mut Vec<u8>) {
    // No ASCII character becomes another one by what follows it; others may.
    let ascii = prefix.bytes().position(|byte| !byte.is_ascii()).unwrap_or(prefix.len());
    let start = out.len();
    write_sort_key(&prefix[..ascii], out);
    if let Some(end) = out[start..].iter().position(|&byte| byte == LEVEL_END) {
        out.truncate(start + end);
    }
}

fn write_ascii(weights: &[Weight; 128], text: &[u8], out: &mut Vec<u8>) {
    let mut shared: Option<[u8; 2]> = None;
    let mut known = 0_usize;
    for &byte in text {
        let Some(weight) = weights.get(usize::from(byte)).filter(|weight| weight.primary_len > 0) else { continue };
        known += 1;
        if !weight.shares_lead || shared.is_none_or(|shared| shared[0] != weight.primary[0]) {
            if let Some(shared) = shared {
                out.push(if weight.primary < shared { LEAD_CHANGES_DOWN } else { LEAD_CHANGES_UP });
            }
            out.push(weight.primary[0]);
            shared = weight.shares_lead.then_some(weight.primary);
        } else {
            shared = Some(weight.primary);
        }
        if weight.primary_len == 2 {
            out.push(weight.primary[1]);
        }
    }
    out.push(LEVEL_END);
    SECOND.write(known, false, out);
    out.push(LEVEL_END);
    let mut common = 0;
    for &byte in text {
        let Some(weight) = weights.get(usize::from(byte)).filter(|weight| weight.primary_len > 0) else { continue };
        if weight.tertiary == 0 {
            common += 1;
        } else {
            THIRD.write(common, true, out);
            common = 0;
            out.push(weight.tertiary);
        }
    }
    THIRD.write(common, false, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fast(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        write_ascii(order().ascii.as_ref().expect("the fast way is there"), text.as_bytes(), &mut key);
        key
    }

    fn exact(text: &str) -> Vec<u8> {
        let mut key = Vec::new();
        write_any(order(), text, &mut key);
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

    /// Keys lie on disk. Where this fails after an update of ICU4X, make a new encoding; do not change the keys.
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
