//! Every fuzz target on its stored corpus, and on seeded mutations of it. `RECENSION_FUZZ=n` makes n
//! mutations per target; `RECENSION_SEED` makes others than the usual ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use recension_conformance::crash::env_number;
use recension_conformance::fuzz::{
    GOLDEN, GOLDEN_SETTLED, TARGETS, Target, forge_manifest, forge_run, forge_segment, forge_settled, mutate,
};
use recension_conformance::sim::Rng;

fn corpus(target: Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target.name);
    let paths = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    files.sort();
    assert!(!files.is_empty(), "no corpus for {}", target.name);
    files
}

/// Runs a target; an input that offends it is kept for the corpus.
fn run(target: Target, input: &[u8], what: &str) {
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err() {
        let place = std::env::temp_dir().join(format!("recension-fuzz-{}-{}", target.name, input.len()));
        std::fs::write(&place, input).unwrap();
        panic!("target {}, {what}: the input is in {}: {}", target.name, place.display(), input.escape_ascii());
    }
}

fn fuzz(name: &str, usual: u64) {
    let target = *TARGETS.iter().find(|target| target.name == name).unwrap();
    let corpus = corpus(target);
    for (path, input) in &corpus {
        run(target, input, &path.display().to_string());
    }
    run(target, b"", "no input");
    let seed = env_number("RECENSION_SEED", 1);
    let mut rng = Rng::for_part(seed, target.name.len() as u64);
    let inputs: Vec<_> = corpus.into_iter().map(|(_, input)| input).collect();
    for nth in 0..env_number("RECENSION_FUZZ", usual) {
        run(target, &mutate(&inputs, &mut rng), &format!("RECENSION_SEED={seed}, mutation {nth}"));
    }
}

#[test]
fn sessions_of_apocrypha_do_what_a_map_in_memory_does() {
    fuzz("apocrypha", 2000);
}

#[test]
fn a_file_of_keys_opens_as_it_was_written_or_not_at_all() {
    fuzz("keys", 500);
}

#[test]
fn what_web_servers_send_is_read_alike_in_all_pieces_or_refused() {
    for name in ["fcgi", "scgi", "environment"] {
        fuzz(name, 10_000);
    }
}

#[test]
fn the_log_reader_answers_rightly_or_not_at_all() {
    fuzz("log", 2000);
}

#[test]
fn the_run_reader_answers_rightly_or_not_at_all() {
    fuzz("run", 2000);
}

#[test]
fn the_manifest_reader_answers_rightly_or_not_at_all() {
    fuzz("manifest", 2000);
}

#[test]
fn the_reader_of_settled_files_answers_rightly_or_not_at_all() {
    fuzz("settled", 2000);
}

#[test]
fn json_is_read_as_others_read_it() {
    fuzz("json", 40_000);
}

#[test]
fn paths_read_back_as_they_were_written() {
    fuzz("path", 40_000);
}

#[test]
fn queries_answer_the_same_with_an_index_and_without() {
    fuzz("query", 4000);
}

#[test]
fn words_are_found_the_same_with_an_index_and_without() {
    fuzz("words", 3000);
}

#[test]
fn pipelines_answer_json_or_are_refused() {
    fuzz("pipeline", 6000);
}

#[test]
fn rows_of_documents_changed_behind_their_back_are_an_error_or_an_answer_and_the_past_stays() {
    fuzz("rows", 600);
}

#[test]
fn messages_between_processes_are_understood_or_refused() {
    fuzz("remote", 40_000);
}

#[test]
fn forging_a_whole_settled_file_changes_nothing() {
    for (name, whole) in GOLDEN_SETTLED.iter().filter(|(name, _)| name.starts_with("settled/")) {
        let is_manifest = *name == "settled/MANIFEST";
        let forge = if is_manifest { forge_manifest } else { forge_settled };
        let mut bytes = whole.to_vec();
        forge(&mut bytes);
        assert!(bytes == *whole, "{name}");
        // And it is these checksums that it puts right: of the header, of the first block, of all at the end.
        for at in if is_manifest { [bytes.len() - 2; 3] } else { [53, 64 + 5, bytes.len() - 2] } {
            bytes[at] ^= 1;
            forge(&mut bytes);
            assert!(bytes == *whole, "{name} at {at}");
        }
    }
}

#[test]
fn forging_a_whole_file_changes_nothing() {
    for (name, whole) in GOLDEN {
        let mut bytes = whole.to_vec();
        match name {
            _ if name.contains(".run") => forge_run(&mut bytes),
            _ if name.starts_with("log/") => forge_segment(&mut bytes, &[4096]),
            &"index/MANIFEST" => forge_manifest(&mut bytes),
            _ => continue,
        }
        assert!(bytes == *whole, "{name}");
        // And it is these checksums that it puts right.
        let at = if name.starts_with("log/") { 4096 + 4 } else { bytes.len() - 2 };
        bytes[at] ^= 1;
        match name {
            _ if name.contains(".run") => forge_run(&mut bytes),
            _ if name.starts_with("log/") => forge_segment(&mut bytes, &[4096]),
            _ => forge_manifest(&mut bytes),
        }
        assert!(bytes == *whole, "{name}");
    }
}
