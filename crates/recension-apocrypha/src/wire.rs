//! Frames: four bytes of length, then this many of payload. Pure.

/// Bytes of a frame's length.
pub const HEAD_BYTES: usize = 4;

/// The beginning of received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming<'b> {
    /// A whole frame's payload.
    Frame(&'b [u8]),
    /// Too few bytes; the whole frame has this many, if that is known.
    Partial(Option<usize>),
    /// A frame that announces more bytes than are allowed.
    TooLong(usize),
}

/// Reads the first frame.
pub fn next(bytes: &[u8], payload_max: usize) -> Incoming<'_> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else { return Incoming::Partial(None) };
    let length = u32::from_be_bytes(*head) as usize;
    if length > payload_max {
        return Incoming::TooLong(length);
    }
    rest.get(..length).map_or(Incoming::Partial(Some(HEAD_BYTES + length)), Incoming::Frame)
}

/// The payload of the first frame, if all of it is there.
pub(crate) fn first_payload(bytes: &[u8]) -> Option<&[u8]> {
    match next(bytes, bytes.len()) {
        Incoming::Frame(payload) => Some(payload),
        Incoming::Partial(_) | Incoming::TooLong(_) => None,
    }
}

/// Adds a frame to bytes that are to be sent. A payload has less than 4 GiB.
pub fn write(payload: &[u8], out: &mut Vec<u8>) {
    write_parts(&[payload], out);
}

/// The same for a payload in parts.
pub(crate) fn write_parts(parts: &[&[u8]], out: &mut Vec<u8>) {
    let bytes = parts.iter().map(|part| part.len()).sum::<usize>();
    let length = u32::try_from(bytes).unwrap_or(u32::MAX);
    out.reserve(HEAD_BYTES + bytes);
    out.extend_from_slice(&length.to_be_bytes());
    let end = out.len().saturating_add(length as usize);
    for part in parts {
        out.extend_from_slice(part);
    }
    out.truncate(end);
}

/// A request of words, as a frame.
///
/// # Errors
/// The word that contains a newline, which would separate words.
pub fn request<'w>(words: &[&'w str]) -> Result<Vec<u8>, &'w str> {
    if let Some(word) = words.iter().find(|word| word.contains('\n')) {
        return Err(word);
    }
    let mut out = Vec::new();
    write(words.join("\n").as_bytes(), &mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_read_when_all_of_it_is_there() {
        let bytes = request(&["a", "é"]).unwrap();
        assert_eq!(bytes, b"\0\0\0\x04a\n\xc3\xa9");
        for cut in 0..bytes.len() {
            let expected = if cut < HEAD_BYTES { None } else { Some(bytes.len()) };
            assert_eq!(next(&bytes[..cut], 4), Incoming::Partial(expected));
        }
        assert_eq!(next(&[&bytes[..], b"more"].concat(), 4), Incoming::Frame("a\né".as_bytes()));
        assert_eq!(next(&bytes, 3), Incoming::TooLong(4));
        assert_eq!(next(&[255; 4], 1 << 20), Incoming::TooLong(u32::MAX as usize));
        assert_eq!(next(&[0; 4], 0), Incoming::Frame(b""));
        assert!(request(&["a\nb"]).is_err());
    }
}
