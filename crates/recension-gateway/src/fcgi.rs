//! A connection of FastCGI. Its bytes become requests, pieces of their bodies, and answers to questions about the
//! application itself. It multiplexes. Of a request it holds the variables until they are whole, and one record.

use std::collections::BTreeMap;

use crate::limits::{ENVIRONMENT_BYTES_MAX, REQUESTS_MAX};
use crate::record::{self, Ended, Head};
use crate::{Environment, Malformed, pairs};

/// An event of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A request. Its body follows.
    Request {
        /// Its number on the connection.
        id: u16,
        /// Its variables.
        environment: Environment,
        /// Whether the connection goes on after its answer.
        keep: bool,
    },
    /// A request with too many bytes of variables. It must be refused, and its body is ignored.
    TooLong {
        /// Its number.
        id: u16,
        /// Whether the connection goes on.
        keep: bool,
    },
    /// A piece of a request's body.
    Body {
        /// Its number.
        id: u16,
        /// The piece.
        bytes: Vec<u8>,
    },
    /// The end of a request's body.
    BodyEnd {
        /// Its number.
        id: u16,
    },
    /// A request is aborted.
    Abort {
        /// Its number.
        id: u16,
    },
    /// Bytes that must be sent at once.
    Send(Vec<u8>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Request {
    /// Its variables are arriving.
    Variables { bytes: Vec<u8>, keep: bool },
    /// Its body is arriving.
    Body,
    /// Its further records are ignored.
    Ignored,
}

/// A connection.
#[derive(Debug, Default)]
pub struct Connection {
    held: Vec<u8>,
    requests: BTreeMap<u16, Request>,
}

impl Connection {
    /// The events in the next bytes.
    ///
    /// # Errors
    /// [`Malformed`]: the connection is to be closed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Malformed> {
        let mut events = Vec::new();
        let held = std::mem::take(&mut self.held);
        let whole = if held.is_empty() { bytes } else { &[&held, bytes].concat() };
        let mut rest = whole;
        while let Some(head) = rest.first_chunk().copied().map(Head::read) {
            if head.version != record::VERSION {
                return Err(Malformed("this is not version 1 of FastCGI"));
            }
            let Some((record, after)) = rest.split_at_checked(head.length()) else { break };
            let content = &record[record::HEAD_BYTES..record::HEAD_BYTES + usize::from(head.content)];
            self.record(head, content, &mut events)?;
            rest = after;
        }
        self.held = rest.to_vec();
        Ok(events)
    }

    /// Marks a request as answered: further records of it are ignored, and its number is free. Must be called before
    /// the end record is sent, since the web server may use the number again at once.
    pub fn finished(&mut self, id: u16) {
        self.requests.remove(&id);
    }

    /// The number of unfinished requests.
    pub fn under_way(&self) -> usize {
        self.requests.len()
    }

    /// The number of bytes that it holds.
    pub fn held_bytes(&self) -> usize {
        let variables =
            |request: &Request| if let Request::Variables { bytes, .. } = request { bytes.len() } else { 0 };
        self.held.len() + self.requests.values().map(variables).sum::<usize>()
    }

    fn record(&mut self, head: Head, content: &[u8], events: &mut Vec<Event>) -> Result<(), Malformed> {
        let id = head.id;
        match (head.kind, id) {
            (record::GET_VALUES, 0) => events.push(Event::Send(values(content)?)),
            (kind, 0) => {
                let mut out = Vec::new();
                record::push(record::UNKNOWN_TYPE, 0, &[kind, 0, 0, 0, 0, 0, 0, 0], &mut out);
                events.push(Event::Send(out));
            }
            (record::BEGIN_REQUEST, _) => self.begin(id, content, events)?,
            (record::PARAMS, _) => self.variables(id, content, events)?,
            (record::STDIN, _) if self.requests.get(&id) == Some(&Request::Body) => {
                events.push(if content.is_empty() {
                    Event::BodyEnd { id }
                } else {
                    Event::Body { id, bytes: content.to_vec() }
                });
            }
            (record::ABORT_REQUEST, _) => match self.requests.get(&id) {
                Some(Request::Variables { .. }) => {
                    // Nothing works on it yet.
                    self.requests.remove(&id);
                    events.push(end(id, Ended::Complete));
                }
                Some(_) => events.push(Event::Abort { id }),
                None => {}
            },
            // Records of unknown requests are ignored.
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, id: u16, content: &[u8], events: &mut Vec<Event>) -> Result<(), Malformed> {
        const RESPONDER: u16 = 1;
        const KEEP: u8 = 1;
        let [role_high, role_low, flags, ..] = *content else { return Err(Malformed("a request's begin is cut off")) };
        if self.requests.contains_key(&id) {
            return Err(Malformed("a request begins under the number of another one"));
        }
        if u16::from_be_bytes([role_high, role_low]) != RESPONDER {
            events.push(end(id, Ended::UnknownRole));
        } else if self.requests.len() >= REQUESTS_MAX {
            events.push(end(id, Ended::Overloaded));
        } else {
            self.requests.insert(id, Request::Variables { bytes: Vec::new(), keep: flags & KEEP != 0 });
        }
        Ok(())
    }

    fn variables(&mut self, id: u16, content: &[u8], events: &mut Vec<Event>) -> Result<(), Malformed> {
        let Some(request) = self.requests.get_mut(&id) else { return Ok(()) };
        let Request::Variables { bytes, keep } = request else { return Ok(()) };
        let keep = *keep;
        if bytes.len() + content.len() > ENVIRONMENT_BYTES_MAX {
            *request = Request::Ignored;
            events.push(Event::TooLong { id, keep });
        } else if content.is_empty() {
            let environment = pairs::read(bytes)?;
            *request = Request::Body;
            events.push(Event::Request { id, environment, keep });
        } else {
            bytes.extend_from_slice(content);
        }
        Ok(())
    }
}

fn end(id: u16, ended: Ended) -> Event {
    let mut out = Vec::new();
    record::push_end(id, ended, &mut out);
    Event::Send(out)
}

/// The answer to `GET_VALUES`: the known ones of the values that are asked for.
fn values(content: &[u8]) -> Result<Vec<u8>, Malformed> {
    let requests = REQUESTS_MAX.to_string();
    let known: [(&[u8], &str); 3] =
        [(b"FCGI_MAX_CONNS", "10000"), (b"FCGI_MAX_REQS", &requests), (b"FCGI_MPXS_CONNS", "1")];
    let mut answer = Vec::new();
    for (name, _) in pairs::read(content)?.0 {
        if let Some((name, value)) = known.iter().find(|(known, _)| *known == name) {
            pairs::push(name, value.as_bytes(), &mut answer);
        }
    }
    // The question may name one value again and again. One record has room for the first of them.
    answer.truncate(record::CONTENT_BYTES_MAX);
    let mut out = Vec::new();
    record::push(record::GET_VALUES_RESULT, 0, &answer, &mut out);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: [u8; 8] = [0, 1, 1, 0, 0, 0, 0, 0];

    fn sent(records: &[(u8, u16, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (kind, id, content) in records {
            record::push(*kind, *id, content, &mut out);
        }
        out
    }

    fn variables(pairs: &[(&str, &str)]) -> Vec<u8> {
        let mut out = Vec::new();
        for (name, value) in pairs {
            pairs::push(name.as_bytes(), value.as_bytes(), &mut out);
        }
        out
    }

    #[test]
    fn requests_that_are_mixed_come_out_one_by_one_wherever_the_bytes_are_cut() {
        let long = "x".repeat(300);
        let (one, two) = (variables(&[("A", "1"), ("LONG", &long)]), variables(&[("B", "")]));
        let bytes = sent(&[
            (record::BEGIN_REQUEST, 1, &KEEP),
            (record::PARAMS, 1, &one[..5]),
            (record::BEGIN_REQUEST, 2, &[0, 1, 0, 0, 0, 0, 0, 0]),
            (record::PARAMS, 1, &one[5..]),
            (record::PARAMS, 2, &two),
            (record::PARAMS, 2, b""),
            (record::PARAMS, 1, b""),
            (record::STDIN, 1, b"body"),
            (record::STDIN, 2, b""),
            (record::STDIN, 9, b"nobody's"),
            (record::STDIN, 1, b""),
            (record::ABORT_REQUEST, 1, b""),
        ]);
        let pair = |name: &str, value: &str| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
        let expected = [
            Event::Request { id: 2, environment: Environment(vec![pair("B", "")]), keep: false },
            Event::Request { id: 1, environment: Environment(vec![pair("A", "1"), pair("LONG", &long)]), keep: true },
            Event::Body { id: 1, bytes: b"body".to_vec() },
            Event::BodyEnd { id: 2 },
            Event::BodyEnd { id: 1 },
            Event::Abort { id: 1 },
        ];
        for cut in 1..bytes.len() {
            let mut connection = Connection::default();
            let events: Vec<_> = bytes.chunks(cut).flat_map(|piece| connection.push(piece).unwrap()).collect();
            assert_eq!(events, expected, "{cut}");
        }
    }

    #[test]
    fn what_is_asked_of_the_application_is_answered() {
        let mut connection = Connection::default();
        let asked = variables(&[("FCGI_MPXS_CONNS", ""), ("OTHER", "")]);
        let events = connection.push(&sent(&[(record::GET_VALUES, 0, &asked), (77, 0, b"?")])).unwrap();
        let answer = variables(&[("FCGI_MPXS_CONNS", "1")]);
        let expected = [
            Event::Send(sent(&[(record::GET_VALUES_RESULT, 0, &answer)])),
            Event::Send(sent(&[(record::UNKNOWN_TYPE, 0, &[77, 0, 0, 0, 0, 0, 0, 0])])),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn too_much_is_refused() {
        let mut connection = Connection::default();
        connection.push(&sent(&[(record::BEGIN_REQUEST, 1, &KEEP)])).unwrap();
        let part = vec![b'x'; 60_000];
        let events: Vec<_> =
            (0..9).flat_map(|_| connection.push(&sent(&[(record::PARAMS, 1, &part)])).unwrap()).collect();
        assert_eq!(events, [Event::TooLong { id: 1, keep: true }]);
        assert_eq!(connection.held_bytes(), 0);
        connection.finished(1);
        for id in 1..=REQUESTS_MAX as u16 {
            assert_eq!(connection.push(&sent(&[(record::BEGIN_REQUEST, id, &KEEP)])), Ok(vec![]));
        }
        let more = connection.push(&sent(&[(record::BEGIN_REQUEST, 1000, &KEEP)])).unwrap();
        assert_eq!(more, [end(1000, Ended::Overloaded)]);
        assert!(connection.push(&sent(&[(record::BEGIN_REQUEST, 1, &KEEP)])).is_err());
        let role = Connection::default().push(&sent(&[(record::BEGIN_REQUEST, 1, &[0, 2, 0, 0, 0, 0, 0, 0])]));
        assert_eq!(role, Ok(vec![end(1, Ended::UnknownRole)]));
        assert!(Connection::default().push(b"GET / HTTP/1.1\r\n").is_err());
        let aborted = connection.push(&sent(&[(record::ABORT_REQUEST, 2, b"")])).unwrap();
        assert_eq!(aborted, [end(2, Ended::Complete)]);
    }
}
