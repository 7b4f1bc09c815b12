//! Reading a view as of a commit: its kept rows, overlaid by the rows of documents that were changed since.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::engine::{Direction, KeyRange, Seq, TreeId};
use crate::kernel::read::reader::{CollectionAt, OwnedRows, afresh};
use crate::kernel::rows::view_entry::{ViewEntry, named};
use crate::kernel::rows::view_rows::{RowParts, ViewRow, decode_keys, of_document};
use crate::kernel::view::blocks::blocks_in;
use crate::kernel::view::gather::{Gathered, gather, purges_are_known};
use crate::kernel::view::mapper::View;
use crate::kernel::view::range::ViewRange;
use recension_values::error::{Error, Result};
use recension_values::limits::{VIEW_BLOCK_ROWS, VIEW_OVERLAY_BYTES_MAX};
use recension_values::view::ViewOptions;

/// A view as of one commit.
#[derive(Clone)]
pub struct ViewAt {
    pub(crate) at: CollectionAt,
    view: View,
    kept: Option<ViewEntry>,
    kept_rows: u64,
    recent: Arc<Recent>,
    /// Which documents' rows are shown; `None`: those of all.
    shown: Option<Shown>,
}

/// The key and the value of a row.
type RowBytes<'a> = (&'a [u8], &'a [u8]);

/// Whether the rows of a document are shown, by its id.
type Shown = Arc<dyn Fn(&str) -> Result<bool> + Send + Sync>;

/// What was changed since the rows were kept.
#[derive(Default)]
struct Recent {
    /// Documents whose kept rows do not count.
    hidden: HashSet<String>,
    rows: BTreeMap<Vec<u8>, Vec<u8>>,
    /// How many kept rows are hidden.
    hidden_rows: u64,
}

impl CollectionAt {
    /// A view at this moment, exactly.
    ///
    /// The documents that were changed after its rows were kept are mapped on the way, within bounds of memory.
    ///
    /// # Errors
    /// [`Error::ViewBehind`] if there are too many of them; errors of the mapper.
    pub fn view(&self, view: &View) -> Result<ViewAt> {
        let Some(entry) = &self.entry else { return Ok(ViewAt::empty(self, view)) };
        let kept = ViewEntry::of(&*self.snapshot, entry, view.signature)?;
        let kept = match kept {
            Some(kept) if kept.in_commit => return ViewAt::kept_as(self, view, Some(kept)),
            Some(kept) if purges_are_known(self, entry, &kept.position)? => Some(kept),
            _ => None,
        };
        let mut position = kept.as_ref().map(|kept| kept.position.clone()).unwrap_or_default();
        let mut recent = Recent::default();
        let mut bytes = 0;
        loop {
            let Gathered { documents, position: reached, end } = gather(self, entry, view, &position)?;
            for (id, rows) in documents {
                bytes += id.len() + rows.iter().map(|(key, value)| key.len() + value.len() + 96).sum::<usize>();
                if let Some(kept) = kept.as_ref().filter(|_| !recent.hidden.contains(&id)) {
                    let listed = self.snapshot.get(kept.tree, &of_document(&id))?;
                    recent.hidden_rows +=
                        listed.map_or(Ok(0), |row| decode_keys(&row).map(|keys| keys.len() as u64))?;
                }
                recent.hidden.insert(id);
                recent.rows.extend(rows);
            }
            if bytes > VIEW_OVERLAY_BYTES_MAX {
                return Err(Error::ViewBehind { collection: self.name.to_string(), max: VIEW_OVERLAY_BYTES_MAX });
            }
            if end {
                break;
            }
            position = reached;
        }
        Ok(ViewAt { recent: Arc::new(recent), ..ViewAt::kept_as(self, view, kept)? })
    }

