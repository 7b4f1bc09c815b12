//! The one suite that every engine must pass: each sentence of the engine contract as a case. A case knows only the
//! contract. It must never ask which engine it tests, except for what the factory declares.

mod atomicity;
mod backup;
mod binding;
mod dependencies;
pub mod engines;
mod erasing;
mod keeping;
mod kept;
mod limits;
mod order;
mod retention;
mod sharing;
mod snapshots;
mod time;
mod waiting;

use std::path::Path;
use std::sync::Arc;

use recension::engine::{
    Batch, Clock, CommitInfo, Direction, Engine, KeyRange, ManualClock, Result, Seq, Snapshot, Timestamp, TreeId,
};

/// Makes stores of one kind of engine, for tests.
pub trait EngineFactory: Send + Sync {
    /// The engine's name and options, for messages.
    fn name(&self) -> String;

    /// A new, empty store. Its commits take their time from `clock`.
    fn make(&self, clock: Arc<dyn Clock>) -> Store;

    /// Whether a store is still there after it was closed and opened again.
    fn persists(&self) -> bool {
        true
    }

    /// Opens a backup. `None` if the engine makes none.
    fn open_backup(&self, at: &Path) -> Option<Result<Arc<dyn Engine>>>;

    /// Whether its engines become branches of themselves.
    fn forks(&self) -> bool {
        false
    }

    /// Whether readers go on while a commit asks the clock for its time. The memory engine has one lock for everything:
    /// it is the model, and is kept as plain as possible.
    fn readers_pass_writers(&self) -> bool {
        true
    }
}

/// Opens a store, again and again.
pub type Open = Box<dyn Fn() -> Result<Arc<dyn Engine>> + Send + Sync>;

/// A store under test, which can be closed and opened again.
pub struct Store {
    engine: Option<Arc<dyn Engine>>,
    open: Option<Open>,
    /// Values that must live as long as the store: its directory, its simulated disk.
    keep: Option<Box<dyn Send + Sync>>,
}

impl Store {
    /// A store that ends when it is closed.
    pub fn lasting_until_closed(engine: Arc<dyn Engine>) -> Self {
        Store { engine: Some(engine), open: None, keep: None }
    }

    /// A store that `open` opens, the first time and after each closing. `keep` is dropped last.
    ///
    /// # Panics
    /// If it cannot be opened: the test has failed.
    pub fn persistent(open: Open, keep: impl Send + Sync + 'static) -> Self {
        let engine = open().unwrap_or_else(|error| panic!("a new store does not open: {error}"));
        Store { engine: Some(engine), open: Some(open), keep: Some(Box::new(keep)) }
    }

    /// The same with another engine over the one that is opened.
    #[must_use]
    pub fn wrapped(self, wrap: impl Fn(Arc<dyn Engine>) -> Arc<dyn Engine> + Send + Sync + 'static) -> Self {
        let wrap = Arc::new(wrap);
        let engine = self.engine.map(|engine| wrap(engine));
        let open = self.open.map(|open| -> Open { Box::new(move || open().map(|engine| wrap(engine))) });
        Store { engine, open, keep: self.keep }
    }

    /// The open engine.
    ///
    /// # Panics
    /// If an earlier reopening failed.
    pub fn engine(&self) -> &dyn Engine {
        self.engine.as_deref().expect("the store did not open again")
    }

    /// Closes the store and opens it again. Returns false if the engine keeps nothing, and the store stays as it is.
    /// Snapshots of the store must have been dropped before.
    ///
    /// # Panics
    /// If it does not open again.
    pub fn reopen(&mut self) -> bool {
        let Some(open) = &self.open else { return false };
        self.engine = None;
        self.engine = Some(open().unwrap_or_else(|error| panic!("the store does not open again: {error}")));
        true
    }
}

/// A case of the suite: panics if the engine breaks the contract.
pub type Case = fn(&dyn EngineFactory);

macro_rules! cases {
    ($($module:ident: $($name:ident),+;)+) => {
        /// Every case by its name.
        pub const CASES: &[(&str, Case)] = &[$($((stringify!($name), $module::$name)),+),+];
    };
}

