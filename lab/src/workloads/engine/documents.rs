//! Documents through the Rust API, on a native store with a unique index.

use super::sizes::Sizes;
use super::us;
use crate::error::Result;
use crate::worker::protocol::Documents;
use crate::worker::{Command, Launch};
use crate::workloads::Bench;
use crate::workloads::bench::{Figure, empty_dir, remove_dir, start};

pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let plan = bench.plan;
    let dir = plan.dir.join("documents");
    let rounds = (sizes.rounds, true);
    bench.prepare("opening", us, |member| {
        empty_dir(&dir)?;
        start(plan, member, &Launch::Plain)
    })?;
    bench.rounds("doc_load", us, (1, false), Figure::PerOperation, |member, _| {
        member.ask(&Command::Documents(Documents::Load { dir: dir.clone(), count: sizes.documents }))
    })?;
    let count = sizes.gets;
    bench.rounds("doc_get_id", us, rounds, Figure::PerOperation, |member, round| {
        member.ask(&Command::Documents(Documents::GetId { count, seed: 600 + round as u64 }))
    })?;
    let count = (sizes.gets / 2).max(1);
    bench.rounds("doc_get_unique", us, rounds, Figure::PerOperation, |member, round| {
        member.ask(&Command::Documents(Documents::GetUnique { count, seed: 700 + round as u64 }))
    })?;
    let note = (sizes.documents != 50_000).then(|| format!("{} documents", sizes.documents));
    bench.rounds("doc_list_50k", us, rounds, Figure::PerOperation, |member, _| {
        let reply = member.ask(&Command::Documents(Documents::List))?;
        Ok(crate::worker::Reply { note: note.clone(), ..reply })
    })?;
    bench.prepare("cleaning up", us, |member| {
        member.worker.take().into_iter().for_each(crate::worker::Worker::end);
        remove_dir(&dir)
    })
}
