//! Starts the subjects: directories, programs that are built once, and the processes.

use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::ours::{self, Door};
use super::page::{COLUMNS, ROWS, cell, id, page};
use super::{Form, Maker, Program, peers, subjects};
use crate::error::{LabError, Result};
use crate::given::PYTHON;
use crate::servers::web::{Behind, PROCESSES, Web, fcgiwrap, plain_environment};
use crate::servers::{Place, Process, hyper_floor};
use crate::subjects::external;
use crate::subjects::{Given, named};

const PAGE_C: &str = include_str!("../../../external/bigtable/page.c");
const FAST_C: &str = include_str!("../../../external/bigtable/fastcgi.c");
const PAGE_PERL: &str = include_str!("../../../external/bigtable/page.pl");
const PAGE_PYTHON: &str = include_str!("../../../external/bigtable/page.py");
const PAGE_HASKELL: &str = include_str!("../../../external/bigtable/Main.hs");
const SERVER_PYTHON: &str = include_str!("../../../external/bigtable/server.py");

/// Somebody who answers.
pub struct Served {
    /// All processes that were started; their children come and go.
    pub processes: Vec<Process>,
    /// Its address.
    pub address: SocketAddr,
    /// Its settings.
    pub settings: String,
    pub(super) maker: Maker,
    pub(super) ours: Option<Door>,
    /// The CGI program, if it is one.
    pub(super) program: Option<PathBuf>,
}

impl Served {
    /// The request for a form.
    pub fn request(&self, form: Form) -> Vec<u8> {
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address).into_bytes();
        if let Some(door) = &self.ours {
            return door.request(form);
        }
        match (self.maker, form) {
            (Maker::Behind(_, Program::Static), _) => get("/page.html"),
            (Maker::Behind(_, Program::FastCgiC), _) => get("/fast"),
            (Maker::Behind(..), _) => get("/page.cgi"),
            (_, Form::Page | Form::Kept) => get("/page"),
            (_, Form::Escaped) => get("/escaped"),
            (_, Form::Html) => get("/rows.html"),
            (_, Form::Json) => get("/rows.json"),
            (_, Form::Csv) => get("/rows.csv"),
        }
    }

    /// Requests that store what is answered later, in their order; each has to be answered with 201.
    pub fn set_up(&self) -> Vec<Vec<u8>> {
        self.ours.as_ref().map(Door::set_up).unwrap_or_default()
    }

    /// Its CGI program, to be run for a page without the web server.
    pub fn alone(&self) -> Option<Command> {
        Some(ours::asked(self.program.as_ref()?, self.ours.as_ref()))
    }
}

/// Starts one in its directory, which is empty.
pub fn start(name: &str, dir: &Path, traced: Option<&Path>, given: &Given) -> Result<Served> {
    let (kind, maker) = named(subjects(), name, |(kind, _)| kind.name)?;
    if let Some(reason) = (kind.missing)(given) {
        return Err(LabError::Unavailable { reason });
    }
    let place = Place { dir, traced };
    let alone = |(process, address), settings: &str| Served {
        processes: vec![process],
        address,
        settings: settings.to_owned(),
        maker,
        ours: None,
        program: None,
    };
    match maker {
        Maker::Behind(web, program) => behind(web, program, &place, given),
        Maker::Hyper => Ok(alone(hyper_floor::start_with_page(&place)?, "HTTP/1.1, tokio's threads as many as cores")),
        Maker::Python => {
            python(&place).map(|started| alone(started, "one process, a thread a connection; SQLite's defaults"))
        }
        Maker::Haskell(library) => library
            .start(&place)
            .map(|started| alone(started, "threads of the runtime as many as processors, an area of 16 MB each")),
        Maker::Rust(server, writer) => {
            peers::pages(&place, server, writer).map(|started| alone(started, "2 threads; a release build"))
        }
        Maker::Recension => ours::alone(&place, given),
    }
}

