//! JSON merge patches, RFC 7396: an object with the new values of its target's members; null removes a member. Members
//! that the patch does not name keep their text. Pure.

use std::borrow::Cow;

use super::outline::{Kind, Outline, View};
use super::path::Cursor;
use super::{JsonError, Text, minify};

/// Applies a merge patch to a JSON text; both are checked. The answer is minified.
///
/// A patch that is no object replaces the whole target. Arrays are not merged: an array replaces the former value. The
/// time grows with the lengths of both texts.
///
/// ```
/// use recension::json::merge_patch;
/// # fn main() -> Result<(), recension::json::JsonError> {
/// let target = r#"{"title": "Goodbye!", "views": 1.0, "author": {"name": "John", "family": "Doe"}}"#;
/// let patch = r#"{"title": "Hello!", "author": {"family": null}, "tags": ["x"]}"#;
/// assert_eq!(merge_patch(target, patch)?, r#"{"title":"Hello!","views":1.0,"author":{"name":"John"},"tags":["x"]}"#);
/// # Ok(()) }
/// ```
pub fn merge_patch(target: impl AsRef<[u8]>, patch: impl AsRef<[u8]>) -> Result<String, JsonError> {
    merge_patch_minified(&minify(target.as_ref())?, patch)
}

/// The same for a target that is minified, as stored bodies are. Only the objects on the way to a change are looked
/// into; what lies beside it is passed over and copied.
pub fn merge_patch_minified(target: &str, patch: impl AsRef<[u8]>) -> Result<String, JsonError> {
    let patch = minify(patch.as_ref())?;
    let patch = Outline::of(&patch)?;
    let mut out = String::with_capacity(target.len() + patch.root().text().len());
    if merge(Some(&mut Cursor::new(target)), patch.root(), &mut out).is_none() {
        // It is no minified text. Either it has an error, or it has blanks.
        out.clear();
        merge(Some(&mut Cursor::new(&minify(target.as_ref())?)), patch.root(), &mut out);
    }
    Ok(out)
}

/// What a patch says about one member.
struct Change<'p> {
    name: Cow<'p, str>,
    to: View<'p>,
    applied: bool,
}

impl Change<'_> {
    fn removes(&self) -> bool {
        self.to.text() == "null"
    }
}

/// Appends the value at the cursor as the patch changes it, and moves the cursor behind it. It recurses, because the
/// patch nests no deeper than `JSON_DEPTH_MAX`, and neither does the merged text.
fn merge(target: Option<&mut Cursor<'_>>, patch: View<'_>, out: &mut String) -> Option<()> {
    if patch.kind() != Kind::Object {
        target.map_or(Some(()), Cursor::skip_value)?;
        out.push_str(patch.text());
        return Some(());
    }
    let members = patch.children();
    let mut changes: Vec<_> = members.map(|to| Change { name: to.name().decode(), to, applied: false }).collect();
    changes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    out.push('{');
    let start = out.len();
    match target {
        Some(target) if target.peek()? == b'{' => merge_members(target, &mut changes, start, out)?,
        Some(target) => target.skip_value()?,
        None => {}
    }
    // New members come last, in the patch's order.
    for member in patch.children() {
        if let Some(change) = find(&mut changes, member.name()).filter(|change| !change.applied && !change.removes()) {
            push_name(change.to.name(), start, out);
            merge(None, change.to, out)?;
        }
    }
    out.push('}');
    Some(())
}

/// Appends the members of the object at the cursor: runs of unchanged ones as they are, and changed ones.
fn merge_members(target: &mut Cursor<'_>, changes: &mut [Change<'_>], start: usize, out: &mut String) -> Option<()> {
    target.at += 1;
    let mut unchanged_from = target.at;
    while target.peek()? != b'}' {
        let member_start = target.at;
        let name = target.string()?;
        target.at += 1;
        match find(changes, name) {
            None => {
                target.skip_value()?;
                target.skip_comma()?;
            }
            Some(change) => {
                push_members(target.text.get(unchanged_from..member_start)?, start, out);
                change.applied = true;
                if change.removes() {
                    target.skip_value()?;
                } else {
                    push_name(name, start, out);
                    merge(Some(target), change.to, out)?;
                }
                target.skip_comma()?;
                unchanged_from = target.at;
            }
        }
    }
    push_members(target.text.get(unchanged_from..target.at)?, start, out);
    target.at += 1;
    Some(())
}

fn find<'c, 'p>(changes: &'c mut [Change<'p>], name: Text<'_>) -> Option<&'c mut Change<'p>> {
    let name = name.decode();
    let at = changes.binary_search_by(|change| change.name.cmp(&name)).ok()?;
    changes.get_mut(at)
}

/// Appends members as they stand in a text, maybe with a comma behind the last one.
fn push_members(members: &str, start: usize, out: &mut String) {
    let members = members.strip_suffix(',').unwrap_or(members);
    if !members.is_empty() {
        push_comma(start, out);
        out.push_str(members);
    }
}

fn push_name(name: Text<'_>, start: usize, out: &mut String) {
    push_comma(start, out);
    out.push('"');
    out.push_str(name.raw);
    out.push_str("\":");
}

fn push_comma(start: usize, out: &mut String) {
    if out.len() > start {
        out.push(',');
    }
}
