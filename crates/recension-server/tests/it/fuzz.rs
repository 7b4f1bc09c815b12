//! Fuzz targets for the server's parsers of foreign input, as plain functions over bytes, each with an oracle that
//! panics. `conformance/fuzz` includes this file and drives them with libFuzzer; the tests here use a corpus and random
//! inputs.

use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use recension_endpoints::multipart_parser::{Event, Malformed, Parser};
use recension_pages::page_request::PageRequest;
use recension_wire::answer::{Answer, AnswerBody, BrokenOff, Made};
use recension_wire::limits::{BOUNDARY_BYTES_MAX, PART_HEAD_BYTES_MAX};

/// A multipart body in pieces. The input's first byte is the boundary's length, the second says how the body is cut;
/// then come boundary and body.
///
/// Oracle: however it is cut, the parts are those of the body in one piece, and of a second, naive reader. The memory
/// that is held is bounded.
///
/// # Panics
/// If that is not so.
pub(crate) fn multipart(input: &[u8]) {
    let [length, cut, rest @ ..] = input else { return };
    let (boundary, body) = rest.split_at(rest.len().min(usize::from(*length)));
    let Ok(boundary) = std::str::from_utf8(boundary) else { return };
    // Quoted, so that any character may stand in it.
    let quoted = boundary.replace('\\', "\\\\").replace('"', "\\\"");
    let content_type = format!("multipart/related; boundary=\"{quoted}\"");
    let fits = (1..=BOUNDARY_BYTES_MAX).contains(&boundary.len())
        && boundary.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && !boundary.ends_with(' ');
    let Ok(parser) = Parser::new(&content_type) else {
        assert!(!fits, "the boundary {boundary:?} is refused");
        return;
    };
    assert!(fits, "the boundary {boundary:?} is taken");
    let whole = read(parser, std::iter::once(body));
    let Ok(again) = Parser::new(&content_type) else { return };
    assert_eq!(read(again, pieces(body, *cut)), whole, "in pieces of {cut}");
    if let Ok(parts) = &whole {
        assert_eq!(parts, &naive(boundary, body), "not what a naive reader reads");
    }
}

/// A page made of an answer. The first byte says how the answer is cut into pieces, the second its kind.
///
/// Oracle: every tag is one that the server writes, no address runs a script, and no tag handles an event.
///
/// # Panics
/// If that is not so.
pub(crate) fn page(input: &[u8]) {
    const TAGS: &str = "!DOCTYPE html head meta title link body a header nav span bdi form label input button main h1 dl \
                        dt dd ol ul li code pre i p div table thead tbody tr th td footer svg rect path circle";
    let [cut, kind, answer @ ..] = input else { return };
    let paths = ["/db/_all_docs?limit=1", "/db/doc", "/db/doc/_history", "/_all_dbs", "/db/_find?fields=a.b,c"];
    let path = paths[usize::from(*kind) % paths.len()];
    let request = http::Request::get(path).header("accept", "text/html,application/xhtml+xml").body(());
    let Some((mut head, ())) = request.ok().map(http::Request::into_parts) else { return };
    let Some(asked) = PageRequest::of(&mut head) else { return };
    let html = page_of(asked, pieces(answer, *cut));
    for tag in html.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').expect("a tag ends");
        let name = inside.split([' ', '\n']).next().unwrap_or_default().trim_start_matches('/');
        assert!(TAGS.split(' ').any(|own| own == name), "<{inside}>");
        for address in inside.split("href=\"").skip(1) {
            let fits = ["/", "?", "#", "http://", "https://"].iter().any(|begin| address.starts_with(begin));
            assert!(fits, "<{inside}>");
        }
        assert!(!inside.split('"').step_by(2).any(|outside| outside.contains(" on")), "<{inside}>");
    }
}

/// The page of an answer that comes in pieces.
fn page_of<'p>(asked: PageRequest, pieces: impl Iterator<Item = &'p [u8]>) -> String {
    #[derive(Debug)]
    struct Cut(std::vec::IntoIter<Bytes>);
    impl Made for Cut {
        fn poll(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
            Poll::Ready(self.0.next().map(Ok))
        }
    }
    let pieces: Vec<_> = pieces.map(Bytes::copy_from_slice).collect();
    let answer = Answer { body: AnswerBody::Made(Box::new(Cut(pieces.into_iter()))), ..Answer::ok("") };
    let AnswerBody::Made(mut page) = asked.turned(answer).body else { panic!("a page is made while it is sent") };
    let mut html = Vec::new();
    while let Poll::Ready(Some(piece)) = page.poll(&mut Context::from_waker(Waker::noop())) {
        html.extend(piece.expect("the page is whole"));
    }
    String::from_utf8_lossy(&html).into_owned()
}

