//! Servers of members over the network: what each is asked in its own words. Pure: bytes of requests out, values in.

use std::fmt::Write as _; // to a String, which cannot fail
use std::net::SocketAddr;
use std::path::Path;

use super::{Given, Kind, OURS, Tier, our_version};
use crate::error::{LabError, Result};
use crate::load::{Answer, Wire};
use crate::servers::{self, Place, Process};

/// The member that holds many.
const LARGE: &str = "large";
/// Members that one request to Redis sets.
const AT_ONCE: usize = 10_000;

/// The place of a value: at the top, or within the large member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// A member of the top level.
    Top,
    /// A member of the large one.
    Within,
}

/// The protocol of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speech {
    /// Apocrypha's words, in frames.
    Apocrypha,
    /// The same of its server in Python, which ends what it answers with a line's end.
    Python,
    /// Redis's commands. The large member is a hash.
    Redis,
}

/// The name of a member.
pub fn key(n: u64) -> String {
    format!("key-{n:06}")
}

/// Its value at a version.
pub fn value(n: u64, version: u32) -> String {
    format!("{n:06}.{version}")
}

impl Speech {
    /// The wire protocol.
    pub fn wire(self) -> Wire {
        match self {
            Speech::Apocrypha | Speech::Python => Wire::Frames,
            Speech::Redis => Wire::Resp,
        }
    }

    /// A request of words.
    fn request(self, words: &[&str]) -> Vec<u8> {
        match self {
            Speech::Apocrypha | Speech::Python => {
                let words = words.join("\n");
                let length = u32::try_from(words.len()).unwrap_or(u32::MAX).to_be_bytes();
                [&length[..], words.as_bytes()].concat()
            }
            Speech::Redis => {
                let mut text = format!("*{}\r\n", words.len());
                for word in words {
                    let _ = write!(text, "${}\r\n{word}\r\n", word.len());
                }
                text.into_bytes()
            }
        }
    }

    /// Reads a value.
    pub fn get(self, place: Where, n: u64) -> Vec<u8> {
        let key = key(n);
        match (self, place) {
            (Speech::Apocrypha | Speech::Python, Where::Top) => self.request(&[&key]),
            (Speech::Apocrypha | Speech::Python, Where::Within) => self.request(&[LARGE, &key]),
            (Speech::Redis, Where::Top) => self.request(&["GET", &key]),
            (Speech::Redis, Where::Within) => self.request(&["HGET", LARGE, &key]),
        }
    }

    /// Writes a value.
    pub fn set(self, place: Where, n: u64, value: &str) -> Vec<u8> {
        let key = key(n);
        match (self, place) {
            (Speech::Apocrypha | Speech::Python, Where::Top) => self.request(&[&key, "=", value]),
            (Speech::Apocrypha | Speech::Python, Where::Within) => self.request(&[LARGE, &key, "=", value]),
            (Speech::Redis, Where::Top) => self.request(&["SET", &key, value]),
            (Speech::Redis, Where::Within) => self.request(&["HSET", LARGE, &key, value]),
        }
    }

    /// The requests that make this many members, and this many within the large one, all at version 0.
    pub fn load(self, members: u64, within: u64) -> Vec<Vec<u8>> {
        let pairs = |count: u64| (0..count).map(|n| (key(n), value(n, 0)));
        match self {
            Speech::Apocrypha | Speech::Python => {
                let json = |count| {
                    let members: Vec<String> =
                        pairs(count).map(|(key, value)| format!("\"{key}\":\"{value}\"")).collect();
                    format!("{{{}}}", members.join(","))
                };
                vec![self.request(&["--set", &json(members)]), self.request(&[LARGE, "--set", &json(within)])]
            }
            Speech::Redis => {
                let words = |head: &[&str], pairs: &[(String, String)]| {
                    let mut words = head.to_vec();
                    words.extend(pairs.iter().flat_map(|(key, value)| [key.as_str(), value.as_str()]));
                    self.request(&words)
                };
                let (members, within): (Vec<_>, Vec<_>) = (pairs(members).collect(), pairs(within).collect());
                let top = members.chunks(AT_ONCE).map(|pairs| words(&["MSET"], pairs));
                top.chain(within.chunks(AT_ONCE).map(|pairs| words(&["HSET", LARGE], pairs))).collect()
            }
        }
    }

