//! A JSON text that is edited: only the arrays and objects on the way to a change are taken apart. Everything else
//! stays text. Pure.

use std::borrow::Cow;

use super::outline::{Kind, View};
use super::pointer::element_number;
use super::{PatchProblem, Pointer, Text, quote};

type Result<T> = std::result::Result<T, PatchProblem>;

/// A value, taken apart or not.
#[derive(Clone)]
pub(super) enum Node<'t> {
    Text(View<'t>),
    Array(Vec<Node<'t>>),
    Object(Vec<Member<'t>>),
}

#[derive(Clone)]
pub(super) struct Member<'t> {
    /// As it stands in the text, without its quotes.
    raw_name: Cow<'t, str>,
    value: Node<'t>,
}

impl Member<'_> {
    fn is(&self, name: &str) -> bool {
        Text { raw: &self.raw_name, escaped: self.raw_name.contains('\\') }.is(name)
    }
}

impl<'t> Node<'t> {
    /// The value at a place.
    pub(super) fn find(&mut self, place: &Pointer) -> Result<&mut Node<'t>> {
        self.walk(place.tokens())
    }

    fn walk(&mut self, tokens: &[String]) -> Result<&mut Node<'t>> {
        let mut node = self;
        for token in tokens {
            node = match node.take_apart() {
                Node::Array(elements) => {
                    let at = existing_element(token, elements.len())?;
                    elements.get_mut(at).ok_or(PatchProblem::NothingThere)?
                }
                Node::Object(members) => {
                    let member = members.iter_mut().find(|member| member.is(token));
                    &mut member.ok_or(PatchProblem::NothingThere)?.value
                }
                Node::Text(_) => return Err(PatchProblem::NothingThere),
            };
        }
        Ok(node)
    }

    /// Puts a value at a place: as the new value of a member, or as an element before the present one.
    pub(super) fn add(&mut self, place: &Pointer, value: Node<'t>) -> Result<()> {
        let Some((last, container)) = place.split_last() else {
            *self = value;
            return Ok(());
        };
        match self.walk(container).map_err(|_| PatchProblem::NoContainer)?.take_apart() {
            Node::Array(elements) => {
                let end = elements.len();
                let at = if last == "-" { Some(end) } else { element_number(last) };
                let at = at.ok_or(PatchProblem::NotAnElement { elements: end })?;
                if at > end {
                    return Err(PatchProblem::NotAnElement { elements: end });
                }
                elements.insert(at, value);
            }
            Node::Object(members) => match members.iter_mut().find(|member| member.is(last)) {
                Some(member) => member.value = value,
                None => {
                    let quoted = quote(last);
                    let raw_name = Cow::Owned(quoted[1..quoted.len() - 1].to_owned());
                    members.push(Member { raw_name, value });
                }
            },
            Node::Text(_) => return Err(PatchProblem::NoContainer),
        }
        Ok(())
    }

    /// Removes the value at a place.
    pub(super) fn remove(&mut self, place: &Pointer) -> Result<Node<'t>> {
        let (last, container) = place.split_last().ok_or(PatchProblem::WholeText)?;
        match self.walk(container)?.take_apart() {
            Node::Array(elements) => Ok(elements.remove(existing_element(last, elements.len())?)),
            Node::Object(members) => {
                let at = members.iter().position(|member| member.is(last)).ok_or(PatchProblem::NothingThere)?;
                Ok(members.remove(at).value)
            }
            Node::Text(_) => Err(PatchProblem::NothingThere),
        }
    }

    /// Takes one level apart, if it is an array or an object.
    fn take_apart(&mut self) -> &mut Self {
        if let Node::Text(view) = self {
            match view.kind() {
                Kind::Array => *self = Node::Array(view.children().map(Node::Text).collect()),
                Kind::Object => {
                    let member =
                        |view: View<'t>| Member { raw_name: Cow::Borrowed(view.name().raw), value: Node::Text(view) };
                    *self = Node::Object(view.children().map(member).collect());
                }
                _ => {}
            }
        }
        self
    }

    /// How many arrays and objects nest in it, itself among them.
    pub(super) fn depth(&self) -> usize {
        match self {
            Node::Text(view) => view.depth(),
            Node::Array(elements) => 1 + elements.iter().map(Node::depth).max().unwrap_or(0),
            Node::Object(members) => 1 + members.iter().map(|member| member.value.depth()).max().unwrap_or(0),
        }
    }

    /// The length of its text.
    pub(super) fn len_bytes(&self) -> usize {
        match self {
            Node::Text(view) => view.text().len(),
            Node::Array(elements) => 2 + elements.iter().map(|element| element.len_bytes() + 1).sum::<usize>(),
            Node::Object(members) => {
                2 + members.iter().map(|member| member.raw_name.len() + member.value.len_bytes() + 4).sum::<usize>()
            }
        }
    }

    /// Its text, minified.
    pub(super) fn write(&self, out: &mut String) {
        match self {
            Node::Text(view) => out.push_str(view.text()),
            Node::Array(elements) => {
                out.push('[');
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    element.write(out);
                }
                out.push(']');
            }
            Node::Object(members) => {
                out.push('{');
                for (i, member) in members.iter().enumerate() {
                    out.push_str(if i > 0 { ",\"" } else { "\"" });
                    out.push_str(&member.raw_name);
                    out.push_str("\":");
                    member.value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn existing_element(token: &str, elements: usize) -> Result<usize> {
    element_number(token).filter(|at| *at < elements).ok_or(PatchProblem::NotAnElement { elements })
}
