//! The commands: a table of their names, arguments and functions. One file for each family.

mod connection;
mod expiry;
mod hash_documents;
mod hashes;
mod keyspace;
mod lists;
mod numbers;
mod pubsub;
mod ranges;
mod scripts;
mod server;
mod sets;
mod sorted_combine;
mod sorted_ranges;
mod sorted_sets;
mod strings;

use crate::command::{Command, Kind, Timeout};
use crate::data::{Args, Data, Outcome};
use crate::door::Caller;
use crate::reply::Reply;

const NONE: (i64, i64, i64) = (0, 0, 0);
const ONE: (i64, i64, i64) = (1, 1, 1);
const ALL: (i64, i64, i64) = (1, -1, 1);
const PAIRS: (i64, i64, i64) = (1, -1, 2);

const fn read(
    name: &'static str,
    arity: i64,
    keys: (i64, i64, i64),
    run: fn(&Data<'_>, Args<'_>) -> Outcome,
) -> Command {
    Command::of(name, arity, keys, Kind::Data(run))
}

const fn write(
    name: &'static str,
    arity: i64,
    keys: (i64, i64, i64),
    run: fn(&Data<'_>, Args<'_>) -> Outcome,
) -> Command {
    Command { writes: true, ..Command::of(name, arity, keys, Kind::Data(run)) }
}

const fn caller(name: &'static str, arity: i64, run: fn(&mut Caller, Args<'_>) -> Reply) -> Command {
    Command::of(name, arity, NONE, Kind::Caller(run))
}

const fn open(name: &'static str, arity: i64, run: fn(&mut Caller, Args<'_>) -> Reply) -> Command {
    Command { without_auth: true, while_subscribed: true, within_multi: true, ..caller(name, arity, run) }
}

const fn multi(name: &'static str, arity: i64, run: fn(&mut Caller, Args<'_>) -> Reply) -> Command {
    Command { within_multi: true, ..caller(name, arity, run) }
}

const fn listening(name: &'static str, arity: i64, run: fn(&mut Caller, Args<'_>, &mut Vec<Reply>)) -> Command {
    Command { while_subscribed: true, ..Command::of(name, arity, NONE, Kind::Replies(run)) }
}

/// A command that waits while it would return nothing.
const fn waiting(
    name: &'static str,
    arity: i64,
    keys: (i64, i64, i64),
    timeout: Timeout,
    run: fn(&Data<'_>, Args<'_>) -> Outcome,
) -> Command {
    Command { waits: Some(timeout), scripts: false, ..write(name, arity, keys, run) }
}

fn echo(args: Args<'_>) -> Reply {
    Reply::Bulk(args[1].to_vec())
}

