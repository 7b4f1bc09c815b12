//! Calls on a subject, and the time that they took. A subject in this process is called one by one; one that is a
//! program of its own gets all of them at once, so that what is between it and us costs little.

use std::time::Instant;

use crate::error::Result;
use crate::measure::clock::nanos;

/// Calls that were made, and what they answered.
pub struct Timed<A> {
    /// The time of all.
    pub wall_ns: u64,
    /// The time of each.
    pub latencies_ns: Vec<u64>,
    /// The answers.
    pub answers: Vec<A>,
    /// A note for readers of the figure.
    pub note: Option<String>,
}

/// Calls one after the other, each timed by itself; the answers are kept, so that they can be looked at later.
pub fn one_by_one<C, A>(calls: &[C], mut call: impl FnMut(&C) -> Result<A>) -> Result<Timed<A>> {
    let (mut latencies_ns, mut answers) = (Vec::with_capacity(calls.len()), Vec::with_capacity(calls.len()));
    for one in calls {
        let start = Instant::now();
        let answer = call(one)?;
        latencies_ns.push(nanos(start.elapsed()));
        answers.push(answer);
    }
    Ok(Timed { wall_ns: latencies_ns.iter().sum(), latencies_ns, answers, note: None })
}
