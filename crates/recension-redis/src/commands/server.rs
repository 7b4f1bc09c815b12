//! Information about the server, and commands that empty databases.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use recension::Glob;

use super::{COMMANDS, find};
use crate::command::Command;
use crate::data::{Args, Refusal, integer, is, syntax};
use crate::door::{Caller, Shared, namespace, refused};
use crate::limits::DATABASES;
use crate::reply::Reply;

/// The release of Redis whose answers these are.
const REDIS_VERSION: &str = "7.4.0";

/// A section of INFO: its name, and its lines.
type Section = (&'static str, Vec<(&'static str, String)>);

fn sections(caller: &Caller) -> Vec<Section> {
    let shared = &caller.shared;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed).to_string();
    let topics = shared.store.topics();
    let text = |text: &str| text.to_owned();
    vec![
        (
            "Server",
            vec![
                ("redis_version", text(REDIS_VERSION)),
                ("recension_version", text(env!("CARGO_PKG_VERSION"))),
                ("redis_mode", text("standalone")),
                ("os", text(std::env::consts::OS)),
                ("arch_bits", usize::BITS.to_string()),
                ("process_id", std::process::id().to_string()),
            ],
        ),
        (
            "Clients",
            vec![
                ("connected_clients", count(&shared.connected)),
                ("blocked_clients", shared.waiting.count().to_string()),
            ],
        ),
        ("Memory", vec![("maxmemory", text("0")), ("maxmemory_policy", text("noeviction"))]),
        ("Persistence", vec![("loading", text("0")), ("aof_enabled", text("1"))]),
        (
            "Stats",
            vec![
                ("total_connections_received", count(&shared.callers)),
                ("total_commands_processed", count(&shared.commands)),
                ("pubsub_channels", topics.listened().len().to_string()),
                ("pubsub_patterns", topics.patterns().to_string()),
            ],
        ),
        ("Replication", vec![("role", text("master")), ("connected_slaves", text("0"))]),
        ("Cluster", vec![("cluster_enabled", text("0"))]),
    ]
}

pub(super) fn info(caller: &mut Caller, args: Args<'_>) -> Reply {
    let wanted = |section: &str| {
        let all = |word: &[u8]| ["all", "default", "everything"].iter().any(|all| is(word, all));
        args.len() == 1 || args[1..].iter().any(|word| is(word, section) || all(word))
    };
    let mut text = String::new();
    for (name, lines) in sections(caller).into_iter().filter(|(name, _)| wanted(name)) {
        let begin = if text.is_empty() { "" } else { "\r\n" };
        // Writing to a String cannot fail.
        let _ = write!(text, "{begin}# {name}\r\n");
        for (name, value) in lines {
            let _ = write!(text, "{name}:{value}\r\n");
        }
    }
    Reply::text(text)
}

pub(super) fn time() -> Reply {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Reply::Array(vec![Reply::text(now.as_secs().to_string()), Reply::text(now.subsec_micros().to_string())])
}

/// The error for a subcommand that is not known, or was given the wrong number of arguments.
pub(super) fn unknown(args: Args<'_>, known: &[&str]) -> Reply {
    let command = String::from_utf8_lossy(args[0]).to_ascii_lowercase();
    let sub = String::from_utf8_lossy(args[1]);
    if known.iter().any(|known| is(args[1], known)) {
        let sub = sub.to_ascii_lowercase();
        return Reply::error(format_args!("wrong number of arguments for '{command}|{sub}' command"));
    }
    let upper = command.to_ascii_uppercase();
    Reply::error(format_args!("unknown subcommand '{}'. Try {upper} HELP.", sub.chars().take(128).collect::<String>()))
}

/// Settings that tools read before they begin. None can be set.
pub(super) fn config(caller: &mut Caller, args: Args<'_>) -> Reply {
    match &args[1..] {
        [what, names @ ..] if is(what, "GET") && !names.is_empty() => {
            let known = [
                ("save", ""),
                ("appendonly", "yes"),
                ("appendfsync", "always"),
                ("databases", "16"),
                ("maxmemory", "0"),
                ("maxmemory-policy", "noeviction"),
                ("timeout", "0"),
            ];
            let globs: Vec<_> = names.iter().map(|name| Glob::new(name.to_ascii_lowercase())).collect();
            let found = known.iter().filter(|(known, _)| globs.iter().any(|glob| glob.matches(known)));
            Reply::Map(found.map(|(name, value)| (Reply::text(*name), Reply::text(*value))).collect())
        }
        [what] if is(what, "RESETSTAT") => {
            caller.shared.callers.store(0, Ordering::Relaxed);
            caller.shared.commands.store(0, Ordering::Relaxed);
            Reply::Ok
        }
        [what, _, _, ..] if is(what, "SET") => {
            Reply::error("CONFIG SET failed: settings are in the server's configuration (recension config)")
        }
        _ => unknown(args, &["GET", "RESETSTAT", "SET"]),
    }
}

fn described(command: &Command) -> Reply {
    let (first, last, step) = command.keys;
    let flags = Reply::Set(vec![Reply::Simple(if command.writes { "write" } else { "readonly" })]);
    let numbers = [first, last, step].map(Reply::Integer);
    let mut parts = vec![Reply::text(command.name.to_ascii_lowercase()), Reply::Integer(command.arity), flags];
    parts.extend(numbers);
    Reply::Array(parts)
}

