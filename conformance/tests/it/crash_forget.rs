//! Forgetting, crashed at every disk call: once it was acknowledged the past is refused for ever, before
//! that it is answered rightly or refused, and what is not forgotten is answered rightly throughout.

use recension::engine::{Direction, Durability, Engine, EngineError, KeyRange, NativeEngine, Seq, TreeId};
use recension_conformance::crash::{
    Model, Shape, TREES, batch_of, check_answers, for_seeds, native, random_changes, test_clock,
};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

type Rows = Vec<(Vec<u8>, Seq, Vec<u8>)>;

fn rows(engine: &dyn Engine, tree: TreeId, at: Seq) -> Result<Rows, EngineError> {
    let snapshot = engine.snapshot_at(at)?;
    snapshot
        .range(tree, &KeyRange::all(), Direction::Forward)
        .map(|row| row.map(|row| (row.key.into_owned(), row.value.seq, row.value.bytes.into_owned())))
        .collect()
}

#[test]
fn a_forgotten_past_stays_forgotten_and_nothing_else_is_lost() {
    for_seeds(3, |seed| {
        let mut rng = Rng::for_part(seed, 0xf0);
        let disk = SimDisk::new();
        let open = |disk: &SimDisk| NativeEngine::open(disk.arc(), native::settling_options(test_clock()));
        let mut model = Model::default();
        disk.record();
        let engine = open(&disk).map_err(|e| e.to_string())?;
        let shape = Shape { large_percent: 0, keys: 12, ..Shape::default() };
        let mut commit = |engine: &NativeEngine, model: &mut Model, count: u64| -> Result<(), String> {
            for _ in 0..count {
                let changes = random_changes(&mut rng, shape);
                let info = engine.commit(batch_of(&changes, Durability::Disk)).map_err(|e| e.to_string())?;
                model.apply(&changes, info.time);
            }
            Ok(())
        };
        commit(&engine, &mut model, 40)?;
        let before = Seq(25);
        let begun = disk.counters().total();
        engine.forget(TREES[0], &KeyRange::all(), before).map_err(|e| e.to_string())?;
        let acknowledged = disk.counters().total();
        commit(&engine, &mut model, 25)?;
        engine.settle().map_err(|e| e.to_string())?;
        commit(&engine, &mut model, 3)?;
        drop(engine);
        let mut dice = Rng::for_part(seed, 0xf1);
        let (mut refused, mut merged) = (0, 0);
        for moment in disk.take_moments().into_iter().filter(|moment| moment.call.number + 3 >= begun) {
            let policy = CrashPolicy::ALL[dice.index(CrashPolicy::ALL.len())];
            for found in [moment.process_crash(), moment.crash(dice.next(), policy)] {
                let context = |what: String| format!("crash after {}: {what}", moment.call);
                let engine = open(&found).map_err(|e| context(e.to_string()))?;
                let head = engine.head();
                for tree in TREES {
                    for at in [Seq(3), Seq(24), before, Seq(30), head] {
                        let wanted = rows(model.engine(), tree, at).map_err(|e| e.to_string())?;
                        let forgettable = tree == TREES[0] && at < before;
                        match rows(&engine, tree, at) {
                            Ok(found) if found == wanted && !(forgettable && moment.call.number >= acknowledged) => {}
                            Err(EngineError::Forgotten { .. }) if forgettable => refused += 1,
                            other => {
                                let what = format!("tree {} as of {at}: {other:?}, not {wanted:?}", tree.0);
                                return Err(context(what));
                            }
                        }
                    }
                }
                let report = engine.verify().map_err(|e| context(e.to_string()))?;
                if !report.problems.is_empty() {
                    return Err(context(format!("{:?}", report.problems)));
                }
                let all = model.prefix(head.0);
                merged += u64::from(report.rows < all.engine().verify().map_err(|e| e.to_string())?.rows);
                if moment.call.number < begun {
                    check_answers(&engine, all.engine(), head).map_err(context)?;
                }
            }
        }
        if refused == 0 || merged == 0 {
            Err(format!("{refused} refused, {merged} merged"))
        } else {
            Ok((refused, merged))
        }
    });
}
