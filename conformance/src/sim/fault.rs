//! Failures on demand: the Nth call, of a kind or of any, returns an error.

use std::io;

use super::calls::OpKind;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// A failure of a later call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The number of the call that fails. It counts, from 1, the calls of kind `of` since the fault was set.
    pub at: u64,
    /// Calls of this kind only; `None`: of any kind.
    pub of: Option<OpKind>,
    /// How it fails.
    pub kind: FaultKind,
    /// Whether every later call of that kind fails too.
    pub lasting: bool,
}

/// The way a call fails. Any failed sync gives up what it should have written: a later sync does not write it, as on
/// Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// An I/O error. Nothing was done.
    Eio,
    /// An I/O error, although the call was done.
    EioButDone,
    /// No space. Nothing was done. Only calls that take space fail in this way.
    NoSpace,
    /// Some of the bytes were written, then there was no space. Only writes fail in this way.
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
    /// The `at`th call of any kind that can fail in this way fails, once.
    pub fn nth(at: u64, kind: FaultKind) -> Self {
        Fault { at, of: None, kind, lasting: false }
    }

    /// The `at`th call of a kind fails, once.
    pub fn nth_of(at: u64, of: OpKind, kind: FaultKind) -> Self {
        Fault { at, of: Some(of), kind, lasting: false }
    }
}

/// The set faults, each with the number of calls that it has counted.
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

    /// The way the present call fails, if it fails.
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
