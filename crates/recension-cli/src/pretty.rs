//! JSON for people: it is indented, arrays of plain values take as few lines as possible, and escaped letters become
//! letters. The result is JSON of the same value. Numbers keep their spelling.

use std::iter::Peekable;
use std::str::Chars;

/// Width of the lines of an array of plain values.
const WIDTH: usize = 100;

/// `text`, which is JSON, for people. If it is not JSON, the result is unspecified.
pub fn pretty(text: &str) -> String {
    let mut printer = Printer { rest: text.chars().peekable(), out: String::with_capacity(text.len() * 2) };
    printer.value(0);
    printer.out
}

/// A JSON text for a terminal: names, texts, numbers and words in their colours.
pub fn coloured(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut rest = json;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_len(rest),
            '-' | '0'..='9' | 'a'..='z' => {
                rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c))).unwrap_or(rest.len())
            }
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        let colour = match first {
            '"' if after.trim_start().starts_with(':') => "36",
            '"' => "32",
            '-' | '0'..='9' => "33",
            'a'..='z' => "35",
            _ => "",
        };
        if colour.is_empty() {
            out.push_str(token);
        } else {
            out.extend(["\x1b[", colour, "m", token, "\x1b[0m"]);
        }
        rest = after;
    }
    out
}

/// The bytes of the string at the beginning, with its quotes.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

struct Printer<'t> {
    rest: Peekable<Chars<'t>>,
    out: String,
}

impl Printer<'_> {
    /// Prints a value whose lines are indented by `depth` levels. It recurses as deep as the text nests, which the
    /// documents layer has bounded.
    fn value(&mut self, depth: usize) {
        match self.next_visible() {
            Some('{') => self.members(depth),
            Some('[') => self.elements(depth),
            _ => {
                let scalar = self.scalar();
                self.out.push_str(&scalar);
            }
        }
    }

    fn members(&mut self, depth: usize) {
        self.rest.next();
        self.out.push('{');
        let mut first = true;
        loop {
            match self.next_visible() {
                None => return,
                Some('}') => break,
                Some(',') => {
                    self.rest.next();
                    self.out.push(',');
                }
                Some('"') => {
                    first = false;
                    self.line(depth + 1);
                    let name = self.scalar();
                    self.out.push_str(&name);
                    self.out.push_str(": ");
                    if self.next_visible() == Some(':') {
                        self.rest.next();
                    }
                    self.value(depth + 1);
                }
                Some(other) => {
                    self.rest.next();
                    self.out.push(other);
                }
            }
        }
        self.rest.next();
        if !first {
            self.line(depth);
        }
        self.out.push('}');
    }

    fn elements(&mut self, depth: usize) {
        self.rest.next();
        self.out.push('[');
        let start = self.column();
        let mut broken = false;
        loop {
            match self.next_visible() {
                None => return,
                Some(']') => break,
                Some(',') => {
                    self.rest.next();
                    self.out.push(',');
                }
                Some('{' | '[') => {
                    broken = true;
                    self.line(depth + 1);
                    self.value(depth + 1);
                }
                Some(_) => {
                    let scalar = self.scalar();
                    let column = self.column();
                    if broken && self.out.ends_with("},")
                        || column + scalar.chars().count() + 2 > WIDTH && column > start
                    {
                        broken = true;
                        self.line(depth + 1);
                    } else if self.out.ends_with(',') {
                        self.out.push(' ');
                    }
                    self.out.push_str(&scalar);
                }
            }
        }
        self.rest.next();
        if broken {
            self.line(depth);
        }
        self.out.push(']');
    }

    /// A string, a number or a word, as people read it.
    fn scalar(&mut self) -> String {
        let mut text = String::new();
        if self.rest.peek() != Some(&'"') {
            let end = |c: &char| !matches!(c, ',' | ':' | ']' | '}' | '[' | '{' | '"') && !c.is_ascii_whitespace();
            while let Some(character) = self.rest.next_if(end) {
                text.push(character);
            }
            if text.is_empty() {
                // JSON has nothing else here. The character is taken, to make progress.
                text.extend(self.rest.next());
            }
            return text;
        }
        text.extend(self.rest.next());
        while let Some(character) = self.rest.next() {
            match character {
                '"' => {
                    text.push('"');
                    break;
                }
                '\\' => match self.rest.next() {
                    Some('u') => self.unicode(&mut text),
                    other => {
                        text.push('\\');
                        text.extend(other);
                    }
                },
                other => text.push(other),
            }
        }
        text
    }

    /// Prints the character of a `\u` escape. A letter is printed as itself; a character that would act on a terminal
    /// stays escaped.
    fn unicode(&mut self, text: &mut String) {
        let mut digits = self.digits();
        let mut unit = u32::from_str_radix(&digits, 16).unwrap_or(0xd800);
        let mut ahead = self.rest.clone();
        if (0xd800..0xdc00).contains(&unit) && ahead.next() == Some('\\') && ahead.next() == Some('u') {
            let low: String = ahead.take(4).collect();
            if let Ok(value @ 0xdc00..0xe000) = u32::from_str_radix(&low, 16) {
                unit = 0x1_0000 + ((unit - 0xd800) << 10) + (value - 0xdc00);
                digits = format!("{digits}\\u{low}");
                self.rest.by_ref().take(6).for_each(drop);
            }
        }
        match char::from_u32(unit) {
            Some(character) if is_harmless(character) => text.push(character),
            _ => {
                text.push_str("\\u");
                text.push_str(&digits);
            }
        }
    }

    fn digits(&mut self) -> String {
        self.rest.by_ref().take(4).collect()
    }

    fn next_visible(&mut self) -> Option<char> {
        while self.rest.next_if(char::is_ascii_whitespace).is_some() {}
        self.rest.peek().copied()
    }

    fn line(&mut self, depth: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", depth));
    }

    fn column(&self) -> usize {
        self.out.rsplit('\n').next().unwrap_or_default().chars().count()
    }
}

