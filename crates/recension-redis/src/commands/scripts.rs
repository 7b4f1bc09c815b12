//! Scripts: EVAL and its like, for the part of Lua that `script` reads. A script runs in the transaction of its
//! request, so that it is atomic and one commit.

use std::sync::Arc;

use super::find;
use super::ranges::numbered_keys;
use super::server::unknown;
use crate::command::Kind;
use crate::data::{Args, Data, Outcome, Refusal, integer, is, refuse};
use crate::door::{Caller, Shared, refused};
use crate::limits::{SCRIPT_BYTES_MAX, SCRIPTS_BYTES_MAX, SCRIPTS_MAX};
use crate::reply::Reply;
use crate::script::{Script, hash_of, parse, run};

/// A script, which is remembered by its hash.
fn load(shared: &Shared, text: &[u8]) -> Result<(String, Arc<Script>), Refusal> {
    let hash = hash_of(text);
    if let Some((script, _)) = shared.scripts.lock().get(&hash) {
        return Ok((hash, script.clone()));
    }
    if text.len() > SCRIPT_BYTES_MAX {
        return Err(refuse("a script has at most 256 KiB"));
    }
    let script = parse(text).map_err(|error| refuse(&format!("Error compiling script (new function): {error}")))?;
    let script = Arc::new(script);
    let mut scripts = shared.scripts.lock();
    let bytes: usize = scripts.values().map(|(_, bytes)| bytes).sum();
    if scripts.len() >= SCRIPTS_MAX || bytes + text.len() > SCRIPTS_BYTES_MAX {
        // Clients load theirs again when they are told NOSCRIPT.
        scripts.clear();
    }
    scripts.insert(hash.clone(), (script.clone(), text.len()));
    Ok((hash, script))
}

/// Calls a command for a script, which may be one that only reads.
fn call(data: &Data<'_>, words: &[Vec<u8>], only_reads: bool) -> Result<Reply, Refusal> {
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let Some(command) = find(arguments[0]) else { return Ok(Reply::error("Unknown Redis command called from script")) };
    let run = match command.kind {
        Kind::Data(run) | Kind::Either(_, run) if command.scripts => run,
        _ => return Ok(Reply::error("This Redis command is not allowed from script")),
    };
    if !command.takes(arguments.len()) {
        return Ok(Reply::error("Wrong number of args calling Redis command from script"));
    }
    if only_reads && command.writes {
        return Ok(Reply::error("Write commands are not allowed from read-only scripts."));
    }
    match run(data, &arguments) {
        Ok(reply) | Err(Refusal::Reply(reply)) => Ok(reply),
        Err(Refusal::Store(error)) if crate::door::is_of_the_request(&error) => Ok(refused(error)),
        Err(error) => Err(error),
    }
}

/// The keys and the arguments of a script, behind the number of the keys.
fn words(rest: Args<'_>) -> Result<(Args<'_>, Args<'_>), Refusal> {
    match integer(rest[0])? {
        ..0 => Err(refuse("Number of keys can't be negative")),
        0 => Ok(rest[1..].split_at(0)),
        _ => numbered_keys(rest, "").map_err(|_| refuse("Number of keys can't be greater than number of args")),
    }
}

fn run_script(
    data: &Data<'_>,
    script: (&Script, &str),
    (keys, args): (Args<'_>, Args<'_>),
    only_reads: bool,
) -> Outcome {
    run(script, keys, args, &mut |words| call(data, words, only_reads))
}

pub(super) fn eval(data: &Data<'_>, args: Args<'_>) -> Outcome {
    evaluated(data, args, false)
}

pub(super) fn eval_ro(data: &Data<'_>, args: Args<'_>) -> Outcome {
    evaluated(data, args, true)
}

fn evaluated(data: &Data<'_>, args: Args<'_>, only_reads: bool) -> Outcome {
    let words = words(&args[2..])?;
    let (hash, script) = load(data.shared, args[1])?;
    run_script(data, (&script, &hash), words, only_reads)
}

pub(super) fn evalsha(data: &Data<'_>, args: Args<'_>) -> Outcome {
    evaluated_by_hash(data, args, false)
}

pub(super) fn evalsha_ro(data: &Data<'_>, args: Args<'_>) -> Outcome {
    evaluated_by_hash(data, args, true)
}

fn evaluated_by_hash(data: &Data<'_>, args: Args<'_>, only_reads: bool) -> Outcome {
    let missing = || Refusal::Reply(Reply::Error("NOSCRIPT No matching script. Please use EVAL.".to_owned()));
    if args[1].len() != 40 {
        return Err(missing());
    }
    let words = words(&args[2..])?;
    let hash = String::from_utf8_lossy(args[1]).to_ascii_lowercase();
    let script = data.shared.scripts.lock().get(&hash).map(|(script, _)| script.clone());
    run_script(data, (&*script.ok_or_else(missing)?, &hash), words, only_reads)
}

pub(super) fn script(caller: &mut Caller, args: Args<'_>) -> Reply {
    let shared = &caller.shared;
    match &args[1..] {
        [what, text] if is(what, "LOAD") => match load(shared, text) {
            Ok((hash, _)) => Reply::text(hash),
            Err(Refusal::Reply(reply)) => reply,
            Err(Refusal::Store(error)) => refused(error),
        },
        [what, hashes @ ..] if is(what, "EXISTS") && !hashes.is_empty() => {
            let scripts = shared.scripts.lock();
            let known = |hash: &&[u8]| scripts.contains_key(&String::from_utf8_lossy(hash).to_ascii_lowercase());
            Reply::Array(hashes.iter().map(|hash| Reply::flag(known(hash))).collect())
        }
        [what, how @ ..] if is(what, "FLUSH") => match how {
            [] => {
                shared.scripts.lock().clear();
                Reply::Ok
            }
            [how] if is(how, "SYNC") || is(how, "ASYNC") => {
                shared.scripts.lock().clear();
                Reply::Ok
            }
            _ => Reply::error("SCRIPT FLUSH only support SYNC|ASYNC option"),
        },
        _ => unknown(args, &["EXISTS", "FLUSH", "LOAD"]),
    }
}
