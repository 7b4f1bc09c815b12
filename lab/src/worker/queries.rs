//! Orders that are asked by what they hold: every answer is kept and compared with what all orders say when the clock
//! has stopped.

use std::path::PathBuf;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::protocol::Reply;
use super::serve::REST;
use crate::data::Random;
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos};
use crate::subjects::Given;
use crate::subjects::queries::events::{self, Event, event};
use crate::subjects::queries::model::{Answer, Ask, Order, asks, country, number_of, order};
use crate::subjects::queries::{Orders, open};

/// What a worker of the suite `queries` is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Queries {
    /// Opens a new store and loads orders.
    Load {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// How many.
        orders: u64,
        /// What the run was given.
        given: Given,
    },
    /// Loads events beside them.
    Events {
        /// How many.
        events: u64,
    },
    /// Asks of an operation, one after the other.
    Ask {
        /// The operation.
        operation: String,
        /// How many, each about something else.
        count: usize,
        /// Of what they are about.
        seed: u64,
    },
    /// Closes the store in order.
    Close,
}

/// A store and what it holds.
pub(super) struct Loaded {
    store: Box<dyn Orders>,
    orders: Vec<Order>,
    events: Vec<Event>,
}

fn wrong(ask: &Ask, expected: impl Into<String>, found: impl Into<String>) -> LabError {
    let short = |text: String| text.chars().take(300).collect();
    LabError::Wrong { what: short(format!("{ask:?}")), expected: short(expected.into()), found: short(found.into()) }
}

impl Loaded {
    /// Does one command.
    pub(super) fn handle(asked: &mut Option<Loaded>, command: Queries) -> Result<Reply> {
        if let Queries::Load { subject, dir, orders: count, given } = command {
            let orders: Vec<Order> = (0..count).map(|number| order(number, count)).collect();
            let mut store = open(&subject, &dir, &given)?;
            let start = Instant::now();
            store.load(&orders)?;
            let wall_ns = nanos(start.elapsed());
            come_to_rest(REST);
            let settings = Some(store.settings());
            *asked = Some(Loaded { store, orders, events: Vec::new() });
            return Ok(Reply { ops: count, wall_ns, settings, ..Reply::default() });
        }
        let none = || LabError::Worker { what: "no store is open".to_owned() };
        match command {
            Queries::Ask { operation, count, seed } => asked.as_mut().ok_or_else(none)?.ask(&operation, count, seed),
            Queries::Events { events } => asked.as_mut().ok_or_else(none)?.load_events(events),
            Queries::Close => asked.take().ok_or_else(none)?.store.close().map(|()| Reply::default()),
            Queries::Load { .. } => Ok(Reply::default()),
        }
    }

    fn load_events(&mut self, count: u64) -> Result<Reply> {
        self.events = (0..count).map(|number| event(number, count)).collect();
        let start = Instant::now();
        self.store.load_events(&self.events)?;
        let wall_ns = nanos(start.elapsed());
        come_to_rest(REST);
        Ok(Reply { ops: count, wall_ns, ..Reply::default() })
    }

    fn ask(&mut self, operation: &str, count: usize, seed: u64) -> Result<Reply> {
        let asks = asks(operation, &self.orders, count, &mut Random::new(seed));
        let (mut answers, mut latencies_ns) = (Vec::with_capacity(asks.len()), Vec::with_capacity(asks.len()));
        for ask in &asks {
            let start = Instant::now();
            let answer = self.store.ask(ask)?;
            latencies_ns.push(nanos(start.elapsed()));
            answers.push(answer);
        }
        let mut rows = 0;
        for (ask, answer) in asks.iter().zip(answers) {
            rows += self.check(ask, answer)?;
        }
        let ops = asks.len() as u64;
        let note = format!("{} rows an answer", rows / ops.max(1));
        let wall_ns = latencies_ns.iter().sum();
        Ok(Reply { ops, wall_ns, latencies_ns, note: Some(note), ..Reply::default() })
    }