    /// A view as it was kept at this moment; it may be behind. If its rows have never been whole and it has a name, the
    /// former rows of the name are read.
    pub fn view_as_kept(&self, view: &View) -> Result<ViewAt> {
        let Some(entry) = &self.entry else { return Ok(ViewAt::empty(self, view)) };
        let mut kept = ViewEntry::of(&*self.snapshot, entry, view.signature)?;
        if kept.as_ref().is_none_or(|kept| !kept.whole)
            && let Some(name) = &view.name
            && let Some(before) = named(&*self.snapshot, entry, name)?
        {
            kept = ViewEntry::of(&*self.snapshot, entry, before)?.or(kept);
        }
        ViewAt::kept_as(self, view, kept)
    }
}

impl ViewAt {
    fn empty(at: &CollectionAt, view: &View) -> Self {
        ViewAt { at: at.clone(), view: view.clone(), kept: None, kept_rows: 0, recent: Arc::default(), shown: None }
    }

    /// A view as it was kept, without later changes.
    fn kept_as(at: &CollectionAt, view: &View, kept: Option<ViewEntry>) -> Result<Self> {
        let kept_rows = kept.as_ref().map_or(Ok(0), |kept| kept.total_rows(&*at.snapshot))?;
        Ok(ViewAt { kept, kept_rows, ..ViewAt::empty(at, view) })
    }

    /// The commit up to which documents are in it.
    pub fn seq(&self) -> Seq {
        match &self.kept {
            Some(kept) if self.recent.hidden.is_empty() => kept.seq(&*self.at.snapshot),
            _ => self.at.seq(),
        }
    }

    /// The collection of the view, at the same moment.
    pub fn collection(&self) -> &CollectionAt {
        &self.at
    }

    /// The same view with the rows of some documents only. Each row that is read is tested: [`ViewAt::of_documents`]
    /// reads no others. How many rows there are is not known then.
    #[must_use]
    pub fn showing(self, shown: impl Fn(&str) -> Result<bool> + Send + Sync + 'static) -> Self {
        ViewAt { shown: Some(Arc::new(shown)), ..self }
    }

    /// The same view with the rows of these documents only, which are read now; `None` if they are too many to be held.
    pub fn of_documents(&self, ids: impl IntoIterator<Item = Result<String>>) -> Result<Option<Self>> {
        let (mut rows, mut bytes) = (BTreeMap::new(), 0);
        let options = self.view.options;
        let mut laid: HashMap<&str, Vec<RowBytes<'_>>> = HashMap::new();
        for (key, value) in &self.recent.rows {
            laid.entry(RowParts::of(key, value, options)?.id).or_default().push((key, value));
        }
        for id in ids {
            let id = id?;
            let mut add = |key: Vec<u8>, value: Vec<u8>| {
                bytes += key.len() + value.len() + 96;
                rows.insert(key, value);
                bytes <= VIEW_OVERLAY_BYTES_MAX
            };
            let mut fits = true;
            if self.recent.hidden.contains(&id) {
                for (key, value) in laid.remove(id.as_str()).unwrap_or_default() {
                    fits &= add(key.to_vec(), value.to_vec());
                }
            } else if let Some(kept) = &self.kept {
                let listed = self.at.snapshot.get(kept.tree, &of_document(&id))?;
                for key in listed.as_ref().map_or(Ok(Vec::new()), |row| decode_keys(row))? {
                    if let Some(row) = self.at.snapshot.get(kept.tree, key)? {
                        fits &= add(key.to_vec(), row.bytes.into_owned());
                    }
                }
            }
            if !fits {
                return Ok(None);
            }
        }
        let recent = Arc::new(Recent { rows, ..Recent::default() });
        Ok(Some(ViewAt { kept: None, kept_rows: 0, recent, ..self.clone() }))
    }

    /// Whether how many rows there are is known.
    pub fn is_counted(&self) -> bool {
        self.shown.is_none()
    }

    /// How many rows it has.
    pub fn total_rows(&self) -> u64 {
        self.kept_rows.saturating_sub(self.recent.hidden_rows) + self.recent.rows.len() as u64
    }

