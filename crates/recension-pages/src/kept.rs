//! Pages that templates made, kept whole for who asks for them again while nothing has changed. A page is kept with its
//! tag; whether that still is the tag is asked of the endpoint, as a client with this page would ask (`If-None-Match`),
//! so that it is as right as a 304, and rights are looked at as for any request. What is kept counts in the budget of
//! lists, and leaves most of it to them.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use parking_lot::Mutex;

use recension::engine::budget::{Budget, Share};
use recension_wire::answer::{AnswerBody, BrokenOff, Made};
use recension_wire::encoding::Source;
use recension_wire::streams::Paid;

/// Pages that are kept at most.
const PAGES_MAX: usize = 64;
/// The part of the budget that they may take, and the part of that which one page may.
const OF_BUDGET: usize = 8;
const OF_KEPT: usize = 4;

/// A page.
#[derive(Debug)]
pub struct Page {
    /// The tag of the JSON that it was made of, as it stands in headers.
    pub tag: String,
    /// What tells its tag from the JSON's: its template's revision.
    pub suffix: String,
    pub headers: HeaderMap,
    /// With its share of the budget.
    pub body: Bytes,
}

/// Where a page is kept that is being made.
#[derive(Debug)]
pub struct Place {
    pub kept: Arc<Kept>,
    pub address: String,
    pub tag: String,
    pub suffix: String,
    pub headers: HeaderMap,
}

/// Pages by their address, the last used first.
#[derive(Debug)]
pub struct Kept {
    budget: Arc<Budget>,
    pages: Mutex<Vec<(String, Arc<Page>)>>,
}

impl Kept {
    /// Nothing yet.
    pub fn new(budget: Arc<Budget>) -> Self {
        Kept { budget, pages: Mutex::default() }
    }

    /// Bytes of the longest page that is kept.
    pub(crate) fn page_bytes_max(&self) -> usize {
        self.budget.max() / OF_BUDGET / OF_KEPT
    }

    /// The page of an address, as it was; the caller asks whether it still is.
    pub fn of(&self, address: &str) -> Option<Arc<Page>> {
        let mut pages = self.pages.lock();
        let at = pages.iter().position(|(own, _)| own == address)?;
        pages[..=at].rotate_right(1);
        pages.first().map(|(_, page)| Arc::clone(page))
    }

    /// Keeps a page in the place of the one that was there; those that were not used for longest make room.
    fn keep(&self, address: String, page: Page) {
        let mut pages = self.pages.lock();
        pages.retain(|(own, _)| *own != address);
        let most = self.budget.max() / OF_BUDGET;
        let held = |pages: &[(String, Arc<Page>)]| pages.iter().map(|(_, page)| page.body.len()).sum::<usize>();
        while pages.len() >= PAGES_MAX || (!pages.is_empty() && held(&pages) + page.body.len() > most) {
            pages.pop();
        }
        pages.insert(0, (address, Arc::new(page)));
    }
}

impl Place {
    /// Keeps a page that is made, or as soon as it is. While lists take the memory there is none for that.
    pub(crate) fn keeping(self, body: AnswerBody) -> AnswerBody {
        match body {
            AnswerBody::Whole(Some(bytes)) => {
                if let Some(share) = self.kept.budget.spare(bytes.len()) {
                    self.keep(bytes.clone(), share);
                }
                AnswerBody::Whole(Some(bytes))
            }
            body => match self.kept.budget.spare(self.kept.page_bytes_max()) {
                Some(share) => {
                    let keeping = Keeping { source: body.into(), taken: Vec::new(), place: Some((self, share)) };
                    AnswerBody::Made(Box::new(keeping))
                }
                None => body,
            },
        }
    }

    fn keep(self, body: Bytes, share: Share) {
        let Place { kept, address, tag, suffix, headers } = self;
        if body.len() <= kept.page_bytes_max() {
            kept.keep(address, Page { tag, suffix, headers, body: Paid::of(body, share) });
        }
    }
}

/// A page under way that is to be kept.
#[derive(Debug)]
struct Keeping {
    source: Source,
    taken: Vec<u8>,
    /// None: it has become too long.
    place: Option<(Place, Share)>,
}

