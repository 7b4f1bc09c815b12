//! Tokens of JavaScript. Anything that is not understood (regular expressions, templates, letters beyond ASCII) ends
//! the reading: nothing is guessed. Pure.

/// A token, and whether a line ends before it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) on_new_line: bool,
}

/// The kind of a token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    /// A name or a keyword.
    Word(String),
    /// A string.
    Text(String),
    /// A number.
    Number(f64),
    /// An operator or a bracket.
    Mark(&'static str),
}

/// Longest first, so that none is read as the beginning of another.
const MARKS: [&str; 55] = [
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&",
    "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**", "{", "}", "(", ")",
    "[", "]", ";", ",", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "?", ":",
];

/// The tokens of a text; `None` if any is not understood.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    // The engine still knows comments in the form of HTML, a relic.
    if !text.is_ascii() && !only_in_texts(text) || text.contains("<!--") || text.contains("-->") {
        return None;
    }
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut on_new_line = false;
    while let Some(first) = rest.chars().next() {
        if matches!(first, ' ' | '\t' | '\r' | '\n') {
            on_new_line |= matches!(first, '\r' | '\n');
            rest = &rest[1..];
        } else if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.find(['\n', '\r']).map_or("", |end| &comment[end..]);
        } else if let Some(comment) = rest.strip_prefix("/*") {
            let (inside, after) = comment.split_once("*/")?;
            on_new_line |= inside.contains(['\n', '\r']);
            rest = after;
        } else {
            let (kind, after) = token(rest, first)?;
            tokens.push(Token { kind, on_new_line });
            on_new_line = false;
            rest = after;
        }
    }
    Some(tokens)
}

/// Whether a text has none of three special characters: the line separator, the paragraph separator and the byte order
/// mark. Outside of strings they would be white space.
fn only_in_texts(text: &str) -> bool {
    !text.contains(['\u{2028}', '\u{2029}', '\u{feff}'])
}

fn token(rest: &str, first: char) -> Option<(Kind, &str)> {
    if first.is_ascii_alphabetic() || matches!(first, '_' | '$') {
        let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if after.starts_with(|c: char| !c.is_ascii() || c == '\\') {
            return None;
        }
        return Some((Kind::Word(word.to_owned()), after));
    }
    if matches!(first, '"' | '\'') {
        return text(&rest[1..], first).map(|(text, after)| (Kind::Text(text), after));
    }
    if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return number(rest).map(|(number, after)| (Kind::Number(number), after));
    }
    if let (Some(after), false) = (rest.strip_prefix('.'), rest.starts_with("...")) {
        return Some((Kind::Mark("."), after));
    }
    let mark = MARKS.iter().find(|mark| rest.starts_with(**mark)).copied();
    let mark = mark.or_else(|| rest.starts_with('=').then_some("="))?;
    Some((Kind::Mark(mark), &rest[mark.len()..]))
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$')
}

/// A string, from behind its opening quote.
fn text(rest: &str, quote: char) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next()? {
            c if c == quote => return Some((out, chars.as_str())),
            '\n' | '\r' => return None,
            '\\' => out.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'v' => '\u{b}',
                c @ ('\\' | '\'' | '"' | '/') => c,
                'u' => {
                    let digits = chars.as_str().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
                    let code = u32::from_str_radix(digits?, 16).ok()?;
                    chars = chars.as_str()[4..].chars();
                    // Half of a surrogate pair is not a character.
                    char::from_u32(code)?
                }
                _ => return None,
            }),
            c => out.push(c),
        }
    }
}

/// A number in decimal.
fn number(rest: &str) -> Option<(f64, &str)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(rest);
    // Old octal numbers, and other forms that begin with a zero, are not understood.
    if end > 1 && rest.starts_with('0') {
        return None;
    }
    if rest[end..].starts_with('.') {
        end += 1 + digits(&rest[end + 1..]);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let power = digits(&rest[end + 1 + sign..]);
        if power == 0 {
            return None;
        }
        end += 1 + sign + power;
    }
    let (number, after) = rest.split_at(end);
    if after.starts_with(|c: char| is_of_word(c) || !c.is_ascii() || c == '\\' || c == '.') {
        return None;
    }
    Some((number.parse().ok()?, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<String> {
        let show = |token: Token| match token.kind {
            Kind::Word(word) => word,
            Kind::Text(text) => format!("{text:?}"),
            Kind::Number(number) => number.to_string(),
            Kind::Mark(mark) => mark.to_owned(),
        };
        Some(tokens(text)?.into_iter().map(show).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn words_are_read_or_nothing_is() {
        for (text, read) in [
            ("a.b === 'x' // c\n && !d", Some("a . b === \"x\" && ! d")),
            ("a/* 'b */ + 1.5e3 + .5 + 5.", Some("a + 1500 + 0.5 + 5")),
            ("'\\u00e9\\n\\'' \"é\"", Some("\"é\\n'\" \"é\"")),
            ("a = b => c", Some("a = b => c")),
            ("010", None),
            ("0x10", None),
            ("1_000", None),
            ("'a", None),
            ("'\\x41'", None),
            ("'\\ud800'", None),
            ("`a`", None),
            ("é", None),
            ("aé", None),
            ("\\u0061", None),
            ("a <!-- b", None),
            ("/* a", None),
            ("a # b", None),
        ] {
            assert_eq!(words(text).as_deref(), read, "{text}");
        }
    }
}
