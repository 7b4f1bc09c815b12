//! Keys of collections: what they seal is read with them alone, on every way; a key that was destroyed takes the
//! collection out of every moment of the store and out of every backup; and making and destroying one is done wholly or
//! not at all, whenever the machine stops.

use std::num::NonZeroU32;
use std::sync::Arc;

use recension::engine::native::{NativeEngine, NativeOptions, change_key, salvage};
use recension::engine::{Engine, EngineError, KeyNumber, KeyRange, Retention, Seq, Snapshot, TreeId, TreeKeyState};
use recension::{At, Expect, ListOptions, Store};
use recension::{CollectionKeyOptions, Error, IndexSpec, Key, Query, Result, ValueRange};
use recension_conformance::crash::{for_seeds, native, test_clock};
use recension_conformance::sim::{CrashPolicy, Rng, SimDisk};

const FILE: &str = "COLLECTION-KEYS";
const WITH_INDEXES: CollectionKeyOptions = CollectionKeyOptions { with_indexes: true };

fn options() -> NativeOptions {
    NativeOptions { key: Some(native::key()), ..native::settling_options(test_clock()) }
}

struct Opened {
    engine: Arc<NativeEngine>,
    store: Store,
}

fn open(disk: &SimDisk) -> Result<Opened> {
    let engine = Arc::new(NativeEngine::open(disk.arc(), options())?);
    let store = Store::with_clock(engine.clone(), test_clock())?;
    Ok(Opened { engine, store })
}

fn why(error: Error) -> String {
    match error {
        Error::Engine(EngineError::Key { store, why }) => format!("{store}: {why}"),
        other => panic!("{other}"),
    }
}

