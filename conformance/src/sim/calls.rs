//! Calls to a disk: their kinds, one call, and counters of them.

use std::fmt;

/// A kind of disk call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // each is the method of its name
pub enum OpKind {
    CreateDir,
    List,
    Create,
    Open,
    Rename,
    Remove,
    SyncDir,
    Lock,
    Len,
    Allocate,
    SetLen,
    Write,
    BeginSync,
    HasCome,
    Sync,
    Read,
    Map,
}

impl OpKind {
    /// Every kind.
    pub const ALL: [OpKind; 17] = [
        OpKind::CreateDir,
        OpKind::List,
        OpKind::Create,
        OpKind::Open,
        OpKind::Rename,
        OpKind::Remove,
        OpKind::SyncDir,
        OpKind::Lock,
        OpKind::Len,
        OpKind::Allocate,
        OpKind::SetLen,
        OpKind::Write,
        OpKind::BeginSync,
        OpKind::HasCome,
        OpKind::Sync,
        OpKind::Read,
        OpKind::Map,
    ];

    /// Whether such a call can change the contents of the disk after a crash.
    pub fn changes_the_disk(self) -> bool {
        !matches!(self, OpKind::List | OpKind::Open | OpKind::Len | OpKind::Read | OpKind::Map) && !self.is_hint()
    }

    /// Whether such a call has no effect on the results of others. [`super::SimDisk`] does not count it as a call.
    pub fn is_hint(self) -> bool {
        matches!(self, OpKind::BeginSync | OpKind::HasCome)
    }

    /// Whether such a call can run out of space.
    pub fn takes_space(self) -> bool {
        matches!(self, OpKind::CreateDir | OpKind::Create | OpKind::Allocate | OpKind::SetLen | OpKind::Write)
    }
}

/// One disk call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Its number; the first is 1.
    pub number: u64,
    /// Its kind.
    pub kind: OpKind,
    /// The file or directory.
    pub name: String,
    /// The offset in the file. For `SetLen` and `Allocate` the new length, for `Sync` the place of the last write to
    /// the file.
    pub offset: u64,
    /// Bytes written or read.
    pub len: u64,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} ({:?} {:?}", self.number, self.kind, self.name)?;
        match self.kind {
            OpKind::Write | OpKind::Read => write!(f, " at {} +{})", self.offset, self.len),
            OpKind::SetLen | OpKind::Allocate => write!(f, " to {})", self.offset),
            _ => write!(f, ")"),
        }
    }
}

/// Numbers of calls by kind, and bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    calls: [u64; OpKind::ALL.len()],
    /// Bytes written.
    pub bytes_written: u64,
    /// Bytes read by `Read` (mapped reads are not calls).
    pub bytes_read: u64,
}

impl Counters {
    /// The number of calls of one kind.
    pub fn of(&self, kind: OpKind) -> u64 {
        self.calls[kind as usize]
    }

    /// The number of calls of all kinds, without hints.
    pub fn total(&self) -> u64 {
        OpKind::ALL.into_iter().filter(|kind| !kind.is_hint()).map(|kind| self.of(kind)).sum()
    }

    /// The difference to `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Counters) -> Counters {
        let mut rest = *self;
        for (now, then) in rest.calls.iter_mut().zip(earlier.calls) {
            *now -= then;
        }
        rest.bytes_written -= earlier.bytes_written;
        rest.bytes_read -= earlier.bytes_read;
        rest
    }

    pub(super) fn count(&mut self, kind: OpKind, len: u64) {
        self.calls[kind as usize] += 1;
        match kind {
            OpKind::Write => self.bytes_written += len,
            OpKind::Read => self.bytes_read += len,
            _ => {}
        }
    }
}
