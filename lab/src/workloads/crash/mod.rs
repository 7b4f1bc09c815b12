//! The suite `crash`: how much is left of acknowledged commits after the process is killed, and after the power fails.
//! A library that is preloaded into the worker (`power_loss.c`) simulates loss of power. It is built here with the
//! system's C compiler. It keeps a second image of the store, which gets only synced data.

use std::path::{Path, PathBuf};
use std::process::Command as Program;

use super::bench::{Member, empty_dir, remove_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::subjects::{FLOOR, Kind, OpenOptions, Tier, kinds};
use crate::worker::acknowledged::{Acknowledge, Found, counted};
use crate::worker::{Command, Launch, Loss, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "crash",
    what: "acknowledged commits that are gone after kill -9, and after a loss of power: every embedded store",
    kinds: || kinds().into_iter().filter(stores).collect(),
    usual: &["recension", "sqlite", "lmdb", "redb", "fjall", "surrealkv", "nebari", "sled"],
    sittings: 1,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 6] = [
    Operation::count("kill_lost", "acknowledged commits that were gone after kill -9 of the process", 30),
    Operation::count(
        "kill_broken",
        "after the same: commits there by half, rows that nobody wrote, stores that did not open",
        30,
    ),
    Operation::count(
        "power_lost",
        "acknowledged commits that were gone after a loss of power that drops all that was not synced",
        30,
    ),
    Operation::count(
        "power_broken",
        "after the same: commits there by half, rows that nobody wrote, stores that did not open",
        30,
    ),
    Operation::count(
        "torn_lost",
        "acknowledged commits gone after a loss of power that keeps random sectors of what was not synced",
        30,
    ),
    Operation::count(
        "torn_broken",
        "after the same: commits there by half, rows that nobody wrote, stores that did not open",
        30,
    ),
];

const SHIM: &str = include_str!("power_loss.c");

/// Whether a subject keeps rows in files.
fn stores(kind: &Kind) -> bool {
    kind.name != FLOOR && kind.persistent
}

fn everybody(_: &Kind) -> bool {
    true
}

/// The way the process ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Killed,
    PowerLost,
    Torn,
}

impl End {
    /// The greatest durability that a subject can have if it lost commits in this way.
    fn shown(self) -> (Tier, &'static str) {
        match self {
            End::Killed => (Tier::T0, "labelled by what was seen: kill -9 took acknowledged commits"),
            End::PowerLost | End::Torn => {
                (Tier::T1, "labelled by what was seen: a loss of power took or broke acknowledged commits")
            }
        }
    }
}

struct Sizes {
    rounds: u64,
    commits: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let commits = plan.rows.unwrap_or(300).clamp(10, 100_000);
        // A trial of the laboratory itself, as in its tests: every step, and few of them.
        let trial = commits < 200;
        Sizes { rounds: if trial { 3 } else { plan.pick(12, 24, 60) }, commits }
    }

    fn words(&self) -> String {
        format!(
            "of each kind {} crashes, each within {} commits of two rows, from one thread and from four in turns; a \
             store goes on from crash to crash; moments of the crash are drawn, that of power among all calls that \
             write, sync or name files, recovery's too; names become durable with the next sync of anything, as ext4 \
             has it",
            self.rounds, self.commits
        )
    }
}

/// The results of all crashes of one kind.
#[derive(Default)]
struct Tally {
    acknowledged: u64,
    lost: u64,
    broken: u64,
    words: Vec<String>,
}

impl Tally {
    fn say(&mut self, words: String) {
        if self.words.len() < 3 && !self.words.contains(&words) {
            self.words.push(words);
        }
    }

