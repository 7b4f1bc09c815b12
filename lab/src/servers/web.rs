//! lighttpd and nginx on loopback with directories of their own, and what runs CGI and `FastCGI` programs behind them.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;

use super::{Place, Process, free_port, said_by};
use crate::error::{LabError, Result};

/// A web server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Web {
    /// lighttpd: starts CGI programs itself.
    Lighttpd,
    /// nginx: has fcgiwrap start them.
    Nginx,
}

/// What stands behind a web server.
#[derive(Clone, Copy, Debug)]
pub enum Behind<'b> {
    /// Files, and programs that it starts itself, if it does.
    Files,
    /// Programs, or one that stays, by `FastCGI` at a socket.
    Programs(&'b Path),
    /// A gateway that has all paths, by `FastCGI` at a socket.
    FastCgi(&'b Path),
    /// The same by SCGI.
    Scgi(&'b Path),
}

/// Processes of whatever there is one a core of.
pub const PROCESSES: usize = 2;
/// What documents that are stored through it may be long, together.
const BODY_MEGABYTES: u64 = 16;

impl Web {
    /// The name of its program.
    pub fn program(self) -> &'static str {
        match self {
            Web::Lighttpd => "lighttpd",
            Web::Nginx => "nginx",
        }
    }

    /// Why it cannot be started.
    pub fn missing(self) -> Option<String> {
        let name = self.program();
        self.version_said().is_none().then(|| format!("no {name}; `apt-get install {name}`"))
    }

    /// Its version.
    pub fn version(self) -> String {
        let said = self.version_said().unwrap_or_default();
        said.split_whitespace()
            .find_map(|word| word.split_once('/'))
            .map_or("unknown", |(_, version)| version)
            .to_owned()
    }

    fn version_said(self) -> Option<String> {
        // Debian has both in a directory that only root has in its path.
        let program = format!("/usr/sbin/{}", self.program());
        said_by(&program, "-v").or_else(|| said_by(self.program(), "-v"))
    }

    /// The settings, in words.
    pub fn settings(self) -> &'static str {
        match self {
            Web::Lighttpd => "one process, defaults otherwise; no log of requests",
            Web::Nginx => "2 workers, sendfile on, defaults otherwise; no log of requests",
        }
    }

    /// Starts it over the directory `www` in its place.
    pub fn start(self, place: &Place<'_>, behind: Behind<'_>) -> Result<(Process, SocketAddr)> {
        let address = free_port()?;
        let file = place.dir.join("server.conf");
        let text = match self {
            Web::Lighttpd => lighttpd(place.dir, address, behind),
            Web::Nginx => nginx(place.dir, address, behind),
        };
        std::fs::write(&file, text).map_err(LabError::io("writing a server's settings"))?;
        let sbin = format!("/usr/sbin/{}", self.program());
        let program = if Path::new(&sbin).is_file() { sbin } else { self.program().to_owned() };
        let mut command = place.program(program);
        plain_environment(&mut command);
        match self {
            Web::Lighttpd => command.arg("-D").arg("-f").arg(&file),
            Web::Nginx => command.arg("-p").arg(place.dir).arg("-c").arg(&file),
        };
        let process = place.start(self.program(), &mut command, || TcpStream::connect(address).is_ok())?;
        Ok((process, address))
    }
}

fn lighttpd(dir: &Path, address: SocketAddr, behind: Behind<'_>) -> String {
    let dir = dir.display();
    let gateway = |module: &str, path: &str, socket: &Path| {
        format!(
            "server.modules += (\"mod_{module}\")\n{module}.server = (\"{path}\" => ((\"socket\" => \"{}\", \
             \"check-local\" => \"disable\", \"fix-root-scriptname\" => \"enable\")))\n",
            socket.display()
        )
    };
    let more = match behind {
        Behind::Files => String::new(),
        Behind::Programs(socket) => gateway("fastcgi", "/fast", socket),
        Behind::FastCgi(socket) => gateway("fastcgi", "/", socket),
        Behind::Scgi(socket) => gateway("scgi", "/", socket),
    };
    format!(
        "server.document-root = \"{dir}/www\"\nserver.bind = \"{}\"\nserver.port = {}\nserver.errorlog = \
         \"{dir}/error.log\"\n\
         server.max-keep-alive-requests = 1000000\nserver.modules = (\"mod_cgi\")\n\
         cgi.assign = (\".cgi\" => \"\")\nmimetype.assign = (\".html\" => \"text/html\")\n{more}",
        address.ip(),
        address.port()
    )
}