/// The word of a command that says how many keys follow it.
fn number_of_keys_at(command: &str) -> Option<usize> {
    match command {
        "LMPOP" | "ZMPOP" | "SINTERCARD" | "ZINTERCARD" | "ZUNION" | "ZINTER" | "ZDIFF" => Some(1),
        "EVAL" | "EVALSHA" | "EVAL_RO" | "EVALSHA_RO" | "BLMPOP" | "BZMPOP" | "ZUNIONSTORE" | "ZINTERSTORE"
        | "ZDIFFSTORE" => Some(2),
        _ => None,
    }
}

/// The keys among the words of a request.
fn keys_of(request: Args<'_>) -> Reply {
    let Some(command) = find(request[0]) else { return Reply::error("Invalid command specified") };
    let (first, last, step) = command.keys;
    let number_at = number_of_keys_at(command.name);
    if first == 0 && number_at.is_none() {
        return Reply::error("The command has no key arguments");
    }
    if !command.takes(request.len()) {
        return Reply::error("Invalid number of arguments specified for command");
    }
    if let Some(at) = number_at {
        let number =
            request.get(at).and_then(|word| integer(word).ok()).and_then(|number| usize::try_from(number).ok());
        let keys = number.and_then(|number| request.get(at + 1..at.checked_add(1)?.checked_add(number)?));
        let before = request.get(1..).filter(|_| first == 1).and_then(<[_]>::first);
        return match keys {
            Some(keys) if !keys.is_empty() => {
                Reply::Array(before.into_iter().chain(keys).map(|key| Reply::Bulk(key.to_vec())).collect())
            }
            // A script may have none.
            _ if command.name.starts_with("EVAL") => Reply::Array(Vec::new()),
            _ => Reply::error("Invalid arguments specified for command"),
        };
    }
    let at = |place: i64| usize::try_from(place).unwrap_or(0);
    let end = if last < 0 { request.len() - at(-1 - last) } else { at(last) + 1 };
    let keys = request.iter().take(end).skip(at(first)).step_by(at(step).max(1));
    Reply::Array(keys.map(|key| Reply::Bulk(key.to_vec())).collect())
}

pub(super) fn command(_: &mut Caller, args: Args<'_>) -> Reply {
    match &args[1..] {
        [] => Reply::Array(COMMANDS.iter().map(described).collect()),
        [what] if is(what, "COUNT") => Reply::count(COMMANDS.len()),
        [what, ..] if is(what, "DOCS") => Reply::Map(Vec::new()),
        [what] if is(what, "LIST") => {
            Reply::Array(COMMANDS.iter().map(|command| Reply::text(command.name.to_ascii_lowercase())).collect())
        }
        [what, names @ ..] if is(what, "INFO") => {
            Reply::Array(names.iter().map(|name| find(name).map_or(Reply::NullArray, described)).collect())
        }
        [what, names @ ..] if is(what, "GETKEYS") && !names.is_empty() => keys_of(names),
        _ => unknown(args, &["COUNT", "DOCS", "GETKEYS", "INFO", "LIST"]),
    }
}

/// Deletes all keys of databases. Watchers of keys are told before.
fn clear(caller: &mut Caller, databases: impl Iterator<Item = usize>) -> Reply {
    let there = match caller.shared.store.key_namespaces() {
        Ok(there) => there,
        Err(error) => return refused(error),
    };
    for database in databases {
        let name = namespace(database);
        if !there.contains(&name) {
            continue;
        }
        if let Err(error) = empty(&caller.shared, database, &name) {
            return refused(error);
        }
    }
    Reply::Ok
}

fn empty(shared: &Shared, database: usize, name: &str) -> recension::Result<()> {
    let keys = shared.store.keys(name)?;
    for key in shared.watchers.watched(database) {
        if keys.entry(&key).is_ok_and(|entry| entry.is_some()) {
            shared.watchers.removed(database, &key);
        }
    }
    keys.clear().map(|_| ())
}

/// FLUSHDB and FLUSHALL have one word more, and only ASYNC or SYNC.
pub(super) fn flush_options(args: Args<'_>) -> Result<(), Refusal> {
    match &args[1..] {
        [] => Ok(()),
        [word] if is(word, "ASYNC") || is(word, "SYNC") => Ok(()),
        _ => Err(syntax()),
    }
}

/// Documents stay.
pub(super) fn flushdb(caller: &mut Caller, args: Args<'_>) -> Reply {
    let database = caller.database;
    flush(caller, args, std::iter::once(database))
}

pub(super) fn flushall(caller: &mut Caller, args: Args<'_>) -> Reply {
    flush(caller, args, 0..DATABASES)
}

fn flush(caller: &mut Caller, args: Args<'_>, databases: impl Iterator<Item = usize>) -> Reply {
    match flush_options(args) {
        Ok(()) => clear(caller, databases),
        Err(Refusal::Reply(reply)) => reply,
        Err(Refusal::Store(error)) => refused(error),
    }
}
