//! The past: every row written twice, both versions readable. Subjects without versions keep them as rows.

use super::sizes::{LOAD_COMMIT, RANGE_ROWS, Sizes};
use super::{floor, kept, stores};
use crate::data::ROW_BYTES;
use crate::error::Result;
use crate::measure::filesystem::bytes_on_disk;
use crate::measure::stats::as_f64;
use crate::worker::{Command, Rows};
use crate::workloads::Bench;
use crate::workloads::bench::{Figure, Member};

pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let rows = |version| Rows { first: 0, count: sizes.history_rows, version };
    bench.open_new("history", stores, &sizes.options(true), sizes.history_rows)?;
    bench.prepare("writing every row twice", stores, |member| {
        let write =
            |version| Command::Write { rows: rows(version), per_commit: LOAD_COMMIT, threads: 1, marked: false };
        member.mark = member.ask(&write(0))?.number.unwrap_or_default();
        member.ask(&write(1)).map(drop)
    })?;
    let rounds = (sizes.rounds, true);
    let count = (sizes.gets / 2).max(1);
    bench.rounds("get_asof", stores, rounds, Figure::PerOperation, |member, round| {
        let as_of = Some(member.mark);
        member.ask(&Command::Get { rows: rows(0), count, threads: 1, as_of, seed: 400 + round as u64 })
    })?;
    let count = (sizes.ranges / 2).max(1);
    bench.rounds("range_asof", stores, rounds, Figure::PerOperation, |member, round| {
        let (as_of, seed) = (Some(member.mark), 500 + round as u64);
        member.ask(&Command::Range { rows: rows(0), count, limit: RANGE_ROWS, reverse: false, as_of, seed })
    })?;
    bench.prepare("verifying", stores, |member| member.ask(&Command::Verify { parts: vec![rows(1)] }).map(drop))?;
    bench.prepare("closing", stores, Member::close)?;
    bench.single("size_overwritten", kept, |member| Ok((as_f64(bytes_on_disk(&member.dir)? as usize), None)))?;
    let raw = as_f64((2 * sizes.history_rows * ROW_BYTES) as usize);
    bench.single("size_overwritten", floor, |_| Ok((raw, Some("keys and values of both versions".to_owned()))))?;
    bench.remove(stores)
}
