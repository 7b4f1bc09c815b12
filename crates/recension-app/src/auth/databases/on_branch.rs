//! Databases on branches: `db@branch` is the collection `db` of a branch. Its rights are those of the main line's
//! database now, and a database that is on the branch only must never be taken for another one of its name there.

use http::StatusCode;
use recension::engine::{BranchEngine, EngineError};
use recension::{At, Error, Store};

use super::{Database, Databases, Rights};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::OPEN_BRANCHES_MAX;

/// The main line, where branches are named.
const MAIN: &str = "main";

impl Databases {
    /// The database `db` on a branch, if the name is `db@branch`, and no other program has made a collection of that
    /// name.
    pub(super) fn on_branch<'n>(&self, name: &'n str) -> Result<Option<(Store, &'n str)>> {
        let Some((base, branch)) = name.rsplit_once('@') else { return Ok(None) };
        if self.store.collection(name).is_ok_and(|whole| whole.only_existing().at(At::Now).is_ok_and(|it| it.exists()))
        {
            return Ok(None);
        }
        if base.starts_with('_') || base.is_empty() {
            return Err(ApiError::no_database());
        }
        if branch == MAIN {
            let reason = format!("main is no branch: a database of the main line is named alone, {base}.");
            return Err(ApiError::new(StatusCode::NOT_FOUND, "not_found", reason));
        }
        // One that is open is asked for its name, which is one get. The others are looked for among all.
        let known = self.branches.lock().get(branch).cloned();
        if let Some((id, store)) = known
            && self.store.name_of_branch(id)?.as_deref() == Some(branch)
        {
            return Ok(Some((store, base)));
        }
        self.branches.lock().remove(branch);
        let store = match self.store.open_branch(branch) {
            // Its words tell the names of others.
            Err(Error::Engine(EngineError::NoSuchBranch { .. })) => return Err(ApiError::no_database()),
            opened => opened?,
        };
        let id = store.engine().branch().map(BranchEngine::id).ok_or_else(ApiError::no_database)?;
        let mut open = self.branches.lock();
        if open.len() >= OPEN_BRANCHES_MAX {
            open.clear();
        }
        open.insert(branch.to_owned(), (id, store.clone()));
        Ok(Some((store, base)))
    }

    /// A database of a branch. Rights are not branched: they are those of the database of the main line, as it is now.
    pub(super) fn open_on_branch(&self, name: &str, store: &Store, base: &str) -> Result<Database> {
        let collection = store.collection(base).map_err(|_| ApiError::no_database())?.only_existing();
        let main = self.store.collection(base).map_err(|_| ApiError::no_database())?;
        let (rights, opened) = (main.at(At::Now)?, collection.at(At::Now)?);
        if !opened.exists() {
            return Err(ApiError::no_database());
        }
        // Each line gives numbers from its fork on: only a database that was there at the fork is the same on both.
        let forks = store.engine().branch().map(BranchEngine::forks).unwrap_or_default();
        let fork = forks.iter().map(|fork| fork.at).min().unwrap_or_default();
        let is_same = opened.number() == rights.number() && main.at(At::Seq(fork))?.number() == rights.number();
        Ok(self.database(name, collection, opened, Some(Rights { of: rights, is_same })))
    }
}
