//! Threads and memory that all streamed answers share. A piece's memory is taken before it is made, and comes back when
//! the connection has sent its bytes. While an answer waits for its reader or for its turn, it holds no thread and no
//! piece that was not asked for.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::answer::Answer;
use crate::budget::{Budget, Share};
use crate::config::Config;
use crate::error::{ApiError, Result};
use crate::limits::{CHUNK_BYTES, PRESSED_SECONDS_MAX};
use crate::threads::Threads;

/// Threads and memory of streamed answers.
#[derive(Debug)]
pub(crate) struct Streams {
    threads: Threads,
    pub(crate) budget: Arc<Budget>,
    patience: Patience,
}

impl Streams {
    /// As the configuration says.
    pub(crate) fn new(config: &Config) -> Result<Arc<Self>> {
        let budget = Budget::new(config.max_list_memory);
        let patience = Patience { budget: Arc::clone(&budget), most: Duration::from_secs(config.reader_seconds) };
        let threads = Threads::new("recension-lists", config.list_threads)?;
        Ok(Arc::new(Streams { threads, budget, patience }))
    }

    /// Makes a piece, once there is room for it. Answers also the other value that `work` returns.
    ///
    /// # Errors
    /// The error of `work`; 503 if there was no room for as long as a reader may take.
    pub(crate) async fn make<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<(Vec<u8>, T)> + Send + 'static,
    ) -> Result<(Bytes, T)> {
        self.make_of(CHUNK_BYTES, |_| work()).await
    }

    /// The same for a piece of another length, which `work` is told. While others need the memory, a piece is no longer
    /// than [`CHUNK_BYTES`].
    pub(crate) async fn make_of<T: Send + 'static>(
        &self,
        wanted: usize,
        work: impl FnOnce(usize) -> Result<(Vec<u8>, T)> + Send + 'static,
    ) -> Result<(Bytes, T)> {
        let more = if wanted > CHUNK_BYTES { self.budget.spare(wanted) } else { None };
        let (bytes, share) = match more {
            Some(share) => (wanted, share),
            None => {
                let share = tokio::time::timeout(self.patience.most, self.budget.take(CHUNK_BYTES)).await;
                (CHUNK_BYTES, share.map_err(|_| ApiError::too_many_lists())?)
            }
        };
        let made = move || {
            let (text, beside) = work(bytes)?;
            Ok((Paid::bytes(text, share), beside))
        };
        self.threads.run(made).await
    }

    /// Reads for a list, on the threads of lists.
    pub(crate) fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.threads.run(work)
    }

    /// An answer that is whole and long, with its part of the budget. If it has to wait for its part, it is dropped and
    /// made again by `again`, so that a waiting answer holds no memory.
    pub(crate) async fn paid(&self, first: Answer, again: impl Fn() -> Result<Answer>) -> Result<Answer> {
        let Some(length) = first.long_body() else { return Ok(first) };
        if let Some(share) = self.budget.at_once(length) {
            return Ok(first.with_body(|body| Paid::of(body, share)));
        }
        drop(first);
        let share = tokio::time::timeout(self.patience.most, self.budget.take(length)).await;
        let share = share.map_err(|_| ApiError::too_many_lists())?;
        Ok(again()?.with_body(|body| Paid::of(body, share)))
    }

    /// How patient the server is with readers.
    pub(crate) fn patience(&self) -> Patience {
        self.patience.clone()
    }
}

/// How long the server waits for a reader that takes nothing: shorter while others wait for the memory that it holds.
#[derive(Clone, Debug)]
pub(crate) struct Patience {
    budget: Arc<Budget>,
    most: Duration,
}

impl Patience {
    /// The time until the next look at a reader that has taken nothing since `waited`; `None`: the reader is given up.
    pub(crate) fn left(&self, waited: Duration) -> Option<Duration> {
        let step = Duration::from_secs(PRESSED_SECONDS_MAX);
        let most = if self.budget.waiting() > 0 { step.min(self.most) } else { self.most };
        most.checked_sub(waited).filter(|left| !left.is_zero()).map(|left| left.min(step))
    }
}

