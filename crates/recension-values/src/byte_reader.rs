//! Reading numbers and lengths from the bytes of a row, which may be damaged: every step checks that there are enough.

/// The unread bytes.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'b> {
    bytes: &'b [u8],
}

impl<'b> ByteReader<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        ByteReader { bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn rest(&self) -> &'b [u8] {
        self.bytes
    }

    pub fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    pub fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*chunk)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.chunk().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.chunk().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.chunk().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Option<u64> {
        self.chunk().map(u64::from_be_bytes)
    }
}
