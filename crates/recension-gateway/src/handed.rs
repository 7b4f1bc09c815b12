//! A request that a process of a store hands to another, and its answer. Pure. docs/handed-requests.md has every byte.

use crate::limits::{ENVIRONMENT_BYTES_MAX, VARIABLES_MAX};
use crate::{Environment, Malformed, scgi};

/// The version of the protocol.
const VERSION: &[u8] = b"1";

/// The variable with the version.
const HANDED: &str = "RECENSION_HANDED";

/// The variable that says by which settings the sender would answer.
const ALIKE: &str = "RECENSION_ALIKE";

/// Variables that describe a request, besides its headers.
const DESCRIBING: [&str; 9] = [
    "REQUEST_METHOD",
    "REQUEST_URI",
    "SCRIPT_NAME",
    "PATH_INFO",
    "QUERY_STRING",
    "REMOTE_ADDR",
    "HTTPS",
    "REQUEST_SCHEME",
    "CONTENT_TYPE",
];

/// The first byte of the answer to a request that is not taken.
pub const REFUSED: u8 = 0;

/// The first byte of the answer to a request that is taken.
pub const TAKEN: u8 = 1;

/// Bytes before each piece of an answer.
pub const PIECE_HEAD_BYTES: usize = 4;

/// The request of a CGI program as it is handed over, if it has no body and only reads. `alike` stands for the
/// settings.
pub fn request(environment: &Environment, alike: &str) -> Option<Vec<u8>> {
    let only_reads = matches!(environment.get("REQUEST_METHOD"), None | Some(b"GET" | b"HEAD"));
    let has_body = environment.get("CONTENT_LENGTH").is_some_and(|length| !matches!(length, b"" | b"0"));
    let describes = |name: &[u8]| name.starts_with(b"HTTP_") || DESCRIBING.iter().any(|own| own.as_bytes() == name);
    let own = [("SCGI", &b"1"[..]), (HANDED, VERSION), (ALIKE, alike.as_bytes())];
    let own = own.map(|(name, value)| (name.as_bytes().to_vec(), value.to_vec()));
    let described = environment.0.iter().filter(|(name, _)| describes(name)).cloned();
    let sent = Environment(own.into_iter().chain(described).collect());
    let mut out = Vec::new();
    scgi::push(&sent, &mut out);
    let fits = out.len() <= ENVIRONMENT_BYTES_MAX && sent.0.len() <= VARIABLES_MAX;
    (only_reads && !has_body && fits).then_some(out)
}

/// Whether a request that was handed over is to be answered by these settings.
pub fn is_alike(environment: &Environment, alike: &str) -> bool {
    environment.get(HANDED) == Some(VERSION) && environment.get(ALIKE) == Some(alike.as_bytes())
}

/// What stands before a piece of an answer of this many bytes; of none: before the answer's end.
pub fn piece_head(length: u32) -> [u8; PIECE_HEAD_BYTES] {
    length.to_le_bytes()
}

/// An answer while it arrives.
#[derive(Debug, Default)]
pub struct Arriving {
    taken: bool,
    head: Vec<u8>,
    left: usize,
    ended: bool,
}

/// How far an answer has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// There is more of it.
    Part,
    /// It is whole.
    Whole,
    /// The request was not taken.
    Refused,
}

