//! Reads of more rows than fit into a budget of memory. The rows are settled and then read at random, one subject at a
//! time with the whole budget for its process and the page cache.

use super::data::{gets, ranges, write};
use super::kept;
use super::sizes::{LOAD_COMMIT, Sizes};
use crate::error::{LabError, Result};
use crate::measure::budget::Budget;
use crate::measure::filesystem::evict;
use crate::subjects::OpenOptions;
use crate::worker::{Command, Launch, Reply};
use crate::workloads::bench::{Figure, Member, open};
use crate::workloads::{Bench, Plan};

const OPERATIONS: [&str; 2] = ["get_beyond_memory", "range_beyond_memory"];

/// Measures it if there is a budget. Otherwise the rows have a reason. It runs only in the last sitting, since filling
/// the stores takes minutes; each round has a process of its own and empty caches anyway.
pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    if !bench.is_last_sitting() {
        return Ok(());
    }
    let plan = bench.plan;
    let Some((budget_bytes, rows)) = sizes.beyond_memory else {
        return without(bench, "only in full runs, or with --budget MIB: rows of three times that are stored first");
    };
    let budget = match Budget::of(budget_bytes) {
        Ok(budget) => budget,
        Err(error) => return without(bench, &error.to_string()),
    };
    let sizes = Sizes { rows, gets: (sizes.gets / 10).max(1), ranges: (sizes.ranges / 10).max(1), ..Sizes::of(plan) };
    bench.open_new("beyond", kept, &sizes.options(false), rows)?;
    bench.prepare("storing more rows than the budget holds", kept, |member| {
        write(member, rows, LOAD_COMMIT, 1)?;
        member.ask(&Command::Settle)?;
        member.close()
    })?;
    for name in OPERATIONS {
        bench.rounds(name, kept, (sizes.beyond_rounds, false), Figure::PerOperation, |member, round| {
            let reads =
                |round| if name == OPERATIONS[0] { gets(&sizes, 1, round) } else { ranges(&sizes, false, round) };
            let found = within(member, plan, &budget, &sizes, [reads(round), reads(round + 7000)]);
            found.map_err(|error| match error {
                LabError::Wrong { .. } => error,
                // A subject that cannot run in the budget can be measured without one.
                other => LabError::Unavailable { reason: format!("{}: {other}", budget.how) },
            })
        })?;
    }
    // Every row that was read was compared, and nothing was written since settling.
    bench.remove(kept)
}

/// One round of one subject within the budget: a new process, nothing in the page cache or in the budget, the disk's
/// own cache as it is for the others, reads that fill the budget, and the reads that count.
fn within(
    member: &mut Member,
    plan: &Plan,
    budget: &Budget,
    sizes: &Sizes,
    [first, counted]: [Command; 2],
) -> Result<Reply> {
    member.worker = None;
    evict(&member.dir)?;
    budget.renew()?;
    let small = OpenOptions { history: false, cache_bytes: budget.cache_bytes() };
    open(plan, member, &Launch::Within(budget), &small, sizes.rows)?;
    let measured = member.ask(&first).and_then(|_| member.ask(&counted));
    let note = Some(budget.note());
    let closed = member.close();
    member.worker = None;
    let reply = Reply { note, ..measured? };
    closed.map(|()| reply)
}

fn without(bench: &mut Bench<'_>, reason: &str) -> Result<()> {
    for name in OPERATIONS {
        bench.single(name, kept, |_| Err(LabError::Unavailable { reason: reason.to_owned() }))?;
    }
    Ok(())
}
