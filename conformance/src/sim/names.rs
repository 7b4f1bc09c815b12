//! The names of files: those that a process sees, those after a power loss, and the operations in between. Without a
//! sync of its directory, each operation survives or is lost on its own.

use std::collections::BTreeMap;

use super::dice::{Dice, NameFate};

pub(super) type FileId = u64;

#[derive(Clone, Default, Debug)]
pub(super) struct Names {
    pub(super) live: BTreeMap<String, FileId>,
    durable: BTreeMap<String, FileId>,
    journal: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    call: u64,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Link { name: String, id: FileId },
    Unlink { name: String },
    Rename { from: String, to: String, id: FileId },
}

impl Change {
    fn name(&self) -> &str {
        match self {
            Change::Link { name, .. } | Change::Unlink { name } | Change::Rename { to: name, .. } => name,
        }
    }

    fn apply(&self, names: &mut BTreeMap<String, FileId>, fate: NameFate) {
        match (self, fate) {
            (_, NameFate::Drop) => {}
            (Change::Link { name, id }, _) => _ = names.insert(name.clone(), *id),
            (Change::Unlink { name }, _) => _ = names.remove(name),
            (Change::Rename { from, to, id }, fate) => {
                names.insert(to.clone(), *id);
                if fate == NameFate::Keep {
                    names.remove(from);
                }
            }
        }
    }
}

/// The directory that a name lies in; `""` is the root.
pub(super) fn directory_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(dir, _)| dir)
}

impl Names {
    pub(super) fn link(&mut self, call: u64, name: &str, id: FileId) {
        self.change(call, Change::Link { name: name.to_owned(), id });
    }

    pub(super) fn unlink(&mut self, call: u64, name: &str) {
        self.change(call, Change::Unlink { name: name.to_owned() });
    }

    pub(super) fn rename(&mut self, call: u64, from: &str, to: &str, id: FileId) {
        self.change(call, Change::Rename { from: from.to_owned(), to: to.to_owned(), id });
    }

    /// Makes the names of `dir` durable.
    pub(super) fn sync(&mut self, dir: &str) {
        let journal = std::mem::take(&mut self.journal);
        let (now, later) =
            journal.into_iter().partition(|pending: &Pending| directory_of(pending.change.name()) == dir);
        self.journal = later;
        for pending in now {
            pending.change.apply(&mut self.durable, NameFate::Keep);
        }
    }

    /// The calls with unsynced changes.
    pub(super) fn pending_calls(&self) -> impl Iterator<Item = u64> + '_ {
        self.journal.iter().map(|pending| pending.call)
    }

    /// The names as a power loss leaves them.
    pub(super) fn crash(&self, dice: &mut Dice) -> Names {
        let mut found = self.durable.clone();
        for pending in &self.journal {
            pending.change.apply(&mut found, dice.name(pending.call));
        }
        Names { live: found.clone(), durable: found, journal: Vec::new() }
    }

    /// Changes the names at rest: both for the process and after a power loss.
    pub(super) fn damage(&mut self, change: impl FnOnce(&mut BTreeMap<String, FileId>)) {
        change(&mut self.live);
        self.journal.clear();
        self.durable = self.live.clone();
    }

    fn change(&mut self, call: u64, change: Change) {
        change.apply(&mut self.live, NameFate::Keep);
        self.journal.push(Pending { call, change });
    }
}
