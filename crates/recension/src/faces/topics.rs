//! Publish and subscribe within a process: messages under topics, at most once, to the present subscribers. Nothing is
//! stored. A message that must arrive should be a document, read by consumers (`Collection::consumer`).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::RwLock;
use recension_engine::BranchId;
use recension_engine::budget::{Budget, Holding, Share};

use crate::faces::store::Store;
use crate::faces::topic_inbox::Inbox;
use recension_values::error::{Error, Result};
use recension_values::glob::Glob;
use recension_values::limits::{
    MESSAGE_BYTES_MAX, QUEUED_OF_ALL_BYTES_MAX, SUBSCRIPTION_BYTES, SUBSCRIPTION_BYTES_MAX, SUBSCRIPTIONS_MAX,
    SUBSCRIPTIONS_OF_ALL_BYTES_MAX, TOPIC_BYTES_MAX,
};

/// A published message.
#[derive(Debug)]
pub struct Message {
    /// The topic.
    pub topic: Vec<u8>,
    /// The content.
    pub payload: Vec<u8>,
    /// Its part of what may wait for all subscribers.
    _room: Share,
}

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        (&self.topic, &self.payload) == (&other.topic, &other.payload)
    }
}

impl Eq for Message {}

/// An item that a subscriber receives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// A message, and the pattern by which it came, if it came by one.
    Message(Arc<Message>, Option<Arc<[u8]>>),
    /// So many messages came while the subscriber's queue was full. They are lost to it.
    Missed(u64),
}

/// The topics of a store: [`Store::topics`].
#[derive(Clone)]
pub struct Topics {
    hub: Arc<Hub>,
    branch: BranchId,
}

/// The subscribers of a store, by branch: however often a branch is opened in a process, its topics are the same.
pub(crate) struct Hub {
    listeners: RwLock<HashMap<BranchId, Listeners>>,
    /// What waits for all of them.
    room: Arc<Budget>,
    /// The names that all of them subscribe to.
    names: Arc<Budget>,
}

impl Default for Hub {
    fn default() -> Self {
        let (room, names) = (Budget::new(QUEUED_OF_ALL_BYTES_MAX), Budget::new(SUBSCRIPTIONS_OF_ALL_BYTES_MAX));
        Hub { listeners: RwLock::default(), room, names }
    }
}

/// By topic and pattern.
#[derive(Default)]
struct Listeners {
    by_topic: HashMap<Vec<u8>, Vec<Arc<Inbox>>>,
    by_pattern: Vec<(Arc<[u8]>, Glob, Arc<Inbox>)>,
}

impl Store {
    /// The topics of this process: every clone of this store publishes to the same. A branch has its own, however often
    /// it is opened from this store.
    ///
    /// ```
    /// # fn main() -> recension::Result<()> {
    /// use recension::Received;
    ///
    /// let store = recension::open("memory:")?;
    /// let mut subscription = store.topics().subscriber();
    /// subscription.subscribe_pattern("orders.*")?;
    /// assert_eq!(store.topics().publish("orders.new", "one pizza")?, 1);
    /// let Some(Received::Message(message, _)) = subscription.try_next() else { panic!("nothing came") };
    /// assert_eq!(message.payload, b"one pizza");
    /// # Ok(()) }
    /// ```
    pub fn topics(&self) -> Topics {
        Topics { hub: self.hub().clone(), branch: self.branch_id() }
    }
}

impl Topics {
    /// Publishes a message; answers into how many queues it was put, as Redis counts. It never waits.
    ///
    /// # Errors
    /// [`Error::BadName`], [`Error::BadField`] for a topic or a message that is too long.
    pub fn publish(&self, topic: impl AsRef<[u8]>, payload: impl AsRef<[u8]>) -> Result<usize> {
        let (topic, payload) = (topic.as_ref(), payload.as_ref());
        check_topic(topic)?;
        if payload.len() > MESSAGE_BYTES_MAX {
            return Err(Error::BadField { field: "message", expected: "at most 8 MiB" });
        }
        let all = self.hub.listeners.read();
        let Some(listeners) = all.get(&self.branch) else { return Ok(0) };
        let exact = listeners.by_topic.get(topic).map(Vec::as_slice).unwrap_or_default();
        let mut patterns = listeners.by_pattern.iter().filter(|(_, glob, _)| glob.matches(topic)).peekable();
        if exact.is_empty() && patterns.peek().is_none() {
            return Ok(0);
        }
        let Some(room) = self.hub.room_for(topic.len() + payload.len(), &all) else {
            // It is in nobody's queue, and each is told so.
            exact.iter().chain(patterns.map(|(.., inbox)| inbox)).for_each(|inbox| inbox.miss());
            return Ok(0);
        };
        let message = Arc::new(Message { topic: topic.to_vec(), payload: payload.to_vec(), _room: room });
        let mut told = 0;
        for inbox in exact {
            inbox.put(&message, None);
            told += 1;
        }
        for (pattern, _, inbox) in patterns {
            inbox.put(&message, Some(pattern));
            told += 1;
        }
        Ok(told)
    }

