//! Nodes on a Galera cluster: the member that they are connected to is killed, and they go on with the next address.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use recension_engine::Engine as _;
use recension_log::{LogAddress, open_log};

use crate::history::History;
use crate::node::{REGISTERS, feed, micros};
use crate::processes::NodeProcess;
use crate::servers::{found, free_port, program};
use crate::support::{node, until};
use crate::systems::{Cluster, Member, folder_of, run};

/// What a member's log says where the system does not tell a thread's priority.
const NO_PRIORITY: &str = "Failed to read thread schedparams";
/// How long a member may take to join.
const JOINS: Duration = Duration::from_mins(2);

/// Whoever was connected to it goes on with the next address, and nothing is lost.
pub(crate) fn a_member_that_is_killed_stops_nobody(mut cluster: Cluster) {
    let folder = tempfile::tempdir().unwrap();
    let history = Arc::<Mutex<History>>::default();
    let mut nodes: Vec<_> =
        (0..3).map(|n| NodeProcess::start(format!("n{n}"), &cluster.address, folder.path(), &history)).collect();
    for node in &nodes {
        node.commits_after(0, &history);
    }
    // The first address is the one that everybody is connected to.
    let killed = micros();
    cluster.kill(0);
    let again = nodes.iter().map(|node| node.commits_after(killed, &history)).max().unwrap_or_default();
    println!(
        "galera: every node commits again {:.2} s after the member that it was connected to was killed",
        again.as_secs_f64()
    );
    std::thread::sleep(Duration::from_millis(500));
    for node in &mut nodes {
        node.tell("pause");
    }
    for node in &nodes {
        let _ = node.answer("paused");
    }
    let own = node(open_log(&LogAddress::parse(&cluster.address).unwrap()).unwrap(), &folder.path().join("own"));
    until("the log answers", || own.refresh().is_ok());
    let places: Vec<_> = nodes.iter_mut().map(|node| node.place(own.position().0.0)).collect();
    assert!(places.windows(2).all(|pair| pair[0] == pair[1]), "{places:?}");
    let order: Vec<String> = feed(&*own.snapshot().unwrap(), 0).into_values().collect();
    assert_eq!(history.lock().unwrap().problems(&order, REGISTERS), Vec::<String>::new());
    assert_eq!(own.verify().unwrap().problems, []);
}

