//! Numbers and byte strings in the protocol. Reading never looks beyond the end of a message, and never allocates
//! memory for bytes that a peer only claims to send.

use std::ops::Bound;

use recension_engine::{EngineError, KeyRange, Result, Seq, TreeId};

/// The error for bytes that are no message.
pub(crate) fn malformed(what: &str) -> EngineError {
    EngineError::Backend { engine: "remote", message: format!("the other side sent a malformed message: {what}") }
}

/// Appends to a message.
pub(crate) trait Put {
    fn u8(&mut self, number: u8);
    fn u32(&mut self, number: u32);
    fn u64(&mut self, number: u64);
    fn bytes(&mut self, bytes: &[u8]);

    fn seq(&mut self, seq: Seq) {
        self.u64(seq.0);
    }

    fn tree(&mut self, tree: TreeId) {
        self.u32(tree.0);
    }

    fn optional<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.u8(value.is_some().into());
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut put: impl FnMut(&mut Self, T)) {
        self.u32(u32::try_from(items.len()).unwrap_or(u32::MAX));
        items.for_each(|item| put(self, item));
    }

    fn range(&mut self, range: &KeyRange) {
        for bound in [&range.start, &range.end] {
            match bound {
                Bound::Unbounded => self.u8(0),
                Bound::Included(key) => {
                    self.u8(1);
                    self.bytes(key);
                }
                Bound::Excluded(key) => {
                    self.u8(2);
                    self.bytes(key);
                }
            }
        }
    }
}

impl Put for Vec<u8> {
    fn u8(&mut self, number: u8) {
        self.push(number);
    }

    fn u32(&mut self, number: u32) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    fn u64(&mut self, number: u64) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // A message is far shorter than 4 GiB; one that is not is refused as it is sent.
        self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        self.extend_from_slice(bytes);
    }
}

/// The unread rest of a message.
#[derive(Clone, Copy)]
pub(crate) struct Take<'m>(pub(crate) &'m [u8]);

impl<'m> Take<'m> {
    fn take(&mut self, len: usize) -> Result<&'m [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| malformed("it ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| malformed("it ends early"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(malformed("a flag is neither 0 nor 1")),
        }
    }

    pub(crate) fn bytes(&mut self) -> Result<&'m [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    pub(crate) fn seq(&mut self) -> Result<Seq> {
        self.u64().map(Seq)
    }

    pub(crate) fn tree(&mut self) -> Result<TreeId> {
        self.u32().map(TreeId)
    }

    pub(crate) fn optional<T>(&mut self, take: impl FnOnce(&mut Self) -> Result<T>) -> Result<Option<T>> {
        if self.bool()? { take(self).map(Some) } else { Ok(None) }
    }

    /// A list. It grows with the items that are there, not with its announced length.
    pub(crate) fn list<T>(&mut self, mut take: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let len = self.u32()?;
        let mut items = Vec::with_capacity((len as usize).min(self.0.len()).min(1024));
        for _ in 0..len {
            items.push(take(self)?);
        }
        Ok(items)
    }

    pub(crate) fn range(&mut self) -> Result<KeyRange> {
        let mut bound = || match self.u8()? {
            0 => Ok(Bound::Unbounded),
            1 => Ok(Bound::Included(self.bytes()?.to_vec())),
            2 => Ok(Bound::Excluded(self.bytes()?.to_vec())),
            _ => Err(malformed("an end of a range is of no kind")),
        };
        Ok(KeyRange { start: bound()?, end: bound()? })
    }

    pub(crate) fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(malformed("it goes on behind its end")) }
    }
}
