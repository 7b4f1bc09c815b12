//! The rows of a list by id, and their offset. While no row is asked for, a list is only a moment and a place in it:
//! the engine holds nothing for it.

use std::ops::Bound;

use recension::document::json::quote;
use recension::document::{CollectionAt, Document, Documents, ListOptions};
use recension::engine::Direction;

use super::list_options::{ListQuery, before};
use super::reading::{Extras, Shown};
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
    rows: Rows,
}

/// The rest of its rows.
enum Rows {
    /// Keys as JSON texts.
    Keys(std::vec::IntoIter<String>),
    /// A range of the documents.
    Range {
        left: ListOptions,
        /// Documents to pass over first.
        skip: usize,
        /// The open walk, while rows are asked for one after the other, and how many rows it may still give.
        walk: Option<(Documents, usize)>,
        /// The id of the last row.
        last: Option<String>,
        /// How many rows were asked for since the last rest.
        given: usize,
        /// How many the next walk is opened for: about as many as were asked for before the last rest. An engine that
        /// is far away would else send what nobody takes.
        ahead: usize,
    },
}

impl List {
    /// The list, and the text before its rows.
    pub(crate) fn of(at: CollectionAt, mut asked: ListQuery, part: &Part) -> Result<(String, Self)> {
        let options = part.narrowed(asked.options());
        let total = if *part == Part::Design { counted(&at, &designs())?.unwrap_or_default() } else { at.count()? };
        let update_seq =
            if asked.update_seq { format!("\"update_seq\":\"{}\",", at.counts()?.changed) } else { String::new() };
        let head = |offset: &str| format!("{{\"total_rows\":{total},{update_seq}\"offset\":{offset},\"rows\":[");
        let (skip, limit) = (asked.skip, asked.limit);
        let (head, rows) = if let Some(mut keys) = asked.keys.take() {
            if asked.descending {
                keys.reverse();
            }
            keys.truncate(skip.saturating_add(limit));
            let keys = keys.split_off(skip.min(keys.len()));
            (head("null"), Rows::Keys(keys.into_iter()))
        } else {
            let before = counted(&at, &part.before(&asked))?;
            let offset = before.map(|before| before.saturating_add(skip as u64).min(total).to_string());
            let left = ListOptions { limit: Some(skip.saturating_add(limit)), ..options };
            (head(offset.as_deref().unwrap_or("null")), Rows::Range { left, skip, walk: None, last: None, given: 0, ahead: usize::MAX })
        };
        Ok((head, List { at, asked, part: part.clone(), rows }))
    }

    /// The next row; `None` behind the last.
    pub(crate) fn next(&mut self) -> Result<Option<Row>> {
        loop {
            let List { at, asked, part, rows } = self;
            let (left, skip, walk, last, given, ahead) = match rows {
                Rows::Keys(keys) => return keys.next().map(|key| row_of_key(at, &key, asked, part)).transpose(),
                Rows::Range { left, skip, walk, last, given, ahead } => (left, skip, walk, last, given, *ahead),
            };
            let (walk, most) = match walk {
                Some(walk) => walk,
                none => {
                    let most = left.limit.unwrap_or(usize::MAX).min(ahead);
                    none.insert((at.list(&ListOptions { limit: Some(most), ..left.clone() })?, most))
                }
            };
            let Some(document) = walk.next().transpose()? else {
                if *most > 0 || left.limit == Some(0) {
                    return Ok(None);
                }
                self.rows.close();
                continue;
            };
            *most -= 1;
            *given += 1;
            left.limit = left.limit.map(|limit| limit.saturating_sub(1));
            let row = if *skip == 0 { Some(row(at, &document, asked)?) } else { None };
            *skip = skip.saturating_sub(1);
            *last = Some(document.id.into_owned());
            if row.is_some() {
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

fn row(at: &CollectionAt, document: &Document<'_>, asked: &ListQuery) -> Result<Row> {
    let doc = asked.include_docs.then(|| doc(at, document, asked)).transpose()?;
    Ok(Row { id: document.id.to_string(), rev: document.rev.to_string(), deleted: false, doc })
}

fn row_of_key(at: &CollectionAt, key: &str, asked: &ListQuery, part: &Part) -> Result<Row> {
    let id: Option<String> = serde_json::from_str(key).ok();
    let id = id.as_deref().filter(|id| !matches!(part, Part::Partition(prefix) if !id.starts_with(prefix)));
    let document = id.map_or(Ok(None), |id| at.current(id))?;
    match document {
        None => Ok(Row { id: key.to_owned(), rev: String::new(), deleted: false, doc: None }),
        Some(document) if document.deleted => {
            let doc = asked.include_docs.then(|| "null".to_owned());
            Ok(Row { id: document.id.to_string(), rev: document.rev.to_string(), deleted: true, doc })
        }
        Some(document) => row(at, &document, asked),
    }
}

fn doc(at: &CollectionAt, document: &Document<'_>, asked: &ListQuery) -> Result<String> {
    let shown = Shown::of_document(document);
    asked.inline.text(at, shown, Extras { conflicts: asked.conflicts, ..Extras::default() })
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
