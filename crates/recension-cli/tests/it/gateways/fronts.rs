//! Web servers with their configuration in a folder of their own, and the gateways behind them.

use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How a web server hands requests on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    FastCgi,
    Scgi,
    Cgi,
}

/// A web server.
pub(super) struct Front {
    pub(super) address: SocketAddr,
    process: Child,
    dir: PathBuf,
    _place: tempfile::TempDir,
}

/// A gateway that listens.
pub(super) struct Gateway {
    process: Option<Child>,
    way: Way,
    listen: String,
    store: PathBuf,
}

const BIN: &str = env!("CARGO_BIN_EXE_recension");

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A folder that web servers under another name can use.
fn place() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    open(place.path());
    place
}

fn open(path: &Path) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}

impl Gateway {
    fn start(way: Way, listen: String, store: PathBuf) -> Self {
        Gateway { process: None, way, listen, store }.started()
    }

    pub(super) fn started(mut self) -> Self {
        let command = if self.way == Way::FastCgi { "fcgi" } else { "scgi" };
        let mut process = Command::new(BIN)
            .args([command, "--listen", &self.listen, "--log", "warn"])
            .arg(&self.store)
            .args(if self.listen.starts_with("unix:") { &["--socket-mode", "666"][..] } else { &[] })
            .env("RECENSION_ADMIN", "adm:pass")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), format!("listening on {}", self.listen));
        self.process = Some(process);
        self
    }

    /// Kills it, as a lack of memory would.
    pub(super) fn killed(mut self) -> Self {
        self.end();
        self
    }

    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.end();
    }
}

impl Front {
    /// nginx, with connections to the gateway that are kept.
    pub(super) fn nginx(way: Way) -> (Self, Gateway) {
        let place = place();
        let dir = place.path().to_owned();
        let (address, at) = (free_address(), dir.display().to_string());
        let listen = format!("unix:{at}/gateway.sock");
        let gateway = Gateway::start(way, listen.clone(), dir.join("store"));
        let word = if way == Way::FastCgi { "fastcgi" } else { "scgi" };
        let kept = if way == Way::FastCgi { "keepalive 8;" } else { "" };
        let keep_conn = if way == Way::FastCgi { "fastcgi_keep_conn on;" } else { "" };
        let config = format!(
            "daemon off; pid {at}/pid; error_log {at}/log; user root; worker_processes 1;\n\
             events {{ worker_connections 512; }}\n\
             http {{ access_log off; client_body_temp_path {at}/body;\n\
             proxy_temp_path {at}/p; fastcgi_temp_path {at}/f;\n\
             uwsgi_temp_path {at}/u; scgi_temp_path {at}/s; client_max_body_size 100m;\n\
             upstream gateway {{ server {listen} max_fails=0; {kept} }}\n\
             server {{ listen {address}; server_name front.example; location / {{\n\
             include /etc/nginx/{word}_params; {word}_pass gateway; {keep_conn} {word}_buffering off;\n\
             {word}_read_timeout 60s; {word}_param HTTP_AUTHORIZATION $http_authorization; }} }} }}\n"
        );
        (Self::start("nginx", &["-p", &at, "-c"], &config, address, place), gateway)
    }

    /// lighttpd.
    pub(super) fn lighttpd(way: Way) -> (Self, Gateway) {
        let place = place();
        let dir = place.path().to_owned();
        let (address, at) = (free_address(), dir.display().to_string());
        let listen = format!("unix:{at}/gateway.sock");
        let gateway = Gateway::start(way, listen, dir.join("store"));
        let word = if way == Way::FastCgi { "fastcgi" } else { "scgi" };
        let config = format!(
            "server.modules = (\"mod_{word}\")\nserver.document-root = \"{at}\"\nserver.bind = \"127.0.0.1\"\n\
             server.port = {}\nserver.errorlog = \"{at}/log\"\nserver.stream-response-body = 2\n\
             server.http-parseopts = (\"url-path-2f-decode\" => \"disable\", \"url-path-2f-reject\" => \"disable\",\n\
             \"url-ctrls-reject\" => \"disable\", \"url-path-dotseg-remove\" => \"disable\")\n\
             {word}.server = (\"/\" => ((\"socket\" => \"{at}/gateway.sock\", \"check-local\" => \"disable\",\n\
             \"fix-root-scriptname\" => \"enable\", \"disable-time\" => 1)))\n",
            address.port()
        );
        (Self::start("lighttpd", &["-D", "-f"], &config, address, place), gateway)
    }

