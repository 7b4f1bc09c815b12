//! Larger than memory: a store whose index may take few bytes of memory, whatever it holds. Run it: `cargo run
//! --release --example larger_than_memory [DOCUMENTS] [FOLDER]`; 2,000 documents without an argument, 1 KiB each, in
//! a folder of the system's for such things.

use std::sync::Arc;
use std::time::Instant;

use recension::disk::FsDisk;
use recension::engine::{NativeEngine, NativeOptions};
use recension::{Error, Result, Store, Write};

fn text(number: u64) -> String {
    // Differs from document to document, so that nothing is gained by compression.
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..1000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            char::from(b'a' + (state % 26) as u8)
        })
        .collect()
}

pub(crate) fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    // In a test, the arguments are those of the test.
    let documents = arguments.next().and_then(|documents| documents.parse().ok()).unwrap_or(2_000_u64).max(1);
    let given = arguments.next().filter(|_| !cfg!(test));
    let folder = given.clone().map_or_else(
        || std::env::temp_dir().join(format!("recension-larger-than-memory-{}", std::process::id())),
        Into::into,
    );
    let options = NativeOptions {
        // Documents are never held in memory; this bounds what of the index is not on disk yet.
        index_memory_bytes: 1 << 20,
        checkpoint_log_bytes: 16 << 20,
        ..NativeOptions::default()
    };
    let answer = run(&folder, options, documents);
    if given.is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    answer
}

fn run(folder: &std::path::Path, options: NativeOptions, documents: u64) -> Result<()> {
    let start = Instant::now();
    let store = Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(folder)), options)?))?;
    let large = store.collection("large")?;
    let mut loader = large.loader();
    for number in 0..documents {
        let write = Write::put(&format!("{number:012}"), format!("{{\"n\":{number},\"text\":\"{}\"}}", text(number)))?;
        if let Some(failure) = loader.push(write)?.into_iter().next() {
            return Err(failure.error);
        }
    }
    if let Some(failure) = loader.finish()?.into_iter().next() {
        return Err(failure.error);
    }
    println!("{documents} documents loaded in {:.2?}", start.elapsed());

    let start = Instant::now();
    let reads = 1_000_u64.min(documents * 10);
    for turn in 0..reads {
        let number = turn.wrapping_mul(0x9e37_79b9_7f4a_7c15) % documents;
        let found = large.get(&format!("{number:012}"))?;
        let expected = format!("{{\"n\":{number},\"text\":\"{}\"}}", text(number));
        if found.is_none_or(|found| found.body != expected) {
            return Err(Error::abort(format!("document {number} is not what was written")));
        }
    }
    println!("{reads} of them read and compared, {:.2?} each", start.elapsed() / u32::try_from(reads).unwrap_or(1));
    let stats = store.engine().stats()?;
    println!("{} bytes on disk, about {} in memory", stats.disk_bytes, stats.memory_bytes);
    assert_eq!(large.count()?, documents);
    assert!(stats.disk_bytes > documents * 1000);
    assert!(stats.memory_bytes < 16 << 20, "{} bytes in memory", stats.memory_bytes);
    Ok(())
}
