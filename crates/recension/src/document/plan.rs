//! What a query's plan says to people and programs. Plain values.

use std::fmt::{self, Write as _};

use super::Path;
use super::condition::Condition;
use super::json::quote;
use crate::engine::Direction;

/// The way in which a query is carried out, and what else was weighed.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The index; `None`: every document is read.
    pub index: Option<String>,
    /// What that index is on, for people.
    pub on: Option<String>,
    /// The direction in which the index, or the documents by id, are read.
    pub direction: Direction,
    /// Conditions that bound what is read of the index.
    pub bounds: Vec<Condition>,
    /// Ranges of keys that are read: `bounds` taken together.
    pub ranges: usize,
    /// Conditions that are tested on the keys of the index, before a document is read.
    pub key_filter: Vec<Condition>,
    /// Conditions that are tested on documents.
    pub filter: Vec<Condition>,
    /// Paths that must be absent, which is tested on documents.
    pub absent: Vec<Path>,
    /// How the order comes about.
    pub sort: PlanSort,
    /// Whether the index alone has all that is asked for: no document is read.
    pub covering: bool,
    /// Rows that are read of the index, or documents of the scan, about; `None` where it was not needed for
    /// the choice ([`CollectionAt::explain`](super::CollectionAt::explain) always tells).
    pub rows: Option<f64>,
    /// What it costs, about; 1 is one document read and tested in a scan.
    pub cost: Option<f64>,
    /// The other ways, the cheapest first, then those that cannot be gone.
    pub alternatives: Vec<Alternative>,
}

/// How the order of an answer comes about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanSort {
    /// No order was asked for.
    Unsorted,
    /// As the index has it.
    ByIndex,
    /// In memory, before the first document is answered.
    InMemory,
}

/// A way that was not taken.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// The index; `None`: the scan of every document.
    pub index: Option<String>,
    /// Rows, as in [`Plan::rows`].
    pub rows: Option<f64>,
    /// Cost, as in [`Plan::cost`].
    pub cost: Option<f64>,
    /// Why it cannot be gone.
    pub rejected: Option<String>,
}

impl Plan {
    /// Whether the documents found are sorted in memory.
    pub fn sorts_in_memory(&self) -> bool {
        self.sort == PlanSort::InMemory
    }

    /// The plan in a few words: `index by-name`, `scan of every document, then sorted in memory`.
    pub fn summary(&self) -> String {
        let mut text = match &self.index {
            Some(name) => format!("index {name}"),
            None => "scan of every document".to_owned(),
        };
        if self.covering {
            text.push_str(" alone");
        }
        if self.sorts_in_memory() {
            text.push_str(", then sorted in memory");
        }
        text
    }

    /// The plan as a JSON object.
    pub fn to_json(&self) -> String {
        let text = |text: &Option<String>| text.as_deref().map_or("null".to_owned(), quote);
        let number = |number: Option<f64>| number.map_or("null".to_owned(), |number| format!("{number:.1}"));
        let list = |items: Vec<String>| format!("[{}]", items.join(","));
        let conditions = |conditions: &[Condition]| {
            let one =
                |c: &Condition| format!("{{\"path\":{},\"in\":{}}}", quote(&c.path.to_string()), c.values.to_json());
            list(conditions.iter().map(one).collect())
        };
        let mut out = format!("{{\"index\":{},\"on\":{}", text(&self.index), text(&self.on));
        let direction = if self.direction == Direction::Forward { "forward" } else { "backward" };
        let sort = match self.sort {
            PlanSort::Unsorted => "null",
            PlanSort::ByIndex => "\"index\"",
            PlanSort::InMemory => "\"memory\"",
        };
        let absent = list(self.absent.iter().map(|path| quote(&path.to_string())).collect());
        let alternative = |other: &Alternative| {
            let Alternative { index, rows, cost, rejected } = other;
            let (rows, cost) = (number(*rows), number(*cost));
            format!("{{\"index\":{},\"rows\":{rows},\"cost\":{cost},\"rejected\":{}}}", text(index), text(rejected))
        };
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            ",\"direction\":\"{direction}\",\"bounds\":{},\"ranges\":{},\"key_filter\":{},\"filter\":{},\
             \"absent\":{absent},\"sort\":{sort},\"covering\":{},\"rows\":{},\"cost\":{},\"alternatives\":{}}}",
            conditions(&self.bounds),
            self.ranges,
            conditions(&self.key_filter),
            conditions(&self.filter),
            self.covering,
            number(self.rows),
            number(self.cost),
            list(self.alternatives.iter().map(alternative).collect()),
        );
        out
    }
}

fn write_estimate(f: &mut fmt::Formatter<'_>, rows: Option<f64>, cost: Option<f64>) -> fmt::Result {
    match (rows, cost) {
        (Some(rows), Some(cost)) => write!(f, "about {rows:.0} rows, cost {cost:.0}"),
        _ => f.write_str("not weighed"),
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join =
            |conditions: &[Condition]| conditions.iter().map(Condition::to_string).collect::<Vec<_>>().join(" and ");
        match (&self.index, &self.on) {
            (Some(name), Some(on)) => write!(f, "index {name} on {on}: ")?,
            _ => f.write_str("scan of every document: ")?,
        }
        write_estimate(f, self.rows, self.cost)?;
        if self.index.is_some() {
            let bounds = if self.bounds.is_empty() { "all of it".to_owned() } else { join(&self.bounds) };
            let backward = if self.direction == Direction::Backward { ", backward" } else { "" };
            write!(f, "\n  reads    {bounds} ({} of keys{backward})", ranges(self.ranges))?;
        }
        if !self.key_filter.is_empty() {
            write!(f, "\n  tests    {} (on keys)", join(&self.key_filter))?;
        }
        if !self.filter.is_empty() {
            write!(f, "\n  tests    {} (on documents)", join(&self.filter))?;
        }
        for path in &self.absent {
            write!(f, "\n  tests    {path} is absent (on documents)")?;
        }
        match self.sort {
            PlanSort::Unsorted => {}
            PlanSort::ByIndex => f.write_str("\n  order    as the index has it")?,
            PlanSort::InMemory => f.write_str("\n  order    sorted in memory")?,
        }
        if self.covering {
            f.write_str("\n  covers   no document is read")?;
        }
        for other in &self.alternatives {
            let name = other.index.as_ref().map_or("scan of every document".to_owned(), |name| format!("index {name}"));
            write!(f, "\n  instead  {name}: ")?;
            match &other.rejected {
                Some(why) => write!(f, "cannot: {why}")?,
                None => write_estimate(f, other.rows, other.cost)?,
            }
        }
        Ok(())
    }
}

fn ranges(count: usize) -> String {
    if count == 1 { "1 range".to_owned() } else { format!("{count} ranges") }
}
