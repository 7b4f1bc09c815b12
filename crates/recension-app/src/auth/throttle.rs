//! How often somebody may try passwords. Attempts are counted when they begin, for the address and for the name at that
//! address. Beyond a handful, each attempt waits for its turn, one a second; if too many wait, it is refused. A success
//! clears the name's count. Names are not counted across addresses, so that nobody can lock another user out.
//!
//! Pure: the time comes in as an argument.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use recension_wire::arriving::Address;
use recension_wire::limits::{
    LOG_IN_ADDRESS_FREE, LOG_IN_FORGET_SECONDS, LOG_IN_INTERVAL_MS, LOG_IN_NAME_FREE, LOG_IN_TRACKED_MAX,
    LOG_IN_WAIT_MS_MAX,
};

#[derive(Clone, Copy, Debug)]
struct Attempts {
    count: u32,
    /// When the next attempt may be made.
    next: Instant,
    last: Instant,
}

/// Recent attempts by address and by name.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    names: Mutex<HashMap<(Address, String), Attempts>>,
    addresses: Mutex<HashMap<Address, Attempts>>,
}

impl Throttle {
    /// How long an attempt has to wait; `None`: it is refused.
    pub(crate) fn admit(&self, address: Address, name: &str, now: Instant) -> Option<Duration> {
        let by_name = admit(&mut self.names.lock(), (address, name.to_owned()), LOG_IN_NAME_FREE, now)?;
        let by_address = admit(&mut self.addresses.lock(), address, LOG_IN_ADDRESS_FREE, now)?;
        Some(by_name.max(by_address))
    }

    /// An attempt had the right password.
    pub(crate) fn succeeded(&self, address: Address, name: &str) {
        self.names.lock().remove(&(address, name.to_owned()));
        if let Some(attempts) = self.addresses.lock().get_mut(&address) {
            attempts.count = attempts.count.saturating_sub(1);
        }
    }
}

fn admit<K: Hash + Eq>(table: &mut HashMap<K, Attempts>, key: K, free: u32, now: Instant) -> Option<Duration> {
    let forget = Duration::from_secs(LOG_IN_FORGET_SECONDS);
    if table.len() >= LOG_IN_TRACKED_MAX && !table.contains_key(&key) {
        table.retain(|_, attempts| now.duration_since(attempts.last) < forget);
        if table.len() >= LOG_IN_TRACKED_MAX {
            // Somebody who fills the table is refused like every newcomer.
            return None;
        }
    }
    let fresh = Attempts { count: 0, next: now, last: now };
    let attempts = table.entry(key).or_insert(fresh);
    if now.duration_since(attempts.last) >= forget {
        *attempts = fresh;
    }
    attempts.last = now;
    if attempts.count < free {
        attempts.count += 1;
        return Some(Duration::ZERO);
    }
    let turn = attempts.next.max(now);
    let wait = turn.duration_since(now);
    if wait > Duration::from_millis(LOG_IN_WAIT_MS_MAX) {
        return None;
    }
    attempts.next = turn + Duration::from_millis(LOG_IN_INTERVAL_MS);
    Some(wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of `tries` attempts at the same moment are let through, and the longest wait.
    fn burst(throttle: &Throttle, name: &str, tries: u32, now: Instant) -> (usize, Duration) {
        let waits: Vec<_> = (0..tries).filter_map(|_| throttle.admit(None, name, now)).collect();
        (waits.len(), waits.iter().max().copied().unwrap_or_default())
    }

    #[test]
    fn guessing_is_slowed_to_one_a_second_and_a_flood_is_refused() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let (admitted, longest) = burst(&throttle, "ada", 1000, start);
        assert!(admitted as u64 <= u64::from(LOG_IN_NAME_FREE) + LOG_IN_WAIT_MS_MAX / LOG_IN_INTERVAL_MS + 1);
        assert!(longest <= Duration::from_millis(LOG_IN_WAIT_MS_MAX));
        let (later, _) = burst(&throttle, "ada", 1000, start + Duration::from_secs(10));
        assert!(later <= 11, "{later}");
        assert_eq!(throttle.admit(None, "bob", start), Some(Duration::ZERO), "another name does not wait");
    }

    #[test]
    fn many_names_from_one_address_are_slowed_too() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        let admitted = (0..1000).filter_map(|number| throttle.admit(None, &format!("user{number}"), start)).count();
        assert!(admitted as u64 <= u64::from(LOG_IN_ADDRESS_FREE) + LOG_IN_WAIT_MS_MAX / LOG_IN_INTERVAL_MS + 1);
        let elsewhere = Some(std::net::IpAddr::from([192, 0, 2, 1]));
        assert_eq!(throttle.admit(elsewhere, "user1", start), Some(Duration::ZERO));
    }

    #[test]
    fn a_success_and_time_forget() {
        let (throttle, start) = (Throttle::default(), Instant::now());
        burst(&throttle, "ada", LOG_IN_NAME_FREE, start);
        throttle.succeeded(None, "ada");
        assert_eq!(burst(&throttle, "ada", LOG_IN_NAME_FREE, start).1, Duration::ZERO);
        burst(&throttle, "ada", 100, start);
        let much_later = start + Duration::from_secs(LOG_IN_FORGET_SECONDS + 60);
        assert_eq!(throttle.admit(None, "ada", much_later), Some(Duration::ZERO));
    }
}
