//! The words of a script.

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Name(String),
    Number(f64),
    Text(Vec<u8>),
    Sign(&'static str),
}

const SIGNS: [&str; 26] = [
    "...", "..", "==", "~=", "<=", ">=", "(", ")", "{", "}", "[", "]", "=", "<", ">", "+", "-", "*", "/", "%", "^",
    "#", ",", ".", ";", ":",
];

/// The words with the lines on which they stand.
pub(super) fn tokens(script: &[u8]) -> Result<Vec<(Token, u32)>, String> {
    let (mut rest, mut line, mut found) = (script, 1, Vec::new());
    while let Some(&first) = rest.first() {
        if first.is_ascii_whitespace() || first == 0x0b {
            line += u32::from(first == b'\n');
            rest = &rest[1..];
            continue;
        }
        let near = |rest: &[u8]| {
            let word = String::from_utf8_lossy(&rest[..rest.len().min(10)]).into_owned();
            format!("user_script:{line}: malformed word near '{word}'")
        };
        let len = if let Some(comment) = rest.strip_prefix(b"--") {
            match long_bracket(comment) {
                Some(long) => 2 + long.ok_or_else(|| format!("user_script:{line}: unfinished long comment"))?.1,
                None => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            }
        } else if let Some(long) = long_bracket(rest) {
            let (text, len) = long.ok_or_else(|| format!("user_script:{line}: unfinished long string"))?;
            found.push((Token::Text(text.to_vec()), line));
            len
        } else {
            let (token, len) = one(rest).ok_or_else(|| near(rest))?;
            found.push((token, line));
            len
        };
        line += rest[..len].iter().map(|byte| u32::from(*byte == b'\n')).sum::<u32>();
        rest = &rest[len..];
    }
    Ok(found)
}

/// `[[…]]` or `[==[…]==]`: the text within and the length of all; inside `None` if it does not end.
#[expect(clippy::option_option, reason = "none, one without an end, and one with an end")]
fn long_bracket(rest: &[u8]) -> Option<Option<(&[u8], usize)>> {
    let level = rest.strip_prefix(b"[")?.iter().take_while(|byte| **byte == b'=').count();
    let inner = rest.get(level + 1..)?.strip_prefix(b"[")?;
    let end: Vec<u8> = [&b"]"[..], &vec![b'='; level], b"]"].concat();
    let found = inner.windows(end.len()).position(|window| window == end);
    Some(found.map(|at| {
        // The first line break is not part of the text.
        let text = &inner[..at];
        let text = text.strip_prefix(b"\r\n").or(text.strip_prefix(b"\n")).unwrap_or(text);
        (text, level + 2 + at + end.len())
    }))
}

fn one(rest: &[u8]) -> Option<(Token, usize)> {
    let first = *rest.first()?;
    let second_is_digit = rest.get(1).is_some_and(u8::is_ascii_digit);
    if first.is_ascii_alphabetic() || first == b'_' {
        let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        return Some((Token::Name(String::from_utf8_lossy(&rest[..len]).into_owned()), len));
    }
    if first.is_ascii_digit() || (first == b'.' && second_is_digit) {
        let mut len = 0;
        while let Some(byte) = rest.get(len) {
            let is_sign = matches!(byte, b'+' | b'-')
                && matches!(rest.get(len.wrapping_sub(1)), Some(b'e' | b'E'))
                && !matches!(rest.get(1), Some(b'x' | b'X'));
            if !(byte.is_ascii_alphanumeric() || *byte == b'.' || *byte == b'_' || is_sign) {
                break;
            }
            len += 1;
        }
        return Some((Token::Number(super::value::number_of_text(&rest[..len])?), len));
    }
    if first == b'"' || first == b'\'' {
        return text(rest, first);
    }
    let sign = SIGNS.into_iter().find(|sign| rest.starts_with(sign.as_bytes()))?;
    Some((Token::Sign(sign), sign.len()))
}

fn text(rest: &[u8], quote: u8) -> Option<(Token, usize)> {
    let (mut text, mut at) = (Vec::new(), 1);
    loop {
        match *rest.get(at)? {
            byte if byte == quote => return Some((Token::Text(text), at + 1)),
            b'\n' => return None,
            b'\\' => {
                at += 1;
                let quoted = *rest.get(at)?;
                text.push(match quoted {
                    b'a' => 7,
                    b'b' => 8,
                    b'f' => 12,
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'v' => 11,
                    b'0'..=b'9' => {
                        let digits = rest[at..].iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
                        let number = std::str::from_utf8(&rest[at..at + digits]).ok()?.parse::<u8>().ok()?;
                        at += digits - 1;
                        number
                    }
                    other => other,
                });
            }
            byte => text.push(byte),
        }
        at += 1;
    }
}
