//! A run from the command line to the files: what to measure, whether it can be measured here, the calibrations before
//! and after, the report.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::custom_workload::Workload;
use crate::error::{LabError, Result};
use crate::measure::calibrate::{Calibration, calibrate};
use crate::measure::stats::as_f64;
use crate::measure::{budget, filesystem, processor, quiet, trace};
use crate::output::{self, say};
use crate::report::{Report, SubjectInfo, csv, html, markdown, record, table, units};
use crate::servers::no_compiler;
use crate::subjects::{Given, named};
use crate::workloads::bench::{Member, empty_dir, remove_dir};
use crate::workloads::progress::Progress;
use crate::workloads::{Bench, Mode, Plan, SUITES, Suite, suite};

/// The load average above which `doctor` calls a machine busy.
const LOAD_MAX: f64 = 0.5;
/// How long a full run waits for a quiet machine, and how long another one does.
const WAIT_SECONDS: (u64, u64) = (600, 60);
/// A run of fewer rows is a trial of the laboratory itself, and waits for nothing.
const TRIAL_ROWS: u64 = 1000;
/// What figures are of, within the repository.
const MEASURED: [&str; 5] = ["crates", "lab/src", "Cargo.lock", "lab/Cargo.lock", "lab/external"];

/// What is to be run.
#[derive(Args)]
pub struct RunArgs {
    /// The suites.
    #[arg(required = true)]
    suites: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// How it is to be run.
#[allow(clippy::struct_excessive_bools)] // switches of a command line
#[derive(Args)]
pub struct How {
    /// About two minutes a suite; without it some minutes.
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// Tens of minutes: in sittings, and with more rows than memory is given for.
    #[arg(long)]
    full: bool,
    /// How often all of it is done, with new processes and new stores; seven times in full runs of all suites but
    /// `crash`.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=99))]
    sittings: Option<u8>,
    /// Another number of rows.
    #[arg(long)]
    rows: Option<u64>,
    /// The budget of memory for the rows that are beyond memory, of which three times as much is stored; full runs have
    /// one.
    #[arg(long, value_name = "MIB")]
    budget: Option<u64>,
    /// Only these subjects, with commas between.
    #[arg(long, value_delimiter = ',')]
    subjects: Vec<String>,
    /// All subjects but these, with commas between. One that a database system is missing for, and that is not left
    /// out, makes the exit code 5.
    #[arg(long, value_delimiter = ',', conflicts_with = "subjects")]
    without: Vec<String>,
    /// The workload of the suite `mine`: a TOML file; lab/workloads/ has two examples.
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
    #[command(flatten)]
    given: Given,
    /// Where the stores lie while they are measured.
    #[arg(long, default_value = "target/lab/data")]
    dir: PathBuf,
    /// Where the reports go.
    #[arg(long, default_value = "target/lab")]
    out: PathBuf,
    /// Of every random choice.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Records the figures in the repository at ROOT (docs/benchmarks/ and BENCHMARKS.md), if the run was not ended
    /// early.
    #[arg(long, value_name = "ROOT")]
    record: Option<PathBuf>,
    /// Measures on a filesystem in memory, too; no figure is then called durable.
    #[arg(long)]
    any_filesystem: bool,
    /// How long to wait for a quiet machine before the run, and before a sitting that was disturbed is done again. 0:
    /// no waiting, and nothing is done again. Full runs wait for 600 seconds at most, others for 60.
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
    /// No progress.
    #[arg(long)]
    silent: bool,
}

/// Runs the suites; returns the exit code.
pub fn run(args: &RunArgs) -> Result<u8> {
    run_suites(&args.suites, &args.how)
}

/// The same of suites that are known.
pub fn run_suites(suites: &[impl AsRef<str>], args: &How) -> Result<u8> {
    let suites = suites.iter().map(|name| suite(name.as_ref())).collect::<Result<Vec<_>>>()?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // The first one ends the run in order, the second one at once.
        signal_hook::flag::register_conditional_shutdown(signal, 130, stop.clone())
            .and_then(|_| signal_hook::flag::register(signal, stop.clone()))
            .map_err(LabError::io("listening for Ctrl-C"))?;
    }
    let mut missing = Vec::new();
    for suite in suites {
        let report = run_suite(args, suite, &stop)?;
        let file = args.out.join(format!("{}.json", suite.name));
        report.write(&file)?;
        write(&file.with_extension("md"), &markdown::render(&report))?;
        write(&file.with_extension("csv"), &csv::render(&report))?;
        write(&file.with_extension("html"), &html::render(&report))?;
        let recorded = args.record.as_ref().filter(|_| !report.interrupted);
        if let Some(root) = recorded {
            record::record(root, &report)?;
        }
        match print_report(&report, &file, recorded) {
            // Further measurements are still written into files.
            Err(LabError::ClosedPipe) => {}
            printed => printed?,
        }
        if report.interrupted {
            return Err(LabError::Interrupted);
        }
        missing.extend(report.subjects.iter().filter_map(missing_system));
    }
    if missing.is_empty() {
        return Ok(0);
    }
    eprintln!("recension-lab: {}; install what is missing, or leave it out with --without", missing.join("; "));
    Ok(MISSING)
}

