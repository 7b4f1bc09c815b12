//! The suite `mine`: a user's own workload, from a TOML file, on every embedded store of the durability that it asks
//! for.

use super::bench::{Figure, Member, Rounds, empty_dir, start};
use super::{Bench, Operation, Suite};
use crate::custom_workload::{Action, Workload};
use crate::error::{LabError, Result};
use crate::measure::filesystem::bytes_on_disk;
use crate::measure::stats::as_f64;
use crate::subjects::{FLOOR, Kind, kinds};
use crate::worker::mine::Mine;
use crate::worker::{Command, Launch, Reply, Worker};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "mine",
    what: "a workload of your own (--workload FILE.toml) on every embedded store; lab/workloads/ has examples",
    kinds: || kinds().into_iter().filter(|kind| kind.name != FLOOR && !kind.name.starts_with("lying")).collect(),
    usual: &["recension", "sqlite", "lmdb", "redb", "fjall", "surrealkv", "nebari", "sled"],
    sittings: super::SITTINGS,
    operations: &OPERATIONS,
    sizes: |plan| plan.workload.as_ref().map(words).unwrap_or_default(),
    run,
};

const OPERATIONS: [Operation; 11] = [
    Operation::ns(
        "all",
        "an operation of the mix: the time that clients waited, divided by operations and clients",
        20,
    ),
    Operation::ns(
        "all_p99",
        "the 99th percentile of what an operation of the mix waits; at a rate, from when it was meant to begin",
        1,
    ),
    Operation::ns("get", "what a get of one document waits, the mean of a round", 1),
    Operation::ns("get_p99", "the 99th percentile of gets", 1),
    Operation::ns("update", "what reading a document and committing its next version waits, the mean of a round", 1),
    Operation::ns("update_p99", "the 99th percentile of updates", 1),
    Operation::ns("insert", "what the commit of a new document waits, the mean of a round", 1),
    Operation::ns("insert_p99", "the 99th percentile of inserts", 1),
    Operation::ns("scan", "what a range of documents waits, the mean of a round", 1),
    Operation::ns("scan_p99", "the 99th percentile of ranges", 1),
    Operation::bytes("size", "allocated blocks at the end", 1),
];

fn words(workload: &Workload) -> String {
    let loop_ = workload.rate.map_or("closed loop".to_owned(), |rate| format!("{rate} operations a second offered"));
    let Workload { name, documents, clients, seconds, mix, .. } = workload;
    format!(
        "\"{name}\": {documents} documents, as {}; {clients} clients, {loop_}, rounds of {seconds} s; get {}, update \
         {}, insert {}, scan {} of {} documents; rows of the stores, no indexes",
        workload.document(0, 0).chars().take(120).collect::<String>(),
        mix.get,
        mix.update,
        mix.insert,
        mix.scan,
        workload.limits.scan_documents
    )
}

fn everybody(_: &Kind) -> bool {
    true
}

fn ask(member: &mut Member, command: Mine) -> Result<Reply> {
    member.ask(&Command::Mine(command))
}

fn open(member: &mut Member, workload: Option<Box<Workload>>) -> Result<()> {
    let (subject, dir) = (member.kind.name.to_owned(), member.dir.clone());
    let reply = ask(member, Mine::Open { subject, dir, workload })?;
    member.settings = member.settings.take().or(reply.settings);
    Ok(())
}

fn run(bench: &mut Bench<'_>) -> Result<()> {
    let plan = bench.plan;
    let workload = plan.workload.clone().ok_or_else(|| LabError::Usage {
        what: "the suite mine needs a workload: --workload FILE.toml; lab/workloads/ has two examples".to_owned(),
    })?;
    for member in &mut bench.members {
        if member.kind.tier < workload.durability && member.reason.is_none() {
            member.reason = Some(format!(
                "the workload asks for {:?} (survives {}); this store keeps {:?}: a server, or another durability, \
                 would be needed",
                workload.durability,
                workload.durability.words(),
                member.kind.tier
            ));
        }
    }
    bench.prepare("loading", everybody, |member| {
        member.dir = plan.dir.join("mine").join(member.kind.name);
        empty_dir(&member.dir)?;
        start(plan, member, &Launch::Plain)?;
        open(member, Some(Box::new(workload.clone())))
    })?;
    let rounds = (if plan.rows.is_some() { 2 } else { plan.pick(3, 5, 3) }, true);
    let millis = if plan.rows.is_some() { 50 } else { workload.seconds * 1000 };
    let mut taken = Rounds::default();
    bench.rounds("all", everybody, rounds, Figure::PerOperation, |member, round| {
        let reply = ask(member, Mine::Run { millis, seed: 7 + round as u64 })?;
        taken.add(member, round, &reply);
        Ok(reply)
    })?;
    figures(bench, &workload, &taken, rounds)?;
    bench.single("size", everybody, |member| Ok((as_f64(bytes_on_disk(&member.dir)? as usize), None)))?;
    bench.verify_with("verifying the final state", everybody, |member| {
        ask(member, Mine::Close)?;
        open(member, None)?;
        ask(member, Mine::Verify)?;
        ask(member, Mine::Close)?;
        member.worker.take().into_iter().for_each(Worker::end);
        Ok(())
    })?;
    bench.remove(everybody)
}

/// The rows of single operations, of what was taken in the rounds of all.
fn figures(bench: &mut Bench<'_>, workload: &Workload, taken: &Rounds, rounds: (usize, bool)) -> Result<()> {
    let rows = [
        ("all_p99", None, Figure::Quantile(0.99)),
        ("get", Some(Action::Get), Figure::PerOperation),
        ("get_p99", Some(Action::Get), Figure::Quantile(0.99)),
        ("update", Some(Action::Update), Figure::PerOperation),
        ("update_p99", Some(Action::Update), Figure::Quantile(0.99)),
        ("insert", Some(Action::Insert), Figure::PerOperation),
        ("insert_p99", Some(Action::Insert), Figure::Quantile(0.99)),
        ("scan", Some(Action::Scan), Figure::PerOperation),
        ("scan_p99", Some(Action::Scan), Figure::Quantile(0.99)),
    ];
    for (name, action, figure) in rows {
        if action.is_some_and(|action| workload.mix.of(action) == 0) {
            continue;
        }
        bench.rounds(name, everybody, rounds, figure, |member, round| {
            let failed = || LabError::Unavailable { reason: "its rounds had no such operation".to_owned() };
            let all = taken.of(member, round)?;
            let latencies_ns = match action {
                None => all.latencies_ns,
                Some(action) => {
                    all.actions.into_iter().find(|(one, _)| *one == action).map(|(_, own)| own).ok_or_else(failed)?
                }
            };
            Ok(Reply {
                ops: latencies_ns.len() as u64,
                wall_ns: latencies_ns.iter().sum(),
                latencies_ns,
                ..Reply::default()
            })
        })?;
    }
    Ok(())
}
