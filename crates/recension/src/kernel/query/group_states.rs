//! Groups as bytes, and the merging of two groups with one id, for groups that do not fit into memory.

use std::collections::BTreeMap;

use crate::kernel::query::group_row::Shape;
use crate::kernel::query::groups::{Group, State, Values};
use crate::kernel::query::numbers::Numbers;
use recension_values::byte_reader::ByteReader;
use recension_values::error::Result;
use recension_values::pipeline::Fold;

impl Group {
    /// The group with this key as bytes.
    pub(super) fn encode(self, key: &[u8], of: &Shape) -> Result<Vec<u8>> {
        let texts = self.values.into_texts(key, of.collation)?;
        let mut out = (texts.len() as u32).to_be_bytes().to_vec();
        for value in &texts {
            out.push(u8::from(value.is_some()));
            push(value.as_deref().unwrap_or_default().as_bytes(), &mut out);
        }
        self.states.iter().for_each(|state| state.encode(&mut out));
        Ok(out)
    }

    pub(super) fn decode(bytes: &[u8], folds: &[(String, Fold)]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let values = (0..reader.u32()?).map(|_| {
            let there = reader.byte()? == 1;
            let text = take_text(&mut reader)?;
            Some(there.then_some(text))
        });
        let values = Values::Texts(values.collect::<Option<_>>()?);
        let states = folds.iter().map(|(_, fold)| State::of(fold).decoded(&mut reader)).collect::<Option<_>>()?;
        reader.is_empty().then_some(Group { values, states })
    }

    /// Merges a group with the same id, whose rows came later.
    pub(super) fn unite(&mut self, later: Group, folds: &[(String, Fold)]) {
        for ((state, later), (_, fold)) in self.states.iter_mut().zip(later.states).zip(folds) {
            state.unite(later, fold);
        }
    }
}

impl State {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            State::Count(count) => out.extend(count.to_be_bytes()),
            State::Numbers(numbers) => numbers.encode(out),
            State::Value(value) => {
                out.push(u8::from(value.is_some()));
                if let Some((key, text)) = value {
                    push(key, out);
                    push(text.as_bytes(), out);
                }
            }
            State::Set(values) => {
                out.extend((values.len() as u32).to_be_bytes());
                for (key, text) in values {
                    push(key, out);
                    push(text.as_bytes(), out);
                }
            }
            State::List(values) => {
                out.extend((values.len() as u32).to_be_bytes());
                for text in values {
                    push(text.as_bytes(), out);
                }
            }
        }
    }

    /// The encoded state of this kind.
    fn decoded(self, reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(match self {
            State::Count(_) => State::Count(u64::from_be_bytes(reader.chunk()?)),
            State::Numbers(_) => State::Numbers(Numbers::decode(reader)?),
            State::Value(_) => {
                let there = reader.byte()? == 1;
                State::Value(if there { Some((take(reader)?, take_text(reader)?)) } else { None })
            }
            State::Set(_) => {
                let pairs = (0..reader.u32()?).map(|_| Some((take(reader)?, take_text(reader)?)));
                State::Set(pairs.collect::<Option<BTreeMap<_, _>>>()?)
            }
            State::List(_) => State::List((0..reader.u32()?).map(|_| take_text(reader)).collect::<Option<_>>()?),
        })
    }

    fn unite(&mut self, later: State, fold: &Fold) {
        match (self, later) {
            (State::Count(count), State::Count(more)) => *count += more,
            (State::Numbers(numbers), State::Numbers(more)) => numbers.unite(more),
            (State::Value(held), State::Value(Some((key, text)))) => {
                let takes = match (fold, held.as_ref()) {
                    (_, None) | (Fold::Last(_), _) => true,
                    (Fold::Min(_), Some((known, _))) => key < *known,
                    (Fold::Max(_), Some((known, _))) => key > *known,
                    _ => false,
                };
                if takes {
                    *held = Some((key, text));
                }
            }
            (State::Set(values), State::Set(more)) => {
                for (key, text) in more {
                    values.entry(key).or_insert(text);
                }
            }
            (State::List(values), State::List(more)) => values.extend(more),
            // States of one fold are of one kind.
            _ => {}
        }
    }
}

fn push(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u32).to_be_bytes());
    out.extend(bytes);
}

fn take(reader: &mut ByteReader<'_>) -> Option<Vec<u8>> {
    let length = reader.u32()? as usize;
    reader.take(length).map(<[u8]>::to_vec)
}

fn take_text(reader: &mut ByteReader<'_>) -> Option<String> {
    String::from_utf8(take(reader)?).ok()
}
