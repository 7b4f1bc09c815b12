//! The rows of a list by id, and their offset. While no row is asked for, a list is only a moment and a place in it:
//! the engine holds nothing for it.

use std::ops::Bound;

use recension::document::json::quote;
use recension::document::{AccessIds, CollectionAt, Document, Documents, ListOptions};
use recension::engine::Direction;

use super::list_options::{ListQuery, before};
use super::reading::{Extras, Shown};
use super::within::{Limited, Within};
use crate::error::Result;
use crate::limits::OFFSET_COUNTED_MAX;

/// The fewest rows that a walk is opened for.
const ROWS_AHEAD_MIN: usize = 16;

/// A row of a list.
pub(crate) struct Row {
    /// The id; for a key without a document, the key.
    pub(crate) id: String,
    /// The revision; empty if there is no document.
    pub(crate) rev: String,
    deleted: bool,
    /// The document, if it is asked for; `null` for a deleted one.
    pub(crate) doc: Option<String>,
}

impl Row {
    pub(crate) fn json(&self) -> String {
        if self.rev.is_empty() {
            return format!("{{\"key\":{},\"error\":\"not_found\"}}", self.id);
        }
        let (id, rev) = (quote(&self.id), &self.rev);
        let deleted = if self.deleted { ",\"deleted\":true" } else { "" };
        let doc = self.doc.as_ref().map_or(String::new(), |doc| format!(",\"doc\":{doc}"));
        format!("{{\"id\":{id},\"key\":{id},\"value\":{{\"rev\":\"{rev}\"{deleted}}}{doc}}}")
    }
}

/// A list.
pub(crate) struct List {
    at: CollectionAt,
    asked: ListQuery,
    part: Part,
    within: Limited,
    rows: Rows,
}

/// The rest of its rows.
enum Rows {
    /// Keys as JSON texts.
    Keys(std::vec::IntoIter<String>),
    /// A range of the documents.
    Range {
        left: ListOptions,
        /// Rows to pass over first.
        skip: usize,
        /// Rows that are answered at most.
        most: usize,
        /// The open walk, while rows are asked for one after the other, and how many rows it may still give.
        walk: Option<(Box<Walk>, usize)>,
        /// The id of the last row.
        last: Option<String>,
        /// How many rows were asked for since the last rest.
        given: usize,
        /// How many the next walk is opened for: about as many as were asked for before the last rest. An engine that
        /// is far away would else send what nobody takes.
        ahead: usize,
    },
}

/// The documents of a range.
enum Walk {
    All(Documents),
    /// Those that somebody may see, and perhaps others.
    Own(AccessIds),
}

impl Walk {
    fn of(at: &CollectionAt, range: &ListOptions, within: &Limited) -> Result<Self> {
        let own = within.as_ref().map_or(Ok(None), |within| within.ids(at, range))?;
        own.map_or_else(|| Ok(Walk::All(at.list(range)?)), |own| Ok(Walk::Own(own)))
    }

    fn next(&mut self, at: &CollectionAt) -> Result<Option<Document<'static>>> {
        match self {
            Walk::All(documents) => Ok(documents.next().transpose()?),
            Walk::Own(ids) => {
                for id in ids {
                    if let Some(document) = at.get(&id?)? {
                        return Ok(Some(document.into_owned()));
                    }
                }
                Ok(None)
            }
        }
    }
}

impl List {
    /// The list, and the text before its rows.
    pub(crate) fn of(at: CollectionAt, mut asked: ListQuery, part: &Part, within: Limited) -> Result<(String, Self)> {
        // How many documents there are is told nobody who may not see all of them: it would have to be counted.
        let counts = within.is_none();
        let options = part.narrowed(asked.options());
        let total = if *part == Part::Design { counted(&at, &designs())?.unwrap_or_default() } else { at.count()? };
        let changed = if counts { at.counts()?.changed } else { at.seq() };
        let update_seq = if asked.update_seq { format!("\"update_seq\":\"{changed}\",") } else { String::new() };
        let told = if counts { total.to_string() } else { "null".to_owned() };
        let head = |offset: &str| format!("{{\"total_rows\":{told},{update_seq}\"offset\":{offset},\"rows\":[");
        let (skip, limit) = (asked.skip, asked.limit);
        let (head, rows) = if let Some(mut keys) = asked.keys.take() {
            if asked.descending {
                keys.reverse();
            }
            keys.truncate(skip.saturating_add(limit));
            let keys = keys.split_off(skip.min(keys.len()));
            (head("null"), Rows::Keys(keys.into_iter()))
        } else {
            let before = if counts { counted(&at, &part.before(&asked))? } else { None };
            let offset = before.map(|before| before.saturating_add(skip as u64).min(total).to_string());
            let left = ListOptions { limit: counts.then_some(skip.saturating_add(limit)), ..options };
            let rows = Rows::Range { left, skip, most: limit, walk: None, last: None, given: 0, ahead: usize::MAX };
            (head(offset.as_deref().unwrap_or("null")), rows)
        };
        Ok((head, List { at, asked, part: part.clone(), within, rows }))
    }

