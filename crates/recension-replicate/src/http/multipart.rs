//! A document with attachments of any length as `multipart/related`, made piece by piece while it is sent.

use std::io::{self, Cursor, Read};

use crate::document::Attachment;
use crate::end::Open;
use crate::error::Error;

/// The body of a request. Each attachment is opened when its turn comes.
pub(crate) struct Related<'a> {
    boundary: String,
    parts: std::vec::IntoIter<Part<'a>>,
    length: u64,
    open: &'a Open<'a>,
    current: Option<(Box<dyn Read + Send>, Option<u64>)>,
    failure: Option<Error>,
}

enum Part<'a> {
    Text(String),
    Bytes(&'a Attachment),
}

impl<'a> Related<'a> {
    pub(crate) fn new(document: &str, attachments: &[&'a Attachment], open: &'a Open<'a>) -> Self {
        // Attachments are not searched for the boundary: it is random.
        let mut random = [0; 16];
        // Without random bytes, the lengths of the parts separate them; CouchDB uses these anyway.
        let _ = getrandom::fill(&mut random);
        let boundary = random.iter().fold(String::from("recension-"), |text, byte| text + &format!("{byte:02x}"));
        let mut parts = vec![Part::Text(format!("--{boundary}\r\nContent-Type: application/json\r\n\r\n{document}"))];
        for own in attachments {
            let name: String = own.name.chars().map(|own| if "\"\\\r\n".contains(own) { '_' } else { own }).collect();
            parts.push(Part::Text(format!(
                "\r\n--{boundary}\r\nContent-Disposition: attachment; filename=\"{name}\"\r\nContent-Type: {}\r\n\
                 Content-Length: {}\r\n\r\n",
                own.content_type, own.length
            )));
            parts.push(Part::Bytes(own));
        }
        parts.push(Part::Text(format!("\r\n--{boundary}--")));
        let length = parts.iter().map(|part| match part {
            Part::Text(text) => text.len() as u64,
            Part::Bytes(own) => own.length,
        });
        let length = length.sum();
        Related { boundary, parts: parts.into_iter(), length, open, current: None, failure: None }
    }

    pub(crate) fn content_type(&self) -> String {
        format!("multipart/related; boundary=\"{}\"", self.boundary)
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The error of reading an attachment, if that was the reason.
    pub(crate) fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }
}

impl Read for Related<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some((reader, left)) = &mut self.current else {
                match self.parts.next() {
                    None => return Ok(0),
                    Some(Part::Text(text)) => self.current = Some((Box::new(Cursor::new(text)), None)),
                    Some(Part::Bytes(own)) => match (self.open)(own) {
                        Ok(reader) => self.current = Some((reader, Some(own.length))),
                        Err(error) => {
                            let told = io::Error::other(error.to_string());
                            self.failure = Some(error);
                            return Err(told);
                        }
                    },
                }
                continue;
            };
            let count = reader.read(buffer).inspect_err(|error| {
                self.failure = Some(Error::Unreachable { end: "the source".to_owned(), why: error.to_string() });
            })?;
            if let Some(left) = left {
                match left.checked_sub(count as u64) {
                    Some(less) if count > 0 || less == 0 => *left = less,
                    _ => {
                        let why = "an attachment has another length than was said".to_owned();
                        self.failure = Some(Error::Unreachable { end: "the source".to_owned(), why: why.clone() });
                        return Err(io::Error::other(why));
                    }
                }
            }
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            self.current = None;
        }
    }
}
