//! The requirements on every disk that is found after a crash: it opens, it holds a prefix with every acknowledged
//! commit, and it takes new commits. These survive a close, a second open and another power loss.

use std::sync::Arc;

use recension::engine::{Clock, Durability, Engine, Seq, Timestamp};

use super::check::{Bounds, check_answers, check_store};
use super::history::{Model, no_violations, test_clock};
use super::workload::{Change, Shape, batch_of, random_changes};
use super::{Finding, Opener};
use crate::sim::{CrashPolicy, Rng, SimDisk};

/// Checks a disk that is found after a crash, and adds commits to it. Returns the number of commits that it held.
pub fn check_recovery(
    found: &SimDisk,
    opener: &Opener,
    model: &Model,
    bounds: Bounds,
    seed: u64,
) -> Result<u64, Finding> {
    let engine = open(found, opener)?;
    let head = check_store(&*engine, model.engine(), bounds)?;
    go_on(found, engine, opener, model.prefix(head), model.after(head), seed)?;
    Ok(head)
}

pub(super) fn open(disk: &SimDisk, opener: &Opener) -> Result<Arc<dyn Engine>, Finding> {
    opener(disk.arc(), test_clock() as Arc<dyn Clock>).map_err(|e| format!("the store does not open: {e}"))
}

/// Continues with a store that holds the same commits as `model`. `lost` are attempted commits that are not there.
/// Commits of the same sizes take their place, so that remains of the lost ones on the disk follow seamlessly.
pub(super) fn go_on(
    disk: &SimDisk,
    engine: Arc<dyn Engine>,
    opener: &Opener,
    mut model: Model,
    lost: &[(Vec<Change>, Timestamp)],
    seed: u64,
) -> Result<(), Finding> {
    let mut rng = Rng::for_part(seed, 0x60);
    for nth in 0..=rng.index(2) {
        commit(&*engine, &mut model, lost.get(nth), &mut rng)?;
    }
    // Power fails with the store open and acknowledged commits in it ...
    let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
    let unplugged = disk.crash(rng.next(), policy);
    drop(engine);
    no_violations(disk)?;
    let again = |disk: &SimDisk, model: &Model, when: &str| {
        let engine = open(disk, opener).map_err(|what| format!("{when}: {what}"))?;
        check_answers(&*engine, model.engine(), Seq(model.head())).map_err(|what| format!("{when}: {what}"))?;
        Ok::<_, Finding>(engine)
    };
    drop(again(&unplugged, &model, "after going on and another power loss")?);
    // ... or it is closed, opened, used, and opened once more.
    let engine = again(disk, &model, "after going on and a clean reopen")?;
    commit(&*engine, &mut model, None, &mut rng)?;
    drop(engine);
    drop(again(disk, &model, "after the second clean reopen")?);
    no_violations(disk)
}

fn commit(
    engine: &dyn Engine,
    model: &mut Model,
    like: Option<&(Vec<Change>, Timestamp)>,
    rng: &mut Rng,
) -> Result<(), Finding> {
    let mut changes = like.map_or_else(|| random_changes(rng, Shape::default()), |(changes, _)| changes.clone());
    for value in changes.iter_mut().filter_map(|change| change.value.as_mut()) {
        *value = rng.bytes(value.len());
    }
    let info = engine
        .commit(batch_of(&changes, Durability::Disk))
        .map_err(|e| format!("the store takes no new commit after recovery: {e}"))?;
    let last = model.engine().commit_at(info.time).ok().flatten();
    let expected = model.apply(&changes, info.time);
    if info.seq != expected {
        return Err(format!("the first commits after recovery: seq {}, expected {expected}", info.seq));
    }
    match last {
        Some(last) if last.seq.next() != info.seq => Err(format!("time ran backwards at seq {}", info.seq)),
        _ => Ok(()),
    }
}
