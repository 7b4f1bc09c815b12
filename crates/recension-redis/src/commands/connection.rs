//! Commands about the connection itself.

use super::server::unknown;
use crate::data::{Args, integer, is};
use crate::door::Caller;
use crate::limits::DATABASES;
use crate::reply::{Protocol, Reply};
use crate::settings::Attempt;

pub(super) fn ping(caller: &mut Caller, args: Args<'_>) -> Reply {
    let listens = caller.subscriber.as_ref().is_some_and(|subscriber| subscriber.listening() > 0);
    match (args.get(1), args.len()) {
        (_, 3..) => Reply::error("wrong number of arguments for 'ping' command"),
        (word, _) if listens && caller.protocol == Protocol::Resp2 => {
            Reply::Array(vec![Reply::text("pong"), Reply::Bulk(word.map(|word| word.to_vec()).unwrap_or_default())])
        }
        (Some(word), _) => Reply::Bulk(word.to_vec()),
        (None, _) => Reply::Simple("PONG"),
    }
}

pub(super) fn quit(caller: &mut Caller, _: Args<'_>) -> Reply {
    caller.ends = true;
    Reply::Ok
}

pub(super) fn reset(caller: &mut Caller, _: Args<'_>) -> Reply {
    caller.reset();
    Reply::Simple("RESET")
}

pub(super) fn select(caller: &mut Caller, args: Args<'_>) -> Reply {
    match crate::data::integer(args[1]).ok().map(usize::try_from) {
        Some(Ok(number)) if number < DATABASES => {
            caller.database = number;
            Reply::Ok
        }
        Some(_) => Reply::error("DB index is out of range"),
        None => Reply::error("value is not an integer or out of range"),
    }
}

pub(super) fn unwatch(caller: &mut Caller, _: Args<'_>) -> Reply {
    caller.watched.clear();
    Reply::Ok
}

/// Logs the caller in, if the password is right.
fn log_in(caller: &mut Caller, name: &[u8], password: &[u8]) -> Result<(), Reply> {
    let wrong = || Reply::Error("WRONGPASS invalid username-password pair or user is disabled.".to_owned());
    let Some(authenticate) = caller.shared.settings.authenticate.clone() else {
        return Err(Reply::error(
            "AUTH <password> called without any password configured for the default user. Are you sure your \
             configuration is correct?",
        ));
    };
    let name = std::str::from_utf8(name).map_err(|_| wrong())?;
    let attempted = caller.attempted.take();
    match attempted.unwrap_or_else(|| authenticate.attempt(caller.from, name, password, false)) {
        Attempt::Right => {
            caller.known = true;
            Ok(())
        }
        Attempt::Wrong => Err(wrong()),
        Attempt::Later(_) | Attempt::TooMany => {
            Err(Reply::error("too many attempts to log in came from there: wait some seconds, then try again"))
        }
    }
}

pub(super) fn auth(caller: &mut Caller, args: Args<'_>) -> Reply {
    let done = match &args[1..] {
        [password] => log_in(caller, b"default", password),
        [name, password] => log_in(caller, name, password),
        _ => Err(Reply::error("syntax error")),
    };
    done.map_or_else(|reply| reply, |()| Reply::Ok)
}

pub(super) fn hello(caller: &mut Caller, args: Args<'_>) -> Reply {
    let mut protocol = caller.protocol;
    let mut rest = &args[1..];
    if let [version, after @ ..] = rest {
        protocol = match crate::data::integer(version) {
            Ok(2) => Protocol::Resp2,
            Ok(3) => Protocol::Resp3,
            Err(_) => return Reply::error("Protocol version is not an integer or out of range"),
            Ok(_) => return Reply::Error("NOPROTO unsupported protocol version".to_owned()),
        };
        rest = after;
    }
    let mut name = None;
    while !rest.is_empty() {
        match rest {
            [word, user, password, after @ ..] if is(word, "AUTH") => {
                if let Err(reply) = log_in(caller, user, password) {
                    return reply;
                }
                rest = after;
            }
            [word, given, after @ ..] if is(word, "SETNAME") => {
                if !is_one_word(given) {
                    return Reply::error(NAME_OF_SEVERAL_WORDS);
                }
                name = Some(given.to_vec());
                rest = after;
            }
            _ => {
                let option = String::from_utf8_lossy(rest[0]);
                return Reply::error(format_args!("Syntax error in HELLO option '{option}'"));
            }
        }
    }
    if !caller.known {
        return Reply::Error(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH \
             <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the \
             same time"
                .to_owned(),
        );
    }
    if let Some(name) = name {
        caller.name = name;
    }
    caller.protocol = protocol;
    let number = if protocol == Protocol::Resp3 { 3 } else { 2 };
    let pairs = [
        ("server", Reply::text("recension")),
        ("version", Reply::text(env!("CARGO_PKG_VERSION"))),
        ("proto", Reply::Integer(number)),
        ("id", Reply::Integer(caller.id)),
        ("mode", Reply::text("standalone")),
        ("role", Reply::text("master")),
        ("modules", Reply::Array(Vec::new())),
    ];
    Reply::Map(pairs.into_iter().map(|(name, value)| (Reply::text(name), value)).collect())
}

