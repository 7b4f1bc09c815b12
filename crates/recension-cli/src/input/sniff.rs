//! Guesses about a table from its first 64 KiB: the delimiter of its cells and how its lines end. Pure.

/// Records that are looked at.
const RECORDS_MAX: usize = 500;

/// The byte at which lines end: a carriage return if the text has no other line ends, as old programs write it.
pub fn line_end(head: &[u8]) -> u8 {
    let only_returns = !head.contains(&b'\n') && head.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n');
    if only_returns { b'\r' } else { b'\n' }
}

/// The delimiter that Excel names in a first line such as `sep=;`, and the bytes of that line.
pub(super) fn named_delimiter(head: &[u8]) -> Option<(u8, usize)> {
    let line = &head[..head.iter().position(|byte| b"\r\n".contains(byte))?];
    let bare = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match bare {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', delimiter] => Some((*delimiter, line.len())),
        _ => None,
    }
}

/// The delimiter whose cells agree best: most records have as many as the header, and the header has the most.
pub(super) fn likely_delimiter(head: &[u8]) -> u8 {
    let score = |delimiter: u8| {
        let cells = cells_of_records(head, delimiter, line_end(head));
        let header = cells.first().copied().unwrap_or(0);
        let alike = cells.iter().filter(|count| **count == header).count();
        let agreeing = alike * 1000 / cells.len().max(1);
        (header > 1, agreeing, header)
    };
    // `max_by_key` returns the last of equals: the comma.
    [b'|', b'\t', b';', b','].into_iter().max_by_key(|&delimiter| score(delimiter)).unwrap_or(b',')
}

/// How many cells the records have. The last one may be cut off, and counts only if it is the only one.
fn cells_of_records(head: &[u8], delimiter: u8, line_end: u8) -> Vec<usize> {
    let (mut counts, mut cells, mut quoted, mut begins, mut empty) = (Vec::new(), 1, false, true, true);
    for &byte in head {
        if byte == b'"' && (quoted || begins) {
            // A doubled quote closes and opens again.
            quoted = !quoted;
            (begins, empty) = (!quoted, false);
        } else if quoted {
        } else if byte == line_end {
            if !empty {
                counts.push(cells);
            }
            if counts.len() == RECORDS_MAX {
                return counts;
            }
            (cells, begins, empty) = (1, true, true);
        } else if byte == delimiter {
            cells += 1;
            (begins, empty) = (true, false);
        } else if byte != b'\r' {
            (begins, empty) = (false, false);
        }
    }
    if counts.is_empty() || (head.len() < super::HEAD_BYTES && !empty) {
        counts.push(cells);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_the_records_agree_on() {
        for (text, delimiter) in [
            ("Country;Population\nPT;10", b';'),
            ("a;b,c;d\n1;2;3\n", b';'),
            ("a,b;c\n1,2\n\"x\ny\",3\n", b','),
            ("name;price\nA, B and C;1,5\nD, E;2,5\n", b';'),
            ("name,price\r\"A;B\",2\rC,3\r", b','),
            ("a\tb c\n1\t2\n", b'\t'),
            ("a|b\n", b'|'),
            ("a\n1\n", b','),
            ("", b','),
        ] {
            assert_eq!(likely_delimiter(text.as_bytes()), delimiter, "{text:?}");
        }
    }

    #[test]
    fn lines_end_with_returns_only_if_nothing_else_ends_them() {
        for (text, end) in [("a\rb\r", b'\r'), ("a\r\nb\r\n", b'\n'), ("a\r", b'\n'), ("a\nb\rc", b'\n'), ("", b'\n')] {
            assert_eq!(line_end(text.as_bytes()), end, "{text:?}");
        }
        assert_eq!(named_delimiter(b"sep=;\r\na;b"), Some((b';', 5)));
        assert_eq!(named_delimiter(b"\"sep=\t\"\na\tb"), Some((b'\t', 7)));
        assert_eq!(named_delimiter(b"sep,b\n"), None);
    }
}
