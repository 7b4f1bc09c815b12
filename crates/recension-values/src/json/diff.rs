//! Differences between two JSON texts: values that were removed, added and changed, and the JSON patch that makes one
//! text into the other. Pure; the cost is bounded.

use std::borrow::Cow;
use std::collections::HashMap;

use super::align::{Step, align};
use super::outline::{Kind, Outline, View};
use super::same::{Numbers, canonical};
use super::{JsonPatch, Operation, Pointer, minify};
use crate::condition::Literal;
use crate::error::Result;
use crate::limits::{DIFF_BYTES_MAX, PATCH_OPERATIONS_MAX};

/// One difference between two JSON texts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Where: the place in the first text, or in the second one if the first has no such value.
    pub path: Pointer,
    /// The value there in the first text, as JSON text; `None` if it has none.
    pub before: Option<String>,
    /// The value in the second text; `None` if it has none any more.
    pub after: Option<String>,
}

/// The differences between two JSON texts, which are checked.
///
/// Members are compared in any order, strings by their decoded characters, numbers by their text: `1` and `1.0` differ,
/// as they do in revisions. Elements of arrays are aligned, so that one inserted or removed element is one change. If
/// arrays are too large for that (see `DIFF_CELLS_MAX`), they are
/// compared element by element if they have the same length; otherwise they are one change.
///
/// ```
/// use recension::json::diff;
/// # fn main() -> recension::Result<()> {
/// let changes = diff(r#"{"name":"Ada","tags":["a","b"]}"#, r#"{"name":"Ada L.","tags":["b"]}"#)?;
/// let lines: Vec<String> =
///     changes.iter().map(|change| format!("{} {:?} {:?}", change.path, change.before, change.after)).collect();
/// assert_eq!(lines, [r#"/name Some("\"Ada\"") Some("\"Ada L.\"")"#, r#"/tags/0 Some("\"a\"") None"#]);
/// # Ok(()) }
/// ```
pub fn diff(before: impl AsRef<[u8]>, after: impl AsRef<[u8]>) -> Result<Vec<Change>> {
    diff_minified(&minify(before.as_ref())?, &minify(after.as_ref())?)
}

/// [`diff`] of texts that are minified already.
pub fn diff_minified(before: &str, after: &str) -> Result<Vec<Change>> {
    Ok(differences(before, after)?.into_iter().map(|difference| difference.change).collect())
}

impl JsonPatch {
    /// The patch that makes `before` into `after`: the differences of [`diff`] as operations. If they are more than a
    /// patch may have, it replaces the whole.
    ///
    /// ```
    /// use recension::json::JsonPatch;
    /// # fn main() -> recension::Result<()> {
    /// let patch = JsonPatch::between(r#"{"a":[1,2,3]}"#, r#"{"a":[1,3],"b":true}"#)?;
    /// assert_eq!(patch.apply(r#"{"a":[1,2,3]}"#)?, r#"{"a":[1,3],"b":true}"#);
    /// assert_eq!(patch.operations().len(), 2);
    /// # Ok(()) }
    /// ```
    pub fn between(before: impl AsRef<[u8]>, after: impl AsRef<[u8]>) -> Result<Self> {
        let (before, after) = (minify(before.as_ref())?, minify(after.as_ref())?);
        let differences = differences(&before, &after)?;
        if differences.len() > PATCH_OPERATIONS_MAX {
            return Ok(JsonPatch::new([Operation::Replace { path: Pointer::root(), value: Literal::json(after)? }]));
        }
        let operation = |Difference { change, patch_path: path }| {
            Ok(match (change.before, change.after) {
                (Some(_), Some(after)) => Operation::Replace { path, value: Literal::json(after)? },
                (None, Some(after)) => Operation::Add { path, value: Literal::json(after)? },
                (_, None) => Operation::Remove { path },
            })
        };
        Ok(JsonPatch::new(differences.into_iter().map(operation).collect::<Result<Vec<_>>>()?))
    }
}

struct Difference {
    change: Change,
    /// The place once all earlier differences are applied. Arrays are compared from their beginnings, so it is the
    /// place in the second text.
    patch_path: Pointer,
}

fn differences(before: &str, after: &str) -> Result<Vec<Difference>> {
    let outlines = (Outline::of(before)?, Outline::of(after)?);
    let (before, after) = (outlines.0.root(), outlines.1.root());
    let mut walk =
        Walk { before: Pointer::root(), after: Pointer::root(), found: Vec::new(), bytes_left: DIFF_BYTES_MAX };
    if walk.compare(before, after).is_none() {
        walk.found.clear();
        let change = Change {
            path: Pointer::root(),
            before: Some(before.text().to_owned()),
            after: Some(after.text().to_owned()),
        };
        walk.found.push(Difference { change, patch_path: Pointer::root() });
    }
    Ok(walk.found)
}

/// The walk through both texts. It recurses, because outlined texts nest no deeper than `JSON_DEPTH_MAX`. `None` means
/// that the bound of the answer is reached.
struct Walk {
    before: Pointer,
    after: Pointer,
    found: Vec<Difference>,
    bytes_left: usize,
}

