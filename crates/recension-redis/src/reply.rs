//! Replies, and their bytes in RESP2 and RESP3. Pure.

/// Which protocol a connection speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Protocol {
    /// RESP2, with which connections begin.
    #[default]
    Resp2,
    /// RESP3, after `HELLO 3`.
    Resp3,
}

/// A reply.
#[derive(Clone, PartialEq, Debug)]
pub enum Reply {
    /// `+OK`
    Ok,
    /// Another simple string.
    Simple(&'static str),
    /// A simple string that a script made.
    Status(String),
    /// An error; its first word is its kind.
    Error(String),
    /// A number.
    Integer(i64),
    /// A number that may have a fraction; in RESP2 its digits as bytes.
    Double(f64),
    /// Bytes.
    Bulk(Vec<u8>),
    /// Nothing.
    Null,
    /// Nothing, where an array is expected.
    NullArray,
    /// Several.
    Array(Vec<Reply>),
    /// Names and values; in RESP2 one after the other.
    Map(Vec<(Reply, Reply)>),
    /// Members and scores: in RESP2 one after the other, in RESP3 an array of two for each.
    Pairs(Vec<(Reply, Reply)>),
    /// Several different ones, in no order.
    Set(Vec<Reply>),
    /// A message without a request. In RESP2 it is an array.
    Push(Vec<Reply>),
}

/// About how many bytes an item of a reply takes beside its text.
pub(crate) const ITEM_BYTES: usize = size_of::<Reply>() + 16;

impl Reply {
    /// Text as bytes.
    pub fn text(text: impl Into<String>) -> Self {
        Reply::Bulk(text.into().into_bytes())
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn weight(&self) -> usize {
        let both = |(one, other): &(Reply, Reply)| one.weight() + other.weight();
        let of_parts: usize = match self {
            Reply::Bulk(bytes) => bytes.len(),
            Reply::Error(text) | Reply::Status(text) => text.len(),
            Reply::Array(parts) | Reply::Set(parts) | Reply::Push(parts) => parts.iter().map(Reply::weight).sum(),
            Reply::Map(pairs) | Reply::Pairs(pairs) => pairs.iter().map(both).sum(),
            _ => 0,
        };
        of_parts + ITEM_BYTES
    }

    /// Bytes, or nothing.
    pub fn or_null(bytes: Option<Vec<u8>>) -> Self {
        bytes.map_or(Reply::Null, Reply::Bulk)
    }

    /// How many.
    pub fn count(count: usize) -> Self {
        Reply::Integer(i64::try_from(count).unwrap_or(i64::MAX))
    }

    /// 1 or 0.
    pub fn flag(flag: bool) -> Self {
        Reply::Integer(i64::from(flag))
    }

    /// An error of the usual kind.
    pub fn error(message: impl std::fmt::Display) -> Self {
        Reply::Error(format!("ERR {message}"))
    }

    /// Appends its bytes. What is written is let go at once: a long reply is not there twice.
    pub fn write(self, protocol: Protocol, out: &mut Vec<u8>) {
        let is_3 = protocol == Protocol::Resp3;
        match self {
            Reply::Ok => out.extend(b"+OK\r\n"),
            Reply::Simple(word) => line(b'+', word.as_bytes(), out),
            Reply::Status(text) => one_line(b'+', &text, out),
            Reply::Error(message) => one_line(b'-', &message, out),
            Reply::Integer(number) => line(b':', number.to_string().as_bytes(), out),
            Reply::Double(number) if is_3 => line(b',', digits(number).as_bytes(), out),
            Reply::Double(number) => Reply::text(digits(number)).write(protocol, out),
            Reply::Bulk(bytes) => {
                head(b'$', bytes.len(), out);
                out.extend(bytes);
                out.extend(b"\r\n");
            }
            Reply::Null | Reply::NullArray if is_3 => out.extend(b"_\r\n"),
            Reply::Null => out.extend(b"$-1\r\n"),
            Reply::NullArray => out.extend(b"*-1\r\n"),
            Reply::Array(items) => all(b'*', items, protocol, out),
            Reply::Set(items) => all(if is_3 { b'~' } else { b'*' }, items, protocol, out),
            Reply::Push(items) => all(if is_3 { b'>' } else { b'*' }, items, protocol, out),
            Reply::Pairs(pairs) => {
                head(b'*', if is_3 { pairs.len() } else { 2 * pairs.len() }, out);
                for (first, second) in pairs {
                    if is_3 {
                        head(b'*', 2, out);
                    }
                    first.write(protocol, out);
                    second.write(protocol, out);
                }
            }
            Reply::Map(pairs) => {
                let (kind, len) = if is_3 { (b'%', pairs.len()) } else { (b'*', 2 * pairs.len()) };
                head(kind, len, out);
                for (name, value) in pairs {
                    name.write(protocol, out);
                    value.write(protocol, out);
                }
            }
        }
    }
}

/// The digits of a number as Redis writes a score: the fewest that read as the same number.
pub(crate) fn digits(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let size = number.abs();
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:e}");
    if size < 1.0 { text } else { text.replacen('e', "e+", 1) }
}

fn line(kind: u8, text: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend(text);
    out.extend(b"\r\n");
}

/// A text that somebody else made, as one line.
fn one_line(kind: u8, text: &str, out: &mut Vec<u8>) {
    let text: Vec<u8> = text.bytes().map(|byte| if byte == b'\r' || byte == b'\n' { b' ' } else { byte }).collect();
    line(kind, &text, out);
}

fn head(kind: u8, len: usize, out: &mut Vec<u8>) {
    // Short lengths are frequent, and are written without making a text.
    match u8::try_from(len) {
        Ok(len @ 0..=9) => out.extend([kind, b'0' + len, b'\r', b'\n']),
        _ => line(kind, len.to_string().as_bytes(), out),
    }
}

fn all(kind: u8, items: Vec<Reply>, protocol: Protocol, out: &mut Vec<u8>) {
    head(kind, items.len(), out);
    for item in items {
        item.write(protocol, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_have_the_bytes_of_their_protocol() {
        let pair = || (Reply::text("a"), Reply::Integer(-1));
        for (reply, resp2, resp3) in [
            (Reply::Ok, "+OK\r\n", "+OK\r\n"),
            (Reply::error("x\r\ny"), "-ERR x  y\r\n", "-ERR x  y\r\n"),
            (Reply::Null, "$-1\r\n", "_\r\n"),
            (Reply::NullArray, "*-1\r\n", "_\r\n"),
            (Reply::text("ten bytes!"), "$10\r\nten bytes!\r\n", "$10\r\nten bytes!\r\n"),
            (Reply::Map(vec![pair()]), "*2\r\n$1\r\na\r\n:-1\r\n", "%1\r\n$1\r\na\r\n:-1\r\n"),
            (Reply::Pairs(vec![pair()]), "*2\r\n$1\r\na\r\n:-1\r\n", "*1\r\n*2\r\n$1\r\na\r\n:-1\r\n"),
            (Reply::Double(0.1), "$3\r\n0.1\r\n", ",0.1\r\n"),
            (Reply::Double(1e25), "$5\r\n1e+25\r\n", ",1e+25\r\n"),
            (Reply::Double(f64::NEG_INFINITY), "$4\r\n-inf\r\n", ",-inf\r\n"),
            (Reply::Set(vec![Reply::Null]), "*1\r\n$-1\r\n", "~1\r\n_\r\n"),
            (Reply::Push(vec![]), "*0\r\n", ">0\r\n"),
        ] {
            for (protocol, expected) in [(Protocol::Resp2, resp2), (Protocol::Resp3, resp3)] {
                let mut out = Vec::new();
                reply.clone().write(protocol, &mut out);
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }
}
