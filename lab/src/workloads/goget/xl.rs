//! The corpus XL: more accounts than fit into a budget of memory, drawn at random, one subject at a time with the whole
//! budget for its processes, their page cache and the laboratory's worker.

use super::{Sizes, ask, close, stores};
use crate::error::{LabError, Result};
use crate::measure::budget::Budget;
use crate::measure::filesystem::{self, evict};
use crate::report::units;
use crate::worker::goget::Goget;
use crate::worker::{Launch, Reply};
use crate::workloads::bench::{Bench, Figure, Member, empty_dir, start};
use crate::workloads::{Mode, Plan};

/// Bytes of an account, for how many of them are three times the budget.
const ACCOUNT_BYTES: u64 = 256;
/// The budget of a full run, if none was given.
const BUDGET_BYTES: u64 = 128 << 20;
/// Accounts of a trial of the laboratory itself at most.
const TRIAL: u64 = 5_000;

const OPERATIONS: [&str; 3] = ["xl_get_id", "xl_get_name", "xl_new"];

/// Bytes on disk that a store may take for each byte of accounts, while it is filled: logs, free pages, files that are
/// replaced.
const ROOM: u64 = 4;

/// The budget of a run; `None` if it is not to be measured.
fn budget_of(plan: &Plan) -> Option<u64> {
    plan.budget_bytes.or((plan.mode == Mode::Full).then_some(BUDGET_BYTES))
}

/// The number of accounts that are stored for a budget.
fn accounts_of(plan: &Plan, bytes: u64) -> u64 {
    let wanted = bytes.saturating_mul(3) / ACCOUNT_BYTES;
    if plan.rows.is_some_and(|rows| rows < TRIAL) { wanted.min(TRIAL) } else { wanted }
}

/// Checks that the disk has room for all stores, which are there at the same time. This is checked before anything is
/// measured.
///
/// # Errors
/// [`LabError::Usage`] if it has not.
pub(super) fn check_room(plan: &Plan) -> Result<()> {
    let Some(bytes) = budget_of(plan) else { return Ok(()) };
    let many = plan.subjects.iter().filter(|kind| stores(kind) && (kind.missing)(&plan.given).is_none()).count() as u64;
    let needed = accounts_of(plan, bytes).saturating_mul(ACCOUNT_BYTES * ROOM).saturating_mul(many);
    let free = filesystem::bytes_free(&plan.dir)?;
    if needed <= free {
        return Ok(());
    }
    Err(LabError::Usage {
        what: format!(
            "the corpus XL stores three times the budget of {} MiB for each of {many} subjects, which may take {} on \
             the way, and {} has {} free: give --dir on a larger disk, a smaller --budget MIB, or fewer --subjects",
            bytes >> 20,
            units::bytes(needed),
            plan.dir.display(),
            units::bytes(free)
        ),
    })
}

/// Measures it if there is a budget. Otherwise the rows have a reason. It runs only in the last sitting, since filling
/// the stores takes minutes; each round has a process of its own and empty caches anyway.
pub(super) fn run(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    if !bench.is_last_sitting() {
        return Ok(());
    }
    let plan = bench.plan;
    let Some(bytes) = budget_of(plan) else {
        return without(
            bench,
            "only in full runs, or with --budget MIB: accounts of three times that are stored first",
        );
    };
    let budget = match Budget::of(bytes) {
        Ok(budget) => budget,
        Err(error) => return without(bench, &error.to_string()),
    };
    let accounts = accounts_of(plan, bytes);
    bench.prepare("storing more accounts than the budget holds", stores, |member| {
        member.dir = plan.dir.join("xl").join(member.kind.name);
        member.worker = None;
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        open(member, plan, Some(accounts))?;
        close(member)
    })?;
    for name in OPERATIONS {
        bench.rounds(
            name,
            stores,
            (if sizes.gets < 100 { 1 } else { 5 }, false),
            Figure::PerOperation,
            |member, round| {
                let reply = within(member, plan, &budget, &|pass| match name {
                    "xl_new" => Goget::Create { count: sizes.writes },
                    _ => Goget::GetRandom {
                        of: accounts,
                        by_name: name == "xl_get_name",
                        count: sizes.gets,
                        seed: 70 + 2 * round as u64 + pass,
                    },
                });
                reply.map_err(|error| {
                    // A process that is ended for want of memory takes its pipe with it: it may live in the next row.
                    member.worker = None;
                    match error {
                        LabError::Wrong { .. } => error,
                        other => LabError::Unavailable { reason: format!("{}: {other}", budget.how) },
                    }
                })
            },
        )?;
    }
    bench.remove(stores)
}

/// One round: a new process in a budget of its own, nothing in the page cache, the disk's own cache as it is for the
/// others, a pass that fills the budget, and the one that counts.
fn within(member: &mut Member, plan: &Plan, budget: &Budget, command: &dyn Fn(u64) -> Goget) -> Result<Reply> {
    member.worker = None;
    evict(&member.dir)?;
    budget.renew()?;
    start(plan, member, &Launch::Within(budget))?;
    open(member, plan, None)?;
    let measured = ask(member, command(0)).and_then(|_| ask(member, command(1)));
    close(member)?;
    let reply = measured?;
    let note = [Some(budget.note()), reply.note.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ");
    Ok(Reply { note: Some(note), ..reply })
}

/// No model of each account is kept: they depend only on their numbers, and a model would count towards the budget.
fn open(member: &mut Member, plan: &Plan, load: Option<u64>) -> Result<()> {
    let (subject, dir, given) = (member.kind.name.to_owned(), member.dir.clone(), plan.given.clone());
    ask(member, Goget::OpenLean { subject, dir, load, given }).map(drop)
}

fn without(bench: &mut Bench<'_>, reason: &str) -> Result<()> {
    for name in OPERATIONS {
        bench.single(name, stores, |_| Err(LabError::Unavailable { reason: reason.to_owned() }))?;
    }
    Ok(())
}
