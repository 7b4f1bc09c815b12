//! Documents through the Rust API: the accounts of the suite `goget` as typed documents, decoded into their struct,
//! with a unique index on the name. Every answer is compared with the model, as for rows.

use std::path::Path;
use std::time::Instant;

use recension::{ListOptions, Typed};

use super::protocol::{Documents, Reply};
use super::serve::REST;
use crate::data::{Digest, Random};
use crate::error::{LabError, Result};
use crate::measure::clock::{come_to_rest, nanos, thread_cpu};
use crate::subjects::goget::{Account, account};

/// A collection with accounts 1 to `count`.
pub(super) struct DocumentStore {
    accounts: Typed<Account>,
    count: u64,
}

/// Reads every member of an account.
fn add(digest: &mut Digest, account: &Account) {
    digest.add_row(&account.id.to_le_bytes(), account.name.as_bytes());
    digest.add_row(&account.items.len().to_le_bytes(), account.passphrase.as_bytes());
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
            Documents::GetId { count, seed } => store.each(*count, *seed, |wanted| {
                store.accounts.get(&wanted.id.to_string()).map_err(LabError::subject("a get"))
            }),
            Documents::GetUnique { count, seed } => store.each(*count, *seed, |wanted| {
                store.accounts.get_by("name", &[wanted.name.as_str().into()]).map_err(LabError::subject("a get"))
            }),
            Documents::List => store.list(),
            Documents::Load { .. } => Err(LabError::Worker { what: "loaded twice".to_owned() }),
        }
    }

    fn load(dir: &Path, count: u64) -> Result<(Self, Reply)> {
        let failed = || LabError::subject("loading documents");
        let store = recension::open(&dir.display().to_string()).map_err(failed())?;
        let accounts = store.typed::<Account>().map_err(failed())?;
        let start = Instant::now();
        none_failed(&accounts.put_all((1..=count).map(account)).map_err(failed())?)?;
        let wall_ns = nanos(start.elapsed());
        come_to_rest(REST);
        Ok((DocumentStore { accounts, count }, Reply { ops: count, wall_ns, ..Reply::default() }))
    }

    /// Times `count` reads of random accounts.
    fn each(&self, count: u64, seed: u64, read: impl Fn(&Account) -> Result<Option<Account>>) -> Result<Reply> {
        let mut random = Random::new(seed);
        let wanted: Vec<Account> = (0..count).map(|_| account(1 + random.below(self.count))).collect();
        let (mut expected, mut found) = (Digest::default(), Digest::default());
        for account in &wanted {
            add(&mut expected, account);
        }
        let (cpu, start) = (thread_cpu(), Instant::now());
        for wanted in &wanted {
            if let Some(account) = read(wanted)? {
                add(&mut found, &account);
            }
        }
        self.reply(count, start, cpu, expected, found)
    }

    fn list(&self) -> Result<Reply> {
        let (mut expected, mut found) = (Digest::default(), Digest::default());
        let mut all: Vec<_> = (1..=self.count).map(account).collect();
        all.sort_by_cached_key(|account| account.id.to_string());
        for account in &all {
            add(&mut expected, account);
        }
        let (cpu, start) = (thread_cpu(), Instant::now());
        for account in self.accounts.list(&ListOptions::default()).map_err(LabError::subject("a list"))? {
            add(&mut found, &account.map_err(LabError::subject("a list"))?);
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

fn none_failed(failures: &[recension::LoadFailure]) -> Result<()> {
    match failures.first() {
        None => Ok(()),
        Some(failure) => {
            Err(LabError::Subject { what: format!("document {}", failure.number), why: failure.error.to_string() })
        }
    }
}
