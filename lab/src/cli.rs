//! The command line: `list | doctor | calibrate | run | crash | report | summary | compare`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{LabError, Result};
use crate::given::Given;
use crate::measure::stats::as_f64;
use crate::measure::{calibrate, filesystem};
use crate::output::{self, say};
use crate::report::digest::Digest;
use crate::report::{Report, compare, csv, html, markdown, record, recorded, table, units};
use crate::run::{How, RunArgs, doctor, run, run_suites};
use crate::servers::hyper_floor;
use crate::subjects::bigtable::page;
use crate::worker;
use crate::workloads::SUITES;

/// Measures Recension beside the stores that one would pick instead, at one durability, in turns, with the
/// results checked.
#[derive(Parser)]
#[command(name = "recension-lab", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Commands,
}

#[derive(Subcommand)]
enum Commands {
    /// The suites, their operations, and the subjects.
    List,
    /// Looks at what a run here needs and what it can claim: filesystem, syncs, strace, budget, noise.
    Doctor {
        /// Where stores would lie.
        #[arg(long, default_value = "target/lab/data")]
        dir: PathBuf,
        #[command(flatten)]
        given: Given,
    },
    /// Measures the machine alone: a sync, memory, loopback.
    Calibrate {
        /// Where stores would lie.
        #[arg(long, default_value = "target/lab/data")]
        dir: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Runs suites; prints a table and writes OUT/SUITE.json, .html, .md and .csv.
    Run(RunArgs),
    /// What is left of acknowledged commits after kill -9 and after losses of power: the suite `crash`.
    Crash(How),
    /// Prints a report again: as a table, or as --html, --markdown or --csv.
    Report {
        /// The report.
        report: PathBuf,
        /// As a page of docs/benchmarks.
        #[arg(long, conflicts_with = "csv")]
        markdown: bool,
        /// As CSV.
        #[arg(long)]
        csv: bool,
        /// As one HTML file, onto standard output.
        #[arg(long, conflicts_with_all = ["csv", "markdown", "record"])]
        html: bool,
        /// Records it in the repository at ROOT, as `run --record` does.
        #[arg(long, value_name = "ROOT", conflicts_with_all = ["csv", "markdown"])]
        record: Option<PathBuf>,
    },
    /// Makes the summary in BENCHMARKS.md and its picture again, of what is recorded in docs/benchmarks.
    Summary {
        /// The repository.
        #[arg(default_value = ".")]
        root: PathBuf,
    },
    /// Compares two reports; of two machines only the ratios.
    ///
    /// Says how many ratios of ours to others agree within their 95 % intervals, and which do not. Exit code 3 where a
    /// figure of ours is worse beyond both intervals, else 4 where a ratio disagrees; of two machines 0.
    Compare {
        /// The one before.
        before: PathBuf,
        /// The one after.
        after: PathBuf,
    },
    /// For the laboratory itself: measures one store, commanded on standard input.
    #[command(hide = true)]
    Worker,
    /// For the laboratory itself: the floor of HTTP.
    #[command(hide = true)]
    Floor {
        /// With the page of the suite `bigtable`.
        #[arg(long)]
        page: bool,
    },
}

/// Runs the program.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Commands::List => list().map(|()| 0),
        Commands::Doctor { dir, given } => doctor(&dir, &given),
        Commands::Calibrate { dir, json } => calibrate_here(&dir, json).map(|()| 0),
        Commands::Run(args) => run(&args),
        Commands::Crash(how) => run_suites(&["crash"], &how),
        Commands::Report { report, markdown, csv, html, record } => {
            print_report(&report, Form::of(markdown, csv, html), record.as_deref())
        }
        Commands::Summary { root } => record::summarize(&root).map(|()| 0),
        Commands::Compare { before, after } => compare_reports(&before, &after),
        Commands::Floor { page } => hyper_floor::serve(page.then(page::page)).map(|()| 0),
        Commands::Worker => worker::serve::serve().map(|()| 0),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if !matches!(error, LabError::ClosedPipe) {
                eprintln!("recension-lab: {error}");
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn list() -> Result<()> {
    for suite in SUITES {
        say!("suite {}: {}", suite.name, suite.what)?;
        for operation in suite.operations {
            say!("  {:<20} {:<6} {}", operation.name, operation.unit, operation.what)?;
        }
        say!("  its subjects")?;
        for kind in (suite.kinds)() {
            let usual = if suite.usual.contains(&kind.name) { "" } else { " (only where it is asked for)" };
            let state = (kind.missing)(&Given::default()).unwrap_or_else(|| (kind.version)());
            say!("  {:<20} {:?}     {}{usual}: {state}", kind.name, kind.tier, kind.what)?;
        }
    }
    Ok(())
}

fn calibrate_here(dir: &Path, json: bool) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(LabError::io(format!("making {}", dir.display())))?;
    let found = calibrate::calibrate(dir)?;
    if json {
        let text = serde_json::to_string_pretty(&found).map_err(LabError::subject("the calibration"))?;
        say!("{text}")?;
        return Ok(());
    }
    let ns = |value| units::show(value, "ns");
    say!("processor          {} x {}", found.cores, found.cpu)?;
    say!("memory             {}", units::bytes(found.memory_bytes))?;
    say!("kernel             {}", found.kernel)?;
    let in_memory = if filesystem::is_in_memory(&found.filesystem) { ": a sync reaches no disk" } else { "" };
    say!("filesystem         {}{in_memory}", found.filesystem)?;
    say!("sync               {} (99 %: {})", ns(found.sync_ns), ns(found.sync_p99_ns))?;
    say!("copying memory     {}/s", units::show(found.memcpy_bytes_per_second, "bytes"))?;
    say!("a wait for memory  {}", ns(found.memory_latency_ns))?;
    say!("loopback           {}", ns(found.loopback_ns))?;
    say!("load average       {} of {} cores", found.load_average, as_f64(found.cores))?;
    Ok(())
}

/// What a report is printed as.
#[derive(Clone, Copy)]
enum Form {
    Table,
    Markdown,
    Csv,
    Html,
}

impl Form {
    fn of(markdown: bool, csv: bool, html: bool) -> Self {
        match (markdown, csv, html) {
            (true, _, _) => Form::Markdown,
            (_, true, _) => Form::Csv,
            (_, _, true) => Form::Html,
            _ => Form::Table,
        }
    }
}

fn print_report(path: &Path, form: Form, root: Option<&Path>) -> Result<u8> {
    let report = match Report::read(path) {
        Ok(report) => report,
        // It may be what is kept of a run in docs/benchmarks.
        Err(error) => return Digest::read(path).map_or(Err(error), |digest| print_recorded(&digest, form, root)),
    };
    match root {
        Some(root) => {
            record::record(root, &report)?;
            say!("{} is recorded in {}/docs/benchmarks and BENCHMARKS.md", path.display(), root.display())?;
        }
        None => {
            let render = match form {
                Form::Table => table::render,
                Form::Markdown => markdown::render,
                Form::Csv => csv::render,
                Form::Html => html::render,
            };
            output::print(format_args!("{}", render(&report)))?;
        }
    }
    Ok(0)
}

/// The same of a run as it is recorded, of which there is less.
fn print_recorded(digest: &Digest, form: Form, root: Option<&Path>) -> Result<u8> {
    let render = match (form, root) {
        (Form::Table, None) => recorded::table,
        (Form::Markdown, None) => recorded::markdown,
        (Form::Html, None) => recorded::page,
        (Form::Csv, _) | (_, Some(_)) => {
            let what = "this is a recorded run, with our figures and the best peers' alone. --csv and --record need \
                        the report of the run itself (target/lab/SUITE.json)";
            return Err(LabError::Report { what: what.to_owned() });
        }
    };
    output::print(format_args!("{}", render(digest)))?;
    Ok(0)
}

fn compare_reports(before: &Path, after: &Path) -> Result<u8> {
    let comparison = compare::compare(&Report::read(before)?, &Report::read(after)?)?;
    output::print(format_args!("{}", comparison.text))?;
    for worse in &comparison.worse {
        say!("worse: {worse}")?;
    }
    Ok(comparison.exit_code())
}
