//! The store that most rows are of: loaded, read fresh, closed, settled, read again, written to, verified.

use super::sizes::{LOAD_COMMIT, RANGE_ROWS, Sizes, WRITERS};
use super::{everybody, floor, kept, stores};
use crate::data::ROW_BYTES;
use crate::error::Result;
use crate::measure::filesystem::bytes_on_disk;
use crate::measure::stats::as_f64;
use crate::subjects::OpenOptions;
use crate::worker::{Command, Launch, Reply, Rows};
use crate::workloads::Bench;
use crate::workloads::bench::{Figure, Member, open};

pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let options = sizes.options(false);
    bench.open_new("data", stores, &options, sizes.rows)?;
    load(bench, sizes)?;
    fresh_reads(bench, sizes)?;
    settle(bench, sizes, &options)?;
    settled_reads(bench, sizes)?;
    writes(bench, sizes, &options)?;
    under_load(bench, sizes)?;
    verify(bench, sizes, &options)?;
    bench.remove(everybody)
}

pub(super) fn all(sizes: &Sizes) -> Rows {
    Rows { first: 0, count: sizes.rows, version: 0 }
}

fn load(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let each = sizes.rows.div_ceil(sizes.load_rounds as u64);
    bench.rounds("load", stores, (sizes.load_rounds, false), Figure::PerOperation, |member, _| {
        let count = each.min(sizes.rows - member.next_row);
        let reply = write(member, count, LOAD_COMMIT, 1)?;
        Ok(reply)
    })
}

/// Writes the next rows.
pub(super) fn write(member: &mut Member, count: u64, per_commit: u64, threads: u64) -> Result<Reply> {
    let rows = Rows { first: member.next_row, count, version: 0 };
    let reply = member.ask(&Command::Write { rows, per_commit, threads, marked: false })?;
    member.next_row += count;
    Ok(reply)
}

pub(super) fn gets(sizes: &Sizes, threads: u64, round: usize) -> Command {
    Command::Get { rows: all(sizes), count: sizes.gets, threads, as_of: None, seed: 100 + round as u64 }
}

pub(super) fn ranges(sizes: &Sizes, reverse: bool, round: usize) -> Command {
    Command::Range {
        rows: all(sizes),
        count: sizes.ranges,
        limit: RANGE_ROWS,
        reverse,
        as_of: None,
        seed: 200 + round as u64,
    }
}

fn fresh_reads(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let rounds = (sizes.rounds, true);
    bench.rounds("range_100_fresh", stores, rounds, Figure::PerOperation, |member, round| {
        member.ask(&ranges(sizes, false, round))
    })?;
    for (name, threads) in [("get_1", 1), ("get_2", 2)] {
        bench.rounds(name, stores, rounds, Figure::PerOperation, |member, round| {
            member.ask(&gets(sizes, threads, round))
        })?;
    }
    bench.single("memory", stores, |member| {
        let usage = member.ask(&Command::Usage)?.usage.unwrap_or_default();
        let note = format!("{} MiB of mapped files beside it", usage.mapped_bytes >> 20);
        let own = usage.anonymous_bytes.saturating_sub(member.memory_before);
        Ok((as_f64(own as usize), (usage.mapped_bytes > 64 << 20).then_some(note)))
    })
}

fn size(member: &Member) -> Result<(f64, Option<String>)> {
    Ok((as_f64(bytes_on_disk(&member.dir)? as usize), None))
}

fn settle(bench: &mut Bench<'_>, sizes: &Sizes, options: &OpenOptions) -> Result<()> {
    let plan = bench.plan;
    let raw = as_f64((sizes.rows * ROW_BYTES) as usize);
    bench.rounds("close", kept, (1, false), Figure::PerOperation, |member, _| {
        let reply = member.ask(&Command::Close)?;
        member.worker.take().into_iter().for_each(crate::worker::Worker::end);
        Ok(reply)
    })?;
    bench.single("size_fresh", kept, |member| size(member))?;
    bench.single("size_fresh", floor, |_| Ok((raw, Some("keys and values".to_owned()))))?;
    bench.prepare("verifying after reopening", stores, |member| {
        open(plan, member, &Launch::Plain, options, sizes.rows)?;
        member.ask(&Command::Verify { parts: vec![all(sizes)] }).map(drop)
    })?;
    bench.rounds("settle", stores, (1, false), Figure::PerOperation, |member, _| {
        let mut reply = member.ask(&Command::Settle)?;
        reply.note = reply.settled.as_ref().map(|settled| settled.how.clone());
        Ok(reply)
    })?;
    bench.prepare("closing", stores, Member::close)?;
    bench.single("size_settled", kept, |member| size(member))?;
    bench.single("size_settled", floor, |_| Ok((raw, Some("keys and values".to_owned()))))?;
    note_settling(bench, "size_settled");
    bench.prepare("opening", stores, |member| open(plan, member, &Launch::Plain, options, sizes.rows))
}

