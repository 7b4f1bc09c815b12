//! The rows of a view's answer, which are made while they are sent.

use std::sync::Arc;

use recension::engine::Direction;
use recension::json::quote;
use recension::{
    CollectionAt, Document, Grouping, ReducedBlocks, Reduction, RevId, ViewAt, ViewGroups, ViewRange, ViewRow, ViewRows,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::view_query::ViewQuery;
use crate::body::{member, members_of};
use crate::format::{cell_of, cells};
use crate::reading::{Extras, Shown};
use crate::rows::{self, TextRow};
use crate::sequence::Sequence;
use crate::within::{Limited, Within};
use recension_pages::form::ListRow;
use recension_wire::error::Result;
use recension_wire::limits::VIEW_OFFSET_COUNTED_MAX;

/// Rows of a view, or groups of them.
pub(crate) struct ViewList {
    view: ViewAt,
    asked: ViewQuery,
    within: Limited,
    reduction: Option<Reduction>,
    remembered: Arc<ReducedBlocks>,
    /// Ranges that were not begun yet.
    ranges: std::vec::IntoIter<ViewRange>,
    walk: Option<Walk>,
    skip: u64,
    left: u64,
}

enum Walk {
    Rows(Box<Ordered>),
    Groups(Box<ViewGroups>),
}

/// Rows in the order of an answer. What one document emitted with one key ascends by value in both directions, as in
/// CouchDB, which keeps it in one place of its tree.
struct Ordered {
    rows: ViewRows,
    backward: bool,
    /// The rows of one document with one key, the next one last, and the first row behind them.
    together: Vec<ViewRow>,
    behind: Option<ViewRow>,
}

impl Ordered {
    fn next(&mut self) -> Result<Option<ViewRow>> {
        if !self.backward {
            return Ok(self.rows.next().transpose()?);
        }
        if self.together.is_empty() {
            let Some(first) = self.behind.take().map_or_else(|| self.rows.next().transpose(), |row| Ok(Some(row)))?
            else {
                return Ok(None);
            };
            self.together.push(first);
            while let Some(row) = self.rows.next().transpose()? {
                if self.together.last().is_some_and(|own| own.id != row.id || own.key != row.key) {
                    self.behind = Some(row);
                    break;
                }
                self.together.push(row);
            }
        }
        Ok(self.together.pop())
    }
}

impl ViewList {
    /// The list, and the text before its rows.
    pub(crate) fn of(
        view: ViewAt,
        asked: ViewQuery,
        within: Limited,
        reduction: Option<Reduction>,
        remembered: &Arc<ReducedBlocks>,
    ) -> Result<(String, Self)> {
        let update_seq = match asked.update_seq {
            true if view.is_counted() => {
                let number = view.collection().counts()?.updates();
                format!("\"update_seq\":\"{}\",", Sequence { number, position: view.seq().into() })
            }
            true => format!("\"update_seq\":\"{}\",", view.seq()),
            false => String::new(),
        };
        let before = if asked.grouping.is_some() {
            format!("{{{update_seq}\"rows\":[")
        } else {
            let total = view.total_rows();
            let counted = view.is_counted();
            // The rows before the first that was asked for.
            let passed = match asked.ranges.first().map(ViewRange::before) {
                Some(Some(before)) if counted => view.count(&before, VIEW_OFFSET_COUNTED_MAX)?,
                _ => Some(0),
            };
            let offset = passed.map(|passed| passed.saturating_add(asked.skip).min(total).to_string());
            let offset = offset.filter(|_| counted);
            let offset = offset.as_deref().unwrap_or("null");
            // To count what somebody may see takes reading all of it.
            let total = if counted { total.to_string() } else { "null".to_owned() };
            format!("{{\"total_rows\":{total},{update_seq}\"offset\":{offset},\"rows\":[")
        };
        let (ranges, skip, left) = (asked.ranges.clone().into_iter(), asked.skip, asked.limit);
        Ok((
            before,
            ViewList {
                view,
                asked,
                within,
                reduction,
                remembered: Arc::clone(remembered),
                ranges,
                walk: None,
                skip,
                left,
            },
        ))
    }

    /// The columns that are members of the rows.
    fn own_columns(&self) -> &'static [&'static str] {
        match (self.asked.grouping, self.asked.include_docs && self.asked.fields.is_empty()) {
            (Some(_), _) => &["key", "value"],
            (None, false) => &["id", "key", "value"],
            (None, true) => &["id", "key", "value", "doc"],
        }
    }

    /// The next row as JSON.
    fn next_text(&mut self) -> Result<Option<String>> {
        while self.left > 0 {
            let walk = match &mut self.walk {
                Some(walk) => walk,
                none => {
                    let Some(range) = self.ranges.next() else { return Ok(None) };
                    none.insert(begin(
                        &self.view,
                        &range,
                        self.asked.grouping,
                        self.reduction.as_ref(),
                        &self.remembered,
                    )?)
                }
            };
            let row = match walk {
                Walk::Rows(rows) => match rows.next()? {
                    Some(row) if self.skip == 0 => {
                        Some(row_json(self.view.collection(), &row, &self.asked, self.within.as_deref())?)
                    }
                    row => row.map(|_| String::new()),
                },
                Walk::Groups(groups) => groups.next().transpose()?.map(|group| group_json(&group.key, &group.value)),
            };
            match row {
                None => self.walk = None,
                Some(_) if self.skip > 0 => self.skip -= 1,
                Some(row) => {
                    self.left -= 1;
                    return Ok(Some(row));
                }
            }
        }
        Ok(None)
    }
}

