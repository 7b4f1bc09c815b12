//! The suite `http`: servers of documents over loopback, at their default settings. Client and server share the
//! machine's processors. See docs/src/laboratory.md.

use super::bench::{Figure, Member, Rounds, empty_dir, start};
use super::{Bench, Operation, Plan, Suite};
use crate::error::{LabError, Result};
use crate::measure::stats::as_f64;
use crate::measure::trace;
use crate::subjects::Kind;
use crate::subjects::http::kinds;
use crate::worker::couch::Couch;
use crate::worker::http::{Bounds, Http};
use crate::worker::{Command, Launch, Reply};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "http",
    what: "documents over HTTP on loopback: PUT, GET, batches, lists, changes, sync by PouchDB, memory",
    kinds,
    usual: &["recension", "express-pouchdb", "couchdb", "redis", "hyper"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| Sizes::of(plan).words(),
    run,
};

const OPERATIONS: [Operation; 30] = [
    Operation::ns(
        "put_1",
        "a new document a request, one client, on one processor with its server: time a request",
        10,
    ),
    Operation::ns("put_8", "the same from 8 clients at once: time divided by requests", 10),
    Operation::ns("put_64", "the same from 64 clients at once", 10),
    Operation::ns("put_64_p99", "the 99th percentile of what one of the 64 waits, in the closed loop", 1),
    Operation::ns("put_offered_p99", "the 99th percentile at the offered rate, from the intended start", 20),
    Operation::ns("bulk_1000", "_bulk_docs of 1000 documents", 20),
    Operation::ns(
        "get_1",
        "a random document of those listed, one client, on one processor with its server: time a request",
        10,
    ),
    Operation::ns("get_8", "the same from 8 clients at once: time divided by requests", 10),
    Operation::ns("get_64", "the same from 64 clients at once", 10),
    Operation::ns("get_64_p99", "the 99th percentile of what one of the 64 waits, in the closed loop", 1),
    Operation::ns("get_offered_p99", "the 99th percentile at the offered rate, from the intended start", 20),
    Operation::ns("get_64_cpu", "processor time of the server for a GET of 64 clients", 1),
    Operation::ns("get_64_client_cpu", "processor time of the laboratory's own client for a GET of 64 clients", 1),
    Operation::ns("all_docs_10k", "_all_docs of all documents, read whole", 10),
    Operation::ns("all_docs_10k_docs", "the same with include_docs=true", 20),
    Operation::ns("changes_10k", "_changes of all documents, read whole", 10),
    Operation::ns("view_build", "a view in JavaScript over all documents, built and read in 8 groups", 20),
    Operation::ns("view_group", "the same read again", 2),
    Operation::ns("find_index", "documents with a member's value by _find and an index, one client", 5),
    Operation::ns("file_put", "an attachment of 10 MB stored", 5),
    Operation::ns("file_get", "the same read", 5),
    Operation::ns("replicate_10k", "_replicate of all documents into a new database of the same server", 30),
    Operation::ns("sync_10k_push", "PouchDB in Node replicates all documents from memory to the server", 60),
    Operation::ns("sync_10k_pull", "PouchDB in Node replicates all documents from the server into memory", 60),
    Operation::bytes(
        "idle_memory",
        "resident memory of the server's processes when it has started, mapped files with it",
        1,
    ),
    Operation::bytes("memory", "the same after all of the above", 1),
    Operation::ns("stop", "from being asked to end to its end", 2),
    Operation::ns("start", "from starting the program on what it has stored to its listening", 5),
    Operation::count(
        "syncs_per_put",
        "fsync, fdatasync, msync and synced writes a PUT of one client, counted by strace in a pass apart",
        20,
    ),
    Operation::count("syncs_per_put_8", "the same with 8 clients at once: how many requests share a sync", 20),
];

/// The sizes of a run.
struct Sizes {
    batches: usize,
    batch: u64,
    rounds: usize,
    lists: usize,
    syncs: usize,
    most: Bounds,
    put_rate: u64,
    get_rate: u64,
    offered_rounds: usize,
    offered_millis: u64,
    traced: u64,
}