cases! {
    atomicity:
        an_empty_store_has_no_commits_and_no_rows,
        commits_are_numbered_from_one_without_gaps,
        a_batch_over_many_trees_is_applied_wholly,
        a_refused_batch_leaves_nothing_behind,
        a_batch_without_rows_makes_no_commit,
        the_later_word_of_a_batch_wins,
        a_deletion_hides_the_row_and_a_put_brings_it_back,
        a_commit_is_visible_at_once_in_every_durability,
        several_batches_at_once_are_commits_of_their_own;
    order:
        keys_are_ordered_by_their_bytes_in_both_directions,
        every_combination_of_bounds_is_kept_to,
        prefixes_and_single_keys_are_ranges,
        trees_next_to_each_other_do_not_mix,
        empty_keys_and_empty_values_are_rows_like_any_other,
        long_ranges_come_whole_in_both_directions,
        long_ranges_with_deleted_stretches_come_whole;
    snapshots:
        a_snapshot_does_not_move,
        every_past_commit_can_be_read_again,
        a_commit_that_was_not_made_cannot_be_read,
        versions_come_newest_first_with_deletions,
        versions_end_at_the_snapshot,
        long_histories_come_whole,
        a_range_read_halfway_goes_on_as_it_began,
        a_history_read_halfway_goes_on_as_it_began;
    time:
        commit_at_finds_the_newest_commit_of_that_time,
        equal_times_answer_the_newest_of_them,
        commit_times_do_not_follow_a_clock_that_jumps_back,
        times_do_not_fall_over_a_reopening;
    dependencies:
        a_dependency_on_what_has_not_changed_holds,
        a_dependency_on_a_changed_key_is_a_conflict_with_its_details,
        a_dependency_on_an_absent_key_breaks_when_it_is_written,
        a_dependency_on_a_range_breaks_on_every_kind_of_phantom,
        a_dependency_on_a_range_holds_outside_its_bounds,
        a_dependency_on_a_whole_tree_holds_in_the_trees_beside_it,
        one_broken_dependency_of_many_is_enough,
        a_batch_without_rows_has_its_dependencies_checked,
        a_dependency_on_a_commit_to_come_is_refused,
        a_dependency_holds_over_a_reopening;
    binding:
        a_key_holds_the_seq_of_its_own_commit,
        counters_begin_at_zero_and_add_up,
        concurrent_writers_of_a_counter_lose_nothing,
        what_is_no_counter_is_refused_and_stays,
        counters_are_kept_over_a_reopening;
    limits:
        keys_and_values_at_their_limits_are_kept,
        what_is_beyond_a_limit_is_refused_whole;
    waiting:
        wait_beyond_answers_at_once_what_is_already_there,
        wait_beyond_times_out_with_the_head_as_it_is,
        wait_beyond_wakes_at_a_commit,
        a_waker_is_woken_by_the_next_commit;
    sharing:
        concurrent_writers_each_get_a_commit_of_their_own,
        readers_beside_writers_see_whole_commits,
        readers_do_not_wait_for_a_commit_under_way,
        of_rivals_that_read_the_same_commit_one_wins;
    retention:
        a_forgotten_history_is_refused_and_the_rest_stays,
        a_commit_that_depends_on_what_is_given_up_is_a_conflict,
        head_only_keeps_what_is_there_now,
        so_many_versions_of_each_key_stay,
        a_range_is_answered_up_to_the_first_key_that_was_given_up,
        the_moments_of_a_duration_stay,
        rules_are_told_as_they_were_set_and_the_last_holds,
        a_rule_that_keeps_more_brings_nothing_back,
        too_many_rules_are_refused_whole;
    kept:
        a_kept_moment_stays_readable_whatever_the_rules_say,
        what_a_kept_moment_needs_is_not_forgotten,
        a_moment_that_could_not_be_read_keeps_nothing;
    erasing:
        an_erased_key_is_at_no_moment_and_leaves_no_trace_when_it_is_settled,
        of_a_key_single_versions_can_be_erased,
        the_keys_of_a_tree_are_listed_with_deleted_ones,
        who_read_a_key_before_it_was_erased_commits_nothing;
    backup:
        a_backup_is_a_store_with_all_there_was_and_is_brought_up_to_date,
        what_is_no_backup_of_the_store_is_left_as_it_is,
        backups_beside_writers_are_whole;
    keeping:
        a_store_opened_again_has_all_it_had,
        every_durability_is_there_after_a_clean_closing,
        checkpoints_change_nothing_that_can_be_read,
        a_sound_store_verifies_clean,
        stats_are_sane;
}

