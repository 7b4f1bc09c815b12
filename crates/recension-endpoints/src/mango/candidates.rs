//! `index_candidates` of `_explain`: the indexes that the answer did not come from, why, and how near they were, as
//! CouchDB ranks them. Pure.

use serde_json::{Value, json};

use super::definition::Definition;
use super::options::Options;
use super::ranges::Seen;

/// What an index is not taken for.
struct Verdict {
    usable: bool,
    reason: &'static str,
    /// The group in which it is ranked: not chosen, of another type, excluded, not usable, out of scope, partial.
    group: usize,
}

/// A question, and how it was answered.
pub(super) struct Question<'q> {
    pub(super) options: &'q Options,
    pub(super) seen: &'q Seen,
    /// The index of the answer; `None`: the list of all documents, or none of a design document.
    pub(super) winner: Option<&'q Definition>,
    /// Whether the list of all documents was read.
    pub(super) by_ids: bool,
    /// Whether the documents of the database are in partitions, and one was asked for.
    pub(super) partitions: (bool, bool),
}

/// The description of the list of all documents.
pub(super) const BY_IDS: &str = r#"{"ddoc":null,"name":"_all_docs","type":"special","def":{"fields":[{"_id":"asc"}]}}"#;

impl Question<'_> {
    /// The list, in CouchDB's order.
    pub(super) fn candidates(&self, definitions: &[Definition]) -> Value {
        let is_winner =
            |own: &Definition| self.winner.is_some_and(|winner| (&winner.ddoc, &winner.name) == (&own.ddoc, &own.name));
        let others = definitions.iter().rev().filter(|own| own.words.is_none() && !is_winner(own));
        let mut verdicts: Vec<(Option<&Definition>, Verdict)> =
            others.map(|own| (Some(own), self.verdict(own))).collect();
        if !self.by_ids {
            verdicts.push((None, self.verdict_of_ids()));
        }
        // Those that were not chosen are ranked one by one, the others by their groups.
        let chosen = verdicts.iter().filter(|(_, verdict)| verdict.group == 0).count();
        let mut rank = (chosen + usize::from(self.winner.is_some())).max(1);
        let mut ranks = [0; 6];
        for group in 1..6 {
            if let Some(own) = ranks.get_mut(group) {
                *own = rank;
            }
            rank += usize::from(verdicts.iter().any(|(_, verdict)| verdict.group == group));
        }
        let mut number = 0;
        let one = |(definition, verdict): &(Option<&Definition>, Verdict)| {
            let ranking = if verdict.group == 0 {
                number += 1;
                number
            } else {
                ranks.get(verdict.group).copied().unwrap_or_default()
            };
            let index = definition.map_or_else(|| BY_IDS.to_owned(), |own| own.to_json(self.partitions.0));
            let covering = definition.map(|own| self.options.fields.as_ref().is_some_and(|fields| own.covers(fields)));
            json!({
                "index": serde_json::from_str::<Value>(&index).unwrap_or_default(),
                "analysis": {
                    "usable": verdict.usable,
                    "reasons": [{ "name": verdict.reason }],
                    "ranking": ranking,
                    "covering": covering,
                },
            })
        };
        verdicts.iter().map(one).collect()
    }

    fn verdict(&self, index: &Definition) -> Verdict {
        let refused = |reason, group| Verdict { usable: false, reason, group };
        let taken = |reason, group| Verdict { usable: true, reason, group };
        if index.partial.is_some() {
            return refused("is_partial", 5);
        }
        let (partitioned, of_partition) = self.partitions;
        if index.partitioned.unwrap_or(partitioned) != of_partition {
            return refused("scope_mismatch", 4);
        }
        let sorted = |field: &str| self.options.sort.iter().any(|(own, _)| own == field);
        let there = |field: &str| field == "_id" || field == "_rev" || sorted(field) || self.seen.has(field);
        if !index.fields.iter().all(|(field, _)| there(field)) {
            return refused("field_mismatch", 3);
        }
        if !self.sorts(index) {
            return refused("sort_order_mismatch", 3);
        }
        if self.options.use_index.is_some() {
            return taken("excluded_by_user", 2);
        }
        match self.winner {
            Some(winner) if index.fields.len() > winner.fields.len() => taken("too_many_fields", 0),
            Some(winner) if index.fields.len() < winner.fields.len() => taken("less_overlap", 0),
            Some(_) => taken("alphabetically_comes_after", 0),
            None => taken("less_overlap", 0),
        }
    }

    /// Whether an index has the order of the answer: its first fields that are not equal to one value are those of the
    /// order.
    fn sorts(&self, index: &Definition) -> bool {
        let mut wanted = self.options.sort.iter().map(|(field, _)| field).peekable();
        for (field, _) in &index.fields {
            match wanted.peek() {
                None => return true,
                Some(next) if *next == field => drop(wanted.next()),
                Some(_) if self.seen.has(field) => {}
                Some(_) => return false,
            }
        }
        wanted.next().is_none()
    }

    fn verdict_of_ids(&self) -> Verdict {
        if self.options.sort.is_empty() || self.options.sort.iter().all(|(field, _)| field == "_id") {
            return Verdict { usable: true, reason: "unfavored_type", group: 1 };
        }
        let reason = if self.seen.has("_id") { "sort_order_mismatch" } else { "field_mismatch" };
        Verdict { usable: false, reason, group: 3 }
    }
}