    /// Apache, which starts what it needs.
    pub(super) fn apache(way: Way) -> Self {
        let place = place();
        let dir = place.path().to_owned();
        let (address, at) = (free_address(), dir.display().to_string());
        let command = if way == Way::FastCgi { "fcgi" } else { "cgi" };
        let script = dir.join("recension.sh");
        let text = format!(
            "#!/bin/sh\nexport RECENSION_ADMIN=adm:pass\nexec {at}/recension {command} --log warn \
             {at}/store 2>>{at}/said\n"
        );
        std::fs::write(&script, text).unwrap();
        open(&script);
        // Apache's processes may not see this folder's parents.
        std::fs::copy(BIN, dir.join("recension")).unwrap();
        let modules = Path::new("/usr/lib/apache2/modules");
        let load: String = ["mpm_event", "authz_core", "alias", "cgid", "fcgid", "unixd", "env"]
            .iter()
            .filter(|name| modules.join(format!("mod_{name}.so")).exists())
            .map(|name| format!("LoadModule {name}_module {}/mod_{name}.so\n", modules.display()))
            .collect();
        let user = if rustix::process::getuid().is_root() { "User www-data\nGroup www-data\n" } else { "" };
        let how = if way == Way::FastCgi {
            format!(
                "FcgidIPCDir {at}\nFcgidProcessTableFile {at}/fcgid_shm\nFcgidMaxRequestLen 100000000\n\
                 FcgidMaxProcesses 8\nFcgidOutputBufferSize 0\n\
                 <Directory {at}>\nRequire all granted\nSetHandler fcgid-script\nOptions +ExecCGI\n</Directory>\n"
            )
        } else {
            format!(
                "ScriptSock {at}/cgid.sock\n<Directory {at}>\nRequire all granted\nSetHandler cgi-script\n\
                 Options +ExecCGI\n</Directory>\n"
            )
        };
        let config = format!(
            "ServerRoot {at}\nServerName front.example\nListen {address}\nPidFile {at}/pid\nErrorLog {at}/log\n{load}\
             {user}\
             DefaultRuntimeDir {at}\nTimeout 60\nAllowEncodedSlashes NoDecode\n\
             ScriptAlias / {at}/recension.sh/\n{how}<Location />\nCGIPassAuth On\n</Location>\n"
        );
        Self::start("apache2", &["-D", "FOREGROUND", "-f"], &config, address, place)
    }

    fn start(program: &str, args: &[&str], config: &str, address: SocketAddr, place: tempfile::TempDir) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let dir = place.path().to_owned();
        let path = dir.join(format!("conf{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
        std::fs::write(&path, config).unwrap();
        let said = std::fs::File::create(dir.join("front.said")).unwrap();
        let process = Command::new(program)
            .args(args)
            .arg(&path)
            .stdout(said.try_clone().unwrap())
            .stderr(said)
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}: scripts/test installs it"));
        let front = Front { address, process, dir, _place: place };
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline, "{program} does not listen: {}", front.log());
            std::thread::yield_now();
        }
        front
    }

    /// The most memory, in bytes, that a process which has the store open has had until now.
    pub(super) fn memory(&self) -> usize {
        let store = self.dir.join("store").display().to_string();
        let of_process = |place: std::fs::DirEntry| {
            let arguments = std::fs::read(place.path().join("cmdline")).ok()?;
            // What is a script's shell has the store within its last argument.
            arguments.split(|byte| *byte == 0).find(|own| *own == store.as_bytes())?;
            let status = std::fs::read_to_string(place.path().join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.split_whitespace().next()?.parse::<usize>().ok()
        };
        let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter_map(of_process);
        all.max().unwrap_or_default() * 1024
    }

    /// What the web server and what it started have said.
    pub(super) fn log(&self) -> String {
        ["front.said", "log", "said"]
            .iter()
            .map(|name| std::fs::read(self.dir.join(name)).unwrap_or_default())
            .map(|said| String::from_utf8_lossy(&said).into_owned())
            .collect()
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        // Apache's own processes, and what it started, end with its orderly end.
        if let Ok(pid) = i32::try_from(self.process.id())
            && let Some(pid) = rustix::process::Pid::from_raw(pid)
        {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let _ = self.process.wait();
    }
}
