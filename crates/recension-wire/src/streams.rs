//! Threads and memory that all streamed answers share. A piece's memory is taken before it is made, and comes back when
//! the connection has sent its bytes. While an answer waits for its reader or for its turn, it holds no thread and no
//! piece that was not asked for.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use recension::engine::budget::{Budget, FREE_BYTES, Holding, Patience, Share};

use crate::answer::Answer;
use crate::error::{ApiError, Result};
use crate::limits::{CHUNK_BYTES, FILTERS_BYTES_MAX, SELECTORS_BYTES_MAX};
use crate::threads::Threads;

/// Threads and memory of streamed answers.
#[derive(Debug)]
pub struct Streams {
    threads: Threads,
    /// Of changes to many documents, which lists do not wait for.
    changing: Threads,
    pub budget: Arc<Budget>,
    patience: Patience,
    /// Room for the filters of open feeds.
    filters: Arc<Budget>,
    /// Room for the selectors of queries that run or wait.
    selectors: Arc<Budget>,
}

impl Streams {
    /// With this many bytes and threads, for readers who may take so long.
    pub fn new(bytes: usize, reader: Duration, threads: usize) -> Result<Arc<Self>> {
        let budget = Budget::new(bytes);
        let patience = Patience::new(Arc::clone(&budget), reader);
        let changing = Threads::for_long_work("recension-changes", threads)?;
        let threads = Threads::for_long_work("recension-lists", threads)?;
        let (filters, selectors) = (Budget::new(FILTERS_BYTES_MAX), Budget::new(SELECTORS_BYTES_MAX));
        Ok(Arc::new(Streams { threads, changing, budget, patience, filters, selectors }))
    }

    /// Room for what a feed keeps as long as it is open, besides a page.
    ///
    /// # Errors
    /// 503 if other feeds have it.
    pub fn keep_filter(&self, bytes: usize) -> Result<Holding> {
        let mut kept = Holding::new(&self.filters);
        if kept.grow(bytes) { Ok(kept) } else { Err(ApiError::too_many_filters()) }
    }

    /// Room for the selector of a query, once there is some; `None`: it is short.
    ///
    /// # Errors
    /// 503 if there was none for as long as a reader may take.
    pub async fn keep_selector(&self, bytes: usize) -> Result<Option<Share>> {
        if bytes <= FREE_BYTES {
            return Ok(None);
        }
        let taken = tokio::time::timeout(self.patience.most(), self.selectors.take(bytes)).await;
        taken.map(Some).map_err(|_| ApiError::too_many_lists())
    }

    /// Makes a piece, once there is room for it. Returns also the other value that `work` returns.
    ///
    /// # Errors
    /// The error of `work`; 503 if there was no room for as long as a reader may take.
    pub async fn make<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<(Vec<u8>, T)> + Send + 'static,
    ) -> Result<(Bytes, T)> {
        self.make_of(CHUNK_BYTES, |_| work()).await
    }

    /// The same for a piece of another length, which `work` is told. While others need the memory, a piece is no longer
    /// than [`CHUNK_BYTES`].
    pub async fn make_of<T: Send + 'static>(
        &self,
        wanted: usize,
        work: impl FnOnce(usize) -> Result<(Vec<u8>, T)> + Send + 'static,
    ) -> Result<(Bytes, T)> {
        let mut work = work;
        loop {
            let more = if wanted > CHUNK_BYTES { self.budget.spare(wanted) } else { None };
            let (bytes, share) = match more {
                Some(share) => (wanted, share),
                None => (CHUNK_BYTES, self.room(CHUNK_BYTES).await?),
            };
            let budget = Arc::clone(&self.budget);
            let made = move || {
                // Since the room was given, others made pieces that are longer than what they had taken.
                if budget.is_overdrawn() {
                    return Ok(Err(work));
                }
                let (text, beside) = work(bytes)?;
                Ok(Ok((Paid::bytes(text, share), beside)))
            };
            match self.threads.run(made).await? {
                Ok(made) => return Ok(made),
                Err(again) => work = again,
            }
        }
    }

    /// So much room, once there is some.
    ///
    /// # Errors
    /// 503 if there was none for as long as a reader may take.
    pub async fn room(&self, bytes: usize) -> Result<Share> {
        let share = tokio::time::timeout(self.patience.most(), self.budget.take(bytes)).await;
        share.map_err(|_| ApiError::too_many_lists())
    }

    /// Reads for a list, on the threads of lists.
    pub fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.threads.run(work)
    }

    /// Changes many documents: short requests go first, and lists have threads of their own.
    pub fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> impl Future<Output = Result<T>> + Send {
        self.changing.run(work)
    }

    /// An answer that is whole and long, with its part of the budget. If it has to wait for its part, it is dropped and
    /// made again by `again`, so that a waiting answer holds no memory.
    pub async fn paid(&self, first: Answer, again: impl Fn() -> Result<Answer>) -> Result<Answer> {
        let Some(length) = first.long_body() else { return Ok(first) };
        if let Some(share) = self.budget.at_once(length) {
            return Ok(first.with_body(|body| Paid::of(body, share)));
        }
        drop(first);
        let share = self.room(length).await?;
        Ok(again()?.with_body(|body| Paid::of(body, share)))
    }

    /// How patient the server is with readers.
    pub fn patience(&self) -> Patience {
        self.patience.clone()
    }
}

/// Bytes with the part of a budget that they take.
pub struct Paid {
    text: Bytes,
    _share: Share,
}

impl Paid {
    /// Bytes that return their share to the budget when the last of them is dropped.
    pub fn bytes(text: Vec<u8>, mut share: Share) -> Bytes {
        if text.is_empty() {
            return Bytes::new();
        }
        share.settle(text.capacity());
        Bytes::from_owner(Paid { text: text.into(), _share: share })
    }

    /// The same for bytes that exist already.
    pub fn of(text: Bytes, mut share: Share) -> Bytes {
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
        Streams::new(max_list_memory, Duration::from_mins(1), 2).unwrap()
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
        let streams = Streams::new(1, Duration::ZERO, 2).unwrap();
        let (held, ()) = streams.make(|| Ok((vec![7; 10], ()))).await.unwrap();
        let refused = streams.make(|| Ok((vec![7; 10], ()))).await;
        assert_eq!(refused.unwrap_err(), ApiError::too_many_lists());
        drop(held);
        assert!(streams.make(|| Ok((vec![7; 10], ()))).await.is_ok());
    }

    #[tokio::test]
    async fn what_turns_out_longer_than_its_room_keeps_others_from_beginning() {
        let streams = streams(2 * CHUNK_BYTES);
        let (long, ()) = streams.make(|| Ok((vec![7; 10 * CHUNK_BYTES], ()))).await.unwrap();
        let mut waits = Box::pin(streams.make(|| Ok((vec![7; 10], ()))));
        assert!(tokio::time::timeout(Duration::ZERO, &mut waits).await.is_err());
        assert_eq!(streams.budget.held(), 10 * CHUNK_BYTES);
        drop(long);
        assert_eq!(waits.await.unwrap().0.len(), 10);
    }
}
