//! What the nodes said that they began and were told, and whether one order of commits explains all of it. Pure.
//!
//! The order is known: it is the feed of a node that the test has itself. So no search is needed to say whether the
//! history is linearizable: each commit and each fresh read has its place in the order by its seq, and it is enough
//! that no two of them stand there against the order in which one ended before the other began.

use std::collections::{BTreeMap, HashMap, HashSet};

/// How a commit ended, for who asked for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Acknowledged { at: u64, seq: u64 },
    Refused,
    Unknown,
}

/// A read of what is fresh.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) seq: u64,
    pub(crate) register: usize,
    pub(crate) value: String,
}

/// Everything that was said.
#[derive(Default)]
pub(crate) struct History {
    /// Keys, and when their commit began.
    pub(crate) began: HashMap<String, u64>,
    pub(crate) ended: HashMap<String, End>,
    pub(crate) reads: Vec<Read>,
    /// Of each opening of a node: the commit behind which its feed begins, and what it told since.
    pub(crate) feeds: BTreeMap<String, (u64, Vec<(u64, String)>)>,
}

/// Of which register a commit is, by its key: `node-opening.writer.number`.
pub(crate) fn register_of(key: &str, registers: usize) -> usize {
    let mut parts = key.rsplit('.').map(|part| part.parse::<usize>().unwrap_or(0));
    let (number, writer) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    (number + writer) % registers
}

impl History {
    /// Takes what a node said; `false` if it is about something else.
    pub(crate) fn hear(&mut self, opening: &str, line: &str) -> bool {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        match words[0] {
            "b" => _ = self.began.insert(words[1].to_owned(), number(2)),
            "k" => {
                let end = End::Acknowledged { at: number(2), seq: number(3) };
                self.ended.insert(words[1].to_owned(), end);
            }
            "n" => _ = self.ended.insert(words[1].to_owned(), End::Refused),
            "u" => _ = self.ended.insert(words[1].to_owned(), End::Unknown),
            "r" => {
                let (register, value) = (number(4) as usize, words[5..].join(" "));
                self.reads.push(Read { began: number(1), ended: number(2), seq: number(3), register, value });
            }
            "o" => _ = self.feeds.insert(opening.to_owned(), (number(1), Vec::new())),
            "f" => {
                let feed = self.feeds.get_mut(opening).expect("it was opened");
                feed.1.push((number(1), words[2].to_owned()));
            }
            _ => return false,
        }
        true
    }

    /// Everything that the order does not explain; the order is the keys of the commits 1, 2, 3 ...
    pub(crate) fn problems(&self, order: &[String], registers: usize) -> Vec<String> {
        let mut problems = Vec::new();
        self.commits(order, &mut problems);
        self.times(order, &mut problems);
        self.values(order, registers, &mut problems);
        self.told(order, &mut problems);
        problems
    }

    fn commits(&self, order: &[String], problems: &mut Vec<String>) {
        let mut there = HashSet::new();
        for (key, seq) in order.iter().zip(1_u64..) {
            if !there.insert(key) {
                problems.push(format!("{key} was committed twice, the second time as {seq}"));
            }
            match self.ended.get(key) {
                Some(End::Refused) => problems.push(format!("{key} was refused, and is commit {seq}")),
                Some(End::Acknowledged { seq: told, .. }) if *told != seq => {
                    problems.push(format!("{key} was acknowledged as {told}, and is commit {seq}"));
                }
                _ if !self.began.contains_key(key) => problems.push(format!("nobody asked for {key}, commit {seq}")),
                _ => {}
            }
        }
        for (key, end) in &self.ended {
            if matches!(end, End::Acknowledged { .. }) && !there.contains(key) {
                problems.push(format!("{key} was acknowledged and is lost: {end:?}"));
            }
        }
    }

