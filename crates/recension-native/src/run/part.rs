//! Parts of a file that are read by single words, again and again: fences and tables. They are checked when the file
//! is opened. What a view does not lend (an encrypted file) is kept in memory from then on.

use std::borrow::Cow;

use super::super::format::Fields;
use super::super::machine::crowds_memory;
use crate::disk::{DiskFile, Mapping, fetch_at};
use recension_engine::{EngineError, Result};

/// Pieces that a part of a file is read in when it is checked, in bytes.
const CHECKED_BYTES: usize = 256 << 10;

/// Fences or a table.
pub(in super::super) struct Part {
    pub(in super::super) offset: u64,
    pub(in super::super) len: usize,
    kept: Option<Box<[u8]>>,
}

impl Part {
    /// The part that the footer, at `footer_at`, names next. It is read from the file, in order, and not through
    /// `mapping`: so it is in memory for the look-ups that follow, and nothing around it. Where memory is short each
    /// piece is read twice: the system then gives up what was read once, such as blocks of rows, before what was read
    /// again.
    pub(in super::super) fn check(
        (file, mapping): (&dyn DiskFile, &dyn Mapping),
        name: &str,
        (footer_at, fields): (u64, &mut Fields<'_>),
    ) -> Result<Self> {
        let damaged = || EngineError::damaged(name, footer_at, "the footer's lengths do not fit");
        let offset = fields.u64().ok_or_else(damaged)?;
        let len = fields.u64().ok_or_else(damaged)?;
        let stored = fields.u32().ok_or_else(damaged)?;
        let end = offset.checked_add(len).filter(|end| *end <= footer_at).ok_or_else(damaged)?;
        let len = usize::try_from(len).map_err(|_| damaged())?;
        let reads = if crowds_memory(footer_at) && mapping.lends() { 2 } else { 1 };
        let mut kept = (!mapping.lends()).then(|| Vec::with_capacity(len));
        let (mut at, mut computed, mut piece) = (offset, 0, vec![0; CHECKED_BYTES.min(len)]);
        while at < end {
            piece.truncate((end - at) as usize);
            for _ in 0..reads {
                file.read_at(at, &mut piece).map_err(|e| EngineError::io(format!("reading {name}"), e))?;
            }
            computed = crc32c::crc32c_append(computed, &piece);
            at += piece.len() as u64;
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(&piece);
            }
        }
        if stored != computed {
            let what = format!("checksum: expected {stored:08x}, found {computed:08x}");
            return Err(EngineError::damaged(name, offset, what));
        }
        Ok(Part { offset, len, kept: kept.map(Vec::into_boxed_slice) })
    }

    /// All of it.
    #[inline]
    pub(in super::super) fn bytes<'p>(&'p self, mapping: &'p dyn Mapping) -> Option<Cow<'p, [u8]>> {
        match &self.kept {
            None => mapping.read(self.offset, self.len),
            Some(kept) => Some(Cow::Borrowed(kept)),
        }
    }

    /// The bytes from `at` on, of the part.
    #[inline]
    pub(in super::super) fn some<'p>(
        &'p self,
        mapping: &'p dyn Mapping,
        at: usize,
        len: usize,
    ) -> Option<Cow<'p, [u8]>> {
        match &self.kept {
            None => mapping.read(self.offset + at as u64, len),
            Some(kept) => kept.get(at..at.checked_add(len)?).map(Cow::Borrowed),
        }
    }

    /// Begins to bring a cache line of it into the CPU's caches.
    #[inline]
    pub(in super::super) fn prefetch(&self, mapping: &dyn Mapping, at: usize, len: usize) {
        match &self.kept {
            None => mapping.prefetch(self.offset + at as u64, len),
            Some(kept) => kept.get(at).into_iter().for_each(|byte| fetch_at(byte)),
        }
    }
}
