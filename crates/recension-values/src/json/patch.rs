//! JSON patches, RFC 6902: operations on places of a JSON text, applied all or not at all. Values that no operation
//! touches keep their text. Pure.

use std::fmt::Write as _;

use super::node::Node;
use super::outline::{Kind, Outline, View};
use super::same::{Numbers, same};
use super::{Event, Parser, PatchError, PatchProblem, Pointer, is_reserved, minify, quote, reserved_name};
use crate::condition::Literal;
use crate::error::Result;
use crate::limits::{JSON_BYTES_MAX, JSON_DEPTH_MAX, PATCH_OPERATIONS_MAX};

/// One operation of a [`JsonPatch`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// A member gets a value, whatever it had; or an element is inserted before the present one.
    Add {
        /// Where.
        path: Pointer,
        /// The value.
        value: Literal,
    },
    /// An existing value is removed.
    Remove {
        /// Where.
        path: Pointer,
    },
    /// An existing value is replaced.
    Replace {
        /// Where.
        path: Pointer,
        /// The value.
        value: Literal,
    },
    /// A value moves from one place to another.
    Move {
        /// Where it is.
        from: Pointer,
        /// Where it is added.
        path: Pointer,
    },
    /// An existing value is copied to another place.
    Copy {
        /// Where it is.
        from: Pointer,
        /// Where it is added.
        path: Pointer,
    },
    /// The patch is applied only if the value is the present one. Numbers are compared as numbers, and members in any
    /// order.
    Test {
        /// Where.
        path: Pointer,
        /// The value.
        value: Literal,
    },
}

/// A JSON patch: operations that are applied in their order, all or none.
///
/// ```
/// use recension::json::JsonPatch;
/// # fn main() -> recension::Result<()> {
/// let patch = JsonPatch::from_json(r#"[
///     {"op": "test", "path": "/price", "value": 9.5},
///     {"op": "replace", "path": "/price", "value": 10},
///     {"op": "add", "path": "/toppings/-", "value": "mushrooms"}
/// ]"#)?;
/// let pizza = patch.apply(r#"{"price": 9.50, "toppings": ["pineapple"]}"#)?;
/// assert_eq!(pizza, r#"{"price":10,"toppings":["pineapple","mushrooms"]}"#);
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JsonPatch {
    operations: Vec<Operation>,
}

impl Operation {
    fn name(&self) -> &'static str {
        match self {
            Operation::Add { .. } => "add",
            Operation::Remove { .. } => "remove",
            Operation::Replace { .. } => "replace",
            Operation::Move { .. } => "move",
            Operation::Copy { .. } => "copy",
            Operation::Test { .. } => "test",
        }
    }

    /// The place that it changes or tests.
    fn path(&self) -> &Pointer {
        match self {
            Operation::Add { path, .. }
            | Operation::Remove { path }
            | Operation::Replace { path, .. }
            | Operation::Move { path, .. }
            | Operation::Copy { path, .. }
            | Operation::Test { path, .. } => path,
        }
    }

    fn from(&self) -> Option<&Pointer> {
        match self {
            Operation::Move { from, .. } | Operation::Copy { from, .. } => Some(from),
            _ => None,
        }
    }

    fn value(&self) -> Option<&Literal> {
        match self {
            Operation::Add { value, .. } | Operation::Replace { value, .. } | Operation::Test { value, .. } => {
                Some(value)
            }
            _ => None,
        }
    }
}

impl JsonPatch {
    /// A patch of these operations.
    pub fn new(operations: impl IntoIterator<Item = Operation>) -> Self {
        JsonPatch { operations: operations.into_iter().collect() }
    }

