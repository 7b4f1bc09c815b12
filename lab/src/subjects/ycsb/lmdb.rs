//! LMDB: JSON texts by their ids. A field is replaced within a write transaction, of which there is one at a time.

use std::ops::Bound;
use std::path::{Path, PathBuf};

use heed::types::Str;
use heed::{Database, Env};
use recension::json::merge_patch;
use serde_json::json;

use super::{Owner, Record, Records, Shared};
use crate::error::{LabError, Result};
use crate::subjects::lmdb::{SETTINGS, environment};

type Texts = Database<Str, Str>;

struct Owned {
    store: Joined,
    dir: PathBuf,
}

#[derive(Clone)]
struct Joined {
    env: Env,
    texts: Texts,
}

fn opened(dir: &Path) -> Result<Joined> {
    let env = environment(dir)?;
    let make = || {
        let mut transaction = env.write_txn()?;
        let texts = env.create_database(&mut transaction, Some("records"))?;
        transaction.commit()?;
        Ok(texts)
    };
    let texts = make().map_err(|error: heed::Error| LabError::subject("making the database")(error))?;
    Ok(Joined { env, texts })
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    Ok(Box::new(Owned { store: opened(dir)?, dir: dir.to_owned() }))
}

pub(super) fn join(place: &str) -> Result<Box<dyn Shared>> {
    Ok(Box::new(opened(Path::new(place))?))
}

impl Owner for Owned {
    fn place(&self) -> String {
        self.dir.display().to_string()
    }
    fn here(&self) -> Option<Box<dyn Shared>> {
        Some(Box::new(self.store.clone()))
    }
    fn settings(&self) -> String {
        format!("{SETTINGS}; a field is replaced within a write transaction, by the merge patch that Recension has")
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.store.env.prepare_for_closing().wait();
        Ok(())
    }
}

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Records + '_>> {
        Ok(Box::new(Client(self)))
    }
}

struct Client<'j>(&'j Joined);

impl Records for Client<'_> {
    fn load(&mut self, records: &[(String, String)]) -> Result<()> {
        let load = || -> heed::Result<()> {
            let mut transaction = self.0.env.write_txn()?;
            records.iter().try_for_each(|(id, record)| self.0.texts.put(&mut transaction, id, record))?;
            transaction.commit()
        };
        load().map_err(LabError::subject("loading"))
    }
    fn read(&mut self, id: &str) -> Result<Option<Record>> {
        let read = || -> heed::Result<Option<Record>> {
            let transaction = self.0.env.read_txn()?;
            Ok(self.0.texts.get(&transaction, id)?.map(|text| Record::Json(text.to_owned())))
        };
        read().map_err(LabError::subject("a read"))
    }
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()> {
        let failed = || LabError::subject("an update");
        let patch = json!({field: value}).to_string();
        let mut transaction = self.0.env.write_txn().map_err(failed())?;
        let found = self.0.texts.get(&transaction, id).map_err(failed())?.unwrap_or("{}");
        let text = merge_patch(found, patch).map_err(LabError::subject("a merge patch"))?;
        self.0.texts.put(&mut transaction, id, &text).map_err(failed())?;
        transaction.commit().map_err(failed())
    }
    fn insert(&mut self, id: &str, record: &str) -> Result<()> {
        self.load(&[(id.to_owned(), record.to_owned())])
    }
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>> {
        let scan = || -> heed::Result<Vec<(String, Record)>> {
            let transaction = self.0.env.read_txn()?;
            let bounds: (Bound<&str>, Bound<&str>) = (Bound::Included(first), Bound::Unbounded);
            let rows = self.0.texts.range(&transaction, &bounds)?.take(count);
            rows.map(|row| row.map(|(id, text)| (id.to_owned(), Record::Json(text.to_owned())))).collect()
        };
        scan().map_err(LabError::subject("a range"))
    }
}
