//! Redis: `SET` and `GET` of the same bodies.

use std::fmt::Write as _; // to a String, which cannot fail

use super::{Dialect, id, wrong};
use crate::data::value;
use crate::error::Result;
use crate::load::{Answer, Wire};

pub(super) struct Redis;

fn command(words: &[&str]) -> Vec<u8> {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        let _ = write!(text, "${}\r\n{word}\r\n", word.len());
    }
    text.into_bytes()
}

impl Dialect for Redis {
    fn wire(&self) -> Wire {
        Wire::Resp
    }
    fn put(&self, database: &str, n: u64) -> Vec<u8> {
        command(&["SET", &format!("{database}:{}", id(n)), &value(n, 0)])
    }
    fn get(&self, database: &str, n: u64) -> Vec<u8> {
        command(&["GET", &format!("{database}:{}", id(n))])
    }
    fn check_put(&self, n: u64, answer: &Answer) -> Result<String> {
        let right = answer.status == 200 && answer.body == b"OK";
        if right { Ok(String::new()) } else { Err(wrong(format!("SET of {}", id(n)), "OK", answer)) }
    }
    fn check_get(&self, n: u64, _: &str, answer: &Answer) -> Result<()> {
        let right = answer.status == 200 && answer.body == value(n, 0).as_bytes();
        if right { Ok(()) } else { Err(wrong(format!("GET of {}", id(n)), value(n, 0), answer)) }
    }
}
