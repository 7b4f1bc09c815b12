//! A maker of pages under load: every answer is kept and compared when the clock has stopped.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::protocol::Reply;
use crate::error::{LabError, Result};
use crate::load::{Answer, Client, Connection, Most, Taken, Wire, closed};
use crate::measure::clock::nanos;
use crate::measure::processor::Processor;
use crate::measure::usage;
use crate::servers::{Process, family};
use crate::subjects::Given;
use crate::subjects::bigtable::{Form, Served, start};

/// Pages that are kept of one round at most: they are compared later.
const PAGES_MAX: u64 = 400;
/// How often the memory is measured.
const LOOK: Duration = Duration::from_millis(3);
/// Bytes of an answer by which its end is known.
const ANSWER_MAX: u64 = 64 << 20;

/// A command to a worker of the suite `bigtable`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Bigtable {
    /// Starts one, and has it store what is answered later.
    Start {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// The servers and programs that the run was given.
        given: Given,
        /// If its processes run under `strace`, the file of the trace. Helpers have files beside it with another
        /// ending.
        traced: Option<PathBuf>,
    },
    /// Pages by a closed loop.
    Pages {
        /// The form.
        form: Form,
        /// Clients.
        clients: usize,
        /// Pages at most.
        count: u64,
        /// Time at most.
        millis: u64,
    },
    /// The wait for the first byte of pages, one after the other, each by a connection of its own.
    FirstBytes {
        /// The number of requests.
        count: u64,
    },
    /// Its CGI program, run again and again without the web server, from its start until it has ended.
    Alone {
        /// How often.
        count: u64,
    },
    /// The most memory of all processes while pages are made.
    Memory {
        /// Clients.
        clients: usize,
        /// Pages at most.
        count: u64,
        /// Time at most.
        millis: u64,
    },
    /// Ends all processes.
    Stop,
}

/// One that was started.
pub(super) struct Pages {
    served: Served,
    runtime: Runtime,
    processor: Processor,
}

struct Reader {
    connection: Connection,
    request: Arc<Vec<u8>>,
}

impl Client for Reader {
    async fn call(&mut self, _: u64) -> Result<Answer> {
        self.connection.call(&self.request).await
    }
}

impl Pages {
    /// Does one command.
    pub(super) fn handle(open: &mut Option<Pages>, command: Bigtable) -> Result<Reply> {
        if let Bigtable::Start { subject, dir, given, traced } = command {
            let served = start(&subject, &dir, traced.as_deref(), &given)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(LabError::io("starting the client"))?;
            let processor = Processor::of(served.processes.iter().map(Process::id).collect());
            let pages = Pages { served, runtime, processor };
            pages.set_up()?;
            let settings = Some(pages.served.settings.clone());
            *open = Some(pages);
            return Ok(Reply { settings, ..Reply::default() });
        }
        let pages = open.as_ref().ok_or_else(|| LabError::Worker { what: "nobody was started".to_owned() })?;
        match command {
            Bigtable::Start { .. } => Ok(Reply::default()),
            Bigtable::Pages { form, clients, count, millis } => pages.load(form, clients, count, millis),
            Bigtable::FirstBytes { count } => pages.first_bytes(count),
            Bigtable::Alone { count } => pages.alone(count),
            Bigtable::Memory { clients, count, millis } => pages.memory(clients, count, millis),
            Bigtable::Stop => {
                if let Some(pages) = open.take() {
                    pages.served.processes.into_iter().try_for_each(Process::end_at_once)?;
                }
                Ok(Reply::default())
            }
        }
    }

    fn set_up(&self) -> Result<()> {
        let requests = self.served.set_up();
        let address = self.served.address;
        self.runtime.block_on(async {
            if requests.is_empty() {
                return Ok(());
            }
            let mut connection = Connection::connect(address, Wire::Http).await?;
            for request in requests {
                let answer = connection.call(&request).await?;
                if answer.status != 201 {
                    let found: String = String::from_utf8_lossy(&answer.body).chars().take(200).collect();
                    let found = format!("{} {found}", answer.status);
                    return Err(LabError::Wrong { what: "storing rows".to_owned(), expected: "201".to_owned(), found });
                }
            }
            Ok(())
        })
    }

    fn ask(&self, form: Form, clients: usize, count: u64, millis: u64) -> Result<Taken> {
        let request = Arc::new(self.served.request(form));
        let address = self.served.address;
        self.runtime.block_on(async {
            let mut readers = Vec::with_capacity(clients);
            for _ in 0..clients {
                let connection = Connection::connect(address, Wire::Http).await?;
                readers.push(Reader { connection, request: request.clone() });
            }
            closed(readers, Most { requests: count.min(PAGES_MAX), time: Duration::from_millis(millis) }).await
        })
    }