/// Whether a character only shows itself: it is no control character, not invisible, and no change of direction.
fn is_harmless(character: char) -> bool {
    let acts = matches!(character,
        '\0'..='\u{a0}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e000}'..='\u{f8ff}'
        | '\u{e0000}'..='\u{10ffff}');
    !acts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_nothing_else() {
        let text = "{\n  \"a\\\"b\": [1.5e-3, \"x: y\", null, true, {}],\n  \"é\": -2\n}";
        let shown = coloured(text);
        assert!(shown.starts_with(
            "{\n  \x1b[36m\"a\\\"b\"\x1b[0m: [\x1b[33m1.5e-3\x1b[0m, \x1b[32m\"x: y\"\x1b[0m, \x1b[35mnull"
        ));
        let mut plain = shown.replace("\x1b[0m", "");
        for colour in ["32", "33", "35", "36"] {
            plain = plain.replace(&format!("\x1b[{colour}m"), "");
        }
        assert_eq!(plain, text);
    }

    #[test]
    fn members_stand_on_lines_and_plain_elements_in_them() {
        let text = r#"{"a":[1.0e2,"x\" {,:",null],"b":{"c":{},"d":[ ]},"e":[[1],{"f":2},3]}"#;
        let shown = r#"{
  "a": [1.0e2, "x\" {,:", null],
  "b": {
    "c": {},
    "d": []
  },
  "e": [
    [1],
    {
      "f": 2
    },
    3
  ]
}"#;
        assert_eq!(pretty(text), shown);
    }

    #[test]
    fn a_long_array_goes_on_in_the_next_line() {
        let text = format!("{{\"a\":[{}]}}", vec!["\"0123456789\""; 20].join(","));
        let shown = pretty(&text);
        assert!(shown.lines().all(|line| line.chars().count() <= WIDTH + 2), "{shown}");
        assert_eq!(shown.lines().count(), 7, "{shown}");
    }

    #[test]
    fn escaped_letters_are_shown_as_letters_and_nothing_else_is() {
        for (text, shown) in [
            (r#""\u6ce2\u5716""#, "\"波圖\""),
            (r#""\ud842\udfb7""#, "\"𠮷\""),
            (r#""\u001b[2J\u202e\u200b""#, r#""\u001b[2J\u202e\u200b""#),
            (r#""\u094d\ud83d\ude00\n\u0022\u0041""#, "\"\u{94d}😀\\n\\u0022\\u0041\""),
            (r#""\ud842x""#, r#""\ud842x""#),
        ] {
            assert_eq!(pretty(text), shown);
        }
    }

    #[test]
    fn what_is_printed_is_the_same_value() {
        let text = r#"[{"a":[[],{},[{}],[[1,2],[3,"\u00e9\\"]],-0.0,true]},[],{"":{"\u0022":[null]}}]"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty(text)).unwrap(), value);
    }

    #[test]
    fn what_is_no_json_ends() {
        for text in ["", "{", "[", "[}", "{]", "{\"a\"", "[,", "\"\\u12", "\"\\", "}", "{1}", "{:}"] {
            let _ = pretty(text);
        }
    }
}
