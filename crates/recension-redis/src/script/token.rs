//! The words of a script.

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Name(String),
    Number(f64),
    Text(Vec<u8>),
    Sign(&'static str),
}

const SIGNS: [&str; 25] = [
    "...", "..", "==", "~=", "<=", ">=", "(", ")", "{", "}", "[", "]", "=", "<", ">", "+", "-", "*", "/", "%", "#",
    ",", ".", ";", ":",
];

/// The words with the lines on which they stand.
pub(super) fn tokens(script: &[u8]) -> Result<Vec<(Token, usize)>, String> {
    let (mut rest, mut line, mut found) = (script, 1, Vec::new());
    while let Some(&first) = rest.first() {
        if first == b'\n' {
            line += 1;
        }
        if first.is_ascii_whitespace() {
            rest = &rest[1..];
            continue;
        }
        if let Some(comment) = rest.strip_prefix(b"--") {
            if comment.starts_with(b"[[") {
                return Err(format!("line {line}: comments of several lines are not understood here"));
            }
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            rest = &rest[end..];
            continue;
        }
        let (token, len) = one(rest).ok_or_else(|| {
            format!("line {line}: '{}' is not understood here", String::from_utf8_lossy(&rest[..rest.len().min(10)]))
        })?;
        found.push((token, line));
        rest = &rest[len..];
    }
    Ok(found)
}

fn one(rest: &[u8]) -> Option<(Token, usize)> {
    let first = *rest.first()?;
    let length = |is_part: fn(&u8) -> bool| rest.iter().take_while(|byte| is_part(byte)).count();
    if first.is_ascii_alphabetic() || first == b'_' {
        let len = length(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        return Some((Token::Name(String::from_utf8_lossy(&rest[..len]).into_owned()), len));
    }
    if first.is_ascii_digit() {
        let len = length(|byte| byte.is_ascii_digit() || *byte == b'.');
        let number = std::str::from_utf8(&rest[..len]).ok()?.parse().ok()?;
        // No letter may follow: 0x10 and 1e3 are not understood.
        return (!rest.get(len).is_some_and(u8::is_ascii_alphabetic)).then_some((Token::Number(number), len));
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
                text.push(match rest.get(at)? {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    quoted @ (b'\\' | b'"' | b'\'') => *quoted,
                    _ => return None,
                });
            }
            byte => text.push(byte),
        }
        at += 1;
    }
}
