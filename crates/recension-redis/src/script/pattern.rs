//! Lua's patterns. Pure, and bounded: the steps of a search are counted, and how deep it goes.

use crate::limits::SCRIPT_PATTERN_DEPTH_MAX;

/// What a search may not exceed, or what a pattern has wrong.
pub(super) type Fault = &'static str;

/// Captures in a pattern.
const CAPTURES_MAX: usize = 32;

/// What a capture holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Capture {
    /// From a place to another.
    Text(usize, usize),
    /// A place, from 1 on: `()`.
    Place(usize),
    /// One that has begun.
    Open(usize),
}

/// A search of a pattern in a text.
pub(super) struct Search<'s> {
    text: &'s [u8],
    pattern: &'s [u8],
    pub(super) captures: Vec<Capture>,
    pub(super) steps: usize,
    steps_max: usize,
    depth: usize,
}

const BROKEN: Fault = "malformed pattern (ends with '%')";

impl<'s> Search<'s> {
    /// `pattern` has no anchor.
    pub(super) fn new(text: &'s [u8], pattern: &'s [u8], steps_max: usize) -> Self {
        Search { text, pattern, captures: Vec::new(), steps: 0, steps_max, depth: 0 }
    }

    /// Where a match that begins here ends.
    pub(super) fn at(&mut self, from: usize) -> Result<Option<usize>, Fault> {
        self.captures.clear();
        self.depth = 0;
        self.matches(from, 0)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.pattern.get(at).copied()
    }

    fn matches(&mut self, from: usize, at: usize) -> Result<Option<usize>, Fault> {
        if self.depth >= SCRIPT_PATTERN_DEPTH_MAX {
            return Err("pattern too complex");
        }
        self.depth += 1;
        let found = self.rest(from, at);
        self.depth -= 1;
        found
    }

