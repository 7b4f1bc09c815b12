//! Durable topics: named consumers of a collection's changes, with acknowledgement, redelivery, groups and dead
//! letters. A topic is a collection, a message is a document, and the feed is the collection's changes. A consumer's
//! position and its unacknowledged messages are keys of one namespace.

use std::time::{Duration, Instant};

use crate::engine::{Direction, Seq, Timestamp};
use crate::faces::collection::Collection;
use crate::faces::keys_in_transaction::TransactionKeys;
use crate::faces::transaction::Transaction;
use crate::kernel::changes::change::{Change, Position};
use crate::kernel::changes::pages::page;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::consumer_rows::{NAMESPACE, delivery, delivery_key, position_key};
use crate::kernel::rows::key_rows::micros;
use recension_values::error::{Error, Result};
use recension_values::json::quote;
use recension_values::key_value::KeyValue;
use recension_values::limits::{CHANGES_PAGE, DELIVERED_BYTES_MAX, UNACKNOWLEDGED_MAX};
use recension_values::revid::RevId;
use recension_values::write::check_name;

/// How a consumer is served.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsumerOptions {
    since: Position,
    acknowledged_within: Duration,
    dead_letters: Option<(String, u32)>,
    deletions: bool,
}

impl Default for ConsumerOptions {
    fn default() -> Self {
        ConsumerOptions {
            since: Position::START,
            acknowledged_within: Duration::from_secs(30),
            dead_letters: None,
            deletions: false,
        }
    }
}

impl ConsumerOptions {
    /// The defaults: from the first change on; thirty seconds to acknowledge; a message is redelivered until it is
    /// acknowledged.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where a new consumer begins.
    #[must_use]
    pub fn since(mut self, since: impl Into<Position>) -> Self {
        self.since = since.into();
        self
    }

    /// The time after which an unacknowledged message is redelivered.
    #[must_use]
    pub fn acknowledged_within(mut self, duration: Duration) -> Self {
        self.acknowledged_within = duration;
        self
    }

    /// A message that was delivered `after` times without acknowledgement becomes a document of this collection, and is
    /// not redelivered.
    #[must_use]
    pub fn dead_letters(mut self, collection: impl Into<String>, after: u32) -> Self {
        self.dead_letters = Some((collection.into(), after.max(1)));
        self
    }

    /// Whether deletions are delivered, too.
    #[must_use]
    pub fn deletions(mut self, deletions: bool) -> Self {
        self.deletions = deletions;
        self
    }
}

/// A delivered message: a document as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The document.
    pub id: String,
    /// Its revision.
    pub rev: RevId,
    /// The commit that wrote it.
    pub seq: Seq,
    /// Whether the revision is a deletion.
    pub deleted: bool,
    /// Its body: JSON text.
    pub body: String,
    /// How often it has been delivered, including this time.
    pub attempt: u32,
}

/// What a consumer was handed, and what to wait for if that is nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HandedOut {
    /// The messages.
    pub deliveries: Vec<Delivery>,
    /// The commit that was looked at: there may be more behind the next one.
    pub seen: Seq,
    /// When something that was handed out before is due again.
    pub due: Option<Timestamp>,
}

/// Where a consumer stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConsumerStatus {
    /// The position behind the last delivered change.
    pub position: Position,
    /// The number of messages that were delivered and not acknowledged.
    pub unacknowledged: usize,
}

/// A named consumer of a collection's changes. Members of a group are consumers with the same name, in any process:
/// each message goes to one of them. Delivery is at least once: an unacknowledged message is delivered again.
///
/// If a document changes again before it is acknowledged, only its last change is delivered from then on. The feed of
/// changes does the same.
///
/// ```
/// # fn main() -> recension::Result<()> {
/// use recension::ConsumerOptions;
///
/// let store = recension::open("memory:")?;
/// let orders = store.collection("orders")?;
/// orders.create(None, r#"{"dish":"pizza"}"#)?;
/// let kitchen = orders.consumer("kitchen", ConsumerOptions::new().dead_letters("spoiled", 5))?;
/// for order in kitchen.receive(10)? {
///     // cook, then:
///     kitchen.acknowledge(&order)?;
/// }
/// assert!(kitchen.receive(10)?.is_empty());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Consumer {
    collection: Collection,
    name: String,
    options: ConsumerOptions,
}

