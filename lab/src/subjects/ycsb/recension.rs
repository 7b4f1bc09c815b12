//! Ours: documents, in the process that owns the store and through its socket.

use std::ops::Bound;
use std::path::{Path, PathBuf};

use recension::{Collection, Expect, ListOptions, Store, Write};
use serde_json::json;

use super::{Owner, Record, Records, Shared};
use crate::error::{LabError, Result};

const COLLECTION: &str = "usertable";

struct Owned {
    store: Store,
    dir: PathBuf,
}

fn opened(place: &Path, shared: bool) -> Result<Store> {
    let opened = recension::OpenOptions::new().share(shared).open(&place.display().to_string());
    opened.map_err(LabError::subject("opening the store"))
}

pub(super) fn own(dir: &Path, shared: bool) -> Result<Box<dyn Owner>> {
    let dir = dir.join("store");
    Ok(Box::new(Owned { store: opened(&dir, shared)?, dir }))
}

pub(super) fn join(place: &str) -> Result<Box<dyn Shared>> {
    Ok(Box::new(Joined(opened(Path::new(place), true)?)))
}

impl Owner for Owned {
    fn place(&self) -> String {
        self.dir.display().to_string()
    }
    fn here(&self) -> Option<Box<dyn Shared>> {
        Some(Box::new(Joined(self.store.clone())))
    }
    fn settings(&self) -> String {
        "defaults, durability Disk; a field is replaced by a merge patch".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self);
        Ok(())
    }
}

struct Joined(Store);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Records + '_>> {
        let records = self.0.collection(COLLECTION).map_err(LabError::subject("opening a collection"))?;
        Ok(Box::new(Documents(records)))
    }
}

struct Documents(Collection);

impl Records for Documents {
    fn load(&mut self, records: &[(String, String)]) -> Result<()> {
        let load = || -> recension::Result<()> {
            let writes = records.iter().map(|(id, body)| Write::put(id, body.as_str()));
            self.0.bulk(writes.collect::<recension::Result<Vec<_>>>()?)?.into_iter().try_for_each(|one| one.map(drop))
        };
        load().map_err(LabError::subject("loading"))
    }
    fn read(&mut self, id: &str) -> Result<Option<Record>> {
        let found = self.0.get(id).map_err(LabError::subject("a read"))?;
        Ok(found.map(|document| Record::Json(document.body.into_owned())))
    }
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()> {
        let patched = self.0.merge_patch(id, Expect::Anything, json!({field: value}).to_string());
        patched.map(drop).map_err(LabError::subject("an update"))
    }
    fn insert(&mut self, id: &str, record: &str) -> Result<()> {
        self.0.create(Some(id), record).map(drop).map_err(LabError::subject("an insert"))
    }
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>> {
        let options =
            ListOptions { start: Bound::Included(first.to_owned()), limit: Some(count), ..ListOptions::default() };
        let scan = || {
            let found = self.0.list(&options)?.map(|document| {
                let document = document?;
                Ok((document.id.into_owned(), Record::Json(document.body.into_owned())))
            });
            found.collect::<recension::Result<_>>()
        };
        scan().map_err(LabError::subject("a range"))
    }
}
