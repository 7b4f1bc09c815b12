//! The log of requests: a line each, when its answer has been sent. Its forms are pure. Lines go through a bounded
//! queue to a thread that writes them. If the thread is too slow, lines are dropped and counted; no request waits.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwapOption;
use http::header::{REFERER, USER_AGENT};
use http::request::Parts;
use http::{HeaderName, Version};
use parking_lot::Mutex;
use recension::engine::Timestamp;
use recension::format_time;
use serde::{Deserialize, Serialize};
use serde_json::json;

use recension_wire::arriving::Address;
use recension_wire::limits::{LOGGED_TEXT_BYTES_MAX, REQUEST_LINES_SECONDS_MAX, REQUEST_LINES_WAITING_MAX};
use recension_wire::route::decode;

/// The form of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum RequestLog {
    /// One JSON object a line.
    Json,
    /// Apache's "combined".
    Combined,
}

/// The facts of a request when it arrives.
#[derive(Debug)]
pub(crate) struct Entry {
    time: Timestamp,
    client: Address,
    /// The name of its user; `None`: anonymous.
    pub(crate) user: Option<String>,
    method: String,
    target: String,
    version: Version,
    referer: Option<String>,
    agent: Option<String>,
}

/// The facts of a request when it is over.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: u16,
    /// Bytes of the body.
    pub(crate) bytes: u64,
    pub(crate) seconds: f64,
}

impl Entry {
    /// The facts in a head, without secrets.
    pub(crate) fn of(client: Address, head: &Parts) -> Self {
        let micros = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        let text = |name: HeaderName| {
            head.headers.get(name).map(|value| clipped(&String::from_utf8_lossy(value.as_bytes())).to_owned())
        };
        Entry {
            time: Timestamp(u64::try_from(micros).unwrap_or(u64::MAX)),
            client,
            user: None,
            method: clipped(head.method.as_str()).to_owned(),
            target: without_secrets(head.uri.path(), head.uri.query()),
            version: head.version,
            // Other sites' URLs may have secrets in the query, and names and passwords before the host.
            referer: text(REFERER).map(|url| {
                let url = url.split(['?', '#']).next().unwrap_or_default();
                match url.split_once("//") {
                    Some((scheme, rest)) => {
                        format!("{scheme}//{}", rest.rsplit_once('@').map_or(rest, |(_, rest)| rest))
                    }
                    None => url.to_owned(),
                }
            }),
            agent: text(USER_AGENT),
        }
    }
}

impl RequestLog {
    /// The line of a request.
    pub(crate) fn line(self, entry: &Entry, outcome: &Outcome) -> String {
        let Entry { time, client, user, method, target, version, referer, agent } = entry;
        let Outcome { status, bytes, seconds } = outcome;
        let (client, user) = (client.map(|client| client.to_string()), user.as_deref().map(clipped));
        match self {
            RequestLog::Json => {
                let line = json!({
                    "time": format_time(*time), "client": client, "user": user, "method": method, "path": target,
                    "protocol": format!("{version:?}"), "status": status, "bytes": bytes,
                    "seconds": (seconds * 1e6).round() / 1e6, "referer": referer, "agent": agent,
                });
                format!("{line}\n")
            }
            RequestLog::Combined => format!(
                "{} - {} [{}] \"{} {} {version:?}\" {status} {bytes} \"{}\" \"{}\"\n",
                client.as_deref().unwrap_or("unix"),
                escaped(user.unwrap_or("-"), true),
                day_of_logs(*time),
                escaped(method, true),
                escaped(target, true),
                escaped(referer.as_deref().unwrap_or("-"), false),
                escaped(agent.as_deref().unwrap_or("-"), false),
            ),
        }
    }
}

