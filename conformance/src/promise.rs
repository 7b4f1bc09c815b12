//! The promises of the rules of retention, computed from the whole history. They decide what an engine may refuse. This
//! is plain and slow, and shares no code with the engines.

use recension::engine::{Engine, KeyRange, MemoryEngine, Retention, RetentionRule, Seq, Timestamp, TreeId};

/// Every rule that was ever set in a store, in the order of setting.
#[derive(Default)]
pub struct Promise {
    set: Vec<SetRule>,
}

struct SetRule {
    rule: RetentionRule,
    /// The newest commit when the rule was set.
    since: Seq,
    /// For a duration: reads as of an earlier commit have not been promised at some time since.
    floor: Seq,
}

impl SetRule {
    /// The commit before which the rule promises nothing, if it was in force until `until`.
    fn horizon(&self, until: Seq) -> Seq {
        match self.rule.retention {
            Retention::HeadOnly => until,
            Retention::Duration(_) => self.floor.min(until),
            Retention::Everything | Retention::Versions(_) => Seq::ZERO,
        }
    }
}

impl Promise {
    /// Whether no rule was ever set.
    pub fn is_whole(&self) -> bool {
        self.set.is_empty()
    }

    /// Notes that a rule was set when `head` was the newest commit.
    pub fn set(&mut self, rule: &RetentionRule, head: Seq) {
        self.set.push(SetRule { rule: rule.clone(), since: head, floor: Seq::ZERO });
    }

    /// Must be called at every moment at which the engine may look at the clock.
    pub fn pass(&mut self, now: Timestamp, model: &MemoryEngine) {
        for set in &mut self.set {
            if let Retention::Duration(duration) = set.rule.retention {
                let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
                let needed = Timestamp(now.0.saturating_sub(micros));
                let commit = model.commit_at(needed).ok().flatten();
                set.floor = set.floor.max(commit.map_or(Seq::ZERO, |commit| commit.seq));
            }
        }
    }

    /// The rule for a key.
    pub fn rule_of(&self, tree: TreeId, key: &[u8]) -> Retention {
        let last = self.set.iter().rfind(|set| set.rule.tree == tree && set.rule.range.contains(key));
        last.map_or(Retention::Everything, |set| set.rule.retention)
    }

    /// The rules that were ever in force for a key, each with its last commit: the newest when the next rule took its
    /// place, or now.
    fn periods(&self, tree: TreeId, key: &[u8], head: Seq) -> impl Iterator<Item = (&SetRule, Seq)> {
        let own: Vec<_> = self.set.iter().filter(|set| set.rule.tree == tree && set.rule.range.contains(key)).collect();
        let untils: Vec<_> = own.iter().skip(1).map(|next| next.since).chain([head]).collect();
        own.into_iter().zip(untils)
    }

    /// Whether a read of a key as of `at` may be refused. `versions` are the seqs of its versions.
    pub fn may_refuse(&self, (tree, key, versions): (TreeId, &[u8], &[Seq]), at: Seq, head: Seq) -> bool {
        self.periods(tree, key, head).any(|(set, until)| {
            let newer = versions.iter().filter(|&&seq| at < seq && seq <= until).count();
            let beyond = |count: u32| newer >= count as usize;
            at < set.horizon(until) || matches!(set.rule.retention, Retention::Versions(count) if beyond(count.get()))
        })
    }

    /// Whether a read of a range as of `at` may be refused, whatever its keys are, and commits that depend on it too. A
    /// rule may have been replaced for only a part of the range, so it counts as if it were still in force.
    pub fn may_refuse_range(&self, tree: TreeId, range: &KeyRange, at: Seq, head: Seq) -> bool {
        let touches = |set: &&SetRule| set.rule.tree == tree && !set.rule.range.intersection(range).is_empty();
        self.set.iter().filter(touches).any(|set| at < set.horizon(head))
    }

    /// Whether a version may be missing at the end of a key's history, when the history is read as of `at`. `next` is
    /// the version that followed it.
    pub fn may_miss(
        &self,
        key: (TreeId, &[u8], &[Seq]),
        (seq, deleted): (Seq, bool),
        next: Option<Seq>,
        (at, head): (Seq, Seq),
    ) -> bool {
        let last_read = next.map_or(at, |next| at.min(Seq(next.0 - 1)));
        // A deletion is not part of a forgotten history, even if it is the newest version up to there.
        let is_forgotten = |(set, until): (&SetRule, Seq)| seq <= set.horizon(until);
        self.may_refuse(key, last_read, head) || (deleted && self.periods(key.0, key.1, head).any(is_forgotten))
    }
}
