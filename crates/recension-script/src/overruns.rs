//! Functions that ran past their deadlines. They are not run again for a while: the same function on the same documents
//! would hold a worker for as long again. A design document that is changed has other functions.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::limits::{OVERRUN_REST, OVERRUN_REST_MAX, OVERRUNS_MAX};

/// What ran past its deadline, by a name that no other function has.
#[derive(Debug, Default)]
pub(crate) struct Overruns(Mutex<HashMap<String, Overrun>>);

#[derive(Clone, Copy, Debug)]
struct Overrun {
    until: Instant,
    rest: Duration,
}

impl Overruns {
    /// How long a function is not run yet; `None`: it may be.
    pub(crate) fn rest_of(&self, function: &str, now: Instant) -> Option<Duration> {
        let until = self.0.lock().get(function)?.until;
        until.checked_duration_since(now).filter(|left| !left.is_zero())
    }

    /// A function ran past its deadline: twice as long as the last time, it is not run again.
    pub(crate) fn note(&self, function: &str, now: Instant) {
        let mut all = self.0.lock();
        let rest = all.get(function).map_or(OVERRUN_REST, |last| (last.rest * 2).min(OVERRUN_REST_MAX));
        if all.len() >= OVERRUNS_MAX
            && let Some(oldest) = all.iter().min_by_key(|(_, own)| own.until).map(|(name, _)| name.clone())
        {
            all.remove(&oldest);
        }
        all.insert(function.to_owned(), Overrun { until: now + rest, rest });
    }

    /// A function kept to its deadline.
    pub(crate) fn forget(&self, function: &str) {
        let mut all = self.0.lock();
        if !all.is_empty() {
            all.remove(function);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overran_rests_longer_each_time_until_it_ends_in_time() {
        let (overruns, now) = (Overruns::default(), Instant::now());
        assert_eq!(overruns.rest_of("a", now), None);
        overruns.note("a", now);
        assert_eq!((overruns.rest_of("a", now), overruns.rest_of("b", now)), (Some(OVERRUN_REST), None));
        assert_eq!(overruns.rest_of("a", now + OVERRUN_REST), None);
        overruns.note("a", now + OVERRUN_REST);
        assert_eq!(overruns.rest_of("a", now + OVERRUN_REST), Some(2 * OVERRUN_REST));
        for _ in 0..20 {
            overruns.note("a", now);
        }
        assert_eq!(overruns.rest_of("a", now), Some(OVERRUN_REST_MAX));
        overruns.forget("a");
        assert_eq!(overruns.rest_of("a", now), None);
    }

    #[test]
    fn they_are_bounded() {
        let (overruns, now) = (Overruns::default(), Instant::now());
        for number in 0..OVERRUNS_MAX + 10 {
            overruns.note(&number.to_string(), now + Duration::from_millis(number as u64));
        }
        assert_eq!(overruns.0.lock().len(), OVERRUNS_MAX);
        assert!(overruns.rest_of("0", now).is_none() && overruns.rest_of("99", now).is_some());
    }
}
