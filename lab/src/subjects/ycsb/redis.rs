//! Redis: a hash a record, and a sorted set of all ids, since it has no order by itself.

use std::net::SocketAddr;
use std::path::Path;

use super::{Owner, Record, Records, Shared, address};
use crate::error::{LabError, Result};
use crate::servers::{Place, Process, redis};
use crate::subjects::goget::resp::{Connection, Reply};

const IDS: &[u8] = b"ids";

struct Owned {
    process: Process,
    address: SocketAddr,
}

pub(super) fn own(dir: &Path) -> Result<Box<dyn Owner>> {
    let (process, address) = redis::start(&Place { dir, traced: None })?;
    Ok(Box::new(Owned { process, address }))
}

pub(super) fn join(place: &str) -> Result<Box<dyn Shared>> {
    Ok(Box::new(Joined(address(place)?)))
}

impl Owner for Owned {
    fn place(&self) -> String {
        self.address.to_string()
    }
    fn settings(&self) -> String {
        format!("{}; a connection a client; a range is two requests: ids, then all of their hashes", redis::SETTINGS)
    }
    fn close(self: Box<Self>) -> Result<()> {
        self.process.stop()
    }
}

struct Joined(SocketAddr);

impl Shared for Joined {
    fn client(&self) -> Result<Box<dyn Records + '_>> {
        Ok(Box::new(Hashes(Connection::open(self.0)?)))
    }
}

struct Hashes(Connection);

fn strings(reply: Reply) -> Result<Vec<Vec<u8>>> {
    let unexpected =
        |reply| LabError::Subject { what: "Redis's reply".to_owned(), why: format!("{reply:?} was not expected") };
    let one = |reply| match reply {
        Reply::Bytes(bytes) => Ok(bytes),
        other => Err(unexpected(other)),
    };
    match reply {
        Reply::Several(all) => all.into_iter().map(one).collect(),
        other => Err(unexpected(other)),
    }
}

impl Hashes {
    /// One transaction: the hash and its id.
    fn add(&mut self, id: &str, record: &str) -> Result<()> {
        let fields: Vec<(String, String)> = serde_json::from_str::<std::collections::BTreeMap<_, _>>(record)
            .map_err(LabError::subject("a record"))?
            .into_iter()
            .collect();
        let mut words: Vec<&[u8]> = vec![b"HSET", id.as_bytes()];
        words.extend(fields.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
        self.0.add(&[b"MULTI"]);
        self.0.add(&words);
        self.0.add(&[b"ZADD", IDS, b"0", id.as_bytes()]);
        self.0.add(&[b"EXEC"]);
        Ok(())
    }
}

impl Records for Hashes {
    fn load(&mut self, records: &[(String, String)]) -> Result<()> {
        records.iter().try_for_each(|(id, record)| self.add(id, record))?;
        self.0.send().map(drop)
    }
    fn read(&mut self, id: &str) -> Result<Option<Record>> {
        let fields = strings(self.0.ask(&[b"HGETALL", id.as_bytes()])?)?;
        Ok((!fields.is_empty()).then_some(Record::Fields(fields)))
    }
    fn update(&mut self, id: &str, field: &str, value: &str) -> Result<()> {
        self.0.ask(&[b"HSET", id.as_bytes(), field.as_bytes(), value.as_bytes()]).map(drop)
    }
    fn insert(&mut self, id: &str, record: &str) -> Result<()> {
        self.add(id, record)?;
        self.0.send().map(drop)
    }
    fn scan(&mut self, first: &str, count: usize) -> Result<Vec<(String, Record)>> {
        let (from, count) = (format!("[{first}"), count.to_string());
        let words = [b"ZRANGEBYLEX".as_slice(), IDS, from.as_bytes(), b"+", b"LIMIT", b"0", count.as_bytes()];
        let ids = strings(self.0.ask(&words)?)?;
        for id in &ids {
            self.0.add(&[b"HGETALL", id]);
        }
        let found = if ids.is_empty() { Vec::new() } else { self.0.send()? };
        let row = |(id, reply): (&Vec<u8>, Reply)| {
            Ok((String::from_utf8_lossy(id).into_owned(), Record::Fields(strings(reply)?)))
        };
        ids.iter().zip(found).map(row).collect()
    }
}
