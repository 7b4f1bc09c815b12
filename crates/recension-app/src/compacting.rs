//! Compaction on request (`POST /{db}/_compact`): one run at a time, for all databases, since files hold the rows of
//! all of them. A request that comes while one runs is answered by one more run.

use parking_lot::Mutex;

/// Whether the store is being compacted.
#[derive(Debug, Default)]
pub struct Compacting(Mutex<State>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Running,
    /// Somebody has asked since the run began.
    Again,
}

impl Compacting {
    /// Notes a request; returns whether the caller has to run.
    pub fn ask(&self) -> bool {
        let mut state = self.0.lock();
        let idle = *state == State::Idle;
        *state = if idle { State::Running } else { State::Again };
        idle
    }

    /// A run has ended; returns whether another one has to follow.
    pub fn ended(&self) -> bool {
        let mut state = self.0.lock();
        let again = *state == State::Again;
        *state = if again { State::Running } else { State::Idle };
        again
    }

    /// Whether a run is under way.
    pub(crate) fn is_running(&self) -> bool {
        *self.0.lock() != State::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_requests_make_one_run_more() {
        let compacting = Compacting::default();
        assert!(!compacting.is_running());
        assert_eq!([compacting.ask(), compacting.ask(), compacting.ask()], [true, false, false]);
        assert!(compacting.is_running());
        assert_eq!([compacting.ended(), compacting.ended()], [true, false]);
        assert!(!compacting.is_running() && compacting.ask());
    }
}