    /// Reads a patch: a JSON array of operations.
    ///
    /// # Errors
    /// `Error::Json`, `Error::Patch`.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self> {
        refuse_repeated_members(text.as_ref())?;
        let text = minify(text.as_ref())?;
        let outline = Outline::of(&text)?;
        if outline.root().kind() != Kind::Array {
            return Err(malformed(None, "a patch is an array of operations").into());
        }
        let operations = outline.root().children().take(PATCH_OPERATIONS_MAX + 1).enumerate();
        let patch = JsonPatch { operations: operations.map(|(at, view)| read(at, view)).collect::<Result<_>>()? };
        patch.check_length()?;
        Ok(patch)
    }

    /// The patch as JSON text.
    pub fn to_json(&self) -> String {
        let mut out = String::from("[");
        for (i, operation) in self.operations.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            // Writing to a String cannot fail.
            let _ = write!(out, "{{\"op\":\"{}\"", operation.name());
            if let Some(from) = operation.from() {
                let _ = write!(out, ",\"from\":{}", quote(&from.to_string()));
            }
            let _ = write!(out, ",\"path\":{}", quote(&operation.path().to_string()));
            if let Some(value) = operation.value() {
                let _ = write!(out, ",\"value\":{}", value.text());
            }
            out.push('}');
        }
        out.push(']');
        out
    }

    /// Its operations.
    pub fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The first of the names that no body has, such as `_deleted`, at which it would change a document.
    #[doc(hidden)]
    pub fn reserved_name(&self) -> Option<String> {
        self.operations.iter().find_map(|operation| match operation.path().tokens().first() {
            Some(name) => is_reserved(name, &[]).then(|| name.clone()),
            None => reserved_name(operation.value()?.text()),
        })
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Applies it to a JSON text, which is checked. The answer is minified.
    ///
    /// # Errors
    /// `Error::Json`; `Error::Patch` with
    /// the operation that could not be carried out.
    pub fn apply(&self, text: impl AsRef<[u8]>) -> Result<String> {
        self.apply_minified(&minify(text.as_ref())?)
    }

    /// [`JsonPatch::apply`] to a text that is minified already.
    pub fn apply_minified(&self, text: &str) -> Result<String> {
        self.check_length()?;
        let outline = Outline::of(text)?;
        let values = self.operations.iter().map(|operation| operation.value().map(|value| Outline::of(value.text())));
        let values = values.map(Option::transpose).collect::<std::result::Result<Vec<_>, _>>()?;
        let mut edit = Edit { root: Node::Text(outline.root()), copied_bytes: 0 };
        for (at, (operation, value)) in self.operations.iter().zip(&values).enumerate() {
            edit.apply(operation, value.as_ref().map(Outline::root)).map_err(|problem| PatchError {
                operation: Some(at),
                op: operation.name(),
                place: Some(match (&problem, operation.from()) {
                    (PatchProblem::NothingThere, Some(from)) => from.clone(),
                    _ => operation.path().clone(),
                }),
                problem,
            })?;
        }
        let mut out = String::with_capacity(text.len());
        edit.root.write(&mut out);
        if out.len() > JSON_BYTES_MAX {
            let problem = PatchProblem::TooLong { max: JSON_BYTES_MAX };
            return Err(PatchError { operation: None, op: "", place: None, problem }.into());
        }
        Ok(out)
    }

    fn check_length(&self) -> Result<()> {
        if self.operations.len() > PATCH_OPERATIONS_MAX {
            let problem = PatchProblem::TooManyOperations { max: PATCH_OPERATIONS_MAX };
            return Err(PatchError { operation: None, op: "", place: None, problem }.into());
        }
        Ok(())
    }
}

/// A text while a patch is applied to it.
struct Edit<'t> {
    root: Node<'t>,
    /// Bytes that were copied. Copies of copies would grow without bound within a few operations.
    copied_bytes: usize,
}

impl<'t> Edit<'t> {
    fn apply(&mut self, operation: &Operation, value: Option<View<'t>>) -> std::result::Result<(), PatchProblem> {
        // If an operation has a value, it is here too.
        let value = || value.map(Node::Text).ok_or(PatchProblem::Malformed("the operation has no value"));
        match operation {
            Operation::Add { path, .. } => self.add(path, value()?),
            Operation::Remove { path } => self.root.remove(path).map(drop),
            Operation::Replace { path, .. } => {
                let value = checked_depth(path, value()?)?;
                *self.root.find(path)? = value;
                Ok(())
            }
            Operation::Move { from, path } if from == path => self.root.find(from).map(drop),
            Operation::Move { from, path } if from.is_prefix_of(path) => Err(PatchProblem::IntoItself),
            Operation::Move { from, path } => {
                let moved = self.root.remove(from)?;
                self.add(path, moved)
            }
            Operation::Copy { from, path } => {
                let copied = self.root.find(from)?;
                self.copied_bytes = self.copied_bytes.saturating_add(copied.len_bytes());
                if self.copied_bytes > JSON_BYTES_MAX {
                    return Err(PatchProblem::TooLong { max: JSON_BYTES_MAX });
                }
                let copied = copied.clone();
                self.add(path, copied)
            }
            Operation::Test { path, .. } => self.test(path, &value()?),
        }
    }