/// Patients with a key, with a history, a conflict of versions, an index and an attachment; and a menu without one.
fn fill(store: &Store) -> Result<Seq> {
    store.create_collection_key("patients", WITH_INDEXES)?;
    let patients = store.collection("patients")?;
    patients.create_index(IndexSpec::new("by-name", "name"), |_| {})?;
    patients.put("ada", r#"{"name":"Ada","ill":"old"}"#)?;
    let there = patients.put("ada", r#"{"name":"Ada","ill":"pangolin"}"#)?;
    for n in 0..40 {
        patients.put(&format!("p{n}"), format!(r#"{{"name":"N{n}","text":"{}"}}"#, "x".repeat(n)))?;
    }
    patients.delete("p3", &patients.get("p3")?.unwrap().rev)?;
    store.collection("menu")?.put("pizza", r#"{"topping":"ham"}"#)?;
    Ok(there.seq)
}

fn counted<T>(mut all: impl Iterator<Item = Result<T>>) -> Result<usize> {
    all.try_fold(0, |count, item| item.map(|_| count + 1))
}

/// The ways to read a patient: each must answer or fail, and never be empty.
fn ways(store: &Store, there: Seq) -> Vec<(&'static str, Result<usize>)> {
    let read = || store.collection("patients");
    vec![
        ("get", read().and_then(|own| Ok(usize::from(own.get("ada")?.is_some())))),
        ("get at", read().and_then(|own| Ok(usize::from(own.at(At::Seq(there))?.get("ada")?.is_some())))),
        ("list", read().and_then(|own| counted(own.list(&ListOptions::default())?))),
        ("history", read().and_then(|own| counted(own.history("ada")?))),
        (
            "find",
            read().and_then(|own| {
                let query = Query::new().matching("name", ValueRange::equal("Ada"));
                counted(own.find(&query)?)
            }),
        ),
        ("changes", store.changes(Seq::ZERO).and_then(counted)),
    ]
}

fn all_answer(store: &Store, there: Seq) {
    for (way, answer) in ways(store, there) {
        assert!(answer.as_ref().is_ok_and(|found| *found > 0), "{way}: {answer:?}");
    }
    assert!(store.check(At::Now).unwrap().problems.is_empty());
    assert_eq!(store.check(At::Now).unwrap().without_key, Vec::<String>::new());
}

fn all_refuse(store: &Store, there: Seq, wanted: &str) {
    for (way, answer) in ways(store, there) {
        let said = why(answer.err().unwrap_or_else(|| panic!("{way}")));
        assert!(said.contains("patients") && said.contains(wanted), "{way}: {said}");
    }
    assert!(why(store.collection("patients").unwrap().put("new", "{}").unwrap_err()).contains(wanted));
    assert!(store.collection("menu").unwrap().get("pizza").unwrap().is_some());
    assert_eq!(store.check(At::Now).unwrap().without_key, ["patients"]);
    // What only moves bytes needs no key.
    store.compact().unwrap();
    assert_eq!(store.engine().verify().unwrap().problems, []);
}

/// No read finds the collection, at no moment, and no row of its trees is left.
fn is_gone(store: &Store, there: Seq) -> std::result::Result<(), String> {
    let text = |error: Error| error.to_string();
    let later = Seq(there.0 + 5).min(store.engine().head());
    for at in [At::Now, At::Seq(there), At::Seq(later)] {
        let then = store.collection_as_of("patients", at).map_err(text)?;
        if then.get("ada").map_err(text)?.is_some() {
            return Err(format!("it is there at {at}"));
        }
        let listed = store.collections(at).map_err(text)?;
        if listed.iter().any(|own| own.name == "patients") {
            return Err(format!("the collection is there at {at}"));
        }
    }
    if store.dropped_collections().map_err(text)?.iter().any(|own| own.name == "patients") {
        return Err("it is among the dropped ones".to_owned());
    }
    let rows = rows_of(&**store.engine(), KeyNumber::FIRST);
    if rows.is_empty() { Ok(()) } else { Err(format!("rows are left: {rows:?}")) }
}

/// What is there in the trees of a key, at any moment; and in the catalogue about them.
fn rows_of(engine: &dyn Engine, number: KeyNumber) -> Vec<(TreeId, Vec<u8>)> {
    let now = engine.snapshot().unwrap();
    let mut rows = Vec::new();
    for tree in (0..12).map(|tree| number.tree(tree)) {
        let keys = now.keys(tree, &KeyRange::all()).map(|key| key.unwrap());
        rows.extend(keys.filter(|key| now_has(&*now, tree, key)).map(|key| (tree, key)));
    }
    rows
}

fn now_has(now: &dyn Snapshot, tree: TreeId, key: &[u8]) -> bool {
    // Opening a value may fail; then there is one.
    now.versions(tree, key).any(|version| version.is_err() || version.is_ok_and(|version| version.value.is_some()))
}

fn copy_of(disk: &SimDisk, with_keys: Option<&[u8]>) -> SimDisk {
    let copy = SimDisk::new();
    for (name, _) in disk.files() {
        copy.put(&name, &disk.content(&name).unwrap());
    }
    if let Some(bytes) = with_keys {
        copy.put(FILE, bytes);
    }
    copy
}

#[test]
fn a_destroyed_key_takes_its_collection_out_of_every_moment_and_every_backup() {
    let (disk, backup) = (SimDisk::new(), SimDisk::new());
    let there;
    {
        let Opened { engine, store } = open(&disk).unwrap();
        there = fill(&store).unwrap();
        let patients = store.collection("patients").unwrap();
        patients.settings().set_retention(Retention::Versions(NonZeroU32::new(50).unwrap())).unwrap();
        let rev = patients.get("ada").unwrap().unwrap().rev;
        patients.attach("ada", Expect::Revision(rev), "scan", "image/png", &b"an attachment"[..]).unwrap();
        all_answer(&store, there);
        store.compact().unwrap();
        patients.put("ada", r#"{"name":"Ada","ill":"newest"}"#).unwrap();
        all_answer(&store, there);
        engine.backup_to(&backup.arc()).unwrap();
    }
    let old_keys = disk.content(FILE).unwrap();
    // A backup has a list of the keys, and none of them.
    assert!(backup.content(FILE).is_some_and(|list| list != old_keys));
    all_refuse(&open(&copy_of(&backup, None)).unwrap().store, there, "--collection-keys");
    let lost = copy_of(&backup, None);
    lost.lose(FILE);
    let said = ways(&open(&lost).unwrap().store, there).remove(0).1.unwrap_err();
    assert!(why(said).contains("too old to have this key"));
    let another = open(&lost).unwrap().store.create_collection_key("more", WITH_INDEXES).unwrap_err();
    assert!(why(another).contains("missing or too old") && lost.content(FILE).is_none());
    all_answer(&open(&copy_of(&backup, Some(&old_keys))).unwrap().store, there);
    {
        let Opened { store, .. } = open(&disk).unwrap();
        all_answer(&store, there);
        assert!(store.destroy_collection_key("patients").unwrap() > 80);
        is_gone(&store, there).unwrap();
        assert!(store.collection("menu").unwrap().get("pizza").unwrap().is_some());
        assert_eq!(store.check(At::Now).unwrap().problems, []);
        store.compact().unwrap();
        is_gone(&store, there).unwrap();
        // Again it does nothing, and the name is free, with a new key or without.
        store.destroy_collection_key("patients").unwrap();
        store.collection("patients").unwrap().put("eve", "{}").unwrap();
        store.drop_collection("patients").unwrap();
        store.create_collection_key("patients", WITH_INDEXES).unwrap();
        store.collection("patients").unwrap().put("bob", r#"{"name":"Bob"}"#).unwrap();
        is_gone_but_new(&store, there);
        assert!(store.collection("patients").unwrap().get("bob").unwrap().is_some());
    }
    {
        let Opened { store, .. } = open(&disk).unwrap();
        assert!(store.collection("patients").unwrap().get("bob").unwrap().is_some());
        assert_eq!(store.engine().verify().unwrap().problems, []);
    }
    let new_keys = disk.content(FILE).unwrap();
    let with_new = copy_of(&backup, Some(&new_keys));
    all_refuse(&open(&with_new).unwrap().store, there, "was destroyed at ");
    // The backup can be rid of it too.
    let Opened { store, .. } = open(&with_new).unwrap();
    store.destroy_collection_key("patients").unwrap();
    is_gone(&store, there).unwrap();
    // The backup has the first key; the second one is none of its.
    assert_eq!(store.collection_keys()[1].state, TreeKeyState::Here);
    drop(store);
    // Who has kept the file as it was can read the backup as before.
    all_answer(&open(&copy_of(&backup, Some(&old_keys))).unwrap().store, there);
}

/// The rows of the first key are gone, whatever has its name now.
fn is_gone_but_new(store: &Store, there: Seq) {
    assert!(store.collection_as_of("patients", At::Seq(there)).unwrap().get("ada").unwrap().is_none());
    assert_eq!(rows_of(&**store.engine(), KeyNumber::FIRST), []);
}

#[test]
fn keys_stay_with_copies_salvage_and_a_new_master_key() {
    let disk = SimDisk::new();
    let there;
    let copy = SimDisk::new();
    {
        let Opened { engine, store } = open(&disk).unwrap();
        there = fill(&store).unwrap();
        engine.copy_as_of(copy.arc(), engine.head(), options()).unwrap();
        let to_a_log = engine.seal("postgres://elsewhere").unwrap_err();
        assert!(to_a_log.to_string().contains("patients"), "{to_a_log}");
        let open_copy = engine.copy_as_of(SimDisk::new().arc(), there, NativeOptions { key: None, ..options() });
        assert!(open_copy.unwrap_err().to_string().contains("must be encrypted"));
    }
    let keys = disk.content(FILE).unwrap();
    all_refuse(&open(&copy_of(&copy, None)).unwrap().store, there, "--collection-keys");
    all_answer(&open(&copy_of(&copy, Some(&keys))).unwrap().store, there);
    // Rotating the master key writes KEYS alone, and the file of keys opens beside it.
    let (old, new) = (native::key(), Key::parse(&"5a".repeat(32)).unwrap());
    change_key(&disk.arc(), &old, &new).unwrap();
    assert_eq!(disk.content(FILE).unwrap(), keys);
    change_key(&disk.arc(), &new, &old).unwrap();
    recension::engine::native::add_key(&disk.arc(), &old).unwrap();
    all_answer(&open(&disk).unwrap().store, there);
    let saved = SimDisk::new();
    salvage(&disk.arc(), saved.arc(), options(), |_, _| ()).unwrap();
    all_answer(&open(&saved).unwrap().store, there);
    // The file of another store, half of it, and damaged.
    let other = SimDisk::new();
    open(&other).unwrap().store.create_collection_key("x", WITH_INDEXES).unwrap();
    let wrong = open(&copy_of(&disk, Some(&other.content(FILE).unwrap()))).err().unwrap();
    assert!(why(wrong).contains("that of another store"));
    for bytes in [&keys[..keys.len() / 2], &keys[..0]] {
        let found = copy_of(&disk, Some(bytes));
        let Err(Error::Engine(EngineError::Damaged { file, .. })) = open(&found) else { panic!() };
        assert_eq!((file.as_str(), found.content(FILE).unwrap()), (FILE, bytes.to_vec()));
    }
}

#[test]
fn what_cannot_have_a_key_is_refused_and_nothing_is_changed() {
    let plain = Store::memory().unwrap();
    assert!(matches!(
        plain.create_collection_key("x", WITH_INDEXES),
        Err(Error::Engine(EngineError::Unsupported { .. }))
    ));
    let Opened { store, .. } = open(&SimDisk::new()).unwrap();
    let menu = store.collection("menu").unwrap();
    menu.put("pizza", "{}").unwrap();
    assert!(why(store.create_collection_key("menu", WITH_INDEXES).unwrap_err()).contains("without a key"));
    assert!(why(store.destroy_collection_key("menu").unwrap_err()).contains("has no key"));
    assert_eq!(store.collection_keys(), []);
    // A dropped one is another: its past stays as it was.
    let seq = menu.put("pizza", "{}").unwrap().seq;
    store.drop_collection("menu").unwrap();
    store.create_collection_key("menu", CollectionKeyOptions::default()).unwrap();
    menu.put("pie", "{}").unwrap();
    store.destroy_collection_key("menu").unwrap();
    assert!(store.collection_as_of("menu", At::Seq(seq)).unwrap().get("pizza").unwrap().is_some());
    // No index of what the key does not seal, unless that is said.
    store.create_collection_key("people", CollectionKeyOptions::default()).unwrap();
    let people = store.collection("people").unwrap();
    let refused = people.create_index(IndexSpec::new("by-name", "name"), |_| {}).unwrap_err();
    assert!(matches!(&refused, Error::BadIndex { why, .. } if why.contains("--with-indexes")), "{refused}");
    assert!(people.indexes().unwrap().is_empty());
    store.create_collection_key("people", WITH_INDEXES).unwrap();
    people.create_index(IndexSpec::new("by-name", "name"), |_| {}).unwrap();
    let states: Vec<_> = store.collection_keys().into_iter().map(|key| (key.name, key.state)).collect();
    assert!(matches!(&states[0], (name, TreeKeyState::Destroyed(_)) if name == "menu"), "{states:?}");
    assert_eq!(states[1], ("people".to_owned(), TreeKeyState::Here));
    // Dropped and made again, it is sealed by the key all the same.
    people.put("ada", r#"{"name":"Ada"}"#).unwrap();
    store.drop_collection("people").unwrap();
    people.put("bob", r#"{"name":"Bob"}"#).unwrap();
    let number = store.collection_keys()[1].number;
    assert!(rows_of(&**store.engine(), number).iter().any(|(_, key)| key == b"bob"));
    store.destroy_collection_key("people").unwrap();
    assert_eq!(rows_of(&**store.engine(), number), []);
}

/// Returns whether the key was there, and whether it was destroyed.
fn crashed(found: &SimDisk, there: Option<Seq>, destroyed: bool) -> std::result::Result<(bool, bool), String> {
    let text = |error: Error| error.to_string();
    let Opened { store, .. } = open(found).map_err(text)?;
    let states: Vec<_> = store.collection_keys().into_iter().map(|key| key.state).collect();
    let patients = store.collection("patients").map_err(text)?;
    let is_destroyed = matches!(states.first(), Some(TreeKeyState::Destroyed(_)));
    match (is_destroyed, there) {
        (false, _) if destroyed => return Err("it was destroyed and is there".to_owned()),
        (false, Some(seq)) if patients.at(At::Seq(seq)).map_err(text)?.get("ada").map_err(text)?.is_none() => {
            return Err("what was acknowledged is not there".to_owned());
        }
        // It is gone, or known to be unreadable: never there.
        (true, Some(seq)) if patients.at(At::Seq(seq)).map_err(text)?.get("ada").is_ok_and(|found| found.is_some()) => {
            return Err("it was destroyed and can be read".to_owned());
        }
        _ => {}
    }
    // The same command goes on with it, whichever it was.
    if !is_destroyed {
        store.create_collection_key("patients", WITH_INDEXES).map_err(text)?;
        patients.put("ada", r#"{"name":"Ada"}"#).map_err(text)?;
    }
    store.destroy_collection_key("patients").map_err(text)?;
    is_gone(&store, there.unwrap_or(Seq(1)))?;
    store.compact().map_err(text)?;
    is_gone(&store, there.unwrap_or(Seq(1)))?;
    drop((patients, store));
    is_gone(&open(found).map_err(text)?.store, there.unwrap_or(Seq(1)))?;
    Ok((!states.is_empty(), is_destroyed))
}

#[test]
fn a_key_is_made_and_destroyed_wholly_or_not_at_all_after_a_crash_at_any_call() {
    for_seeds(1, |seed| {
        let mut rng = Rng::for_part(seed, 0xc0);
        let disk = SimDisk::new();
        let Opened { store, .. } = open(&disk).map_err(|error| error.to_string())?;
        store.collection("menu").and_then(|menu| menu.put("pizza", "{}")).map_err(|error| error.to_string())?;
        disk.record();
        let there = fill(&store).map_err(|error| error.to_string())?;
        let filled = disk.counters().total();
        store.destroy_collection_key("patients").map_err(|error| error.to_string())?;
        let destroyed = disk.counters().total();
        store.compact().map_err(|error| error.to_string())?;
        drop(store);
        let (mut made, mut gone, mut tried) = (0, 0, 0);
        for moment in disk.take_moments() {
            let dice = rng.next();
            // The filling is long, and much of it alike.
            if moment.call.number < filled && moment.call.number > 60 && !dice.is_multiple_of(5) {
                continue;
            }
            let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
            let found = if dice.is_multiple_of(3) { moment.process_crash() } else { moment.crash(dice, policy) };
            let acknowledged = (moment.call.number >= filled).then_some(there);
            let (had_key, was_destroyed) = crashed(&found, acknowledged, moment.call.number >= destroyed)
                .map_err(|what| format!("seed {seed}, {policy:?}, {dice:#x}, after {}: {what}", moment.call))?;
            (made, gone, tried) = (made + u64::from(had_key), gone + u64::from(was_destroyed), tried + 1);
        }
        if made == tried || gone < 10 || made == gone {
            return Err(format!("{tried} tried, {made} made, {gone} gone"));
        }
        Ok((made, gone))
    });
}
