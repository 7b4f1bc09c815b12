//! A group as a row for the next stage: its values stay what they are, and become JSON only if a stage asks for a text.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::kernel::query::field::Field;
use crate::kernel::query::groups::{Group, State, Values};
use recension_values::collation::Collation;
use recension_values::error::Result;
use recension_values::json::{Path, Step, quote};
use recension_values::pipeline::{Fold, GroupId};

/// What the groups of a stage have in common.
pub(super) struct Shape {
    pub(super) id: GroupId,
    pub(super) folds: Vec<(String, Fold)>,
    pub(super) collation: Collation,
}

/// A group that is complete.
pub(super) struct GroupRow {
    key: Vec<u8>,
    group: Group,
    of: Arc<Shape>,
}

/// Where a group has a member of its row.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// The value of this number of its id.
    Value(usize),
    /// The result of the fold of this number.
    Fold(usize),
}

/// The values of a group's key, as fields.
struct KeyFields<'k>(&'k [u8], Collation);

impl<'k> Iterator for KeyFields<'k> {
    type Item = Field<'k>;

    fn next(&mut self) -> Option<Field<'k>> {
        let (there, rest) = self.0.split_first()?;
        if *there == 0 {
            self.0 = rest;
            return Some(Field::Absent);
        }
        // What is no key is found out when it is decoded.
        let (value, rest) = rest.split_at(self.1.value_len(rest).unwrap_or(rest.len()).min(rest.len()));
        self.0 = rest;
        Some(Field::Key(value, None))
    }
}

impl GroupRow {
    pub(super) fn of(key: Vec<u8>, group: Group, of: Arc<Shape>) -> Self {
        GroupRow { key, group, of }
    }

    /// Where all groups of a stage have the member at a path; `None` if only the row's text tells.
    pub(super) fn slot(&self, path: &Path) -> Option<Slot> {
        let names =
            path.steps().iter().map(|step| if let Step::Name(name) = step { Some(name.as_str()) } else { None });
        let names: Vec<&str> = names.collect::<Option<_>>()?;
        let value = match (&self.of.id, names.as_slice()) {
            (GroupId::One(_), ["_id"]) => Some(0),
            (GroupId::Named(named), ["_id", name]) => named.iter().position(|(known, _)| known == name),
            (GroupId::Flat(paths), [name]) => paths.iter().position(|path| path.to_string() == *name),
            _ => None,
        };
        let fold = || match names.as_slice() {
            [name] if *name != "_id" => self.of.folds.iter().position(|(known, _)| known == name),
            _ => None,
        };
        let told = |fold: &usize| matches!(self.group.states.get(*fold), Some(State::Count(_) | State::Value(_)));
        value.map(Slot::Value).or_else(|| fold().filter(told).map(Slot::Fold))
    }

    /// The value of a member.
    pub(super) fn field(&self, slot: Slot) -> Field<'_> {
        match slot {
            Slot::Value(number) => match &self.group.values {
                Values::OfKey => KeyFields(&self.key, self.of.collation).nth(number).unwrap_or(Field::Absent),
                Values::Texts(texts) => Field::of(texts.get(number).and_then(Option::as_deref)),
            },
            Slot::Fold(number) => match self.group.states.get(number) {
                Some(State::Count(count)) => Field::Count(*count),
                Some(State::Value(Some((_, text)))) => Field::Text(text),
                _ => Field::Text("null"),
            },
        }
    }

    /// The row as a JSON object.
    pub(super) fn into_text(self) -> Result<String> {
        let texts = self.group.values.into_texts(&self.key, self.of.collation)?;
        let mut out = String::from("{");
        let member = |out: &mut String, name: &str, text: &str| {
            let comma = if out.len() > 1 { "," } else { "" };
            // Writing to a String cannot fail.
            let _ = write!(out, "{comma}{}:{text}", quote(name));
        };
        let null = |text: &Option<String>| text.clone().unwrap_or_else(|| "null".to_owned());
        match &self.of.id {
            GroupId::Flat(paths) => {
                paths.iter().zip(&texts).for_each(|(path, text)| member(&mut out, &path.to_string(), &null(text)));
            }
            GroupId::One(_) => texts.iter().for_each(|text| member(&mut out, "_id", &null(text))),
            GroupId::Named(named) => {
                let there = named.iter().zip(&texts).filter_map(|((name, _), text)| Some((name, text.as_ref()?)));
                let inner: Vec<String> = there.map(|(name, text)| format!("{}:{text}", quote(name))).collect();
                member(&mut out, "_id", &format!("{{{}}}", inner.join(",")));
            }
            GroupId::Nothing => member(&mut out, "_id", "null"),
        }
        for (state, (name, fold)) in self.group.states.into_iter().zip(&self.of.folds) {
            member(&mut out, name, &state.finish(name, fold)?);
        }
        out.push('}');
        Ok(out)
    }
}

impl Values {
    /// The texts of the values of the group with this key; those of values that are not there are `None`.
    pub(super) fn into_texts(self, key: &[u8], collation: Collation) -> Result<Vec<Option<String>>> {
        match self {
            Values::Texts(texts) => Ok(texts),
            Values::OfKey => {
                let text = |field: Field<'_>| Ok(field.text(collation)?.map(Cow::into_owned));
                KeyFields(key, collation).map(text).collect()
            }
        }
    }
}
