//! Keys, what expires and consumers on the native engine, crashed at every disk call: what was acknowledged is there,
//! together with the documents of its transaction; what has expired is gone and takes nothing else with it; and
//! consumers are handed each message until it is acknowledged, and then no more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use recension::engine::{ManualClock, Timestamp};
use recension::{At, ConsumerOptions, Delivery, Expiry, KeyValue, Keys, Result as StoreResult, SetOptions, Store};
use recension_conformance::crash::{for_seeds, native};
use recension_conformance::sim::{CrashPolicy, Moment, Rng, SimDisk};

const BEGINNING: u64 = 1_000_000_000_000;
const SECOND: u64 = 1_000_000;
/// Longer than anything here lives.
const AGES: u64 = 1_000_000 * SECOND;

/// What the store says after an operation.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
struct State {
    /// The values of keys, and when they expire.
    keys: BTreeMap<String, (i64, Option<u64>)>,
    /// The number that a document and a key have in common.
    both: i64,
    published: BTreeSet<String>,
    acknowledged: BTreeSet<String>,
    /// The time then.
    now: u64,
}

impl State {
    /// The keys that are there at a moment.
    fn living(&self, now: u64) -> BTreeMap<String, i64> {
        let lives = |(_, (_, expires)): &(&String, &(i64, Option<u64>))| expires.is_none_or(|expires| expires > now);
        self.keys.iter().filter(lives).map(|(key, (value, _))| (key.clone(), *value)).collect()
    }
}

struct Run {
    store: Store,
    clock: Arc<ManualClock>,
    rng: Rng,
    state: State,
    held: Vec<Delivery>,
}

fn open(disk: &SimDisk, clock: &Arc<ManualClock>) -> Result<Store, String> {
    let engine = native::small(disk.arc(), clock.clone()).map_err(|error| format!("it does not open: {error}"))?;
    Store::with_clock(engine, clock.clone()).map_err(|error| error.to_string())
}

fn keys(store: &Store) -> StoreResult<Keys> {
    store.keys("k")
}

fn consumer(store: &Store) -> StoreResult<recension::Consumer> {
    store.collection("jobs")?.consumer("worker", ConsumerOptions::new())
}

impl Run {
    /// One operation, each of which is one commit.
    fn step(&mut self) -> StoreResult<()> {
        let Run { store, rng, state, .. } = self;
        self.clock.advance(1 + rng.below(3 * SECOND));
        state.now = recension::engine::Clock::now(&*self.clock).0;
        let now = state.now;
        let key = format!("k{}", rng.below(6));
        state.keys.retain(|_, (_, expires)| expires.is_none_or(|expires| expires > now));
        match rng.below(10) {
            0 | 1 => {
                let seconds = 1 + rng.below(10);
                let options = SetOptions::new().expiry(Expiry::After(Duration::from_secs(seconds)));
                let value = rng.below(100).cast_signed();
                keys(store)?.set_with(&key, value, &options)?;
                state.keys.insert(key, (value, Some(now + seconds * SECOND)));
            }
            2 => {
                keys(store)?.set(&key, 7)?;
                state.keys.insert(key, (7, None));
            }
            3 => {
                keys(store)?.increment(&key, 1)?;
                state.keys.entry(key).or_insert((0, None)).0 += 1;
            }
            4 => {
                keys(store)?.remove(&key)?;
                state.keys.remove(&key);
            }
            5 => {
                let both = state.both + 1;
                store.transaction(|tx| {
                    tx.keys("k")?.set("both", both)?;
                    tx.collection("c")?.put("both", format!("{{\"n\":{both}}}"))
                })?;
                state.both = both;
            }
            6 | 7 => {
                let id = format!("job{}", state.published.len());
                store.collection("jobs")?.put(&id, "{}")?;
                state.published.insert(id);
            }
            8 => self.held.extend(consumer(store)?.receive(2)?),
            _ => {
                if let Some(delivery) = self.held.pop()
                    && consumer(store)?.acknowledge(&delivery)?
                {
                    state.acknowledged.insert(delivery.id);
                }
            }
        }
        Ok(())
    }
}

/// The integers of the namespace, but for the one that a document has, too.
fn found_keys(store: &Store) -> Result<(BTreeMap<String, i64>, i64), String> {
    let scanned = keys(store).and_then(|keys| keys.scan("", None, 100)).map_err(|error| error.to_string())?;
    let (mut found, mut both) = (BTreeMap::new(), 0);
    for (key, entry) in scanned {
        let KeyValue::Integer(value) = entry.value else { return Err(format!("{entry:?} is no integer")) };
        let key = String::from_utf8_lossy(&key).into_owned();
        if key == "both" {
            both = value;
        } else {
            found.insert(key, value);
        }
    }
    Ok((found, both))
}