    /// A subscriber without topics. Its queue holds a thousand messages and 8 MiB.
    pub fn subscriber(&self) -> Subscriber {
        let (hub, branch) = (self.hub.clone(), self.branch);
        let kept = Holding::new(&hub.names);
        Subscriber { hub, branch, inbox: Arc::default(), topics: Vec::new(), patterns: Vec::new(), kept }
    }

    /// The topics that have subscribers by name, in no order.
    pub fn listened(&self) -> Vec<Vec<u8>> {
        let all = self.hub.listeners.read();
        all.get(&self.branch).map(|own| own.by_topic.keys().cloned().collect()).unwrap_or_default()
    }

    /// How many subscribers a topic has by its name.
    pub fn subscribers_of(&self, topic: impl AsRef<[u8]>) -> usize {
        let all = self.hub.listeners.read();
        all.get(&self.branch).and_then(|own| own.by_topic.get(topic.as_ref())).map_or(0, Vec::len)
    }

    /// How many patterns have subscribers.
    pub fn patterns(&self) -> usize {
        let all = self.hub.listeners.read();
        let of =
            |own: &Listeners| own.by_pattern.iter().map(|(pattern, ..)| &pattern[..]).collect::<BTreeSet<_>>().len();
        all.get(&self.branch).map_or(0, of)
    }
}

fn check_topic(topic: &[u8]) -> Result<()> {
    if topic.len() <= TOPIC_BYTES_MAX {
        return Ok(());
    }
    let name = String::from_utf8_lossy(topic).chars().take(80).collect();
    Err(Error::BadName { what: "topic", name, why: "a topic is at most 8000 bytes long" })
}

/// What a name takes: it is kept by its subscriber and in the table of all, where there is a list of subscribers.
fn weight(name: &[u8]) -> usize {
    2 * name.len() + SUBSCRIPTION_BYTES
}

/// A subscriber. Dropping it ends its subscriptions.
pub struct Subscriber {
    hub: Arc<Hub>,
    branch: BranchId,
    inbox: Arc<Inbox>,
    topics: Vec<Vec<u8>>,
    patterns: Vec<Arc<[u8]>>,
    kept: Holding,
}

impl Subscriber {
    /// Subscribes to a topic from now on.
    ///
    /// # Errors
    /// [`Error::BadName`]; [`Error::BadField`] beyond ten thousand topics and patterns.
    pub fn subscribe(&mut self, topic: impl AsRef<[u8]>) -> Result<()> {
        let topic = topic.as_ref();
        check_topic(topic)?;
        if self.topics.iter().any(|own| own == topic) {
            return Ok(());
        }
        self.make_room(topic)?;
        self.topics.push(topic.to_vec());
        self.hub.change(self.branch, |own| own.by_topic.entry(topic.to_vec()).or_default().push(self.inbox.clone()));
        Ok(())
    }

    /// Subscribes to all topics that fit a pattern: `*` is any bytes, `?` one byte, `[a-z]` one of these.
    ///
    /// # Errors
    /// As [`Subscriber::subscribe`].
    pub fn subscribe_pattern(&mut self, pattern: impl AsRef<[u8]>) -> Result<()> {
        let pattern = pattern.as_ref();
        check_topic(pattern)?;
        if self.patterns.iter().any(|own| **own == *pattern) {
            return Ok(());
        }
        self.make_room(pattern)?;
        let shared: Arc<[u8]> = Arc::from(pattern);
        self.patterns.push(shared.clone());
        let listener = (shared, Glob::new(pattern), self.inbox.clone());
        self.hub.change(self.branch, |own| own.by_pattern.push(listener));
        Ok(())
    }

