//! Ours: rows by the contract of engines, in the process that owns the store and through its socket.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use recension::Store;
use recension::engine::{Batch, Direction, Engine, KeyRange, NativeOptions, TreeId, Wanted, open_native};

use super::{Client, Owner, SeeNumbered, SeePair, Shared, store_in};
use crate::data::Key;
use crate::error::{LabError, Result};
use crate::given::Given;
use crate::servers::recension as our_server;

const TREE: TreeId = TreeId(1);
/// The collection of the document that the shell's command reads.
const COLLECTION: &str = "notes";
/// Rows that are loaded in one commit.
const LOADED_AT_ONCE: usize = 1000;

/// The store of rows, and one of documents beside it.
struct Owned {
    rows: Arc<dyn Engine>,
    documents: Store,
    documents_at: PathBuf,
}

fn opened(dir: &Path) -> Result<Arc<dyn Engine>> {
    open_native(&store_in(dir), &NativeOptions::default(), true).map_err(LabError::subject("opening the store"))
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    let documents_at = dir.join("documents");
    let documents = recension::OpenOptions::new().share(true).open(&documents_at.display().to_string());
    let documents = documents.map_err(LabError::subject("opening a store of documents"))?;
    Ok(Box::new(Owned { rows: opened(dir)?, documents, documents_at }))
}

pub(super) fn join(dir: &Path) -> Result<Box<dyn Shared>> {
    Ok(Box::new(Joined(opened(dir)?)))
}

impl Owner for Owned {
    fn load(&mut self, rows: &[(Key, String)]) -> Result<()> {
        for some in rows.chunks(LOADED_AT_ONCE) {
            let mut batch = Batch::new();
            for (key, value) in some {
                batch.put(TREE, key, value.as_bytes());
            }
            self.rows.commit(batch).map_err(LabError::subject("loading"))?;
        }
        Ok(())
    }
    fn load_document(&mut self, id: &str, text: &str) -> Result<()> {
        let stored = self.documents.collection(COLLECTION).and_then(|collection| collection.put(id, text));
        stored.map(drop).map_err(LabError::subject("storing a document"))
    }
    fn command(&self, given: &Given, id: &str) -> Result<Command> {
        let missing = || LabError::Unavailable { reason: our_server::missing(given).unwrap_or_default() };
        let mut command = Command::new(our_server::program(given).ok_or_else(missing)?);
        command.arg("--store").arg(&self.documents_at).args(["get", COLLECTION, id]);
        Ok(command)
    }
    fn here(&self) -> Option<Box<dyn Shared>> {
        Some(Box::new(Joined(Arc::clone(&self.rows))))
    }
    fn settings(&self) -> String {
        "defaults, durability Disk; each get, each range and each 64 gets are a snapshot of their own".to_owned()
    }
}

struct Joined(Arc<dyn Engine>);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Client + '_>> {
        Ok(Box::new(Rows(&*self.0)))
    }
}

struct Rows<'e>(&'e dyn Engine);

impl Client for Rows<'_> {
    fn get(&mut self, key: &Key, see: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let failed = || LabError::subject("a get");
        let snapshot = self.0.snapshot_with(&[(TREE, key)]).map_err(failed())?;
        let found = snapshot.get(TREE, key).map_err(failed())?;
        Ok(found.map(|value| see(&value.bytes)).is_some())
    }
    fn get_many(&mut self, keys: &[Key], see: SeeNumbered<'_>) -> Result<()> {
        let failed = || LabError::subject("several gets");
        let keys: Vec<(TreeId, &[u8])> = keys.iter().map(|key| (TREE, key.as_slice())).collect();
        let snapshot = self.0.snapshot_with(&keys).map_err(failed())?;
        let found = snapshot.get_many(&keys).map_err(failed())?;
        found.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_ref()?))).for_each(|(at, value)| {
            see(at, &value.bytes);
        });
        Ok(())
    }
    fn range(&mut self, start: &Key, limit: usize, see: SeePair<'_>) -> Result<()> {
        let failed = || LabError::subject("a range");
        let snapshot = self.0.snapshot().map_err(failed())?;
        let range = KeyRange { start: Bound::Included(start.to_vec()), ..KeyRange::all() };
        let wanted = Wanted { rows: Some(limit), values: true };
        for row in snapshot.range_of(TREE, &range, Direction::Forward, wanted).take(limit) {
            let row = row.map_err(failed())?;
            see(&row.key, &row.value);
        }
        Ok(())
    }
    fn put(&mut self, key: &Key, value: &str) -> Result<()> {
        let mut batch = Batch::new();
        batch.put(TREE, key, value.as_bytes());
        self.0.commit(batch).map(drop).map_err(LabError::subject("a commit"))
    }
}
