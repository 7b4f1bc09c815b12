//! The properties of an engine, so that the layers above decide by these and not by its name.

/// Properties of an engine. Fields may be added: ask for the ones that you need, and start from [`Profile::default`],
/// which promises nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// What the read of a row may wait for.
    pub reads: Reads,
    /// Whether other processes commit to the store. This one learns of their commits a moment later.
    pub others_commit: bool,
}

/// What the read of a row may wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reads {
    /// Nothing but memory.
    Memory,
    /// Files that are mapped into memory: the disk, if the operating system does not have the page.
    MappedFiles,
    /// Other readers, locks, the disk or a network.
    #[default]
    Others,
}

impl Profile {
    /// The same with another kind of reads.
    #[must_use]
    pub const fn with_reads(self, reads: Reads) -> Self {
        Profile { reads, ..self }
    }

    /// The same for a store that other processes commit to.
    #[must_use]
    pub const fn with_other_committers(self) -> Self {
        Profile { others_commit: true, ..self }
    }

    /// Whether a thread that must not wait should leave reads to another thread.
    pub fn reads_wait(&self) -> bool {
        self.reads == Reads::Others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_says_nothing_of_itself_is_not_relied_on() {
        assert!(Profile::default().reads_wait());
        assert!(!Profile::default().with_reads(Reads::Memory).reads_wait());
        assert!(!Profile::default().others_commit && Profile::default().with_other_committers().others_commit);
        assert!(!Profile::default().with_reads(Reads::MappedFiles).reads_wait());
    }
}
