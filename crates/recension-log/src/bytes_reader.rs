//! Reading the parts of a record. Pure; truncated input is an error and never a panic.

/// The bytes ended too early, or a length goes beyond its bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Short;

/// The unread bytes.
pub(crate) struct BytesReader<'b>(pub(crate) &'b [u8]);

impl<'b> BytesReader<'b> {
    pub(crate) fn take(&mut self, len: usize) -> Result<&'b [u8], Short> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(Short)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Short> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Short)?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Short> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Short> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Short> {
        self.array().map(u64::from_le_bytes)
    }

    /// Bytes behind their length.
    pub(crate) fn sized(&mut self) -> Result<&'b [u8], Short> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    /// A text behind its length.
    pub(crate) fn text(&mut self) -> Result<String, Short> {
        String::from_utf8(self.sized()?.to_vec()).map_err(|_| Short)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends bytes behind their length. Input is checked against bounds far below 4 GiB before.
pub(crate) fn put_sized(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    to.extend_from_slice(bytes);
}