/// `25/Nov/2026:02:30:15 +0000`
fn day_of_logs(time: Timestamp) -> String {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let text = format_time(Timestamp(time.0 / 1_000_000 * 1_000_000));
    let (day, clock) = text.trim_end_matches('Z').split_once('T').unwrap_or_default();
    let mut parts = day.split('-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let month = month.and_then(|month| MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)).unwrap_or(&"Jan");
    format!("{}/{month}/{}:{clock} +0000", day.unwrap_or("01"), year.unwrap_or("1970"))
}

/// Escapes as Apache does: a byte that could end the field or the line becomes `\xHH`.
fn escaped(text: &str, blanks: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'"' && byte != b'\\' || (byte == b' ' && !blanks) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// The beginning of a text.
pub(crate) fn clipped(text: &str) -> &str {
    &text[..text.floor_char_boundary(LOGGED_TEXT_BYTES_MAX)]
}

/// A path and its query, without the values of parameters whose names suggest a secret. The server itself takes no
/// secret from a query, but clients may send some.
fn without_secrets(path: &str, query: Option<&str>) -> String {
    const SECRETS: [&str; 8] = ["pass", "pwd", "secret", "token", "auth", "credential", "apikey", "session"];
    let mut out = clipped(path).to_owned();
    for (number, parameter) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        out.push(if number == 0 { '?' } else { '&' });
        let (name, value) = parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)));
        let plain = decode(name).unwrap_or_default().to_ascii_lowercase().replace(['_', '-'], "");
        out.push_str(name);
        match value {
            Some(_) if plain.is_empty() || SECRETS.iter().any(|secret| plain.contains(secret)) => out.push_str("=***"),
            Some(value) => {
                out.push('=');
                out.push_str(value);
            }
            None => {}
        }
        if out.len() > LOGGED_TEXT_BYTES_MAX {
            break;
        }
    }
    clipped(&out).to_owned()
}

/// Lines on their way to the writer.
#[derive(Debug, Default)]
pub struct RequestLines {
    sender: ArcSwapOption<SyncSender<String>>,
    /// The writer closes it when it has written everything.
    written: Mutex<Option<Receiver<()>>>,
}

impl RequestLines {
    /// Begins to write lines. Lines that come before, or after [`RequestLines::close`], are dropped.
    pub fn open(&self, out: impl Write + Send + 'static) -> std::io::Result<()> {
        let (sender, lines) = sync_channel::<String>(REQUEST_LINES_WAITING_MAX);
        let (tell, written) = sync_channel(0);
        std::thread::Builder::new().name("recension-log".to_owned()).spawn(move || {
            let _tell: SyncSender<()> = tell;
            let mut out = std::io::BufWriter::new(out);
            // Nobody may read them any more; requests are still answered.
            while let Ok(line) = lines.recv() {
                let _ = out.write_all(line.as_bytes());
                while let Ok(line) = lines.try_recv() {
                    let _ = out.write_all(line.as_bytes());
                }
                let _ = out.flush();
            }
        })?;
        self.close();
        self.sender.store(Some(Arc::new(sender)));
        *self.written.lock() = Some(written);
        Ok(())
    }

    /// Whether lines are written.
    pub(crate) fn is_open(&self) -> bool {
        self.sender.load().is_some()
    }

    /// Hands a line over; returns whether there was a place for it.
    pub(crate) fn push(&self, line: String) -> bool {
        match &*self.sender.load() {
            Some(sender) => !matches!(sender.try_send(line), Err(TrySendError::Full(_))),
            None => true,
        }
    }