    /// Compares an answer with what all orders say; answers its rows.
    fn check(&mut self, ask: &Ask, answer: Answer) -> Result<u64> {
        let expected: Vec<&Order> = ask.selected(&self.orders);
        let unlike = |found: String| Err(wrong(ask, format!("{} rows", expected.len()), found));
        match answer {
            Answer::Documents(documents) => {
                let mut found = documents;
                let mut expected = expected;
                if !ask.is_ordered() {
                    found.sort_unstable();
                    expected.sort_unstable_by_key(|order| order.number);
                }
                if found.len() != expected.len() {
                    return Err(wrong(ask, format!("{} rows", expected.len()), format!("{} rows", found.len())));
                }
                found.iter().zip(&expected).try_for_each(|((id, body), order)| same(ask, order, id, body))?;
                Ok(found.len() as u64)
            }
            Answer::Ids(ids) => {
                let mut found: Vec<Option<u64>> = ids.iter().map(|id| number_of(id)).collect();
                found.sort_unstable();
                if expected.iter().map(|order| Some(order.number)).eq(found.iter().copied()) {
                    return Ok(found.len() as u64);
                }
                unlike(format!("{} rows: {found:?}", found.len()))
            }
            Answer::Groups(found) => {
                let expected = match ask {
                    Ask::JsonBench { question } => events::answer(*question, &self.events),
                    _ => ask.groups(&self.orders),
                };
                if found == expected {
                    return Ok(found.len() as u64);
                }
                Err(wrong(ask, format!("{expected:?}"), format!("{found:?}")))
            }
            Answer::Values(found) => {
                let mut expected: Vec<&str> = self.orders.iter().map(|order| country(order.customer)).collect();
                expected.sort_unstable();
                expected.dedup();
                if found == expected {
                    return Ok(found.len() as u64);
                }
                Err(wrong(ask, format!("{expected:?}"), format!("{found:?}")))
            }
            Answer::Changed(changed) if changed == expected.len() as u64 => {
                let numbers: Vec<u64> = expected.iter().map(|order| order.number).collect();
                if let Ask::Update { state, .. } = ask {
                    let changed = self.orders.iter_mut().filter(|order| numbers.contains(&order.number));
                    changed.for_each(|order| order.state.clone_from(state));
                }
                Ok(changed)
            }
            Answer::Changed(changed) => unlike(format!("{changed} rows")),
        }
    }
}

fn same(ask: &Ask, order: &Order, id: &str, body: &str) -> Result<()> {
    let mut found: Value = serde_json::from_str(body).map_err(LabError::subject("a document"))?;
    // What a server adds.
    if let Some(members) = found.as_object_mut() {
        members.shift_remove("_id");
        members.shift_remove("_rev");
    }
    let expected = order.document();
    // The state as it was when it was asked is checked by updates, whose documents are read later.
    if number_of(id) == Some(order.number) && found == expected {
        return Ok(());
    }
    Err(wrong(ask, format!("{} {expected}", order.number), format!("{id} {found}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::OURS;
    use crate::workloads::queries::ASKED;

    fn loaded(dir: &std::path::Path) -> Option<Loaded> {
        let mut asked = None;
        let load =
            Queries::Load { subject: OURS.to_owned(), dir: dir.to_owned(), orders: 2_400, given: Given::default() };
        Loaded::handle(&mut asked, load).unwrap();
        Loaded::handle(&mut asked, Queries::Events { events: 3_000 }).unwrap();
        asked
    }

    #[test]
    fn every_operation_is_answered_as_all_orders_say_and_updates_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let mut asked = loaded(dir.path());
        for round in 0..2 {
            for (operation, ..) in ASKED {
                let ask = Queries::Ask { operation: operation.to_owned(), count: 3, seed: round };
                let reply = Loaded::handle(&mut asked, ask).unwrap_or_else(|error| panic!("{operation}: {error}"));
                assert_eq!(reply.ops, 3, "{operation}");
            }
        }
    }

    #[test]
    fn every_wrong_answer_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let mut asked = loaded(dir.path()).unwrap();
        // Another total, customer, note and place of each: whatever is asked, the model expects something else.
        for order in &mut asked.orders {
            order.total += 1;
            order.placed += 1;
            order.note.push_str(" zuzuzu");
        }
        asked.events.pop();
        asked.events.iter_mut().for_each(|event| event.time_us += 3_600_000_000);
        let gone = asked.orders.pop().unwrap();
        for operation in [
            "equal",
            "sort_index",
            "sort_scan",
            "page_100",
            "group_sum",
            "group_index",
            "jsonbench_1",
            "jsonbench_3",
            "jsonbench_4",
        ] {
            let found = asked.ask(operation, 5, 1);
            assert!(matches!(found, Err(LabError::Wrong { .. })), "{operation}");
        }
        let ask = Ask::Contains { part: "zuzuzu".to_owned() };
        assert!(asked.check(&ask, Answer::Ids(Vec::new())).is_err());
        assert!(asked.check(&Ask::Distinct, Answer::Values(vec!["Peru".to_owned()])).is_err());
        let ask = Ask::Update { customer: gone.customer, state: "x".to_owned() };
        assert!(asked.check(&ask, Answer::Changed(1_000)).is_err());
    }
}
