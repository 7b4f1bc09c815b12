//! The rows of a list by id, and their offset. While no row is asked for, a list is only a moment and a place in it:
//! the engine holds nothing for it.

use std::fmt::{self, Write as _};
use std::ops::Bound;

use recension::engine::Direction;
use recension::json::write_quoted;
use recension::{AccessIds, CollectionAt, Document, Documents, ListOptions, LocalDocument};

use super::list_options::{ListQuery, before};
use super::local;
use super::reading::{Behind, Extras, Shown};
use super::rows;
use super::sequence::Sequence;
use super::within::{Limited, Within};
use recension_pages::form::ListRow;
use recension_wire::error::Result;
use recension_wire::format::cells;
use recension_wire::limits::OFFSET_COUNTED_MAX;

/// The fewest rows that a walk is opened for.
const ROWS_AHEAD_MIN: usize = 16;

/// A row of a list, while it is read.
pub(crate) struct Row<'r> {
    at: &'r CollectionAt,
    asked: &'r ListQuery,
    limited: bool,
    found: Found<'r>,
}

enum Found<'r> {
    /// A document; of a key, perhaps its tombstone.
    Document(&'r Document<'r>),
    /// A key, as JSON, without a document.
    Nothing(&'r str),
    /// A local document of a key.
    Local(&'r LocalDocument),
}

impl ListRow for Row<'_> {
    fn stored(&self) -> Option<&Document<'_>> {
        let ListQuery { include_docs, conflicts, inline, .. } = self.asked;
        let asked = *include_docs && !*conflicts && !inline.bytes && !inline.encoding;
        self.document().filter(|document| asked && !document.deleted && document.attachments.is_empty())
    }

    fn write_json(&self, out: &mut Vec<u8>) -> Result<()> {
        // Writing there cannot fail.
        match self.found {
            Found::Nothing(key) => {
                let _ = write!(Behind(out), "{{\"key\":{key},\"error\":\"not_found\"}}");
            }
            Found::Local(document) => {
                out.extend_from_slice(local::row_of(document, self.asked.include_docs).as_bytes());
            }
            Found::Document(document) => {
                let _ = write_head(document, &mut Behind(out));
                self.write_doc(b",\"doc\":", out)?;
                out.push(b'}');
            }
        }
        Ok(())
    }

    /// The id, or the key without a document; the revision; the document, or what it says at the fields that are asked
    /// for.
    fn cells(&self) -> Result<Vec<String>> {
        let mut line = match self.found {
            Found::Document(document) => vec![document.id.to_string(), document.rev.to_string()],
            Found::Nothing(key) => vec![key.to_owned(), String::new()],
            Found::Local(document) => vec![format!("_local/{}", document.name), document.rev()],
        };
        let mut doc = Vec::new();
        self.write_doc(b"", &mut doc)?;
        let doc = String::from_utf8_lossy(&doc);
        match &self.asked.fields {
            Some(fields) => line.extend(cells(&doc, fields)),
            None if self.asked.include_docs => line.push(doc.into_owned()),
            None => {}
        }
        Ok(line)
    }
}

impl Row<'_> {
    /// The document that is there; it may be deleted.
    fn document(&self) -> Option<&Document<'_>> {
        match self.found {
            Found::Document(document) => Some(document),
            Found::Nothing(_) | Found::Local(_) => None,
        }
    }

    /// Writes the document, if it is asked for and there is one; `null` for a deleted one.
    fn write_doc(&self, before: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let Some(document) = self.document().filter(|_| self.asked.include_docs) else { return Ok(()) };
        out.extend_from_slice(before);
        if document.deleted {
            out.extend_from_slice(b"null");
            return Ok(());
        }
        // Other leaves may be hidden.
        let extras = Extras { conflicts: self.asked.conflicts && !self.limited, ..Extras::default() };
        self.asked.inline.write(self.at, Shown::of_document(document), extras, &mut Behind(out))
    }
}