    /// Returns when all lines are written, or the reader has taken nothing for a while.
    pub fn close(&self) {
        drop(self.sender.swap(None));
        let written = self.written.lock().take();
        if let Some(written) = written {
            // Nothing is ever sent: the channel closes when the writer ends.
            let _ = written.recv_timeout(Duration::from_secs(REQUEST_LINES_SECONDS_MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(target: &str, user: Option<&str>, agent: &str, referer: &str) -> Entry {
        let request = http::Request::builder().uri(target).header(USER_AGENT, agent).header(REFERER, referer);
        let (head, ()) = request.body(()).unwrap().into_parts();
        let time = Timestamp(1_795_232_400_250_000);
        Entry { time, user: user.map(str::to_owned), ..Entry::of(Some([192, 0, 2, 7].into()), &head) }
    }

    const OUTCOME: Outcome = Outcome { status: 200, bytes: 17, seconds: 0.001_234_5 };

    #[test]
    fn a_line_has_what_happened_and_no_field_can_make_another() {
        let plain = entry("/db/a?rev=1-x", Some("ada"), "curl/8", "https://u:p@app.example/x?token=y");
        assert_eq!(
            RequestLog::Combined.line(&plain, &OUTCOME),
            "192.0.2.7 - ada [21/Nov/2026:03:40:00 +0000] \"GET /db/a?rev=1-x HTTP/1.1\" 200 17 \
             \"https://app.example/x\" \"curl/8\"\n"
        );
        let line: serde_json::Value = serde_json::from_str(&RequestLog::Json.line(&plain, &OUTCOME)).unwrap();
        assert_eq!(
            line,
            json!({
                "time": "2026-11-21T03:40:00.250000Z", "client": "192.0.2.7", "user": "ada", "method": "GET",
                "path": "/db/a?rev=1-x", "protocol": "HTTP/1.1", "status": 200, "bytes": 17, "seconds": 0.001_235,
                "referer": "https://app.example/x", "agent": "curl/8",
            })
        );
        let hostile = entry("/db/%0a%22", Some("a\n\" [x] é"), "x\" 200 0 \"\\", "-");
        for format in [RequestLog::Combined, RequestLog::Json] {
            let line = format.line(&hostile, &OUTCOME);
            assert_eq!(line.matches('\n').count(), 1, "{line}");
            assert!(line.is_ascii() || format == RequestLog::Json, "{line}");
        }
        let line = RequestLog::Combined.line(&hostile, &OUTCOME);
        assert!(line.contains("- a\\x0a\\x22\\x20[x]\\x20\\xc3\\xa9 ["), "{line}");
        assert_eq!(line.matches('"').count(), 6, "{line}");
    }

    #[test]
    fn secrets_of_a_query_are_left_out_and_lines_are_short() {
        for (query, shown) in [
            ("a=1&password=x&b=2", "a=1&password=***&b=2"),
            ("access_token=x", "access_token=***"),
            ("Api-Key=x", "Api-Key=***"),
            ("p%61ssword=x=y", "p%61ssword=***"),
            ("%ff=x", "%ff=***"),
            ("startkey=%22a%22&flag&key=1", "startkey=%22a%22&flag&key=1"),
        ] {
            assert_eq!(without_secrets("/db", Some(query)), format!("/db?{shown}"));
        }
        let long = "é".repeat(50_000);
        assert!(without_secrets(&long, Some(&long)).len() <= LOGGED_TEXT_BYTES_MAX);
        let all = RequestLog::Json.line(&entry("/x", Some(&long), &"x".repeat(60_000), &"x".repeat(60_000)), &OUTCOME);
        assert!(all.len() < 5 * LOGGED_TEXT_BYTES_MAX, "{}", all.len());
    }

    #[test]
    fn a_reader_that_is_too_slow_loses_lines_and_holds_nobody_up() {
        struct Stuck(std::sync::mpsc::Receiver<()>, Arc<Mutex<Vec<u8>>>);
        impl Write for Stuck {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                let _ = self.0.recv();
                self.1.lock().extend_from_slice(bytes);
                Ok(bytes.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let (go_on, stuck) = sync_channel(0);
        let written = Arc::new(Mutex::new(Vec::new()));
        let lines = RequestLines::default();
        assert!(lines.push("to nobody\n".to_owned()));
        lines.open(Stuck(stuck, Arc::clone(&written))).unwrap();
        let pushed = (0..REQUEST_LINES_WAITING_MAX * 3).filter(|_| lines.push(format!("{}\n", "x".repeat(99)))).count();
        assert!((REQUEST_LINES_WAITING_MAX..REQUEST_LINES_WAITING_MAX * 3).contains(&pushed), "{pushed}");
        drop(go_on);
        lines.close();
        assert_eq!(written.lock().len(), pushed * 100, "what was taken is written");
    }
}