fn begin(
    view: &ViewAt,
    range: &ViewRange,
    grouping: Option<Grouping>,
    reduction: Option<&Reduction>,
    remembered: &Arc<ReducedBlocks>,
) -> Result<Walk> {
    Ok(match (grouping, reduction) {
        (Some(grouping), Some(reduction)) => {
            Walk::Groups(Box::new(view.reduced_with(range, grouping, reduction, remembered)?))
        }
        _ => {
            let backward = range.direction == Direction::Backward;
            Walk::Rows(Box::new(Ordered { rows: view.rows(range)?, backward, together: Vec::new(), behind: None }))
        }
    })
}

impl rows::Rows for ViewList {
    fn next(&mut self, tell: &mut dyn FnMut(&dyn ListRow) -> Result<()>) -> Result<bool> {
        let Some(text) = self.next_text()? else { return Ok(false) };
        let (own, fields) = (self.own_columns(), &self.asked.fields);
        let line = |row: &str| {
            let members = members_of(row.as_bytes()).unwrap_or_default();
            let value = |name: &str| member(&members, name).map(RawValue::get);
            let of_document = cells(value("doc").unwrap_or_default(), fields);
            own.iter().map(|name| cell_of(value(name))).chain(of_document).collect()
        };
        tell(&TextRow { text, cells: &line })?;
        Ok(true)
    }

    fn columns(&self) -> Vec<String> {
        self.own_columns().iter().map(|name| (*name).to_owned()).chain(self.asked.fields.iter().cloned()).collect()
    }

    fn rest(&mut self) {
        match &mut self.walk {
            Some(Walk::Rows(own)) => own.rows.rest(),
            Some(Walk::Groups(groups)) => groups.rest(),
            None => {}
        }
    }
}

/// A group as JSON. One whose reduction grew too fast has an error in place of its value, as in CouchDB.
fn group_json(key: &str, value: &str) -> String {
    const OVERFLOW: &str = "reduce_overflow_error";
    if value.contains(OVERFLOW)
        && let Ok(members) = members_of(value.as_bytes())
        && let [(name, reason)] = members.as_slice()
        && name == OVERFLOW
    {
        return format!("{{\"key\":{key},\"error\":\"{OVERFLOW}\",\"reason\":{reason}}}");
    }
    format!("{{\"key\":{key},\"value\":{value}}}")
}

fn row_json(at: &CollectionAt, row: &ViewRow, asked: &ViewQuery, within: Option<&dyn Within>) -> Result<String> {
    let ViewRow { id, key, value } = row;
    let doc = if asked.include_docs { format!(",\"doc\":{}", doc(at, row, asked, within)?) } else { String::new() };
    Ok(format!("{{\"id\":{},\"key\":{key},\"value\":{value}{doc}}}", quote(id)))
}

/// The document of a row: the one that the value names by `_id`, or the one that emitted it.
fn doc(at: &CollectionAt, row: &ViewRow, asked: &ViewQuery, within: Option<&dyn Within>) -> Result<String> {
    let named: Option<Value> = if row.value.starts_with('{') { serde_json::from_str(&row.value).ok() } else { None };
    let member = |name: &str| named.as_ref().and_then(|value| value.get(name));
    let id = match member("_id") {
        None => &row.id,
        Some(Value::String(id)) => id,
        // A reference that refers to nothing is not the document that has it.
        Some(_) => return Ok("null".to_owned()),
    };
    // Other leaves of a document may not be theirs.
    let extras = Extras { conflicts: asked.conflicts && within.is_none(), ..Extras::default() };
    if let Some(rev) = member("_rev").and_then(|rev| rev.as_str()?.parse::<RevId>().ok()) {
        let mut found = at.get_revision(id, &rev)?;
        if let (Some(revision), Some(within)) = (&found, within)
            && !within.shows_revision(id, revision)?
        {
            found = None;
        }
        return found.map_or(Ok("null".to_owned()), |found| asked.inline.text(at, Shown::of(id, &found), extras));
    }
    let shows = |document: &Document<'_>| within.is_none_or(|within| within.shows(document));
    let Some(document) = at.get(id)?.filter(shows) else { return Ok("null".to_owned()) };
    let shown = Shown::of_document(&document);
    asked.inline.text(at, shown, extras)
}
