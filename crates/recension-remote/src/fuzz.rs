//! The parsers of the protocol, for the fuzz targets of the conformance suite.

use crate::answer::Answer;
use crate::frame;
use crate::request::Request;

/// Reads frames, and their content as requests and as answers.
///
/// # Panics
/// If a message changes when it is written and read again.
pub fn messages(mut input: &[u8]) {
    while let Ok(Some(message)) = frame::read(&mut input) {
        let mut written = Vec::new();
        assert!(frame::write(&mut written, message.request, &message.payload).is_ok(), "it was shorter than the bound");
        assert_eq!(frame::read(&mut &written[..]).ok().flatten().as_ref(), Some(&message));
        if let Ok(request) = Request::decode(&message.payload) {
            same_again(&request.encode(), |bytes| Request::decode(bytes).ok().map(|request| request.encode()));
        }
        if let Ok(answer) = Answer::decode(&message.payload) {
            same_again(&answer.encode(), |bytes| Answer::decode(bytes).ok().map(|answer| answer.encode()));
        }
    }
}

fn same_again(written: &[u8], read_and_written: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    assert_eq!(read_and_written(written).as_deref(), Some(written));
}
