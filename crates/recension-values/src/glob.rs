//! Patterns for names of topics and keys, as in Redis: `*` is any bytes, `?` one byte, `[a-z]` one of these, `[^a]` one
//! of the others; `\` makes the next byte literal. Pure; the time is bounded by the product of the lengths.

/// A pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glob {
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Any,
    One,
    Byte(u8),
    Class { inverted: bool, ranges: Vec<(u8, u8)> },
}

impl Glob {
    /// Reads a pattern. Every text is one.
    pub fn new(pattern: impl AsRef<[u8]>) -> Self {
        let mut rest = pattern.as_ref();
        let mut parts = Vec::with_capacity(rest.len());
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            let part = match first {
                b'*' if parts.last() == Some(&Part::Any) => continue,
                b'*' => Part::Any,
                b'?' => Part::One,
                b'[' => class(&mut rest),
                b'\\' if !rest.is_empty() => {
                    let byte = rest[0];
                    rest = &rest[1..];
                    Part::Byte(byte)
                }
                byte => Part::Byte(byte),
            };
            parts.push(part);
        }
        Glob { parts }
    }

    /// Whether the whole name fits.
    pub fn matches(&self, name: impl AsRef<[u8]>) -> bool {
        let name = name.as_ref();
        let (mut part, mut at) = (0, 0);
        // If the rest after the last star does not fit, try one byte later. Earlier stars need no second try.
        let mut again = None;
        while at < name.len() || part < self.parts.len() {
            match self.parts.get(part) {
                Some(Part::Any) => {
                    part += 1;
                    again = Some((part, at));
                    continue;
                }
                Some(one) if at < name.len() && one.is(name[at]) => {
                    part += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            match again {
                Some((after_star, from)) if from < name.len() => {
                    again = Some((after_star, from + 1));
                    (part, at) = (after_star, from + 1);
                }
                _ => return false,
            }
        }
        true
    }

    /// The prefix of all names that fit.
    pub fn prefix(&self) -> Vec<u8> {
        let bytes = self.parts.iter().map_while(|part| if let Part::Byte(byte) = part { Some(*byte) } else { None });
        bytes.collect()
    }
}

impl Part {
    fn is(&self, byte: u8) -> bool {
        match self {
            Part::Any => false,
            Part::One => true,
            Part::Byte(own) => *own == byte,
            Part::Class { inverted, ranges } => {
                ranges.iter().any(|(from, to)| (*from..=*to).contains(&byte)) != *inverted
            }
        }
    }
}

/// Reads a class behind its bracket. A class that is not closed goes to the end.
fn class(rest: &mut &[u8]) -> Part {
    let inverted = rest.first() == Some(&b'^');
    if inverted {
        *rest = &rest[1..];
    }
    let mut ranges = Vec::new();
    loop {
        match **rest {
            [] => break,
            [b']', ..] => {
                *rest = &rest[1..];
                break;
            }
            [b'\\', byte, ..] => {
                ranges.push((byte, byte));
                *rest = &rest[2..];
            }
            [from, b'-', to, ..] => {
                ranges.push((from.min(to), from.max(to)));
                *rest = &rest[3..];
            }
            [byte, ..] => {
                ranges.push((byte, byte));
                *rest = &rest[1..];
            }
        }
    }
    Part::Class { inverted, ranges }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_they_do_in_redis() {
        for (pattern, yes, no) in [
            ("", &[""][..], &["a"][..]),
            ("*", &["", "a", "\n"], &[]),
            ("h?llo", &["hello", "hxllo"], &["hllo", "heello"]),
            ("h*llo", &["hllo", "heeeello", "hllollo"], &["hell"]),
            ("h[ae]llo", &["hello", "hallo"], &["hillo"]),
            ("h[^e]llo", &["hallo", "hbllo"], &["hello"]),
            ("h[a-b]llo", &["hallo", "hbllo"], &["hcllo"]),
            ("a\\*b", &["a*b"], &["aXb"]),
            ("[\\]]", &["]"], &["\\"]),
            ("news.*.*.x", &["news.a.b.x", "news.a.b.c.x"], &["news.a.x", "news.a.b.y"]),
            ("**a**", &["a", "bab"], &["b"]),
            ("a\\", &["a\\"], &["a"]),
            ("[z-a]", &["m"], &["A"]),
            ("[ab", &["a", "b"], &["c"]),
        ] {
            let glob = Glob::new(pattern);
            for name in yes {
                assert!(glob.matches(name), "{pattern} means {name}");
            }
            for name in no {
                assert!(!glob.matches(name), "{pattern} does not mean {name}");
            }
        }
        assert_eq!((Glob::new("user:*").prefix(), Glob::new("*x").prefix()), (b"user:".to_vec(), Vec::new()));
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_long_time() {
        let (pattern, name) = ("a*".repeat(2000) + "b", "a".repeat(20_000));
        assert!(!Glob::new(pattern).matches(name));
    }
}