    /// Whether a write was answered rightly.
    pub fn check_set(self, n: u64, answer: &Answer) -> Result<()> {
        let right = answer.status == 200 && (self == Speech::Redis || answer.body.is_empty());
        if right { Ok(()) } else { Err(wrong(format!("setting {}", key(n)), "no error", answer)) }
    }

    /// Whether a read was answered rightly.
    pub fn check_get(self, n: u64, version: u32, answer: &Answer) -> Result<()> {
        let expected = value(n, version);
        let body = match self {
            Speech::Python => answer.body.strip_suffix(b"\n").unwrap_or_default(),
            Speech::Apocrypha | Speech::Redis => &answer.body,
        };
        let right = answer.status == 200 && body == expected.as_bytes();
        if right { Ok(()) } else { Err(wrong(format!("getting {}", key(n)), &expected, answer)) }
    }
}

fn wrong(what: String, expected: &str, found: &Answer) -> LabError {
    let body = found.body.get(..found.body.len().min(300)).unwrap_or_default();
    let found = format!("{} {}", found.status, String::from_utf8_lossy(body));
    LabError::Wrong { what, expected: expected.to_owned(), found }
}

/// A server that can be asked.
pub struct Server {
    /// Its process.
    pub process: Process,
    /// Its address.
    pub address: SocketAddr,
    /// Its protocol.
    pub speech: Speech,
    /// Every how-manieth of its members is read again at the end.
    pub verified_every: usize,
    /// Its settings, for the report.
    pub settings: &'static str,
}

/// The way a subject is started.
#[derive(Clone, Copy)]
enum Start {
    /// `recension apocrypha` with this durability.
    Ours(&'static str),
    /// Redis with these settings.
    Redis(&'static [&'static str]),
    /// The original in Python.
    Python,
    /// One that no machine has.
    Nothing,
}

/// The original in Python walks its whole database for each request: to read all again would take minutes.
const PYTHON_VERIFIED_EVERY: usize = 50;

/// The subjects of the suite, how each is started, and its settings in words.
fn subjects() -> Vec<(Kind, Start, &'static str)> {
    let ours = |kind: Kind| Kind { missing: servers::recension::missing, ..kind };
    let redis = |name, what, tier, note| Kind {
        tier,
        tier_note: note,
        missing: servers::redis::missing,
        ..Kind::new(name, what, servers::redis::version)
    };
    vec![
        (ours(Kind::new(OURS, "recension apocrypha", our_version)), Start::Ours("disk"), "--durability disk"),
        (
            ours(Kind {
                tier: Tier::T1,
                tier_note: Some("weaker by choice: --durability process"),
                ..Kind::new("recension-process", "recension apocrypha, not waiting for the disk", our_version)
            }),
            Start::Ours("process"),
            "--durability process",
        ),
        (
            redis("redis", "Redis GET and SET, nothing kept", Tier::T0, Some("keeps nothing on disk")),
            Start::Redis(&["--appendonly", "no", "--save", ""]),
            "appendonly no, save \"\"",
        ),
        (
            redis(
                "redis-log",
                "the same with its log, not synced",
                Tier::T1,
                Some("weaker: its log is written, not synced"),
            ),
            Start::Redis(&["--appendonly", "yes", "--appendfsync", "no", "--save", ""]),
            "appendonly yes, appendfsync no, save \"\"",
        ),
        (
            redis("redis-synced", "the same with its log synced at every write", Tier::T2, None),
            Start::Redis(&["--appendonly", "yes", "--appendfsync", "always", "--save", ""]),
            "appendonly yes, appendfsync always, save \"\"",
        ),
        (
            Kind {
                tier: Tier::T0,
                tier_note: Some(
                    "saves its whole database in place about once a second: what it acknowledged before that is lost",
                ),
                missing: servers::apocrypha_python::missing,
                ..Kind::new("apocrypha-python", "the original server in Python", servers::apocrypha_python::version)
            },
            Start::Python,
            "defaults, which print every command into a file; every 50th member is read again at the end",
        ),
        (
            Kind {
                tier: Tier::T0,
                missing: |_| {
                    Some(
                        "the server in Haskell is in no registry: its source is at \
                        github.com/Gandalf-/apocrypha-haskell only"
                            .to_owned(),
                    )
                },
                ..Kind::new("apocrypha-haskell", "the original server in Haskell", || "unknown".to_owned())
            },
            Start::Nothing,
            "",
        ),
    ]
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    subjects().into_iter().map(|(kind, ..)| kind).collect()
}

