//! The systems that logs are tried on. Servers are started by the main thread, on free ports of loopback with data of
//! their own, and killed when [`Running`] is dropped, or when this process ends.

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use recension_log::{FolderLog, LogAddress, MemoryLog, open_log};
use tempfile::TempDir;

use crate::support::{AddressOf, System};

/// Servers that run; dropping it ends them.
#[derive(Default)]
pub(crate) struct Running {
    children: Vec<Child>,
    folders: Vec<TempDir>,
}

impl Drop for Running {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

type Start = fn(&mut Running) -> Result<System, String>;

/// A system that cannot be tried, and what to do about it.
pub(crate) struct Missing {
    pub(crate) system: &'static str,
    pub(crate) why: String,
}

/// The systems that are servers, and how each is started.
const STARTS: [(&str, Start); 5] =
    [("postgresql", postgres), ("mysql", mysql), ("etcd", etcd), ("s3", s3), ("mongodb", mongodb)];

/// The names of all systems.
#[allow(dead_code, reason = "the example uses it")]
pub(crate) const NAMES: [&str; 7] = ["memory", "folder", "postgresql", "mysql", "etcd", "s3", "mongodb"];

/// Every system that is wanted, or why it is not there.
pub(crate) fn start(wanted: &dyn Fn(&str) -> bool) -> (Vec<Result<System, Missing>>, Running) {
    let mut running = Running::default();
    let mut systems = Vec::new();
    if wanted("memory") {
        systems.push(Ok(memory()));
    }
    if wanted("folder") {
        systems.push(Ok(folder(&mut running)));
    }
    for (system, start) in STARTS {
        if wanted(system) {
            systems.push(start(&mut running).map_err(|why| Missing { system, why }));
        }
    }
    (systems, running)
}

fn memory() -> System {
    let logs: std::sync::Mutex<std::collections::HashMap<String, MemoryLog>> = std::sync::Mutex::default();
    let open = move |name: &str| -> Arc<dyn recension_log::SharedLog> {
        Arc::new(logs.lock().unwrap().entry(name.to_owned()).or_default().clone())
    };
    System {
        name: "memory",
        open: Box::new(open),
        address: None,
        members: Vec::new(),
        certificate: None,
        tls_address: None,
        race: 10_000,
        with_contract: false,
    }
}

fn folder(running: &mut Running) -> System {
    let root = running.folder();
    let open =
        move |name: &str| -> Arc<dyn recension_log::SharedLog> { Arc::new(FolderLog::open(&root.join(name)).unwrap()) };
    System {
        name: "folder",
        open: Box::new(open),
        address: None,
        members: Vec::new(),
        certificate: None,
        tls_address: None,
        race: 300,
        with_contract: false,
    }
}

impl Running {
    fn folder(&mut self) -> PathBuf {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        self.folders.push(folder);
        path
    }

