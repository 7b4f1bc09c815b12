//! Systems that logs live on, whose servers can be killed, stopped for a while and started again where they were.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use recension_log::{LogAddress, open_log};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::servers::{found, free_port, give, program};

/// Starts one, or says what is missing.
pub(crate) type Start = fn() -> Result<Cluster, String>;

/// A server's processes, each of which starts from its command.
pub(crate) struct Cluster {
    pub(crate) name: &'static str,
    /// The address of a log; its servers are on 127.0.0.1.
    pub(crate) address: String,
    pub(crate) members: Vec<Member>,
    pub(crate) _folder: TempDir,
}

pub(crate) struct Member {
    pub(crate) command: Command,
    pub(crate) child: Option<Child>,
}

impl Member {
    pub(crate) fn of(mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Member { command, child: None }
    }

    pub(crate) fn start(&mut self) -> Result<(), String> {
        let child = self.command.spawn().map_err(|error| format!("{:?}: {error}", self.command))?;
        self.child = Some(child);
        Ok(())
    }

    fn id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for member in 0..self.members.len() {
            self.go_on(member);
            self.kill(member);
        }
    }
}

/// A process and those that it started.
fn family(process: u32) -> Vec<u32> {
    let mut all = vec![process];
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for id in folders.filter_map(|folder| folder.file_name().to_str()?.parse::<u32>().ok()) {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // What follows the name, which may have anything in it: the state and the parent.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        if parent.and_then(|parent| parent.parse().ok()) == Some(process) {
            all.push(id);
        }
    }
    all
}

fn signal(processes: &[u32], signal: Signal) {
    for process in processes {
        if let Some(pid) = Pid::from_raw(process.cast_signed()) {
            let _ = kill_process(pid, signal);
        }
    }
}

impl Cluster {
    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    /// Ends a member's processes as a loss of power would, but for what the kernel still holds.
    pub(crate) fn kill(&mut self, member: usize) {
        if let Some(mut child) = self.members[member].child.take() {
            signal(&family(child.id()), Signal::KILL);
            let _ = child.wait();
        }
    }

    pub(crate) fn stop(&self, member: usize) {
        if let Some(id) = self.members[member].id() {
            signal(&family(id), Signal::STOP);
        }
    }

    pub(crate) fn go_on(&self, member: usize) {
        if let Some(id) = self.members[member].id() {
            signal(&family(id), Signal::CONT);
        }
    }

    /// Starts a member again, until it runs: a server may wait for what was left of it.
    pub(crate) fn start(&mut self, member: usize) {
        let end = Instant::now() + Duration::from_mins(1);
        self.members[member].start().unwrap();
        while self.members[member].child.as_mut().unwrap().try_wait().unwrap().is_some() {
            assert!(Instant::now() < end, "{}: member {member} does not start again", self.name);
            std::thread::sleep(Duration::from_millis(50));
            self.members[member].start().unwrap();
        }
    }

    /// Waits until it takes a log.
    pub(crate) fn answers(&mut self) -> Result<(), String> {
        let address = LogAddress::parse(&self.address).unwrap();
        let end = Instant::now() + Duration::from_mins(1);
        loop {
            match open_log(&address) {
                Ok(_) => return Ok(()),
                Err(error) if Instant::now() > end => return Err(error.to_string()),
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
            for member in &mut self.members {
                if let Some(status) = member.child.as_mut().and_then(|child| child.try_wait().ok().flatten()) {
                    return Err(format!("{:?} ended: {status}", member.command));
                }
            }
        }
    }
}

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let made = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let said = || format!("{}{}", String::from_utf8_lossy(&made.stdout), String::from_utf8_lossy(&made.stderr));
    if made.status.success() { Ok(()) } else { Err(format!("{command:?}: {}", said())) }
}

/// A folder that a server's user can enter.
pub(crate) fn folder_of(user: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    give(folder.path(), user);
    folder
}

pub(crate) fn postgres() -> Result<Cluster, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").map_err(|_| "apt-get install postgresql".to_owned())?;
    let mut programs: Vec<PathBuf> = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    programs.sort();
    let programs = programs.pop().ok_or("apt-get install postgresql")?;
    let folder = folder_of("postgres");
    let data = folder.path().join("data");
    let mut init = program(&programs.join("initdb"), "postgres");
    init.current_dir(folder.path()).args(["--auth=trust", "--username=test", "--encoding=UTF8", "--no-locale", "-D"]);
    run(init.arg(&data))?;
    let port = free_port();
    let mut server = program(&programs.join("postgres"), "postgres");
    server.current_dir(folder.path()).arg("-D").arg(&data).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    server.args(["-c", "unix_socket_directories=", "-c", "max_connections=200"]);
    let address = format!("postgres://test@127.0.0.1:{port}/postgres?log=rounds");
    started("postgresql", address, vec![Member::of(server)], folder)
}

pub(crate) fn etcd() -> Result<Cluster, String> {
    let file = found("etcd", &["/usr/bin"]).ok_or("apt-get install etcd-server")?;
    let folder = folder_of("daemon");
    let ports: Vec<(u16, u16)> = (0..3).map(|_| (free_port(), free_port())).collect();
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let cluster: Vec<_> = ports.iter().enumerate().map(|(n, (_, peer))| format!("m{n}={}", url(*peer))).collect();
    let member = |n: usize, (client, peer): (u16, u16)| {
        let mut command = program(&file, "daemon");
        let settings = [
            ("--name", format!("m{n}")),
            ("--data-dir", folder.path().join(n.to_string()).display().to_string()),
            ("--listen-client-urls", url(client)),
            ("--advertise-client-urls", url(client)),
            ("--listen-peer-urls", url(peer)),
            ("--initial-advertise-peer-urls", url(peer)),
            ("--initial-cluster", cluster.join(",")),
            ("--logger", "zap".to_owned()),
            ("--log-level", "error".to_owned()),
        ];
        command.current_dir(folder.path()).args(settings.iter().flat_map(|(name, value)| [*name, value.as_str()]));
        Member::of(command)
    };
    let members = ports.iter().enumerate().map(|(n, ports)| member(n, *ports)).collect();
    let hosts: Vec<_> = ports.iter().map(|(client, _)| format!("127.0.0.1:{client}")).collect();
    started("etcd", format!("etcd://{}/rounds", hosts.join(",")), members, folder)
}

fn started(name: &'static str, address: String, members: Vec<Member>, folder: TempDir) -> Result<Cluster, String> {
    let mut cluster = Cluster { name, address, members, _folder: folder };
    for member in &mut cluster.members {
        member.start()?;
    }
    cluster.answers()?;
    Ok(cluster)
}