fn behind(web: Web, program: Program, place: &Place<'_>, given: &Given) -> Result<Served> {
    let www = place.dir.join("www");
    let gate = place.dir.join("g");
    for dir in [&www, &gate] {
        std::fs::create_dir_all(dir).map_err(LabError::io(format!("making {}", dir.display())))?;
    }
    let written = |name: &str, text: &str, mode: u32| {
        let file = www.join(name);
        std::fs::write(&file, text)
            .and_then(|()| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)))
            .map_err(LabError::io(format!("writing {}", file.display())))
    };
    let linked = |built: PathBuf| {
        std::fs::copy(&built, www.join("page.cgi")).map(drop).map_err(LabError::io("copying a program"))
    };
    match program {
        Program::Static => written("page.html", &page(), 0o644)?,
        Program::CgiC => linked(compiled("bigtable-c", "page.c", PAGE_C, &[])?)?,
        Program::CgiPerl => written("page.cgi", PAGE_PERL, 0o755)?,
        Program::CgiPython => written("page.cgi", PAGE_PYTHON, 0o755)?,
        Program::CgiHaskell => linked(external::built("bigtable-haskell", &[("Main.hs", PAGE_HASKELL)])?)?,
        Program::CgiLibrary => linked(peers::cgi()?)?,
        Program::FastCgiC | Program::Ours(_) => {}
    }
    let socket = gate.join("s");
    let traced = place.traced.map(|file| file.with_extension("gate"));
    let beside = Place { dir: &gate, traced: traced.as_deref() };
    if let Program::Ours(way) = program {
        return ours::behind(web, way, place, &beside, given);
    }
    let (gate, how) = match (program, web) {
        (Program::FastCgiC, _) => {
            let built = compiled("bigtable-fastcgi", "fastcgi.c", FAST_C, &["-lfcgi"])?;
            let mut command = beside.program(built);
            plain_environment(&mut command);
            command.arg(&socket).arg(PROCESSES.to_string());
            let process = beside.start("the FastCGI program", &mut command, || socket.exists())?;
            (Some(process), "2 processes that stay")
        }
        (Program::Static, _) => (None, "a file"),
        (_, Web::Lighttpd) => (None, "a process a page"),
        (_, Web::Nginx) => (Some(fcgiwrap(&beside, &socket)?), "a process a page, from 2 of fcgiwrap"),
    };
    let (process, address) =
        web.start(place, if gate.is_some() { Behind::Programs(&socket) } else { Behind::Files })?;
    Ok(Served {
        processes: [process].into_iter().chain(gate).collect(),
        address,
        settings: format!("{}; {how}", web.settings()),
        maker: Maker::Behind(web, program),
        ours: None,
        program: Some(www.join("page.cgi")).filter(|file| file.is_file()),
    })
}

fn python(place: &Place<'_>) -> Result<(Process, SocketAddr)> {
    let script = external::place("bigtable-python", &[("server.py", SERVER_PYTHON)])?.join("server.py");
    let store = place.dir.join("rows.sqlite3");
    let failed = || LabError::io("making the table of Python's server");
    let mut maker = Command::new(PYTHON);
    let mut made = maker.arg(&script).arg(&store).stdin(Stdio::piped()).spawn().map_err(failed())?;
    if let Some(mut input) = made.stdin.take() {
        for row in 0..ROWS {
            let cells: Vec<String> =
                std::iter::once(id(row)).chain((0..COLUMNS).map(|number| cell(row, number))).collect();
            let line = serde_json::to_string(&cells).map_err(LabError::subject("a row"))?;
            writeln!(input, "{line}").map_err(failed())?;
        }
    }
    if !made.wait().map_err(failed())?.success() {
        return Err(LabError::Worker { what: "the table of Python's server was not made".to_owned() });
    }
    let mut command = place.program(PYTHON);
    plain_environment(&mut command);
    command.arg(&script).arg(&store).arg("0");
    place.start_that_says("Python's server", &mut command)
}

/// A program in C, built once.
fn compiled(name: &str, file: &str, text: &str, libraries: &[&str]) -> Result<PathBuf> {
    external::built_by(name, &[(file, text)], |dir, unfinished| {
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-o"]).arg(unfinished).arg(dir.join(file)).args(libraries);
        cc
    })
}
