//! Channels, which are the store's topics.

use recension::Subscriber;

use super::server::unknown;
use crate::data::{Args, Data, Outcome, is, refuse};
use crate::door::{Caller, refused};
use crate::reply::Reply;

pub(super) fn publish(data: &Data<'_>, args: Args<'_>) -> Outcome {
    if args[2].len() > recension::limits::MESSAGE_BYTES_MAX {
        return Err(refuse("a message is at most 8 MiB long"));
    }
    // The number of receivers is known once the transaction is committed.
    data.publish(args[1], args[2]);
    Ok(Reply::Integer(0))
}

fn told(kind: &str, what: Reply, listening: usize) -> Reply {
    Reply::Push(vec![Reply::text(kind), what, Reply::count(listening)])
}

fn add(
    caller: &mut Caller,
    args: Args<'_>,
    replies: &mut Vec<Reply>,
    kind: &str,
    listen: fn(&mut Subscriber, &[u8]) -> recension::Result<()>,
) {
    let topics = caller.shared.store.topics();
    let subscriber = caller.subscriber.get_or_insert_with(|| topics.subscriber());
    for name in &args[1..] {
        replies.push(match listen(subscriber, name) {
            Ok(()) => told(kind, Reply::Bulk(name.to_vec()), subscriber.listening()),
            Err(error) => refused(error),
        });
    }
}

pub(super) fn subscribe(caller: &mut Caller, args: Args<'_>, replies: &mut Vec<Reply>) {
    add(caller, args, replies, "subscribe", |subscriber, name| subscriber.subscribe(name));
}

pub(super) fn psubscribe(caller: &mut Caller, args: Args<'_>, replies: &mut Vec<Reply>) {
    add(caller, args, replies, "psubscribe", |subscriber, name| subscriber.subscribe_pattern(name));
}

fn end(
    caller: &mut Caller,
    args: Args<'_>,
    replies: &mut Vec<Reply>,
    kind: &str,
    own: fn(&Subscriber) -> Vec<Vec<u8>>,
    forget: fn(&mut Subscriber, &[u8]),
) {
    let topics = caller.shared.store.topics();
    let subscriber = caller.subscriber.get_or_insert_with(|| topics.subscriber());
    let names: Vec<Vec<u8>> = match &args[1..] {
        [] => own(subscriber),
        named => named.iter().map(|name| name.to_vec()).collect(),
    };
    if names.is_empty() {
        replies.push(told(kind, Reply::Null, subscriber.listening()));
    }
    for name in names {
        forget(subscriber, &name);
        replies.push(told(kind, Reply::Bulk(name), subscriber.listening()));
    }
}

pub(super) fn unsubscribe(caller: &mut Caller, args: Args<'_>, replies: &mut Vec<Reply>) {
    let own = |subscriber: &Subscriber| subscriber.topics().to_vec();
    end(caller, args, replies, "unsubscribe", own, |subscriber, name| subscriber.unsubscribe(name));
}

pub(super) fn punsubscribe(caller: &mut Caller, args: Args<'_>, replies: &mut Vec<Reply>) {
    let own = |subscriber: &Subscriber| subscriber.patterns().iter().map(|pattern| pattern.to_vec()).collect();
    end(caller, args, replies, "punsubscribe", own, |subscriber, name| subscriber.unsubscribe_pattern(name));
}

pub(super) fn pubsub(caller: &mut Caller, args: Args<'_>) -> Reply {
    let topics = caller.shared.store.topics();
    match &args[1..] {
        [what, pattern @ ..] if is(what, "CHANNELS") && pattern.len() <= 1 => {
            let glob = pattern.first().map(recension::Glob::new);
            let mut listened = topics.listened();
            listened.retain(|topic| glob.as_ref().is_none_or(|glob| glob.matches(topic)));
            Reply::Array(listened.into_iter().map(Reply::Bulk).collect())
        }
        [what, named @ ..] if is(what, "NUMSUB") => {
            let count = |topic: &&[u8]| [Reply::Bulk(topic.to_vec()), Reply::count(topics.subscribers_of(topic))];
            Reply::Array(named.iter().flat_map(count).collect())
        }
        [what] if is(what, "NUMPAT") => Reply::count(topics.patterns()),
        _ => unknown(args, &["CHANNELS", "NUMSUB", "NUMPAT"]),
    }
}
