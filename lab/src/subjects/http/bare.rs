//! The floor: it answers everything with the same document.

use super::{Dialect, wrong};
use crate::data::value;
use crate::error::Result;
use crate::load::Answer;
use crate::servers::hyper_floor;

pub(super) struct Bare {
    answer: String,
}

impl Bare {
    pub(super) fn new() -> Self {
        Bare { answer: hyper_floor::answer() }
    }

    fn check(&self, status: u16, answer: &Answer) -> Result<()> {
        let right = answer.status == status && answer.body == self.answer.as_bytes();
        if right { Ok(()) } else { Err(wrong("the floor's answer", format!("{status} {}", self.answer), answer)) }
    }
}

impl Dialect for Bare {
    fn put(&self, database: &str, n: u64) -> Vec<u8> {
        let body = value(n, 0);
        let length = body.len();
        format!("PUT /{database}/{n} HTTP/1.1\r\nhost: floor\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
    }
    fn get(&self, database: &str, n: u64) -> Vec<u8> {
        format!("GET /{database}/{n} HTTP/1.1\r\nhost: floor\r\n\r\n").into_bytes()
    }
    fn check_put(&self, _: u64, answer: &Answer) -> Result<String> {
        self.check(201, answer).map(|()| String::new())
    }
    fn check_get(&self, _: u64, _: &str, answer: &Answer) -> Result<()> {
        self.check(200, answer)
    }
    fn keeps(&self) -> bool {
        false
    }
}