    fn note(&self, rounds: u64) -> String {
        let mut note = format!("of {} acknowledged in {rounds} crashes", self.acknowledged);
        for words in &self.words {
            note.push_str("; ");
            note.push_str(words);
        }
        note
    }
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let sizes = Sizes::of(plan);
    let shim = build(&plan.dir);
    let mut lossy = Vec::new();
    for (end, names) in [
        (End::Killed, ["kill_lost", "kill_broken"]),
        (End::PowerLost, ["power_lost", "power_broken"]),
        (End::Torn, ["torn_lost", "torn_broken"]),
    ] {
        let mut tallies: Vec<(&'static str, Tally)> = Vec::new();
        let seed = bench.random.number();
        bench.single(names[0], everybody, |member| {
            let shim = match (&shim, end) {
                (_, End::Killed) => None,
                (Ok(file), _) => Some(file.as_path()),
                (Err(reason), _) => return Err(LabError::Unavailable { reason: reason.clone() }),
            };
            let tally = crashes(plan, member, end, shim, &sizes, seed)?;
            let (lost, note) = (tally.lost, tally.note(sizes.rounds));
            let (tier, words) = end.shown();
            if lost + tally.broken > 0 && member.kind.tier > tier {
                (member.kind.tier, member.kind.tier_note) = (tier, Some(words));
                lossy.push((member.kind.name, tier));
            }
            tallies.push((member.kind.name, tally));
            Ok((as_f64(lost as usize), Some(note)))
        })?;
        bench.single(names[1], everybody, |member| {
            match tallies.iter().find(|(name, _)| *name == member.kind.name) {
                Some((_, tally)) => Ok((as_f64(tally.broken as usize), None)),
                None => {
                    Err(LabError::Unavailable { reason: shim.clone().err().unwrap_or_else(|| "see above".to_owned()) })
                }
            }
        })?;
    }
    for (name, tier) in lossy {
        for row in bench.all_rows().filter(|row| row.subject == name) {
            row.tier = format!("{tier:?}");
        }
    }
    bench.remove(everybody)
}

/// Builds the preloaded library. If that fails, returns the reason.
fn build(dir: &Path) -> std::result::Result<PathBuf, String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err("losses of power are made on x86-64 Linux only".to_owned());
    }
    let (source, library) = (dir.join("power_loss.c"), dir.join("power_loss.so"));
    std::fs::write(&source, SHIM).map_err(|error| format!("writing {}: {error}", source.display()))?;
    let built = Program::new("cc").args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(&source).output();
    match built {
        Ok(output) if output.status.success() => Ok(library),
        Ok(output) => {
            Err(format!("what is preloaded does not build: {}", String::from_utf8_lossy(&output.stderr).trim()))
        }
        Err(error) => Err(format!("there is no C compiler ({error}); `apt-get install gcc libc6-dev`")),
    }
}

fn options() -> OpenOptions {
    OpenOptions { history: false, cache_bytes: 16 << 20 }
}

/// All crashes of one kind of one subject.
fn crashes(plan: &Plan, member: &mut Member, end: End, shim: Option<&Path>, sizes: &Sizes, seed: u64) -> Result<Tally> {
    let mut random = crate::data::Random::new(seed);
    let base = plan.dir.join(format!("{end:?}")).join(member.kind.name);
    empty_dir(&base)?;
    let mut tally = Tally::default();
    let mut before: Vec<u64> = Vec::new();
    let mut calls = 0;
    member.dir = base.join("0");
    empty_dir(&member.dir)?;
    for round in 0..=sizes.rounds {
        // One thread makes the most calls. A moment that is drawn among its calls may therefore be after the end of
        // four threads' work: then the crash comes when all is done.
        let threads = if round % 2 == 0 && round > 0 { 4 } else { 1 };
        // Threads that pause keep their rows; each has its own.
        let mut from = before.clone();
        from.resize(from.len().max(threads), 0);
        let crash = Crash {
            counts: base.join("counts"),
            events: base.join("events"),
            shadow: base.join(format!("{}", round + 1)),
            commits: sizes.commits,
        };
        let _ = std::fs::remove_file(&crash.counts);
        let _ = std::fs::remove_file(&crash.events);
        // The first round only counts the calls, and its end is not a crash.
        let cut = (round > 0).then(|| match end {
            End::Killed => drawn(&mut random, (round, sizes.rounds), sizes.commits),
            End::PowerLost | End::Torn => drawn(&mut random, (round, sizes.rounds), calls),
        });
        let survives = if end == End::Torn { random.number() | 1 } else { 0 };
        crash.go(plan, member, (end, cut, survives), shim, &from, threads)?;
        if shim.is_some() {
            if round == 0 {
                calls = read_number(&crash.events).max(1);
            } else {
                remove_dir(&member.dir)?;
                member.dir = crash.shadow.join("tree");
            }
        }
        let acknowledged = counted_or(&crash.counts, &from);
        let fresh = || base.join(format!("fresh-{round}"));
        match look(plan, member, &acknowledged) {
            Ok(found) => {
                if round > 0 {
                    tally.acknowledged += acknowledged.iter().zip(&from).map(|(now, then)| now - then).sum::<u64>();
                    tally.lost += found.lost;
                    tally.broken += found.broken;
                }
                if found.lost + found.broken > 0 {
                    begin_anew(member, &mut before, fresh())?;
                } else {
                    before = found.upto;
                }
            }
            Err(error) => {
                tally.acknowledged += acknowledged.iter().zip(&from).map(|(now, then)| now - then).sum::<u64>();
                tally.broken += 1;
                tally.say(format!("a store did not open: {error}"));
                begin_anew(member, &mut before, fresh())?;
            }
        }
    }
    remove_dir(&base)?;
    Ok(tally)
}