/// Starts one; `trace` is for those that can print every command.
pub fn start(name: &str, dir: &Path, given: &Given, trace: bool) -> Result<Server> {
    let (kind, start, settings) = super::named(subjects(), name, |(kind, ..)| kind.name)?;
    if let Some(reason) = (kind.missing)(given) {
        return Err(LabError::Unavailable { reason });
    }
    let place = Place { dir, traced: None };
    let ((process, address), speech) = match start {
        Start::Ours(durability) => (servers::apocrypha::start(&place, given, durability, trace)?, Speech::Apocrypha),
        Start::Nothing => return Err(LabError::Unavailable { reason: "it is nowhere".to_owned() }),
        Start::Redis(_) | Start::Python if trace => {
            return Err(LabError::Unavailable {
                reason: "its log of commands is no part of this comparison".to_owned(),
            });
        }
        Start::Redis(settings) => (servers::redis::start_with(&place, settings)?, Speech::Redis),
        Start::Python => (servers::apocrypha_python::start(&place)?, Speech::Python),
    };
    let verified_every = if speech == Speech::Python { PYTHON_VERIFIED_EVERY } else { 1 };
    Ok(Server { process, address, speech, verified_every, settings })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_in_the_words_of_each_server() {
        assert_eq!(Speech::Apocrypha.get(Where::Within, 1), b"\0\0\0\x10large\nkey-000001");
        assert_eq!(Speech::Apocrypha.set(Where::Top, 1, "v"), b"\0\0\0\x0ekey-000001\n=\nv");
        assert_eq!(Speech::Redis.get(Where::Top, 1), b"*2\r\n$3\r\nGET\r\n$10\r\nkey-000001\r\n");
        assert_eq!(Speech::Redis.load(AT_ONCE as u64 + 1, 1).len(), 3);
        assert_eq!(Speech::Apocrypha.load(1, 0)[0], b"\0\0\0\x1f--set\n{\"key-000000\":\"000000.0\"}");
    }

    #[test]
    fn a_wrong_answer_is_found() {
        let said = |status, body: &str| Answer { status, body: body.as_bytes().to_vec() };
        assert!(Speech::Apocrypha.check_get(1, 2, &said(200, "000001.2")).is_ok());
        for (status, body) in [(200, "000001.1"), (200, ""), (500, "000001.2")] {
            assert!(Speech::Apocrypha.check_get(1, 2, &said(status, body)).is_err());
        }
        assert!(Speech::Python.check_get(1, 2, &said(200, "000001.2\n")).is_ok());
        assert!(Speech::Python.check_get(1, 2, &said(200, "000001.2")).is_err());
        assert!(Speech::Apocrypha.check_set(1, &said(200, "x")).is_err());
        assert!(Speech::Redis.check_set(1, &said(500, "OOM")).is_err());
        assert!(Speech::Redis.check_set(1, &said(200, "OK")).is_ok());
    }
}