/// All commands, in the order of their names.
pub(crate) static COMMANDS: &[Command] = &[
    write("APPEND", 3, ONE, strings::append),
    Command { while_subscribed: false, within_multi: false, ..open("AUTH", -2, connection::auth) },
    waiting("BLMOVE", 6, (1, 2, 1), Timeout::Last, lists::blmove),
    waiting("BLMPOP", -5, NONE, Timeout::First, lists::blmpop),
    waiting("BLPOP", -3, (1, -2, 1), Timeout::Last, lists::blpop),
    waiting("BRPOP", -3, (1, -2, 1), Timeout::Last, lists::brpop),
    waiting("BRPOPLPUSH", 4, (1, 2, 1), Timeout::Last, lists::brpoplpush),
    waiting("BZMPOP", -5, NONE, Timeout::First, sorted_ranges::bzmpop),
    waiting("BZPOPMAX", -3, (1, -2, 1), Timeout::Last, sorted_ranges::bzpopmax),
    waiting("BZPOPMIN", -3, (1, -2, 1), Timeout::Last, sorted_ranges::bzpopmin),
    caller("CLIENT", -2, connection::client),
    caller("COMMAND", -1, server::command),
    caller("CONFIG", -2, server::config),
    write("COPY", -3, (1, 2, 1), keyspace::copy),
    read("DBSIZE", 1, NONE, keyspace::dbsize),
    write("DECR", 2, ONE, numbers::decr),
    write("DECRBY", 3, ONE, numbers::decrby),
    write("DEL", -2, ALL, keyspace::del),
    multi("DISCARD", 1, |caller, _| caller.discard()),
    Command::of("ECHO", 2, NONE, Kind::Either(|_, args| echo(args), |_, args| Ok(echo(args)))),
    Command { scripts: false, ..write("EVAL", -3, NONE, scripts::eval) },
    Command { scripts: false, ..write("EVALSHA", -3, NONE, scripts::evalsha) },
    Command { scripts: false, ..write("EVALSHA_RO", -3, NONE, scripts::evalsha_ro) },
    Command { scripts: false, ..write("EVAL_RO", -3, NONE, scripts::eval_ro) },
    multi("EXEC", 1, |caller, _| caller.exec()),
    read("EXISTS", -2, ALL, keyspace::exists),
    write("EXPIRE", -3, ONE, expiry::expire),
    write("EXPIREAT", -3, ONE, expiry::expireat),
    read("EXPIRETIME", 2, ONE, expiry::expiretime),
    Command { writes: true, ..Command::of("FLUSHALL", -1, NONE, Kind::Either(server::flushall, keyspace::flushall)) },
    Command { writes: true, ..Command::of("FLUSHDB", -1, NONE, Kind::Either(server::flushdb, keyspace::flushdb)) },
    read("GET", 2, ONE, strings::get),
    write("GETDEL", 2, ONE, strings::getdel),
    write("GETEX", -2, ONE, strings::getex),
    read("GETRANGE", 4, ONE, strings::getrange),
    write("GETSET", 3, ONE, strings::getset),
    write("HDEL", -3, ONE, hashes::hdel),
    Command { while_subscribed: false, within_multi: false, ..open("HELLO", -1, connection::hello) },
    read("HEXISTS", 3, ONE, hashes::hexists),
    read("HGET", 3, ONE, hashes::hget),
    read("HGETALL", 2, ONE, hashes::hgetall),
    write("HINCRBY", 4, ONE, hashes::hincrby),
    write("HINCRBYFLOAT", 4, ONE, hashes::hincrbyfloat),
    read("HKEYS", 2, ONE, hashes::hkeys),
    read("HLEN", 2, ONE, hashes::hlen),
    read("HMGET", -3, ONE, hashes::hmget),
    write("HMSET", -4, ONE, hashes::hmset),
    read("HRANDFIELD", -2, ONE, hashes::hrandfield),
    read("HSCAN", -3, ONE, hashes::hscan),
    write("HSET", -4, ONE, hashes::hset),
    write("HSETNX", 4, ONE, hashes::hsetnx),
    read("HSTRLEN", 3, ONE, hashes::hstrlen),
    read("HVALS", 2, ONE, hashes::hvals),
    write("INCR", 2, ONE, numbers::incr),
    write("INCRBY", 3, ONE, numbers::incrby),
    write("INCRBYFLOAT", 3, ONE, numbers::incrbyfloat),
    caller("INFO", -1, server::info),
    read("KEYS", 2, NONE, keyspace::keys),
    read("LINDEX", 3, ONE, lists::lindex),
    write("LINSERT", 5, ONE, lists::linsert),
    read("LLEN", 2, ONE, lists::llen),
    write("LMOVE", 5, (1, 2, 1), lists::lmove),
    write("LMPOP", -4, NONE, lists::lmpop),
    write("LPOP", -2, ONE, lists::lpop),
    read("LPOS", -3, ONE, lists::lpos),
    write("LPUSH", -3, ONE, lists::lpush),
    write("LPUSHX", -3, ONE, lists::lpushx),
    read("LRANGE", 4, ONE, lists::lrange),
    write("LREM", 4, ONE, lists::lrem),
    write("LSET", 4, ONE, lists::lset),
    write("LTRIM", 4, ONE, lists::ltrim),
    read("MGET", -2, ALL, strings::mget),
    write("MOVE", 3, ONE, keyspace::move_key),
    write("MSET", -3, PAIRS, strings::mset),
    write("MSETNX", -3, PAIRS, strings::msetnx),
    multi("MULTI", 1, |caller, _| caller.multi()),
    write("PERSIST", 2, ONE, expiry::persist),
    write("PEXPIRE", -3, ONE, expiry::pexpire),
    write("PEXPIREAT", -3, ONE, expiry::pexpireat),
    read("PEXPIRETIME", 2, ONE, expiry::pexpiretime),
    Command { within_multi: false, without_auth: false, ..open("PING", -1, connection::ping) },
    write("PSETEX", 4, ONE, strings::psetex),
    listening("PSUBSCRIBE", -2, pubsub::psubscribe),
    read("PTTL", 2, ONE, expiry::pttl),
    read("PUBLISH", 3, NONE, pubsub::publish),
    caller("PUBSUB", -2, pubsub::pubsub),
    listening("PUNSUBSCRIBE", -1, pubsub::punsubscribe),
    open("QUIT", -1, connection::quit),
    read("RANDOMKEY", 1, NONE, keyspace::randomkey),
    write("RENAME", 3, (1, 2, 1), keyspace::rename),
    write("RENAMENX", 3, (1, 2, 1), keyspace::renamenx),
    open("RESET", 1, connection::reset),
    write("RPOP", -2, ONE, lists::rpop),
    write("RPOPLPUSH", 3, (1, 2, 1), lists::rpoplpush),
    write("RPUSH", -3, ONE, lists::rpush),
    write("RPUSHX", -3, ONE, lists::rpushx),
    write("SADD", -3, ONE, sets::sadd),
    read("SCAN", -2, NONE, keyspace::scan),
    read("SCARD", 2, ONE, sets::scard),
    caller("SCRIPT", -2, scripts::script),
    read("SDIFF", -2, ALL, sets::sdiff),
    write("SDIFFSTORE", -3, ALL, sets::sdiffstore),
    caller("SELECT", 2, connection::select),
    write("SET", -3, ONE, strings::set),
    write("SETEX", 4, ONE, strings::setex),
    write("SETNX", 3, ONE, strings::setnx),
    write("SETRANGE", 4, ONE, strings::setrange),
    read("SINTER", -2, ALL, sets::sinter),
    read("SINTERCARD", -3, NONE, sets::sintercard),
    write("SINTERSTORE", -3, ALL, sets::sinterstore),
    read("SISMEMBER", 3, ONE, sets::sismember),
    read("SMEMBERS", 2, ONE, sets::smembers),
    read("SMISMEMBER", -3, ONE, sets::smismember),
    write("SMOVE", 4, (1, 2, 1), sets::smove),
    write("SPOP", -2, ONE, sets::spop),
    read("SRANDMEMBER", -2, ONE, sets::srandmember),
    write("SREM", -3, ONE, sets::srem),
    read("SSCAN", -3, ONE, sets::sscan),
    read("STRLEN", 2, ONE, strings::strlen),
    listening("SUBSCRIBE", -2, pubsub::subscribe),
    read("SUBSTR", 4, ONE, strings::getrange),
    read("SUNION", -2, ALL, sets::sunion),
    write("SUNIONSTORE", -3, ALL, sets::sunionstore),
    Command::of("TIME", 1, NONE, Kind::Either(|_, _| server::time(), |_, _| Ok(server::time()))),
    read("TOUCH", -2, ALL, keyspace::exists),
    read("TTL", 2, ONE, expiry::ttl),
    read("TYPE", 2, ONE, keyspace::type_of),
    write("UNLINK", -2, ALL, keyspace::del),
    listening("UNSUBSCRIBE", -1, pubsub::unsubscribe),
    caller("UNWATCH", 1, connection::unwatch),
    multi("WATCH", -2, |caller, args| caller.watch(&args[1..])),
    write("ZADD", -4, ONE, sorted_sets::zadd),
    read("ZCARD", 2, ONE, sorted_sets::zcard),
    read("ZCOUNT", 4, ONE, sorted_ranges::zcount),
    read("ZDIFF", -3, NONE, sorted_combine::zdiff),
    write("ZDIFFSTORE", -4, ONE, sorted_combine::zdiffstore),
    write("ZINCRBY", 4, ONE, sorted_sets::zincrby),
    read("ZINTER", -3, NONE, sorted_combine::zinter),
    read("ZINTERCARD", -3, NONE, sorted_combine::zintercard),
    write("ZINTERSTORE", -4, ONE, sorted_combine::zinterstore),
    read("ZLEXCOUNT", 4, ONE, sorted_ranges::zlexcount),
    write("ZMPOP", -4, NONE, sorted_ranges::zmpop),
    read("ZMSCORE", -3, ONE, sorted_sets::zmscore),
    write("ZPOPMAX", -2, ONE, sorted_ranges::zpopmax),
    write("ZPOPMIN", -2, ONE, sorted_ranges::zpopmin),
    read("ZRANDMEMBER", -2, ONE, sorted_sets::zrandmember),
    read("ZRANGE", -4, ONE, sorted_ranges::zrange),
    read("ZRANGEBYLEX", -4, ONE, sorted_ranges::zrangebylex),
    read("ZRANGEBYSCORE", -4, ONE, sorted_ranges::zrangebyscore),
    write("ZRANGESTORE", -5, (1, 2, 1), sorted_ranges::zrangestore),
    read("ZRANK", -3, ONE, sorted_sets::zrank),
    write("ZREM", -3, ONE, sorted_sets::zrem),
    write("ZREMRANGEBYLEX", 4, ONE, sorted_ranges::zremrangebylex),
    write("ZREMRANGEBYRANK", 4, ONE, sorted_ranges::zremrangebyrank),
    write("ZREMRANGEBYSCORE", 4, ONE, sorted_ranges::zremrangebyscore),
    read("ZREVRANGE", -4, ONE, sorted_ranges::zrevrange),
    read("ZREVRANGEBYLEX", -4, ONE, sorted_ranges::zrevrangebylex),
    read("ZREVRANGEBYSCORE", -4, ONE, sorted_ranges::zrevrangebyscore),
    read("ZREVRANK", -3, ONE, sorted_sets::zrevrank),
    read("ZSCAN", -3, ONE, sorted_sets::zscan),
    read("ZSCORE", 3, ONE, sorted_sets::zscore),
    read("ZUNION", -3, NONE, sorted_combine::zunion),
    write("ZUNIONSTORE", -4, ONE, sorted_combine::zunionstore),
];

/// The command with this name, in upper or lower case.
pub(crate) fn find(name: &[u8]) -> Option<&'static Command> {
    let mut upper = [0; 16];
    let upper = upper.get_mut(..name.len())?;
    upper.copy_from_slice(name);
    upper.make_ascii_uppercase();
    let found = COMMANDS.binary_search_by(|command| command.name.as_bytes().cmp(upper)).ok()?;
    COMMANDS.get(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_found_by_their_names() {
        assert!(COMMANDS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for command in COMMANDS {
            let found = find(command.name.to_ascii_lowercase().as_bytes()).map(|found| found.name);
            assert_eq!(found, Some(command.name));
        }
        assert!(find(b"").is_none() && find(b"nothing").is_none() && find(&[b'x'; 99]).is_none());
    }

    #[test]
    fn the_guide_lists_every_command_and_no_other() {
        let guide = include_str!("../../../../docs/src/redis.md");
        let listed = |name: &str| guide.contains(&format!("`{name}`"));
        let missing: Vec<_> = COMMANDS.iter().map(|command| command.name).filter(|name| !listed(name)).collect();
        assert!(missing.is_empty(), "docs/src/redis.md does not list {missing:?}");
    }
}
