//! `string`: its functions.

use super::pattern::{Capture, Search};
use super::run::{Running, Stop, Values};
use super::sprintf::Format;
use super::value::Value;
use crate::limits::SCRIPT_STEPS_MAX;

/// A place counted from 1 on, or from the end on if it is negative, as an index from 0 on that may lie outside.
fn index(place: i64, len: usize) -> i64 {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    if place < 0 { len + place } else { place - 1 }
}

fn part(text: &[u8], from: i64, to: i64) -> &[u8] {
    let from = usize::try_from(index(from, text.len()).max(0)).unwrap_or(0);
    let to = usize::try_from(index(to, text.len()) + 1).unwrap_or(0).min(text.len());
    text.get(from..to).unwrap_or_default()
}

/// What replaces what was found.
enum Replacement<'r> {
    Text(&'r [u8]),
    Of(&'r Value),
}

impl<E> Running<'_, '_, E> {
    fn text_of(&self, arguments: &[Value], number: usize, name: &str) -> Result<std::sync::Arc<[u8]>, Stop<E>> {
        let text = arguments.get(number).and_then(Value::string);
        text.ok_or_else(|| self.unfit_argument(arguments, number, name, "string"))
    }

    pub(super) fn string_function(&mut self, name: &str, arguments: &[Value]) -> Values<E> {
        if name == "char" {
            let mut bytes = Vec::with_capacity(arguments.len());
            for number in 0..arguments.len() {
                let byte = u8::try_from(self.whole_or(arguments, number, name, -1)?);
                bytes.push(byte.map_err(|_| self.wrong("bad argument #1 to 'char' (invalid value)"))?);
            }
            return Ok(vec![self.string(bytes)?]);
        }
        let text = self.text_of(arguments, 0, name)?;
        self.step(1 + text.len() / 64)?;
        let made = match name {
            "byte" => {
                let from = self.whole_or(arguments, 1, name, 1)?;
                let to = self.whole_or(arguments, 2, name, from)?;
                self.make(part(&text, from, to).len() * size_of::<Value>())?;
                return Ok(part(&text, from, to).iter().map(|byte| Value::Number(f64::from(*byte))).collect());
            }
            "len" => return Ok(vec![Value::count(text.len())]),
            "sub" => {
                let (from, to) = (self.whole_or(arguments, 1, name, 1)?, self.whole_or(arguments, 2, name, -1)?);
                part(&text, from, to).to_vec()
            }
            "lower" => text.to_ascii_lowercase(),
            "upper" => text.to_ascii_uppercase(),
            "reverse" => text.iter().rev().copied().collect(),
            "rep" => {
                let times = usize::try_from(self.whole_or(arguments, 1, name, 0)?).unwrap_or(0);
                // What is too long is not made first.
                self.make(text.len().saturating_mul(times).min(usize::MAX / 2))?;
                text.repeat(times)
            }
            "format" => self.formatted(&text, arguments)?,
            "find" | "match" => return self.found(&text, arguments, name == "find"),
            "gsub" => return self.replaced(&text, arguments),
            _ => return self.all_matches(arguments),
        };
        Ok(vec![self.string(made)?])
    }

    fn formatted(&mut self, format: &[u8], arguments: &[Value]) -> Result<Vec<u8>, Stop<E>> {
        let (mut out, mut rest, mut number) = (Vec::new(), format, 0);
        while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(b"%") {
                out.push(b'%');
                rest = after;
                continue;
            }
            let mut how = Format::default();
            let flags = rest.iter().take_while(|byte| b"-+ #0".contains(byte)).count();
            for flag in &rest[..flags] {
                match flag {
                    b'-' => how.left = true,
                    b'+' => how.plus = true,
                    b' ' => how.blank = true,
                    b'#' => how.sharp = true,
                    _ => how.zeros = true,
                }
            }
            rest = &rest[flags..];
            how.width = self.digits(&mut rest)?.unwrap_or(0);
            if let Some(after) = rest.strip_prefix(b".") {
                rest = after;
                how.precision = Some(self.digits(&mut rest)?.unwrap_or(0));
            }
            let Some((kind, after)) = rest.split_first() else {
                return Err(self.wrong("invalid option '%' to 'format'"));
            };
            rest = after;
            number += 1;
            let wanted = |running: &Self| {
                let value = arguments.get(number).and_then(Value::number);
                value.ok_or_else(|| running.unfit_argument(arguments, number, "format", "number"))
            };
            let text: Vec<u8> = match kind {
                #[expect(clippy::cast_possible_truncation, reason = "as in C")]
                b'd' | b'i' => how.whole(wanted(self)? as i64, b'd').into_bytes(),
                #[expect(clippy::cast_possible_truncation, reason = "as in C")]
                b'u' | b'o' | b'x' | b'X' => how.whole(wanted(self)? as i64, *kind).into_bytes(),
                b'e' | b'E' | b'f' | b'g' | b'G' => how.float(wanted(self)?, *kind).into_bytes(),
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as in C")]
                b'c' => vec![wanted(self)? as i64 as u8],
                b'q' => quoted(&self.text_of(arguments, number, "format")?),
                b's' => {
                    let shown = arguments.get(number).map(Value::shown);
                    let shown = shown.ok_or_else(|| self.unfit_argument(arguments, number, "format", "string"))?;
                    let shown = &shown[..shown.len().min(how.precision.unwrap_or(usize::MAX))];
                    let blanks = vec![b' '; how.width.saturating_sub(shown.len())];
                    if how.left { [shown, &blanks].concat() } else { [&blanks, shown].concat() }
                }
                other => {
                    let what = format!("invalid option '%{}' to 'format'", char::from(*other));
                    return Err(self.wrong(what));
                }
            };
            self.make(text.len())?;
            out.extend(text);
        }
        out.extend_from_slice(rest);
        Ok(out)
    }

    /// A width or precision, of two digits at most, as in Lua.
    fn digits(&self, rest: &mut &[u8]) -> Result<Option<usize>, Stop<E>> {
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, after) = rest.split_at(count);
        *rest = after;
        if count > 2 {
            return Err(self.wrong("invalid format (width or precision too long)"));
        }
        Ok((count > 0).then(|| digits.iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'))))
    }

    /// The captures of a match, or all that it found if there are none.
    fn captures(&mut self, text: &[u8], search: &Search<'_>, found: Option<(usize, usize)>) -> Values<E> {
        let mut values = Vec::with_capacity(search.captures.len().max(1));
        if let (Some((from, to)), true) = (found, search.captures.is_empty()) {
            values.push(self.string(text[from..to].to_vec())?);
        }
        for capture in &search.captures {
            values.push(match *capture {
                Capture::Text(from, to) => self.string(text[from..to].to_vec())?,
                Capture::Place(place) => Value::count(place),
                Capture::Open(_) => return Err(self.wrong("unfinished capture")),
            });
        }
        Ok(values)
    }

    /// The first match from a place on.
    fn search(
        &mut self,
        search: &mut Search<'_>,
        from: usize,
        len: usize,
        anchored: bool,
    ) -> Result<Option<(usize, usize)>, Stop<E>> {
        let last = if anchored { from } else { len };
        for at in from..=last.min(len) {
            let before = search.steps;
            let found = search.at(at);
            self.step((search.steps - before).div_ceil(8))?;
            if let Some(end) = found.map_err(|fault| self.wrong(fault))? {
                return Ok(Some((at, end)));
            }
        }
        Ok(None)
    }

    fn found(&mut self, text: &[u8], arguments: &[Value], places: bool) -> Values<E> {
        let name = if places { "find" } else { "match" };
        let pattern = self.text_of(arguments, 1, name)?;
        let from = index(self.whole_or(arguments, 2, name, 1)?, text.len()).max(0);
        let from = usize::try_from(from).unwrap_or(0).min(text.len());
        let plain = places && arguments.get(3).is_some_and(Value::is_true);
        if plain || (places && !pattern.iter().any(|byte| b"^$*+?.([%-".contains(byte))) {
            self.step(text.len() * pattern.len() / 64)?;
            let at = match pattern.len() {
                0 => Some(0),
                len => text[from..].windows(len).position(|window| *window == *pattern),
            };
            let place = |at: usize| vec![Value::count(from + at + 1), Value::count(from + at + pattern.len())];
            return Ok(at.map_or(vec![Value::Nil], place));
        }
        let (anchored, rest) = pattern.strip_prefix(b"^").map_or((false, &*pattern), |rest| (true, rest));
        let mut search = Search::new(text, rest, SCRIPT_STEPS_MAX);
        let Some((start, end)) = self.search(&mut search, from, text.len(), anchored)? else {
            return Ok(vec![Value::Nil]);
        };
        if !places {
            return self.captures(text, &search, Some((start, end)));
        }
        let captures = self.captures(text, &search, None)?;
        Ok([Value::count(start + 1), Value::count(end)].into_iter().chain(captures).collect())
    }

    /// `gmatch`: the matches are looked up at once, and handed out one by one.
    fn all_matches(&mut self, arguments: &[Value]) -> Values<E> {
        let (text, pattern) = (self.text_of(arguments, 0, "gmatch")?, self.text_of(arguments, 1, "gmatch")?);
        let mut search = Search::new(&text, &pattern, SCRIPT_STEPS_MAX);
        let (mut from, mut rows) = (0, Vec::new());
        while let Some((start, end)) = self.search(&mut search, from, text.len(), false)? {
            let captures = self.captures(&text, &search, Some((start, end)))?;
            rows.push(self.array(captures)?);
            from = if end > start { end } else { end + 1 };
            if from > text.len() {
                break;
            }
        }
        Ok(vec![self.iterator(rows)?])
    }

    fn replaced(&mut self, text: &[u8], arguments: &[Value]) -> Values<E> {
        let pattern = self.text_of(arguments, 1, "gsub")?;
        let most = usize::try_from(self.whole_or(arguments, 3, "gsub", i64::MAX)?).unwrap_or(0);
        let own;
        let by = match arguments.get(2) {
            Some(of @ (Value::Table(_) | Value::Function(_) | Value::Builtin(_))) => Replacement::Of(of),
            Some(Value::Text(_) | Value::Number(_)) => {
                own = self.text_of(arguments, 2, "gsub")?;
                Replacement::Text(&own)
            }
            _ => return Err(self.unfit_argument(arguments, 2, "gsub", "string/function/table")),
        };
        let (anchored, rest) = pattern.strip_prefix(b"^").map_or((false, &*pattern), |rest| (true, rest));
        let mut search = Search::new(text, rest, SCRIPT_STEPS_MAX);
        let (mut out, mut at, mut count) = (Vec::new(), 0, 0);
        while count < most {
            let found = self.search(&mut search, at, at, true)?;
            if let Some((start, end)) = found {
                count += 1;
                let new = self.replacement(text, &search, (start, end), &by)?;
                self.make(new.len())?;
                out.extend(new);
                if end > at {
                    at = end;
                    if anchored {
                        break;
                    }
                    continue;
                }
            }
            match text.get(at) {
                Some(byte) => out.push(*byte),
                None => break,
            }
            at += 1;
            if anchored {
                break;
            }
        }
        out.extend_from_slice(text.get(at..).unwrap_or_default());
        Ok(vec![self.string(out)?, Value::count(count)])
    }

    fn replacement(
        &mut self,
        text: &[u8],
        search: &Search<'_>,
        (start, end): (usize, usize),
        by: &Replacement<'_>,
    ) -> Result<Vec<u8>, Stop<E>> {
        let captures = self.captures(text, search, Some((start, end)))?;
        let new = match by {
            Replacement::Text(template) => {
                let (mut out, mut bytes) = (Vec::new(), template.iter());
                while let Some(byte) = bytes.next() {
                    match (byte, if *byte == b'%' { bytes.next() } else { None }) {
                        (b'%', Some(b'0')) => out.extend_from_slice(&text[start..end]),
                        (b'%', Some(digit @ b'1'..=b'9')) => {
                            let capture = captures.get(usize::from(digit - b'1')).and_then(Value::string);
                            out.extend_from_slice(&capture.ok_or_else(|| self.wrong("invalid capture index"))?);
                        }
                        (b'%', Some(other)) => out.push(*other),
                        (b'%', None) => return Err(self.wrong("invalid use of '%' in replacement string")),
                        (byte, _) => out.push(*byte),
                    }
                }
                return Ok(out);
            }
            Replacement::Of(of @ Value::Table(_)) => {
                let key = captures.into_iter().next().unwrap_or(Value::Nil);
                self.member(of, &key)?
            }
            Replacement::Of(function) => self.apply(function, captures)?.into_iter().next().unwrap_or(Value::Nil),
        };
        match (new.is_true(), new.string()) {
            (false, _) => Ok(text[start..end].to_vec()),
            (true, Some(new)) => Ok(new.to_vec()),
            (true, None) => Err(self.wrong(format_args!("invalid replacement value (a {})", new.kind()))),
        }
    }
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in text {
        match byte {
            b'"' | b'\\' | b'\n' => out.extend([b'\\', *byte]),
            b'\r' => out.extend(b"\\r"),
            0 => out.extend(b"\\000"),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    out
}
