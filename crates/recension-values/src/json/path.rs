//! Paths into JSON: read from text, and followed in a minified text without parsing anything beside the way. A text
//! that is not minified JSON gives no value or a wrong one, but never a panic.

use std::fmt;
use std::str::FromStr;

use super::Text;
use super::scan::plain_len;
use crate::error::{Error, Result};
use crate::limits::{JSON_DEPTH_MAX, PATH_BYTES_MAX};

/// One step of a path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A member of an object; a number is also an element of an array.
    Name(String),
    /// An element of an array, from 0.
    Item(usize),
    /// Every element of an array.
    Each,
}

/// The way to a value inside a JSON text: `address.city`, `items[0].sku`.
///
/// Names are separated by dots. A backslash before a dot, a bracket or a backslash makes it a part
/// of the name. Empty brackets lead to every element of an array, so to any number of values:
/// `tags[]`, `items[].sku`.
///
/// ```
/// use recension::Path;
/// # fn main() -> recension::Result<()> {
/// let path: Path = "items[1].sku".parse()?;
/// assert_eq!(path.find(r#"{"items":[{"sku":"a"},{"sku":"b"}]}"#), Some(r#""b""#));
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Path {
    steps: Vec<Step>,
    /// If the text is no path: the text, and the reason.
    refused: Option<Box<(String, &'static str)>>,
}

/// A path as an argument: a [`Path`], or its text.
///
/// If the text is no path, the function that uses it fails: the query, or the creation of the index, with
/// [`Error::BadName`]. [`str::parse`] fails at once.
///
/// ```
/// use recension::{Error, Query, Store};
/// # fn main() -> recension::Result<()> {
/// let query = Query::new().without("address..city");
/// assert!(matches!(Store::memory()?.collection("people")?.find(&query), Err(Error::BadName { what: "path", .. })));
/// # Ok(()) }
/// ```
pub trait IntoPath {
    /// The path.
    fn into_path(self) -> Path;
}

impl IntoPath for Path {
    fn into_path(self) -> Path {
        self
    }
}

impl IntoPath for &Path {
    fn into_path(self) -> Path {
        self.clone()
    }
}

impl IntoPath for &str {
    fn into_path(self) -> Path {
        Path::read(self).unwrap_or_else(|why| {
            let shown = self.chars().take(NAME_SHOWN_CHARS).collect();
            Path { steps: Vec::new(), refused: Some(Box::new((shown, why))) }
        })
    }
}

impl IntoPath for String {
    fn into_path(self) -> Path {
        self.as_str().into_path()
    }
}

impl IntoPath for &String {
    fn into_path(self) -> Path {
        self.as_str().into_path()
    }
}

/// Characters of an invalid path that an error shows.
const NAME_SHOWN_CHARS: usize = 80;

impl Path {
    /// A path over these names.
    pub fn from_segments<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self> {
        let steps = names.into_iter().map(|name| Step::Name(name.into())).collect();
        let path = Path { steps, refused: None };
        let text = path.to_string();
        path.checked().map_err(|why| bad_path(&text, why))
    }

    /// A path over any names, as selectors have them: members may have empty names.
    pub fn of_names(names: Vec<String>) -> Self {
        Path { steps: names.into_iter().map(Step::Name).collect(), refused: None }
    }

    /// A path of these steps.
    pub fn of_steps(steps: Vec<Step>) -> Result<Self> {
        let path = Path { steps, refused: None };
        let text = path.to_string();
        path.checked().map_err(|why| bad_path(&text, why))
    }

    /// Its steps.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether it leads to any number of values: it has empty brackets.
    pub fn is_multiple(&self) -> bool {
        self.steps.contains(&Step::Each)
    }

    /// The steps to an array and those into each of its elements, if it leads there with one pair of empty brackets.
    pub fn of_elements(&self) -> Option<(&[Step], &[Step])> {
        let (array, within) = self.steps.split_at_checked(self.steps.iter().position(|step| *step == Step::Each)?)?;
        let within = within.get(1..).filter(|within| !within.contains(&Step::Each))?;
        Some((array, within))
    }

    /// The text of the value at this path in a minified text, if there is one. A path to any number of values finds
    /// none.
    pub fn find<'t>(&self, text: &'t str) -> Option<&'t str> {
        Self::find_at(&self.steps, text)
    }

    /// The same for steps, of which there may be none.
    pub fn find_at<'t>(steps: &[Step], text: &'t str) -> Option<&'t str> {
        let mut cursor = Cursor::new(text);
        for step in steps {
            match (cursor.peek()?, step) {
                (b'{', Step::Name(name)) => cursor.enter_member(name)?,
                (b'[', Step::Name(name)) if is_number(name) => cursor.enter_item(name.parse().ok()?)?,
                (b'[', Step::Item(item)) => cursor.enter_item(*item)?,
                _ => return None,
            }
        }
        let start = cursor.at;
        cursor.skip_value()?;
        text.get(start..cursor.at)
    }

    fn checked(self) -> std::result::Result<Self, &'static str> {
        if self.steps.is_empty() {
            return Err("it is empty");
        }
        if self.steps.iter().any(|step| matches!(step, Step::Name(name) if name.is_empty())) {
            return Err("a name in it is empty");
        }
        if self.to_string().len() > PATH_BYTES_MAX || self.steps.len() > JSON_DEPTH_MAX {
            return Err("it is too long");
        }
        Ok(self)
    }

    /// # Errors
    /// [`Error::BadName`] if it was made of a text that is no path.
    pub fn check(&self) -> Result<()> {
        self.refused.as_ref().map_or(Ok(()), |refused| Err(bad_path(&refused.0, refused.1)))
    }
}

