//! Ours in this process: versions are what the store keeps anyway, and an index serves every moment.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};

use recension::engine::Seq;
use recension::{At, Collection, IndexSpec, ListOptions, MergeOptions, Query, Store, ValueRange, Write};
use serde::Deserialize;

use super::model::id;
use super::{Numbered, Revisions, branch_name};
use crate::error::{LabError, Result};
use crate::measure::filesystem::bytes_on_disk;

type Ours<T> = recension::Result<T>;

struct Embedded {
    dir: PathBuf,
    store: Store,
    accounts: Collection,
    /// The branches, opened, each with its collection.
    branches: BTreeMap<u64, (Store, Collection)>,
}

#[derive(Deserialize)]
struct Account {
    balance: i64,
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Revisions>> {
    let dir = dir.join("store");
    let open = || -> Ours<Embedded> {
        let store = recension::open(&dir.display().to_string())?;
        let accounts = store.collection("accounts")?;
        accounts.create_index(IndexSpec::new("state", "state"), |_| {})?;
        Ok(Embedded { dir: dir.clone(), store, accounts, branches: BTreeMap::new() })
    };
    Ok(Box::new(open().map_err(LabError::subject("opening the store"))?))
}

impl Embedded {
    fn put(&self, documents: &[Numbered]) -> Ours<u64> {
        if let [(number, body)] = documents {
            return Ok(self.accounts.put(&id(*number), body.as_str())?.seq.0);
        }
        put_all(&self.accounts, documents)?;
        Ok(self.store.engine().head().0)
    }

    /// A collection of a branch, or of the main line.
    fn of(&self, branch: Option<u64>) -> Result<&Collection> {
        let none = |branch| LabError::Worker { what: format!("there is no branch {branch}") };
        match branch {
            None => Ok(&self.accounts),
            Some(branch) => self.branches.get(&branch).map(|(_, own)| own).ok_or_else(|| none(branch)),
        }
    }

    fn listed(accounts: &Collection, from: u64, count: u64) -> Ours<Vec<Numbered>> {
        let options =
            ListOptions { start: Bound::Included(id(from)), limit: Some(count as usize), ..ListOptions::default() };
        let rows = accounts.list(&options)?;
        rows.map(|row| row.map(|row| (row.id.parse().unwrap_or(u64::MAX), row.body.to_string()))).collect()
    }

    fn then(&self, number: u64, moment: u64) -> Ours<Option<String>> {
        let (then, id) = (self.accounts.at(At::Seq(Seq(moment)))?, id(number));
        Ok(then.get(&id)?.map(|document| document.body.to_string()))
    }

    fn revisions(&self, number: u64) -> Ours<Vec<recension::Revision>> {
        let mut all: Vec<_> = self.accounts.history(&id(number))?.collect::<Ours<_>>()?;
        all.reverse();
        Ok(all)
    }

    fn found(&self, state: &str, moment: u64) -> Ours<Vec<u64>> {
        let query = Query::new().matching("state", ValueRange::equal(state)).select(["_id"]);
        let found = self.accounts.at(At::Seq(Seq(moment)))?.select(&query)?;
        let mut numbers: Vec<u64> = found.map(|row| Ok(row?.id.parse().unwrap_or(u64::MAX))).collect::<Ours<_>>()?;
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn put_all(accounts: &Collection, documents: &[Numbered]) -> Ours<()> {
    let write = |(number, body): &Numbered| Write::put(&id(*number), body.as_str());
    let writes: Vec<Write> = documents.iter().map(write).collect::<Ours<_>>()?;
    accounts.bulk(writes)?.into_iter().try_for_each(|written| written.map(drop))
}

impl Revisions for Embedded {
    fn write(&mut self, documents: &[Numbered]) -> Result<u64> {
        self.put(documents).map_err(LabError::subject("a commit"))
    }
    fn newest(&mut self, number: u64) -> Result<Option<String>> {
        let found = self.accounts.get(&id(number)).map_err(LabError::subject("reading"))?;
        Ok(found.map(|document| document.body.to_string()))
    }
    fn as_of(&mut self, number: u64, moment: u64) -> Result<Option<String>> {
        self.then(number, moment).map_err(LabError::subject("reading the past"))
    }
    fn list(&mut self, number: u64) -> Result<Vec<u64>> {
        let failed = LabError::subject("listing versions");
        let revisions = self.accounts.revisions(&id(number)).and_then(Iterator::collect::<recension::Result<Vec<_>>>);
        let mut seqs: Vec<u64> = revisions.map_err(failed)?.into_iter().map(|revision| revision.seq.0).collect();
        seqs.reverse();
        Ok(seqs)
    }
    fn member(&mut self, number: u64) -> Result<Vec<i64>> {
        let revisions = self.revisions(number).map_err(LabError::subject("reading versions"))?;
        let balance = |body: &str| serde_json::from_str(body).map(|account: Account| account.balance);
        let balances: std::result::Result<_, _> = revisions.iter().map(|revision| balance(&revision.body)).collect();
        balances.map_err(LabError::subject("a version"))
    }
    fn in_state(&mut self, state: &str, moment: u64) -> Result<Vec<u64>> {
        self.found(state, moment).map_err(LabError::subject("a query of the past"))
    }
    fn fork(&mut self, branch: u64) -> Result<()> {
        let fork = || -> Ours<(Store, Collection)> {
            let store = self.store.branch(&branch_name(branch), At::Now)?;
            let accounts = store.collection("accounts")?;
            Ok((store, accounts))
        };
        let made = fork().map_err(LabError::subject("making a branch"))?;
        self.branches.insert(branch, made);
        Ok(())
    }
    fn write_on(&mut self, branch: u64, documents: &[Numbered]) -> Result<()> {
        put_all(self.of(Some(branch))?, documents).map_err(LabError::subject("a commit on a branch"))
    }
    fn newest_on(&mut self, branch: u64, number: u64) -> Result<Option<String>> {
        let found = self.of(Some(branch))?.get(&id(number)).map_err(LabError::subject("reading a branch"))?;
        Ok(found.map(|document| document.body.to_string()))
    }
    fn range(&mut self, branch: Option<u64>, from: u64, count: u64) -> Result<Vec<Numbered>> {
        Self::listed(self.of(branch)?, from, count).map_err(LabError::subject("reading in order"))
    }
    fn differing(&mut self, branch: u64) -> Result<Vec<u64>> {
        let (store, _) = self.branches.get(&branch).ok_or_else(|| LabError::Worker { what: "no branch".to_owned() })?;
        let numbers = || -> Ours<Vec<u64>> {
            let found = self.store.diff_with(store)?;
            found.map(|found| found.map(|(_, of)| of.id.parse().unwrap_or(u64::MAX))).collect()
        };
        numbers().map_err(LabError::subject("comparing a branch"))
    }
    fn merge(&mut self, branch: u64) -> Result<()> {
        let (store, _) = self.branches.get(&branch).ok_or_else(|| LabError::Worker { what: "no branch".to_owned() })?;
        self.store.merge_from(store, &MergeOptions::default()).map(drop).map_err(LabError::subject("merging"))
    }
    fn bytes(&mut self) -> Result<u64> {
        self.store.compact().map_err(LabError::subject("compacting"))?;
        bytes_on_disk(&self.dir)
    }
    fn settings(&self) -> String {
        "defaults, durability Disk, all versions kept; an index by state; compacted before its size is read".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        drop(self);
        Ok(())
    }
}
