//! What branches cost: a fork of a large store, reads and writes on a branch beside the main line, a difference and a
//! merge of 1,000 changes, and the main line with 1,000 branches.
//!
//! `cargo run --release --example branch_figures -- FOLDER 1000000`: the folder must be empty.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use recension::{At, Collection, ListOptions, MergeOptions, Result, Write};

const AT_ONCE: u64 = 1_000;
const BRANCHES: usize = 1_000;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "branch-figures.store".to_owned()));
    let documents: u64 = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(10_000);
    let store = recension::open(&folder.display().to_string())?;
    let main = store.collection("accounts")?;
    for first in (0..documents).step_by(AT_ONCE as usize) {
        write(&main, first..(first + AT_ONCE).min(documents), 0)?;
    }
    store.compact()?;
    let mut random = Random(7);
    let bytes = store.engine().stats()?.disk_bytes;
    let forks = medians(BRANCHES, |n| store.branch(&format!("fork{n}"), At::Now).map(drop))?;
    tell("fork", forks);
    println!("{:>24} {} bytes", "of which each", (store.engine().stats()?.disk_bytes - bytes) / BRANCHES as u64);
    for number in 0..BRANCHES {
        store.drop_branch(&format!("fork{number}"))?;
    }
    let idea = store.branch("idea", At::Now)?;
    let branch = idea.collection("accounts")?;
    write(&branch, 0..AT_ONCE, 1)?;
    write(&main, AT_ONCE..2 * AT_ONCE, 2)?;
    for (name, line) in [("main", &main), ("branch", &branch), ("main", &main), ("branch", &branch)] {
        reads(name, line, documents, &mut random)?;
    }
    let mut fresh = documents;
    for _ in 0..2 {
        for (name, line) in [("main", &main), ("branch", &branch)] {
            tell(
                &format!("fresh writes, {name}"),
                medians(20, |_| {
                    fresh += AT_ONCE;
                    write(line, fresh..fresh + AT_ONCE, 3)
                })?,
            );
        }
    }
    let other = store.branch("other", At::Now)?;
    write(&other.collection("accounts")?, 5_000..5_000 + AT_ONCE, 4)?;
    tell("diff", medians(5, |_| store.diff_with(&other)?.try_for_each(|found| found.map(drop)))?);
    tell("merge", medians(1, |_| store.merge_from(&other, &MergeOptions::default()).map(drop))?);
    reads("main of few", &main, documents, &mut random)?;
    for number in 0..BRANCHES {
        let branch = store.branch(&format!("many{number}"), At::Now)?;
        branch.collection("accounts")?.put("own", "{}")?;
    }
    reads("main of many", &main, documents, &mut random)?;
    tell(
        "writes, main of many",
        medians(20, |_| {
            fresh += AT_ONCE;
            write(&main, fresh..fresh + AT_ONCE, 5)
        })?,
    );
    Ok(())
}

fn reads(name: &str, line: &Collection, documents: u64, random: &mut Random) -> Result<()> {
    tell(&format!("get, {name}"), medians(20_000, |_| line.get(&id(random.below(documents))).map(drop))?);
    tell(
        &format!("100 in order, {name}"),
        medians(1_000, |_| {
            let from = id(random.below(documents.saturating_sub(100)));
            let options =
                ListOptions { start: std::ops::Bound::Included(from), limit: Some(100), ..ListOptions::default() };
            line.at(At::Now)?.list(&options)?.try_for_each(|found| found.map(drop))
        })?,
    );
    Ok(())
}

fn id(number: u64) -> String {
    format!("{number:012}")
}

/// One commit.
fn write(line: &Collection, numbers: std::ops::Range<u64>, version: u64) -> Result<()> {
    let body = |n: u64| format!(r#"{{"n":{n},"version":{version},"text":"{}"}}"#, "x".repeat(350));
    let writes = numbers.map(|n| Ok(Write::put(&id(n), body(n))?.expecting(recension::Expect::Anything)));
    for written in line.bulk(writes.collect::<Result<Vec<_>>>()?)? {
        written?;
    }
    Ok(())
}

/// The middle one of some times.
fn medians(count: usize, mut work: impl FnMut(usize) -> Result<()>) -> Result<Duration> {
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let began = Instant::now();
        work(number)?;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    Ok(times[count / 2])
}

fn tell(what: &str, time: Duration) {
    println!("{what:>24} {:.1} us", time.as_secs_f64() * 1e6);
}

/// Numbers by xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) % n.max(1)
    }
}