    /// The next row; `None` behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<Row>> {
        loop {
            let List { at, asked, part, within, rows } = self;
            let (left, skip, most, walk, last, given, ahead) = match rows {
                Rows::Keys(keys) => {
                    let row = |key: String| row_of_key(at, &key, asked, part, within.as_deref());
                    return keys.next().map(row).transpose();
                }
                Rows::Range { left, skip, most, walk, last, given, ahead } => {
                    (left, skip, most, walk, last, given, *ahead)
                }
            };
            if *most == 0 {
                return Ok(None);
            }
            let (walk, open) = match walk {
                Some(walk) => walk,
                none => {
                    let open = left.limit.unwrap_or(usize::MAX).min(ahead);
                    {
                        let range = ListOptions { limit: Some(open), ..left.clone() };
                        none.insert((Box::new(Walk::of(at, &range, within)?), open))
                    }
                }
            };
            let Some(document) = walk.next(at)? else {
                if *open > 0 || left.limit == Some(0) {
                    return Ok(None);
                }
                self.rows.close();
                continue;
            };
            *open = open.saturating_sub(1);
            *given += 1;
            left.limit = left.limit.map(|limit| limit.saturating_sub(1));
            let shown = within.as_ref().is_none_or(|within| within.shows(&document));
            let passed = shown && *skip > 0;
            *skip -= usize::from(passed);
            let row = if shown && !passed { Some(row(at, &document, asked, within.is_some())?) } else { None };
            *last = Some(document.id.into_owned());
            if row.is_some() {
                *most -= 1;
                return Ok(row);
            }
        }
    }

    /// Releases what the engine holds for it. The next row opens the walk again behind the last one.
    pub(crate) fn rest(&mut self) {
        self.rows.close();
        if let Rows::Range { given, ahead, .. } = &mut self.rows {
            let before = std::mem::take(given);
            *ahead = (before + before / 8).max(ROWS_AHEAD_MIN);
        }
    }
}

impl Rows {
    /// Closes the walk. The next one begins behind the last row.
    fn close(&mut self) {
        if let Rows::Range { left, walk, last, .. } = self {
            *walk = None;
            if let Some(last) = last.take() {
                match left.direction {
                    Direction::Forward => left.start = Bound::Excluded(last),
                    Direction::Backward => left.end = Bound::Excluded(last),
                }
            }
        }
    }
}

fn row(at: &CollectionAt, document: &Document<'_>, asked: &ListQuery, limited: bool) -> Result<Row> {
    let doc = asked.include_docs.then(|| doc(at, document, asked, limited)).transpose()?;
    Ok(Row { id: document.id.to_string(), rev: document.rev.to_string(), deleted: false, doc })
}

fn row_of_key(
    at: &CollectionAt,
    key: &str,
    asked: &ListQuery,
    part: &Part,
    within: Option<&dyn Within>,
) -> Result<Row> {
    let id: Option<String> = serde_json::from_str(key).ok();
    let id = id.as_deref().filter(|id| !matches!(part, Part::Partition(prefix) if !id.starts_with(prefix)));
    let document = id.map_or(Ok(None), |id| at.current(id))?;
    let shows = |own: &Document<'_>| within.is_none_or(|within| !own.deleted && within.shows(own));
    let document = document.filter(shows);
    match document {
        None => Ok(Row { id: key.to_owned(), rev: String::new(), deleted: false, doc: None }),
        Some(document) if document.deleted => {
            let doc = asked.include_docs.then(|| "null".to_owned());
            Ok(Row { id: document.id.to_string(), rev: document.rev.to_string(), deleted: true, doc })
        }
        Some(document) => row(at, &document, asked, within.is_some()),
    }
}

fn doc(at: &CollectionAt, document: &Document<'_>, asked: &ListQuery, limited: bool) -> Result<String> {
    let shown = Shown::of_document(document);
    // Other leaves may be hidden.
    asked.inline.text(at, shown, Extras { conflicts: asked.conflicts && !limited, ..Extras::default() })
}

/// How many documents are in a range; `None` if counting them one by one would take too long.
fn counted(at: &CollectionAt, options: &ListOptions) -> Result<Option<u64>> {
    let mut count = 0;
    for document in at.list(options)? {
        document?;
        count += 1;
        if count > OFFSET_COUNTED_MAX {
            return Ok(None);
        }
    }
    Ok(Some(count))
}

fn designs() -> ListOptions {
    ListOptions::prefix("_design/")
}

/// The documents that a list is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    All,
    /// Design documents, counted as if there were no others.
    Design,
    /// Documents whose ids begin so; `total_rows` and `offset` count all documents.
    Partition(String),
}

impl Part {
    /// The range, within the part.
    fn narrowed(&self, mut options: ListOptions) -> ListOptions {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let ListOptions { start, end, .. } = match self {
            Part::All => return options,
            Part::Design => designs(),
            Part::Partition(prefix) => ListOptions::prefix(prefix),
        };
        let text = |bound: &std::ops::Bound<String>| match bound {
            Included(id) | Excluded(id) => id.clone(),
            Unbounded => String::new(),
        };
        if text(&options.start) < text(&start) {
            options.start = start;
        }
        if matches!(options.end, Unbounded) || text(&options.end) > text(&end) {
            options.end = end;
        }
        options
    }

    /// The rows that `offset` counts: those before the first row.
    fn before(&self, asked: &ListQuery) -> ListOptions {
        match self {
            Part::All => asked.before(),
            Part::Design => self.narrowed(asked.before()),
            Part::Partition(_) => before(self.narrowed(asked.options())),
        }
    }
}
