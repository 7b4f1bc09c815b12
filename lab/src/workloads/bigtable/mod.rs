//! The suite `bigtable`: the table of HTML of the article (2010), of the same bytes from everybody, by static files,
//! CGI, `FastCGI` and servers that stand alone; and the same size of rows from a store, as HTML that needs escaping,
//! JSON and CSV.

use super::bench::{Figure, Member, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::measure::trace;
use crate::subjects::Kind;
use crate::subjects::bigtable::page::{BYTES, COLUMNS, ROWS};
use crate::subjects::bigtable::{Form, is_cgi, kinds, makes, static_of};
use crate::worker::bigtable::Bigtable;
use crate::worker::{Command, Launch, Reply};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "bigtable",
    what: "a table of 550,015 bytes of HTML (2010): static, CGI, FastCGI and HTTP servers, byte-compared; rows of a \
        store as HTML, JSON and CSV",
    kinds,
    usual: &[
        "recension",
        "hyper",
        "lighttpd-static",
        "lighttpd-fcgi-c",
        "lighttpd-cgi-c",
        "lighttpd-cgi-perl",
        "lighttpd-cgi-python",
        "lighttpd-cgi-haskell",
        "lighttpd-cgi-haskell-cgi",
        "lighttpd-fcgi-recension",
        "lighttpd-scgi-recension",
        "lighttpd-cgi-recension",
        "nginx-static",
        "nginx-fcgi-c",
        "nginx-cgi-c",
        "nginx-cgi-perl",
        "nginx-cgi-python",
        "nginx-cgi-haskell",
        "nginx-cgi-haskell-cgi",
        "nginx-fcgi-recension",
        "nginx-scgi-recension",
        "nginx-cgi-recension",
        "warp",
        "snap",
        "happstack",
        "yesod",
        "hyper-sailfish",
        "hyper-maud",
        "hyper-askama",
        "actix-sailfish",
        "ntex-sailfish",
        "python-http",
    ],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 14] = [
    Operation::ns("page", "a page: time divided by pages, asked for by 4 clients", 10),
    Operation::ns("page_cpu", "processor time of a page: all processes of the server, and their children", 1),
    Operation::count(
        "page_to_static",
        "the time of a page by that of the static file of the same server, round by round",
        1,
    ),
    Operation::ns("page_kept", "the same page asked for again, from those who keep it: a file, a page in memory", 10),
    Operation::ns("page_kept_cpu", "processor time of that", 1),
    Operation::ns("cgi_process", "a CGI program from its start until it has ended, without a web server", 5),
    Operation::ns("first_byte", "the wait for the first byte of a page, one client, a connection of its own", 5),
    Operation::count(
        "page_writes",
        "calls that write (to files, pipes, sockets) for a page, by strace, in a pass apart",
        5,
    ),
    Operation::bytes(
        "page_memory",
        "the most memory of all processes while 4 clients ask; what is shared is counted once",
        5,
    ),
    Operation::ns("escaped", "the page of as many texts that need escaping, read from a store", 5),
    Operation::ns("escaped_cpu", "processor time of that", 1),
    Operation::ns("rows_html", "the same rows with their keys in a page of the server's own", 5),
    Operation::ns("rows_json", "the same rows as JSON: time divided by answers, 4 clients", 5),
    Operation::ns("rows_csv", "the same rows as CSV", 5),
];

/// Clients.
const CLIENTS: usize = 4;

struct Sizes {
    rounds: usize,
    pages: u64,
    millis: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        if plan.rows.is_some_and(|rows| rows < 1_000) {
            return Sizes { rounds: 1, pages: 3, millis: 10_000 };
        }
        Sizes { rounds: plan.pick(5, 9, 3), pages: 300, millis: 500 }
    }

    fn words(&self) -> String {
        format!(
            "{ROWS} rows of {COLUMNS} columns, {BYTES} bytes of HTML; {} rounds of {} ms or {} pages, {CLIENTS} \
             clients on the machine of the servers; HTTP/1.1, connections kept, nothing compressed",
            self.rounds, self.millis, self.pages
        )
    }
}

fn pages(kind: &Kind) -> bool {
    makes(kind.name, Form::Page)
}

/// Who makes a form.
fn who(form: Form) -> fn(&Kind) -> bool {
    match form {
        Form::Page => pages,
        Form::Kept => |kind| makes(kind.name, Form::Kept),
        Form::Escaped => |kind| makes(kind.name, Form::Escaped),
        Form::Html => |kind| makes(kind.name, Form::Html),
        Form::Json => |kind| makes(kind.name, Form::Json),
        Form::Csv => |kind| makes(kind.name, Form::Csv),
    }
}

fn behind(kind: &Kind) -> bool {
    static_of(kind.name).is_some_and(|file| file != kind.name)
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Bigtable) -> Result<Reply> {
    member.ask(&Command::Bigtable(command))
}

