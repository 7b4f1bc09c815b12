//! One file: its contents for a process, its contents after a power loss, and the journal between the two. A sector in
//! the journal has its whole content, as the page cache would write it back.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dice::{Dice, Fate};
use super::image::{Image, SECTOR, Sector};

#[derive(Clone, Default, Debug)]
pub(super) struct FileState {
    live: Image,
    durable: Image,
    journal: Vec<Pending>,
}

#[derive(Clone, Debug)]
struct Pending {
    call: u64,
    /// A sync of it failed. The system has marked it as clean, and no later sync writes it.
    abandoned: bool,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Len(u64),
    Sector(u64, Sector),
}

impl FileState {
    pub(super) fn live(&self) -> &Image {
        &self.live
    }

    pub(super) fn write(&mut self, call: u64, offset: u64, bytes: &[u8]) {
        let before = self.live.len();
        let touched = self.live.write(offset, bytes);
        if self.live.len() != before {
            self.note(call, Change::Len(self.live.len()));
        }
        for (index, sector) in touched {
            self.note(call, Change::Sector(index, sector));
        }
    }

    pub(super) fn set_len(&mut self, call: u64, len: u64) {
        if len != self.live.len() {
            self.live.set_len(len);
            self.note(call, Change::Len(len));
        }
    }

    /// Makes everything durable except what an earlier, failed sync gave up.
    pub(super) fn sync(&mut self) {
        let mut written = BTreeSet::new();
        let mut size_written = false;
        let mut given_up = Vec::new();
        for pending in std::mem::take(&mut self.journal) {
            if pending.abandoned {
                given_up.push(pending);
                continue;
            }
            match &pending.change {
                Change::Sector(index, _) => _ = written.insert(*index),
                Change::Len(_) => size_written = true,
            }
            apply(&mut self.durable, &pending.change, Fate::Keep);
        }
        // A sector that was written again and synced is durable with its whole content.
        given_up.retain(|pending| match &pending.change {
            Change::Sector(index, _) => !written.contains(index),
            Change::Len(_) => !size_written,
        });
        self.journal = given_up;
        self.durable.trim();
    }

    /// The effect of a failed sync ("fsyncgate"): nothing is written, and everything counts as clean.
    pub(super) fn fail_sync(&mut self) {
        for pending in &mut self.journal {
            pending.abandoned = true;
        }
    }

    /// The calls with unsynced changes.
    pub(super) fn pending_calls(&self) -> impl Iterator<Item = u64> + '_ {
        self.journal.iter().map(|pending| pending.call)
    }

    /// The file as a power loss leaves it.
    pub(super) fn crash(&self, dice: &mut Dice) -> FileState {
        let mut found = self.durable.clone();
        for pending in &self.journal {
            let fate = match pending.change {
                Change::Sector(..) => dice.data(pending.call),
                Change::Len(_) if dice.size(pending.call) => Fate::Keep,
                Change::Len(_) => Fate::Drop,
            };
            apply(&mut found, &pending.change, fate);
        }
        found.trim();
        FileState { live: found.clone(), durable: found, journal: Vec::new() }
    }

    /// Makes everything durable as it is, including what failed syncs gave up.
    pub(super) fn settle(&mut self) {
        self.damage(|_| {});
    }

    /// Changes the bytes at rest, as decay would: both for the process and after a power loss.
    pub(super) fn damage(&mut self, change: impl Fn(&mut Image)) {
        change(&mut self.live);
        self.journal.clear();
        self.durable = self.live.clone();
    }

    fn note(&mut self, call: u64, change: Change) {
        self.journal.push(Pending { call, abandoned: false, change });
    }
}

fn apply(image: &mut Image, change: &Change, fate: Fate) {
    match (change, fate) {
        (_, Fate::Drop) => {}
        (Change::Len(len), _) => image.set_len(*len),
        (Change::Sector(index, new), Fate::Keep) => image.put(*index, new.clone()),
        (Change::Sector(index, new), Fate::Torn(bytes)) => {
            let mut torn = image.sector(*index).cloned().unwrap_or_else(|| Arc::new([0; SECTOR]));
            Arc::make_mut(&mut torn)[..bytes].copy_from_slice(&new[..bytes]);
            image.put(*index, torn);
        }
    }
}
