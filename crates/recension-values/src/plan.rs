//! The plan of a query, for people and programs. Plain values.

use std::fmt::{self, Write as _};

use crate::condition::Condition;
use crate::json::{Path, quote};
use recension_engine::Direction;

/// The way in which a query is carried out, and the other ways that were weighed.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// The index; `None`: documents are read by id, either all or those within the bounds.
    pub index: Option<String>,
    /// The index's specification, for people.
    pub on: Option<String>,
    /// The direction in which the index, or the documents by id, are read.
    pub direction: Direction,
    /// Conditions that bound the rows that are read, of the index or of documents by id.
    pub bounds: Vec<Condition>,
    /// Ranges of keys that are read: `bounds` taken together.
    pub ranges: usize,
    /// Conditions that are tested on the keys of the index, before a document is read.
    pub key_filter: Vec<Condition>,
    /// Conditions that are tested on documents.
    pub filter: Vec<Condition>,
    /// Paths that must be absent, which is tested on documents.
    pub absent: Vec<Path>,
    /// The selector that is tested on documents, as JSON.
    pub selector: Option<String>,
    /// Ways whose ids are combined, instead of all fields above: documents that any of the ways finds.
    pub union: Vec<Plan>,
    /// The same for documents that all of the ways find; `index` and `on` are those of the first one.
    pub intersection: Vec<Plan>,
    /// The words that are looked up in the index, if it is one of words.
    pub words: Option<String>,
    /// How the answer is ordered.
    pub sort: PlanSort,
    /// Whether the index alone has all wanted values: no document is read.
    pub covering: bool,
    /// About how many rows of the index, or documents of the scan, are read. `None` if the choice did not need it
    /// (`CollectionAt::explain` always has it).
    pub rows: Option<f64>,
    /// The estimated cost; 1 is one document read and tested in a scan.
    pub cost: Option<f64>,
    /// If every document is read: the paths on which an index would help.
    pub suggestion: Option<String>,
    /// The other ways, the cheapest first, then those that are not usable.
    pub alternatives: Vec<Alternative>,
}

/// How an answer is ordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlanSort {
    /// No order was asked for.
    Unsorted,
    /// In the order of the index, or of documents by id.
    ByIndex,
    /// In memory, before the first document is answered.
    InMemory,
    /// By relevance, from the index of words.
    ByRelevance,
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
    /// The reason for which it is not usable.
    pub rejected: Option<String>,
}

impl Plan {
    /// Whether the documents found are sorted in memory.
    pub fn sorts_in_memory(&self) -> bool {
        self.sort == PlanSort::InMemory
    }

    /// The plan in a few words: `index by-name`, `scan of every document, then sorted in memory`.
    pub fn summary(&self) -> String {
        if !self.union.is_empty() {
            let ways: Vec<String> = self.union.iter().map(Plan::summary).collect();
            return format!("{} ways: {}", ways.len(), ways.join("; "));
        }
        if !self.intersection.is_empty() {
            let ways: Vec<String> = self.intersection.iter().map(Plan::summary).collect();
            return format!("{} ways at once: {}", ways.len(), ways.join("; "));
        }
        let mut text = match &self.index {
            Some(name) => format!("index {name}"),
            None if !self.bounds.is_empty() => "documents by id".to_owned(),
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
            PlanSort::ByRelevance => "\"relevance\"",
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
             \"absent\":{absent},\"selector\":{},\"union\":{},\"intersection\":{},\"words\":{},\"sort\":{sort},\"covering\":{},\"rows\":{},\"cost\":{},\"suggestion\":{},\"alternatives\":{}}}",
            conditions(&self.bounds),
            self.ranges,
            conditions(&self.key_filter),
            conditions(&self.filter),
            self.selector.as_deref().unwrap_or("null"),
            list(self.union.iter().map(Plan::to_json).collect()),
            list(self.intersection.iter().map(Plan::to_json).collect()),
            text(&self.words),
            self.covering,
            number(self.rows),
            number(self.cost),
            text(&self.suggestion),
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
        for (ways, of) in [(&self.union, "documents of any"), (&self.intersection, "documents of all")] {
            if !ways.is_empty() {
                write!(f, "{} ways, {of}, by id:", ways.len())?;
                return ways.iter().try_for_each(|way| write!(f, "\n{way}"));
            }
        }
        match (&self.index, &self.on) {
            (Some(name), Some(on)) => write!(f, "index {name} on {on}: ")?,
            _ if !self.bounds.is_empty() => f.write_str("documents by id: ")?,
            _ => f.write_str("scan of every document: ")?,
        }
        write_estimate(f, self.rows, self.cost)?;
        if let Some(words) = &self.words {
            write!(f, "\n  reads    the documents of {words}")?;
        } else if self.index.is_some() || !self.bounds.is_empty() {
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
        if let Some(selector) = &self.selector {
            write!(f, "\n  tests    {selector} (on documents)")?;
        }
        match self.sort {
            PlanSort::Unsorted => {}
            PlanSort::ByIndex if self.index.is_none() => f.write_str("\n  order    by id, as documents are kept")?,
            PlanSort::ByIndex => f.write_str("\n  order    as the index has it")?,
            PlanSort::InMemory => f.write_str("\n  order    sorted in memory")?,
            PlanSort::ByRelevance => f.write_str("\n  order    by relevance")?,
        }
        if self.covering {
            f.write_str("\n  covers   no document is read")?;
        }
        if let Some(paths) = &self.suggestion {
            write!(f, "\n  helps    an index on {paths}")?;
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