    fn make_room(&mut self, name: &[u8]) -> Result<()> {
        if self.listening() >= SUBSCRIPTIONS_MAX {
            return Err(Error::BadField { field: "subscriptions", expected: "at most 10000 of one subscriber" });
        }
        let patterns = self.patterns.iter().map(|pattern| pattern.len());
        if self.topics.iter().map(Vec::len).chain(patterns).sum::<usize>() > SUBSCRIPTION_BYTES_MAX {
            return Err(Error::BadField { field: "subscriptions", expected: "names of at most 1 MiB in all" });
        }
        if !self.kept.grow(weight(name)) {
            return Err(Error::BadField {
                field: "subscriptions",
                expected: "less by other subscribers: try again later",
            });
        }
        Ok(())
    }

    /// Ends the subscription to a topic.
    pub fn unsubscribe(&mut self, topic: impl AsRef<[u8]>) {
        let topic = topic.as_ref();
        let before = self.topics.len();
        self.topics.retain(|own| own != topic);
        if self.topics.len() < before {
            self.kept.shrink(weight(topic));
        }
        self.hub.change(self.branch, |own| own.forget_topic(topic, &self.inbox));
    }

    /// Ends the subscription to a pattern.
    pub fn unsubscribe_pattern(&mut self, pattern: impl AsRef<[u8]>) {
        let pattern = pattern.as_ref();
        let before = self.patterns.len();
        self.patterns.retain(|own| **own != *pattern);
        if self.patterns.len() < before {
            self.kept.shrink(weight(pattern));
        }
        let is_it = |own: &[u8], inbox: &Arc<Inbox>| own == pattern && Arc::ptr_eq(inbox, &self.inbox);
        self.hub.change(self.branch, |all| all.by_pattern.retain(|(own, _, inbox)| !is_it(own, inbox)));
    }

    /// The topics that it subscribes to by name.
    pub fn topics(&self) -> &[Vec<u8>] {
        &self.topics
    }

    /// The patterns that it subscribes to.
    pub fn patterns(&self) -> &[Arc<[u8]>] {
        &self.patterns
    }

    /// How many topics and patterns it subscribes to.
    pub fn listening(&self) -> usize {
        self.topics.len() + self.patterns.len()
    }

    /// The next message if there is one.
    pub fn try_next(&mut self) -> Option<Received> {
        self.inbox.take()
    }

    /// The next message, waiting at most `timeout` for it.
    pub fn next_timeout(&mut self, timeout: Duration) -> Option<Received> {
        self.inbox.wait(timeout)
    }

    /// The next message, for tasks.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Received> {
        self.inbox.poll(context)
    }
}

impl Hub {
    /// Room for a message. If there is none, those who have the most waiting are slow: they lose it.
    fn room_for(&self, bytes: usize, listeners: &HashMap<BranchId, Listeners>) -> Option<Share> {
        loop {
            if let Some(room) = self.room.at_once(bytes) {
                return Some(room);
            }
            let all = || listeners.values().flat_map(Listeners::inboxes);
            let longest = all().map(|inbox| inbox.bytes()).max().filter(|longest| *longest > 0)?;
            all().filter(|inbox| inbox.bytes() > longest / 2).for_each(|inbox| inbox.lose());
        }
    }

    fn change(&self, branch: BranchId, change: impl FnOnce(&mut Listeners)) {
        let mut listeners = self.listeners.write();
        let own = listeners.entry(branch).or_default();
        change(own);
        if own.by_topic.is_empty() && own.by_pattern.is_empty() {
            listeners.remove(&branch);
        }
    }
}

impl Listeners {
    fn inboxes(&self) -> impl Iterator<Item = &Arc<Inbox>> {
        self.by_topic.values().flatten().chain(self.by_pattern.iter().map(|(.., own)| own))
    }

    fn forget_topic(&mut self, topic: &[u8], inbox: &Arc<Inbox>) {
        if let Some(inboxes) = self.by_topic.get_mut(topic) {
            inboxes.retain(|other| !Arc::ptr_eq(other, inbox));
            if inboxes.is_empty() {
                self.by_topic.remove(topic);
            }
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        for topic in std::mem::take(&mut self.topics) {
            self.hub.change(self.branch, |own| own.forget_topic(&topic, &self.inbox));
        }
        if !self.patterns.is_empty() {
            let others = |own: &mut Listeners| own.by_pattern.retain(|(.., inbox)| !Arc::ptr_eq(inbox, &self.inbox));
            self.hub.change(self.branch, others);
        }
    }
}