    /// Starts a program that ends with this process, and waits until it answers at `port`.
    fn start(&mut self, command: &mut Command, port: u16) -> Result<(), String> {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.children.push(child.map_err(|error| format!("{command:?}: {error}"))?);
        let end = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let child = self.children.last_mut().unwrap();
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!("{command:?} ended: {status}"));
            }
            if Instant::now() > end {
                return Err(format!("{command:?} does not listen at port {port}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }
}

/// A port that nobody listens at.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A program that ends with this process and, if we are root, runs as another user.
pub(crate) fn program(path: &Path, user: &str) -> Command {
    let mut command = Command::new("setpriv");
    if rustix::process::geteuid().is_root() {
        command.args([&format!("--reuid={user}"), &format!("--regid={user}"), "--clear-groups"]);
    }
    command.args(["--pdeathsig", "KILL", "--"]).arg(path);
    command
}

pub(crate) fn give(folder: &Path, user: &str) {
    if rustix::process::geteuid().is_root() {
        let _ = Command::new("chown").arg(user).arg(folder).status();
    }
}

/// A program where Debian puts it, or in the path.
pub(crate) fn found(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = folders.iter().map(PathBuf::from).chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(name)).find(|program| program.is_file())
}

fn by_address(name: &'static str, race: u64, address: impl Fn(&str) -> String + Send + Sync + 'static) -> System {
    let address: AddressOf = Arc::new(address);
    let of = address.clone();
    let open = move |log: &str| {
        let address = LogAddress::parse(&of(log)).unwrap();
        open_log(&address).unwrap_or_else(|error| panic!("{address}: {error}"))
    };
    System {
        name,
        open: Box::new(open),
        address: Some(address),
        members: Vec::new(),
        certificate: None,
        tls_address: None,
        race,
        with_contract: true,
    }
}

/// A system that speaks with TLS and without at one port.
fn both_ways(name: &'static str, race: u64, address: impl Fn(&str) -> String + Send + Sync + 'static) -> System {
    let system = by_address(name, race, address);
    System { tls_address: system.address.clone(), ..system }
}

fn postgres(running: &mut Running) -> Result<System, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .map_err(|_| "its server is missing: apt-get install postgresql".to_owned())?;
    let mut programs: Vec<_> = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin"))).collect();
    programs.sort();
    let programs = programs.pop().ok_or("its server is missing: apt-get install postgresql")?;
    let folder = running.folder();
    give(&folder, "postgres");
    let data = folder.join("data");
    let mut init = program(&programs.join("initdb"), "postgres");
    let password = password_file(&folder);
    init.current_dir(&folder).arg(format!("--pwfile={password}")).args([
        "--auth=scram-sha-256",
        "--username=test",
        "--encoding=UTF8",
        "--no-locale",
        "--no-sync",
        "-D",
    ]);
    let made = init.arg(&data).output().map_err(|error| error.to_string())?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    let port = free_port();
    let mut server = program(&programs.join("postgres"), "postgres");
    server.current_dir(&folder).arg("-D").arg(&data).args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    server.args(["-c", "unix_socket_directories=", "-c", "max_connections=400"]);
    let certificate = certificate(&folder)?;
    give(&folder.join("key.pem"), "postgres");
    server.args(["-c", "ssl=on", "-c", &format!("ssl_cert_file={certificate}")]);
    server.args(["-c", &format!("ssl_key_file={}", folder.join("key.pem").display())]);
    running.start(&mut server, port)?;
    let address =
        move |log: &str| format!("postgres://test@127.0.0.1:{port}/postgres?log={log}&password-file={password}");
    answering(&address)?;
    Ok(System { certificate: Some(certificate), ..both_ways("postgresql", 1000, address) })
}

fn mysql(running: &mut Running) -> Result<System, String> {
    let server = found("mariadbd", &["/usr/sbin"]).ok_or("its server is missing: apt-get install mariadb-server")?;
    let install =
        found("mariadb-install-db", &["/usr/bin"]).ok_or("its server is missing: apt-get install mariadb-server")?;
    let folder = running.folder();
    give(&folder, "mysql");
    let (data, port) = (folder.join("data"), free_port());
    let mut init = program(&install, "mysql");
    init.current_dir(&folder).arg("--no-defaults").arg(format!("--datadir={}", data.display()));
    init.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
    let made = init.output().map_err(|error| error.to_string())?;
    if !made.status.success() {
        return Err(String::from_utf8_lossy(&made.stderr).into_owned());
    }
    // Users of the network may do what they want on a server of loopback that lives for this test.
    let sql = folder.join("init.sql");
    std::fs::write(
        &sql,
        "create database test;\ncreate user u@'%' identified by 'geheim';\ncreate user u@localhost identified by \
            'geheim';\n\
               grant all on test.* to u@'%';\ngrant all on test.* to u@localhost;\n\
               create user boss@'%' identified by 'geheim';\n\
               grant all on *.* to boss@'%' with grant option;\n\
               grant all on `p\\_%`.* to u@'%';\ngrant all on `p\\_%`.* to u@localhost;\n",
    )
    .unwrap();
    let mut command = program(&server, "mysql");
    command.current_dir(&folder).arg("--no-defaults").arg(format!("--datadir={}", data.display()));
    command.arg(format!("--init-file={}", sql.display())).arg(format!("--socket={}", folder.join("s").display()));
    let password = password_file(&folder);
    let certificate = certificate(&folder)?;
    give(&folder.join("key.pem"), "mysql");
    command.arg(format!("--ssl-cert={certificate}")).arg(format!("--ssl-key={}", folder.join("key.pem").display()));
    command.args(["--bind-address=127.0.0.1", &format!("--port={port}"), "--max-connections=400"]);
    running.start(&mut command, port)?;
    let address = move |log: &str| format!("mysql://u@127.0.0.1:{port}/test?log={log}&password-file={password}");
    answering(&address)?;
    Ok(System { certificate: Some(certificate), ..both_ways("mysql", 600, address) })
}

fn etcd(running: &mut Running) -> Result<System, String> {
    let program_file = found("etcd", &["/usr/bin"]).ok_or("its server is missing: apt-get install etcd-server")?;
    // Three members, each with a port for clients and one for the others.
    let ports: Vec<(u16, u16)> = (0..3).map(|_| (free_port(), free_port())).collect();
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    let cluster: Vec<_> = ports.iter().enumerate().map(|(n, (_, peer))| format!("m{n}={}", url(*peer))).collect();
    let mut members = Vec::new();
    for (n, (client, peer)) in ports.iter().enumerate() {
        let folder = running.folder();
        let mut command = program(&program_file, "daemon");
        give(&folder, "daemon");
        let settings = [
            ("--name", format!("m{n}")),
            ("--data-dir", folder.join("data").display().to_string()),
            ("--listen-client-urls", url(*client)),
            ("--advertise-client-urls", url(*client)),
            ("--listen-peer-urls", url(*peer)),
            ("--initial-advertise-peer-urls", url(*peer)),
            ("--initial-cluster", cluster.join(",")),
            ("--logger", "zap".to_owned()),
            ("--log-level", "error".to_owned()),
        ];
        command.current_dir(&folder).args(settings.iter().flat_map(|(name, value)| [*name, value.as_str()]));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        running.children.push(command.spawn().map_err(|error| error.to_string())?);
        members.push(format!("127.0.0.1:{client}"));
    }
    let members = members.join(",");
    let address = move |log: &str| format!("etcd://{members}/{log}");
    answering(&address)?;
    let pids = running.children.iter().rev().take(3).map(Child::id).collect();
    let (tls_address, certificate) = etcd_with_tls(running, &program_file)?;
    let system = by_address("etcd", 300, address);
    Ok(System { members: pids, tls_address: Some(tls_address), certificate: Some(certificate), ..system })
}

/// One member that speaks TLS.
fn etcd_with_tls(running: &mut Running, program_file: &Path) -> Result<(AddressOf, String), String> {
    let (client, peer) = (free_port(), free_port());
    let folder = running.folder();
    let certificate = certificate(&folder)?;
    let key = folder.join("key.pem");
    give(&folder, "daemon");
    give(&key, "daemon");
    let (clients, peers) = (format!("https://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    let settings = [
        ("--name", "alone".to_owned()),
        ("--data-dir", folder.join("data").display().to_string()),
        ("--listen-client-urls", clients.clone()),
        ("--advertise-client-urls", clients),
        ("--cert-file", certificate.clone()),
        ("--key-file", key.display().to_string()),
        ("--listen-peer-urls", peers.clone()),
        ("--initial-advertise-peer-urls", peers.clone()),
        ("--initial-cluster", format!("alone={peers}")),
        ("--logger", "zap".to_owned()),
        ("--log-level", "error".to_owned()),
    ];
    let mut command = program(program_file, "daemon");
    command.current_dir(&folder).args(settings.iter().flat_map(|(name, value)| [*name, value.as_str()]));
    running.start(&mut command, client)?;
    let ca = certificate.clone();
    answering(&move |log: &str| format!("etcd://127.0.0.1:{client}/{log}?ca={ca}"))?;
    Ok((Arc::new(move |log: &str| format!("etcd://127.0.0.1:{client}/{log}?tls=on")), certificate))
}

fn s3(running: &mut Running) -> Result<System, String> {
    let why = "its server is missing: apt-get install python3-venv, and run scripts/log-systems, which installs moto";
    let moto = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/moto");
    let python = Path::new(moto).join(".venv/bin/python3");
    if !python.exists() {
        return Err(why.to_owned());
    }
    let serve = |port: u16| {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&python).arg(Path::new(moto).join("serve.py"));
        command.arg(port.to_string());
        command
    };
    let port = free_port();
    running.start(&mut serve(port), port)?;
    let (tls_port, folder) = (free_port(), running.folder());
    let certificate = certificate(&folder)?;
    running.start(serve(tls_port).args([Path::new(&certificate), &folder.join("key.pem")]), tls_port)?;
    let secret = running.folder().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    let secret = secret.display().to_string();
    let of = |endpoint: String, secret: String| {
        move |log: &str| format!("s3://key@recension-test/{log}?endpoint={endpoint}&password-file={secret}")
    };
    let address = of(format!("http://127.0.0.1:{port}"), secret.clone());
    let tls_address: AddressOf = Arc::new(of(format!("https://127.0.0.1:{tls_port}"), secret));
    answering(&address)?;
    let system = by_address("s3", 60, address);
    Ok(System { tls_address: Some(tls_address), certificate: Some(certificate), ..system })
}

/// The Go program in tests/ferretdb, which speaks like `MongoDB`.
fn mongodb(running: &mut Running) -> Result<System, String> {
    let named = found("ferretdb", &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ferretdb")]);
    let why = "its server is missing: apt-get install golang-go, and run scripts/log-systems, which builds it";
    let program_file = named.ok_or(why)?;
    let port = free_port();
    let folder = running.folder();
    let mut command = Command::new("setpriv");
    let tls_port = free_port();
    let certificate = certificate(&folder)?;
    let data = folder.join("data");
    std::fs::create_dir(&data).map_err(|error| error.to_string())?;
    command.args(["--pdeathsig", "KILL", "--"]).arg(program_file).arg(format!("127.0.0.1:{port}")).arg(&data);
    command.arg(format!("127.0.0.1:{tls_port}")).arg(&certificate).arg(folder.join("key.pem"));
    running.start(&mut command, port)?;
    let at = |port: u16| move |log: &str| format!("mongodb://127.0.0.1:{port}/test?log={log}");
    answering(&at(port))?;
    let tls_address: AddressOf = Arc::new(move |log: &str| format!("{}&tls=on", at(tls_port)(log)));
    let system = by_address("mongodb", 60, at(port));
    Ok(System { tls_address: Some(tls_address), certificate: Some(certificate), ..system })
}

/// A file with the password of the tests.
fn password_file(folder: &Path) -> String {
    let file = folder.join("password");
    std::fs::write(&file, "geheim\n").unwrap();
    file.display().to_string()
}

/// A certificate of loopback for a server; its key lies beside it.
fn certificate(folder: &Path) -> Result<String, String> {
    let (key, file) = (folder.join("key.pem"), folder.join("certificate.pem"));
    let mut make = Command::new("openssl");
    make.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3"]);
    make.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]);
    make.args(["-addext", "basicConstraints=critical,CA:FALSE", "-keyout"]).arg(&key).arg("-out").arg(&file);
    match make.output() {
        Ok(made) if made.status.success() => Ok(file.display().to_string()),
        Ok(made) => Err(String::from_utf8_lossy(&made.stderr).into_owned()),
        Err(error) => Err(format!("openssl: {error}")),
    }
}

/// Waits until a system takes a log.
fn answering(address: &dyn Fn(&str) -> String) -> Result<(), String> {
    let address = LogAddress::parse(&address("first")).unwrap();
    let end = Instant::now() + Duration::from_mins(1);
    loop {
        match open_log(&address) {
            Ok(_) => return Ok(()),
            Err(error) if Instant::now() > end => return Err(error.to_string()),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}
