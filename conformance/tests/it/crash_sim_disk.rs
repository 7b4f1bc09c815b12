//! The simulated disk itself: that it really loses, tears and reorders what was not synced, and nothing else.

use std::collections::BTreeSet;
use std::io::{ErrorKind, IoSlice};

use recension::disk::{Disk, DiskFile};
use recension_conformance::sim::{CrashPolicy, Fault, FaultKind, OpKind, SECTOR, SimDisk};

fn write(file: &dyn DiskFile, offset: u64, bytes: &[u8]) {
    file.write_at(offset, &[IoSlice::new(bytes)]).unwrap();
}

/// A disk with a durable file `a` of four sectors of `o`.
fn disk_with_old_file() -> SimDisk {
    let disk = SimDisk::new();
    let file = disk.create("a").unwrap();
    write(&*file, 0, &[b'o'; 4 * SECTOR]);
    file.sync().unwrap();
    disk.sync_dir("").unwrap();
    disk
}

fn found(disk: &SimDisk, seed: u64, policy: CrashPolicy) -> Vec<u8> {
    disk.crash(seed, policy).content("a").unwrap()
}

#[test]
fn what_was_synced_survives_every_crash() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    write(&*file, 700, b"new");
    file.sync().unwrap();
    let live = disk.content("a").unwrap();
    for policy in CrashPolicy::ALL {
        for seed in 0..20 {
            assert_eq!(found(&disk, seed, policy), live, "{policy:?}, seed {seed}");
        }
    }
}

#[test]
fn unsynced_writes_are_lost_under_drop_all_and_kept_under_keep_all() {
    let disk = disk_with_old_file();
    write(&*disk.open("a").unwrap(), 0, &[b'n'; SECTOR]);
    assert_eq!(disk.content("a").unwrap()[0], b'n', "the process itself sees its write");
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll), [b'o'; 4 * SECTOR]);
    assert_eq!(found(&disk, 0, CrashPolicy::KeepAll), disk.content("a").unwrap());
}

#[test]
fn unsynced_sectors_are_kept_dropped_and_torn_in_every_combination() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    write(&*file, 0, &[b'1'; 2 * SECTOR]);
    write(&*file, 2 * SECTOR as u64, &[b'2'; 2 * SECTOR]);
    let mut seen = BTreeSet::new();
    for seed in 0..500 {
        let bytes = found(&disk, seed, CrashPolicy::Random);
        let fate = |sector: &[u8]| match sector.iter().filter(|&&byte| byte != b'o').count() {
            0 => 'd',
            SECTOR => 'k',
            new => {
                assert!(sector[new..].iter().all(|&byte| byte == b'o'), "a tear is a prefix of the new over the old");
                't'
            }
        };
        seen.insert(bytes.chunks(SECTOR).map(fate).collect::<String>());
    }
    for wanted in ["dddd", "kkkk", "ddkk", "dkdk", "dddk"] {
        assert!(seen.contains(wanted), "{wanted} never happened");
    }
    assert!(seen.iter().any(|fates| fates.contains('t')), "nothing was ever torn");
}

#[test]
fn a_later_write_may_be_kept_while_an_earlier_one_is_lost() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    write(&*file, 0, b"first");
    write(&*file, SECTOR as u64, b"second");
    let only_last = found(&disk, 0, CrashPolicy::KeepOnlyLast);
    assert_eq!((only_last[0], only_last[SECTOR]), (b'o', b's'));
    let without_first = found(&disk, 0, CrashPolicy::DropOnlyFirst);
    assert_eq!((without_first[0], without_first[SECTOR]), (b'o', b's'));
}

#[test]
fn a_size_may_be_lost_with_or_without_its_bytes() {
    let disk = disk_with_old_file();
    write(&*disk.open("a").unwrap(), 4 * SECTOR as u64, &[b'n'; SECTOR]);
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let bytes = found(&disk, seed, CrashPolicy::Random);
        seen.insert((bytes.len() / SECTOR, bytes.last().copied().unwrap()));
    }
    for wanted in [(4, b'o'), (5, 0), (5, b'n')] {
        assert!(seen.contains(&wanted), "{wanted:?} never happened: {seen:?}");
    }
}

#[test]
fn a_cut_file_may_have_its_old_bytes_again() {
    let disk = disk_with_old_file();
    disk.open("a").unwrap().set_len(10).unwrap();
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll).len(), 4 * SECTOR);
    assert_eq!(found(&disk, 0, CrashPolicy::KeepAll).len(), 10);
    disk.open("a").unwrap().allocate(SECTOR as u64).unwrap();
    assert_eq!(disk.content("a").unwrap()[10..], [0; SECTOR - 10], "what was cut off does not come back");
}

