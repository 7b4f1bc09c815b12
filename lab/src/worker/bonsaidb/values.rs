//! Documents and keys: timed calls, with every answer compared with the model when the clock has stopped. What is
//! stored is a function of a number, so the model is how many documents there are and which number each key was set to
//! last.

use serde::{Deserialize, Serialize};

use crate::data::Random;
use crate::error::{LabError, Result};
use crate::subjects::bonsaidb::{VALUE_LETTERS, Values, key, letters};
use crate::subjects::calls::one_by_one;
use crate::worker::goget::reply;
use crate::worker::protocol::Reply;

/// Keys that are set, read and counted under.
const KEYS: u64 = 1000;

/// A call on documents and keys.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Call {
    /// Saves documents of this many letters, one a call.
    Save(usize),
    /// Sets every key once.
    Fill,
    /// Sets keys that are drawn.
    Set,
    /// Reads keys that are drawn.
    Get,
    /// Adds one to numbers of keys that are drawn.
    Increment,
}

/// A store, and what it should hold.
pub(super) struct Keeper {
    pub(super) values: Box<dyn Values>,
    model: Model,
}

/// The right contents of a store.
#[derive(Default)]
pub(super) struct Model {
    /// Letters of each document, from number 0 on.
    documents: Vec<usize>,
    /// The value that each key was set to, as the number of its letters.
    set: Vec<Option<u64>>,
    /// The count of each key.
    counted: Vec<u64>,
    /// Values that were set.
    writes: u64,
}

fn same<T: PartialEq + std::fmt::Debug>(what: impl FnOnce() -> String, expected: &T, found: &T) -> Result<()> {
    if expected == found {
        return Ok(());
    }
    let shown = |value: &T| format!("{value:?}").chars().take(80).collect();
    Err(LabError::Wrong { what: what(), expected: shown(expected), found: shown(found) })
}

impl Keeper {
    /// A store. Without a model it is empty.
    pub(super) fn new(values: Box<dyn Values>, model: Option<Model>) -> Self {
        let empty = || Model { set: vec![None; KEYS as usize], counted: vec![0; KEYS as usize], ..Model::default() };
        Keeper { values, model: model.unwrap_or_else(empty) }
    }

    /// Closes the store; its model is left.
    pub(super) fn close(self) -> Result<Model> {
        self.values.close().map(|()| self.model)
    }

    /// So many calls.
    pub(super) fn run(&mut self, call: Call, count: u64, seed: u64) -> Result<Reply> {
        let mut random = Random::new(seed);
        let drawn: Vec<u64> = match call {
            Call::Fill => (0..KEYS).collect(),
            _ => (0..count).map(|_| random.below(KEYS)).collect(),
        };
        let keys: Vec<String> = drawn.iter().copied().map(key).collect();
        match call {
            Call::Save(bytes) => self.save(count, bytes),
            Call::Fill | Call::Set => {
                let made: Vec<String> =
                    (self.model.writes..).take(keys.len()).map(|number| letters(number, VALUE_LETTERS)).collect();
                let calls: Vec<_> = keys.iter().zip(&made).collect();
                let timed = one_by_one(&calls, |(key, value)| self.values.set(key, value))?;
                for place in drawn {
                    self.model.set[place as usize] = Some(self.model.writes);
                    self.model.writes += 1;
                }
                Ok(reply(&timed))
            }
            Call::Get => {
                let timed = one_by_one(&keys, |key| self.values.get(key))?;
                let reply = reply(&timed);
                for (place, found) in drawn.into_iter().zip(timed.answers) {
                    same(|| key(place), &self.model.value(place), &found)?;
                }
                Ok(reply)
            }
            Call::Increment => {
                let timed = one_by_one(&keys, |key| self.values.increment(key))?;
                let reply = reply(&timed);
                for (place, found) in drawn.into_iter().zip(timed.answers) {
                    let counted = &mut self.model.counted[place as usize];
                    *counted += 1;
                    same(|| format!("the number of {}", key(place)), counted, &found)?;
                }
                Ok(reply)
            }
        }
    }

