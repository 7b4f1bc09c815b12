//! Requests of clients of Redis.

use recension_redis::resp::{Requests, encode_request};

/// The bytes of a connection, of which the first says how the others are cut. However they are, the same requests
/// come out of them.
///
/// # Panics
/// If that is not so.
pub(super) fn resp(input: &[u8]) {
    let Some((cut, input)) = input.split_first() else { return };
    let read = |step: usize| {
        let mut requests = Requests::default();
        let mut found = Vec::new();
        for piece in input.chunks(step) {
            requests.feed(piece);
            loop {
                match requests.next_request() {
                    Ok(Some(request)) => found.push(request),
                    Ok(None) => break,
                    Err(malformed) => return (found, Some(malformed)),
                }
            }
        }
        assert!(requests.waiting() <= input.len());
        (found, None)
    };
    let whole = read(input.len().max(1));
    assert_eq!(read(usize::from(*cut).max(1)), whole);
    for request in whole.0 {
        let mut again = Requests::default();
        again.feed(&encode_request(&request));
        assert_eq!(again.next_request(), Ok(Some(request)));
        assert_eq!(again.waiting(), 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_read_the_same_however_they_are_cut(
            bytes in proptest::collection::vec(
                prop_oneof![proptest::sample::select(b"*$\r\n12\"".as_slice()), any::<u8>()],
                0..60),
        ) {
            super::resp(&bytes);
        }
    }
}
