//! Ids for new documents of `/_uuids`, by CouchDB's algorithms: setting `uuids/algorithm`. Ours is `random`.

use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use crate::identity::random::new_uuid;

/// How ids are made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Algorithm {
    Random,
    /// A random prefix, and a number that grows.
    Sequential,
    /// The time in microseconds, and random digits.
    UtcRandom,
    /// The time in microseconds, and a suffix that is set.
    UtcId(String),
}

/// What the last id was made of.
#[derive(Debug, Default)]
pub struct Uuids(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    prefix: String,
    number: u32,
    micros: u64,
}

/// Digits of a prefix; six of the number follow.
const PREFIX: usize = 26;
/// A number from which on there is a new prefix.
const NUMBER_MAX: u32 = 0x00ff_f000;
/// The greatest step between two numbers.
const STEP_MAX: u32 = 0xffd;

impl Uuids {
    /// The next id.
    pub fn next(&self, algorithm: &Algorithm) -> String {
        let mut state = self.0.lock();
        match algorithm {
            Algorithm::Random => new_uuid(),
            Algorithm::Sequential => {
                let chance = u32::from_str_radix(new_uuid().get(..6).unwrap_or_default(), 16).unwrap_or(0);
                state.number += 1 + chance % STEP_MAX;
                if state.prefix.is_empty() || state.number >= NUMBER_MAX {
                    state.prefix = new_uuid().chars().take(PREFIX).collect();
                    state.number = 1 + chance % STEP_MAX;
                }
                format!("{}{:06x}", state.prefix, state.number)
            }
            Algorithm::UtcRandom => {
                let micros = state.time();
                format!("{micros:014x}{}", new_uuid().chars().take(18).collect::<String>())
            }
            Algorithm::UtcId(suffix) => format!("{:014x}{suffix}", state.time()),
        }
    }
}

impl State {
    /// Microseconds since 1970, later than the last ones.
    fn time(&mut self) -> u64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        self.micros = u64::try_from(now).unwrap_or(0).max(self.micros + 1);
        self.micros
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_different_and_those_of_time_and_number_grow() {
        let uuids = Uuids::default();
        for (algorithm, len, grows) in [
            (Algorithm::Random, 32, false),
            (Algorithm::Sequential, 32, true),
            (Algorithm::UtcRandom, 32, true),
            (Algorithm::UtcId("frog".to_owned()), 18, true),
        ] {
            let all: Vec<String> = (0..5000).map(|_| uuids.next(&algorithm)).collect();
            assert!(all.iter().all(|id| id.len() == len), "{algorithm:?} {}", all[0]);
            // A sequence has another prefix now and then.
            let falls = all.windows(2).filter(|pair| pair[0] >= pair[1]).count();
            assert!(!grows || falls <= 2, "{algorithm:?}: {falls}");
            let mut sorted = all.clone();
            sorted.sort();
            sorted.dedup();
            assert_eq!(sorted.len(), all.len(), "{algorithm:?}");
        }
    }
}
