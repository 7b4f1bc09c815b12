//! `recension doctor`: what an operator would look at before asking for help, in one report. It changes nothing.
//! `recension upgrade --check` is the part about formats.

mod certificate;
mod machine;
mod place;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use clap::Args;
use recension::engine::Timestamp;
use recension::format_time;
use recension_engines::Address;
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::plain;

const EXAMPLES: &str = "\
Examples:
  recension doctor
  recension doctor --store notes.store --config /etc/recension/recension.toml
  recension doctor --backups /var/backups/recension --json > report.json

Each line is ok, a warning (!) or a fault (x) with what to do. It exits with 1 if there is a fault. Nothing is \
changed, and no document, key or password is in the report: send it with a question.";

/// Check the machine, the store, certificates and backups, and say what to do
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Doctor {
    /// The server's configuration: its store, certificate and backups are looked at
    #[arg(long, env = "RECENSION_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// A folder with backups that the server makes
    #[arg(long, value_name = "DIR")]
    backups: Option<PathBuf>,
    /// A certificate chain (PEM)
    #[arg(long, value_name = "FILE")]
    tls_certificate: Option<PathBuf>,
}

/// Say whether this program can use the store's format, and what changes if it does
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension upgrade --check\n  recension upgrade --check --store notes.store\n\n\
    There is no upgrade to run: every format that was ever released is read, and what is written is written in the \
    newest. Make a backup before an older program is replaced: it may not read what the newer one writes.")]
pub struct Upgrade {
    /// Say it, and change nothing
    #[arg(long, required = true)]
    check: bool,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Fine,
    Warning,
    Fault,
}

/// A check, and what it found.
#[derive(Debug)]
struct Finding {
    check: &'static str,
    state: State,
    found: String,
    /// What to do, if it is not fine.
    advice: Option<String>,
}

impl Finding {
    fn fine(check: &'static str, found: impl Into<String>) -> Self {
        Finding { check, state: State::Fine, found: found.into(), advice: None }
    }

    fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { check, state: State::Warning, found: found.into(), advice: Some(advice.into()) }
    }

    fn fault(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Finding { state: State::Fault, ..Finding::warning(check, found, advice) }
    }
}

impl Doctor {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let (mut backups, mut certificate) = (self.backups.clone(), self.tls_certificate.clone());
        let mut findings = vec![machine::program(), machine::open_files(), machine::memory()];
        if let Some(path) = &self.config {
            findings.push(configured(path, context, &mut backups, &mut certificate));
        }
        findings.extend(store(context));
        findings.extend(certificate.as_deref().map(|path| certificate::look(path, SystemTime::now())));
        findings.extend(backups.as_deref().map(|folder| place::backups(folder, SystemTime::now())));
        report(context, &findings)
    }
}

impl Upgrade {
    /// Runs the command.
    #[allow(clippy::unused_self)] // as its fellows
    pub fn run(&self, context: &mut Context) -> Result<()> {
        debug_assert!(self.check);
        let finding = match Address::parse(&context.address())? {
            Address::Native(path) if path.exists() => place::format(&path, context.key()?.as_ref()),
            Address::Native(path) => {
                return Err(CliError::Io(format!("there is no store at {}", path.display())));
            }
            _ => Finding::fine("format", "such a store has the format of the system that it is on"),
        };
        report(context, &[finding])
    }
}

/// Reads the server's configuration, which may name the store, the certificate and the folder of backups.
#[cfg(feature = "server")]
fn configured(
    path: &Path,
    context: &mut Context,
    backups: &mut Option<PathBuf>,
    certificate: &mut Option<PathBuf>,
) -> Finding {
    use recension_server::config::{Config, ServeFlags};

    let flags = ServeFlags { config: Some(path.to_owned()), ..ServeFlags::default() };
    let config = match Config::of(&flags, context.named_address()) {
        Ok(config) => config,
        Err(error) => return Finding::fault("configuration", error.message, "correct the file"),
    };
    context.set_address(&config.store);
    *backups = backups.take().or(config.backups.folder);
    *certificate = certificate.take().or(config.tls_certificate);
    Finding::fine("configuration", format!("{} reads", path.display()))
}