/// The code that a run ends with if a database system was missing and nobody had left it out.
const MISSING: u8 = 5;

/// The packages of the systems that stores on shared logs are measured with.
const SYSTEMS: [&str; 3] = ["postgresql", "mariadb-server", "etcd-server"];

/// The reason in the report for a subject that was not measured because its system is not installed.
fn missing_system(subject: &SubjectInfo) -> Option<String> {
    let reason = subject.reason.as_ref()?;
    let is_system = SYSTEMS.iter().any(|package| reason.contains(&format!("apt-get install {package}")));
    is_system.then(|| format!("{} was not measured: {reason}", subject.name))
}

fn print_report(report: &Report, file: &Path, record: Option<&PathBuf>) -> Result<()> {
    output::print(format_args!("{}", table::render(report)))?;
    say!("{} (also .html, .md and .csv)", file.display())?;
    record.map_or(Ok(()), |root| say!("recorded in {}/docs/benchmarks and BENCHMARKS.md", root.display()))
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).map_err(LabError::io(format!("writing {}", file.display())))
}

fn plan(args: &How, suite: &Suite) -> Result<Plan> {
    for name in &args.without {
        named((suite.kinds)(), name, |kind| kind.name)?;
    }
    let names: Vec<&str> = if args.subjects.is_empty() {
        suite.usual.to_vec()
    } else {
        args.subjects.iter().map(String::as_str).collect()
    };
    std::fs::create_dir_all(&args.dir).map_err(LabError::io(format!("making {}", args.dir.display())))?;
    let dir = args.dir.canonicalize().map_err(LabError::io(format!("finding {}", args.dir.display())))?;
    let on = filesystem::name(&dir)?;
    let on_memory_filesystem = filesystem::is_in_memory(&on);
    if on_memory_filesystem && !args.any_filesystem {
        return Err(LabError::Usage {
            what: format!(
                "{} is on {on}, where a sync reaches no disk: no durable figure can be taken there. Give --dir on a \
                 disk, or --any-filesystem for figures that are not called durable",
                dir.display()
            ),
        });
    }
    Ok(Plan {
        mode: mode(args),
        sittings: args.sittings.map_or(if args.full { suite.sittings } else { 1 }, usize::from),
        rows: args.rows,
        budget_bytes: args.budget.map(|mib| mib.saturating_mul(1 << 20)),
        subjects: names
            .into_iter()
            .filter(|name| !args.without.iter().any(|left| left == name))
            .map(|name| named((suite.kinds)(), name, |kind| kind.name))
            .collect::<Result<_>>()?,
        given: args.given.clone(),
        workload: args.workload.as_deref().map(Workload::read).transpose()?,
        // A directory of this run's own: two runs, or a file of somebody's, are never in its way.
        dir: dir.join(format!("run-{}", std::process::id())),
        program: std::env::current_exe().map_err(LabError::io("finding this program"))?,
        seed: args.seed,
        wait: Duration::from_secs(args.wait.unwrap_or(match args.rows {
            Some(..TRIAL_ROWS) => 0,
            _ if args.full => WAIT_SECONDS.0,
            _ => WAIT_SECONDS.1,
        })),
        on_memory_filesystem,
    })
}

fn run_suite(args: &How, suite: &'static Suite, stop: &Arc<AtomicBool>) -> Result<Report> {
    let plan = plan(args, suite)?;
    empty_dir(&plan.dir)?;
    let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let busy = match plan.wait {
        Duration::ZERO => None,
        most => quiet::wait(most, |why| {
            if !args.silent {
                eprintln!("recension-lab: waiting for a quiet machine: {why}");
            }
        }),
    };
    let begin = Instant::now();
    let before = calibrate(&plan.dir)?;
    let progress = if args.silent { Progress::silent() } else { Progress::new(Bench::units(&plan, suite)) };
    let mut bench = Bench::new(&plan, suite, stop.clone(), progress);
    let ended = bench.run(before.sync_ns);
    bench.finish();
    processor::remove_abandoned();
    let interrupted = matches!(ended, Err(LabError::Interrupted));
    let after = if interrupted { None } else { calibrate(&plan.dir).ok() };
    let removed = remove_dir(&plan.dir);
    if !interrupted {
        ended?;
        removed?;
    }
    Ok(Report {
        suite: suite.name.to_owned(),
        mode: plan.mode_name().to_owned(),
        command: command(args, suite),
        started,
        took_seconds: begin.elapsed().as_secs_f64(),
        interrupted,
        warnings: warnings(&plan, &before, after.as_ref(), busy, std::mem::take(&mut bench.disturbed)),
        commit: commit(),
        sizes: sizes(&plan, suite),
        sittings: plan.sittings,
        calibration: before,
        calibration_after: after,
        subjects: bench.members.iter().map(info).collect(),
        operations: suite.operations.iter().map(crate::workloads::Operation::info).collect(),
        results: in_order(suite, bench.into_rows()),
    })
}

