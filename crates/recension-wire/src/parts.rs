//! Bytes in several parts that are sent together, without being copied together: pages in memory are long.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

/// Shorter parts are copied together: one part costs as much as a copy of about this many bytes.
const COPIED_BYTES_MAX: usize = 8 * 1024;

/// Parts, in their order.
#[derive(Debug, Default)]
pub struct Parts(VecDeque<Bytes>);

impl Parts {
    /// The head of an answer, and what is there of its body.
    pub fn of(mut head: Vec<u8>, body: Bytes) -> Self {
        let mut parts = Parts::default();
        if head.len() + body.len() <= COPIED_BYTES_MAX {
            head.extend_from_slice(&body);
            parts.push(head.into());
        } else {
            parts.push(head.into());
            parts.push(body);
        }
        parts
    }

    /// Appends a part.
    pub fn push(&mut self, part: Bytes) {
        if !part.is_empty() {
            self.0.push_back(part);
        }
    }
}

impl IntoIterator for Parts {
    type Item = Bytes;
    type IntoIter = std::collections::vec_deque::IntoIter<Bytes>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Buf for Parts {
    fn remaining(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    fn chunk(&self) -> &[u8] {
        self.0.front().map(AsRef::as_ref).unwrap_or_default()
    }

    fn advance(&mut self, mut count: usize) {
        while let Some(first) = self.0.front_mut() {
            if count < first.len() {
                return first.advance(count);
            }
            count -= first.len();
            self.0.pop_front();
        }
        assert_eq!(count, 0, "no more can be taken than there is");
    }

    fn chunks_vectored<'s>(&'s self, to: &mut [IoSlice<'s>]) -> usize {
        let slices = self.0.iter().map(|part| IoSlice::new(part));
        to.iter_mut().zip(slices).map(|(to, slice)| *to = slice).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_in_their_order_however_many_bytes_at_a_time() {
        let long = vec![b'x'; COPIED_BYTES_MAX];
        for (head, body, parts) in
            [(&b"head"[..], &b"body"[..], 1), (b"head", &long, 2), (b"", &long, 1), (b"", b"", 0)]
        {
            for step in [1, 3, 5000, usize::MAX] {
                let mut taken = Parts::of(head.to_vec(), Bytes::copy_from_slice(body));
                let mut slices = [IoSlice::new(&[]); 4];
                assert_eq!(taken.chunks_vectored(&mut slices), parts);
                let mut all = Vec::new();
                while taken.has_remaining() {
                    let chunk = &taken.chunk()[..step.min(taken.chunk().len())];
                    all.extend_from_slice(chunk);
                    let length = chunk.len();
                    taken.advance(length);
                }
                assert_eq!(all, [head, body].concat(), "{step}");
            }
        }
        let mut both = Parts::of(b"head".to_vec(), long.into());
        both.advance(both.remaining() - 1);
        assert_eq!((both.remaining(), both.chunk()), (1, &b"x"[..]));
    }
}
