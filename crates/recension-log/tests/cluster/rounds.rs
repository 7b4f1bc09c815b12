//! Rounds of faults.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use recension_conformance::crash::env_number;
use recension_conformance::sim::Rng;
use recension_engine::Engine as _;
use recension_log::{LogAddress, ReplicatedEngine, open_log};

use crate::history::{End, History};
use crate::node::{REGISTERS, feed, micros};
use crate::processes::NodeProcess;
use crate::proxy::Way;
use crate::support::{node, until};
use crate::systems::Cluster;

const NODES: usize = 3;
/// Ten minutes of a clock, in microseconds.
const STEP: i64 = 600_000_000;

/// What goes wrong in a round.
#[derive(Clone, Copy, Debug)]
enum Fault {
    NodeKilled,
    ServerKilled,
    ServerStopped,
    Parted,
    ClosedAfterSending,
    ClosedBeforeAnswering,
    Late,
    Refused,
    DiskFull,
    CacheLost,
}

const FAULTS: [Fault; 10] = [
    Fault::NodeKilled,
    Fault::ServerKilled,
    Fault::ServerStopped,
    Fault::Parted,
    Fault::ClosedAfterSending,
    Fault::DiskFull,
    Fault::ClosedBeforeAnswering,
    Fault::Late,
    Fault::Refused,
    Fault::CacheLost,
];

/// Everything of a run.
struct Run {
    cluster: Cluster,
    nodes: Vec<NodeProcess>,
    history: Arc<Mutex<History>>,
    /// A node of the test's own, which no fault strikes.
    own: ReplicatedEngine,
    /// The keys of the commits 1, 2, 3 ...
    order: Vec<String>,
    rng: Rng,
    /// How long a fault lasts, and how long a server is stopped.
    lasts: Duration,
    stopped: Duration,
}

/// Nothing is lost and nothing is there twice, whatever fails.
pub(crate) fn rounds_of_faults_lose_nothing(cluster: Cluster) {
    let rounds = env_number("RECENSION_ROUNDS", 10);
    let seed = env_number("RECENSION_SEED", 1);
    let is_long = rounds > 10;
    let folder = tempfile::tempdir().unwrap();
    let history = Arc::<Mutex<History>>::default();
    let name = cluster.name;
    let nodes = start_nodes(&cluster, folder.path(), &history);
    let own = node(open_log(&LogAddress::parse(&cluster.address).unwrap()).unwrap(), &folder.path().join("own"));
    let (lasts, stopped) = if is_long {
        (Duration::from_secs(2), Duration::from_secs(30))
    } else {
        (Duration::from_millis(600), Duration::from_secs(2))
    };
    let mut run = Run { cluster, nodes, history, own, order: Vec::new(), rng: Rng::new(seed), lasts, stopped };
    for node in &run.nodes {
        node.commits_after(0, &run.history);
    }
    for round in 0..rounds {
        let fault = FAULTS[round as usize % FAULTS.len()];
        let struck = run.strike(fault);
        let again = run.nodes.iter().map(|node| node.commits_after(struck, &run.history)).max().unwrap_or_default();
        run.check(&format!("{name}, seed {seed}, round {round}, {fault:?}"));
        println!(
            "{name}: round {round}: {fault:?}: every node commits again after {:.2} s; {} commits, all is well",
            again.as_secs_f64(),
            run.order.len()
        );
    }
    assert_eq!(run.own.verify().unwrap().problems, []);
    let history = run.history.lock().unwrap();
    let ended = |end: fn(&End) -> bool| history.ended.values().filter(|found| end(found)).count();
    println!(
        "{name}: {rounds} rounds: {} acknowledged, {} refused, {} unknown, {} fresh reads, {} openings",
        ended(|end| matches!(end, End::Acknowledged { .. })),
        ended(|end| *end == End::Refused),
        ended(|end| *end == End::Unknown),
        history.reads.len(),
        history.feeds.len()
    );
}

fn start_nodes(cluster: &Cluster, folder: &Path, history: &Arc<Mutex<History>>) -> Vec<NodeProcess> {
    (0..NODES).map(|n| NodeProcess::start(format!("n{n}"), &cluster.address, folder, history)).collect()
}

