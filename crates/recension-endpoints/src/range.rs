//! The header `Range`. Pure.

use std::ops::Range;

/// The part that a request asks for, of a body of known length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RequestedRange {
    /// All of it.
    Whole,
    /// Some of it: never empty, and never beyond the end.
    Part(Range<u64>),
    /// Several parts, in the order of the request.
    Parts(Vec<Range<u64>>),
    /// A range is not there.
    Unsatisfiable,
}

/// Requests with more ranges get the whole, as in CouchDB.
const RANGES_MAX: usize = 9;

/// Reads `bytes=0-9`, `bytes=60-`, `bytes=-4`, `bytes=0-9,-4`. A header that cannot be read is ignored; `bytes=0-` is
/// all, and a range that ends before it begins is nowhere, as in CouchDB.
pub(crate) fn asked(header: Option<&str>, length: u64) -> RequestedRange {
    let Some(ranges) = header.and_then(|text| text.trim().strip_prefix("bytes=")) else { return RequestedRange::Whole };
    let mut parts = Vec::new();
    for range in ranges.split(',').take(RANGES_MAX + 1) {
        match one(range.trim(), length) {
            RequestedRange::Part(part) => parts.push(part),
            whole_or_none => return whole_or_none,
        }
    }
    match parts.len() {
        1 => RequestedRange::Part(parts.remove(0)),
        2..=RANGES_MAX => RequestedRange::Parts(parts),
        _ => RequestedRange::Whole,
    }
}

/// The header `Content-Range` of a part.
pub(crate) fn content_range(part: &Range<u64>, length: u64) -> String {
    format!("bytes {}-{}/{length}", part.start, part.end.saturating_sub(1))
}

fn one(range: &str, length: u64) -> RequestedRange {
    let Some((first, last)) = range.split_once('-') else { return RequestedRange::Whole };
    let (first, last) = (first.trim(), last.trim());
    let number =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
    match (first.is_empty(), last.is_empty()) {
        (true, true) => RequestedRange::Whole,
        (true, false) => match number(last) {
            None => RequestedRange::Whole,
            Some(0) => RequestedRange::Unsatisfiable,
            Some(_) if length == 0 => RequestedRange::Unsatisfiable,
            Some(count) => RequestedRange::Part(length.saturating_sub(count)..length),
        },
        (false, open) => {
            let (Some(first), Some(last)) = (number(first), if open { Some(u64::MAX - 1) } else { number(last) })
            else {
                return RequestedRange::Whole;
            };
            if last < first {
                return RequestedRange::Unsatisfiable;
            }
            if first == 0 && open {
                return RequestedRange::Whole;
            }
            let end = last.saturating_add(1).min(length);
            if first >= length { RequestedRange::Unsatisfiable } else { RequestedRange::Part(first..end) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_rfc_9110_has_them() {
        for (header, expected) in [
            ("bytes=0-9", RequestedRange::Part(0..10)),
            ("bytes=60-", RequestedRange::Part(60..64)),
            ("bytes=-4", RequestedRange::Part(60..64)),
            ("bytes=-400", RequestedRange::Part(0..64)),
            ("bytes=50-200", RequestedRange::Part(50..64)),
            ("bytes=63-63", RequestedRange::Part(63..64)),
            ("bytes=64-", RequestedRange::Unsatisfiable),
            ("bytes=100-200", RequestedRange::Unsatisfiable),
            ("bytes=-0", RequestedRange::Unsatisfiable),
            ("bytes=18446744073709551615-", RequestedRange::Unsatisfiable),
            ("bytes=0-18446744073709551615", RequestedRange::Part(0..64)),
            ("bytes=5-2", RequestedRange::Unsatisfiable),
            ("bytes=0-", RequestedRange::Whole),
            ("bytes=0-1,4-5, -3", RequestedRange::Parts(vec![0..2, 4..6, 61..64])),
            ("bytes=4-5,0-", RequestedRange::Whole),
            ("bytes=4-5,x", RequestedRange::Whole),
            ("bytes=4-5,3-2", RequestedRange::Unsatisfiable),
            ("bytes=0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1,0-1", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("bytes=+1-2", RequestedRange::Whole),
            ("bytes=99999999999999999999-", RequestedRange::Whole),
            ("x=1", RequestedRange::Whole),
        ] {
            assert_eq!(asked(Some(header), 64), expected, "{header}");
        }
        assert_eq!(asked(Some("bytes=0-"), 0), RequestedRange::Whole);
        assert_eq!(asked(Some("bytes=-1"), 0), RequestedRange::Unsatisfiable);
        assert_eq!(asked(None, 64), RequestedRange::Whole);
    }
}
