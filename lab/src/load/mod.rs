//! Load on a server, in a closed loop (every client sends the next request when it has its answer) or an open one
//! (requests begin at their intended times, whatever happened to earlier ones). Answers are kept, and compared with the
//! model when the clock has stopped.

pub mod connection;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

pub use connection::{Answer, Connection, Wire};

use crate::error::{LabError, Result};
use crate::measure::clock::{nanos, wait_until};

/// A client. It has one request under way at a time.
pub trait Client: Send + 'static {
    /// Asks request `n` and waits for its whole answer.
    fn call(&mut self, n: u64) -> impl Future<Output = Result<Answer>> + Send;
}

/// The results of a load.
#[derive(Debug, Default)]
pub struct Taken {
    /// From the first request to the last answer.
    pub wall: Duration,
    /// The latency of each request in nanoseconds. In an open loop it counts from the intended start.
    pub latencies_ns: Vec<u64>,
    /// Each request's number and its answer.
    pub answers: Vec<(u64, Answer)>,
}

impl Taken {
    fn add(&mut self, part: Taken) {
        self.latencies_ns.extend(part.latencies_ns);
        self.answers.extend(part.answers);
    }

    fn push(&mut self, n: u64, answer: Answer, latency: Duration) {
        self.latencies_ns.push(nanos(latency));
        self.answers.push((n, answer));
    }
}

/// The length of a load. It ends at whichever bound comes first, and never in the middle of a request.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Requests.
    pub requests: u64,
    /// Time.
    pub time: Duration,
}

/// A closed loop: requests `0..most.requests`, each asked by whichever client is free.
///
/// # Errors
/// The first that any client met.
pub async fn closed<C: Client>(clients: Vec<C>, most: Most) -> Result<Taken> {
    let next = Arc::new(AtomicU64::new(0));
    let begin = Instant::now();
    let mut loops = JoinSet::new();
    for mut client in clients {
        let next = next.clone();
        loops.spawn(async move {
            let mut taken = Taken::default();
            let mut start = Instant::now();
            while start.duration_since(begin) < most.time {
                let n = next.fetch_add(1, Relaxed);
                if n >= most.requests {
                    break;
                }
                let answer = client.call(n).await?;
                let end = Instant::now();
                taken.push(n, answer, end.duration_since(start));
                start = end;
            }
            Ok(taken)
        });
    }
    gather(loops, begin).await
}

/// An open loop: `rate` requests a second for a time, each at its moment if any client is free then, and its
/// latency from that moment on in any case. A subject that cannot keep up is given four times the time.
///
/// # Errors
/// The first that any client met.
pub async fn offered<C: Client>(clients: Vec<C>, rate: u64, time: Duration) -> Result<Taken> {
    let every = Duration::from_nanos(1_000_000_000 / rate.max(1));
    let count = u64::try_from(time.as_nanos() / every.as_nanos().max(1)).unwrap_or(u64::MAX).max(1);
    let (moments, due) = mpsc::channel::<(u64, Instant)>(usize::try_from(count).unwrap_or(usize::MAX >> 4));
    let due = Arc::new(Mutex::new(due));
    let begin = Instant::now();
    // A thread of its own: the runtime's timer is too coarse by a millisecond, and its own work would delay it.
    let pacing = std::thread::spawn(move || {
        for n in 0..count {
            let intended = begin + every * u32::try_from(n).unwrap_or(u32::MAX);
            wait_until(intended);
            if moments.blocking_send((n, intended)).is_err() {
                break;
            }
        }
    });
    let mut loops = JoinSet::new();
    for mut client in clients {
        let due = due.clone();
        loops.spawn(async move {
            let mut taken = Taken::default();
            while begin.elapsed() < time * 4 {
                let next = due.lock().await.recv().await;
                let Some((n, intended)) = next else { break };
                let answer = client.call(n).await?;
                taken.push(n, answer, intended.elapsed());
            }
            Ok(taken)
        });
    }
    let taken = gather(loops, begin).await;
    drop(due);
    let _ = pacing.join();
    taken
}

async fn gather(mut loops: JoinSet<Result<Taken>>, begin: Instant) -> Result<Taken> {
    let mut all = Taken::default();
    while let Some(ended) = loops.join_next().await {
        all.add(ended.map_err(LabError::subject("a client of the load"))??);
    }
    all.wall = begin.elapsed();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::stats::quantile_of_rounds;

    /// One that answers at once, but for one request, which it holds; it serves one at a time.
    #[derive(Clone)]
    struct Stalling {
        stalls_at: u64,
        stall: Duration,
        turn: Arc<Mutex<()>>,
    }

    impl Client for Stalling {
        async fn call(&mut self, n: u64) -> Result<Answer> {
            let turn = self.turn.lock().await;
            if n == self.stalls_at {
                tokio::time::sleep(self.stall).await;
            }
            drop(turn);
            Ok(Answer { status: 200, body: n.to_string().into_bytes() })
        }
    }

    fn clients(count: usize) -> Vec<Stalling> {
        let turn = Arc::new(Mutex::new(()));
        vec![Stalling { stalls_at: 100, stall: Duration::from_millis(200), turn }; count]
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_stall_is_felt_by_all_that_it_delays_in_the_open_loop_and_hidden_by_the_closed_one() {
        // A stall of 200 ms delays one of 500 requests in the closed loop. In the open one, at 1000 a second, it delays
        // about 200.
        let closed = run(closed(clients(4), Most { requests: 500, time: Duration::from_mins(1) })).unwrap();
        let open = run(offered(clients(4), 1000, Duration::from_millis(500))).unwrap();
        let quantile =
            |taken: &Taken, q| quantile_of_rounds(std::slice::from_ref(&taken.latencies_ns), q).unwrap().median;
        let late = |taken: &Taken| taken.latencies_ns.iter().filter(|&&ns| ns > 20_000_000).count();
        assert!(late(&closed) <= 4, "{} of the closed loop were late", late(&closed));
        assert!(late(&open) >= 150, "only {} of the open loop were late", late(&open));
        assert!(quantile(&open, 0.9) > 10.0 * quantile(&closed, 0.9));
        assert!(quantile(&open, 0.999) > 150e6);
    }

    #[test]
    fn every_request_is_asked_once_and_its_answer_kept() {
        for clients_count in [1, 7] {
            let most = Most { requests: 90, time: Duration::from_mins(1) };
            let mut taken = run(closed(clients(clients_count), most)).unwrap();
            taken.answers.sort_by_key(|(n, _)| *n);
            assert_eq!(taken.answers.len(), 90);
            for (at, (n, answer)) in taken.answers.iter().enumerate() {
                assert!(*n == at as u64 && answer.body == n.to_string().into_bytes());
            }
        }
    }

    #[test]
    fn a_subject_that_cannot_keep_up_is_not_waited_for_without_end() {
        let slow = Stalling { stalls_at: 0, stall: Duration::from_millis(300), turn: Arc::new(Mutex::new(())) };
        let taken = run(offered(vec![slow], 100, Duration::from_millis(50))).unwrap();
        assert_eq!(taken.answers.len(), 1);
    }
}