impl Collection {
    /// A consumer of the collection's changes. It is stored from its first delivery on.
    ///
    /// # Errors
    /// [`Error::BadName`].
    pub fn consumer(&self, name: &str, options: ConsumerOptions) -> Result<Consumer> {
        check_name("consumer", name)?;
        if let Some((collection, _)) = &options.dead_letters {
            check_name("collection", collection)?;
        }
        Ok(Consumer { collection: self.clone(), name: name.to_owned(), options })
    }
}

/// The stored state of a delivery: when it is due again (8 bytes), how often it was delivered (4).
#[derive(Clone, Copy)]
struct Outstanding {
    due: u64,
    attempts: u32,
}

impl Outstanding {
    fn encode(self) -> Vec<u8> {
        [&self.due.to_be_bytes()[..], &self.attempts.to_be_bytes()].concat()
    }

    fn decode(value: KeyValue) -> Option<Self> {
        let bytes = value.into_bytes();
        let (due, attempts) = bytes.split_first_chunk()?;
        Some(Outstanding { due: u64::from_be_bytes(*due), attempts: u32::from_be_bytes(attempts.try_into().ok()?) })
    }
}

impl Consumer {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    fn key(&self, number: u32) -> Vec<u8> {
        position_key(number, &self.name)
    }

    fn delivery_key(&self, number: u32, seq: Seq, id: &str) -> Vec<u8> {
        delivery_key(number, &self.name, seq, id)
    }

    /// The next messages that no member of the group has, at most `max`, and fewer if they are longer than a megabyte
    /// together; none if there are none now. At most a thousand messages are unacknowledged at a time.
    pub fn receive(&self, max: usize) -> Result<Vec<Delivery>> {
        Ok(self.receive_now(max)?.deliveries)
    }

