//! The machine, and its speed at the operations that every store needs: a sync, copying memory, a memory access, a
//! round trip on loopback. It is measured before and after a run, so that a change of the machine is seen.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use rustix::fs::{FallocateFlags, fallocate};
use serde::{Deserialize, Serialize};

use super::clock::nanos;
use super::filesystem;
use super::stats::{as_f64, median};
use crate::data::Random;
use crate::error::{LabError, Result};

/// The machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The processor's name.
    pub cpu: String,
    /// Threads that it runs at once, as far as we may use them.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The kernel.
    pub kernel: String,
    /// The filesystem of the stores.
    pub filesystem: String,
    /// Append of 512 bytes and `fdatasync` into a preallocated file: median.
    pub sync_ns: f64,
    /// The same, 99th percentile.
    pub sync_p99_ns: f64,
    /// Copying memory, in bytes a second.
    pub memcpy_bytes_per_second: f64,
    /// A read of memory that is in no cache.
    pub memory_latency_ns: f64,
    /// One byte there and back over TCP on loopback.
    pub loopback_ns: f64,
    /// Processes that wanted to run, over the last minute, before the run.
    pub load_average: f64,
}

impl Calibration {
    /// Whether two were taken on what seems to be one machine, so that absolute times can be compared.
    pub fn same_machine(&self, other: &Calibration) -> bool {
        (&self.cpu, self.cores, &self.kernel, &self.filesystem)
            == (&other.cpu, other.cores, &other.kernel, &other.filesystem)
    }

    /// The measures that differ by more than a quarter, in words.
    pub fn drift(&self, later: &Calibration) -> Vec<String> {
        let measures = [
            ("a sync", self.sync_ns, later.sync_ns),
            ("copying memory", self.memcpy_bytes_per_second, later.memcpy_bytes_per_second),
            ("a wait for memory", self.memory_latency_ns, later.memory_latency_ns),
            ("a round trip on loopback", self.loopback_ns, later.loopback_ns),
        ];
        measures
            .into_iter()
            .filter(|(_, before, after)| *before > 0.0 && !(0.8..=1.25).contains(&(after / before)))
            .map(|(what, before, after)| {
                format!("{what} changed by {:+.0} % during the run", (after / before - 1.0) * 100.0)
            })
            .collect()
    }
}

/// Measures the machine, with a file in `dir`. About a second.
pub fn calibrate(dir: &Path) -> Result<Calibration> {
    let syncs = syncs(dir)?;
    let mut sorted = syncs.clone();
    sorted.sort_by(f64::total_cmp);
    Ok(Calibration {
        cpu: cpu_name(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory_bytes(),
        kernel: read_word("/proc/sys/kernel/osrelease"),
        filesystem: filesystem::name(dir)?,
        sync_ns: median(&syncs),
        sync_p99_ns: sorted.get(sorted.len() * 99 / 100).copied().unwrap_or_default(),
        memcpy_bytes_per_second: memcpy(),
        memory_latency_ns: memory_latency(),
        loopback_ns: loopback()?,
        load_average: read_word("/proc/loadavg").parse().unwrap_or_default(),
    })
}

fn read_word(path: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

fn cpu_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("unknown", |(_, name)| name.trim()).to_owned()
}

fn memory_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default() * 1024
}

/// The median of a sync alone: a fraction of a second.
pub fn sync_ns(dir: &Path) -> Result<f64> {
    syncs(dir).map(|times| median(&times))
}

fn syncs(dir: &Path) -> Result<Vec<f64>> {
    const ROUNDS: u64 = 300;
    let path = dir.join("calibration");
    let failed = || LabError::io(format!("calibrating with {}", path.display()));
    let file = File::create(&path).map_err(failed())?;
    fallocate(&file, FallocateFlags::empty(), 0, 1 << 20).map_err(|error| failed()(error.into()))?;
    file.sync_all().map_err(failed())?;
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        file.write_all_at(&[7; 512], round * 512).and_then(|()| file.sync_data()).map_err(failed())?;
        times.push(as_f64(nanos(start.elapsed()) as usize));
    }
    drop(file);
    std::fs::remove_file(&path).map_err(failed())?;
    Ok(times)
}

fn memcpy() -> f64 {
    let from = vec![1_u8; 64 << 20];
    let mut to = vec![0_u8; 64 << 20];
    let times: Vec<f64> = (0..5)
        .map(|_| {
            let start = Instant::now();
            to.copy_from_slice(&from);
            std::hint::black_box(&to);
            start.elapsed().as_secs_f64()
        })
        .collect();
    as_f64(from.len()) / median(&times)
}

/// Follows a cycle through 64 MiB in random order: each step waits for the one before.
fn memory_latency() -> f64 {
    const STEPS: usize = 200_000;
    let mut order: Vec<u32> = (0..8 << 20).collect();
    // Sattolo's shuffle makes one cycle of all.
    let mut random = Random::new(11);
    for last in (1..order.len()).rev() {
        order.swap(last, random.below(last as u64) as usize);
    }
    let mut at = 0;
    let start = Instant::now();
    for _ in 0..STEPS {
        at = order.get(at).map_or(0, |&next| next as usize);
    }
    let took = start.elapsed();
    std::hint::black_box(at);
    as_f64(nanos(took) as usize) / as_f64(STEPS)
}

fn loopback() -> Result<f64> {
    let failed = || LabError::io("a round trip on loopback");
    let listener = TcpListener::bind("127.0.0.1:0").map_err(failed())?;
    let address = listener.local_addr().map_err(failed())?;
    let echo = std::thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let mut byte = [0];
        while stream.read(&mut byte)? > 0 {
            stream.write_all(&byte)?;
        }
        Ok(())
    });
    let mut stream = TcpStream::connect(address).map_err(failed())?;
    stream.set_nodelay(true).map_err(failed())?;
    let mut times = Vec::new();
    for _ in 0..2000 {
        let start = Instant::now();
        let mut byte = [1];
        stream.write_all(&byte).and_then(|()| stream.read_exact(&mut byte)).map_err(failed())?;
        times.push(as_f64(nanos(start.elapsed()) as usize));
    }
    drop(stream);
    let _ = echo.join();
    Ok(median(&times))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_calibration_measures_everything_and_cleans_up() {
        let dir = tempfile::tempdir().unwrap();
        let found = calibrate(dir.path()).unwrap();
        assert!(found.sync_ns > 0.0 && found.sync_p99_ns >= found.sync_ns, "{found:?}");
        assert!(found.memcpy_bytes_per_second > 1e8 && found.memory_latency_ns > 0.1, "{found:?}");
        assert!(found.loopback_ns > 100.0 && found.memory_bytes > 0 && found.cores > 0, "{found:?}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_machine_that_changed_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let before = calibrate(dir.path()).unwrap();
        assert!(before.drift(&before).is_empty() && before.same_machine(&before));
        let slower = Calibration { sync_ns: before.sync_ns * 2.0, ..before.clone() };
        assert_eq!(before.drift(&slower), ["a sync changed by +100 % during the run"]);
        assert!(!before.same_machine(&Calibration { cores: before.cores + 1, ..before.clone() }));
    }
}
