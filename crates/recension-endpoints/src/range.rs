//! The header `Range`, with one range of bytes. Pure. A request with several ranges gets the whole, as RFC 9110 allows.

use std::ops::Range;

/// The part that a request asks for, of a body of known length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Asked {
    /// All of it.
    Whole,
    /// Some of it: never empty, and never beyond the end.
    Part(Range<u64>),
    /// The range is not there.
    Unsatisfiable,
}

/// Reads `bytes=0-9`, `bytes=60-`, `bytes=-4`. A header that cannot be read is ignored; `bytes=0-` is all, and a range
/// that ends before it begins is nowhere, as in CouchDB.
pub(crate) fn asked(header: Option<&str>, length: u64) -> Asked {
    let Some(range) = header.and_then(|text| text.trim().strip_prefix("bytes=")) else { return Asked::Whole };
    let Some((first, last)) = range.split_once('-') else { return Asked::Whole };
    let (first, last) = (first.trim(), last.trim());
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    match (first.is_empty(), last.is_empty()) {
        (true, true) => Asked::Whole,
        (true, false) => match number(last) {
            None => Asked::Whole,
            Some(0) => Asked::Unsatisfiable,
            Some(_) if length == 0 => Asked::Unsatisfiable,
            Some(count) => Asked::Part(length.saturating_sub(count)..length),
        },
        (false, open) => {
            let (Some(first), Some(last)) = (number(first), if open { Some(u64::MAX - 1) } else { number(last) })
            else {
                return Asked::Whole;
            };
            if last < first {
                return Asked::Unsatisfiable;
            }
            if first == 0 && open {
                return Asked::Whole;
            }
            let end = last.saturating_add(1).min(length);
            if first >= length { Asked::Unsatisfiable } else { Asked::Part(first..end) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_has_them() {
        for (header, expected) in [
            ("bytes=0-9", Asked::Part(0..10)),
            ("bytes=60-", Asked::Part(60..64)),
            ("bytes=-4", Asked::Part(60..64)),
            ("bytes=-400", Asked::Part(0..64)),
            ("bytes=50-200", Asked::Part(50..64)),
            ("bytes=63-63", Asked::Part(63..64)),
            ("bytes=64-", Asked::Unsatisfiable),
            ("bytes=100-200", Asked::Unsatisfiable),
            ("bytes=-0", Asked::Unsatisfiable),
            ("bytes=18446744073709551615-", Asked::Unsatisfiable),
            ("bytes=0-18446744073709551615", Asked::Part(0..64)),
            ("bytes=5-2", Asked::Unsatisfiable),
            ("bytes=0-", Asked::Whole),
            ("bytes=0-1,4-5", Asked::Whole),
            ("bytes=-", Asked::Whole),
            ("bytes=+1-2", Asked::Whole),
            ("bytes=99999999999999999999-", Asked::Whole),
            ("x=1", Asked::Whole),
        ] {
            assert_eq!(asked(Some(header), 64), expected, "{header}");
        }
        assert_eq!(asked(Some("bytes=0-"), 0), Asked::Whole);
        assert_eq!(asked(Some("bytes=-1"), 0), Asked::Unsatisfiable);
        assert_eq!(asked(None, 64), Asked::Whole);
    }
}
