//! Processor time of a server: of all its processes, including those that start later, and those that end without being
//! waited for. A control group counts that in nanoseconds. If none can be made, `/proc` tells most of it, and the
//! report says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::usage::{family, processor_time_of_all};

/// The directories and files of control groups that count processor time: version 1, alone or beside version 2, and
/// version 2.
const PLACES: [(&str, &str, &str); 4] = [
    ("/sys/fs/cgroup/cpuacct", "cpuacct.usage", "a control group (v1)"),
    ("/sys/fs/cgroup/cpu,cpuacct", "cpuacct.usage", "a control group (v1)"),
    ("/sys/fs/cgroup", "cpu.stat", "a control group (v2)"),
    ("/sys/fs/cgroup/unified", "cpu.stat", "a control group (v2)"),
];

/// The prefix of our groups' names. The id of the process that made one, and its number there, follow.
const NAME: &str = "recension-lab-cpu-";

/// How often it looks for processes that were started while the others entered.
const LOOKS_MAX: usize = 100;

/// Numbers groups of this process.
static MADE: AtomicU64 = AtomicU64::new(0);

/// Counts the processor time of some processes and of all that descend from them.
#[derive(Debug)]
pub struct Processor {
    ids: Vec<u32>,
    group: Result<Group, String>,
}

/// A control group of ours; it is removed when it is dropped.
#[derive(Debug)]
struct Group {
    dir: PathBuf,
    counter: PathBuf,
    how: &'static str,
}

impl Processor {
    /// Counts from now on.
    pub fn of(ids: Vec<u32>) -> Self {
        let group = Group::new().and_then(|group| group.take_in(&ids).map(|()| group));
        Processor { ids, group }
    }

    /// Their processor time so far. Only differences mean anything.
    pub fn used(&self) -> Duration {
        match &self.group {
            Ok(group) => group.used(),
            Err(_) => self.ids.iter().flat_map(|id| family(*id)).map(processor_time_of_all).sum(),
        }
    }

    /// A description of the method, for the report.
    pub fn how(&self) -> String {
        match &self.group {
            Ok(group) => format!("counted by {}: all processes, also those that ended", group.how),
            Err(why) => format!(
                "living threads in nanoseconds, ended children in hundredths of a second and only where their parents \
                 waited for them, since {why}"
            ),
        }
    }
}

impl Group {
    fn new() -> Result<Self, String> {
        let name = format!("{NAME}{}-{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        let mut tried = Vec::new();
        for (root, counter, how) in PLACES {
            // A directory that is not a control group has neither file.
            if !Path::new(root).join("cgroup.procs").exists() {
                continue;
            }
            let dir = Path::new(root).join(&name);
            let counter = dir.join(counter);
            match fs::create_dir(&dir) {
                Ok(()) if counter.exists() => return Ok(Group { dir, counter, how }),
                Ok(()) => {
                    let _ = fs::remove_dir(&dir);
                    tried.push(format!("{root} does not count processor time"));
                }
                Err(error) => tried.push(format!("{root}: {error}")),
            }
        }
        let tried = if tried.is_empty() { "there are none under /sys/fs/cgroup".to_owned() } else { tried.join("; ") };
        Err(format!("no control group could be made ({tried})"))
    }

    /// Has the processes and all that descend from them in it: looks again until nobody was started in between.
    fn take_in(&self, ids: &[u32]) -> Result<(), String> {
        let entrance = self.dir.join("cgroup.procs");
        for _ in 0..LOOKS_MAX {
            let inside = fs::read_to_string(&entrance).map_err(|error| error.to_string())?;
            let inside: Vec<u32> = inside.lines().filter_map(|id| id.parse().ok()).collect();
            let outside = ids.iter().flat_map(|id| family(*id)).filter(|id| !inside.contains(id)).collect::<Vec<_>>();
            if outside.is_empty() {
                return Ok(());
            }
            for id in outside {
                // One that has ended cannot enter, and is not looked for again.
                let entered = fs::write(&entrance, id.to_string());
                if let Err(error) = entered.or_else(|error| if alive(id) { Err(error) } else { Ok(()) }) {
                    return Err(format!("a process could not enter {}: {error}", self.dir.display()));
                }
            }
        }
        Err("processes were started faster than they could enter a control group".to_owned())
    }

    fn used(&self) -> Duration {
        let text = fs::read_to_string(&self.counter).unwrap_or_default();
        match text.trim().parse() {
            Ok(nanoseconds) => Duration::from_nanos(nanoseconds),
            // Version 2: a line a counter.
            Err(_) => Duration::from_micros(
                text.lines().find_map(|line| line.strip_prefix("usage_usec ")?.trim().parse().ok()).unwrap_or_default(),
            ),
        }
    }
}

/// Removes groups of runs that were killed.
pub fn remove_abandoned() {
    for (root, ..) in PLACES {
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let maker = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split_once('-')?.0.parse().ok());
            if maker.is_some_and(|id| !alive(id)) {
                // One that still has a process stays.
                let _ = fs::remove_dir(entry.path());
            }
        }
    }
}