impl Run {
    /// Has a fault happen, and ends it. Returns the time when it was over.
    fn strike(&mut self, fault: Fault) -> u64 {
        let struck = self.rng.below(NODES as u64) as usize;
        let member = self.rng.below(self.cluster.members() as u64) as usize;
        // A clock is wrong in every round, by another step.
        let step = [-STEP, 0, STEP][self.rng.below(3) as usize];
        self.nodes[(struck + 1) % NODES].tell(&format!("clock {step}"));
        match fault {
            Fault::NodeKilled | Fault::CacheLost => {
                self.nodes[struck].kill();
                if matches!(fault, Fault::CacheLost) {
                    self.nodes[struck].remove_cache();
                }
                std::thread::sleep(self.lasts);
                self.nodes[struck].again(&self.history);
            }
            Fault::ServerKilled => {
                self.cluster.kill(member);
                std::thread::sleep(self.lasts);
                self.cluster.start(member);
            }
            Fault::ServerStopped => {
                self.cluster.stop(member);
                std::thread::sleep(self.stopped);
                self.cluster.go_on(member);
            }
            Fault::Parted => self.on_the_way(&[struck], Way::Dropped),
            Fault::Refused => self.on_the_way(&[struck], Way::Closed),
            Fault::ClosedAfterSending => self.on_the_way(&[0, 1, 2], Way::ClosedAfterSending),
            Fault::ClosedBeforeAnswering => self.on_the_way(&[0, 1, 2], Way::ClosedBeforeAnswering),
            Fault::Late => self.on_the_way(&[struck], Way::Late),
            Fault::DiskFull => {
                self.nodes[struck].limit_files(Some(0));
                std::thread::sleep(self.lasts);
                println!("  it said: {}", self.nodes[struck].complaint());
                // What a cache could not keep ends its node, which somebody opens again when there is room.
                self.nodes[struck].kill();
                self.nodes[struck].again(&self.history);
            }
        }
        micros()
    }

    fn on_the_way(&self, nodes: &[usize], way: Way) {
        for node in nodes {
            self.nodes[*node].ways.set(way);
        }
        std::thread::sleep(self.lasts);
        for node in nodes {
            self.nodes[*node].ways.set(Way::Open);
        }
    }

    /// Lets everybody come to rest and compares them all, and what was said.
    fn check(&mut self, round: &str) {
        self.nodes.iter_mut().for_each(|node| node.tell("pause"));
        for node in &self.nodes {
            let _ = node.answer("paused");
        }
        // What a killed node had on the way may still come.
        loop {
            until("the log answers", || self.own.refresh().is_ok());
            let (position, chain) = self.own.position();
            let chain: String = chain.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
            let places: Vec<_> = self.nodes.iter_mut().map(|node| node.place(position.0)).collect();
            if places.iter().any(|place| place.position != position.0) {
                continue;
            }
            for place in &places {
                assert_eq!(place.chain, chain, "{round}: equal positions have equal chains");
                assert_eq!(place.count, place.seq, "{round}: the counter has every commit once");
            }
            break;
        }
        let snapshot = self.own.snapshot().unwrap();
        for (seq, key) in feed(&*snapshot, self.order.len() as u64) {
            self.order.push(key);
            assert_eq!(seq, self.order.len() as u64, "{round}: every commit is in the feed");
        }
        assert_eq!(snapshot.seq().0, self.order.len() as u64, "{round}");
        let history = self.history.lock().unwrap();
        let problems = history.problems(&self.order, REGISTERS);
        assert!(problems.is_empty(), "{round}: {} problems: {:#?}", problems.len(), &problems[..problems.len().min(5)]);
        for node in &self.nodes {
            let (from, feed) = &history.feeds[&node.opening()];
            assert_eq!(*from as usize + feed.len(), self.order.len(), "{round}: the feed of {} is whole", node.name);
        }
        drop(history);
        self.nodes.iter_mut().for_each(|node| node.tell("run"));
    }
}
