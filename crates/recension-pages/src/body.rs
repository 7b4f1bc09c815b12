//! A page while it is sent: a piece of the answer in, a piece of the page out. It is made where it is sent, without a
//! channel and without a thread more; an answer that breaks off breaks its page off.

use std::task::{Context, Poll};

use bytes::Bytes;

use super::split::{Sink, Splitter};
use recension_wire::answer::{AnswerBody, BrokenOff, Made};
use recension_wire::encoding::Source;
use recension_wire::error::ApiError;
use recension_wire::limits::CHUNK_BYTES;

/// What makes a page of what it is told of an answer.
pub(crate) trait Paged: Sink + Send + std::fmt::Debug {
    /// The answer is whole: writes the end of the page.
    fn end(&mut self);
    /// What was written since the last call.
    fn take(&mut self) -> Vec<u8>;
    /// Why the page cannot be finished.
    fn failed(&self) -> Option<&ApiError> {
        None
    }
}

/// A page that is made while it is sent.
#[derive(Debug)]
pub(crate) struct PageBody {
    source: Source,
    /// None: it has ended.
    under_way: Option<(Splitter, Box<dyn Paged>)>,
}

impl PageBody {
    /// The page of a body. A short one is made at once, so that its length can be told.
    ///
    /// # Errors
    /// Why there is none, where that is known at once.
    pub(crate) fn of(mut page: Box<dyn Paged>, rows: bool, body: AnswerBody) -> Result<AnswerBody, ApiError> {
        let mut splitter = Splitter::new(rows);
        match body {
            AnswerBody::Whole(Some(bytes)) if bytes.len() <= CHUNK_BYTES => {
                splitter.push(&bytes, &mut *page);
                page.end();
                match page.failed() {
                    Some(error) => Err(error.clone()),
                    None => Ok(AnswerBody::Whole(Some(page.take().into()))),
                }
            }
            body => Ok(AnswerBody::Made(Box::new(PageBody { source: body.into(), under_way: Some((splitter, page)) }))),
        }
    }
}

impl Made for PageBody {
    /// Takes a piece after the other until something comes out.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        loop {
            let Some((splitter, page)) = &mut self.under_way else { return Poll::Ready(None) };
            match self.source.poll(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(piece))) => splitter.push(&piece, &mut **page),
                Poll::Ready(Some(Err(error))) => {
                    self.under_way = None;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => {
                    page.end();
                    if page.failed().is_none() {
                        let last = page.take();
                        self.under_way = None;
                        return Poll::Ready(Some(Ok(last.into())));
                    }
                }
            }
            if let Some(error) = page.failed() {
                tracing::warn!(reason = %error.reason, "a page was broken off");
                self.under_way = None;
                return Poll::Ready(Some(Err(BrokenOff)));
            }
            let piece = page.take();
            if !piece.is_empty() {
                return Poll::Ready(Some(Ok(piece.into())));
            }
        }
    }
}