#[test]
fn a_synced_file_whose_name_was_not_synced_may_vanish() {
    let disk = SimDisk::new();
    disk.create_dir("log").unwrap();
    let file = disk.create("log/1").unwrap();
    write(&*file, 0, b"bytes");
    file.sync().unwrap();
    assert!(disk.crash(0, CrashPolicy::DropAll).files().is_empty());
    disk.sync_dir("").unwrap();
    assert!(disk.crash(0, CrashPolicy::DropAll).files().is_empty(), "another directory's sync is no help");
    disk.sync_dir("log").unwrap();
    assert_eq!(disk.crash(0, CrashPolicy::DropAll).content("log/1").unwrap(), b"bytes");
}

#[test]
fn a_rename_may_overtake_the_bytes_of_its_file() {
    let disk = disk_with_old_file();
    let new = disk.create("a.new").unwrap();
    write(&*new, 0, b"new");
    disk.rename("a.new", "a").unwrap();
    disk.sync_dir("").unwrap();
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll), b"", "the file was never synced");
    assert_eq!(found(&disk, 0, CrashPolicy::NamesWithoutData), [0; 3]);
}

#[test]
fn unsynced_names_are_kept_and_lost_each_on_its_own() {
    let disk = disk_with_old_file();
    disk.create("b").unwrap();
    disk.rename("a", "c").unwrap();
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let names: String = disk.crash(seed, CrashPolicy::Random).files().into_iter().map(|(name, _)| name).collect();
        seen.insert(names);
    }
    assert_eq!(seen, ["a", "ab", "abc", "ac", "bc", "c"].map(str::to_owned).into());
}

#[test]
fn a_removed_file_may_come_back_until_its_directory_is_synced() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    disk.remove("a").unwrap();
    assert_eq!(disk.open("a").err().unwrap().kind(), ErrorKind::NotFound);
    let mut byte = [0];
    file.read_at(0, &mut byte).unwrap();
    assert_eq!(byte, *b"o", "who has it open goes on reading it");
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll).len(), 4 * SECTOR);
    disk.sync_dir("").unwrap();
    assert!(disk.crash(0, CrashPolicy::DropAll).files().is_empty());
}

#[test]
fn a_process_crash_loses_nothing_and_syncs_nothing() {
    let disk = disk_with_old_file();
    write(&*disk.open("a").unwrap(), 0, b"new");
    let next = disk.process_crash();
    assert_eq!(next.content("a"), disk.content("a"));
    assert_eq!(found(&next, 0, CrashPolicy::DropAll), [b'o'; 4 * SECTOR]);
}

#[test]
fn a_failed_sync_gives_its_bytes_up_and_a_later_one_answers_ok_all_the_same() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    write(&*file, 0, b"lost");
    disk.fail(Fault::nth_of(1, OpKind::Sync, FaultKind::Eio));
    assert!(file.sync().is_err());
    file.sync().unwrap();
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll)[..4], *b"oooo");
    // Written again, it is dirty again, and the next sync is an honest one.
    write(&*file, 0, b"l");
    file.sync().unwrap();
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll)[..4], *b"lost");
}