impl Sizes {
    fn of(plan: &Plan) -> Self {
        let documents = plan.rows.unwrap_or(10_000).max(10);
        // A trial of the laboratory itself, as in its tests: every step, nothing to be believed.
        let trial = documents < 1000;
        let pick = |tried, quick, usual, full| if trial { tried } else { plan.pick(quick, usual, full) };
        Sizes {
            batches: 10,
            batch: documents / 10,
            rounds: pick(2, 3, 7, 3) as usize,
            lists: pick(1, 3, 5, 2) as usize,
            syncs: pick(1, 1, 2, 1) as usize,
            most: Bounds { requests: pick(100, 20_000, 20_000, 50_000), millis: pick(1000, 200, 300, 300) },
            put_rate: 100,
            get_rate: 500,
            offered_rounds: pick(1, 2, 3, 1) as usize,
            offered_millis: pick(50, 1000, 1500, 2000),
            traced: pick(10, 200, 200, 200),
        }
    }

    fn words(&self) -> String {
        format!(
            "{} documents of 300 bytes in batches of {}, {} rounds of at most {} requests or {} ms, offered rates {} \
             PUT/s and {} GET/s, {} replications; one client is on one processor with its server, more share the \
             machine's processors with it",
            self.batches as u64 * self.batch,
            self.batch,
            self.rounds,
            self.most.requests,
            self.most.millis,
            self.put_rate,
            self.get_rate,
            self.syncs,
        )
    }
}

fn everybody(_: &Kind) -> bool {
    true
}

/// Whether a subject has `CouchDB`'s HTTP interface.
fn couches(kind: &Kind) -> bool {
    !kind.floor && kind.name != "redis"
}

/// Whether a subject keeps documents.
fn keepers(kind: &Kind) -> bool {
    !kind.floor
}

/// Whether we may start and stop a subject.
fn ours_to_start(kind: &Kind) -> bool {
    keepers(kind) && kind.name != "couchdb"
}

fn startable(kind: &Kind) -> bool {
    kind.name != "couchdb"
}

fn ask(member: &mut Member, command: Http) -> Result<Reply> {
    member.ask(&Command::Http(command))
}

fn start_server(plan: &Plan, member: &mut Member, traced: bool, fresh: bool) -> Result<Reply> {
    let command = Http::Start {
        subject: member.kind.name.to_owned(),
        dir: member.dir.clone(),
        given: plan.given.clone(),
        traced: traced.then(|| member.dir.join("trace")),
        fresh,
    };
    let reply = ask(member, command)?;
    member.settings = member.settings.take().or(reply.settings.clone());
    Ok(reply)
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let sizes = Sizes::of(bench.plan);
    open(bench, "data", false)?;
    bench.single("idle_memory", startable, memory)?;
    load(bench, &sizes)?;
    reads(bench, &sizes)?;
    writes(bench, &sizes)?;
    replications(bench, &sizes)?;
    couch(bench, &sizes)?;
    bench.single("memory", startable, memory)?;
    again(bench)?;
    close(bench)?;
    syncs(bench, &sizes)
}

fn open(bench: &mut Bench<'_>, phase: &str, traced: bool) -> Result<()> {
    let plan = bench.plan;
    bench.prepare("starting", if traced { ours_to_start } else { everybody }, |member| {
        member.dir = plan.dir.join(phase).join(member.kind.name);
        member.worker = None;
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        start_server(plan, member, traced, true).map(drop)
    })
}

fn close(bench: &mut Bench<'_>) -> Result<()> {
    bench.prepare("stopping", everybody, |member| {
        ask(member, Http::Stop)?;
        member.worker.take().into_iter().for_each(crate::worker::Worker::end);
        Ok(())
    })
}

fn memory(member: &mut Member) -> Result<(f64, Option<String>)> {
    Ok((as_f64(ask(member, Http::Usage)?.number.unwrap_or_default() as usize), None))
}

