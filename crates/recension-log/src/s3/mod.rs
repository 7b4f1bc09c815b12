//! A log in S3 or a compatible object store: an object a position, made by a put that fails if there is one. Other
//! nodes poll.

mod client;
mod sign;

use std::time::{Duration, Instant};

use self::client::{Answer, Client};
use crate::net::{ANSWER_TIMEOUT, Watch, windows};
use crate::{Appended, Blobs, LogAddress, LogError, LogProfile, Position, Result, SharedLog};

const SYSTEM: &str = "s3";
/// How often waiters look for a record.
const LOOK: Duration = Duration::from_millis(50);

/// A log in an object store.
pub struct S3Log {
    client: Client,
    place: String,
    prefix: String,
    watch: Watch,
}

impl S3Log {
    /// The log at an address; its bucket is made if it is missing.
    pub fn open(address: &LogAddress) -> Result<Self> {
        let client = Client::new(address)?;
        let log = S3Log {
            client,
            place: address.place(),
            prefix: format!("{}/", address.log_name()),
            watch: Watch::default(),
        };
        log.make_bucket()?;
        log.check_conditional_puts()?;
        Ok(log)
    }

    /// Refuses an object store that overwrites what must not be overwritten: two nodes would take one position, and
    /// what one of them had acknowledged would be gone.
    fn check_conditional_puts(&self) -> Result<()> {
        let key = format!("{}conditional-puts", self.prefix);
        // Once at the first opening ever, when nothing is there yet, and once more to see that it is refused then.
        for _ in 0..2 {
            match self.ask("PUT", &key, &[], &[("if-none-match", "*")], b"")?.status {
                200 => {}
                501 => break,
                // 412: it keeps the promise. Whatever else it is, the first record's put meets it, too.
                _ => return Ok(()),
            }
        }
        let why = format!(
            "{}: this object store does not support `If-None-Match: *` on puts, and so cannot keep a log",
            self.place
        );
        Err(LogError::Refused { system: SYSTEM, why })
    }

    fn make_bucket(&self) -> Result<()> {
        let found = self.ask("HEAD", "", &[], &[], b"")?;
        if found.status == 404 {
            let made = self.ask("PUT", "", &[], &[], b"")?;
            // Another node was making it at the same time.
            if made.status != 409 {
                self.expect(made, &[200])?;
            }
            return Ok(());
        }
        self.expect(found, &[200]).map(drop)
    }

    fn record_key(&self, position: Position) -> String {
        format!("{}log/{:020}", self.prefix, position.0)
    }

    fn blob_key(&self, name: &str) -> String {
        format!("{}blob/{name}", self.prefix)
    }

    /// A request that may be made twice.
    fn ask(
        &self,
        method: &str,
        key: &str,
        query: &[(&str, &str)],
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer> {
        let (began, mut tries) = (Instant::now(), 0);
        loop {
            match self.client.send(method, key, query, headers, body) {
                Ok(answer) if answer.status >= 500 && tries < 2 && began.elapsed() < ANSWER_TIMEOUT => tries += 1,
                Ok(answer) => return Ok(answer),
                Err(_) if tries < 1 && began.elapsed() < ANSWER_TIMEOUT => tries += 1,
                Err(failure) => return Err(LogError::Unavailable(format!("{}: {}", self.place, failure.why))),
            }
        }
    }

    fn expect(&self, answer: Answer, statuses: &[u16]) -> Result<Answer> {
        if statuses.contains(&answer.status) { Ok(answer) } else { Err(self.refusal(&answer)) }
    }

    fn refusal(&self, answer: &Answer) -> LogError {
        let text = String::from_utf8_lossy(&answer.body);
        let word = |tag: &str| between(&text, tag).next().unwrap_or_default().to_owned();
        let why = format!("{}: status {} {} {}", self.place, answer.status, word("Code"), word("Message"));
        match answer.status {
            408 | 409 | 429 | 500.. => LogError::Unavailable(why),
            _ => LogError::Refused { system: SYSTEM, why },
        }
    }

    /// The length of a record; `None` if there is none.
    fn length(&self, position: Position) -> Result<Option<u64>> {
        let answer = self.ask("HEAD", &self.record_key(position), &[], &[], b"")?;
        if answer.status == 404 {
            return Ok(None);
        }
        self.expect(answer, &[200]).map(|answer| Some(answer.length))
    }

    /// The keys after `after` that begin with `prefix`, at most a thousand.
    fn keys(&self, prefix: &str, after: &str) -> Result<Vec<String>> {
        let mut query = vec![("list-type", "2"), ("prefix", prefix)];
        if !after.is_empty() {
            query.push(("start-after", after));
        }
        let answer = self.expect(self.ask("GET", "", &query, &[], b"")?, &[200])?;
        let text = String::from_utf8_lossy(&answer.body);
        Ok(between(&text, "Key").map(str::to_owned).collect())
    }

    /// Positions have no gaps, and names stay when they are trimmed: the last one is found by doubling and halving.
    fn find_newest(&self) -> Result<Position> {
        let (mut there, mut step) = (Position(0), 1);
        while self.length(Position(there.0 + step))?.is_some() {
            there = Position(there.0 + step);
            step *= 2;
        }
        while step > 1 {
            step /= 2;
            if self.length(Position(there.0 + step))?.is_some() {
                there = Position(there.0 + step);
            }
        }
        Ok(there)
    }
}

/// The texts between a tag and its end.
fn between<'t>(text: &'t str, tag: &str) -> impl Iterator<Item = &'t str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(&open)?;
        let (found, after) = after.split_once(&close)?;
        rest = after;
        Some(found)
    })
}