/// Writes what stands before the document of a row.
fn write_head(document: &Document<'_>, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_str("{\"id\":")?;
    write_quoted(&document.id, out)?;
    out.write_str(",\"key\":")?;
    write_quoted(&document.id, out)?;
    out.write_str(",\"value\":{\"rev\":\"")?;
    document.rev.write_to(out)?;
    out.write_str(if document.deleted { "\",\"deleted\":true}" } else { "\"}" })
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
    Keys(Box<dyn Iterator<Item = String> + Send>),
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

    /// The next document, seen through `see`.
    fn next<T>(&mut self, at: &CollectionAt, see: impl FnOnce(&Document<'_>) -> Result<T>) -> Result<Option<T>> {
        match self {
            Walk::All(documents) => documents.next_with(|document| see(&document)).transpose()?.transpose(),
            Walk::Own(ids) => {
                for id in ids {
                    if let Some(document) = at.get(&id?)? {
                        return see(&document).map(Some);
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
        let update_seq = match asked.update_seq {
            true if counts => format!("\"update_seq\":\"{}\",", Sequence::of(&at.counts()?)),
            true => format!("\"update_seq\":\"{}\",", at.seq()),
            false => String::new(),
        };
        let told = if counts { total.to_string() } else { "null".to_owned() };
        let head = |offset: &str| format!("{{\"total_rows\":{told},{update_seq}\"offset\":{offset},\"rows\":[");
        let (skip, limit) = (asked.skip, asked.limit);
        let (head, rows) = if let Some(keys) = asked.keys.take() {
            let keys: Box<dyn Iterator<Item = String> + Send> =
                if asked.descending { Box::new(keys.reversed()) } else { Box::new(keys) };
            (head("null"), Rows::Keys(Box::new(keys.skip(skip).take(limit))))
        } else {
            let before = if counts { counted(&at, &part.before(&asked))? } else { None };
            let offset = before.map(|before| before.saturating_add(skip as u64).min(total).to_string());
            let left = ListOptions { limit: counts.then_some(skip.saturating_add(limit)), ..options };
            let rows = Rows::Range { left, skip, most: limit, walk: None, last: None, given: 0, ahead: usize::MAX };
            (head(offset.as_deref().unwrap_or("null")), rows)
        };
        Ok((head, List { at, asked, part: part.clone(), within, rows }))
    }

    /// The next row, seen through `see`; `None` behind the last.
    fn seen<T>(&mut self, mut see: impl FnMut(&Row<'_>) -> Result<T>) -> Result<Option<T>> {
        loop {
            let List { at, asked, part, within, rows } = self;
            let (at, asked, limited) = (&*at, &*asked, within.is_some());
            let (left, skip, most, walk, last, given, ahead) = match rows {
                Rows::Keys(keys) => {
                    let Some(key) = keys.next() else { return Ok(None) };
                    if *part == Part::Design && !key.starts_with("\"_design/") {
                        continue;
                    }
                    let name = if *part == Part::All && !limited { local::name_of(&key) } else { None };
                    let local = name.map_or(Ok(None), |name| at.local(&name))?;
                    let document = of_key(at, &key, part, within.as_deref())?;
                    let found = match (&local, &document) {
                        (Some(local), _) => Found::Local(local),
                        (None, Some(document)) => Found::Document(document),
                        (None, None) => Found::Nothing(&key),
                    };
                    return see(&Row { at, asked, limited, found }).map(Some);
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
            let seen = walk.next(at, |document| {
                let last = last.get_or_insert_default();
                last.clear();
                last.push_str(&document.id);
                let shown = within.as_ref().is_none_or(|within| within.shows(document));
                let passed = shown && *skip > 0;
                *skip -= usize::from(passed);
                let found = Found::Document(document);
                if shown && !passed { see(&Row { at, asked, limited, found }).map(Some) } else { Ok(None) }
            })?;
            let Some(row) = seen else {
                if *open > 0 || left.limit == Some(0) {
                    return Ok(None);
                }
                self.rows.close();
                continue;
            };
            *open = open.saturating_sub(1);
            *given += 1;
            left.limit = left.limit.map(|limit| limit.saturating_sub(1));
            if row.is_some() {
                *most -= 1;
                return Ok(row);
            }
        }
    }
}

impl rows::Rows for List {
    fn next(&mut self, tell: &mut dyn FnMut(&dyn ListRow) -> Result<()>) -> Result<bool> {
        Ok(self.seen(|row| tell(row))?.is_some())
    }

    fn columns(&self) -> Vec<String> {
        let of_documents = match &self.asked.fields {
            Some(fields) => fields.clone(),
            None if self.asked.include_docs => vec!["doc".to_owned()],
            None => Vec::new(),
        };
        ["id".to_owned(), "rev".to_owned()].into_iter().chain(of_documents).collect()
    }

    /// Releases what the engine holds for it. The next row opens the walk again behind the last one.
    fn rest(&mut self) {
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

/// The document of a key, or its tombstone, if it is of the list and may be seen.
fn of_key(at: &CollectionAt, key: &str, part: &Part, within: Option<&dyn Within>) -> Result<Option<Document<'static>>> {
    let id: Option<String> = serde_json::from_str(key).ok();
    let id = id.as_deref().filter(|id| !matches!(part, Part::Partition(prefix) if !id.starts_with(prefix)));
    let document = id.map_or(Ok(None), |id| at.current(id))?;
    let shows = |own: &Document<'_>| within.is_none_or(|within| !own.deleted && within.shows(own));
    Ok(document.filter(shows).map(Document::into_owned))
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