    fn add(&mut self, path: &Pointer, value: Node<'t>) -> std::result::Result<(), PatchProblem> {
        let value = checked_depth(path, value)?;
        self.root.add(path, value)
    }

    fn test(&mut self, path: &Pointer, expected: &Node<'t>) -> std::result::Result<(), PatchProblem> {
        let text = |node: &Node<'_>| {
            let mut out = String::new();
            node.write(&mut out);
            out
        };
        let (found, expected) = (text(self.root.find(path)?), text(expected));
        let outlined = |text| Outline::of(text).map_err(|_| PatchProblem::Malformed("the text there is not JSON"));
        if same(outlined(&found)?.root(), outlined(&expected)?.root(), Numbers::ByValue) {
            return Ok(());
        }
        let mut shown: String = found.chars().take(60).collect();
        if shown.len() < found.len() {
            shown.push('…');
        }
        Err(PatchProblem::TestFailed { found: shown })
    }
}

fn checked_depth<'t>(path: &Pointer, value: Node<'t>) -> std::result::Result<Node<'t>, PatchProblem> {
    if path.tokens().len() + value.depth() > JSON_DEPTH_MAX {
        return Err(PatchProblem::TooDeep { max: JSON_DEPTH_MAX });
    }
    Ok(value)
}

fn malformed(operation: Option<usize>, why: &'static str) -> PatchError {
    PatchError { operation, op: "", place: None, problem: PatchProblem::Malformed(why) }
}

/// Reads one operation. Unknown members are ignored, as the RFC demands.
fn read(at: usize, view: View<'_>) -> Result<Operation> {
    let bad = |why| malformed(Some(at), why);
    if view.kind() != Kind::Object {
        return Err(bad("an operation is an object").into());
    }
    let member = |name: &str| view.children().find(|member| member.name().is(name));
    let string = |name: &str, missing| match member(name) {
        Some(member) if member.kind() == Kind::String => Ok(member.string().decode()),
        _ => Err(bad(missing)),
    };
    let pointer = |name: &str, missing| string(name, missing)?.parse::<Pointer>();
    let op = string("op", "it has no op, which is one of add, remove, replace, move, copy, test")?;
    let path = pointer("path", "it has no path, which is a JSON pointer in a string")?;
    let from = || pointer("from", "it has no from, which is a JSON pointer in a string");
    let value = || match member("value") {
        Some(member) => Literal::json(member.text()),
        None => Err(bad("it has no value").into()),
    };
    Ok(match &*op {
        "add" => Operation::Add { path, value: value()? },
        "remove" => Operation::Remove { path },
        "replace" => Operation::Replace { path, value: value()? },
        "move" => Operation::Move { from: from()?, path },
        "copy" => Operation::Copy { from: from()?, path },
        "test" => Operation::Test { path, value: value()? },
        _ => return Err(bad("its op is none of add, remove, replace, move, copy, test").into()),
    })
}

/// An operation with a repeated member is invalid (RFC 6902, A.13). The minified text would have lost the first of the
/// two.
fn refuse_repeated_members(bytes: &[u8]) -> Result<()> {
    let mut parser = Parser::new(bytes)?;
    let mut operation = 0;
    let mut seen = [false; 4];
    while let Some(event) = parser.next_event()? {
        match event {
            Event::ObjectStart if parser.depth() == 2 => seen = [false; 4],
            Event::ObjectEnd if parser.depth() == 1 => operation += 1,
            Event::Key(name) if parser.depth() == 2 => {
                let known = ["op", "path", "from", "value"].iter().position(|known| name.is(known));
                if known.and_then(|known| seen.get_mut(known)).is_some_and(|seen| std::mem::replace(seen, true)) {
                    return Err(malformed(Some(operation), "it has a member twice").into());
                }
            }
            _ => {}
        }
    }
    Ok(())
}