/// Three members, of which the first makes the group.
pub(crate) fn start() -> Result<Cluster, String> {
    start_with(None).or_else(|why| {
        if !why.contains(NO_PRIORITY) {
            return Err(why);
        }
        println!("galera: this system does not tell the priority of a thread: it is told for it (schedparam.c)");
        start_with(Some(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/schedparam.c")))
    })
}

/// What is the same for every member, but for what it is called and where it listens.
fn member(folder: &Path, n: usize, ports: [u16; 4], group: &str, library: &str, server: &Path) -> Command {
    let [client, peer, increments, states] = ports;
    let place = |name: &str| folder.join(format!("{name}{n}")).display().to_string();
    let mut command = program(server, "mysql");
    command.current_dir(folder).arg("--no-defaults").arg(format!("--datadir={}", place("data")));
    command.arg(format!("--socket={}", place("s"))).arg(format!("--log-error={}", place("error")));
    command.args(["--bind-address=127.0.0.1", &format!("--port={client}"), "--max-connections=200"]);
    command.args(["--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--innodb-flush-log-at-trx-commit=1"]);
    command.args(["--wsrep-on=ON", "--wsrep-cluster-name=rounds", "--wsrep-sst-method=rsync"]);
    command.arg(format!("--wsrep-provider={library}")).arg(format!("--wsrep-node-name=m{n}"));
    command.arg(format!("--wsrep-cluster-address=gcomm://{group}"));
    command.arg(format!("--wsrep-node-address=127.0.0.1:{peer}"));
    command.arg(format!("--wsrep-sst-receive-address=127.0.0.1:{states}"));
    // A member that says nothing for two seconds is left out.
    command.arg(format!(
        "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{peer};ist.recv_addr=127.0.0.1:{increments};\
         gcache.size=32M;evs.keepalive_period=PT0.5S;evs.suspect_timeout=PT2S;evs.inactive_timeout=PT4S"
    ));
    command
}

fn start_with(priority: Option<&str>) -> Result<Cluster, String> {
    let server = found("mariadbd", &["/usr/sbin"]).ok_or("apt-get install mariadb-server")?;
    let install = found("mariadb-install-db", &["/usr/bin"]).ok_or("apt-get install mariadb-server")?;
    let libraries = ["/usr/lib/galera/libgalera_smm.so", "/usr/lib64/galera/libgalera_smm.so"];
    let library = libraries.iter().find(|file| Path::new(file).is_file()).ok_or("apt-get install galera-4")?;
    found("rsync", &["/usr/bin"]).ok_or("apt-get install rsync, with which a member gets its data")?;
    let folder = folder_of("mysql");
    let path = folder.path().to_owned();
    let preload: Option<PathBuf> = match priority {
        None => None,
        Some(source) => {
            let library = path.join("schedparam.so");
            run(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source))?;
            Some(library)
        }
    };
    // Users of loopback may do what they want on a server that lives for this test.
    let (sql, password) = (path.join("init.sql"), path.join("password"));
    let rights = "create database if not exists test;\ncreate user if not exists u@'%' identified by 'geheim';\n\
                  create user if not exists u@localhost identified by 'geheim';\n\
                  grant all on test.* to u@'%';\ngrant all on test.* to u@localhost;\n";
    std::fs::write(&sql, rights).map_err(|error| error.to_string())?;
    std::fs::write(&password, "geheim\n").map_err(|error| error.to_string())?;
    // Each has a port for clients, one for the group, one for increments and one for whole states.
    let ports: Vec<[u16; 4]> = (0..3).map(|_| [free_port(), free_port(), free_port(), free_port()]).collect();
    let group: Vec<_> = ports.iter().map(|[_, peer, ..]| format!("127.0.0.1:{peer}")).collect();
    let mut init = program(&install, "mysql");
    init.current_dir(&path).arg("--no-defaults").arg(format!("--datadir={}", path.join("data0").display()));
    run(init.args(["--auth-root-authentication-method=normal", "--skip-test-db"]))?;
    // The others get what the first has.
    for n in 1..3 {
        run(program(Path::new("/bin/mkdir"), "mysql").arg(path.join(format!("data{n}"))))?;
    }
    let mut members: Vec<_> = (0..3)
        .map(|n| {
            let mut command = member(&path, n, ports[n], &group.join(","), library, &server);
            if let Some(preload) = &preload {
                command.env("LD_PRELOAD", preload);
            }
            Member::of(command)
        })
        .collect();
    // The first makes the group; it must not do so again when it is started again.
    let mut first = member(&path, 0, ports[0], &group.join(","), library, &server);
    first.arg("--wsrep-new-cluster").arg(format!("--init-file={}", sql.display()));
    if let Some(preload) = &preload {
        first.env("LD_PRELOAD", preload);
    }
    first.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    members[0].child = Some(first.spawn().map_err(|error| error.to_string())?);
    let hosts: Vec<_> = ports.iter().map(|[client, ..]| format!("127.0.0.1:{client}")).collect();
    let address = format!("mysql://u@{}/test?log=rounds&password-file={}", hosts.join(","), password.display());
    let mut cluster = Cluster { name: "galera", address, members, _folder: folder };
    cluster.answers().map_err(|why| format!("{why}\n{}", last_words(&path, 0)))?;
    for (member, [client, ..]) in ports.iter().enumerate().skip(1) {
        joins(&mut cluster, member, *client).map_err(|why| format!("{why}\n{}", last_words(&path, member)))?;
    }
    Ok(cluster)
}

/// Starts a member and waits until it takes clients.
fn joins(cluster: &mut Cluster, member: usize, port: u16) -> Result<(), String> {
    cluster.members[member].start()?;
    let end = Instant::now() + JOINS;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = cluster.members[member].child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        if ended.is_some() || Instant::now() > end {
            return Err(format!("member {member} does not join: {ended:?}"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The end of a member's log.
fn last_words(folder: &Path, member: usize) -> String {
    let text = std::fs::read_to_string(folder.join(format!("error{member}"))).unwrap_or_default();
    let lines: Vec<_> = text.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}