// Short names for the cases, which use them in every line.

const T: TreeId = TreeId(7);

fn store(factory: &dyn EngineFactory) -> Store {
    store_with_clock(factory).0
}

fn store_with_clock(factory: &dyn EngineFactory) -> (Store, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000_000)));
    (factory.make(clock.clone()), clock)
}

/// A tree, a key, and a value. `None` deletes.
type Write<'w> = (TreeId, &'w [u8], Option<&'w [u8]>);

fn write(engine: &dyn Engine, rows: &[Write<'_>]) -> CommitInfo {
    engine.commit(batch(rows)).expect("the commit is taken")
}

fn batch(rows: &[Write<'_>]) -> Batch {
    let mut batch = Batch::new();
    for (tree, key, value) in rows {
        match value {
            Some(value) => batch.put(*tree, key, value),
            None => batch.delete(*tree, key),
        };
    }
    batch
}

fn put(engine: &dyn Engine, key: &[u8], value: &[u8]) -> Seq {
    write(engine, &[(T, key, Some(value))]).seq
}

fn delete(engine: &dyn Engine, key: &[u8]) -> Seq {
    write(engine, &[(T, key, None)]).seq
}

fn now(engine: &dyn Engine) -> Arc<dyn Snapshot> {
    engine.snapshot().expect("a snapshot of now")
}

fn at(engine: &dyn Engine, seq: Seq) -> Arc<dyn Snapshot> {
    engine.snapshot_at(seq).unwrap_or_else(|error| panic!("a snapshot at {seq}: {error}"))
}

fn get(snapshot: &dyn Snapshot, tree: TreeId, key: &[u8]) -> Option<(Seq, Vec<u8>)> {
    let value = snapshot.get(tree, key).expect("the row can be read");
    value.map(|value| (value.seq, value.bytes.into_owned()))
}

fn value(snapshot: &dyn Snapshot, key: &[u8]) -> Option<Vec<u8>> {
    get(snapshot, T, key).map(|(_, bytes)| bytes)
}

type OwnedRow = (Vec<u8>, Seq, Vec<u8>);

fn rows(snapshot: &dyn Snapshot, tree: TreeId, range: &KeyRange, direction: Direction) -> Vec<OwnedRow> {
    let owned: Vec<OwnedRow> = snapshot
        .range(tree, range, direction)
        .map(|row| {
            let row = row.expect("the row can be read");
            (row.key.into_owned(), row.value.seq, row.value.bytes.into_owned())
        })
        .collect();
    // The same rows are lent, as many as are wanted.
    for wanted in [owned.len() / 2 + 1, usize::MAX] {
        let mut lent = Vec::new();
        let see = &mut |key: &[u8], value: &[u8]| {
            lent.push((key.to_vec(), value.to_vec()));
            lent.len() < wanted
        };
        snapshot.each_row(tree, range, direction, see).expect("the rows can be read");
        let owned = owned.iter().take(wanted).map(|(key, _, value)| (key.clone(), value.clone()));
        assert_eq!(lent, owned.collect::<Vec<_>>());
    }
    owned
}

fn keys(snapshot: &dyn Snapshot, tree: TreeId, range: &KeyRange, direction: Direction) -> Vec<Vec<u8>> {
    rows(snapshot, tree, range, direction).into_iter().map(|(key, ..)| key).collect()
}

fn all(snapshot: &dyn Snapshot, tree: TreeId) -> Vec<OwnedRow> {
    rows(snapshot, tree, &KeyRange::all(), Direction::Forward)
}

type OwnedVersion = (Seq, Timestamp, Option<Vec<u8>>);

fn versions(snapshot: &dyn Snapshot, tree: TreeId, key: &[u8]) -> Vec<OwnedVersion> {
    snapshot
        .versions(tree, key)
        .map(|version| {
            let version = version.expect("the version can be read");
            (version.seq, version.time, version.value.map(std::borrow::Cow::into_owned))
        })
        .collect()
}