    fn save(&mut self, count: u64, bytes: usize) -> Result<Reply> {
        let first = self.model.documents.len() as u64;
        let texts: Vec<(u64, String)> = (first..first + count).map(|number| (number, letters(number, bytes))).collect();
        let timed = one_by_one(&texts, |(number, text)| self.values.save(*number, text))?;
        self.model.documents.extend(texts.iter().map(|_| bytes));
        Ok(reply(&timed))
    }

    /// Reads everything and compares it with the model.
    pub(super) fn verify(&mut self) -> Result<Reply> {
        let Keeper { values, model } = self;
        for (number, bytes) in (0..).zip(&model.documents) {
            let expected = Some(letters(number, *bytes));
            same(|| format!("document {number}"), &expected, &values.saved(number)?)?;
        }
        for place in 0..KEYS {
            same(|| key(place), &model.value(place), &values.get(&key(place))?)?;
        }
        for (place, counted) in (0..).zip(&model.counted).filter(|(_, counted)| **counted > 0) {
            // A number is seen by adding to it, and the model does so too, in the run that is over with this.
            same(|| format!("the number of {}", key(place)), &(counted + 1), &values.increment(&key(place))?)?;
        }
        model.counted.iter_mut().filter(|counted| **counted > 0).for_each(|counted| *counted += 1);
        Ok(Reply::default())
    }
}

impl Model {
    fn value(&self, place: u64) -> Option<String> {
        self.set.get(place as usize).copied().flatten().map(|number| letters(number, VALUE_LETTERS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::bonsaidb::open_values;

    /// One that says it did, and one call of this many it did not.
    struct Liar {
        inner: Box<dyn Values>,
        honest: u64,
    }

    impl Liar {
        fn lies(&mut self) -> bool {
            self.honest = self.honest.saturating_sub(1);
            self.honest == 0
        }
    }

    impl Values for Liar {
        fn save(&mut self, number: u64, text: &str) -> Result<()> {
            if self.lies() { Ok(()) } else { self.inner.save(number, text) }
        }
        fn saved(&mut self, number: u64) -> Result<Option<String>> {
            self.inner.saved(number)
        }
        fn set(&mut self, key: &str, value: &str) -> Result<()> {
            if self.lies() { Ok(()) } else { self.inner.set(key, value) }
        }
        fn get(&mut self, key: &str) -> Result<Option<String>> {
            self.inner.get(key)
        }
        fn increment(&mut self, key: &str) -> Result<u64> {
            if self.lies() { Ok(1) } else { self.inner.increment(key) }
        }
        fn settings(&self) -> String {
            "lies".to_owned()
        }
        fn close(self: Box<Self>) -> Result<()> {
            self.inner.close()
        }
    }

    fn all(keeper: &mut Keeper) -> Result<()> {
        keeper.run(Call::Fill, 0, 0)?;
        for (call, count) in [(Call::Save(1000), 9), (Call::Set, 50), (Call::Get, 50), (Call::Increment, 60)] {
            assert_eq!(keeper.run(call, count, 4)?.ops, count);
        }
        keeper.verify().map(drop)
    }

    #[test]
    fn documents_and_keys_are_as_the_model_says_and_after_reopening() {
        let dir = tempfile::tempdir().unwrap();
        let mut keeper = Keeper::new(open_values("recension", dir.path()).unwrap(), None);
        all(&mut keeper).unwrap();
        let left = keeper.close().unwrap();
        let mut keeper = Keeper::new(open_values("recension", dir.path()).unwrap(), Some(left));
        keeper.verify().unwrap();
    }

    #[test]
    fn one_call_that_is_dropped_is_found() {
        // In the 1,000 that fill, the 9 documents, the 50 that are set, and the numbers.
        for lie_at in [700, 1005, 1040, 1100] {
            let dir = tempfile::tempdir().unwrap();
            let inner = open_values("recension", dir.path()).unwrap();
            let mut keeper = Keeper::new(Box::new(Liar { inner, honest: lie_at }), None);
            let found = all(&mut keeper);
            assert!(matches!(found, Err(LabError::Wrong { .. })), "{lie_at}: {found:?}");
        }
    }
}