impl Arriving {
    /// Takes received bytes, and passes on those of the answer, in order.
    ///
    /// # Errors
    /// [`Malformed`] for bytes that cannot come; and the error of `pass`.
    pub fn push<E: From<Malformed>>(
        &mut self,
        mut bytes: &[u8],
        mut pass: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Came, E> {
        if !self.taken {
            match bytes.split_first() {
                None => return Ok(Came::Part),
                Some((&REFUSED, _)) => return Ok(Came::Refused),
                Some((&TAKEN, rest)) => (self.taken, bytes) = (true, rest),
                Some(_) => return Err(Malformed("this is no answer to a request that was handed over").into()),
            }
        }
        while !bytes.is_empty() {
            if self.ended {
                return Err(Malformed("something follows the end of an answer").into());
            }
            if self.left > 0 {
                let (part, rest) = bytes.split_at(self.left.min(bytes.len()));
                pass(part)?;
                (self.left, bytes) = (self.left - part.len(), rest);
                continue;
            }
            let (part, rest) = bytes.split_at((PIECE_HEAD_BYTES - self.head.len()).min(bytes.len()));
            self.head.extend_from_slice(part);
            bytes = rest;
            if let Ok(head) = self.head.as_slice().try_into() {
                self.left = u32::from_le_bytes(head) as usize;
                self.ended = self.left == 0;
                self.head.clear();
            }
        }
        Ok(if self.ended { Came::Whole } else { Came::Part })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        Environment(pairs.iter().map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec())).collect())
    }

    #[test]
    fn what_describes_a_request_is_handed_over_and_nothing_else_of_the_process() {
        let asked = [("REQUEST_METHOD", "GET"), ("REQUEST_URI", "/db"), ("HTTP_ACCEPT", "text/html")];
        let secrets = [("RECENSION_ADMIN", "adm:pass"), ("PATH", "/bin"), ("CONTENT_LENGTH", "")];
        let sent = request(&environment(&[&secrets[..], &asked[..]].concat()), "abc").unwrap();
        let (read, taken) = scgi::head(&sent).unwrap().unwrap();
        assert_eq!(taken, sent.len());
        assert_eq!(read.0[3..], environment(&asked).0);
        assert!(is_alike(&read, "abc"));
        assert!(!is_alike(&read, "abd") && !is_alike(&environment(&asked), "abc"));
    }

    #[test]
    fn what_may_change_something_or_has_a_body_is_not_handed_over() {
        for (method, length, handed) in
            [("GET", "", true), ("HEAD", "0", true), ("GET", "1", false), ("POST", "", false), ("DELETE", "0", false)]
        {
            let asked = environment(&[("REQUEST_METHOD", method), ("CONTENT_LENGTH", length)]);
            assert_eq!(request(&asked, "").is_some(), handed, "{method} {length}");
        }
        let long = "x".repeat(ENVIRONMENT_BYTES_MAX);
        assert_eq!(request(&environment(&[("HTTP_COOKIE", &long)]), ""), None);
    }

    #[test]
    fn an_answer_is_put_together_wherever_it_is_cut_and_its_end_is_seen() {
        let mut sent = vec![TAKEN];
        for piece in [&b"Status: 200 OK\r\n\r\n"[..], b"body", b""] {
            sent.extend_from_slice(&piece_head(u32::try_from(piece.len()).unwrap()));
            sent.extend_from_slice(piece);
        }
        for cut in 0..=sent.len() {
            let (mut answer, mut arriving) = (Vec::new(), Arriving::default());
            let mut came = Came::Part;
            for part in [&sent[..cut], &sent[cut..]] {
                assert_eq!(came, if part.is_empty() && cut > 0 { Came::Whole } else { Came::Part }, "{cut}");
                let pass = |bytes: &[u8]| {
                    answer.extend_from_slice(bytes);
                    Ok::<(), Malformed>(())
                };
                came = arriving.push(part, pass).unwrap();
            }
            assert_eq!((came, answer.as_slice()), (Came::Whole, &b"Status: 200 OK\r\n\r\nbody"[..]), "{cut}");
            assert!(arriving.push(b"x", |_| Ok::<(), Malformed>(())).is_err());
        }
        let ignored = |_: &[u8]| Ok::<(), Malformed>(());
        assert_eq!(Arriving::default().push(&[REFUSED], ignored), Ok(Came::Refused));
        assert!(Arriving::default().push(b"HTTP/1.1 200 OK", ignored).is_err());
    }
}
