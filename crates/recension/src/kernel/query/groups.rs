//! The groups of an aggregation, in bounded memory. Beyond the bound, they are written to the disk (`group_states`) and
//! merged when they are read.

use std::collections::BTreeMap;

use crate::kernel::query::aggregate::{Room, Rows, damaged_file};
use crate::kernel::query::numbers::Numbers;
use crate::kernel::query::spill::Spill;
use recension_values::collation::Collation;
use recension_values::error::{Error, Result};
use recension_values::json::quote;
use recension_values::pipeline::{Fold, GroupId};

/// About how many bytes a group takes besides its texts.
const GROUP_BYTES: usize = 128;

/// Groups that are still being filled.
pub(crate) struct Groups<'p> {
    id: &'p GroupId,
    folds: &'p [(String, Fold)],
    collation: Collation,
    /// Groups by the keys of their values; those without a value come first.
    by_key: BTreeMap<Vec<u8>, Group>,
    held_bytes: usize,
    room: Room<'p>,
    /// Groups that did not fit into memory.
    spill: Option<Spill>,
}

pub(super) struct Group {
    pub(super) values: Vec<Option<String>>,
    pub(super) states: Vec<State>,
}

pub(super) enum State {
    Count(u64),
    Numbers(Numbers),
    /// A value, with its key if it is compared.
    Value(Option<(Vec<u8>, String)>),
    Set(BTreeMap<Vec<u8>, String>),
    List(Vec<String>),
}

impl<'p> Groups<'p> {
    pub(crate) fn new(id: &'p GroupId, folds: &'p [(String, Fold)], collation: Collation, room: Room<'p>) -> Self {
        Groups { id, folds, collation, by_key: BTreeMap::new(), held_bytes: 0, room, spill: None }
    }

    /// Adds a row: the values at the paths of the id, and those at the paths of the folds ([`Fold::Count`] has none).
    ///
    /// # Errors
    /// [`Error::AggregateTooLarge`].
    pub(crate) fn push(&mut self, by: &[Option<&str>], folded: &[Option<&str>]) -> Result<()> {
        let mut key = Vec::new();
        // A group's id is null without a value, and a member of it is then not there.
        let named = matches!(self.id, GroupId::Named(_));
        let by: Vec<Option<&str>> = by.iter().map(|value| value.or((!named).then_some("null"))).collect();
        for value in &by {
            match value {
                None => key.push(0),
                Some(value) => {
                    key.push(1);
                    self.collation.encode_value(value, &mut key)?;
                }
            }
        }
        let new = !self.by_key.contains_key(&key);
        let added = if new { GROUP_BYTES * (1 + self.folds.len()) + key.len() * 2 } else { 0 };
        let group = self.by_key.entry(key).or_insert_with(|| Group {
            values: by.iter().map(|value| value.map(str::to_owned)).collect(),
            states: self.folds.iter().map(|(_, fold)| State::of(fold)).collect(),
        });
        self.held_bytes += added;
        for ((state, (_, fold)), value) in group.states.iter_mut().zip(self.folds).zip(folded) {
            self.held_bytes += state.push(fold, *value, self.collation)?;
        }
        if self.held_bytes > self.room.1 {
            return self.spill();
        }
        Ok(())
    }

    /// Writes all groups to the disk, to be merged later.
    fn spill(&mut self) -> Result<()> {
        let bytes_max = self.room.1;
        let too_large = || Error::AggregateTooLarge { max: bytes_max };
        let spill = self.spill.get_or_insert_with(|| Spill::new(self.room.0, usize::MAX, None));
        for (key, group) in std::mem::take(&mut self.by_key) {
            spill.push((key, group.encode()), too_large)?;
        }
        self.held_bytes = 0;
        spill.flush(too_large)
    }

    /// The rows, in the order of their ids.
    pub(crate) fn finish<'r>(mut self) -> Result<Rows<'r>> {
        let bytes_max = self.room.1;
        if self.spill.is_some() && !self.by_key.is_empty() {
            self.spill()?;
        }
        let (id, folds) = (self.id.clone(), self.folds.to_vec());
        let Some(spill) = self.spill else {
            let mut groups: Vec<Group> = self.by_key.into_values().collect();
            if groups.is_empty() && id.paths().is_empty() {
                // Without any row there is one group, so that a count is 0.
                let states = folds.iter().map(|(_, fold)| State::of(fold)).collect();
                groups.push(Group { values: Vec::new(), states });
            }
            return Ok(Box::new(groups.into_iter().map(move |group| group.row(&id, &folds))));
        };
        let mut pairs = spill.finish()?;
        let mut ahead = None;
        Ok(Box::new(std::iter::from_fn(move || {
            let first = ahead.take().or_else(|| pairs.next())?;
            let united = || {
                let (key, payload) = first?;
                let mut group = Group::decode(&payload, &folds).ok_or_else(damaged_file)?;
                let mut bytes = payload.len();
                while let Some(next) = pairs.next() {
                    let (next_key, payload) = next?;
                    if next_key != key {
                        ahead = Some(Ok((next_key, payload)));
                        break;
                    }
                    bytes += payload.len();
                    if bytes > bytes_max {
                        return Err(Error::AggregateTooLarge { max: bytes_max });
                    }
                    group.unite(Group::decode(&payload, &folds).ok_or_else(damaged_file)?, &folds);
                }
                group.row(&id, &folds)
            };
            Some(united())
        })))
    }
}