    /// The same, waiting at most `timeout` for the first one.
    pub fn receive_timeout(&self, max: usize, timeout: Duration) -> Result<Vec<Delivery>> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            let HandedOut { deliveries, seen, due } = self.receive_now(max)?;
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(Instant::now()));
            if !deliveries.is_empty() || left.is_zero() {
                return Ok(deliveries);
            }
            let again = due.map_or(Duration::MAX, |due| {
                Duration::from_micros(due.0.saturating_sub(self.collection.store().moment().0).max(1000))
            });
            self.collection.store().engine().wait_beyond(seen, left.min(again));
        }
    }

    /// What [`Consumer::receive`] answers, and what to wait for if that is nothing: for code that waits in its own way.
    pub fn receive_now(&self, max: usize) -> Result<HandedOut> {
        self.collection.store().transaction(|tx| {
            let messages = tx.collection(self.collection.name())?.reader()?;
            let mut deliveries = Vec::new();
            let Some(number) = messages.number().filter(|_| max > 0) else {
                return Ok(HandedOut { deliveries, seen: tx.seq(), due: None });
            };
            let keys = tx.keys(NAMESPACE)?;
            let mut take = Take { consumer: self, tx, messages: &messages, keys: &keys, number, due: None, bytes: 0 };
            let outstanding = take.again(max, &mut deliveries)?;
            let room = UNACKNOWLEDGED_MAX.saturating_sub(outstanding).min(max - deliveries.len());
            take.new_ones(room, &mut deliveries)?;
            Ok(HandedOut { deliveries, seen: tx.seq(), due: take.due.map(Timestamp) })
        })
    }

    /// Marks the message as done: it is not redelivered. Returns whether it was still unacknowledged.
    pub fn acknowledge(&self, delivery: &Delivery) -> Result<bool> {
        Ok(self.acknowledge_all(&[(delivery.seq, &delivery.id)])? == 1)
    }

    /// The same for several, in one commit: each is named by [`Delivery::seq`] and [`Delivery::id`]. Returns how many
    /// of them were still waited for.
    pub fn acknowledge_all(&self, deliveries: &[(Seq, &str)]) -> Result<usize> {
        self.outstanding(deliveries, |keys, key| Ok(keys.remove(key)?.is_some()))
    }

    /// Marks the message as not done: it is redelivered after this time.
    pub fn give_back(&self, delivery: &Delivery, after: Duration) -> Result<bool> {
        Ok(self.give_back_all(&[(delivery.seq, &delivery.id)], after)? == 1)
    }

    /// The same for several, in one commit.
    pub fn give_back_all(&self, deliveries: &[(Seq, &str)], after: Duration) -> Result<usize> {
        let due = self.due_after(after);
        self.outstanding(deliveries, |keys, key| {
            let Some(outstanding) = keys.get(key)?.and_then(Outstanding::decode) else { return Ok(false) };
            keys.set(key, Outstanding { due, ..outstanding }.encode())?;
            Ok(true)
        })
    }

    /// Of how many `body` says that they were waited for.
    fn outstanding(
        &self,
        deliveries: &[(Seq, &str)],
        body: impl Fn(&TransactionKeys<'_>, &[u8]) -> Result<bool>,
    ) -> Result<usize> {
        self.collection.store().transaction(|tx| {
            let Some(number) = tx.collection(self.collection.name())?.reader()?.number() else { return Ok(0) };
            let keys = tx.keys(NAMESPACE)?;
            let mut waited_for = 0;
            for (seq, id) in deliveries {
                waited_for += usize::from(body(&keys, &self.delivery_key(number, *seq, id))?);
            }
            Ok(waited_for)
        })
    }

    /// Its state; `None` before its first delivery.
    pub fn status(&self) -> Result<Option<ConsumerStatus>> {
        self.collection.store().transaction(|tx| {
            let Some(number) = tx.collection(self.collection.name())?.reader()?.number() else { return Ok(None) };
            let (keys, key) = (tx.keys(NAMESPACE)?, self.key(number));
            let Some(position) = keys.get(&key)? else { return Ok(None) };
            let unacknowledged = keys.scan(&key, Some(&key), UNACKNOWLEDGED_MAX + 1)?.len();
            Ok(Some(ConsumerStatus { position: position_of(position)?, unacknowledged }))
        })
    }

    /// Forgets it: a new consumer with its name begins anew.
    pub fn forget(&self) -> Result<()> {
        self.collection.store().transaction(|tx| {
            let Some(number) = tx.collection(self.collection.name())?.reader()?.number() else { return Ok(()) };
            let keys = tx.keys(NAMESPACE)?;
            for (key, _) in keys.scan(self.key(number), None, UNACKNOWLEDGED_MAX + 1)? {
                keys.remove(key)?;
            }
            Ok(())
        })
    }

    fn due_after(&self, duration: Duration) -> u64 {
        self.collection.store().moment().0.saturating_add(micros(duration))
    }
}

fn position_of(value: KeyValue) -> Result<Position> {
    String::from_utf8(value.into_bytes()).unwrap_or_default().parse()
}

/// Delivering, within a transaction.
struct Take<'t> {
    consumer: &'t Consumer,
    tx: &'t Transaction,
    messages: &'t CollectionAt,
    keys: &'t TransactionKeys<'t>,
    number: u32,
    /// When the next redelivery is due.
    due: Option<u64>,
    /// Bytes of the documents that were taken.
    bytes: usize,
}

