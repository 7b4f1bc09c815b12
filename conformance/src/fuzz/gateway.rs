//! Input from web servers. The tests here add random input that is like theirs.

use recension_gateway::limits::{ENVIRONMENT_BYTES_MAX, REQUESTS_MAX};
use recension_gateway::{environment, fcgi, pairs, record, scgi};

/// The bytes of a connection of FastCGI. The first byte decides how they are cut into pieces.
///
/// # Panics
/// If the cut changes the events, or more is held than may be.
pub(super) fn fcgi(input: &[u8]) {
    let [cut, rest @ ..] = input else { return };
    let read = |piece: usize| {
        let mut connection = fcgi::Connection::default();
        let mut events = Vec::new();
        let mut failed = false;
        for piece in rest.chunks(piece.max(1)) {
            match connection.push(piece) {
                Ok(more) => events.extend(more),
                Err(_) => {
                    failed = true;
                    break;
                }
            }
            let most = REQUESTS_MAX * ENVIRONMENT_BYTES_MAX + 2 * record::CONTENT_BYTES_MAX;
            assert!(connection.held_bytes() <= most && connection.under_way() <= REQUESTS_MAX);
        }
        (events, failed)
    };
    let (whole, whole_failed) = read(rest.len());
    let (cut, cut_failed) = read(usize::from(*cut));
    assert_eq!(whole_failed, cut_failed);
    // Events before a mistake are returned only if they came in an earlier piece.
    assert!(whole_failed || whole == cut, "not the same in pieces");
}

/// A head of SCGI.
///
/// # Panics
/// If the head does not read back from what is written of it.
pub(super) fn scgi(input: &[u8]) {
    if let Ok(Some((environment, taken))) = scgi::head(input) {
        let mut again = Vec::new();
        scgi::push(&environment, &mut again);
        assert_eq!(again, &input[..taken]);
        assert_eq!(scgi::head(&input[..taken - 1]), Ok(None));
    }
}

/// Variables, as FastCGI has them, and the request that they make.
///
/// # Panics
/// If they do not read back, or the request is not one of this server.
pub(super) fn environment(input: &[u8]) {
    let Ok(environment) = pairs::read(input) else { return };
    let mut again = Vec::new();
    for (name, value) in &environment.0 {
        pairs::push(name, value, &mut again);
    }
    assert_eq!(pairs::read(&again).as_ref(), Ok(&environment));
    if let Ok(asked) = environment::request(&environment) {
        assert!(asked.head.uri.path().starts_with('/'), "{}", asked.head.uri);
        assert!(asked.head.uri.authority().is_none());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// Records, most of them whole and of few kinds and numbers.
    fn records() -> impl Strategy<Value = Vec<u8>> {
        let content = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..20),
            Just(vec![0, 1, 1, 0, 0, 0, 0, 0]),
            Just(b"\x01\x01AB".to_vec()),
            Just(Vec::new()),
        ];
        let record = (0_u8..13, 0_u16..4, content).prop_map(|(kind, id, content)| {
            let mut out = Vec::new();
            recension_gateway::record::push(kind, id, &content, &mut out);
            out
        });
        prop::collection::vec(record, 0..20).prop_map(|records| records.concat())
    }

    fn variables() -> impl Strategy<Value = Vec<u8>> {
        let name = prop_oneof![
            Just("REQUEST_URI".to_owned()),
            Just("PATH_INFO".to_owned()),
            Just("SCRIPT_NAME".to_owned()),
            Just("REQUEST_METHOD".to_owned()),
            "HTTP_[A-Z]{0,3}",
        ];
        let pair = (name, "[/a%2F?#: \\x00-\\x7fé]{0,12}");
        prop::collection::vec(pair, 0..8).prop_map(|pairs| {
            let mut out = Vec::new();
            for (name, value) in &pairs {
                recension_gateway::pairs::push(name.as_bytes(), value.as_bytes(), &mut out);
            }
            out
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn records_are_read_wherever_they_are_cut(records in records(), cut in any::<u8>()) {
            super::fcgi(&[&[cut], records.as_slice()].concat());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            super::fcgi(&bytes);
            super::scgi(&bytes);
            super::environment(&bytes);
        }

        #[test]
        fn any_variables_are_a_request_or_none(bytes in variables()) {
            super::environment(&bytes);
        }

        #[test]
        fn netstrings_read_back(text in "[0-9]{1,2}:(SCGI\\x001\\x00)?([A-C]\\x00[a-c]?\\x00){0,3},b?") {
            super::scgi(text.as_bytes());
        }
    }
}