fn load(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    bench.prepare("warming up", couches, |member| {
        ask(member, Http::Bulk { count: sizes.batch, warm: true }).map(drop)
    })?;
    bench.rounds("bulk_1000", couches, (sizes.batches, false), Figure::PerOperation, |member, _| {
        ask(member, Http::Bulk { count: sizes.batch, warm: false })
    })?;
    let others = |kind: &Kind| !couches(kind);
    bench.prepare("loading", others, |member| {
        let count = sizes.batches as u64 * sizes.batch;
        match ask(member, Http::Bulk { count, warm: false }) {
            Err(LabError::Unavailable { .. }) => Ok(()),
            ended => ended.map(drop),
        }
    })
}

fn reads(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let rounds = (sizes.rounds, true);
    for (name, clients) in [("get_1", 1), ("get_8", 8)] {
        bench.rounds(name, everybody, rounds, Figure::PerOperation, |member, round| {
            get(member, sizes, clients, round)
        })?;
    }
    let mut taken = Rounds::default();
    bench.rounds("get_64", everybody, rounds, Figure::PerOperation, |member, round| {
        let reply = get(member, sizes, 64, round)?;
        taken.add(member, round, &reply);
        Ok(reply)
    })?;
    bench.rounds("get_64_p99", everybody, rounds, Figure::Quantile(0.99), |member, round| taken.of(member, round))?;
    bench.rounds("get_64_cpu", everybody, rounds, Figure::PerOperation, |member, round| {
        let reply = taken.of(member, round)?;
        Ok(Reply { wall_ns: known(reply.cpu_ns)?, ops: reply.ops, ..Reply::default() })
    })?;
    bench.rounds("get_64_client_cpu", everybody, rounds, Figure::PerOperation, |member, round| {
        let reply = taken.of(member, round)?;
        Ok(Reply { wall_ns: known(reply.client_cpu_ns)?, ops: reply.ops, ..Reply::default() })
    })?;
    offer(bench, sizes, "get_offered_p99", false)?;
    let lists = (sizes.lists, true);
    for (name, with_documents) in [("all_docs_10k", false), ("all_docs_10k_docs", true)] {
        bench.rounds(name, couches, lists, Figure::PerOperation, |member, _| {
            ask(member, Http::AllDocs { with_documents })
        })?;
    }
    bench.rounds("changes_10k", couches, lists, Figure::PerOperation, |member, _| ask(member, Http::Changes))
}

fn get(member: &mut Member, sizes: &Sizes, clients: u64, round: usize) -> Result<Reply> {
    ask(member, Http::Get { clients, most: sizes.most, seed: 100 + round as u64 })
}

fn known(figure: Option<u64>) -> Result<u64> {
    figure.ok_or_else(|| LabError::Unavailable { reason: "its processes are not the laboratory's".to_owned() })
}

fn offer(bench: &mut Bench<'_>, sizes: &Sizes, name: &str, puts: bool) -> Result<()> {
    let rate = if puts { sizes.put_rate } else { sizes.get_rate };
    bench.rounds(name, everybody, (sizes.offered_rounds, true), Figure::Quantile(0.99), |member, round| {
        ask(member, Http::Offer { puts, rate, millis: sizes.offered_millis, seed: 500 + round as u64 })
    })
}

fn writes(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let rounds = (sizes.rounds, true);
    for (name, clients) in [("put_1", 1), ("put_8", 8)] {
        bench.rounds(name, everybody, rounds, Figure::PerOperation, |member, _| {
            ask(member, Http::Put { clients, most: sizes.most })
        })?;
    }
    let mut taken = Rounds::default();
    bench.rounds("put_64", everybody, rounds, Figure::PerOperation, |member, round| {
        let reply = ask(member, Http::Put { clients: 64, most: sizes.most })?;
        taken.add(member, round, &reply);
        Ok(reply)
    })?;
    bench.rounds("put_64_p99", everybody, rounds, Figure::Quantile(0.99), |member, round| taken.of(member, round))?;
    offer(bench, sizes, "put_offered_p99", true)
}

