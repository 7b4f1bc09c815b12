//! Splits a line into words, as a POSIX shell does, except that an object or an array of JSON needs no quotes. It
//! accepts every text, also an unfinished one, because completion needs that.

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text, without quotes and escapes.
    pub text: String,
    /// The byte at which it begins.
    pub start: usize,
}

/// The words of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The words; the last one may be cut short.
    pub words: Vec<Word>,
    /// The open quote or bracket, if the line goes on in the next one.
    pub open: Option<&'static str>,
    /// The line ends in white space, so another word comes next.
    pub ended: bool,
}

/// The words of a line.
///
/// In `'...'` everything is literal. In `"..."` a backslash escapes `"` and `\`; outside of quotes it escapes any
/// character. `#` at the beginning of a word begins a comment. A word that begins with `{` or `[` goes to its closing
/// bracket, as it is written.
pub fn split(line: &str) -> Words {
    let mut splitter = Splitter { line, at: 0, words: Words { ended: true, ..Words::default() } };
    while splitter.words.open.is_none() && splitter.skip_space() {
        let start = splitter.at;
        let text = splitter.word();
        splitter.words.words.push(Word { text, start });
        splitter.words.ended = false;
    }
    splitter.words
}

/// A word, in quotes if it needs them: [`split`] returns the same word for it.
pub fn quoted(word: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "_-./:@%+=,~".contains(character);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

struct Splitter<'l> {
    line: &'l str,
    at: usize,
    words: Words,
}

impl Splitter<'_> {
    fn peek(&self) -> Option<char> {
        self.line.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Skips white space and comments. Returns whether a word follows.
    fn skip_space(&mut self) -> bool {
        while let Some(next) = self.peek() {
            match next {
                '#' => while self.next().is_some_and(|character| character != '\n') {},
                '\\' if self.line[self.at + 1..].starts_with('\n') => self.at += 2,
                _ if next.is_whitespace() => self.at += next.len_utf8(),
                _ => return true,
            }
            self.words.ended = true;
        }
        false
    }

    fn word(&mut self) -> String {
        let mut text = String::new();
        if matches!(self.peek(), Some('{' | '[')) {
            self.json(&mut text);
        }
        while let Some(next) = self.peek() {
            if self.words.open.is_some() || next.is_whitespace() {
                break;
            }
            self.at += next.len_utf8();
            match next {
                '\'' => self.single_quoted(&mut text),
                '"' => self.double_quoted(&mut text),
                '\\' => match self.next() {
                    // A backslash at the end of a line joins it with the next one.
                    Some('\n') => {}
                    Some(escaped) => text.push(escaped),
                    None => self.words.open = Some("a backslash"),
                },
                _ => text.push(next),
            }
        }
        text
    }

    fn single_quoted(&mut self, text: &mut String) {
        loop {
            match self.next() {
                Some('\'') => return,
                Some(inside) => text.push(inside),
                None => return self.words.open = Some("a quote (')"),
            }
        }
    }

    fn double_quoted(&mut self, text: &mut String) {
        loop {
            match self.next() {
                Some('"') => return,
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(escaped @ ('"' | '\\')) => text.push(escaped),
                    Some(other) => text.extend(['\\', other]),
                    None => return self.words.open = Some("a quote (\")"),
                },
                Some(inside) => text.push(inside),
                None => return self.words.open = Some("a quote (\")"),
            }
        }
    }

    /// Takes a JSON value in brackets. The command checks whether it is valid JSON.
    fn json(&mut self, text: &mut String) {
        let mut depth = 0_usize;
        let mut in_string = false;
        while let Some(next) = self.next() {
            text.push(next);
            match next {
                '\\' if in_string => text.extend(self.next()),
                '"' => in_string = !in_string,
                _ if in_string => {}
                '{' | '[' => depth += 1,
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return;
                    }
                }
                _ => {}
            }
        }
        self.words.open = Some(if in_string { "a text in JSON" } else { "a bracket" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(line: &str) -> Vec<String> {
        split(line).words.into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn words_are_those_of_a_shell_and_json_needs_no_quotes() {
        for (line, words) in [
            ("", &[][..]),
            ("  # nothing", &[]),
            ("get cities  5 # a remark", &["get", "cities", "5"]),
            ("a#b 'c#d' \"#\"", &["a#b", "c#d", "#"]),
            (r#"find c 'name = "Porto"'"#, &["find", "c", r#"name = "Porto""#]),
            (r#"x "a \"b\" \n" c\ d ''"#, &["x", r#"a "b" \n"#, "c d", ""]),
            (
                r#"put n a {"t": "} ' \" #", "l": [1, {}]} --rev 1-a"#,
                &["put", "n", "a", r#"{"t": "} ' \" #", "l": [1, {}]}"#, "--rev", "1-a"],
            ),
            ("put n a {\n  \"t\": 1\n}", &["put", "n", "a", "{\n  \"t\": 1\n}"]),
            ("get c \\\n  5 a\\\nb", &["get", "c", "5", "ab"]),
            ("items[0].x", &["items[0].x"]),
            ("it's fine'", &["its fine"]),
        ] {
            assert_eq!(texts(line), words, "{line}");
            assert_eq!(split(line).open, None, "{line}");
        }
    }

    #[test]
    fn what_is_not_closed_goes_on_in_the_next_line() {
        for (line, open) in [
            ("put n a {\"t\": 1", "a bracket"),
            ("put n a {\"t\": \"}", "a text in JSON"),
            ("find c 'x = 1", "a quote (')"),
            ("find c \"x = 1\\\"", "a quote (\")"),
            ("get c \\", "a backslash"),
            ("patch n a [", "a bracket"),
        ] {
            assert_eq!(split(line).open, Some(open), "{line}");
        }
        let words = split("find c 'x = ");
        assert_eq!((words.words[2].text.as_str(), words.words[2].start, words.ended), ("x = ", 7, false));
        assert!(split("find c ").ended && !split("find c").ended);
    }

    proptest! {
        #[test]
        fn a_quoted_word_is_itself_again(word in any::<String>(), other in "[a-z]{1,3}") {
            prop_assert_eq!(texts(&format!("{} {other}", quoted(&word))), [word, other]);
        }

        #[test]
        fn any_text_is_split(line in any::<String>()) {
            let words = split(&line);
            prop_assert!(words.words.iter().all(|word| line.is_char_boundary(word.start)));
        }
    }
}