pub(super) fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn bad_path(text: &str, why: &'static str) -> Error {
    Error::BadName { what: "path", name: text.chars().take(NAME_SHOWN_CHARS).collect(), why }
}

impl FromStr for Path {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Path::read(text).map_err(|why| bad_path(text, why))
    }
}

impl Path {
    fn read(text: &str) -> std::result::Result<Self, &'static str> {
        if text.len() > PATH_BYTES_MAX {
            return Err("it is too long");
        }
        let mut steps = Vec::new();
        let mut name = String::new();
        let mut in_name = true;
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            match c {
                '.' | '[' => {
                    if in_name {
                        if name.is_empty() && !(c == '[' && steps.is_empty()) {
                            return Err("a name between two dots is empty");
                        }
                        if !name.is_empty() {
                            steps.push(Step::Name(std::mem::take(&mut name)));
                        }
                    }
                    in_name = c == '.';
                    if c == '[' {
                        let digits: String = chars.by_ref().take_while(|&c| c != ']').collect();
                        let item = if is_number(&digits) { digits.parse().ok() } else { None };
                        let step = if digits.is_empty() { Some(Step::Each) } else { item.map(Step::Item) };
                        steps.push(step.ok_or("brackets hold the number of an element, or nothing")?);
                        let rest = chars.as_str();
                        if !text[..text.len() - rest.len()].ends_with(']')
                            || !(rest.is_empty() || rest.starts_with(['.', '[']))
                        {
                            return Err("after an element's brackets comes a dot or the end");
                        }
                    }
                }
                '\\' => name.push(chars.next().ok_or("it ends with a backslash")?),
                c if in_name => name.push(c),
                _ => return Err("after an element's brackets comes a dot or the end"),
            }
        }
        if in_name {
            if name.is_empty() {
                return Err(if text.is_empty() { "it is empty" } else { "it ends with a dot" });
            }
            steps.push(Step::Name(name));
        }
        Path { steps, refused: None }.checked()
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(refused) = &self.refused {
            return f.write_str(&refused.0);
        }
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                Step::Item(item) => write!(f, "[{item}]")?,
                Step::Each => f.write_str("[]")?,
                Step::Name(name) => {
                    if i > 0 {
                        f.write_str(".")?;
                    }
                    for c in name.chars() {
                        if matches!(c, '.' | '[' | '\\') {
                            f.write_str("\\")?;
                        }
                        write!(f, "{c}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// A place in a minified text.
pub struct Cursor<'t> {
    pub text: &'t str,
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str) -> Self {
        Cursor { text, at: 0 }
    }

    pub fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// From a `{` to the value of the member `name`.
    fn enter_member(&mut self, name: &str) -> Option<()> {
        self.at += 1;
        loop {
            if self.peek()? != b'"' {
                return None;
            }
            let found = self.string()?.is(name);
            self.at += 1;
            if found {
                return Some(());
            }
            self.skip_value()?;
            self.at += 1;
        }
    }

    /// From a `[` to the element `item`.
    fn enter_item(&mut self, item: usize) -> Option<()> {
        self.at += 1;
        for _ in 0..item {
            if self.peek()? == b']' {
                return None;
            }
            self.skip_value()?;
            if self.peek()? != b',' {
                return None;
            }
            self.at += 1;
        }
        (self.peek()? != b']').then_some(())
    }

    pub fn string(&mut self) -> Option<Text<'t>> {
        let start = self.at + 1;
        let mut escaped = false;
        let bytes = self.text.as_bytes();
        self.at = start;
        loop {
            self.at += plain_len(bytes.get(self.at..)?);
            match bytes.get(self.at)? {
                b'"' => {
                    self.at += 1;
                    return Some(Text { raw: self.text.get(start..self.at - 1)?, escaped });
                }
                b'\\' => {
                    escaped = true;
                    self.at += 2;
                }
                // No string of a JSON text contains a control character.
                _ => self.at += 1,
            }
        }
    }

    /// Passes the comma behind a member or an element, if one is there.
    pub(super) fn skip_comma(&mut self) -> Option<()> {
        self.at += usize::from(self.peek()? == b',');
        Some(())
    }

    pub fn skip_value(&mut self) -> Option<()> {
        let bytes = self.text.as_bytes();
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => drop(self.string()?),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                b'}' | b']' if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                b'}' | b']' | b',' | b':' => return None,
                _ => {
                    let rest = &bytes[self.at..];
                    self.at += rest.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(rest.len());
                }
            }
            if depth == 0 {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        r#"{"a":{"b":[1,{"c":"x,]}\"y"},[],null],"":0},"a.b":true,"k\u0065y":-1.5e3,"0":"zero","last":"\\"}"#;

    #[test]
    fn a_path_finds_its_value_and_nothing_else() {
        for (path, expected) in [
            ("a", Some(r#"{"b":[1,{"c":"x,]}\"y"},[],null],"":0}"#)),
            ("a.b", Some(r#"[1,{"c":"x,]}\"y"},[],null]"#)),
            ("a.b[0]", Some("1")),
            ("a.b.0", Some("1")),
            ("a.b[1].c", Some(r#""x,]}\"y""#)),
            ("a.b.1.c", Some(r#""x,]}\"y""#)),
            ("a.b[2]", Some("[]")),
            ("a.b[2][0]", None),
            ("a.b[3]", Some("null")),
            ("a.b[4]", None),
            ("a.b.c", None),
            ("a\\.b", Some("true")),
            ("a\\.b.c", None),
            ("key", Some("-1.5e3")),
            ("0", Some("\"zero\"")),
            ("[0]", None),
            ("last", Some(r#""\\""#)),
            ("nothing", None),
        ] {
            assert_eq!(path.parse::<Path>().unwrap().find(TEXT), expected, "{path}");
        }
        assert!(Path::from_segments(["a", ""]).is_err());
        assert_eq!(Path::from_segments(["a.b"]).unwrap().find(TEXT), Some("true"));
    }

    #[test]
    fn a_path_reads_back_what_it_prints() {
        for path in ["a", "a.b", "a[0].b", "[3][4].x", "a\\.b.c\\[d\\\\", "ä.ö", "a[].b[]", "[]"] {
            let parsed: Path = path.parse().unwrap();
            assert_eq!(parsed.to_string(), path);
            assert_eq!(parsed.to_string().parse::<Path>().unwrap(), parsed);
        }
    }

    #[test]
    fn what_is_not_a_path_is_refused() {
        for path in ["", ".", "a.", ".a", "a..b", "a[", "a[]b", "a[ ]", "a[x]", "a[1", "a[1]b", "a[1].", "a\\", "a[-1]"]
        {
            assert!(path.parse::<Path>().is_err(), "{path}");
        }
        assert!("x".repeat(PATH_BYTES_MAX + 1).parse::<Path>().is_err());
    }

    #[test]
    fn a_cut_or_senseless_text_never_panics() {
        let paths: Vec<Path> = ["a.b[1].c", "key", "a.b.0", "x"].iter().map(|path| path.parse().unwrap()).collect();
        for path in &paths {
            for cut in 0..TEXT.len() {
                path.find(&TEXT[..cut]);
                path.find(&TEXT[cut..]);
            }
        }
    }
}
