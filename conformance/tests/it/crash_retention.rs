//! Rules of retention, crashed at every disk call while they are set and while merges leave out what they give up, and
//! with every such call failing: a rule is there wholly or not at all, and there once it was acknowledged; what it
//! promises is answered, and what it does not is answered rightly or refused.

use std::num::NonZeroU32;

use recension::engine::{
    Durability, Engine, EngineError, KeyRange, NativeEngine, Retention, RetentionRule, Seq, TreeId,
};
use recension_conformance::crash::{Model, Shape, TREES, batch_of, for_seeds, native, random_changes, test_clock};
use recension_conformance::promise::Promise;
use recension_conformance::sim::{CrashPolicy, Fault, FaultKind, Rng, SimDisk};

type Finding = String;

#[allow(clippy::needless_pass_by_value)] // it stands in map_err
fn text(error: EngineError) -> Finding {
    error.to_string()
}

/// Set together: the newest two versions, what is there now, and nothing for the third tree.
fn rules() -> [RetentionRule; 2] {
    let rule = |tree, retention| RetentionRule { tree, range: KeyRange::all(), retention };
    let two = NonZeroU32::MIN.saturating_add(1);
    [rule(TREES[0], Retention::Versions(two)), rule(TREES[1], Retention::HeadOnly)]
}

fn open(disk: &SimDisk) -> Result<NativeEngine, EngineError> {
    NativeEngine::open(disk.arc(), native::settling_options(test_clock()))
}

/// A store, what it should hold, and where chance stands.
struct Run {
    model: Model,
    promise: Promise,
    rng: Rng,
}

impl Run {
    fn new(seed: u64) -> Self {
        Run { model: Model::default(), promise: Promise::default(), rng: Rng::for_part(seed, 0xf5) }
    }

    fn commit(&mut self, engine: &NativeEngine, count: u64) -> Result<(), EngineError> {
        let shape = Shape { large_percent: 0, keys: 10, ..Shape::default() };
        for _ in 0..count {
            let changes = random_changes(&mut self.rng, shape);
            let info = engine.commit(batch_of(&changes, Durability::Disk))?;
            self.model.apply(&changes, info.time);
        }
        Ok(())
    }

    /// Sets the rules; from here on they may be in force.
    fn set(&mut self, engine: &NativeEngine) -> Result<(), EngineError> {
        for rule in rules() {
            self.promise.set(&rule, engine.head());
        }
        engine.set_retention(&rules())
    }

    /// Compares every key at many moments; returns how many reads were refused.
    fn check(&self, engine: &dyn Engine, may_have_rules: bool) -> Result<u64, Finding> {
        let head = engine.head();
        let model = self.model.prefix(head.0);
        let mut refused = 0;
        for (tree, key) in keys(&model) {
            let now = model.engine().snapshot().map_err(text)?;
            let versions: Vec<Seq> = now.versions(tree, &key).map(|v| v.map_or(Seq::ZERO, |v| v.seq)).collect();
            for at in (0..=head.0).rev().step_by(3).chain([0, 1]).map(Seq) {
                let wanted = model.engine().snapshot_at(at).map_err(text)?;
                let wanted = wanted.get(tree, &key).map_err(text)?.map(|value| (value.seq, value.bytes.into_owned()));
                let snapshot = engine.snapshot_at(at).map_err(text)?;
                match snapshot.get(tree, &key) {
                    Ok(found) if found.as_ref().map(|value| (value.seq, value.bytes.to_vec())) == wanted => {}
                    Err(EngineError::Forgotten { .. })
                        if may_have_rules && self.promise.may_refuse((tree, &key, &versions), at, head) =>
                    {
                        refused += 1;
                    }
                    other => {
                        let key = key.escape_ascii();
                        return Err(format!("tree {}, key {key} as of {at}: {other:?}, not {wanted:?}", tree.0));
                    }
                }
            }
        }
        let report = engine.verify().map_err(text)?;
        if report.problems.is_empty() { Ok(refused) } else { Err(format!("{:?}", report.problems)) }
    }
}

