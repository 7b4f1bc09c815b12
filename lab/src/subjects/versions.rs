//! The versions of the built-in crates, from the workspace's lock file.

const LOCK: &str = include_str!("../../Cargo.lock");

/// The version of a crate in the lock file. If there are several, the newest.
pub(super) fn of_crate(name: &str) -> String {
    let head = format!("name = \"{name}\"\nversion = \"");
    let versions = LOCK.split(&head).skip(1).filter_map(|rest| rest.split('"').next());
    versions.last().unwrap_or("unknown").to_owned()
}

#[cfg(feature = "sqlite")]
pub(super) fn sqlite() -> String {
    rusqlite::version().to_owned()
}

#[cfg(not(feature = "sqlite"))]
pub(super) fn sqlite() -> String {
    "not built in".to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_lock_file_names_the_peers() {
        for name in ["redb", "fjall", "heed", "sled", "surrealkv"] {
            let version = super::of_crate(name);
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{name}: {version}");
        }
        assert_eq!(super::of_crate("no-such-crate"), "unknown");
    }
}
