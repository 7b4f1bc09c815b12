//! Documents through the Rust API: the same values as bodies, one unique index. Every answer is compared with
//! the model, as for rows.

use std::path::Path;
use std::time::Instant;

use recension::document::{Collection, IndexSpec, ListOptions, Path as JsonPath, Query, ValueRange, Write};

use super::protocol::{Documents, Reply};
use super::serve::REST;
use crate::data::{Digest, Random, value};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, thread_cpu};

/// A collection with documents 0 to `count`.
pub(super) struct DocumentStore {
    collection: Collection,
    count: u64,
}

fn id(n: u64) -> String {
    format!("order-{n:08}")
}

/// The member that the unique index is on, as the values have it.
fn unique(n: u64) -> String {
    format!("customer-{n:09}")
}

impl DocumentStore {
    pub(super) fn handle(this: &mut Option<Self>, command: &Documents) -> Result<Reply> {
        if let Documents::Load { dir, count } = command {
            let (store, reply) = Self::load(dir, *count)?;
            *this = Some(store);
            return Ok(reply);
        }
        let store = this.as_ref().ok_or_else(|| LabError::Worker { what: "no documents are loaded".to_owned() })?;
        match command {
            Documents::GetId { count, seed } => store.each(*count, *seed, |n| {
                let id = id(n);
                let found = store.collection.get(&id).map_err(LabError::subject("a get"))?;
                Ok(found.map(|document| document.body.into_owned()))
            }),
            Documents::GetUnique { count, seed } => {
                let path: JsonPath = "id".parse().map_err(LabError::subject("the path"))?;
                store.each(*count, *seed, |n| {
                    let query = Query::new().matching(path.clone(), ValueRange::equal(unique(n)));
                    let mut found = store.collection.find(&query).map_err(LabError::subject("a query"))?;
                    let document = found.next().transpose().map_err(LabError::subject("a query"))?;
                    Ok(document.map(|document| document.body.into_owned()))
                })
            }
            Documents::List => store.list(),
            Documents::Load { .. } => Err(LabError::Worker { what: "loaded twice".to_owned() }),
        }
    }

    fn load(dir: &Path, count: u64) -> Result<(Self, Reply)> {
        let failed = || LabError::subject("loading documents");
        let store = recension::document::open(&dir.display().to_string()).map_err(failed())?;
        let collection = store.collection("orders").map_err(failed())?;
        let path: JsonPath = "id".parse().map_err(failed())?;
        collection.create_index(IndexSpec::unique("by_id", path), |_| {}).map_err(failed())?;
        let start = Instant::now();
        let mut loader = collection.loader();
        for n in 0..count {
            let write = Write::put(&id(n), value(n, 0)).map_err(failed())?;
            let failures = loader.push(write).map_err(failed())?;
            none_failed(&failures)?;
        }
        none_failed(&loader.finish().map_err(failed())?)?;
        let wall_ns = nanos(start.elapsed());
        come_to_rest(REST);
        Ok((DocumentStore { collection, count }, Reply { ops: count, wall_ns, ..Reply::default() }))
    }

    /// Times `count` reads of random documents by their numbers.
    fn each(&self, count: u64, seed: u64, read: impl Fn(u64) -> Result<Option<String>>) -> Result<Reply> {
        let mut random = Random::new(seed);
        let wanted: Vec<u64> = (0..count).map(|_| random.below(self.count)).collect();
        let (mut expected, mut found) = (Digest::default(), Digest::default());
        for &n in &wanted {
            expected.add(value(n, 0).as_bytes());
        }
        let (cpu, start) = (thread_cpu(), Instant::now());
        for &n in &wanted {
            found.add(read(n)?.unwrap_or_default().as_bytes());
        }
        self.reply(count, start, cpu, expected, found)
    }

    fn list(&self) -> Result<Reply> {
        let (mut expected, mut found) = (Digest::default(), Digest::default());
        (0..self.count).for_each(|n| expected.add_row(id(n).as_bytes(), value(n, 0).as_bytes()));
        let (cpu, start) = (thread_cpu(), Instant::now());
        for document in self.collection.list(&ListOptions::default()).map_err(LabError::subject("a list"))? {
            let document = document.map_err(LabError::subject("a list"))?;
            found.add_row(document.id.as_bytes(), document.body.as_bytes());
        }
        self.reply(1, start, cpu, expected, found)
    }

    fn reply(
        &self,
        ops: u64,
        start: Instant,
        cpu: std::time::Duration,
        expected: Digest,
        found: Digest,
    ) -> Result<Reply> {
        let (wall_ns, cpu_ns) = (nanos(start.elapsed()), nanos(thread_cpu().saturating_sub(cpu)));
        if expected != found {
            return Err(LabError::Wrong {
                what: format!("documents of {}", self.count),
                expected: format!("{expected:?}"),
                found: format!("{found:?}"),
            });
        }
        come_to_rest(REST);
        Ok(Reply { ops, wall_ns, cpu_ns: Some(cpu_ns), ..Reply::default() })
    }
}

fn none_failed(failures: &[recension::document::LoadFailure]) -> Result<()> {
    match failures.first() {
        None => Ok(()),
        Some(failure) => {
            Err(LabError::Subject { what: format!("document {}", failure.number), why: failure.error.to_string() })
        }
    }
}