/// What CLIENT INFO and LIST say of a connection: the fields that Redis has, as far as they mean something here.
fn described(caller: &Caller) -> String {
    let name = String::from_utf8_lossy(&caller.name);
    let (id, database) = (caller.id, caller.database);
    let [library, version] = &caller.library;
    let protocol = if caller.protocol == Protocol::Resp3 { 3 } else { 2 };
    let from = caller.from.map_or_else(String::new, |from| format!("{from}:0"));
    let (topics, patterns) = caller
        .subscriber
        .as_ref()
        .map_or((0, 0), |subscriber| (subscriber.topics().len(), subscriber.patterns().len()));
    let flags = if topics + patterns > 0 { "P" } else { "N" };
    let multi = caller.queued.as_ref().map_or(-1, |queue| i64::try_from(queue.commands.len()).unwrap_or(i64::MAX));
    format!(
        "id={id} addr={from} name={name} flags={flags} db={database} sub={topics} psub={patterns} ssub=0 multi={multi} \
         user=default lib-name={library} lib-ver={version} resp={protocol}\n"
    )
}

/// CLIENT LIST tells of the caller's own connection only.
fn listed(caller: &Caller, options: Args<'_>) -> Reply {
    let is_asked = match options {
        [] => true,
        [word, kind] if is(word, "TYPE") => {
            let listens = caller.subscriber.as_ref().is_some_and(|subscriber| subscriber.listening() > 0);
            if is(kind, "NORMAL") || is(kind, "PUBSUB") {
                listens == is(kind, "PUBSUB")
            } else if is(kind, "MASTER") || is(kind, "REPLICA") || is(kind, "SLAVE") {
                false
            } else {
                return Reply::error(format_args!("Unknown client type '{}'", String::from_utf8_lossy(kind)));
            }
        }
        [word, ids @ ..] if is(word, "ID") && !ids.is_empty() => {
            let ids: Result<Vec<i64>, _> = ids.iter().map(|id| integer(id)).collect();
            match ids {
                Ok(ids) if ids.iter().all(|id| *id > 0) => ids.contains(&caller.id),
                _ => return Reply::error("Invalid client ID"),
            }
        }
        _ => return Reply::error("syntax error"),
    };
    Reply::text(if is_asked { described(caller) } else { String::new() })
}

const NAME_OF_SEVERAL_WORDS: &str = "Client names cannot contain spaces, newlines or special characters.";

/// Whether it may stand in a line of CLIENT LIST.
fn is_one_word(text: &[u8]) -> bool {
    text.len() <= 1024 && text.iter().all(u8::is_ascii_graphic)
}

pub(super) fn client(caller: &mut Caller, args: Args<'_>) -> Reply {
    match &args[1..] {
        [what] if is(what, "ID") => Reply::Integer(caller.id),
        [what] if is(what, "GETNAME") => {
            if caller.name.is_empty() {
                Reply::Null
            } else {
                Reply::Bulk(caller.name.clone())
            }
        }
        [what, name] if is(what, "SETNAME") => {
            if name.is_empty() {
                caller.name.clear();
                return Reply::Ok;
            }
            if !is_one_word(name) {
                return Reply::error(NAME_OF_SEVERAL_WORDS);
            }
            caller.name = name.to_vec();
            Reply::Ok
        }
        [what, field, value] if is(what, "SETINFO") => {
            let (place, word) = if is(field, "LIB-NAME") {
                (0, "lib-name")
            } else if is(field, "LIB-VER") {
                (1, "lib-ver")
            } else {
                return Reply::error(format_args!("Unrecognized option '{}'", String::from_utf8_lossy(field)));
            };
            if !is_one_word(value) {
                return Reply::error(format_args!("{word} cannot contain spaces, newlines or special characters."));
            }
            caller.library[place] = String::from_utf8_lossy(value).into_owned();
            Reply::Ok
        }
        [what, word] if (is(what, "NO-EVICT") || is(what, "NO-TOUCH")) && (is(word, "ON") || is(word, "OFF")) => {
            Reply::Ok
        }
        [what, word] if is(what, "REPLY") && is(word, "ON") => Reply::Ok,
        [what] if is(what, "INFO") => Reply::text(described(caller)),
        [what, options @ ..] if is(what, "LIST") => listed(caller, options),
        _ => unknown(args, &["GETNAME", "ID", "INFO", "LIST", "NO-EVICT", "NO-TOUCH", "REPLY", "SETINFO", "SETNAME"]),
    }
}
