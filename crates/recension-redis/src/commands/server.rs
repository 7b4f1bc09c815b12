//! Information about the server, and commands that empty databases.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use super::{COMMANDS, find};
use crate::command::Command;
use crate::data::{Args, is};
use crate::door::{Caller, namespace, refused};
use crate::limits::DATABASES;
use crate::reply::Reply;

/// The release of Redis whose answers these are.
const REDIS_VERSION: &str = "7.4.0";

pub(super) fn info(caller: &mut Caller, args: Args<'_>) -> Reply {
    let wanted = |section: &str| {
        let all = |word: &[u8]| ["all", "default", "everything"].iter().any(|all| is(word, all));
        args.len() == 1 || args[1..].iter().any(|word| is(word, section) || all(word))
    };
    let shared = &caller.shared;
    let mut text = String::new();
    // Writing to a String cannot fail.
    if wanted("server") {
        let version = env!("CARGO_PKG_VERSION");
        let _ = write!(
            text,
            "# Server\r\nredis_version:{REDIS_VERSION}\r\nrecension_version:{version}\r\nredis_mode:standalone\r\n\
             process_id:{}\r\n\r\n",
            std::process::id()
        );
    }
    if wanted("clients") {
        let connected = shared.connected.load(Ordering::Relaxed);
        let _ = write!(text, "# Clients\r\nconnected_clients:{connected}\r\n\r\n");
    }
    if wanted("persistence") {
        let _ = write!(text, "# Persistence\r\nloading:0\r\n\r\n");
    }
    if wanted("stats") {
        let (callers, commands) = (shared.callers.load(Ordering::Relaxed), shared.commands.load(Ordering::Relaxed));
        let topics = shared.store.topics();
        let _ = write!(
            text,
            "# Stats\r\ntotal_connections_received:{callers}\r\ntotal_commands_processed:{commands}\r\n\
             pubsub_channels:{}\r\npubsub_patterns:{}\r\n\r\n",
            topics.listened().len(),
            topics.patterns()
        );
    }
    if wanted("replication") {
        let _ = write!(text, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\r\n");
    }
    Reply::text(text)
}

pub(super) fn time(_: &mut Caller, _: Args<'_>) -> Reply {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Reply::Array(vec![Reply::text(now.as_secs().to_string()), Reply::text(now.subsec_micros().to_string())])
}

/// Settings that tools read before they begin. None can be set.
pub(super) fn config(_: &mut Caller, args: Args<'_>) -> Reply {
    match &args[1..] {
        [what, names @ ..] if is(what, "GET") && !names.is_empty() => {
            let known = [("save", ""), ("appendonly", "yes"), ("databases", "16"), ("maxmemory", "0")];
            let found = known.iter().filter(|(known, _)| names.iter().any(|name| is(name, known)));
            Reply::Map(found.map(|(name, value)| (Reply::text(*name), Reply::text(*value))).collect())
        }
        [what, ..] if is(what, "RESETSTAT") => Reply::Ok,
        _ => Reply::error("settings are in the server's configuration (recension config)"),
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

pub(super) fn command(_: &mut Caller, args: Args<'_>) -> Reply {
    match &args[1..] {
        [] => Reply::Array(COMMANDS.iter().map(described).collect()),
        [what] if is(what, "COUNT") => Reply::count(COMMANDS.len()),
        [what, ..] if is(what, "DOCS") => Reply::Map(Vec::new()),
        [what, ..] if is(what, "LIST") => {
            Reply::Array(COMMANDS.iter().map(|command| Reply::text(command.name.to_ascii_lowercase())).collect())
        }
        [what, names @ ..] if is(what, "INFO") => {
            Reply::Array(names.iter().map(|name| find(name).map_or(Reply::NullArray, described)).collect())
        }
        _ => Reply::error("unknown subcommand of COMMAND"),
    }
}

fn clear(caller: &mut Caller, databases: impl Iterator<Item = usize>) -> Reply {
    let there = match caller.shared.store.key_namespaces() {
        Ok(there) => there,
        Err(error) => return refused(error),
    };
    for name in databases.map(namespace).filter(|name| there.contains(name)) {
        if let Err(error) = caller.shared.store.keys(&name).and_then(|keys| keys.clear()) {
            return refused(error);
        }
    }
    Reply::Ok
}

/// Documents stay.
pub(super) fn flushdb(caller: &mut Caller, _: Args<'_>) -> Reply {
    let database = caller.database;
    clear(caller, std::iter::once(database))
}

pub(super) fn flushall(caller: &mut Caller, _: Args<'_>) -> Reply {
    clear(caller, 0..DATABASES)
}