impl SharedLog for S3Log {
    fn append(&self, position: Position, record: &[u8]) -> Result<Appended> {
        let sent = self.client.send("PUT", &self.record_key(position), &[], &[("if-none-match", "*")], record);
        let why = |what: &str| format!("{}: {what}", self.place);
        match sent {
            Ok(answer) if answer.status == 200 => {
                self.watch.heard(position);
                Ok(Appended::Written)
            }
            Ok(answer) if answer.status == 412 => Ok(Appended::Taken),
            // 409: another put of this name is under way. A server that failed may still have done it.
            Ok(answer) if answer.status == 409 || answer.status >= 500 => {
                Err(LogError::Unknown(why(&format!("status {}", answer.status))))
            }
            Ok(answer) => Err(self.refusal(&answer)),
            Err(failure) if failure.was_not_sent => Err(LogError::Unavailable(why(&failure.why))),
            Err(failure) => Err(LogError::Unknown(why(&failure.why))),
        }
    }

    fn read(&self, from: Position, bytes_max: usize) -> Result<Vec<(Position, Vec<u8>)>> {
        windows::read(from, bytes_max, |position| {
            let answer = self.ask("GET", &self.record_key(position), &[], &[], b"")?;
            if answer.status == 404 { Ok(None) } else { self.expect(answer, &[200]).map(|answer| Some(answer.body)) }
        })
    }

    fn tail(&self, known: Position) -> Result<Position> {
        let mut newest = known.max(self.watch.newest());
        if newest == Position(0) {
            newest = self.find_newest()?;
        }
        while newest > Position(0) {
            // The known one is asked for too: a log that went back does not have it.
            let keys = self.keys(&format!("{}log/", self.prefix), &self.record_key(newest.before()))?;
            match keys.last().and_then(|key| key.rsplit('/').next()?.parse().ok().map(Position)) {
                Some(last) if last == newest => break,
                Some(last) => newest = last,
                None => {
                    self.watch.went_back();
                    newest = self.find_newest()?;
                }
            }
        }
        self.watch.heard(newest);
        Ok(newest.next())
    }

    fn wait_for(&self, position: Position, timeout: Duration) {
        self.watch.poll(position, timeout, LOOK, || self.length(position).is_ok_and(|length| length.is_some()));
    }

    fn wake(&self) {
        self.watch.wake();
    }

    /// Objects stay, empty: a node that has slept must not find a taken position free.
    fn trim(&self, before: Position) -> Result<()> {
        let before = before.min(self.tail(Position(0))?.before());
        let mut position = before.before();
        while position > Position(0) && self.length(position)?.is_some_and(|length| length > 0) {
            self.expect(self.ask("PUT", &self.record_key(position), &[], &[], b"")?, &[200])?;
            position = position.before();
        }
        Ok(())
    }

    fn blobs(&self) -> &dyn Blobs {
        self
    }

    fn profile(&self) -> LogProfile {
        LogProfile {
            system: SYSTEM,
            place: self.place.clone(),
            record_bytes_max: crate::limits::RECORD_BYTES_MAX,
            record_bytes_best: 4 << 20,
            blob_bytes_max: 16 << 20,
            keeps: "what the object store survives",
        }
    }
}

impl Blobs for S3Log {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.expect(self.ask("PUT", &self.blob_key(name), &[], &[], bytes)?, &[200]).map(drop)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let answer = self.ask("GET", &self.blob_key(name), &[], &[], b"")?;
        if answer.status == 404 { Ok(None) } else { self.expect(answer, &[200]).map(|answer| Some(answer.body)) }
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut after = String::new();
        loop {
            let keys = self.keys(&self.blob_key(prefix), &after)?;
            let Some(last) = keys.last() else { return Ok(names) };
            after.clone_from(last);
            names.extend(keys.iter().filter_map(|key| key.strip_prefix(&self.blob_key(""))).map(str::to_owned));
        }
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.expect(self.ask("DELETE", &self.blob_key(name), &[], &[], b"")?, &[200, 204, 404]).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;

    use crate::{LogAddress, open_log};

    /// An object store that gives the same status to every put; its port.
    fn store_that_answers_puts(status: u16) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = BufReader::new(connection.unwrap());
                loop {
                    let mut head = String::new();
                    while connection.read_line(&mut head).is_ok_and(|read| read > 2) {}
                    let Some(method) = head.split(' ').next().filter(|method| !method.is_empty()) else { break };
                    let status = if method == "PUT" { status } else { 200 };
                    let answer = format!("HTTP/1.1 {status} As told\r\nContent-Length: 0\r\n\r\n");
                    if connection.get_mut().write_all(answer.as_bytes()).is_err() {
                        break;
                    }
                }
            }
        });
        port
    }

    #[test]
    fn an_object_store_that_overwrites_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "secret").unwrap();
        let open = |status| {
            let endpoint = format!("http://127.0.0.1:{}", store_that_answers_puts(status));
            let address = format!("s3://key@bucket/log?endpoint={endpoint}&password-file={}", secret.display());
            open_log(&LogAddress::parse(&address).unwrap()).map(drop)
        };
        for status in [200, 501] {
            let refused = open(status).unwrap_err();
            assert!(refused.to_string().contains("does not support `If-None-Match: *`"), "{status}: {refused}");
        }
        open(412).unwrap();
    }
}