impl Made for Keeping {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        let piece = self.source.poll(context);
        match &piece {
            Poll::Pending => {}
            Poll::Ready(Some(Ok(bytes))) => match &self.place {
                Some((place, _)) if self.taken.len() + bytes.len() <= place.kept.page_bytes_max() => {
                    self.taken.extend_from_slice(bytes);
                }
                _ => (self.place, self.taken) = (None, Vec::new()),
            },
            Poll::Ready(Some(Err(BrokenOff))) => self.place = None,
            Poll::Ready(None) => {
                if let Some((place, share)) = self.place.take() {
                    let mut taken = std::mem::take(&mut self.taken);
                    taken.shrink_to_fit();
                    place.keep(taken.into(), share);
                }
            }
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keep(kept: &Arc<Kept>, address: &str, length: usize) {
        let (kept, address, headers) = (Arc::clone(kept), address.to_owned(), HeaderMap::new());
        let place = Place { kept, address, tag: "\"1\"".to_owned(), suffix: "-a".to_owned(), headers };
        place.keeping(AnswerBody::Whole(Some(vec![b'x'; length].into())));
    }

    #[test]
    fn the_last_used_pages_are_kept_within_their_part_of_the_budget() {
        let budget = Budget::new(3200);
        let kept = Arc::new(Kept::new(Arc::clone(&budget)));
        for address in ["a", "b", "c", "d"] {
            keep(&kept, address, 100);
        }
        assert_eq!(budget.held(), 400);
        assert!(kept.of("a").is_some());
        keep(&kept, "e", 100);
        assert_eq!(budget.held(), 400, "one made room");
        assert!(kept.of("b").is_none() && kept.of("a").is_some() && kept.of("e").is_some());
        keep(&kept, "long", 101);
        assert!(kept.of("long").is_none());
        keep(&kept, "a", 10);
        assert_eq!((kept.of("a").unwrap().body.len(), budget.held()), (10, 310));
        drop(kept);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn lists_that_need_the_memory_go_before_pages() {
        let budget = Budget::new(3200);
        let kept = Arc::new(Kept::new(Arc::clone(&budget)));
        let lists = budget.at_once(1600).unwrap();
        keep(&kept, "a", 100);
        assert!(kept.of("a").is_none());
        drop(lists);
        keep(&kept, "a", 100);
        assert!(kept.of("a").is_some());
    }

    /// A page of pieces; `None` breaks it off.
    #[derive(Debug)]
    struct Under(Vec<Option<usize>>);

    impl Made for Under {
        fn poll(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
            let piece = if self.0.is_empty() { None } else { Some(self.0.remove(0)) };
            Poll::Ready(piece.map(|piece| piece.map(|length| vec![b'x'; length].into()).ok_or(BrokenOff)))
        }
    }

    #[test]
    fn a_page_that_is_sent_in_pieces_is_kept_when_it_is_whole_and_not_too_long() {
        for (pieces, expected) in
            [(vec![Some(60), Some(40)], Some(100)), (vec![Some(60), Some(41)], None), (vec![Some(60), None], None)]
        {
            let budget = Budget::new(3200);
            let kept = Arc::new(Kept::new(Arc::clone(&budget)));
            let place = Place {
                kept: Arc::clone(&kept),
                address: "a".to_owned(),
                tag: String::new(),
                suffix: String::new(),
                headers: HeaderMap::new(),
            };
            let AnswerBody::Made(mut body) = place.keeping(AnswerBody::Made(Box::new(Under(pieces)))) else { panic!() };
            while let Poll::Ready(Some(Ok(_))) = body.poll(&mut Context::from_waker(std::task::Waker::noop())) {}
            drop(body);
            assert_eq!(kept.of("a").map(|page| page.body.len()), expected);
            assert_eq!(budget.held(), expected.unwrap_or_default());
        }
    }

    #[test]
    fn pages_are_of_a_number() {
        let kept = Arc::new(Kept::new(Budget::new(1 << 20)));
        (0..=PAGES_MAX).for_each(|number| keep(&kept, &number.to_string(), 1));
        assert!(kept.of("0").is_none() && kept.of("1").is_some());
        assert_eq!(kept.pages.lock().len(), PAGES_MAX);
    }
}
