//! Makes the checksums of edited files right again, so that the code behind them is fuzzed too. A file that is forged
//! in this way may hold anything, and its reader must neither panic nor read outside of its bounds. docs/format.md says
//! where the checksums are. Forging a whole file changes nothing, and a test checks that.

use crc32c::{crc32c, crc32c_append};
use xxhash_rust::xxh3::xxh3_128;

fn put(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(place) = bytes.get_mut(at..at + 4) {
        place.copy_from_slice(&value.to_le_bytes());
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(field.try_into().ok()?) as usize)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<usize> {
    let field = bytes.get(at..at.checked_add(8)?)?;
    usize::try_from(u64::from_le_bytes(field.try_into().ok()?)).ok()
}

fn part(bytes: &[u8], at: usize, len: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(len)?)
}

/// A manifest whose checksum is right.
pub fn forge_manifest(bytes: &mut [u8]) {
    if let Some(body) = bytes.len().checked_sub(4) {
        put(bytes, body, crc32c(&bytes[..body]));
    }
}

/// A manifest that names run `number` with its actual length and footer.
pub(super) fn name_run(manifest: &mut [u8], number: usize, run: &[u8]) {
    let footer_crc = run.len().checked_sub(4).and_then(|at| u32_at(run, at)).unwrap_or(0) as u32;
    for entry in (32..manifest.len()).step_by(72) {
        if u64_at(manifest, entry) == Some(number) && entry + 72 <= manifest.len() {
            manifest[entry + 24..entry + 32].copy_from_slice(&(run.len() as u64).to_le_bytes());
            put(manifest, entry + 32, footer_crc);
        }
    }
    forge_manifest(manifest);
}

/// A run whose header, blocks, fences, filter and footer have the right checksums, as far as they are in the file.
pub fn forge_run(bytes: &mut [u8]) {
    if let Some(header) = part(bytes, 0, 44) {
        put(bytes, 44, crc32c(header));
    }
    let Some(footer) = bytes.len().checked_sub(128) else { return };
    for section in [footer, footer + 32] {
        forge_blocks(bytes, section);
        forge_part(bytes, section);
    }
    forge_part(bytes, footer + 64);
    let crc = crc32c(&bytes[footer..footer + 124]);
    put(bytes, footer + 124, crc);
}

/// A part that a field describes: offset (8), length (8), checksum (4).
fn forge_part(bytes: &mut [u8], field: usize) {
    let crc = (|| {
        let (at, len) = (u64_at(bytes, field)?, u64_at(bytes, field + 8)?);
        (len > 0).then(|| part(bytes, at, len).map(crc32c))?
    })();
    if let Some(crc) = crc {
        put(bytes, field + 16, crc);
    }
}

/// The blocks in the fences of a section: offset (8), length (4), and the place of the key (8).
fn forge_blocks(bytes: &mut [u8], field: usize) {
    let (Some(fences), Some(blocks)) = (u64_at(bytes, field), u32_at(bytes, field + 20)) else { return };
    for block in 0..blocks.min(1000) {
        let Some(fence) = fences.checked_add(block * 20) else { return };
        let (Some(start), Some(len)) = (u64_at(bytes, fence), fence.checked_add(8).and_then(|at| u32_at(bytes, at)))
        else {
            return;
        };
        if let Some(body) = part(bytes, start, len).and_then(|block| block.get(4..)) {
            let crc = crc32c_append(crc32c(&(start as u64).to_le_bytes()), body);
            put(bytes, start, crc);
        }
    }
}

/// A segment whose header and commit records (at `records`) have right checksums, and whose chain values continue.
pub fn forge_segment(bytes: &mut [u8], records: &[usize]) {
    if let Some(header) = part(bytes, 0, 36) {
        put(bytes, 36, crc32c(header));
    }
    let mut before = None;
    for &record in records {
        before = forge_record(bytes, record, before);
    }
}