/// Checks what is there after a crash at which `floor` had been acknowledged, and `next` begun.
fn check(store: &Store, clock: &ManualClock, floor: &State, next: &State) -> Result<(), String> {
    let text = |error: recension::Error| error.to_string();
    let (found, both) = found_keys(store)?;
    let now = floor.now;
    if found != floor.living(now) && found != next.living(now) {
        return Err(format!("{found:?}, and neither {:?} nor {:?}", floor.living(now), next.living(now)));
    }
    let document = store.collection("c").and_then(|c| c.get("both")).map_err(text)?;
    let number = document.map_or(Ok(0), |document| document.body[5..document.body.len() - 1].parse::<i64>());
    if number != Ok(both) || ![floor.both, next.both].contains(&both) {
        return Err(format!("the document has {number:?}, the key {both}: {} or {}", floor.both, next.both));
    }
    // Ages later, what expires has; what is written anew stays, whatever was swept.
    clock.set(Timestamp(now + AGES));
    let forever = |state: &State| state.living(now + 2 * AGES);
    let (found, _) = found_keys(store)?;
    if found != forever(floor) && found != forever(next) {
        return Err(format!("ages later {found:?}, and neither {:?} nor {:?}", forever(floor), forever(next)));
    }
    for key in floor.keys.keys().chain(next.keys.keys()) {
        keys(store).and_then(|keys| keys.set(key, 1)).map_err(text)?;
    }
    keys(store).and_then(|keys| keys.sweep()).map_err(text)?;
    let (found, _) = found_keys(store)?;
    if let Some(lost) = floor.keys.keys().find(|key| !found.contains_key(*key)) {
        return Err(format!("a sweep took {lost}, which had been written anew"));
    }
    if keys(store).and_then(|keys| keys.sweep()).map_err(text)? != 0 {
        return Err("a second sweep finds something".to_owned());
    }
    // What was not acknowledged is handed out once more, and nothing else is.
    let mut handed = BTreeMap::<String, u32>::new();
    let worker = consumer(store).map_err(text)?;
    loop {
        let deliveries = worker.receive(3).map_err(text)?;
        if deliveries.is_empty() {
            break;
        }
        for delivery in deliveries {
            worker.acknowledge(&delivery).map_err(text)?;
            *handed.entry(delivery.id).or_default() += 1;
        }
    }
    let jobs = store.collection("jobs").map_err(text)?;
    for id in &next.published {
        let there = jobs.get(id).map_err(text)?.is_some();
        let times = handed.get(id).copied().unwrap_or_default();
        let expected = match (there, floor.acknowledged.contains(id), next.acknowledged.contains(id)) {
            (false, ..) if floor.published.contains(id) => return Err(format!("{id} is lost")),
            (false, ..) | (true, true, _) => 0..=0,
            (true, false, true) => 0..=1,
            (true, false, false) => 1..=1,
        };
        if !expected.contains(&times) {
            return Err(format!("{id} was handed out {times} times, and not {expected:?}"));
        }
    }
    let problems = store.check(At::Now).map_err(text)?.problems;
    if problems.is_empty() { Ok(()) } else { Err(format!("{problems:?}")) }
}

fn run(seed: u64) -> Result<u64, String> {
    let text = |error: recension::Error| error.to_string();
    let disk = SimDisk::new();
    let clock = Arc::new(ManualClock::new(Timestamp(BEGINNING)));
    let store = open(&disk, &clock)?;
    // What is made once is there: namespaces and collections.
    keys(&store).and_then(|keys| keys.set("both", 0)).map_err(text)?;
    store.collection("c").and_then(|c| c.put("both", "{\"n\":0}")).map_err(text)?;
    store.collection("jobs").and_then(|jobs| jobs.put("first", "{}")).map_err(text)?;
    let first = consumer(&store).and_then(|worker| worker.receive(1)).map_err(text)?;
    consumer(&store).and_then(|worker| worker.acknowledge(&first[0])).map_err(text)?;
    disk.record();
    let state = State { now: BEGINNING, ..State::default() };
    let mut run = Run { store, clock, rng: Rng::for_part(seed, 0x6b), state, held: first };
    let mut states = vec![(0, run.state.clone())];
    for _ in 0..40 {
        run.step().map_err(text)?;
        states.push((disk.counters().total(), run.state.clone()));
    }
    let moments = disk.take_moments();
    let mut rng = run.rng.clone();
    drop(run);
    let mut crashes = 0;
    for moment in moments {
        let number = moment.call.number;
        let at = states.partition_point(|(calls, _)| *calls <= number).saturating_sub(1);
        let (floor, next) = (&states[at].1, &states[(at + 1).min(states.len() - 1)].1);
        let policy = CrashPolicy::ALL[rng.index(CrashPolicy::ALL.len())];
        let dice = rng.next();
        let found = |moment: &Moment| {
            let clock = Arc::new(ManualClock::new(Timestamp(floor.now)));
            let store = open(&moment.crash(dice, policy), &clock)?;
            check(&store, &clock, floor, next)
        };
        found(&moment)
            .map_err(|what| format!("seed {seed}, {policy:?}, dice {dice:#x}, after {}: {what}", moment.call))?;
        crashes += 1;
    }
    Ok(crashes)
}

#[test]
fn keys_expiry_and_consumers_are_as_they_were_acknowledged_after_a_crash_at_any_call() {
    for_seeds(2, |seed| {
        let crashes = run(seed)?;
        if crashes < 50 { Err(format!("only {crashes} crashes")) } else { Ok(crashes) }
    });
}