/// Pieces of one length; with `cut` 0, of different lengths.
fn pieces(body: &[u8], cut: u8) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut step) = (body, 0_usize);
    std::iter::from_fn(move || {
        step = step.wrapping_mul(31).wrapping_add(7);
        let length = if cut == 0 { step % 23 } else { usize::from(cut) };
        let (piece, after) = rest.split_at(rest.len().min(length.max(1)));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The bytes of the parts that are complete.
fn read<'b>(mut parser: Parser, pieces: impl Iterator<Item = &'b [u8]>) -> Result<Vec<Vec<u8>>, Malformed> {
    let (mut parts, mut open) = (Vec::new(), None::<Vec<u8>>);
    for piece in pieces {
        parser.feed(piece);
        while let Some(event) = parser.next_event()? {
            match event {
                Event::Part(_) => assert!(open.replace(Vec::new()).is_none(), "a part within a part"),
                Event::Data(data) => {
                    assert!(!data.is_empty(), "no data is no event");
                    let Some(open) = &mut open else { panic!("data outside of a part") };
                    open.extend(&data);
                }
                Event::EndOfPart => {
                    assert!(open.is_some(), "the end of no part");
                    parts.extend(open.take());
                }
                Event::End => assert!(open.is_none(), "the end within a part"),
            }
        }
        let most = PART_HEAD_BYTES_MAX + BOUNDARY_BYTES_MAX + 256;
        assert!(parser.held() <= most, "{} bytes are held", parser.held());
    }
    Ok(parts)
}

/// The same, read from the whole text with the simplest of means.
fn naive(boundary: &str, body: &[u8]) -> Vec<Vec<u8>> {
    let text = [b"\r\n", body].concat();
    let delimiter = format!("\r\n--{boundary}").into_bytes();
    // Where a delimiter begins, where the text behind it begins, whether it is the last.
    let delimiter_at = |from: usize| {
        (from..text.len()).find_map(|at| {
            let rest = text.get(at..)?.strip_prefix(delimiter.as_slice())?;
            let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            let after = at + delimiter.len();
            match rest {
                [b'-', b'-', ..] => Some((at, after, true)),
                _ if blanks <= 64 && rest.get(blanks..)?.starts_with(b"\r\n") => Some((at, after + blanks, false)),
                _ => None,
            }
        })
    };
    let mut parts = Vec::new();
    let mut found = delimiter_at(0);
    while let Some((_, after, false)) = found {
        let Some(head) = text.get(after..).and_then(|rest| rest.windows(4).position(|four| four == b"\r\n\r\n")) else {
            break;
        };
        let begin = after + head + 4;
        found = delimiter_at(begin);
        if let Some((end, ..)) = found {
            parts.push(text.get(begin..end).unwrap_or_default().to_vec());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/fuzz/corpus/multipart");

    #[test]
    fn the_corpus_reads_in_every_way_of_cutting_it() {
        let mut files = 0;
        for entry in std::fs::read_dir(CORPUS).unwrap() {
            let input = std::fs::read(entry.unwrap().path()).unwrap();
            files += 1;
            for cut in 0..=u8::MAX {
                let mut input = input.clone();
                input[1] = cut;
                multipart(&input);
            }
        }
        assert!(files >= 5, "the corpus is there");
    }

    #[test]
    fn a_body_cut_at_any_two_places_has_the_same_parts() {
        let body = b"x\r\n--b--c\r\n--b \r\nA: 1\r\n\r\none\r\n--bb\r\n--b\r\n\r\n\r\n--b--\r\n";
        let content_type = "multipart/related; boundary=b";
        let whole = read(Parser::new(content_type).unwrap(), std::iter::once(body.as_slice()));
        for first in 0..body.len() {
            for second in first..body.len() {
                let pieces = [&body[..first], &body[first..second], &body[second..]];
                assert_eq!(read(Parser::new(content_type).unwrap(), pieces.into_iter()), whole, "{first}, {second}");
            }
        }
    }

    #[test]
    fn the_corpus_of_pages_stays_text() {
        let files: Vec<_> = std::fs::read_dir(CORPUS.replace("multipart", "page")).unwrap().collect();
        assert!(!files.is_empty());
        for file in files {
            page(&std::fs::read(file.unwrap().path()).unwrap());
        }
    }

    /// Texts that look like answers, and like markup, more often than random bytes do.
    fn answer() -> impl Strategy<Value = Vec<u8>> {
        const TOKENS: [&[u8]; 22] = [
            b"{\"rows\":[",
            b"{\"id\":\"",
            b"{\"_id\":\"a\"",
            b"\"",
            b":",
            b",",
            b"[",
            b"]",
            b"{",
            b"}",
            b"\"doc\":{",
            b"1.5e3",
            b"<script>",
            b"\\\"><img onerror=x>",
            b"javascript:x",
            b"https://a/\\\" onload=x",
            b"\\u003cb\\u003e",
            b"\\",
            b"\"value\":{\"rev\":\"1-a\"}",
            b"\"_attachments\":{\"<a>\":{}}",
            b"&quot;",
            b"\xff\0",
        ];
        prop::collection::vec(prop::sample::select(&TOKENS[..]), 0..60).prop_map(|tokens| tokens.concat())
    }

    /// Texts that look like multipart bodies more often than random bytes do.
    fn body() -> impl Strategy<Value = Vec<u8>> {
        const TOKENS: [&[u8]; 9] = [b"\r\n", b"\r\n--b", b"--", b"b", b" ", b"A: 1", b"\r\n\r\n", b"\r", b"\xff"];
        let token = prop::sample::select(&TOKENS[..]);
        prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn no_answer_leaves_its_place_in_a_page(cut in any::<u8>(), kind in any::<u8>(), answer in answer()) {
            page(&[&[cut, kind][..], &answer].concat());
        }
    }

    proptest! {
        #[test]
        fn bodies_of_chance_are_read_alike_in_all_pieces(
            boundary in prop_oneof![Just("b".to_owned()), Just("--".to_owned()), "[ -~]{0,210}", ".{0,5}"],
            cut in any::<u8>(),
            body in body(),
            long in prop_oneof![9 => Just(0_usize), 1 => 0..40_000_usize],
        ) {
            let length = u8::try_from(boundary.len()).unwrap_or(u8::MAX);
            let filling = vec![b'x'; long];
            multipart(&[&[length, cut][..], boundary.as_bytes(), b"--", boundary.as_bytes(), &body, &filling, &body].concat());
        }
    }
}