fn keys(model: &Model) -> Vec<(TreeId, Vec<u8>)> {
    let mut keys = Vec::new();
    for tree in TREES {
        for at in 0..=model.head() {
            let Ok(snapshot) = model.engine().snapshot_at(Seq(at)) else { continue };
            let rows = snapshot.range(tree, &KeyRange::all(), recension::engine::Direction::Forward);
            keys.extend(rows.filter_map(|row| row.ok().map(|row| (tree, row.key.into_owned()))));
        }
    }
    keys.sort();
    keys.dedup();
    keys
}

#[test]
fn a_rule_is_there_or_not_after_a_crash_and_what_it_promises_is() {
    for_seeds(3, |seed| {
        let disk = SimDisk::new();
        let mut run = Run::new(seed);
        disk.record();
        let engine = open(&disk).map_err(text)?;
        run.commit(&engine, 30).map_err(text)?;
        let begun = disk.counters().total();
        run.set(&engine).map_err(text)?;
        let acknowledged = disk.counters().total();
        run.commit(&engine, 35).map_err(text)?;
        engine.settle().map_err(text)?;
        run.commit(&engine, 12).map_err(text)?;
        engine.settle().map_err(text)?;
        drop(engine);
        let mut dice = Rng::for_part(seed, 0xf6);
        let (mut refused, mut merged) = (0, 0);
        for moment in disk.take_moments().into_iter().filter(|moment| moment.call.number + 3 >= begun) {
            let context = |what: String| format!("crash after {}: {what}", moment.call);
            let policy = CrashPolicy::ALL[dice.index(CrashPolicy::ALL.len())];
            for found in [moment.process_crash(), moment.crash(dice.next(), policy)] {
                let engine = open(&found).map_err(|error| context(text(error)))?;
                let told = engine.retention().map_err(text)?;
                let is_set = told == rules();
                if !(is_set || (told.is_empty() && moment.call.number < acknowledged)) {
                    return Err(context(format!("the rules are {told:?}")));
                }
                refused += run.check(&engine, is_set).map_err(context)?;
                merged += u64::from(engine.verify().map_err(text)?.rows < rows(&run.model.prefix(engine.head().0)));
            }
        }
        if refused == 0 || merged == 0 {
            Err(format!("{refused} refused, {merged} merged"))
        } else {
            Ok((refused, merged))
        }
    });
}

fn rows(model: &Model) -> u64 {
    model.engine().verify().map_or(0, |report| report.rows)
}

#[test]
fn a_rule_that_could_not_be_set_or_kept_to_costs_nothing_that_is_promised() {
    for_seeds(2, |seed| {
        let (mut failures, mut refused) = (0, 0);
        for kind in FaultKind::ALL {
            for at in 1.. {
                let disk = SimDisk::new();
                let mut run = Run::new(seed);
                let engine = open(&disk).map_err(text)?;
                run.commit(&engine, 30).map_err(text)?;
                disk.fail(Fault::nth(at, kind));
                let context = |what: String| {
                    let call = disk.last_failed().map_or(String::new(), |call| call.to_string());
                    format!("{kind:?} of call {at}, {call}: {what}")
                };
                let set = run.set(&engine);
                let settled = engine.settle();
                failures += u64::from(set.is_err()) + u64::from(settled.is_err());
                // What fails next would fail the check itself.
                let hit = disk.faults_hit() > 0;
                disk.heal();
                // Whoever is told that it failed finds the store either going on or refusing to, and never wrong.
                refused += run.check(&engine, true).map_err(context)?;
                let is_set = set.is_ok();
                drop(engine);
                let engine = open(&disk).map_err(|error| context(text(error)))?;
                let told = engine.retention().map_err(text)?;
                if told != rules() && (is_set || !told.is_empty()) {
                    return Err(context(format!("the rules are {told:?}")));
                }
                refused += run.check(&engine, true).map_err(context)?;
                engine.settle().map_err(|error| context(text(error)))?;
                refused += run.check(&engine, true).map_err(context)?;
                if !hit {
                    break;
                }
            }
        }
        if failures == 0 || refused == 0 { Err(format!("{failures} failed")) } else { Ok((failures, refused)) }
    });
}
