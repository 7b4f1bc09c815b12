//! Ours in this process: versions are what the store keeps anyway, and an index serves every moment.

use std::path::{Path, PathBuf};

use recension::engine::Seq;
use recension::{At, Collection, IndexSpec, Query, Store, ValueRange, Write};
use serde::Deserialize;

use super::model::id;
use super::{Numbered, Revisions};
use crate::error::{LabError, Result};
use crate::measure::filesystem::bytes_on_disk;

type Ours<T> = recension::Result<T>;

struct Embedded {
    dir: PathBuf,
    store: Store,
    accounts: Collection,
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
        Ok(Embedded { dir: dir.clone(), store, accounts })
    };
    Ok(Box::new(open().map_err(LabError::subject("opening the store"))?))
}

impl Embedded {
    fn put(&self, documents: &[Numbered]) -> Ours<u64> {
        if let [(number, body)] = documents {
            return Ok(self.accounts.put(&id(*number), body.as_str())?.seq.0);
        }
        let writes: Vec<Write> =
            documents.iter().map(|(number, body)| Write::put(&id(*number), body.as_str())).collect::<Ours<_>>()?;
        for written in self.accounts.bulk(writes)? {
            written?;
        }
        Ok(self.store.engine().head().0)
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
        let revisions = self.revisions(number).map_err(LabError::subject("listing versions"))?;
        Ok(revisions.iter().map(|revision| revision.seq.0).collect())
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