impl Take<'_> {
    /// Whether further messages are left for the next time.
    fn is_full(&self) -> bool {
        self.bytes >= DELIVERED_BYTES_MAX
    }

    /// Redelivers messages that were not acknowledged in time. Returns how many are unacknowledged.
    fn again(&mut self, max: usize, deliveries: &mut Vec<Delivery>) -> Result<usize> {
        let (prefix, now) = (self.consumer.key(self.number), self.keys.moment().0);
        let mut outstanding = 0;
        for (key, entry) in self.keys.scan(&prefix, Some(&prefix), UNACKNOWLEDGED_MAX)? {
            let damaged = || Error::DamagedRow {
                what: format!("a delivery to the consumer {}", self.consumer.name),
                why: "it does not read",
            };
            let kept = Outstanding::decode(entry.value).ok_or_else(damaged)?;
            let (seq, id) = delivery(&key[prefix.len()..]).ok_or_else(damaged)?;
            if kept.due > now || deliveries.len() >= max || self.is_full() {
                self.due = Some(self.due.map_or(kept.due, |due| due.min(kept.due)));
                outstanding += 1;
                continue;
            }
            let dead = self.consumer.options.dead_letters.as_ref().filter(|(_, after)| kept.attempts >= *after);
            match (self.delivery(seq, id, kept.attempts + 1)?, dead) {
                // The document has changed since, or was purged: the feed has its last change.
                (None, _) => drop(self.keys.remove(&key)?),
                (Some(delivery), Some((collection, _))) => {
                    self.bury(collection, &delivery)?;
                    self.keys.remove(&key)?;
                }
                (Some(delivery), None) => {
                    self.hand_out(delivery, deliveries)?;
                    outstanding += 1;
                }
            }
        }
        Ok(outstanding)
    }

    /// Changes behind the consumer's position.
    fn new_ones(&mut self, room: usize, deliveries: &mut Vec<Delivery>) -> Result<()> {
        let Some(entry) = self.messages.entry.clone() else { return Ok(()) };
        let key = self.consumer.key(self.number);
        let known = self.keys.get(&key)?.map(position_of).transpose()?;
        let mut position = known.clone().unwrap_or_else(|| self.consumer.options.since.clone());
        let (mut left, name) = (room, self.messages.name.clone());
        while left > 0 && !self.is_full() {
            // The changes are read outside of the transaction's read set: only the position decides which of them are
            // taken.
            let read =
                page(self.tx.view().base(), &name, &entry, &position, Direction::Forward, left.min(CHANGES_PAGE))?;
            let is_last = read.end.is_some();
            for change in read.changes {
                if self.is_full() {
                    break;
                }
                position = change.position();
                let Change { seq, id, deleted, .. } = change;
                if deleted && !self.consumer.options.deletions {
                    continue;
                }
                if let Some(delivery) = self.delivery(seq, &id, 1)? {
                    self.hand_out(delivery, deliveries)?;
                    left -= 1;
                }
            }
            if is_last {
                break;
            }
        }
        if known.as_ref() != Some(&position) {
            self.keys.set(&key, position.to_string())?;
        }
        Ok(())
    }

    /// The message, if that commit still is the document's last change.
    fn delivery(&mut self, seq: Seq, id: &str, attempt: u32) -> Result<Option<Delivery>> {
        let Some(found) = self.messages.current(id)?.filter(|found| found.seq == seq) else { return Ok(None) };
        self.bytes += found.body.len();
        let (rev, deleted, body) = (found.rev, found.deleted, found.body.into_owned());
        Ok(Some(Delivery { id: id.to_owned(), rev, seq, deleted, body, attempt }))
    }

    fn hand_out(&mut self, delivery: Delivery, deliveries: &mut Vec<Delivery>) -> Result<()> {
        let due = self.consumer.due_after(self.consumer.options.acknowledged_within);
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        let outstanding = Outstanding { due, attempts: delivery.attempt };
        self.keys.set(self.consumer.delivery_key(self.number, delivery.seq, &delivery.id), outstanding.encode())?;
        deliveries.push(delivery);
        Ok(())
    }

    /// Makes a dead letter of the message.
    fn bury(&self, collection: &str, Delivery { id, rev, seq, body, attempt, .. }: &Delivery) -> Result<()> {
        let (from, consumer) = (quote(&self.messages.name), quote(&self.consumer.name));
        let (quoted, deliveries) = (quote(id), attempt - 1);
        let letter = format!(
            "{{\"collection\":{from},\"consumer\":{consumer},\"id\":{quoted},\"rev\":\"{rev}\",\"seq\":{seq},\
             \"deliveries\":{deliveries},\"document\":{body}}}"
        );
        self.tx.collection(collection)?.create(None, letter)?;
        Ok(())
    }
}