    fn load(&self, form: Form, clients: usize, count: u64, millis: u64) -> Result<Reply> {
        let before = self.processor.used();
        let taken = self.ask(form, clients, count, millis)?;
        let cpu = self.processor.used().saturating_sub(before);
        check(form, &taken)?;
        Ok(Reply {
            ops: taken.answers.len() as u64,
            wall_ns: nanos(taken.wall),
            cpu_ns: Some(nanos(cpu)),
            note: Some(self.processor.how()),
            latencies_ns: taken.latencies_ns,
            ..Reply::default()
        })
    }

    fn alone(&self, count: u64) -> Result<Reply> {
        let failed = || LabError::io("running a CGI program");
        let mut latencies_ns = Vec::new();
        for _ in 0..count {
            let mut command =
                self.served.alone().ok_or_else(|| LabError::Worker { what: "no CGI program".to_owned() })?;
            let start = Instant::now();
            let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().map_err(failed())?;
            latencies_ns.push(nanos(start.elapsed()));
            let end = output.stdout.windows(4).position(|four| four == b"\r\n\r\n");
            let body = end.and_then(|end| output.stdout.get(end + 4..)).unwrap_or_default();
            Form::Page.check(body)?;
        }
        Ok(Reply { ops: count, wall_ns: latencies_ns.iter().sum(), latencies_ns, ..Reply::default() })
    }

    fn processes(&self) -> Vec<u32> {
        self.served.processes.iter().flat_map(|process| family(process.id())).collect()
    }

    fn memory(&self, clients: usize, count: u64, millis: u64) -> Result<Reply> {
        let ended = AtomicBool::new(false);
        let (taken, most) = std::thread::scope(|scope| {
            let watching = scope.spawn(|| {
                let mut most = 0;
                loop {
                    most = self.processes().into_iter().map(usage::proportional_bytes).sum::<u64>().max(most);
                    if ended.load(Relaxed) {
                        return most;
                    }
                    std::thread::sleep(LOOK); // another's memory: there is nothing to wait on
                }
            });
            let taken = self.ask(Form::Page, clients, count, millis);
            ended.store(true, Relaxed);
            (taken, watching.join().unwrap_or_default())
        });
        check(Form::Page, &taken?)?;
        Ok(Reply { ops: 1, number: Some(most), ..Reply::default() })
    }

    fn first_bytes(&self, count: u64) -> Result<Reply> {
        let request = String::from_utf8_lossy(&self.served.request(Form::Page)).into_owned();
        let request = request.replacen("\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1);
        let latencies_ns = (0..count).map(|_| first_byte(self.served.address, &request)).collect::<Result<Vec<_>>>()?;
        Ok(Reply { ops: count, wall_ns: latencies_ns.iter().sum(), latencies_ns, ..Reply::default() })
    }
}

fn first_byte(address: SocketAddr, request: &str) -> Result<u64> {
    let failed = || LabError::io("asking for a page");
    let mut stream = TcpStream::connect(address).map_err(failed())?;
    stream.set_nodelay(true).map_err(failed())?;
    let start = Instant::now();
    stream.write_all(request.as_bytes()).map_err(failed())?;
    let mut first = [0; 1];
    stream.read_exact(&mut first).map_err(failed())?;
    let waited = nanos(start.elapsed());
    let mut rest = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut rest).map_err(failed())?;
    let right = rest.starts_with(b"TTP/1.1 200") && rest.len() > crate::subjects::bigtable::page::BYTES;
    let found = || String::from_utf8_lossy(rest.get(..40.min(rest.len())).unwrap_or_default()).into_owned();
    let wrong = || LabError::Wrong { what: "a page".to_owned(), expected: "200 and a page".to_owned(), found: found() };
    if right { Ok(waited) } else { Err(wrong()) }
}

/// Compares all answers. An answer that equals an earlier one byte for byte is not compared again.
fn check(form: Form, taken: &Taken) -> Result<()> {
    let mut right: Option<&[u8]> = None;
    for (_, answer) in &taken.answers {
        if answer.status != 200 {
            let found: String = String::from_utf8_lossy(&answer.body).chars().take(200).collect();
            let found = format!("{} {found}", answer.status);
            return Err(LabError::Wrong { what: "a page".to_owned(), expected: "200".to_owned(), found });
        }
        if right != Some(answer.body.as_slice()) {
            form.check(&answer.body)?;
            right = Some(&answer.body);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subjects::bigtable::page::page;

    fn taken(bodies: &[&str]) -> Taken {
        let answers = bodies.iter().map(|body| (0, Answer { status: 200, body: body.as_bytes().to_vec() })).collect();
        Taken { answers, ..Taken::default() }
    }

    #[test]
    fn one_wrong_page_among_right_ones_is_found() {
        let right = page();
        let wrong = right.replacen("<td>7</td>", "<td>8</td>", 1);
        check(Form::Page, &taken(&[&right, &right])).unwrap();
        assert!(check(Form::Page, &taken(&[&right, &right, &wrong, &right])).is_err());
        let mut refused = taken(&[&right]);
        refused.answers[0].1.status = 503;
        assert!(check(Form::Page, &refused).unwrap_err().to_string().contains("expected 200, found 503"));
    }
}