impl Group {
    fn row(self, id: &GroupId, folds: &[(String, Fold)]) -> Result<String> {
        let mut members = Vec::new();
        let texts = self.values.iter().map(|value| value.as_deref().unwrap_or("null"));
        match id {
            GroupId::Flat(paths) => {
                members
                    .extend(paths.iter().zip(texts).map(|(path, text)| format!("{}:{text}", quote(&path.to_string()))));
            }
            GroupId::One(_) => members.extend(texts.map(|text| format!("\"_id\":{text}"))),
            GroupId::Named(named) => {
                let there =
                    named.iter().zip(&self.values).filter_map(|((name, _), value)| Some((name, value.as_ref()?)));
                let inner: Vec<String> = there.map(|(name, text)| format!("{}:{text}", quote(name))).collect();
                members.push(format!("\"_id\":{{{}}}", inner.join(",")));
            }
            GroupId::Nothing => members.push("\"_id\":null".to_owned()),
        }
        for (state, (name, fold)) in self.states.into_iter().zip(folds) {
            members.push(format!("{}:{}", quote(name), state.finish(name, fold)?));
        }
        Ok(format!("{{{}}}", members.join(",")))
    }
}

impl State {
    pub(super) fn of(fold: &Fold) -> Self {
        match fold {
            Fold::Count => State::Count(0),
            Fold::Sum(_) | Fold::Average(_) => State::Numbers(Numbers::default()),
            Fold::Min(_) | Fold::Max(_) | Fold::First(_) | Fold::Last(_) => State::Value(None),
            Fold::Distinct(_) => State::Set(BTreeMap::new()),
            Fold::Collect(_) => State::List(Vec::new()),
        }
    }

    /// Adds a value; answers how many more bytes are held.
    fn push(&mut self, fold: &Fold, value: Option<&str>, collation: Collation) -> Result<usize> {
        if let State::Count(count) = self {
            *count += 1;
            return Ok(0);
        }
        // The first and the last row count also if they have no value.
        let absent = matches!(fold, Fold::First(_) | Fold::Last(_)).then_some("null");
        let Some(value) = value.or(absent) else { return Ok(0) };
        Ok(match self {
            State::Count(_) => 0,
            State::Numbers(numbers) => {
                numbers.push(value);
                0
            }
            State::Value(held) => {
                let key = match fold {
                    Fold::Min(_) | Fold::Max(_) if value == "null" => return Ok(0),
                    Fold::Min(_) | Fold::Max(_) => collation.key(value)?,
                    _ => Vec::new(),
                };
                let takes = match (fold, held.as_ref()) {
                    (_, None) | (Fold::Last(_), _) => true,
                    (Fold::Min(_), Some((known, _))) => key < *known,
                    (Fold::Max(_), Some((known, _))) => key > *known,
                    _ => false,
                };
                if !takes {
                    return Ok(0);
                }
                let before = held.as_ref().map_or(0, |(key, text)| key.len() + text.len());
                let after = key.len() + value.len();
                *held = Some((key, value.to_owned()));
                after.saturating_sub(before)
            }
            State::Set(values) => {
                let key = collation.key(value)?;
                if values.contains_key(&key) {
                    return Ok(0);
                }
                let bytes = key.len() + value.len() + GROUP_BYTES;
                values.insert(key, value.to_owned());
                bytes
            }
            State::List(values) => {
                values.push(value.to_owned());
                value.len() + size_of::<String>()
            }
        })
    }

    fn finish(self, name: &str, fold: &Fold) -> Result<String> {
        Ok(match self {
            State::Count(count) => count.to_string(),
            State::Numbers(numbers) => {
                let out_of_range = || Error::NumberOutOfRange { number: format!("{name} of a group") };
                if matches!(fold, Fold::Average(_)) { numbers.mean() } else { numbers.sum() }
                    .ok_or_else(out_of_range)?
            }
            State::Value(value) => value.map_or("null".to_owned(), |(_, text)| text),
            State::Set(values) => format!("[{}]", values.into_values().collect::<Vec<_>>().join(",")),
            State::List(values) => format!("[{}]", values.join(",")),
        })
    }
}