    /// Matches the pattern from a place on with the text from a place on.
    fn rest(&mut self, mut from: usize, mut at: usize) -> Result<Option<usize>, Fault> {
        loop {
            self.steps += 1;
            if self.steps > self.steps_max {
                return Err("the pattern takes too many steps");
            }
            match (self.byte(at), self.byte(at + 1)) {
                (None, _) => return Ok(Some(from)),
                (Some(b'('), Some(b')')) => return self.captured(Capture::Place(from + 1), from, at + 2),
                (Some(b'('), _) => return self.captured(Capture::Open(from), from, at + 1),
                (Some(b')'), _) => return self.closed(from, at + 1),
                (Some(b'$'), None) => return Ok((from == self.text.len()).then_some(from)),
                (Some(b'%'), Some(b'b')) => match self.balanced(from, at + 2)? {
                    Some(end) => (from, at) = (end, at + 4),
                    None => return Ok(None),
                },
                (Some(b'%'), Some(b'f')) => {
                    let end = self.end_of_one(at + 2)?;
                    if self.byte(at + 2) != Some(b'[') {
                        return Err("missing '[' after '%f' in pattern");
                    }
                    let before = from.checked_sub(1).and_then(|place| self.text.get(place)).copied().unwrap_or(0);
                    let next = self.text.get(from).copied().unwrap_or(0);
                    if self.one_fits(before, at + 2, end) || !self.one_fits(next, at + 2, end) {
                        return Ok(None);
                    }
                    at = end;
                }
                (Some(b'%'), Some(digit @ b'0'..=b'9')) => match self.repeated(from, digit)? {
                    Some(end) => (from, at) = (end, at + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = self.end_of_one(at)?;
                    let fits = |search: &Self, from: usize| {
                        search.text.get(from).is_some_and(|byte| search.one_fits(*byte, at, end))
                    };
                    match self.byte(end) {
                        Some(b'?') => {
                            if fits(self, from)
                                && let Some(found) = self.matches(from + 1, end + 1)?
                            {
                                return Ok(Some(found));
                            }
                            at = end + 1;
                        }
                        Some(b'*') => return self.most(from, at, end, 0),
                        Some(b'+') => return self.most(from, at, end, 1),
                        Some(b'-') => loop {
                            if let Some(found) = self.matches(from, end + 1)? {
                                return Ok(Some(found));
                            }
                            if !fits(self, from) {
                                return Ok(None);
                            }
                            from += 1;
                        },
                        _ if fits(self, from) => (from, at) = (from + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    /// As many as fit, and then fewer.
    fn most(&mut self, from: usize, at: usize, end: usize, least: usize) -> Result<Option<usize>, Fault> {
        let fitting = self.text.get(from..).unwrap_or_default();
        let mut count = fitting.iter().take_while(|byte| self.one_fits(**byte, at, end)).count();
        self.steps += count / 16;
        while count >= least {
            if let Some(found) = self.matches(from + count, end + 1)? {
                return Ok(Some(found));
            }
            if count == 0 {
                break;
            }
            count -= 1;
        }
        Ok(None)
    }

    fn captured(&mut self, capture: Capture, from: usize, at: usize) -> Result<Option<usize>, Fault> {
        if self.captures.len() >= CAPTURES_MAX {
            return Err("too many captures");
        }
        let before = self.captures.len();
        self.captures.push(capture);
        let found = self.matches(from, at)?;
        if found.is_none() {
            self.captures.truncate(before);
        }
        Ok(found)
    }

    fn closed(&mut self, from: usize, at: usize) -> Result<Option<usize>, Fault> {
        let open = self.captures.iter().rposition(|capture| matches!(capture, Capture::Open(_)));
        let open = open.ok_or("invalid pattern capture")?;
        let before = self.captures[open];
        if let Capture::Open(start) = before {
            self.captures[open] = Capture::Text(start, from);
        }
        let found = self.matches(from, at)?;
        if found.is_none() {
            self.captures[open] = before;
        }
        Ok(found)
    }

    fn balanced(&mut self, from: usize, at: usize) -> Result<Option<usize>, Fault> {
        let (Some(open), Some(close)) = (self.byte(at), self.byte(at + 1)) else {
            return Err("unbalanced pattern");
        };
        if self.text.get(from) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 0;
        for (place, byte) in self.text.iter().enumerate().skip(from) {
            self.steps += usize::from(place % 16 == 0);
            if *byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(place + 1));
                }
            } else if *byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    fn repeated(&mut self, from: usize, digit: u8) -> Result<Option<usize>, Fault> {
        let capture = usize::from(digit).checked_sub(usize::from(b'1')).and_then(|at| self.captures.get(at));
        let Some(Capture::Text(start, end)) = capture.copied() else { return Err("invalid capture index") };
        let wanted = self.text.get(start..end).unwrap_or_default();
        self.steps += wanted.len() / 16;
        Ok(self.text.get(from..).is_some_and(|rest| rest.starts_with(wanted)).then_some(from + wanted.len()))
    }

    /// Where a class that begins here ends.
    fn end_of_one(&self, at: usize) -> Result<usize, Fault> {
        match self.byte(at) {
            Some(b'%') => self.byte(at + 1).map(|_| at + 2).ok_or(BROKEN),
            Some(b'[') => {
                let mut end = at + 1 + usize::from(self.byte(at + 1) == Some(b'^'));
                // A bracket that stands first is meant.
                let first = end;
                loop {
                    match self.byte(end) {
                        None => return Err("malformed pattern (missing ']')"),
                        Some(b']') if end > first => return Ok(end + 1),
                        Some(b'%') => end += 2,
                        Some(_) => end += 1,
                    }
                }
            }
            _ => Ok(at + 1),
        }
    }

    /// Whether a byte is of the class that begins and ends here.
    fn one_fits(&self, byte: u8, at: usize, end: usize) -> bool {
        match self.byte(at) {
            Some(b'.') => true,
            Some(b'%') => self.byte(at + 1).is_some_and(|class| is_of(byte, class)),
            Some(b'[') => {
                let inverted = self.byte(at + 1) == Some(b'^');
                let mut place = at + 1 + usize::from(inverted);
                let mut found = false;
                while place + 1 < end {
                    match (self.byte(place), self.byte(place + 1), self.byte(place + 2)) {
                        (Some(b'%'), Some(class), _) => {
                            found |= is_of(byte, class);
                            place += 2;
                        }
                        (Some(low), Some(b'-'), Some(high)) if place + 3 < end => {
                            found |= (low..=high).contains(&byte);
                            place += 3;
                        }
                        (own, ..) => {
                            found |= own == Some(byte);
                            place += 1;
                        }
                    }
                }
                found != inverted
            }
            own => own == Some(byte),
        }
    }
}

fn is_of(byte: u8, class: u8) -> bool {
    let is = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return byte == class,
    };
    is != class.is_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_lua() {
        for (text, pattern, expected) in [
            ("hello", "l+", Some((2, 4))),
            ("hello", "l-o", Some((2, 5))),
            ("key=value", "(%w+)=(%w+)", Some((0, 9))),
            ("  x", "%S", Some((2, 3))),
            ("f(a(b)c)d", "%b()", Some((1, 8))),
            ("THE (quick) fox", "%f[%a]%a+%f[%A]", Some((0, 3))),
            ("aXb", "[^a-z]", Some((1, 2))),
            ("a]b", "[]]", Some((1, 2))),
            ("abab", "(ab)%1", Some((0, 4))),
            ("1.5", "^%d+%.%d+$", None),
            ("x", "y*", Some((0, 0))),
            ("ab", "a?b", Some((0, 2))),
        ] {
            let mut search = Search::new(text.as_bytes(), pattern.as_bytes(), 1000);
            let found = (0..=text.len()).find_map(|at| search.at(at).unwrap().map(|end| (at, end)));
            assert_eq!(found, expected, "{text} {pattern}");
        }
        for broken in ["%", "[a", "(", "%1", "%b", ")"] {
            let mut search = Search::new(b"aa", broken.as_bytes(), 1000);
            let found = search.at(0);
            assert!(found.is_err() || search.captures.contains(&Capture::Open(0)), "{broken}");
        }
        // What would take for ever ends.
        let (text, pattern) = ([b'a'; 64], "a*a*a*a*a*a*a*a*b");
        assert_eq!(Search::new(&text, pattern.as_bytes(), 100_000).at(0), Err("the pattern takes too many steps"));
    }
}
