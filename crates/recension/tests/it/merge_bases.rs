//! What a merge takes for the text that both sides come from, when they were merged before: what both have, in
//! whichever line of revisions it lies.

use proptest::prelude::*;
use recension::{At, Conflicts, Expect, MergeOptions, Merged, Store};

fn patch(store: &Store, changes: &str) {
    store.collection("menu").unwrap().merge_patch("a", Expect::Anything, changes).unwrap();
}

fn text(store: &Store) -> String {
    store.collection("menu").unwrap().get("a").unwrap().unwrap().body.into_owned()
}

fn merge(into: &Store, from: &Store, conflicts: Conflicts) -> Merged {
    into.merge_from(from, &MergeOptions { conflicts, ..MergeOptions::default() }).unwrap()
}

/// A document that both have, and changed apart `ours` and `theirs` times: the line with more changes wins.
fn apart(ours: usize, theirs: usize) -> (Store, Store) {
    let main = Store::memory().unwrap();
    main.collection("menu").unwrap().put("a", r#"{"price":9,"state":"new","n":0}"#).unwrap();
    let idea = main.branch("idea", At::Now).unwrap();
    for n in 1..=ours {
        patch(&main, &format!(r#"{{"state":"s{n}"}}"#));
    }
    for n in 1..=theirs {
        patch(&idea, &format!(r#"{{"price":{}}}"#, 9 + n));
    }
    (main, idea)
}

#[test]
fn what_was_merged_and_is_changed_again_is_no_conflict_whichever_line_won() {
    for (ours, theirs) in [(1, 3), (3, 1)] {
        let (main, idea) = apart(ours, theirs);
        assert_eq!(merge(&main, &idea, Conflicts::Fields).combined, 1);
        // The branch does not know of the merge, and goes on.
        patch(&idea, r#"{"price":50}"#);
        patch(&main, r#"{"state":"paid"}"#);
        let merged = merge(&main, &idea, Conflicts::Fields);
        assert_eq!((merged.conflicted, &merged.conflicts), (0, &Vec::new()), "{ours} {theirs}");
        assert_eq!(text(&main), r#"{"price":50,"state":"paid","n":0}"#);
        patch(&idea, r#"{"price":60}"#);
        // And the other way round: what the main line has of the branch is no change of its own.
        let merged = merge(&idea, &main, Conflicts::Fields);
        assert_eq!(merged.conflicted, 0, "{ours} {theirs}");
        assert_eq!(text(&idea), r#"{"price":60,"state":"paid","n":0}"#);
        assert_eq!(merge(&main, &idea, Conflicts::Fields).conflicted, 0);
        assert_eq!(text(&main), text(&idea));
        assert_eq!(main.check(At::Now).unwrap().problems, []);
    }
}

#[test]
fn a_conflict_that_was_decided_is_not_asked_again_and_one_that_was_left_is() {
    for (ours, theirs) in [(1, 3), (3, 1)] {
        for (conflicts, price) in [(Conflicts::Ours, 1), (Conflicts::Theirs, 9 + theirs), (Conflicts::Fields, 0)] {
            let (main, idea) = apart(ours, theirs);
            patch(&main, r#"{"price":1}"#);
            assert_eq!(merge(&main, &idea, conflicts).conflicted, 1);
            patch(&idea, r#"{"n":7}"#);
            let merged = merge(&main, &idea, Conflicts::Fields);
            if conflicts == Conflicts::Fields {
                // It goes on from the leaf that wins here, or is asked again.
                assert_eq!(merged.conflicted, u64::from(ours > theirs));
                assert_eq!(main.collection("menu").unwrap().conflicts("a").unwrap().len(), 1);
            } else {
                assert_eq!(merged.conflicted, 0, "{ours} {theirs} {conflicts:?}");
                assert_eq!(text(&main), format!(r#"{{"price":{price},"state":"s{ours}","n":7}}"#));
            }
        }
    }
}

/// One side deletes what the other changes, and the merge decides.
#[test]
fn a_deletion_that_was_decided_upon_is_not_asked_about_again_on_the_other_side() {
    let delete = |store: &Store| {
        let menu = store.collection("menu").unwrap();
        menu.delete("a", &menu.get("a").unwrap().unwrap().rev).unwrap();
    };
    for deletes_here in [false, true] {
        for conflicts in [Conflicts::Ours, Conflicts::Theirs] {
            let (main, idea) = apart(0, 0);
            let (deletes, changes) = if deletes_here { (&main, &idea) } else { (&idea, &main) };
            delete(deletes);
            patch(changes, r#"{"n":1}"#);
            assert_eq!(merge(&main, &idea, conflicts).conflicted, 1);
            let lives = deletes_here == (conflicts == Conflicts::Theirs);
            let back = merge(&idea, &main, Conflicts::Abort);
            assert_eq!((back.conflicted, &back.conflicts), (0, &Vec::new()), "{deletes_here} {conflicts:?}");
            for store in [&main, &idea] {
                assert_eq!(store.collection("menu").unwrap().get("a").unwrap().is_some(), lives, "{conflicts:?}");
                assert_eq!(store.check(At::Now).unwrap().problems, []);
            }
            assert_eq!(merge(&main, &idea, Conflicts::Abort).conflicted, 0);
            if lives {
                // Both go on from what was decided.
                patch(&main, r#"{"n":5}"#);
                patch(&idea, r#"{"price":5}"#);
                assert_eq!(merge(&main, &idea, Conflicts::Abort).conflicted, 0, "{deletes_here} {conflicts:?}");
                assert_eq!(text(&main), r#"{"price":5,"state":"new","n":5}"#);
            }
        }
    }
    // One that was only left beside the change is.
    let (main, idea) = apart(0, 0);
    delete(&idea);
    patch(&main, r#"{"n":1}"#);
    assert_eq!(merge(&main, &idea, Conflicts::Fields).conflicted, 1);
    assert_eq!(merge(&idea, &main, Conflicts::Abort).conflicted, 1);
}

/// Each side is merged into the other as it was before: none of both merges is on the other's line.
#[test]
fn merges_that_cross_each_other_have_what_both_merged_in_common() {
    for (ours, theirs) in [(1, 3), (3, 1)] {
        let (main, idea) = apart(ours, theirs);
        let before = main.branch("before", At::Now).unwrap();
        assert_eq!(merge(&main, &idea, Conflicts::Fields).combined, 1);
        assert_eq!(merge(&idea, &before, Conflicts::Fields).combined, 1);
        patch(&main, r#"{"state":"paid","n":1}"#);
        patch(&idea, r#"{"price":50}"#);
        let merged = merge(&main, &idea, Conflicts::Fields);
        assert_eq!((merged.conflicted, &merged.conflicts), (0, &Vec::new()), "{ours} {theirs}");
        assert_eq!(text(&main), r#"{"price":50,"state":"paid","n":1}"#);
        // What both decided differently is asked.
        patch(&main, r#"{"price":70}"#);
        patch(&idea, r#"{"price":80}"#);
        assert_eq!(merge(&main, &idea, Conflicts::Fields).conflicted, 1);
    }
}

/// A member for each line.
const LINES: [&str; 3] = ["main", "one", "two"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Each line counts a member of its own up. Whatever was merged into what before: the newer of both is taken, and
    /// between two lines nothing is in conflict. Of three it may be, since a revision has one parent and does not tell
    /// what was merged into it; but nothing is taken wrongly.
    #[test]
    fn what_only_one_line_writes_is_never_lost(
        count in 2..4_usize,
        steps in proptest::collection::vec((0..3_usize, 0..3_usize), 1..30),
    ) {
        let main = Store::memory().unwrap();
        main.collection("menu").unwrap().put("a", r#"{"main":0,"one":0,"two":0}"#).unwrap();
        let stores = LINES.map(|line| if line == "main" { main.clone() } else { main.branch(line, At::Now).unwrap() });
        let mut model = [[0; 3]; 3];
        for (at, (line, other)) in steps.into_iter().enumerate() {
            let (line, other) = (line % count, other % count);
            if line == other {
                model[line][line] = at + 1;
                patch(&stores[line], &format!(r#"{{"{}":{}}}"#, LINES[line], at + 1));
            } else {
                let merged = merge(&stores[line], &stores[other], Conflicts::Abort);
                if merged.conflicted > 0 {
                    prop_assert_eq!((count, &merged.conflicts), (3, &merged.conflicts));
                    continue;
                }
                model[line] = std::array::from_fn(|of| model[line][of].max(model[other][of]));
            }
            let [a, b, c] = model[line];
            prop_assert_eq!(text(&stores[line]), format!(r#"{{"main":{a},"one":{b},"two":{c}}}"#));
            prop_assert!(stores[line].collection("menu").unwrap().conflicts("a").unwrap().is_empty());
        }
    }
}
