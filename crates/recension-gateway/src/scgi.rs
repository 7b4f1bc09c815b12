//! The head of a request of SCGI: one netstring of names and values, each with a zero byte after it. The body follows.

use crate::limits::{DIGITS_MAX, ENVIRONMENT_BYTES_MAX, VARIABLES_MAX};
use crate::{Environment, Malformed};

/// Reads the head from the beginning of the received bytes. Returns also the number of its bytes; `None` if more bytes
/// are needed.
///
/// # Errors
/// [`Malformed`]: the connection is to be closed.
pub fn head(bytes: &[u8]) -> Result<Option<(Environment, usize)>, Malformed> {
    let digits = bytes.iter().take(DIGITS_MAX + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let wrong = Malformed("this is not SCGI: it begins with no length");
    let Some(colon) = bytes.get(digits) else { return if digits <= DIGITS_MAX { Ok(None) } else { Err(wrong) } };
    if *colon != b':' || digits == 0 || digits > DIGITS_MAX || (digits > 1 && bytes[0] == b'0') {
        return Err(wrong);
    }
    let text = std::str::from_utf8(&bytes[..digits]).map_err(|_| wrong)?;
    let length: usize = text.parse().map_err(|_| wrong)?;
    if length > ENVIRONMENT_BYTES_MAX {
        return Err(Malformed("a request's variables are too long"));
    }
    let end = digits + 1 + length;
    match bytes.get(end) {
        None => Ok(None),
        Some(b',') => Ok(Some((variables(&bytes[digits + 1..end])?, end + 1))),
        Some(_) => Err(Malformed("a request's variables do not end with a comma")),
    }
}

fn variables(text: &[u8]) -> Result<Environment, Malformed> {
    let Some(text) = text.strip_suffix(b"\0") else { return Err(Malformed("a variable is cut off")) };
    let mut parts = text.split(|byte| *byte == 0);
    let mut pairs = Vec::new();
    while let Some(name) = parts.next() {
        let value = parts.next().ok_or(Malformed("a variable has no value"))?;
        if pairs.len() == VARIABLES_MAX {
            return Err(Malformed("a request has too many variables"));
        }
        pairs.push((name.to_vec(), value.to_vec()));
    }
    let environment = Environment(pairs);
    match environment.get("SCGI") {
        Some(b"1") => Ok(environment),
        _ => Err(Malformed("this is not version 1 of SCGI")),
    }
}

/// Appends a head as web servers write it.
pub fn push(environment: &Environment, out: &mut Vec<u8>) {
    let length: usize = environment.0.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
    out.extend_from_slice(format!("{length}:").as_bytes());
    for text in environment.0.iter().flat_map(|(name, value)| [name, value]) {
        out.extend_from_slice(text);
        out.push(0);
    }
    out.push(b',');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_read_when_they_are_whole() {
        let pair = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let environment =
            Environment(vec![pair("CONTENT_LENGTH", "4"), pair("SCGI", "1"), pair("EMPTY", ""), pair("X", "a,b:c")]);
        let mut sent = Vec::new();
        push(&environment, &mut sent);
        let length = sent.len();
        sent.extend_from_slice(b"body");
        for cut in 0..length {
            assert_eq!(head(&sent[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(head(&sent), Ok(Some((environment, length))));
        for wrong in [
            &b"GET / HTTP/1.1"[..],
            b":",
            b"01:\0,",
            b"99999999",
            b"9999999:",
            b"0:,",
            b"4:A\0b\0,",
            b"7:SCGI\x001\0;",
            b"7:SCGI\x002\0,",
            b"5:SCGI\0,",
        ] {
            assert!(head(wrong).is_err(), "{}", wrong.escape_ascii());
        }
    }
}
