//! Documents that expire: a rule of a collection says which member holds the time. An expired document is deleted like
//! any other, by a revision that replicates. Until then it can be read.

use crate::engine::{Direction, KeyRange, Snapshot, Timestamp};
use crate::faces::collection::Collection;
use crate::faces::handles::Settings;
use crate::faces::store::Store;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::{CATALOGUE, EXPIRY_PREFIX, expiry_key};
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::at::At;
use recension_values::collation::{Collation, JsonType};
use recension_values::condition::{Literal, ValueRange};
use recension_values::error::{Error, Result};
use recension_values::index_spec::IndexSpec;
use recension_values::json::Path;
use recension_values::limits::EXPIRED_AT_ONCE;
use recension_values::query::Query;
use recension_values::write::Write;

/// The index that finds expired documents.
const INDEX: &str = "_expires";

impl Settings<'_> {
    /// Sets the rule: documents whose member at `path` is a number of seconds since 1970 are deleted at that time.
    /// `None` removes the rule. The rule makes an index on the path, and the collection if there is none.
    ///
    /// The deletion is a revision like any other: it is among the changes and replicates, and retention decides how
    /// long the history stays. An open store makes it within about a second.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// let store = recension::open("memory:")?;
    /// let drafts = store.collection("drafts")?;
    /// drafts.settings().set_expiry(Some("expires_at"))?;
    /// drafts.put("a", r#"{"text":"...","expires_at":1795000000}"#)?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::BadName`] for an invalid path; [`Error::BadIndex`] for a path with empty brackets.
    pub fn set_expiry(self, path: Option<&str>) -> Result<()> {
        let store = self.collection.store();
        if self.expiry()?.as_deref() == path {
            return Ok(());
        }
        self.set_expiry_row(None)?;
        match self.collection.drop_index(INDEX) {
            Ok(()) | Err(Error::NoSuchIndex { .. } | Error::NoSuchCollection { .. }) => {}
            Err(error) => return Err(error),
        }
        let Some(path) = path else { return Ok(()) };
        let parsed: Path = path.parse()?;
        if parsed.to_string().contains("[]") {
            return Err(Error::BadIndex {
                index: INDEX.to_owned(),
                why: "a document expires at one moment: no [] in the path",
            });
        }
        self.collection.create_index(IndexSpec::new(INDEX, parsed).collated(Collation::Binary), |_| {})?;
        self.set_expiry_row(Some(path))?;
        store.sweep_from_now_on();
        Ok(())
    }

    /// The path of the rule by which its documents expire, if there is one.
    pub fn expiry(self) -> Result<Option<String>> {
        let snapshot = self.collection.store().snapshot(At::Now)?;
        let row = snapshot.get(CATALOGUE, &expiry_key(self.collection.name()))?;
        row.map(|row| path_of(&row, self.collection.name())).transpose()
    }

    fn set_expiry_row(self, path: Option<&str>) -> Result<()> {
        let key = expiry_key(self.collection.name());
        retry(|| {
            let view = Overlay::new(self.collection.store().snapshot(At::Now)?);
            match path {
                Some(path) => view.put(CATALOGUE, &key, [&[LAYOUT], path.as_bytes()].concat()),
                None if view.get(CATALOGUE, &key)?.is_none() => return Ok(Attempt::Done(())),
                None => view.delete(CATALOGUE, &key),
            }
            Ok(self.collection.store().try_commit_view(&view, &[])?.map(|_| ()))
        })
    }
}

impl Collection {
    /// Deletes expired documents; returns how many.
    fn sweep_documents(&self, path: &str, now: Timestamp) -> Result<u64> {
        #[allow(clippy::cast_precision_loss)] // parts of a microsecond, for centuries to come
        let seconds = Literal::from(now.0 as f64 / 1_000_000.0);
        let due = ValueRange::at_most(seconds).and(ValueRange::of_type(JsonType::Number));
        let query = Query::new().matching(path, due).collated(Collation::Binary).through(INDEX).limit(EXPIRED_AT_ONCE);
        let mut deleted = 0;
        loop {
            let found = self.find(&query)?.map(|document| {
                let document = document?;
                Write::delete(&document.id, &document.rev)
            });
            let writes = found.collect::<Result<Vec<_>>>()?;
            let count = writes.len();
            // Somebody may have written the document meanwhile with a later time: the next sweep looks again.
            let done = self.bulk(writes)?.iter().filter(|written| written.is_ok()).count();
            deleted += done as u64;
            if count < EXPIRED_AT_ONCE || done == 0 {
                return Ok(deleted);
            }
        }
    }
}

const LAYOUT: u8 = 1;

fn path_of(row: &[u8], name: &str) -> Result<String> {
    let what = || format!("the rule of expiry of {name}");
    match row.split_first() {
        Some((&LAYOUT, path)) => {
            String::from_utf8(path.to_vec()).map_err(|_| Error::DamagedRow { what: what(), why: "it is not UTF-8" })
        }
        Some((&found, _)) if found > LAYOUT => Err(Error::NewerLayout { what: what(), found, supported: LAYOUT }),
        _ => Err(Error::DamagedRow { what: what(), why: "it has no layout number" }),
    }
}

impl Store {
    /// The rules by which documents expire: collections and paths.
    pub(crate) fn expiry_rules(&self) -> Result<Vec<(String, String)>> {
        let snapshot = self.engine().snapshot()?;
        let rows = snapshot.range(CATALOGUE, &KeyRange::prefix(EXPIRY_PREFIX), Direction::Forward);
        rows.map(|row| {
            let row = row?;
            let name = String::from_utf8_lossy(&row.key[EXPIRY_PREFIX.len()..]).into_owned();
            let path = path_of(&row.value, &name)?;
            Ok((name, path))
        })
        .collect()
    }

    pub(crate) fn sweep_all_documents(&self) -> Result<u64> {
        let now = self.moment();
        let mut deleted = 0;
        for (name, path) in self.expiry_rules()? {
            match self.collection(&name)?.only_existing().sweep_documents(&path, now) {
                Ok(count) => deleted += count,
                // The collection, or its rule, is being dropped.
                Err(Error::NoSuchCollection { .. } | Error::NoSuchIndex { .. } | Error::IndexNotUsable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(deleted)
    }
}