/// Whether a process runs; one that has ended and is not waited for does not.
fn alive(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

impl Drop for Group {
    fn drop(&mut self) {
        // A killed process leaves the group a little later. An empty control group that is left behind costs nothing.
        for _ in 0..50 {
            match fs::remove_dir(&self.dir) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(2)); // there is nothing to wait on
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    use super::*;

    /// Counts to this many in a child of its own, as CGI programs run, and says so.
    const WORK: &str =
        "read go; (i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; echo done) & wait; read go; exit 0";

    #[test]
    fn children_that_end_and_that_nobody_waits_for_are_counted() {
        // Ignoring its children's ends, as fcgiwrap does, their times are lost to `/proc`.
        let script = format!("trap '' CHLD; {WORK}");
        let mut server =
            Command::new("sh").args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut commands, answers) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let processor = Processor::of(vec![server.id()]);
        let before = processor.used();
        commands.write_all(b"go\n").unwrap();
        let mut said = String::new();
        BufReader::new(answers).read_line(&mut said).unwrap();
        assert_eq!(said, "done\n");
        let used = processor.used().saturating_sub(before);
        match &processor.group {
            Ok(group) => {
                // No processor counts so far in less.
                assert!(used > Duration::from_millis(5), "{used:?}");
                assert!(processor.how().contains("control group"), "{}", processor.how());
                assert!(group.dir.exists());
            }
            Err(why) => assert!(processor.how().contains(why) && why.contains("control group"), "{why}"),
        }
        drop(commands);
        server.wait().unwrap();
        let dir = processor.group.as_ref().ok().map(|group| group.dir.clone());
        drop(processor);
        assert!(dir.is_none_or(|dir| !dir.exists()), "its group is removed");
    }

    #[test]
    fn groups_of_processes_that_are_gone_are_removed_and_others_stay() {
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        let Ok(own) = Group::new() else { return }; // where no group can be made there is none to remove
        let abandoned = own.dir.with_file_name(format!("{NAME}{}-0", ended.id()));
        fs::create_dir(&abandoned).unwrap();
        remove_abandoned();
        assert!(!abandoned.exists() && own.dir.exists());
    }

    #[test]
    fn where_no_group_can_be_made_children_that_were_waited_for_are_counted() {
        let mut server =
            Command::new("sh").args(["-c", WORK]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut commands, answers) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let processor = Processor { ids: vec![server.id()], group: Err("there is no control group".to_owned()) };
        let before = processor.used();
        commands.write_all(b"go\n").unwrap();
        let mut said = String::new();
        BufReader::new(answers).read_line(&mut said).unwrap();
        // The shell waits for its child as soon as the child has ended.
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        while processor.used().saturating_sub(before) < Duration::from_millis(5) {
            assert!(std::time::Instant::now() < deadline, "{:?}", processor.used());
            std::thread::yield_now();
        }
        drop(commands);
        server.wait().unwrap();
    }
}
