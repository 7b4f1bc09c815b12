//! Commands: name, arguments, place among other commands, and function.

use crate::data::{Args, Data, Outcome};
use crate::door::Caller;
use crate::reply::Reply;

/// How a command runs.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// On data, within a transaction.
    Data(fn(&Data<'_>, Args<'_>) -> Outcome),
    /// On the connection.
    Caller(fn(&mut Caller, Args<'_>) -> Reply),
    /// On the connection, or between MULTI and EXEC on data.
    Either(fn(&mut Caller, Args<'_>) -> Reply, fn(&Data<'_>, Args<'_>) -> Outcome),
    /// On the connection, with any number of replies.
    Replies(fn(&mut Caller, Args<'_>, &mut Vec<Reply>)),
}

/// A command.
#[expect(clippy::struct_excessive_bools, reason = "each says of one place whether the command may come there")]
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// How many words it has, including its name; if negative, at least this many.
    pub(crate) arity: i64,
    pub(crate) writes: bool,
    /// The first word that is a key, the last one (negative: from the end), and the step between them.
    pub(crate) keys: (i64, i64, i64),
    pub(crate) kind: Kind,
    pub(crate) without_auth: bool,
    pub(crate) while_subscribed: bool,
    /// It runs between MULTI and EXEC, instead of being queued.
    pub(crate) within_multi: bool,
    /// Scripts may call it.
    pub(crate) scripts: bool,
    /// It waits as long as it would return nothing; its timeout is the first or the last word.
    pub(crate) waits: Option<Timeout>,
}

/// Which argument of a command that waits says how long.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timeout {
    First,
    Last,
}

impl Command {
    pub(crate) fn takes(&self, words: usize) -> bool {
        let words = i64::try_from(words).unwrap_or(i64::MAX);
        if self.arity < 0 { words >= -self.arity } else { words == self.arity }
    }

    pub(crate) const fn of(name: &'static str, arity: i64, keys: (i64, i64, i64), kind: Kind) -> Self {
        Command {
            name,
            arity,
            writes: false,
            keys,
            kind,
            without_auth: false,
            while_subscribed: false,
            within_multi: false,
            scripts: true,
            waits: None,
        }
    }
}
