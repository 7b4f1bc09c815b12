//! Requests in RESP: arrays of bulk strings, or a line of words. Pure: bytes in, arguments out, however the bytes are
//! cut. Every length is bounded before any memory is used for it.

use std::borrow::Cow;
use std::ops::Range;

use crate::limits::{
    ARGUMENT_BYTES_MAX, ARGUMENTS_MAX, LINE_BYTES_MAX, REQUEST_BYTES_MAX, UNKNOWN_ARGUMENT_BYTES_MAX,
    UNKNOWN_ARGUMENTS_MAX,
};

/// Invalid bytes. The connection ends after the reply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed(pub Cow<'static, str>);

/// Reads requests from bytes as they come.
#[derive(Default, Debug)]
pub struct Requests {
    bytes: Vec<u8>,
    /// The beginning of the first unanswered request.
    start: usize,
    /// How far it has been read, from its start.
    at: usize,
    /// The number of arguments that are still to come; `None` before the first line.
    left: Option<usize>,
    /// The arguments that have come, from the start.
    arguments: Vec<Range<usize>>,
    /// The end of the argument that is coming, from the start; 0 if none has announced itself.
    announced: usize,
    /// They are of somebody who has to log in first.
    of_unknown: bool,
}

impl Requests {
    /// Takes bytes in.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Says whether they come from somebody who has to log in first, and may not say much.
    pub fn come_from_unknown(&mut self, unknown: bool) {
        self.of_unknown = unknown;
    }

    /// How long the request that is coming is at least; 0 if none is.
    pub fn coming(&self) -> usize {
        self.waiting().max(if self.waiting() > 0 { self.announced } else { 0 })
    }

    /// Makes room for the request that is coming, so that it is not moved while it grows.
    pub fn make_room(&mut self) {
        let more = self.coming() - self.waiting();
        if self.start > 0 && more > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        self.bytes.reserve_exact(more);
    }

    /// Unanswered bytes.
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Frees memory of buffers beyond `to`, if nothing waits.
    pub fn shrink(&mut self, to: usize) {
        if self.waiting() == 0 {
            self.bytes.clear();
            self.bytes.shrink_to(to);
            self.start = 0;
        }
    }

    /// The next request's arguments, at least one; `None` if it is not whole yet.
    ///
    /// # Errors
    /// [`Malformed`]; nothing after it can be read.
    pub fn next_request(&mut self) -> Result<Option<Vec<Vec<u8>>>, Malformed> {
        loop {
            let rest = &self.bytes[self.start..];
            let whole = match self.left {
                Some(_) => self.go_on()?,
                None => match rest.first() {
                    None => return Ok(None),
                    Some(b'*') => self.begin()?,
                    Some(_) => match self.inline()? {
                        None => return Ok(None),
                        Some(words) if words.is_empty() => continue,
                        Some(words) => return Ok(Some(words)),
                    },
                },
            };
            if !whole {
                return Ok(None);
            }
            let rest = &self.bytes[self.start..];
            let arguments: Vec<_> = self.arguments.iter().map(|at| rest[at.clone()].to_vec()).collect();
            self.done();
            // An empty array is no request, and is skipped.
            if !arguments.is_empty() {
                return Ok(Some(arguments));
            }
        }
    }

    fn done(&mut self) {
        self.start += self.at;
        self.at = 0;
        self.left = None;
        self.announced = 0;
        self.arguments.clear();
    }

    fn begin(&mut self) -> Result<bool, Malformed> {
        let Some((line, next)) = self.line(1, "too big mbulk count string")? else { return Ok(false) };
        let count = length(line, ARGUMENTS_MAX).ok_or_else(|| Malformed("invalid multibulk length".into()))?;
        if self.of_unknown && count > UNKNOWN_ARGUMENTS_MAX {
            return Err(Malformed("unauthenticated multibulk length".into()));
        }
        self.at = next;
        self.left = Some(count);
        self.go_on()
    }