/// The sizes of a run, in words.
fn sizes(plan: &Plan, suite: &Suite) -> String {
    let sitting = (suite.sizes)(plan);
    if plan.sittings > 1 { format!("in each of {} sittings {sitting}", plan.sittings) } else { sitting }
}

/// The rows in the order of the suite's operations.
fn in_order(suite: &Suite, mut rows: Vec<crate::report::Row>) -> Vec<crate::report::Row> {
    let place = |name: &str| suite.operations.iter().position(|operation| operation.name == name);
    rows.sort_by_key(|row| place(&row.operation));
    rows
}

fn info(member: &Member) -> SubjectInfo {
    SubjectInfo {
        name: member.kind.name.to_owned(),
        what: member.kind.what.to_owned(),
        version: (member.kind.version)(),
        tier: format!("{:?}", member.kind.tier),
        tier_note: member.kind.tier_note.map(str::to_owned),
        floor: member.kind.floor,
        settings: member.settings.clone(),
        syncs: member.syncs.clone(),
        reason: member.reason.clone(),
    }
}

fn mode(args: &How) -> Mode {
    match (args.quick, args.full) {
        (true, _) => Mode::Quick,
        (_, true) => Mode::Full,
        _ => Mode::Usual,
    }
}

fn command(args: &How, suite: &Suite) -> String {
    let [_, switch, variable] = mode(args).names();
    if args.rows.is_none()
        && args.subjects.is_empty()
        && args.without.is_empty()
        && args.workload.is_none()
        && args.budget.is_none()
        && args.sittings.is_none()
    {
        return format!("make bench SUITE={}{variable}", suite.name);
    }
    let rows = args.rows.map(|rows| format!(" --rows {rows}")).unwrap_or_default();
    let subjects =
        if args.subjects.is_empty() { String::new() } else { format!(" --subjects {}", args.subjects.join(",")) };
    let without = args.without.join(",");
    let without = if without.is_empty() { without } else { format!(" --without {without}") };
    let workload = args.workload.as_ref().map(|file| format!(" --workload {}", file.display())).unwrap_or_default();
    let budget = args.budget.map(|mib| format!(" --budget {mib}")).unwrap_or_default();
    let sittings = args.sittings.map(|sittings| format!(" --sittings {sittings}")).unwrap_or_default();
    format!(
        "cargo run --release --manifest-path lab/Cargo.toml --features peers -- run \
         {}{switch}{sittings}{workload}{rows}{subjects}{without}{budget}",
        suite.name
    )
}

/// The commit that is measured, if the laboratory lies in its repository.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = std::process::Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&[&["diff", "--name-only", "HEAD", "--"], &MEASURED[..]].concat())?;
    let also = if changed.is_empty() { "" } else { " with changes" };
    Some(git(&["rev-parse", "--short=10", "HEAD"])? + also)
}

fn warnings(
    plan: &Plan,
    before: &Calibration,
    after: Option<&Calibration>,
    busy: Option<String>,
    disturbed: Vec<String>,
) -> Vec<String> {
    let mut warnings: Vec<String> = busy
        .map(|why| format!("the machine was not quiet before the run: {why}; absolute figures are worth less"))
        .into_iter()
        .chain(disturbed)
        .collect();
    if let Some(after) = after {
        warnings.extend(before.drift(after));
    }
    if plan.on_memory_filesystem {
        warnings.push(format!("the stores were on {}: nothing here is durable", before.filesystem));
    }
    if cfg!(debug_assertions) {
        warnings.push("built without optimisation: the figures mean nothing".to_owned());
    }
    warnings
}

