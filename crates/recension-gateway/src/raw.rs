//! Targets of requests as people type them: characters that RFC 3986 wants percent-encoded, and that CouchDB takes as
//! they are (`?key="1"`). Pure.

/// Whether a byte of a target is one that targets have, or one that nobody may send.
#[must_use]
pub fn stays(byte: u8) -> bool {
    !matches!(byte, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}' | 0x80..)
}

/// Writes a byte as `%41`.
pub fn encode(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
}
