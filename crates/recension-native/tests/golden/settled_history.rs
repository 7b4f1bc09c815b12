// The history of the golden store with settled files and rules; read in by the test that writes and reads it, and by
// the fuzz target that damages it.

/// Commits of the golden store with settled files.
pub const SETTLED_COMMITS: u64 = 170;

/// Writes that history: `given_up` is called where the rules are set, and `settle` where all is settled.
/// # Panics
/// Where the engine refuses.
pub fn write_settled_history(
    engine: &dyn recension_engine::Engine,
    clock: &recension_engine::ManualClock,
    given_up: impl Fn(&dyn recension_engine::Engine),
    settle: impl Fn(&dyn recension_engine::Engine),
) {
    use recension_engine::{Batch, Timestamp, TreeId};
    let mut chance = 1_u64;
    for n in 0..SETTLED_COMMITS {
        clock.set(Timestamp(2_000_000 + n / 2 * 10));
        let mut batch = Batch::new();
        // Half of a value can be compressed.
        let mut value = vec![n as u8; (n * 7 % 90) as usize];
        for _ in 0..n * 5 % 90 + if n < 120 { 150 } else { 0 } {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            value.push((chance >> 56) as u8);
        }
        batch.put(TreeId(n as u32 % 4), format!("key {}", n % 23).as_bytes(), &value);
        if n % 5 == 0 {
            batch.delete(TreeId(n as u32 % 3), format!("key {}", n % 13).as_bytes());
        }
        if n % 11 == 0 {
            batch.put(TreeId(u32::MAX), b"", b"");
        }
        assert!(engine.commit(batch).is_ok());
        if n == 60 {
            given_up(engine);
        }
        if n == 120 {
            settle(engine);
        }
    }
}

/// Gives up a part of it: of tree 0 all but two versions, of tree 1 all but what there is, and a part of tree 2 once.
/// # Panics
/// Where the engine refuses.
pub fn give_up(engine: &dyn recension_engine::Engine) {
    use recension_engine::{KeyRange, Retention, RetentionRule, Seq, TreeId};
    let rule = |tree, retention| RetentionRule { tree: TreeId(tree), range: KeyRange::all(), retention };
    let two = std::num::NonZeroU32::MIN.saturating_add(1);
    assert!(engine.set_retention(&[rule(0, Retention::Versions(two)), rule(1, Retention::HeadOnly)]).is_ok());
    assert!(engine.forget(TreeId(2), &KeyRange::prefix("key 1"), Seq(40)).is_ok());
}