/// A moment within the round's own part of all that there are, so that early and late ones all have their turn.
fn drawn(random: &mut crate::data::Random, (round, rounds): (u64, u64), all: u64) -> u64 {
    let (from, to) = (all * (round - 1) / rounds, all * round / rounds);
    1 + from + random.below((to - from).max(1))
}

fn begin_anew(member: &mut Member, before: &mut Vec<u64>, dir: PathBuf) -> Result<()> {
    before.clear();
    member.dir = dir;
    empty_dir(&member.dir)
}

/// The counts. If a process ended before it began to count, the counts from before.
fn counted_or(counts: &Path, from: &[u64]) -> Vec<u64> {
    if counts.exists() { counted(counts, from.len()) } else { from.to_vec() }
}

fn read_number(file: &Path) -> u64 {
    let bytes = std::fs::read(file).unwrap_or_default();
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// One crash.
struct Crash {
    counts: PathBuf,
    events: PathBuf,
    shadow: PathBuf,
    commits: u64,
}

impl Crash {
    /// Opens the store, commits, and ends as asked. Without a moment all commits are made.
    fn go(
        &self,
        plan: &Plan,
        member: &mut Member,
        (end, cut, survives): (End, Option<u64>, u64),
        shim: Option<&Path>,
        from: &[u64],
        threads: usize,
    ) -> Result<()> {
        let launch = match shim {
            None => Launch::Plain,
            Some(library) => {
                empty_dir(&self.shadow)?;
                for folder in ["tree", "data"] {
                    empty_dir(&self.shadow.join(folder))?;
                }
                Launch::Losing(Loss {
                    library: library.to_owned(),
                    root: member.dir.clone(),
                    shadow: self.shadow.clone(),
                    events: self.events.clone(),
                    cut_at: cut.unwrap_or(0),
                    survives,
                })
            }
        };
        start(plan, member, &launch)?;
        let opened = member.ask(&Command::Open {
            subject: member.kind.name.to_owned(),
            dir: member.dir.clone(),
            options: options(),
            rows: 0,
        });
        let ended = opened.and_then(|reply| {
            member.settings = member.settings.take().or(reply.settings);
            member.ask(&Command::Acknowledge(Acknowledge {
                from: from.to_vec(),
                threads,
                count: self.commits,
                counts: self.counts.clone(),
                kill_after: cut.filter(|_| end == End::Killed),
            }))
        });
        let worker = member.worker.take();
        match ended {
            // It was killed, by itself, when it was its time.
            Err(LabError::Worker { what }) if cut.is_some() && what.contains("signal: 9") => Ok(()),
            // The preloaded library has given up, and has printed the reason.
            Err(LabError::Worker { what }) if what.contains("exit status: 86") => {
                Err(LabError::Unavailable { reason: what })
            }
            Err(error) => Err(error),
            // It ran on to the end, by fewer calls than were counted before; the store is not closed, the process ends.
            Ok(_) => {
                worker.into_iter().for_each(Worker::kill);
                Ok(())
            }
        }
    }
}

/// Opens the store as it is now and compares it with what was acknowledged.
fn look(plan: &Plan, member: &mut Member, acknowledged: &[u64]) -> Result<Found> {
    start(plan, member, &Launch::Plain)?;
    let opened = member.ask(&Command::Open {
        subject: member.kind.name.to_owned(),
        dir: member.dir.clone(),
        options: options(),
        rows: 0,
    });
    let found = opened.and_then(|_| member.ask(&Command::Look { acknowledged: acknowledged.to_vec() }));
    let closed = found.and_then(|reply| member.ask(&Command::Close).map(|_| reply.found.unwrap_or_default()));
    member.worker.take().into_iter().for_each(Worker::end);
    closed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_drawn_from_the_whole_and_each_round_has_its_part() {
        let mut random = crate::data::Random::new(5);
        for all in [1, 2, 7, 100] {
            let drawn: Vec<u64> = (1..=4).map(|round| drawn(&mut random, (round, 4), all)).collect();
            assert!(drawn.is_sorted() && drawn.iter().all(|moment| (1..=all).contains(moment)), "{drawn:?} of {all}");
        }
        assert!(drawn(&mut random, (4, 4), 100) > 75);
    }
}