    /// The rows of a range.
    pub fn rows(&self, range: &ViewRange) -> Result<ViewRows> {
        Ok(self.walk(range.keys(self.view.options)?, range.direction))
    }

    fn walk(&self, keys: KeyRange, direction: Direction) -> ViewRows {
        let kept = if keys.is_empty() { None } else { self.kept.as_ref() };
        let base = kept.map(|kept| OwnedRows::of(afresh(&self.at.snapshot), kept.tree, &keys, direction));
        ViewRows { view: self.clone(), keys, direction, base, next_kept: None }
    }

    /// The tree of its rows, if there are no later changes.
    pub(crate) fn bare_tree(&self) -> Option<TreeId> {
        let bare = self.recent.hidden.is_empty() && self.shown.is_none();
        self.kept.as_ref().filter(|_| bare).map(|kept| kept.tree)
    }

    fn shows(&self, id: &str) -> Result<bool> {
        self.shown.as_ref().map_or(Ok(true), |shown| shown(id))
    }

    /// Its rows from a key up to another.
    pub(crate) fn between(&self, start: &[u8], end: &[u8]) -> ViewRows {
        let keys = KeyRange { start: Bound::Included(start.to_vec()), end: Bound::Excluded(end.to_vec()) };
        self.walk(keys, Direction::Forward)
    }

    /// How many rows a range has, if it has no more than `max`; whole blocks of them are counted at once.
    pub fn count(&self, range: &ViewRange, max: u64) -> Result<Option<u64>> {
        let keys = range.keys(self.view.options)?;
        let mut count = 0;
        if !self.recent.rows.is_empty() || !self.recent.hidden.is_empty() || self.shown.is_some() {
            let mut rows = self.walk(keys, range.direction);
            while count <= max && rows.next_parts(|_| Ok(()))?.is_some() {
                count += 1;
            }
            return Ok((count <= max).then_some(count));
        }
        // Without later changes, whole blocks count as they are.
        let Some(kept) = self.kept.as_ref().filter(|_| !keys.is_empty()) else { return Ok(Some(0)) };
        let snapshot = &*self.at.snapshot;
        let most = usize::try_from(max / VIEW_BLOCK_ROWS as u64).unwrap_or(usize::MAX).saturating_add(2);
        let blocks = blocks_in(snapshot, kept.tree, &keys, most)?;
        let (first, last) = (blocks.first().map(|block| &block.start), blocks.last().map(|block| &block.start));
        count += blocks.iter().rev().skip(1).map(|block| block.rows).sum::<u64>();
        // The part before the first block that begins in the range, and the last block, which may end beyond it.
        let before = KeyRange {
            start: keys.start.clone(),
            end: first.map_or_else(|| keys.end.clone(), |first| Bound::Excluded(first.clone())),
        };
        let behind = last.map(|last| KeyRange { start: Bound::Included(last.clone()), end: keys.end.clone() });
        for part in std::iter::once(before).chain(behind).filter(|part| !part.is_empty()) {
            for row in snapshot.range(kept.tree, &part, Direction::Forward) {
                row?;
                count += 1;
                if count > max {
                    return Ok(None);
                }
            }
        }
        Ok((count <= max).then_some(count))
    }
}

/// Rows of a view, one at a time.
pub struct ViewRows {
    view: ViewAt,
    /// The rest of the range.
    keys: KeyRange,
    direction: Direction,
    base: Option<OwnedRows>,
    /// The next kept row, which was read and not answered yet.
    next_kept: Option<(Vec<u8>, Vec<u8>)>,
}

impl ViewRows {
    /// The view that they are of.
    pub(crate) fn view(&self) -> &ViewAt {
        &self.view
    }

    /// The rest of the range.
    pub(crate) fn left(&self) -> &KeyRange {
        &self.keys
    }

