//! Erasing a document, and the settling after it, crashed at every disk call: the document is wholly there or wholly
//! gone, once it was acknowledged it is gone, it never comes back, and the next settling leaves no byte of it.

use recension::Store;
use recension::engine::{NativeEngine, NativeOptions, Seq};
use recension_conformance::crash::{for_seeds, native, test_clock};
use recension_conformance::erase::{ID, build, marks_in, people, wholly_gone, wholly_there};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

fn open(disk: &SimDisk, options: &NativeOptions) -> Result<Store, String> {
    let engine =
        NativeEngine::open(disk.arc(), options.clone()).map_err(|error| format!("it does not open: {error}"))?;
    Store::with_clock(std::sync::Arc::new(engine), test_clock()).map_err(|error| error.to_string())
}

/// Returns whether the document is gone.
fn is_gone(store: &Store, there: Seq) -> Result<bool, String> {
    if people(store)?.get(ID).map_err(|error| error.to_string())?.is_some() {
        return wholly_there(store, there).map(|()| false);
    }
    wholly_gone(store).map(|()| true)
}

fn run(seed: u64) -> Result<(u64, u64), String> {
    let text = |error: recension::Error| error.to_string();
    let mut rng = Rng::for_part(seed, 0xe0);
    let options = if seed.is_multiple_of(2) {
        native::settling_options(test_clock())
    } else {
        native::small_options(test_clock())
    };
    let disk = SimDisk::new();
    let store = open(&disk, &options)?;
    let there = build(&store)?;
    if seed.is_multiple_of(3) {
        store.compact().map_err(text)?;
    }
    disk.record();
    people(&store)?.erase([ID]).map_err(text)?;
    let acknowledged = disk.counters().total();
    people(&store)?.put("carol", r#"{"name":"Carol"}"#).map_err(text)?;
    store.compact().map_err(text)?;
    people(&store)?.put("dave", r#"{"name":"Dave"}"#).map_err(text)?;
    drop(store);
    if !marks_in(files(&disk)).is_empty() {
        return Err("settling has left something".to_owned());
    }
    let (mut kept, mut gone) = (0, 0);
    for moment in disk.take_moments() {
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let dice = rng.next();
        let (found, how) = if dice.is_multiple_of(3) {
            (moment.process_crash(), "killed".to_owned())
        } else {
            (moment.crash(dice, policy), format!("{policy:?}, {dice:#x}"))
        };
        let check = || -> Result<bool, String> {
            let store = open(&found, &options)?;
            let was_gone = is_gone(&store, there)?;
            if !was_gone {
                if moment.call.number >= acknowledged {
                    return Err("it was acknowledged and is there".to_owned());
                }
                people(&store)?.erase([ID]).map_err(text)?;
            }
            if one_in_four(dice) {
                // Once more, without settling.
                drop(store);
                wholly_gone(&open(&found, &options)?)?;
                return Ok(was_gone);
            }
            store.compact().map_err(text)?;
            let left = marks_in(files(&found));
            if !left.is_empty() {
                return Err(format!("after settling: {left:?}"));
            }
            drop(store);
            wholly_gone(&open(&found, &options)?)?;
            Ok(was_gone)
        };
        let was_gone = check().map_err(|what| format!("seed {seed}, {how}, after {}: {what}", moment.call))?;
        kept += u64::from(!was_gone);
        gone += u64::from(was_gone);
    }
    Ok((kept, gone))
}

fn one_in_four(dice: u64) -> bool {
    dice.is_multiple_of(4)
}

fn files(disk: &SimDisk) -> Vec<(String, Vec<u8>)> {
    disk.files().into_iter().map(|(name, _)| (name.clone(), disk.content(&name).unwrap_or_default())).collect()
}

#[test]
fn a_document_that_is_being_erased_is_wholly_there_or_wholly_gone_after_a_crash_at_any_call() {
    for_seeds(2, |seed| {
        let (kept, gone) = run(seed)?;
        if kept == 0 || gone < 50 { Err(format!("{kept} kept, {gone} gone")) } else { Ok((kept, gone)) }
    });
}

#[test]
fn what_is_salvaged_has_nothing_that_was_erased_and_takes_new_commits() {
    for settled_first in [false, true] {
        let (disk, saved) = (SimDisk::new(), SimDisk::new());
        let options = native::small_options(test_clock());
        let store = open(&disk, &options).unwrap();
        build(&store).unwrap();
        if settled_first {
            store.compact().unwrap();
        }
        people(&store).unwrap().erase([ID]).unwrap();
        let head = store.engine().head();
        drop(store);
        // The last segments are lost: commits up to the erasure will be made again.
        let salvaged = |disk: &SimDisk, to: &SimDisk| {
            recension::engine::native::salvage(&disk.arc(), to.arc(), options.clone(), |_, _| ()).unwrap()
        };
        assert_eq!(salvaged(&disk, &saved).head, head);
        let store = open(&saved, &options).unwrap();
        wholly_gone(&store).unwrap();
        store.compact().unwrap();
        assert_eq!(marks_in(files(&saved)), []);

        let mut segments: Vec<_> = disk.files().into_iter().filter(|(name, _)| name.starts_with("log/")).collect();
        segments.sort();
        let (last, _) = segments.last().unwrap();
        disk.lose(last);
        let saved = SimDisk::new();
        let lost = salvaged(&disk, &saved).head;
        assert!(lost < head, "{lost}");
        let store = open(&saved, &options).unwrap();
        let menu = store.collection("menu").unwrap();
        for n in 0..=head.0 - lost.0 {
            let written = menu.put(ID, format!("{{\"n\":{n}}}")).unwrap();
            assert!(menu.at(recension::At::Seq(written.seq)).unwrap().get(ID).unwrap().is_some(), "{n}");
        }
    }
}