impl Walk {
    fn compare(&mut self, before: View<'_>, after: View<'_>) -> Option<()> {
        match (before.kind(), after.kind()) {
            _ if before.text() == after.text() => Some(()),
            (Kind::Object, Kind::Object) => self.compare_objects(before, after),
            (Kind::Array, Kind::Array) => self.compare_arrays(before, after),
            (Kind::String, Kind::String) if before.string().decode() == after.string().decode() => Some(()),
            _ => self.note(Some(before), Some(after)),
        }
    }

    fn compare_objects(&mut self, before: View<'_>, after: View<'_>) -> Option<()> {
        let mut coming: HashMap<Cow<'_, str>, View<'_>> =
            after.children().map(|member| (member.name().decode(), member)).collect();
        for member in before.children() {
            let name = member.name().decode();
            let counterpart = coming.remove(&name);
            self.inside(Some(&name), Some(&name), |walk| match counterpart {
                Some(counterpart) => walk.compare(member, counterpart),
                None => walk.note(Some(member), None),
            })?;
        }
        for member in after.children() {
            let name = member.name().decode();
            if coming.contains_key(&name) {
                self.inside(Some(&name), Some(&name), |walk| walk.note(None, Some(member)))?;
            }
        }
        Some(())
    }

    fn compare_arrays(&mut self, before: View<'_>, after: View<'_>) -> Option<()> {
        let (a, b): (Vec<View<'_>>, Vec<View<'_>>) = (before.children().collect(), after.children().collect());
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut number_of = |view: &View<'_>| {
            let next = numbers.len() as u32;
            *numbers.entry(canonical(*view, Numbers::ByText)).or_insert(next)
        };
        let numbers_a: Vec<u32> = a.iter().map(&mut number_of).collect();
        let numbers_b: Vec<u32> = b.iter().map(&mut number_of).collect();
        drop(numbers);
        let steps = match align(&numbers_a, &numbers_b) {
            Some(steps) => steps,
            None if a.len() == b.len() => {
                let pair = |(a, b)| if a == b { &[Step::Keep][..] } else { &[Step::Remove, Step::Insert] };
                numbers_a.iter().zip(&numbers_b).flat_map(pair).copied().collect()
            }
            None => return self.note(Some(before), Some(after)),
        };
        let (mut i, mut j) = (0, 0);
        let mut steps = steps.into_iter().peekable();
        while let Some(step) = steps.next() {
            if step == Step::Keep {
                (i, j) = (i + 1, j + 1);
                continue;
            }
            // Values that are removed and inserted at the same place are compared in pairs.
            let (mut removed, mut inserted) = (usize::from(step == Step::Remove), usize::from(step == Step::Insert));
            while let Some(step) = steps.next_if(|step| *step != Step::Keep) {
                removed += usize::from(step == Step::Remove);
                inserted += usize::from(step == Step::Insert);
            }
            self.compare_runs((&a[i..i + removed], i), (&b[j..j + inserted], j))?;
            (i, j) = (i + removed, j + inserted);
        }
        Some(())
    }

    /// Compares elements of the first array from `i` with the elements of the second from `j` that replace them.
    fn compare_runs(&mut self, (a, i): (&[View<'_>], usize), (b, j): (&[View<'_>], usize)) -> Option<()> {
        let pairs = a.len().min(b.len());
        for at in 0..pairs {
            let names = ((i + at).to_string(), (j + at).to_string());
            self.inside(Some(&names.0), Some(&names.1), |walk| walk.compare(a[at], b[at]))?;
        }
        for (at, gone) in a.iter().enumerate().skip(pairs) {
            // The elements before have their places of the second array already.
            let names = ((i + at).to_string(), (j + pairs).to_string());
            self.inside(Some(&names.0), Some(&names.1), |walk| walk.note(Some(*gone), None))?;
        }
        for (at, new) in b.iter().enumerate().skip(pairs) {
            self.inside(None, Some(&(j + at).to_string()), |walk| walk.note(None, Some(*new)))?;
        }
        Some(())
    }

    fn inside(
        &mut self,
        before: Option<&str>,
        after: Option<&str>,
        compare: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        before.inspect(|token| self.before.push(token));
        after.inspect(|token| self.after.push(token));
        let done = compare(self);
        before.inspect(|_| self.before.pop());
        after.inspect(|_| self.after.pop());
        done
    }

    fn note(&mut self, before: Option<View<'_>>, after: Option<View<'_>>) -> Option<()> {
        let path = if before.is_some() { &self.before } else { &self.after };
        let len = |view: Option<View<'_>>| view.map_or(0, |view| view.text().len());
        let bytes = 200 + path.len_bytes() + self.after.len_bytes() + len(before) + len(after);
        self.bytes_left = self.bytes_left.checked_sub(bytes)?;
        let text = |view: View<'_>| view.text().to_owned();
        let change = Change { path: path.clone(), before: before.map(text), after: after.map(text) };
        self.found.push(Difference { change, patch_path: self.after.clone() });
        Some(())
    }
}