/// Checks what a run here needs and can claim. The exit code is 1 if durable figures cannot be taken.
pub fn doctor(dir: &Path, given: &Given) -> Result<u8> {
    std::fs::create_dir_all(dir).map_err(LabError::io(format!("making {}", dir.display())))?;
    let found = calibrate(dir)?;
    let mut fit = true;
    let mut required = |good: bool, what: &str, words: String| {
        fit &= good;
        say!("{} {what}: {words}", if good { "ok  " } else { "-   " })
    };
    let on_disk = !filesystem::is_in_memory(&found.filesystem);
    required(on_disk, "filesystem", format!("{} is on {}", dir.display(), found.filesystem))?;
    required(found.sync_ns > 5_000.0, "sync", {
        let honest = if found.sync_ns > 5_000.0 { "" } else { ": too fast for a disk, so it reaches none" };
        format!("append and fdatasync take {}{honest}", units::show(found.sync_ns, "ns"))
    })?;
    let optional =
        |good: bool, what: &str, words: String| say!("{} {what}: {words}", if good { "ok  " } else { "(no)" });
    optional(found.load_average <= LOAD_MAX, "quiet", format!("load average {}", found.load_average))?;
    let strace = trace::unavailable();
    optional(strace.is_none(), "syncs can be counted", strace.unwrap_or_else(|| "strace works".to_owned()))?;
    match budget::Budget::of(64 << 20) {
        Ok(budget) => optional(true, "budget of memory", budget.how.clone())?,
        Err(error) => optional(false, "budget of memory", error.to_string())?,
    }
    let optimised = !cfg!(debug_assertions);
    optional(
        optimised,
        "build",
        if optimised { "optimised" } else { "a debug build: figures mean nothing" }.to_owned(),
    )?;
    let compiler = no_compiler();
    let built = "the losses of power of `crash` and the programs of `bigtable` can be built".to_owned();
    optional(compiler.is_none(), "C compiler", compiler.clone().unwrap_or(built))?;
    let mut reasons: Vec<String> = trace::unavailable().into_iter().chain(compiler).collect();
    for suite in SUITES {
        for kind in (suite.kinds)() {
            let missing = (kind.missing)(given);
            let words = missing.clone().unwrap_or_else(|| (kind.version)());
            optional(missing.is_none(), &format!("{}: {}", suite.name, kind.name), words)?;
            reasons.extend(missing);
        }
    }
    say!("cores {}, memory {}", as_f64(found.cores), units::bytes(found.memory_bytes))?;
    let commands: BTreeSet<&str> = reasons.iter().flat_map(|reason| commands_in(reason)).collect();
    if !commands.is_empty() {
        say!("What is missing can be had with")?;
        for command in commands {
            say!("  {command}")?;
        }
    }
    Ok(u8::from(!fit))
}

/// The commands that a reason names, between backquotes: words that a shell takes, and not one name. Of each part the
/// first: what stands behind it instead of it.
fn commands_in(reason: &str) -> impl Iterator<Item = &str> {
    reason.split("; ").filter_map(|part| part.split('`').skip(1).step_by(2).find(|quoted| quoted.contains(' ')))
}

#[cfg(test)]
mod tests {
    use clap::{Parser, error::ErrorKind};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        how: How,
    }

    #[test]
    fn a_report_names_the_command_that_makes_it_again() {
        let suite = suite("goget").unwrap();
        for (line, mode_name, made_by) in [
            (&["lab"][..], "default", "make bench SUITE=goget"),
            (&["lab", "--quick"], "quick", "make bench SUITE=goget QUICK=1"),
            (&["lab", "--full"], "full", "make bench SUITE=goget FULL=1"),
            (
                &["lab", "--quick", "--rows", "9"],
                "custom",
                "cargo run --release --manifest-path lab/Cargo.toml --features peers -- run goget --quick --rows 9",
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let how = Line::try_parse_from(line).unwrap().how;
            let how = How { dir: dir.path().to_owned(), any_filesystem: true, ..how };
            assert_eq!(plan(&how, suite).unwrap().mode_name(), mode_name);
            assert_eq!(command(&how, suite), made_by);
        }
        let both = Line::try_parse_from(["lab", "--quick", "--full"]).err().unwrap();
        assert_eq!(both.kind(), ErrorKind::ArgumentConflict);
    }

    #[test]
    fn whatever_is_missing_names_one_command_or_a_server() {
        for (reason, expected) in [
            ("no `initdb`; `apt-get install postgresql`, or `pacman -S it`", vec!["apt-get install postgresql"]),
            ("built without the feature `lmdb`", vec![]),
            (
                "no nginx; `apt-get install nginx`; no C; `apt-get install gcc`",
                vec!["apt-get install nginx", "apt-get install gcc"],
            ),
        ] {
            assert_eq!(commands_in(reason).collect::<Vec<_>>(), expected, "{reason}");
        }
        for suite in SUITES {
            for kind in (suite.kinds)() {
                if let Some(reason) = (kind.missing)(&Given::default()) {
                    let known = commands_in(&reason).next().is_some() || reason.contains("server");
                    assert!(known, "{}: {}: {reason}", suite.name, kind.name);
                }
            }
        }
    }
}
