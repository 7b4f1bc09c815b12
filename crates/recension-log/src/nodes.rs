//! The nodes that follow a log, and their positions: every listed node writes a small blob now and then. Its clock is
//! shown and never relied upon: a node is live if its blob changes while somebody looks.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use recension_engine::{EngineError, Seq, Timestamp};

use crate::bytes_reader::{BytesReader, Short, put_sized};
use crate::engine::{Head, decode_head, encode_head};
use crate::limits::{NODE_INTERVAL, NODE_LISTED, NODE_LIVE};
use crate::record::{self, Id};
use crate::{Blobs, Position, Result, SharedLog, snapshot};

const PREFIX: &str = "node/";
/// How often a node that seems to be silent is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// How late a node's note may be.
const LATE: Duration = Duration::from_secs(1);

/// A node's note.
pub(crate) struct NodeNote {
    pub(crate) name: String,
    pub(crate) head: Head,
    /// The time of the note, by the node's own clock.
    pub(crate) time: Timestamp,
}

/// A node of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// The number of this opening of it.
    pub id: String,
    /// The newest record that it had applied.
    pub position: Position,
    /// The newest commit.
    pub seq: Seq,
    /// The hash over all records up to there.
    pub chain: String,
    /// The time of the note, by the node's own clock.
    pub said: Timestamp,
    /// Whether it was heard of lately. No clock decides that.
    pub live: bool,
}

/// The state of a log, as seen from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogStatus {
    /// The system's name.
    pub system: &'static str,
    /// Where it is, without passwords.
    pub place: String,
    /// The durability of an acknowledged commit.
    pub keeps: &'static str,
    /// The log's identity; empty if there is no record yet.
    pub log: String,
    /// The newest record.
    pub position: Position,
    /// The hash over all records up to it.
    pub chain: String,
    /// The positions of its snapshots.
    pub snapshots: Vec<Position>,
    /// Its nodes.
    pub nodes: Vec<NodeStatus>,
}

fn name(id: Id) -> String {
    format!("{PREFIX}{id}")
}

pub(crate) fn say(blobs: &dyn Blobs, id: Id, note: &NodeNote) -> Result<()> {
    let mut bytes = Vec::new();
    put_sized(&mut bytes, note.name.as_bytes());
    bytes.extend_from_slice(&encode_head(&note.head));
    bytes.extend_from_slice(&note.time.0.to_le_bytes());
    blobs.put(&name(id), &bytes)
}

pub(crate) fn leave(blobs: &dyn Blobs, id: Id) -> Result<()> {
    blobs.delete(&name(id))
}

fn decode(bytes: &[u8]) -> std::result::Result<NodeNote, Short> {
    let mut reader = BytesReader(bytes);
    let name = reader.text()?;
    let head = decode_head(&mut reader)?;
    Ok(NodeNote { name, head, time: Timestamp(reader.u64()?) })
}

/// The blobs of the nodes, by their names.
fn notes(blobs: &dyn Blobs) -> Result<Vec<(String, Vec<u8>)>> {
    let mut notes = Vec::new();
    for name in blobs.list(PREFIX)? {
        if let Some(bytes) = blobs.get(&name)? {
            notes.push((name, bytes));
        }
    }
    Ok(notes)
}

/// When the nodes were last heard of, by this process's clock.
#[derive(Default)]
pub(crate) struct Seen {
    /// Each node's note, and when it was new.
    notes: HashMap<String, (Vec<u8>, Instant)>,
}

impl Seen {
    /// The least position of a live node, as far as this process knows: a node that it sees for the first time may be
    /// live. A node that has been silent for long is no longer listed.
    pub(crate) fn oldest_position(&mut self, blobs: &dyn Blobs, now: Instant) -> Result<Option<Position>> {
        let mut oldest: Option<Position> = None;
        let mut seen = HashMap::new();
        for (name, bytes) in notes(blobs)? {
            let known = self.notes.remove(&name).filter(|(before, _)| *before == bytes);
            let since = known.map_or(now, |(_, since)| since);
            let silent = now.saturating_duration_since(since);
            if silent > NODE_LISTED {
                blobs.delete(&name)?;
                continue;
            }
            match decode(&bytes) {
                Ok(note) if silent <= NODE_LIVE => {
                    let position = note.head.position;
                    oldest = Some(oldest.map_or(position, |oldest| oldest.min(position)));
                }
                _ => {}
            }
            seen.insert(name, (bytes, since));
        }
        self.notes = seen;
        Ok(oldest)
    }
}

/// The nodes. Each is looked at until it writes a note, or should have: a node that has died a moment ago has a note as
/// new as a live one's.
fn nodes(blobs: &dyn Blobs) -> Result<Vec<NodeStatus>> {
    let first = notes(blobs)?;
    let mut waits: Vec<&(String, Vec<u8>)> = first.iter().collect();
    let end = Instant::now() + NODE_INTERVAL + LATE;
    while !waits.is_empty() && Instant::now() < end {
        std::thread::sleep(LOOK);
        let mut silent = Vec::new();
        for note in waits {
            if blobs.get(&note.0)?.as_ref() == Some(&note.1) {
                silent.push(note);
            }
        }
        waits = silent;
    }
    let silent: Vec<String> = waits.into_iter().map(|(name, _)| name.clone()).collect();
    let mut nodes = Vec::new();
    for (name, bytes) in notes(blobs)? {
        let Ok(note) = decode(&bytes) else { continue };
        nodes.push(NodeStatus {
            name: note.name,
            id: name.strip_prefix(PREFIX).unwrap_or_default().to_owned(),
            position: note.head.position,
            seq: note.head.seq,
            chain: note.head.chain.to_string(),
            said: note.time,
            live: !silent.contains(&name),
        });
    }
    Ok(nodes)
}

/// Asks a log and its nodes for their state. It waits until each node has said where it is, or should have.
pub fn log_status(log: &dyn SharedLog) -> std::result::Result<LogStatus, EngineError> {
    let profile = log.profile();
    // The end is asked for after the nodes: then none that the log agrees with is beyond it.
    let nodes = nodes(log.blobs())?;
    let position = log.tail(Position(0))?.before();
    let newest = if position == Position(0) { None } else { log.read(position, 1)?.into_iter().next() };
    let (id, chain) = match &newest {
        Some((at, bytes)) => (record::decode(*at, bytes)?.0.log.to_string(), record::chain_of(bytes).to_string()),
        None => Default::default(),
    };
    Ok(LogStatus {
        system: profile.system,
        place: profile.place,
        keeps: profile.keeps,
        log: id,
        position,
        chain,
        snapshots: snapshot::positions(log.blobs())?,
        nodes,
    })
}
