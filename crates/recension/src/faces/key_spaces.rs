//! The namespaces that a process knows, and their trees, which never change. A new namespace is made in a commit of its
//! own.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::engine::{EngineError, KeyRange, Retention, RetentionRule, Seq, Snapshot, Timestamp, TreeId};
use crate::faces::store::Store;
use crate::kernel::overlay::Overlay;
use crate::kernel::rows::catalogue::CATALOGUE;
use crate::kernel::rows::key_rows::{SpaceTrees, decode_rows_tree, encode_rows_tree, rows_tree_key, space_key};
use crate::kernel::rows::trees::take_trees;
use crate::kernel::write::attempt::{Attempt, retry};
use recension_values::error::Result;
use recension_values::limits::CACHED_COLLECTIONS_MAX;

/// The namespaces of a store, by name.
#[derive(Default)]
pub(crate) struct Spaces(Mutex<HashMap<String, Arc<Space>>>);

impl Spaces {
    pub(crate) fn of(&self, name: &str) -> Arc<Space> {
        let mut spaces = self.0.lock();
        if let Some(space) = spaces.get(name) {
            return space.clone();
        }
        if spaces.len() >= CACHED_COLLECTIONS_MAX {
            spaces.clear();
        }
        let space = Space {
            name: name.to_owned(),
            key: space_key(name),
            known: RwLock::default(),
            known_rows: RwLock::default(),
            swept: AtomicU64::new(0),
        };
        spaces.entry(name.to_owned()).or_insert(Arc::new(space)).clone()
    }
}

/// A namespace.
pub(crate) struct Space {
    pub(super) name: String,
    key: Vec<u8>,
    /// Its trees, and the commit that made it.
    known: RwLock<Option<(SpaceTrees, Seq)>>,
    /// The tree of its keys' rows, and the commit that made it.
    known_rows: RwLock<Option<(TreeId, Seq)>>,
    /// All keys that expired up to this moment have been deleted. The next sweep begins here, and does not walk over
    /// keys that earlier sweeps have deleted.
    swept: AtomicU64,
}

impl Space {
    /// Its trees as of a snapshot; `None` if it was not there yet.
    pub(super) fn trees(&self, snapshot: &dyn Snapshot) -> Result<Option<SpaceTrees>> {
        if let Some((trees, since)) = *self.known.read() {
            return Ok((snapshot.seq() >= since).then_some(trees));
        }
        let Some(row) = snapshot.get(CATALOGUE, &self.key)? else { return Ok(None) };
        let trees = SpaceTrees::decode(&row, &self.name)?;
        *self.known.write() = Some((trees, row.seq));
        Ok(Some(trees))
    }

    /// Its trees, which are made if there are none.
    pub(super) fn made(&self, store: &Store) -> Result<SpaceTrees> {
        if let Some((trees, _)) = *self.known.read() {
            return Ok(trees);
        }
        let (trees, is_new) = retry(|| {
            let view = Overlay::new(store.engine().snapshot()?);
            if let Some(row) = view.get(CATALOGUE, &self.key)? {
                let trees = SpaceTrees::decode(&row, &self.name)?;
                *self.known.write() = Some((trees, row.seq));
                return Ok(Attempt::Done((trees, false)));
            }
            let [keys, expiring] = take_trees(&view)?;
            let trees = SpaceTrees { keys, expiring };
            view.put(CATALOGUE, &self.key, trees.encode());
            Ok(store.try_commit(view.batch())?.map(|commit| {
                *self.known.write() = Some((trees, commit.seq));
                (trees, true)
            }))
        })?;
        if is_new {
            // History is off by default. An engine that has no rules of retention keeps all of it.
            keep(store, &rules(trees, Retention::HeadOnly))?;
        }
        Ok(trees)
    }

    /// The tree of its keys' rows as of a snapshot; `None` if there was none yet.
    pub(super) fn rows(&self, snapshot: &dyn Snapshot) -> Result<Option<TreeId>> {
        if let Some((tree, since)) = *self.known_rows.read() {
            return Ok((snapshot.seq() >= since).then_some(tree));
        }
        let Some(row) = snapshot.get(CATALOGUE, &rows_tree_key(&self.name))? else { return Ok(None) };
        let tree = decode_rows_tree(&row, &self.name)?;
        *self.known_rows.write() = Some((tree, row.seq));
        Ok(Some(tree))
    }

    /// The tree of its keys' rows, which is made if there is none.
    pub(super) fn rows_made(&self, store: &Store, retention: impl FnOnce() -> Result<Retention>) -> Result<TreeId> {
        if let Some((tree, _)) = *self.known_rows.read() {
            return Ok(tree);
        }
        let (tree, is_new) = retry(|| {
            let view = Overlay::new(store.engine().snapshot()?);
            if let Some(tree) = self.rows(&view)? {
                return Ok(Attempt::Done((tree, false)));
            }
            let [tree] = take_trees(&view)?;
            view.put(CATALOGUE, &rows_tree_key(&self.name), encode_rows_tree(tree));
            Ok(store.try_commit(view.batch())?.map(|commit| {
                *self.known_rows.write() = Some((tree, commit.seq));
                (tree, true)
            }))
        })?;
        if is_new {
            keep(store, &[rule(tree, retention()?)])?;
        }
        Ok(tree)
    }

    /// The moment up to which sweeps have come.
    pub(super) fn swept(&self) -> Timestamp {
        Timestamp(self.swept.load(Ordering::Relaxed))
    }

    pub(super) fn set_swept(&self, moment: Timestamp) {
        self.swept.fetch_max(moment.0, Ordering::Relaxed);
    }
}

/// Sets rules of retention, if the engine has such.
fn keep(store: &Store, rules: &[RetentionRule]) -> Result<()> {
    match store.engine().set_retention(rules) {
        Ok(()) | Err(EngineError::Unsupported { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The rule of retention of a whole tree.
pub(super) fn rule(tree: TreeId, retention: Retention) -> RetentionRule {
    RetentionRule { tree, range: KeyRange::all(), retention }
}

/// The rules of retention of a namespace. The tree of expiry times keeps no history.
pub(super) fn rules(trees: SpaceTrees, retention: Retention) -> [RetentionRule; 2] {
    [rule(trees.keys, retention), rule(trees.expiring, Retention::HeadOnly)]
}
