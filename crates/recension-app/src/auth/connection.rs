//! What is known of a connection: its address, and the account of the last `Authorization: Basic` that it sent. Most
//! clients send the same header with every request, so that it is looked up once. The identity is still decided for
//! each request: another header is looked up anew, and the remembered account counts only while nothing that it rests
//! on has changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderValue;
use parking_lot::Mutex;
use tokio::sync::OwnedSemaphorePermit;

use super::realm::Realm;
use super::users::{self, Account};
use recension_wire::arriving::Address;
use recension_wire::connections::{Line, UnderWay};
use recension_wire::error::Result;
use recension_wire::limits::REMEMBERED_SECONDS;

/// A connection.
#[derive(Debug, Default)]
pub struct Connection {
    address: Address,
    last: Mutex<Option<Remembered>>,
    /// Its place among the connections that there may be, which a WebSocket keeps.
    _place: Option<OwnedSemaphorePermit>,
    /// What it waits for, if it may be closed for another.
    line: Option<Arc<Line>>,
}

struct Remembered {
    header: HeaderValue,
    account: Arc<Account>,
    since: Instant,
}

impl std::fmt::Debug for Remembered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the header: it is a password.
        f.debug_struct("Remembered").field("identity", &self.account.identity).finish_non_exhaustive()
    }
}

impl Connection {
    /// One from an address; unix sockets have none.
    pub fn from(address: Address) -> Self {
        Connection { address, ..Connection::default() }
    }

    /// The same, with its place among the connections that there may be.
    pub fn placed(address: Address, place: OwnedSemaphorePermit, line: Arc<Line>) -> Self {
        Connection { address, last: Mutex::default(), _place: Some(place), line: Some(line) }
    }

    /// A request begins.
    pub fn begin(&self) -> Option<UnderWay> {
        self.line.as_ref().map(Line::begin)
    }

    /// Its line among the connections that may be closed for another.
    pub fn line(&self) -> Option<&Arc<Line>> {
        self.line.as_ref()
    }

    /// Where it comes from.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The account of the header, if it is the header of the request before and nothing has changed since.
    pub(super) fn recall(&self, realm: &Realm, header: &HeaderValue) -> Result<Option<Arc<Account>>> {
        let fresh = Duration::from_secs(REMEMBERED_SECONDS);
        let known = |last: &&Remembered| same(&last.header, header) && last.since.elapsed() < fresh;
        // The lock is not held while the store is read.
        let account = self.last.lock().as_ref().filter(known).map(|last| Arc::clone(&last.account));
        match account {
            Some(account) if users::stands(realm, &account)? => Ok(Some(account)),
            _ => Ok(None),
        }
    }

    /// Remembers whose header this is. The header was checked before.
    pub(super) fn remember(&self, header: &HeaderValue, account: &Arc<Account>) {
        let (header, account) = (header.clone(), Arc::clone(account));
        *self.last.lock() = Some(Remembered { header, account, since: Instant::now() });
    }
}

/// Whether two headers are the same, in a time that does not tell where they differ.
fn same(one: &HeaderValue, other: &HeaderValue) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    one.len() == other.len() && one.iter().zip(other).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
}