    /// Reads arguments; returns whether all have come.
    fn go_on(&mut self) -> Result<bool, Malformed> {
        while let Some(left) = self.left.filter(|left| *left > 0) {
            let rest = &self.bytes[self.start + self.at..];
            match rest.first() {
                None => return Ok(false),
                Some(b'$') => {}
                Some(&other) => {
                    let other = if other.is_ascii_graphic() { char::from(other) } else { ' ' };
                    return Err(Malformed(format!("expected '$', got '{other}'").into()));
                }
            }
            let Some((line, next)) = self.line(self.at + 1, "too big bulk count string")? else { return Ok(false) };
            let length = length(line, ARGUMENT_BYTES_MAX).ok_or_else(|| Malformed("invalid bulk length".into()))?;
            if next + length > REQUEST_BYTES_MAX {
                return Err(Malformed("a request is at most 64 MiB long".into()));
            }
            if self.of_unknown && length > UNKNOWN_ARGUMENT_BYTES_MAX {
                return Err(Malformed("unauthenticated bulk length".into()));
            }
            let end = next + length;
            self.announced = end + 2;
            let after = &self.bytes[self.start + next..];
            match after.get(length..length + 2) {
                Some(b"\r\n") => {}
                Some(_) => return Err(Malformed("an argument has another length than it says".into())),
                None => return Ok(false),
            }
            self.arguments.push(next..end);
            self.at = end + 2;
            self.left = Some(left - 1);
        }
        Ok(true)
    }

    /// The line at `at`, from the start, and the place after it; `too_big` is said of one without an end.
    fn line(&self, at: usize, too_big: &'static str) -> Result<Option<(&[u8], usize)>, Malformed> {
        let rest = &self.bytes[self.start + at..];
        let seen = &rest[..rest.len().min(LINE_BYTES_MAX)];
        match seen.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                let line = &seen[..end];
                Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), at + end + 1)))
            }
            None if rest.len() >= LINE_BYTES_MAX => Err(Malformed(too_big.into())),
            None => Ok(None),
        }
    }

    /// The words of a line, which may be none; `None` if it is not whole yet.
    fn inline(&mut self) -> Result<Option<Vec<Vec<u8>>>, Malformed> {
        let Some((line, next)) = self.line(0, "too big inline request")? else { return Ok(None) };
        let words = words(line).ok_or_else(|| Malformed("unbalanced quotes in request".into()))?;
        self.at = next;
        self.done();
        Ok(Some(words))
    }
}

/// A length of decimal digits, not above `max`.
fn length(digits: &[u8], max: usize) -> Option<usize> {
    if digits.is_empty() || digits.len() > 10 || !digits.iter().all(u8::is_ascii_digit) {
        // `*-1` is an empty array, and Redis takes every number below 0 so.
        let is_below = digits.strip_prefix(b"-").is_some_and(|rest| length(rest, usize::MAX).is_some_and(|n| n > 0));
        return (is_below && max == ARGUMENTS_MAX).then_some(0);
    }
    let number = digits.iter().fold(0_usize, |number, digit| number * 10 + usize::from(digit - b'0'));
    (number <= max).then_some(number)
}

/// The words of a line; `"..."` with escapes and `'...'` are one word each. `None` if a quote is not closed.
fn words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start();
        let Some(first) = rest.first() else { return Some(words) };
        let mut word = Vec::new();
        let quote = Some(*first).filter(|byte| matches!(byte, b'"' | b'\''));
        if let Some(quote) = quote {
            rest = &rest[1..];
            loop {
                match rest {
                    [] => return None,
                    [byte, after @ ..] if *byte == quote => {
                        rest = after;
                        break;
                    }
                    [b'\\', b'x', high, low, after @ ..]
                        if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
                    {
                        word.push((nibble(*high) << 4) | nibble(*low));
                        rest = after;
                    }
                    [b'\\', byte, after @ ..] if quote == b'"' || *byte == b'\'' => {
                        word.push(match byte {
                            b'n' if quote == b'"' => b'\n',
                            b'r' if quote == b'"' => b'\r',
                            b't' if quote == b'"' => b'\t',
                            b'b' if quote == b'"' => 8,
                            b'a' if quote == b'"' => 7,
                            byte => *byte,
                        });
                        rest = after;
                    }
                    [byte, after @ ..] => {
                        word.push(*byte);
                        rest = after;
                    }
                }
            }
            if rest.first().is_some_and(|byte| !byte.is_ascii_whitespace()) {
                return None;
            }
        } else {
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            word.extend_from_slice(&rest[..end]);
            rest = &rest[end..];
        }
        words.push(word);
    }
}

fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.saturating_sub(b'A').min(5) + 10,
    }
}

