//! The filesystem of the stores: its kind, whether a sync means anything there, and how much the stores take.

use std::io::Read as _;
use std::path::Path;

use rustix::fs::{Advice, fadvise, statfs, statvfs};

use crate::error::{LabError, Result};

/// Filesystems by their magic numbers (statfs(2)).
const KNOWN: [(i64, &str); 10] = [
    (0xef53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x794c_7630, "overlayfs"),
    (0x6969, "nfs"),
    (0x2fc1_2fc1, "zfs"),
    (0x6573_5546, "fuse"),
    (0xf2f5_2010, "f2fs"),
];

/// The name of the filesystem that a directory is on.
pub fn name(dir: &Path) -> Result<String> {
    let found = statfs(dir).map_err(|error| LabError::io(format!("statfs of {}", dir.display()))(error.into()))?;
    let magic = found.f_type;
    let known = KNOWN.iter().find(|(number, _)| *number == magic);
    Ok(known.map_or_else(|| format!("filesystem {magic:#x}"), |(_, name)| (*name).to_owned()))
}

/// Whether a sync there reaches no disk.
pub fn is_in_memory(name: &str) -> bool {
    matches!(name, "tmpfs" | "ramfs")
}

/// Bytes that a directory's filesystem has free for us.
pub fn bytes_free(dir: &Path) -> Result<u64> {
    let found = statvfs(dir).map_err(|error| LabError::io(format!("statvfs of {}", dir.display()))(error.into()))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Bytes that a directory's files take on the disk: allocated blocks, so that holes are not counted.
pub fn bytes_on_disk(dir: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    let mut total = 0;
    for_each_file(dir, &mut |path| {
        total += path.metadata().map_err(LabError::io(format!("reading {}", path.display())))?.blocks() * 512;
        Ok(())
    })?;
    Ok(total)
}

/// Reads a directory's files whole, writes back their pages in the page cache, and drops these. After that, all reads
/// come from the disk. A disk with a cache of its own (a virtual machine's is its host's memory) has then lately read
/// all of the files, whether they were written first or last. Returns their number of bytes.
pub fn evict(dir: &Path) -> Result<u64> {
    let mut piece = vec![0; 1 << 20];
    let mut total = 0;
    for_each_file(dir, &mut |path| {
        let doing = |what: &str| LabError::io(format!("{what} {}", path.display()));
        let mut file = std::fs::File::open(path).map_err(doing("opening"))?;
        loop {
            match file.read(&mut piece).map_err(doing("reading"))? {
                0 => break,
                read => total += read as u64,
            }
        }
        let _ = file.sync_all();
        fadvise(&file, 0, None, Advice::DontNeed).map_err(|error| doing("dropping the cache of")(error.into()))
    })?;
    Ok(total)
}

fn for_each_file(dir: &Path, f: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    let listed = || LabError::io(format!("listing {}", dir.display()));
    for entry in std::fs::read_dir(dir).map_err(listed())? {
        let path = entry.map_err(listed())?.path();
        if path.is_dir() {
            for_each_file(&path, f)?;
        } else if path.is_file() {
            f(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_take_no_space_and_files_of_subdirectories_do() {
        let dir = tempfile::tempdir().unwrap();
        let hole = std::fs::File::create(dir.path().join("hole")).unwrap();
        hole.set_len(50 << 20).unwrap();
        std::fs::create_dir(dir.path().join("deep")).unwrap();
        let full = dir.path().join("deep/full");
        std::fs::write(&full, vec![1; 1 << 20]).unwrap();
        std::fs::File::open(&full).unwrap().sync_all().unwrap();
        let bytes = bytes_on_disk(dir.path()).unwrap();
        assert!((1 << 20..8 << 20).contains(&bytes), "{bytes}");
        assert_eq!(evict(dir.path()).unwrap(), (50 << 20) + (1 << 20), "all was read, holes too");
        assert!(!name(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn filesystems_in_memory_are_known() {
        assert!(is_in_memory("tmpfs") && is_in_memory("ramfs") && !is_in_memory("ext4"));
        assert!(name(Path::new("/proc/self")).unwrap().contains("0x9fa0"));
    }
}