/// Returns the chain value after the record. `before` is the value before it; `None` leaves that as it is.
fn forge_record(bytes: &mut [u8], record: usize, before: Option<u128>) -> Option<u128> {
    let seq = part(bytes, record + 40, 8)?.to_vec();
    let rows = u32_at(bytes, record + 56)?.min(1000);
    if let (Some(before), Some(place)) = (before, bytes.get_mut(record + 24..record + 40)) {
        place.copy_from_slice(&before.to_le_bytes());
    }
    let mut at = record + 64;
    let mut rows_crc = 0;
    for _ in 0..rows {
        let value_len = u32_at(bytes, at + 12)?;
        let value_len = if value_len == u32::MAX as usize { 0 } else { value_len };
        let key_len = usize::from(u16::from_le_bytes(part(bytes, at + 16, 2)?.try_into().ok()?));
        let len = 18 + key_len + value_len;
        let Some(row) = part(bytes, at + 4, len - 4) else { break };
        let crc = crc32c_append(crc32c(&seq), row);
        put(bytes, at, crc);
        rows_crc = crc32c_append(rows_crc, &crc.to_le_bytes());
        at += len;
    }
    put(bytes, record + 20, rows_crc);
    // The seed is the store's id, the segment's number and the record's offset. The former two are taken from the
    // segment's header.
    let mut crc = crc32c(part(bytes, 12, 16)?);
    crc = crc32c_append(crc, part(bytes, 28, 8)?);
    crc = crc32c_append(crc, &(record as u64).to_le_bytes());
    crc = crc32c_append(crc, part(bytes, record + 8, 56)?);
    put(bytes, record + 4, crc);
    part(bytes, record + 24, at - record - 24).map(xxh3_128)
}

/// A mark that names no commit.
pub(super) fn forge_mark(bytes: &mut [u8]) {
    for slot in (0..bytes.len()).step_by(4096).filter(|slot| slot + 80 <= bytes.len()).collect::<Vec<_>>() {
        bytes[slot + 36..slot + 44].fill(0);
        let crc = crc32c(&bytes[slot..slot + 76]);
        put(bytes, slot + 76, crc);
    }
}

/// The beginnings of the commit records in a whole segment.
pub(super) fn record_places(segment: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 4096;
    while part(segment, at, 4) == Some(b"RcC2") {
        places.push(at);
        at += u32_at(segment, at + 16).unwrap_or(0).max(8);
    }
    places
}

/// A settled file whose header, blocks, fences, table and footer have the right checksums, as far as they are in the
/// file.
pub fn forge_settled(bytes: &mut [u8]) {
    if let Some(header) = part(bytes, 0, 52) {
        put(bytes, 52, crc32c(header));
    }
    let Some(footer) = bytes.len().checked_sub(192) else { return };
    // The seed is the store's id and the file's number, as in the header.
    let Some(seed) = part(bytes, 12, 24).map(crc32c) else { return };
    for section in [footer, footer + 32, footer + 64] {
        forge_settled_blocks(bytes, section, seed);
        forge_part(bytes, section);
    }
    forge_part(bytes, footer + 96);
    let crc = crc32c(&bytes[footer..footer + 188]);
    put(bytes, footer + 188, crc);
}

fn forge_settled_blocks(bytes: &mut [u8], field: usize, seed: u32) {
    let (Some(fences), Some(blocks)) = (u64_at(bytes, field), u32_at(bytes, field + 20)) else { return };
    for block in 0..blocks.min(1000) {
        let Some(start) = fences.checked_add(block * 20).and_then(|fence| u64_at(bytes, fence)) else { return };
        let end = start.checked_add(8).and_then(|at| u32_at(bytes, at)).and_then(|len| len.checked_add(24));
        let body = end.and_then(|len| part(bytes, start, len)).and_then(|block| block.get(8..));
        if let Some(body) = body {
            let crc = crc32c_append(crc32c_append(seed, &(start as u64).to_le_bytes()), body);
            put(bytes, start + 4, crc);
        }
    }
}