fn nginx(dir: &Path, address: SocketAddr, behind: Behind<'_>) -> String {
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    // The variables of CGI, as Debian's own file has them.
    let variables = |word: &str| {
        [
            ("REQUEST_METHOD", "$request_method"),
            ("REQUEST_URI", "$request_uri"),
            ("QUERY_STRING", "$query_string"),
            ("CONTENT_TYPE", "$content_type"),
            ("CONTENT_LENGTH", "$content_length"),
            ("SERVER_PROTOCOL", "$server_protocol"),
            ("REMOTE_ADDR", "$remote_addr"),
        ]
        .map(|(name, value)| format!("{word}_param {name} {value}; "))
        .concat()
    };
    let (gateway, location) = match behind {
        Behind::Files => (String::new(), String::new()),
        Behind::Programs(socket) => (
            String::new(),
            format!(
                "location ~ ^(/page\\.cgi|/fast)(/.*)?$ {{ fastcgi_pass unix:{}; \
                 fastcgi_split_path_info ^(/[a-z.]+)(/.*)$; {}fastcgi_param SCRIPT_NAME $fastcgi_script_name; \
                 fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name; \
                 fastcgi_param PATH_INFO $fastcgi_path_info; }}",
                socket.display(),
                variables("fastcgi")
            ),
        ),
        Behind::FastCgi(socket) => (
            format!("upstream gateway {{ server unix:{}; keepalive 8; }}\n", socket.display()),
            format!(
                "location / {{ fastcgi_pass gateway; fastcgi_keep_conn on; fastcgi_buffering off; {}}}",
                variables("fastcgi")
            ),
        ),
        Behind::Scgi(socket) => (
            String::new(),
            format!(
                "location / {{ scgi_pass unix:{}; scgi_buffering off; scgi_param SCGI 1; {}}}",
                socket.display(),
                variables("scgi")
            ),
        ),
    };
    format!(
        "{user}daemon off;\nworker_processes 2;\npid nginx.pid;\nerror_log error.log;\nevents {{ worker_connections \
         512; }}\n\
         http {{ access_log off; sendfile on; keepalive_requests 1000000; types {{ text/html html; }}\n\
         client_max_body_size {BODY_MEGABYTES}m; client_body_temp_path body; proxy_temp_path proxy; \
         fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n\
         {gateway}server {{ listen {address}; root {}/www; {location} }} }}\n",
        dir.display()
    )
}

/// CGI programs inherit the same environment everywhere, whatever the user's shell has set.
pub fn plain_environment(command: &mut Command) {
    command
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C.UTF-8");
}

/// Why CGI programs cannot run behind nginx.
pub fn fcgiwrap_missing() -> Option<String> {
    let there = ["/usr/sbin/fcgiwrap", "/usr/bin/fcgiwrap"].iter().any(|file| Path::new(file).is_file());
    (!there).then(|| "no fcgiwrap, by which nginx runs CGI programs; `apt-get install fcgiwrap`".to_owned())
}

/// Starts fcgiwrap, listening at a socket.
pub fn fcgiwrap(place: &Place<'_>, socket: &Path) -> Result<Process> {
    let program = if Path::new("/usr/sbin/fcgiwrap").is_file() { "/usr/sbin/fcgiwrap" } else { "fcgiwrap" };
    let mut command = place.program(program);
    plain_environment(&mut command);
    command.args(["-c", &PROCESSES.to_string(), "-s", &format!("unix:{}", socket.display())]);
    place.start("fcgiwrap", &mut command, || socket.exists())
}
