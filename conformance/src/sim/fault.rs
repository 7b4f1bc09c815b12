//! Failures on demand: the Nth call, of a kind or of any, answers an error.

use std::io;

use super::calls::OpKind;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A failure to come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Which call fails, counted from 1 among those that `of` names, from when the fault was set.
    pub at: u64,
    /// Calls of this kind only; `None`: of any kind.
    pub of: Option<OpKind>,
    /// How it fails.
    pub kind: FaultKind,
    /// Whether every such call after it fails too.
    pub lasting: bool,
}

/// How a call fails. A sync that fails, however it does, gives up what it should have written: a later
/// sync does not write it, as Linux behaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An I/O error; nothing was done.
    Eio,
    /// An I/O error, although it was done.
    EioButDone,
    /// No space; nothing was done. Only calls that take space fail so, others go through.
    NoSpace,
    /// Part of the bytes were written, then there was no space. Only writes fail so.
    ShortWrite,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [FaultKind; 4] = [FaultKind::Eio, FaultKind::EioButDone, FaultKind::NoSpace, FaultKind::ShortWrite];

    pub(super) fn fits(self, kind: OpKind) -> bool {
        match self {
            FaultKind::Eio | FaultKind::EioButDone => true,
            FaultKind::NoSpace => kind.takes_space(),
            FaultKind::ShortWrite => kind == OpKind::Write,
        }
    }

    pub(super) fn error(self) -> io::Error {
        io::Error::from_raw_os_error(match self {
            FaultKind::Eio | FaultKind::EioButDone => EIO,
            FaultKind::NoSpace | FaultKind::ShortWrite => ENOSPC,
        })
    }
}

impl Fault {
    /// The `at`th call of any kind that can fail so does, once.
    pub fn nth(at: u64, kind: FaultKind) -> Self {
        Fault { at, of: None, kind, lasting: false }
    }

    /// The `at`th call of a kind fails, once.
    pub fn nth_of(at: u64, of: OpKind, kind: FaultKind) -> Self {
        Fault { at, of: Some(of), kind, lasting: false }
    }
}

/// Faults that are set, each with the calls it has counted.
#[derive(Debug, Default)]
pub(super) struct Faults {
    set: Vec<(Fault, u64)>,
    pub(super) hits: u64,
}

impl Faults {
    pub(super) fn add(&mut self, fault: Fault) {
        self.set.push((fault, 0));
    }

    pub(super) fn clear(&mut self) {
        self.set.clear();
    }

    /// How the call now made fails, if it does.
    pub(super) fn strike(&mut self, kind: OpKind) -> Option<FaultKind> {
        let mut hit = None;
        for (fault, seen) in &mut self.set {
            if fault.of.is_none_or(|of| of == kind) && fault.kind.fits(kind) {
                *seen += 1;
                if *seen == fault.at || (fault.lasting && *seen > fault.at) {
                    hit = hit.or(Some(fault.kind));
                }
            }
        }
        self.hits += u64::from(hit.is_some());
        hit
    }
}

pub(super) fn no_space() -> io::Error {
    FaultKind::NoSpace.error()
}