    /// The key of the next row, if it is a kept one and the view has no later changes.
    pub(crate) fn peek_kept(&mut self) -> Result<Option<&[u8]>> {
        self.fetch_kept()?;
        Ok(self.next_kept.as_ref().map(|(key, _)| key.as_slice()))
    }

    /// Continues at a key.
    pub(crate) fn go_on_at(&mut self, key: Vec<u8>) {
        self.rest();
        self.keys.start = Bound::Included(key);
    }

    pub(crate) fn options(&self) -> ViewOptions {
        self.view.view.options
    }

    /// The next row, seen through `f`.
    pub(crate) fn next_parts<T>(&mut self, f: impl FnOnce(RowParts<'_>) -> Result<T>) -> Result<Option<T>> {
        self.fetch_kept()?;
        let recent = Arc::clone(&self.view.recent);
        let laid = self.next_recent(&recent)?;
        let options = self.view.view.options;
        let kept_first = match (&self.next_kept, laid) {
            (None, None) => return Ok(None),
            (Some((kept, _)), Some((laid, _))) => match self.direction {
                Direction::Forward => kept < laid,
                Direction::Backward => kept > laid,
            },
            (kept, _) => kept.is_some(),
        };
        if kept_first {
            let Some((key, value)) = self.next_kept.take() else { return Ok(None) };
            let made = f(RowParts::of(&key, &value, options)?)?;
            self.pass(key);
            return Ok(Some(made));
        }
        let Some((key, value)) = laid else { return Ok(None) };
        let made = f(RowParts::of(key, value, options)?)?;
        self.pass(key.clone());
        Ok(Some(made))
    }

    /// Releases what the engine holds for it. The next row continues behind the last one.
    pub fn rest(&mut self) {
        self.base = None;
        self.next_kept = None;
    }

    fn pass(&mut self, key: Vec<u8>) {
        match self.direction {
            Direction::Forward => self.keys.start = Bound::Excluded(key),
            Direction::Backward => self.keys.end = Bound::Excluded(key),
        }
    }

    fn next_recent<'r>(&self, recent: &'r Recent) -> Result<Option<(&'r Vec<u8>, &'r Vec<u8>)>> {
        if recent.rows.is_empty() || self.keys.is_empty() {
            return Ok(None);
        }
        let options = self.view.view.options;
        let mut rows = recent.rows.range::<[u8], _>(self.keys.as_bounds());
        loop {
            let next = match self.direction {
                Direction::Forward => rows.next(),
                Direction::Backward => rows.next_back(),
            };
            let Some((key, value)) = next else { return Ok(None) };
            if self.view.shows(RowParts::of(key, value, options)?.id)? {
                return Ok(Some((key, value)));
            }
        }
    }

    fn fetch_kept(&mut self) -> Result<()> {
        if self.next_kept.is_some() {
            return Ok(());
        }
        let Some(kept) = self.view.kept.as_ref().filter(|_| !self.keys.is_empty()) else { return Ok(()) };
        let (tree, options, hidden) = (kept.tree, self.view.view.options, &self.view.recent.hidden);
        let (view, snapshot) = (&self.view, &self.view.at.snapshot);
        let base = match &mut self.base {
            Some(base) => base,
            none => none.insert(OwnedRows::of(afresh(snapshot), tree, &self.keys, self.direction)),
        };
        loop {
            let row = base.next_with(|row| {
                let whole = hidden.is_empty() && view.shown.is_none();
                let shown = whole || {
                    let id = RowParts::of(&row.key, &row.value, options)?.id;
                    !hidden.contains(id) && view.shows(id)?
                };
                Ok(shown.then(|| (row.key.to_vec(), row.value.to_vec())))
            });
            match row.transpose()? {
                None => return Ok(()),
                Some(None) => {}
                Some(shown) => {
                    self.next_kept = shown;
                    return Ok(());
                }
            }
        }
    }
}

impl Iterator for ViewRows {
    type Item = Result<ViewRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let options = self.view.view.options;
        self.next_parts(|row| row.to_row(options)).transpose()
    }
}