/// What users of `CouchDB` ask for beside documents, of it and of us.
fn couch(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    type Make = fn(u64) -> Couch;
    let asked: [(&str, Make); 6] = [
        ("view_build", |round| Couch::BuildView { round }),
        ("view_group", |round| Couch::ReadView { round }),
        ("find_index", |seed| Couch::Find { count: 200, seed }),
        ("file_put", |round| Couch::PutFile { round }),
        ("file_get", |round| Couch::GetFile { round }),
        ("replicate_10k", |round| Couch::Replicate { round }),
    ];
    let who = |kind: &Kind| matches!(kind.name, "recension" | "couchdb");
    for (name, make) in asked {
        bench.rounds(name, who, (sizes.lists, true), Figure::PerOperation, |member, round| {
            ask(member, Http::Couch(make(round as u64)))
        })?;
    }
    Ok(())
}

fn replications(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    let node = crate::servers::express_pouchdb::missing(&bench.plan.given);
    for (name, pull) in [("sync_10k_push", false), ("sync_10k_pull", true)] {
        bench.rounds(name, couches, (sizes.syncs, false), Figure::PerOperation, |member, round| match &node {
            Some(reason) => Err(LabError::Unavailable { reason: reason.clone() }),
            None => ask(member, Http::Sync { pull, round: round as u64 }),
        })?;
    }
    Ok(())
}

/// Ends every server, starts it on what it has stored, and reads everything that it has acknowledged.
fn again(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let timed = |act: &mut dyn FnMut() -> Result<Reply>| {
        let begin = std::time::Instant::now();
        act().map(|_| Reply { ops: 1, wall_ns: crate::measure::clock::nanos(begin.elapsed()), ..Reply::default() })
    };
    bench.rounds("stop", ours_to_start, (1, false), Figure::PerOperation, |member, _| {
        timed(&mut || ask(member, Http::Stop))
    })?;
    bench.rounds("start", ours_to_start, (1, false), Figure::PerOperation, |member, _| {
        timed(&mut || start_server(plan, member, false, false))
    })?;
    bench.verify_with("verifying the final state", keepers, |member| ask(member, Http::Verify).map(drop))
}

/// Counts the syncs of PUTs: `strace` writes each call down before the program goes on, so that those before the first
/// PUT, and those of the stop, are told apart.
fn syncs(bench: &mut Bench<'_>, sizes: &Sizes) -> Result<()> {
    for (name, clients) in [("syncs_per_put", 1), ("syncs_per_put_8", 8)] {
        if let Some(reason) = trace::unavailable() {
            bench.single(name, ours_to_start, |_| Err(LabError::Unavailable { reason: reason.clone() }))?;
            continue;
        }
        let mut counts: Vec<(&'static str, u64)> = Vec::new();
        open(bench, &format!("traced-{clients}"), true)?;
        bench.prepare("counting syncs", ours_to_start, |member| {
            let seen = |member: &Member| {
                let trace = std::fs::read_to_string(member.dir.join("trace")).map_err(LabError::io("the trace"))?;
                Ok::<_, LabError>(trace::count(&trace).durable())
            };
            let before = seen(member)?;
            ask(member, Http::Put { clients, most: Bounds { requests: sizes.traced, millis: 60_000 } })?;
            counts.push((member.kind.name, seen(member)?.saturating_sub(before)));
            ask(member, Http::Stop)?;
            member.worker.take().into_iter().for_each(crate::worker::Worker::end);
            Ok(())
        })?;
        bench.single(name, ours_to_start, |member| {
            let count = counts.iter().find(|(name, _)| *name == member.kind.name).map_or(0, |(_, count)| *count);
            Ok((as_f64(count as usize) / as_f64(sizes.traced as usize), None))
        })?;
    }
    Ok(())
}