/// If a subject's settling was incomplete, its settled rows say so.
fn note_settling(bench: &mut Bench<'_>, operation: &str) {
    let known: Vec<(String, Option<bool>)> = bench
        .rows
        .iter()
        .filter(|row| row.operation == "settle")
        .map(|row| (row.subject.clone(), row.settling))
        .collect();
    for row in bench.rows.iter_mut().filter(|row| row.operation == operation) {
        row.settling = known.iter().find(|(subject, _)| *subject == row.subject).and_then(|(_, settling)| *settling);
        if row.settling == Some(false) {
            row.note = Some("its own call does less than settle everything".to_owned());
        }
    }
}

/// Ranges right after opening, when the subjects' own caches are empty (the system's is not), and with all rows read
/// once, which the caches have room for.
fn settled_reads(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    bench.rounds("range_100_first", stores, (1, false), Figure::PerOperation, |member, round| {
        member.ask(&ranges(sizes, false, round))
    })?;
    bench.prepare("reading all rows once", stores, |member| {
        member.ask(&Command::Verify { parts: vec![all(sizes)] }).map(drop)
    })?;
    for (name, reverse) in [("range_100_settled", false), ("range_100_reverse", true)] {
        bench.rounds(name, stores, (sizes.rounds, true), Figure::PerOperation, |member, round| {
            member.ask(&ranges(sizes, reverse, round))
        })?;
        note_settling(bench, name);
    }
    Ok(())
}

fn writes(bench: &mut Bench<'_>, sizes: &Sizes, options: &OpenOptions) -> Result<()> {
    bench.open_new("data", floor, options, 1)?;
    let mut written: Vec<(&'static str, u64, u64)> = Vec::new();
    bench.rounds("put_durable_1", everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
        let reply = write(member, sizes.puts, 1, 1)?;
        written.push((member.kind.name, reply.written_bytes, reply.ops));
        Ok(reply)
    })?;
    bench.single("bytes_per_commit", everybody, |member| {
        let of_member = written.iter().filter(|(name, _, _)| *name == member.kind.name);
        let (bytes, commits) = of_member.fold((0, 0), |sum, (_, bytes, ops)| (sum.0 + bytes, sum.1 + ops));
        Ok((as_f64(bytes as usize) / as_f64(commits.max(1) as usize), None))
    })?;
    bench.rounds("put_durable_16", everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
        write(member, sizes.puts * WRITERS / 2, 1, WRITERS)
    })?;
    bench.rounds("batch_1000", everybody, (sizes.rounds, true), Figure::PerOperation, |member, _| {
        let mut reply = write(member, LOAD_COMMIT, LOAD_COMMIT, 1)?;
        reply.ops = 1;
        Ok(reply)
    })
}

fn under_load(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    bench.rounds("get_while_writing", stores, (sizes.rounds / 2, true), Figure::PerOperation, |member, round| {
        let reply = member.ask(&Command::GetWhileWriting {
            rows: all(sizes),
            first: member.next_row,
            rate: sizes.offered_rate,
            millis: 200,
            seed: 300 + round as u64,
        })?;
        member.next_row += reply.number.unwrap_or_default();
        Ok(reply)
    })?;
    // No round comes before them: the puts, and the gets beside commits, were one already.
    let offered = (sizes.offered_rounds, false);
    bench
        .rounds("put_p999_quiet", stores, offered, Figure::Quantile(0.999), |member, _| offer(member, sizes, false))?;
    bench.rounds("put_p999_settling", stores, offered, Figure::Quantile(0.999), |member, _| {
        // Something to settle: rows of which nothing was compacted yet.
        write(member, (sizes.rows / 20).max(1), LOAD_COMMIT, 1)?;
        offer(member, sizes, true)
    })?;
    note_settling(bench, "put_p999_settling");
    Ok(())
}

fn offer(member: &mut Member, sizes: &Sizes, settling: bool) -> Result<Reply> {
    let reply = member.ask(&Command::Offer {
        first: member.next_row,
        rate: sizes.offered_rate,
        millis: sizes.offered_millis,
        settling,
    })?;
    member.next_row += reply.ops;
    Ok(reply)
}

/// The final state of every subject, after it was closed and opened again.
fn verify(bench: &mut Bench<'_>, sizes: &Sizes, options: &OpenOptions) -> Result<()> {
    let plan = bench.plan;
    bench.verify_with("verifying the final state", stores, |member| {
        member.close()?;
        open(plan, member, &Launch::Plain, options, sizes.rows)?;
        let parts = vec![Rows { first: 0, count: member.next_row, version: 0 }];
        member.ask(&Command::Verify { parts }).map(drop)
    })
}