fn open(member: &mut Member, plan: &Plan, phase: &str, traced: Option<std::path::PathBuf>) -> Result<()> {
    member.dir = plan.dir.join(phase).join(member.kind.name);
    empty_dir(&member.dir)?;
    start(plan, member, &Launch::Plain)?;
    let (subject, dir, given) = (member.kind.name.to_owned(), member.dir.clone(), plan.given.clone());
    let reply = ask(member, Bigtable::Start { subject, dir, given, traced })?;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

fn close(member: &mut Member) -> Result<()> {
    ask(member, Bigtable::Stop)?;
    member.worker = None;
    Ok(())
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let sizes = Sizes::of(plan);
    let Sizes { rounds, pages: count, millis } = sizes;
    bench.prepare("starting", everybody, |member| open(member, plan, "b", None))?;
    with_processor(bench, ("page", "page_cpu"), Form::Page, &sizes)?;
    to_static(bench)?;
    with_processor(bench, ("page_kept", "page_kept_cpu"), Form::Kept, &sizes)?;
    bench.rounds(
        "cgi_process",
        |kind| is_cgi(kind.name),
        (rounds, true),
        Figure::PerOperation,
        |member, _| ask(member, Bigtable::Alone { count: count.min(20) }),
    )?;
    bench.rounds("first_byte", pages, (rounds, true), Figure::PerOperation, |member, _| {
        ask(member, Bigtable::FirstBytes { count: count.min(20) })
    })?;
    bench.single("page_memory", pages, |member| {
        let reply = ask(member, Bigtable::Memory { clients: CLIENTS, count, millis })?;
        Ok((as_f64(reply.number.unwrap_or_default() as usize), None))
    })?;
    with_processor(bench, ("escaped", "escaped_cpu"), Form::Escaped, &sizes)?;
    for (name, form) in [("rows_html", Form::Html), ("rows_json", Form::Json), ("rows_csv", Form::Csv)] {
        bench.rounds(name, who(form), (rounds, true), Figure::PerOperation, |member, _| {
            let reply = ask(member, Bigtable::Pages { form, clients: CLIENTS, count, millis })?;
            Ok(Reply { note: None, ..reply })
        })?;
    }
    bench.prepare("stopping", everybody, close)?;
    writes(bench)?;
    bench.remove(everybody)
}

/// Pages of a form, and the processor time of one, in the same rounds.
fn with_processor(
    bench: &mut Bench<'_>,
    (name, cpu_name): (&str, &str),
    form: Form,
    &Sizes { rounds, pages: count, millis }: &Sizes,
) -> Result<()> {
    let mut cpu: Vec<(&'static str, f64, Option<String>)> = Vec::new();
    bench.rounds(name, who(form), (rounds, true), Figure::PerOperation, |member, round| {
        let mut reply = ask(member, Bigtable::Pages { form, clients: CLIENTS, count, millis })?;
        let how = reply.note.take();
        let all = as_f64(reply.cpu_ns.unwrap_or_default() as usize);
        // The first round is to warm up.
        if round > 0 {
            cpu.push((member.kind.name, all / as_f64(reply.ops.max(1) as usize), how));
        }
        Ok(reply)
    })?;
    bench.samples(cpu_name, who(form), |member| {
        let own = || cpu.iter().filter(|(name, ..)| *name == member.kind.name);
        let values: Vec<f64> = own().map(|(_, ns, _)| *ns).collect();
        if values.is_empty() {
            return Err(LabError::Unavailable { reason: "its rounds failed".to_owned() });
        }
        Ok((values, own().next().and_then(|(.., how)| how.clone())))
    })
}

/// Medians of ratios within rounds: what was measured later would be another machine.
fn to_static(bench: &mut Bench<'_>) -> Result<()> {
    let samples: Vec<(String, Vec<f64>)> = bench
        .rows
        .iter()
        .filter(|row| row.operation == "page" && row.median.is_some())
        .map(|row| (row.subject.clone(), row.samples.clone()))
        .collect();
    bench.samples("page_to_static", behind, |member| {
        let of = |name: &str| samples.iter().find(|(subject, _)| subject == name).map(|(_, samples)| samples);
        let file = static_of(member.kind.name).and_then(of);
        let ratios: Option<Vec<f64>> = of(member.kind.name)
            .zip(file)
            .map(|(own, file)| own.iter().zip(file).map(|(own, file)| own / file.max(1.0)).collect());
        let failed = || LabError::Unavailable { reason: "it, or the static file, was not measured".to_owned() };
        Ok((ratios.filter(|ratios| !ratios.is_empty()).ok_or_else(failed)?, None))
    })
}

/// Calls that write, by difference: a server that has made many pages, and one that has made one.
fn writes(bench: &mut Bench<'_>) -> Result<()> {
    const FEW: u64 = 1;
    const MANY: u64 = 5;
    let plan = bench.plan;
    let unavailable = trace::unavailable();
    bench.single("page_writes", pages, |member| {
        if let Some(reason) = unavailable.clone() {
            return Err(LabError::Unavailable { reason });
        }
        let mut counted = |phase: &str, count: u64| {
            let file = plan.dir.join(format!("{phase}-{}.trace", member.kind.name));
            open(member, plan, phase, Some(file.clone()))?;
            ask(member, Bigtable::Pages { form: Form::Page, clients: 1, count, millis: 120_000 })?;
            close(member)?;
            let read = |file: &std::path::Path| trace::writes(&std::fs::read_to_string(file).unwrap_or_default());
            Ok::<_, LabError>(read(&file) + read(&file.with_extension("gate")))
        };
        let (few, many) = (counted("f", FEW)?, counted("m", MANY)?);
        Ok((as_f64(many.saturating_sub(few) as usize) / as_f64((MANY - FEW) as usize), None))
    })
}
