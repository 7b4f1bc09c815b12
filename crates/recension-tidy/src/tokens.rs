//! As much of Rust's lexical grammar as the other rules need: names, `::` and single characters. Comments, strings and
//! code that is compiled only for tests are left out.

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name or a keyword.
    Name(String),
    /// `::`
    Path,
    /// Anything else, by its first character.
    Other(char),
}

/// A token and its line, counted from 1.
#[derive(Clone, Debug)]
pub struct Token {
    /// Its kind.
    pub kind: Kind,
    /// Its line.
    pub line: usize,
}

impl Token {
    /// Whether it is this name.
    pub fn is(&self, name: &str) -> bool {
        matches!(&self.kind, Kind::Name(this) if this == name)
    }

    /// Whether it is this character.
    pub fn is_char(&self, c: char) -> bool {
        self.kind == Kind::Other(c)
    }
}

/// The tokens of a file.
pub fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(&c) = chars.get(at) {
        let next = chars.get(at + 1).copied().unwrap_or('\n');
        let end = match c {
            '/' if next == '/' => until(&chars, at, |rest| rest.starts_with(&['\n'])),
            '/' if next == '*' => until(&chars, at + 2, |rest| rest.starts_with(&['*', '/'])) + 2,
            '"' => end_of_string(&chars, at + 1),
            'r' if next == '"' || next == '#' => match end_of_raw_string(&chars, at + 1) {
                Some(end) => end,
                None => name(&chars, at, line, &mut found),
            },
            '\'' if next == '\\' => until(&chars, at + 3, |rest| rest.starts_with(&['\''])) + 1,
            '\'' if chars.get(at + 2) == Some(&'\'') => at + 3,
            ':' if next == ':' => {
                found.push(Token { kind: Kind::Path, line });
                at + 2
            }
            _ if c.is_alphanumeric() || c == '_' => name(&chars, at, line, &mut found),
            _ => {
                if !c.is_whitespace() {
                    found.push(Token { kind: Kind::Other(c), line });
                }
                at + 1
            }
        };
        line += chars.get(at..end.min(chars.len())).unwrap_or_default().iter().filter(|c| **c == '\n').count();
        at = end;
    }
    found
}

fn until(chars: &[char], from: usize, is_end: impl Fn(&[char]) -> bool) -> usize {
    (from..chars.len()).find(|at| chars.get(*at..).is_some_and(&is_end)).unwrap_or(chars.len())
}

fn name(chars: &[char], at: usize, line: usize, found: &mut Vec<Token>) -> usize {
    let end = until(chars, at, |rest| rest.first().is_some_and(|c| !c.is_alphanumeric() && *c != '_'));
    let text = chars.get(at..end).unwrap_or_default().iter().collect();
    found.push(Token { kind: Kind::Name(text), line });
    end
}

fn end_of_string(chars: &[char], mut at: usize) -> usize {
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    chars.len()
}

/// The end of `"..."` or `#"..."#` after an `r`. `None` if it is a raw name.
fn end_of_raw_string(chars: &[char], at: usize) -> Option<usize> {
    let marks = chars.get(at..)?.iter().take_while(|c| **c == '#').count();
    if chars.get(at + marks) != Some(&'"') {
        return None;
    }
    let end: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', marks)).collect();
    Some(until(chars, at + marks + 1, |rest| rest.starts_with(&end)) + end.len())
}

/// The tokens without items that are compiled only for tests.
pub fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if is_test_attribute(tokens.get(at..).unwrap_or_default()) {
            at = end_of_item(tokens, at + 7);
        } else {
            kept.push(token.clone());
            at += 1;
        }
    }
    kept
}

/// Whether the tokens start with `#[cfg(test)]`.
fn is_test_attribute(tokens: &[Token]) -> bool {
    let [hash, open, cfg, bracket, test, close, end, ..] = tokens else { return false };
    hash.is_char('#')
        && open.is_char('[')
        && cfg.is("cfg")
        && bracket.is_char('(')
        && test.is("test")
        && close.is_char(')')
        && end.is_char(']')
}

/// The index after the `;` or the closing brace of the item that starts here.
fn end_of_item(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match token.kind {
            Kind::Other('{') => depth += 1,
            Kind::Other('}') if depth <= 1 => return at + 1,
            Kind::Other('}') => depth -= 1,
            Kind::Other(';') if depth == 0 => return at + 1,
            _ => {}
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(tokens: &[Token]) -> String {
        let word = |token: &Token| match &token.kind {
            Kind::Name(name) => name.clone(),
            Kind::Path => "::".to_owned(),
            Kind::Other(c) => c.to_string(),
        };
        tokens.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_strings_and_characters_are_no_names() {
        for (text, expected) in [
            ("use a::b; // c::d\n/* e */ f", "use a :: b ; f"),
            (r#"g("crate::x \" y", 'z', '\'', &'a b)"#, "g ( , , , & ' a b )"),
            ("h(r#\"crate::x \" y\"#, r\"z\") r#type", "h ( , ) r # type"),
        ] {
            assert_eq!(words(&tokens(text)), expected);
        }
        let lines: Vec<usize> = tokens("a\n\"x\ny\"\nb").iter().map(|token| token.line).collect();
        assert_eq!(lines, [1, 4]);
    }

    #[test]
    fn what_is_only_compiled_for_tests_is_left_out() {
        let text = "a; #[cfg(test)] mod t { fn f() { x } } b; #[cfg(test)] use c::d; e";
        assert_eq!(words(&without_tests(&tokens(text))), "a ; b ; e");
    }
}
