//! Long answers: the request is repeated for the items behind the last one, for more items each time.

use std::collections::VecDeque;
use std::ops::Bound;

use recension_engine::{Direction, Result};

use crate::answer::{Answer, End, FoundRow, FoundVersion, Piece};
use crate::bytes::malformed;
use crate::limits::{PIECE_ROWS_FIRST, PIECE_ROWS_MAX};
use crate::link::Link;
use crate::request::Request;

/// An item of long answers.
pub(crate) trait Item: Sized {
    /// The piece in an answer.
    fn piece(answer: Answer) -> Option<Piece<Self>>;

    /// Changes the request to the items behind this one, and to at most this many.
    fn behind(last: Option<&Self>, request: &mut Request, most: u32);
}

/// The items of a long answer. It ends after its first error.
pub(crate) struct Pieces<'l, T> {
    link: &'l Link,
    request: Request,
    found: VecDeque<T>,
    end: End,
    most: u32,
    /// Is called with the first piece.
    sees: Option<Sees<'l, T>>,
}

/// Looks at a piece.
type Sees<'l, T> = Box<dyn FnOnce(&Piece<T>) + Send + 'l>;

impl<'l, T: Item> Pieces<'l, T> {
    pub(crate) fn new(link: &'l Link, request: Request) -> Self {
        Self::of(link, request, None)
    }

    /// If it is known how many items will be read, the first piece asks for all of them.
    pub(crate) fn of(link: &'l Link, mut request: Request, wanted: Option<usize>) -> Self {
        let most = wanted.map_or(PIECE_ROWS_FIRST, |wanted| u32::try_from(wanted).unwrap_or(u32::MAX));
        let most = most.clamp(1, PIECE_ROWS_MAX);
        T::behind(None, &mut request, most);
        Pieces { link, request, found: VecDeque::new(), end: End::More, most, sees: None }
    }

    /// Begins with a first piece that was fetched before.
    pub(crate) fn begun(link: &'l Link, request: Request, first: Piece<T>) -> Self {
        let mut pieces = Self::new(link, request);
        pieces.took(first);
        pieces
    }

    /// Has `sees` called with the first piece that is fetched.
    pub(crate) fn seeing(mut self, sees: impl FnOnce(&Piece<T>) + Send + 'l) -> Self {
        self.sees = Some(Box::new(sees));
        self
    }

    fn fetch(&mut self) -> Result<()> {
        let answer = self.link.ask(self.request.clone())?;
        let piece = T::piece(answer).ok_or_else(|| malformed("an answer to another question"))?;
        if let Some(sees) = self.sees.take() {
            sees(&piece);
        }
        self.took(piece);
        Ok(())
    }

    fn took(&mut self, piece: Piece<T>) {
        self.most = self.most.saturating_mul(4).min(PIECE_ROWS_MAX);
        T::behind(piece.items.last(), &mut self.request, self.most);
        // A piece without items must be the last one, because it would be asked for without end.
        self.end = if piece.items.is_empty() && matches!(piece.end, End::More) { End::Whole } else { piece.end };
        self.found = piece.items.into();
    }
}

impl<T: Item> Iterator for Pieces<'_, T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        if self.found.is_empty()
            && matches!(self.end, End::More)
            && let Err(error) = self.fetch()
        {
            self.end = End::Failed(error);
        }
        if let Some(item) = self.found.pop_front() {
            return Some(Ok(item));
        }
        match std::mem::replace(&mut self.end, End::Whole) {
            End::Failed(error) => Some(Err(error)),
            End::Whole | End::More => None,
        }
    }
}

fn narrow(last: Option<&[u8]>, request: &mut Request, most: u32) {
    let (range, direction, rows) = match request {
        Request::Range { range, direction, rows, .. } => (range, *direction, rows),
        Request::Keys { range, rows, .. } => (range, Direction::Forward, rows),
        _ => return,
    };
    *rows = most;
    let Some(last) = last else { return };
    let end = Bound::Excluded(last.to_vec());
    match direction {
        Direction::Forward => range.start = end,
        Direction::Backward => range.end = end,
    }
}

impl Item for FoundRow {
    fn piece(answer: Answer) -> Option<Piece<Self>> {
        if let Answer::Rows(piece) = answer { Some(piece) } else { None }
    }

    fn behind(last: Option<&Self>, request: &mut Request, most: u32) {
        narrow(last.map(|row| row.key.as_slice()), request, most);
    }
}

impl Item for Vec<u8> {
    fn piece(answer: Answer) -> Option<Piece<Self>> {
        if let Answer::Keys(piece) = answer { Some(piece) } else { None }
    }

    fn behind(last: Option<&Self>, request: &mut Request, most: u32) {
        narrow(last.map(Vec::as_slice), request, most);
    }
}

impl Item for FoundVersion {
    fn piece(answer: Answer) -> Option<Piece<Self>> {
        if let Answer::Versions(piece) = answer { Some(piece) } else { None }
    }

    fn behind(last: Option<&Self>, request: &mut Request, most: u32) {
        if let Request::Versions { before, rows, .. } = request {
            *rows = most;
            *before = last.map(|version| version.seq).or(*before);
        }
    }
}
