//! Reopening after a crash of the process. A worker writes and is killed. The next one is timed from the call that
//! opens the store to its first answer. Then every acknowledged row is looked for.

use super::kept;
use super::sizes::{LOAD_COMMIT, Sizes};
use crate::error::Result;
use crate::worker::{Command, Launch, Reply, Rows};
use crate::workloads::Bench;
use crate::workloads::bench::{Figure, start};

pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let plan = bench.plan;
    let options = sizes.options(false);
    bench.open_new("killed", kept, &options, 0)?;
    bench.prepare("writing what will be killed", kept, |member| {
        let rows = Rows { first: 0, count: sizes.killed_rows, version: 0 };
        member.ask(&Command::Write { rows, per_commit: LOAD_COMMIT, threads: 1, marked: false })?;
        member.next_row = sizes.killed_rows;
        Ok(())
    })?;
    let more = (sizes.killed_rows / 5).max(1);
    bench.rounds("reopen_killed", kept, (sizes.killed_rounds, false), Figure::PerOperation, |member, _| {
        // Unsettled writes for the recovery: batches, then single rows.
        for (count, per_commit) in [(more, LOAD_COMMIT / 10), (sizes.puts, 1)] {
            let rows = Rows { first: member.next_row, count, version: 0 };
            member.ask(&Command::Write { rows, per_commit, threads: 1, marked: false })?;
            member.next_row += count;
        }
        member.worker.take().into_iter().for_each(crate::worker::Worker::kill);
        start(plan, member, &Launch::Plain)?;
        let opened = member.ask(&Command::Open {
            subject: member.kind.name.to_owned(),
            dir: member.dir.clone(),
            options: options.clone(),
            rows: 0,
        })?;
        let answered = member.ask(&Command::FirstGet { row: member.next_row - 1, version: 0 })?;
        member.ask(&Command::Verify { parts: vec![Rows { first: 0, count: member.next_row, version: 0 }] })?;
        Ok(Reply { ops: 1, wall_ns: opened.wall_ns + answered.wall_ns, ..Reply::default() })
    })?;
    bench.remove(kept)
}