#[cfg(not(feature = "server"))]
fn configured(_: &Path, _: &mut Context, _: &mut Option<PathBuf>, _: &mut Option<PathBuf>) -> Finding {
    let why = "reading it needs the cargo feature `server`, which this program was built without";
    Finding::fault("configuration", why, "use a program that has the feature")
}

/// What there is to say of the store.
fn store(context: &mut Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    match Address::parse(&context.address()) {
        Ok(Address::Native(path)) if path.is_dir() => {
            let key = context.key();
            let key = key.as_ref().ok().and_then(Option::as_ref);
            findings.extend([place::rights(&path), place::room(&path), place::format(&path, key)]);
        }
        Ok(Address::Sqlite(path)) if path.exists() => findings.push(place::room(&path)),
        Ok(_) => {}
        Err(error) => return vec![Finding::fault("store", error.to_string(), "name another store: --store")],
    }
    match opened(context) {
        Ok((found, newest)) => {
            findings.extend([Finding::fine("store", found), machine::clock(newest, SystemTime::now())]);
        }
        Err(error) => {
            // Whatever keeps the format from being read keeps the store from being opened.
            let known = findings.iter().rfind(|finding| finding.state == State::Fault);
            let advice = known.and_then(|finding| finding.advice.clone());
            let advice = advice.unwrap_or_else(|| advice_for(&context.address(), &error).to_owned());
            findings.push(Finding::fault("store", error.to_string(), advice));
        }
    }
    findings
}

/// What to do about a store that does not open. Most errors say it themselves; only damaged files are salvaged.
fn advice_for(address: &str, error: &CliError) -> &'static str {
    match (Address::parse(address), error) {
        (Ok(Address::Native(_) | Address::Sqlite(_)), CliError::Damaged(_)) => place::LOOK,
        (Ok(Address::Log(_)), CliError::Damaged(_)) => {
            "nothing was changed; the records are in the log's system: what the error says is what to do"
        }
        (Ok(Address::Log(_) | Address::Network(_)), _) => {
            "nothing was changed; look whether the other system runs, and `recension ping` whether it answers"
        }
        _ => "nothing was changed; the error says what to do",
    }
}

/// Opens the store, and reads its newest commit.
fn opened(context: &mut Context) -> Result<(String, Timestamp)> {
    let engine = context.engine(Missing::IsAnError)?;
    let head = engine.head();
    let time = engine.snapshot_at(head)?.time()?;
    let name = engine.stats()?.engine;
    Ok((format!("{} opens ({name}): commit {head}, of {}", context.address(), format_time(time)), time))
}

fn report(context: &mut Context, findings: &[Finding]) -> Result<()> {
    for finding in findings {
        let Finding { check, state, found, advice } = finding;
        let line = if context.out.for_people() {
            let sign = match state {
                State::Fine => "ok",
                State::Warning => " !",
                State::Fault => " x",
            };
            let advice = advice.as_ref().map(|advice| format!("\n{:17}{advice}", "")).unwrap_or_default();
            format!("{sign} {check:13} {}{}", plain(found), advice)
        } else {
            let state = match state {
                State::Fine => "ok",
                State::Warning => "warning",
                State::Fault => "fault",
            };
            json!({"check": check, "state": state, "found": found, "advice": advice}).to_string()
        };
        context.out.line(&line)?;
    }
    let faults = findings.iter().filter(|finding| finding.state == State::Fault).count();
    if faults == 0 { Ok(()) } else { Err(CliError::NotFound(format!("{faults} of {} checks failed", findings.len()))) }
}

/// A span for people: the largest unit that is whole.
fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