#[test]
fn the_nth_call_fails_as_asked() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    disk.fail(Fault::nth_of(2, OpKind::Write, FaultKind::ShortWrite));
    write(&*file, 0, b"0123456789");
    let error = file.write_at(0, &[IoSlice::new(b"abcdefghij")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(disk.content("a").unwrap()[..10], *b"abcdef6789", "a prefix was written");
    write(&*file, 0, b"whole");

    disk.fail(Fault::nth(1, FaultKind::EioButDone));
    assert!(disk.rename("a", "b").is_err());
    assert!(disk.open("b").is_ok(), "it was done all the same");

    disk.fail(Fault { lasting: true, ..Fault::nth(1, FaultKind::NoSpace) });
    assert!(disk.create("c").is_err() && disk.create("c").is_err());
    assert!(file.sync().is_ok(), "a full disk still syncs");
    disk.heal();
    assert!(disk.create("c").is_ok());
}

#[test]
fn a_full_disk_refuses_growth_and_takes_writes_within_what_is_reserved() {
    let disk = disk_with_old_file();
    disk.set_capacity(5 * SECTOR as u64);
    let file = disk.open("a").unwrap();
    file.allocate(5 * SECTOR as u64).unwrap();
    assert_eq!(file.allocate(6 * SECTOR as u64).unwrap_err().kind(), ErrorKind::StorageFull);
    write(&*file, 4 * SECTOR as u64, &[1; SECTOR]);
    assert!(file.write_at(5 * SECTOR as u64, &[IoSlice::new(b"x")]).is_err());
}

#[test]
fn a_lock_is_exclusive_and_ends_with_its_holder_or_a_crash() {
    let disk = SimDisk::new();
    let first = disk.lock("LOCK").unwrap();
    assert!(first.is_ok());
    assert!(disk.lock("LOCK").unwrap().is_err());
    assert!(disk.crash(0, CrashPolicy::KeepAll).lock("LOCK").unwrap().is_ok());
    assert!(disk.process_crash().lock("LOCK").unwrap().is_ok());
    drop(first);
    assert!(disk.lock("LOCK").unwrap().is_ok());
    // A lock that fails although it was taken is released again.
    disk.fail(Fault::nth(1, FaultKind::EioButDone));
    assert!(disk.lock("LOCK").is_err());
    assert!(disk.lock("LOCK").unwrap().is_ok());
}

#[test]
fn a_moment_is_kept_for_every_call_that_changes_the_disk() {
    let disk = SimDisk::new();
    disk.record();
    let file = disk.create("a").unwrap();
    write(&*file, 0, b"1");
    _ = file.len().unwrap();
    file.sync().unwrap();
    write(&*file, 0, b"2");
    disk.sync_dir("").unwrap();
    let moments = disk.take_moments();
    let contents: Vec<_> = moments
        .iter()
        .map(|moment| {
            let kept = moment.process_crash().content("a").unwrap();
            (moment.call.kind, kept, moment.crash(0, CrashPolicy::DropAll).content("a"))
        })
        .collect();
    let expected = [
        (OpKind::Create, &b""[..], None),
        (OpKind::Write, b"1", None),
        (OpKind::Sync, b"1", None),
        (OpKind::Write, b"2", None),
        (OpKind::SyncDir, b"2", Some(b"1".to_vec())),
    ];
    assert_eq!(contents, expected.map(|(kind, live, durable)| (kind, live.to_vec(), durable)));
}

#[test]
fn one_seed_gives_one_crash() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    for sector in 0..4 {
        write(&*file, sector * SECTOR as u64, &[b'n'; SECTOR]);
    }
    let outcomes: BTreeSet<_> = (0..50).map(|seed| found(&disk, seed, CrashPolicy::Random)).collect();
    assert!(outcomes.len() > 20, "{} outcomes of 50 seeds", outcomes.len());
    for seed in 0..50 {
        assert_eq!(found(&disk, seed, CrashPolicy::Random), found(&disk, seed, CrashPolicy::Random));
    }
}

#[test]
fn a_mapped_read_behind_a_shortened_file_is_noted_as_a_violation() {
    let disk = disk_with_old_file();
    let file = disk.open("a").unwrap();
    let map = file.map(4 * SECTOR as u64).unwrap();
    assert_eq!(map.read(1, 2).unwrap()[..], *b"oo");
    assert!(map.read(4 * SECTOR as u64 - 1, 2).is_none());
    assert!(disk.violations().is_empty());
    write(&*file, 1, b"new");
    assert_eq!(map.read(1, 3).unwrap()[..], *b"new", "bytes written later show");
    file.set_len(SECTOR as u64).unwrap();
    assert!(map.read(2 * SECTOR as u64, 1).is_none());
    assert_eq!(disk.violations().len(), 1);
}

#[test]
fn damage_at_rest_survives_every_crash() {
    let disk = disk_with_old_file();
    assert!(disk.flip("a", 3, 0x01));
    assert!(!disk.flip("a", 1 << 30, 0x01));
    disk.overwrite("a", 4 * SECTOR as u64, b"tail");
    let expected = disk.content("a").unwrap();
    assert_eq!((expected[3], &expected[4 * SECTOR..]), (b'o' ^ 1, &b"tail"[..]));
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll), expected);
    disk.cut("a", 5);
    assert_eq!(found(&disk, 0, CrashPolicy::DropAll).len(), 5);
    disk.lose("a");
    assert!(disk.crash(0, CrashPolicy::DropAll).files().is_empty());
    disk.put("dir/a", b"whole");
    assert_eq!(disk.crash(0, CrashPolicy::DropAll).content("dir/a").unwrap(), b"whole");
}
