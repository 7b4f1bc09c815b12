//! JSON merge patches, RFC 7396: an object with the new values of its target's members; null removes a member. Members
//! that the patch does not name keep their text. Pure.

use std::borrow::Cow;
use std::collections::HashMap;

use super::outline::{Kind, Outline, View};
use super::{JsonError, minify};

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
    merge_minified(&minify(target.as_ref())?, &minify(patch.as_ref())?)
}

fn merge_minified(target: &str, patch: &str) -> Result<String, JsonError> {
    let (target, patch) = (Outline::of(target)?, Outline::of(patch)?);
    let mut out = String::with_capacity(target.root().text().len() + patch.root().text().len());
    merge(Some(target.root()), patch.root(), &mut out);
    Ok(out)
}

/// It recurses, because outlined texts nest no deeper than `JSON_DEPTH_MAX`, and neither does the merged text.
fn merge(target: Option<View<'_>>, patch: View<'_>, out: &mut String) {
    if patch.kind() != Kind::Object {
        out.push_str(patch.text());
        return;
    }
    let mut changes: HashMap<Cow<'_, str>, (View<'_>, bool)> =
        patch.children().map(|member| (member.name().decode(), (member, false))).collect();
    let is_gone = |change: View<'_>| change.text() == "null";
    out.push('{');
    let start = out.len();
    for member in target.filter(|target| target.kind() == Kind::Object).into_iter().flat_map(View::children) {
        match changes.get_mut(&member.name().decode()) {
            Some((change, applied)) => {
                *applied = true;
                if !is_gone(*change) {
                    push_name(member, start, out);
                    merge(Some(member), *change, out);
                }
            }
            None => {
                push_name(member, start, out);
                out.push_str(member.text());
            }
        }
    }
    // New members come last, in the patch's order.
    for change in patch.children() {
        let applied = changes.get(&change.name().decode()).is_some_and(|(_, applied)| *applied);
        if !applied && !is_gone(change) {
            push_name(change, start, out);
            merge(None, change, out);
        }
    }
    out.push('}');
}

fn push_name(member: View<'_>, start: usize, out: &mut String) {
    if out.len() > start {
        out.push(',');
    }
    out.push('"');
    out.push_str(member.name().raw);
    out.push_str("\":");
}
