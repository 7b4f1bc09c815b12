//! Finding the byte at which a string of a JSON text stops being plain, eight bytes at a time: most of a document is
//! strings, and every write looks at each byte.

const WORD: usize = 8;
const LOW_BITS: u64 = u64::from_ne_bytes([1; WORD]);
const HIGH_BITS: u64 = LOW_BITS << 7;

/// Bytes before the first quote, backslash or control character; all of them if there is none.
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for (i, word) in words.iter().enumerate() {
        let marks = marks(u64::from_le_bytes(*word));
        if marks != 0 {
            return i * WORD + marks.trailing_zeros() as usize / 8;
        }
    }
    let plain = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count();
    words.len() * WORD + plain
}

/// The high bit of each byte that is not plain. Bytes after the first such one may be marked wrongly, because borrows
/// of the subtraction carry upwards.
fn marks(word: u64) -> u64 {
    let below = |word: u64, bound: u8| word.wrapping_sub(LOW_BITS * u64::from(bound)) & !word & HIGH_BITS;
    let equal = |byte: u8| below(word ^ (LOW_BITS * u64::from(byte)), 1);
    below(word, b' ') | equal(b'"') | equal(b'\\')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one_by_one(bytes: &[u8]) -> usize {
        bytes.iter().take_while(|&&byte| byte != b'"' && byte != b'\\' && byte >= b' ').count()
    }

    #[test]
    fn every_byte_at_every_place_is_told_apart() {
        for length in 0..20 {
            for at in 0..length {
                for byte in 0..=255_u8 {
                    for around in [b'a', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xa2, 0xdc, 0xff] {
                        let mut bytes = vec![around; length];
                        bytes[at] = byte;
                        assert_eq!(plain_len(&bytes), one_by_one(&bytes), "{byte:#x} at {at} of {length} {around:#x}");
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end_where_a_look_at_each_says(bytes: Vec<u8>, mostly_plain in "[ \
            -!#-\\[a-zé]{0,40}[\"\\\\\u{1f}]?[ -~]{0,9}") {
            prop_assert_eq!(plain_len(&bytes), one_by_one(&bytes));
            prop_assert_eq!(plain_len(mostly_plain.as_bytes()), one_by_one(mostly_plain.as_bytes()));
        }
    }
}