/// A request as a client sends it.
pub fn encode_request<A: AsRef<[u8]>>(arguments: &[A]) -> Vec<u8> {
    let mut out = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        let argument = argument.as_ref();
        out.extend(format!("${}\r\n", argument.len()).into_bytes());
        out.extend(argument);
        out.extend(b"\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(bytes: &[u8]) -> Result<Vec<Vec<String>>, Malformed> {
        let mut requests = Requests::default();
        requests.feed(bytes);
        let mut found = Vec::new();
        while let Some(request) = requests.next_request()? {
            found.push(request.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect());
        }
        Ok(found)
    }

    #[test]
    fn arrays_and_lines_are_requests() {
        let bytes =
            b"*2\r\n$3\r\nGET\r\n$1\r\na\r\nPING\r\n\r\n*0\r\n*-1\r\n  set  \"a b\\x41\\n\" 'c\\'d' \n*1\r\n$0\r\n\r\n";
        let found = all(bytes).unwrap();
        assert_eq!(found, [vec!["GET", "a"], vec!["PING"], vec!["set", "a bA\n", "c'd"], vec![""]]);
        assert_eq!(all(b"*2\r\n$3\r\nGET\r\n$1\r\na\r").unwrap(), Vec::<Vec<String>>::new());
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for bytes in [
            &b"*x\r\n"[..],
            b"*200000\r\n",
            b"*--2\r\n",
            b"*-\r\n",
            b"*1\r\n:3\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$99999999\r\n",
            b"*1\r\n$1\r\nabc",
            b"GET \"a\r\n",
            b"GET \"a\"b\r\n",
            &"x".repeat(70_000).into_bytes(),
        ] {
            assert!(all(bytes).is_err(), "{}", bytes.escape_ascii());
        }
        // A number below 0 is an empty array, as in Redis.
        assert_eq!(all(b"*-2\r\n*1\r\n$4\r\nPING\r\n").unwrap().len(), all(b"*1\r\n$4\r\nPING\r\n").unwrap().len());
        let long = format!("*3\r\n$3\r\nSET\r\n$1\r\na\r\n${ARGUMENT_BYTES_MAX}\r\n");
        assert_eq!(all(long.as_bytes()).unwrap().len(), 0);
    }

    #[test]
    fn who_has_to_log_in_first_may_not_say_much() {
        let of_unknown = |bytes: &[u8]| {
            let mut requests = Requests::default();
            requests.come_from_unknown(true);
            requests.feed(bytes);
            requests.next_request()
        };
        assert!(of_unknown(&encode_request(&vec![vec![b'x'; 16 * 1024]; 10])).unwrap().is_some());
        let long = b"*3\r\n$3\r\nSET\r\n$2\r\nbb\r\n$60000000\r\n";
        assert_eq!(of_unknown(long), Err(Malformed("unauthenticated bulk length".into())));
        assert_eq!(of_unknown(b"*11\r\n"), Err(Malformed("unauthenticated multibulk length".into())));
    }

    #[test]
    fn the_length_that_is_coming_is_known_before_its_bytes() {
        let mut requests = Requests::default();
        requests.feed(b"PING\r\n*2\r\n$3\r\nGET\r\n$50000\r\nab");
        assert!(requests.next_request().unwrap().is_some());
        assert_eq!(requests.next_request(), Ok(None));
        assert_eq!(requests.coming(), "*2\r\n$3\r\nGET\r\n$50000\r\n".len() + 50_002);
        requests.make_room();
        requests.feed(&vec![b'x'; 49_998]);
        requests.feed(b"\r\n");
        assert_eq!(requests.next_request().unwrap().unwrap()[1].len(), 50_000);
        assert_eq!(requests.coming(), 0);
    }

    proptest! {
        #[test]
        fn requests_read_back_whole_and_cut(
            requests in proptest::collection::vec(
                proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 1..5), 0..5),
            cut in 1..20_usize,
        ) {
            let bytes: Vec<u8> = requests.iter().flat_map(|request| encode_request(request)).collect();
            let (mut reader, mut found) = (Requests::default(), Vec::new());
            for piece in bytes.chunks(cut) {
                reader.feed(piece);
                while let Some(request) = reader.next_request().unwrap() {
                    found.push(request);
                }
            }
            prop_assert_eq!(found, requests);
            prop_assert_eq!(reader.waiting(), 0);
        }
    }
}
