//! Checks that each subject really syncs: its worker runs once more under `strace`, with a known number of commits. If
//! a subject claims to survive loss of power and makes no durable syncs, its tier is set by the count.

use super::everybody;
use super::sizes::Sizes;
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::measure::trace;
use crate::subjects::Tier;
use crate::worker::{Command, Launch, Rows};
use crate::workloads::Bench;
use crate::workloads::bench::{empty_dir, open, remove_dir};

/// With fewer durable syncs for each commit, a subject does not keep its claim. The figure is one for each commit, less
/// what a trace may miss.
const ENOUGH: f64 = 0.95;

/// Counts them, in the last sitting: a trace tells the same of each.
pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    if !bench.is_last_sitting() {
        return Ok(());
    }
    let plan = bench.plan;
    let unavailable = trace::unavailable();
    let options = sizes.options(false);
    let mut short = Vec::new();
    bench.single("syncs_per_commit", everybody, |member| {
        if let Some(reason) = &unavailable {
            return Err(LabError::Unavailable { reason: reason.clone() });
        }
        member.dir = plan.dir.join("traced").join(member.kind.name);
        empty_dir(&member.dir)?;
        let file = plan.dir.join(format!("{}.strace", member.kind.name));
        open(plan, member, &Launch::Traced(file.clone()), &options, 0)?;
        let warm = Rows { first: 0, count: 20, version: 0 };
        let counted = Rows { first: 20, count: sizes.traced_commits, version: 0 };
        for (rows, marked) in [(warm, false), (counted, true)] {
            member.ask(&Command::Write { rows, per_commit: 1, threads: 1, marked })?;
        }
        member.close()?;
        let text = std::fs::read(&file).map_err(LabError::io(format!("reading {}", file.display())))?;
        let syncs = trace::count(&String::from_utf8_lossy(&text));
        let durable = as_f64(syncs.durable() as usize) / as_f64(sizes.traced_commits as usize);
        member.syncs = Some((syncs, sizes.traced_commits));
        remove_dir(&member.dir)?;
        if member.kind.tier == Tier::T2 && durable < ENOUGH {
            member.kind.tier = Tier::T1;
            member.kind.tier_note = Some("labelled by what was counted: fewer durable syncs than commits");
            short.push(member.kind.name);
        }
        Ok((durable, None))
    })?;
    for row in bench.all_rows().filter(|row| short.contains(&row.subject.as_str())) {
        row.tier = format!("{:?}", Tier::T1);
    }
    Ok(())
}
