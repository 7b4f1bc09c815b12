//! What the names of a store's files say: in which form a file is sealed, and what its keys are bound to. Pure.

use super::opening::Place;
use crate::format::{
    LOCK_FILE, MANIFEST_FILE, MARK_FILE, MOVED_FILE, SETTLED_MANIFEST_FILE, STORE_FILE, UNFINISHED_FILE, file_number,
};

/// In which form a file is sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// Written from its start to its end, once.
    Pages(Place),
    /// A segment of the log: appended to, and synced in between.
    Frames(Place),
    /// The mark: two slots, written in turns.
    Slots(Place),
    /// Temporary: its key is written nowhere.
    Spool,
    /// Not sealed.
    Open,
}

/// What keys of temporary files are bound to: nothing else than those are sealed by them.
pub(super) const PASSING: Place = Place { kind: 255, number: 0 };

const SINGLE: [(&str, u8); 5] =
    [(STORE_FILE, 4), (SETTLED_MANIFEST_FILE, 5), (MANIFEST_FILE, 6), (MOVED_FILE, 8), (UNFINISHED_FILE, 9)];

/// The form of the file with this name. A file that is going to be renamed has that of the file that it will be.
pub(super) fn form_of(name: &str) -> Form {
    if name == LOCK_FILE {
        return Form::Open;
    }
    if let Some(stem) = name.strip_suffix(".spool") {
        return numbered(stem).unwrap_or(Form::Spool);
    }
    let name = name.strip_suffix(".tmp").unwrap_or(name);
    if name == MARK_FILE {
        return Form::Slots(Place { kind: 7, number: 0 });
    }
    let single = SINGLE.iter().find(|(known, _)| *known == name).map(|(_, kind)| Place { kind: *kind, number: 0 });
    // No other file is known; whatever it is, it is sealed, and bound to its name.
    let other = || Form::Pages(Place { kind: 0, number: xxhash_rust::xxh3::xxh3_64(name.as_bytes()) });
    single.map(Form::Pages).or_else(|| numbered(name)).unwrap_or_else(other)
}

fn numbered(name: &str) -> Option<Form> {
    let (folder, file) = name.split_once('/')?;
    Some(match folder {
        "log" => Form::Frames(Place { kind: 1, number: file_number(file, "log")? }),
        "index" => Form::Pages(Place { kind: 2, number: file_number(file, "run")? }),
        "settled" => Form::Pages(Place { kind: 3, number: file_number(file, "rows")? }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{run_file, segment_file, settled_file};

    #[test]
    fn a_temporary_name_is_bound_to_what_it_will_be_and_no_two_files_to_the_same() {
        let names = [&segment_file(1), &segment_file(2), &run_file(1), &settled_file(1), &settled_file(2)];
        let mut all: Vec<Form> = names.iter().map(|name| form_of(name)).collect();
        all.extend(SINGLE.iter().map(|(name, _)| form_of(name)));
        all.extend(["MARK", "index/other", "other"].map(form_of));
        for (nth, form) in all.iter().enumerate() {
            assert!(!all[..nth].contains(form), "{form:?}");
        }
        assert_eq!(form_of("log/0000000001.log.spool"), form_of("log/0000000001.log"));
        assert_eq!(form_of("settled/MANIFEST.tmp"), form_of("settled/MANIFEST"));
        assert_eq!(form_of("MARK.tmp"), form_of("MARK"));
        for spool in ["settled/0000000001.rows.Current.spool", "index/query-3.spool", "index/0000000001.run.0.spool"] {
            assert_eq!(form_of(spool), Form::Spool);
        }
        assert_eq!(form_of("lock"), Form::Open);
    }
}