/// Bytes with the part of a budget that they take.
pub(crate) struct Paid {
    text: Bytes,
    _share: Share,
}

impl Paid {
    /// Bytes that return their share to the budget when the last of them is dropped.
    pub(crate) fn bytes(text: Vec<u8>, mut share: Share) -> Bytes {
        if text.is_empty() {
            return Bytes::new();
        }
        share.settle(text.capacity());
        Bytes::from_owner(Paid { text: text.into(), _share: share })
    }

    /// The same for bytes that exist already.
    pub(crate) fn of(text: Bytes, mut share: Share) -> Bytes {
        share.settle(text.len());
        Bytes::from_owner(Paid { text, _share: share })
    }
}

impl AsRef<[u8]> for Paid {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams(max_list_memory: usize) -> Arc<Streams> {
        Streams::new(&Config { max_list_memory, reader_seconds: 60, ..Config::default() }).unwrap()
    }

    #[tokio::test]
    async fn a_piece_is_paid_for_until_its_last_byte_is_let_go_of() {
        let streams = streams(1 << 20);
        let (mut piece, beside) = streams.make(|| Ok((vec![7; 200_000], "beside"))).await.unwrap();
        assert_eq!((piece.len(), beside, streams.budget.held()), (200_000, "beside", 200_000));
        let part = piece.split_to(10);
        drop(piece);
        assert_eq!(streams.budget.held(), 200_000);
        drop(part);
        assert_eq!(streams.budget.held(), 0);
        let failed = streams.make(|| Err::<(Vec<u8>, ()), _>(ApiError::missing())).await;
        assert_eq!((failed.unwrap_err(), streams.budget.held()), (ApiError::missing(), 0));
        let (empty, ()) = streams.make(|| Ok((Vec::new(), ()))).await.unwrap();
        assert_eq!((empty.len(), streams.budget.held()), (0, 0));
    }

    #[tokio::test]
    async fn a_longer_piece_is_made_while_half_of_the_memory_is_free() {
        let streams = streams(4 * CHUNK_BYTES);
        let asked = async || streams.make_of(2 * CHUNK_BYTES, |bytes| Ok((vec![7; bytes], ()))).await.unwrap().0;
        let first = asked().await;
        let second = asked().await;
        assert_eq!((first.len(), second.len()), (2 * CHUNK_BYTES, CHUNK_BYTES));
        assert_eq!(streams.budget.held(), 3 * CHUNK_BYTES);
    }

    #[tokio::test]
    async fn who_finds_no_room_in_time_is_told_so() {
        let streams = Streams::new(&Config { max_list_memory: 1, reader_seconds: 0, ..Config::default() }).unwrap();
        let (held, ()) = streams.make(|| Ok((vec![7; 10], ()))).await.unwrap();
        let refused = streams.make(|| Ok((vec![7; 10], ()))).await;
        assert_eq!(refused.unwrap_err(), ApiError::too_many_lists());
        drop(held);
        assert!(streams.make(|| Ok((vec![7; 10], ()))).await.is_ok());
    }

    #[tokio::test]
    async fn who_does_not_read_is_given_up_sooner_while_others_wait() {
        let seconds = Duration::from_secs;
        let streams = streams(1);
        let patience = streams.patience();
        let held = streams.budget.take(1).await;
        assert_eq!(patience.left(seconds(0)), Some(seconds(PRESSED_SECONDS_MAX)), "then one looks again");
        assert_eq!(patience.left(seconds(55)), Some(seconds(5)));
        assert_eq!(patience.left(seconds(60)), None);
        let mut waits = Box::pin(streams.budget.take(1));
        assert!(tokio::time::timeout(Duration::ZERO, &mut waits).await.is_err());
        assert_eq!(patience.left(seconds(1)), Some(seconds(PRESSED_SECONDS_MAX - 1)));
        assert_eq!(patience.left(seconds(PRESSED_SECONDS_MAX)), None);
        drop(waits);
        assert_eq!(patience.left(seconds(PRESSED_SECONDS_MAX)), Some(seconds(PRESSED_SECONDS_MAX)));
        drop(held);
    }
}