    /// What ended before something else began stands before it.
    fn times(&self, order: &[String], problems: &mut Vec<String>) {
        // When each commit, or one before it, began at the latest.
        let mut latest = vec![0_u64];
        for key in order {
            latest.push(latest[latest.len() - 1].max(self.began.get(key).copied().unwrap_or(0)));
        }
        // What had ended by a time, with its seq; the time at which something began, and the seq it ended with.
        let mut ends: Vec<(u64, u64)> = self.reads.iter().map(|read| (read.ended, read.seq)).collect();
        let mut begins: Vec<(u64, u64, String)> =
            self.reads.iter().map(|read| (read.began, read.seq, format!("{read:?}"))).collect();
        for (key, end) in &self.ended {
            if let End::Acknowledged { at, seq } = end {
                ends.push((*at, *seq));
                // A commit stands behind everything that it came after.
                begins.push((self.began[key], seq - 1, format!("{key} {end:?}")));
            }
        }
        ends.sort_unstable();
        begins.sort();
        let (mut ended, mut newest) = (ends.iter().peekable(), 0);
        for (began, seq, what) in &begins {
            while let Some((_, seq)) = ended.next_if(|(at, _)| at < began) {
                newest = newest.max(*seq);
            }
            if newest > *seq {
                problems.push(format!("commit {newest} was known before this began, and it does not have it: {what}"));
            }
        }
        for read in &self.reads {
            if latest.get(read.seq as usize).is_none_or(|began| *began > read.ended) {
                problems.push(format!("it has commits that had not begun: {read:?}"));
            }
        }
    }

    fn values(&self, order: &[String], registers: usize, problems: &mut Vec<String>) {
        let mut written: Vec<Vec<u64>> = vec![Vec::new(); registers];
        for (key, seq) in order.iter().zip(1..) {
            written[register_of(key, registers)].push(seq);
        }
        for read in &self.reads {
            let before = written[read.register].partition_point(|seq| *seq <= read.seq);
            let expected = before.checked_sub(1).map_or("-", |nth| &order[written[read.register][nth] as usize - 1]);
            if read.value != expected {
                problems.push(format!("the register had {expected}: {read:?}"));
            }
        }
    }

    fn told(&self, order: &[String], problems: &mut Vec<String>) {
        for (opening, (from, feed)) in &self.feeds {
            let expected = order.iter().zip(1_u64..).skip(*from as usize);
            let differs = feed.iter().zip(expected).find(|((seq, key), (wanted, at))| seq != at || key != *wanted);
            if let Some((told, wanted)) = differs {
                problems.push(format!("the feed of {opening} told {told:?} where the order has {wanted:?}"));
            }
            if *from as usize + feed.len() > order.len() {
                problems.push(format!("the feed of {opening} told of more than there is"));
            }
        }
    }
}

pub(crate) mod tests {
    use super::History;

    /// A history that one order explains.
    fn sound() -> (History, Vec<String>) {
        let mut history = History::default();
        for line in [
            "o 0",
            "b a.0.0 10",
            "b b.0.0 11",
            "k a.0.0 20 1",
            "f 1 a.0.0",
            "r 30 31 1 0 a.0.0",
            "k b.0.0 40 2",
            "f 2 b.0.0",
            "b c.0.0 50",
            "u c.0.0 gone",
            "b d.0.0 60",
            "n d.0.0",
            "r 70 71 3 0 c.0.0",
            "f 3 c.0.0",
        ] {
            assert!(history.hear("one", line), "{line}");
        }
        (history, ["a.0.0", "b.0.0", "c.0.0"].map(str::to_owned).to_vec())
    }

    /// Every kind of lie is found.
    pub(crate) fn lies_are_found() {
        let (history, order) = sound();
        assert_eq!(history.problems(&order, 1), Vec::<String>::new());
        let lies: [(&str, &[&str], &[&str]); 9] = [
            ("is lost", &[], &["b.0.0", "c.0.0"]),
            ("twice", &[], &["a.0.0", "b.0.0", "c.0.0", "a.0.0"]),
            ("was refused", &[], &["a.0.0", "b.0.0", "c.0.0", "d.0.0"]),
            ("nobody asked", &[], &["a.0.0", "b.0.0", "c.0.0", "e.0.0"]),
            ("was known before this began", &["r 45 46 1 0 a.0.0"], &[]),
            ("was known before this began", &["b e.0.0 80", "k e.0.0 81 2"], &["a.0.0", "e.0.0", "c.0.0"]),
            ("had not begun", &["r 32 33 3 0 c.0.0"], &[]),
            ("the register had", &["r 90 91 3 0 a.0.0"], &[]),
            ("the feed of", &["f 5 b.0.0"], &[]),
        ];
        for (said, lines, other) in lies {
            let (mut history, order) = sound();
            for line in lines {
                assert!(history.hear("one", line));
            }
            let other: Vec<String> = other.iter().map(|key| (*key).to_owned()).collect();
            let problems = history.problems(if other.is_empty() { &order } else { &other }, 1);
            assert!(problems.iter().any(|problem| problem.contains(said)), "{said}: {problems:?}");
        }
    }
}
