//! Starts the subjects: directories, programs that are built once, and the processes.

use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::page::{COLUMNS, ROWS, cell, column, id, page};
use super::{Form, Maker, Program, subjects};
use crate::error::{LabError, Result};
use crate::given::PYTHON;
use crate::servers::web::{PROCESSES, Web, fcgiwrap, plain_environment};
use crate::servers::{Place, Process, hyper_floor, recension};
use crate::subjects::external;
use crate::subjects::http::couch::Couch;
use crate::subjects::{Given, named};

const PAGE_C: &str = include_str!("../../../external/bigtable/page.c");
const FAST_C: &str = include_str!("../../../external/bigtable/fastcgi.c");
const PAGE_PERL: &str = include_str!("../../../external/bigtable/page.pl");
const PAGE_PYTHON: &str = include_str!("../../../external/bigtable/page.py");
const PAGE_HASKELL: &str = include_str!("../../../external/bigtable/Main.hs");
const SERVER_PYTHON: &str = include_str!("../../../external/bigtable/server.py");

/// The database of the rows in our server.
const DATABASE: &str = "bigtable";

/// A subject that answers.
pub struct Served {
    /// All processes that were started; their children come and go.
    pub processes: Vec<Process>,
    /// Its address.
    pub address: SocketAddr,
    /// Its settings.
    pub settings: String,
    maker: Maker,
    couch: Option<Couch>,
}

impl Served {
    /// The request for a form.
    pub fn request(&self, form: Form) -> Vec<u8> {
        let get = |path: &str, fields: &str| {
            format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{fields}\r\n", self.address).into_bytes()
        };
        match (self.maker, form) {
            (Maker::Behind(_, Program::Static), _) => get("/page.html", ""),
            (Maker::Behind(_, Program::FastCgiC), _) => get("/fast", ""),
            (Maker::Behind(..), _) => get("/page.cgi", ""),
            (Maker::Hyper, _) | (Maker::Python, Form::Page) => get("/page", ""),
            (Maker::Python, Form::Escaped) => get("/escaped", ""),
            (Maker::Python, Form::Json) => get("/rows.json", ""),
            (Maker::Python, Form::Csv) => get("/rows.csv", ""),
            (Maker::Recension, form) => {
                let names = (0..COLUMNS).map(column).collect::<Vec<_>>().join(",");
                let couch = self.couch.as_ref();
                let table = format!("{DATABASE}/_all_docs?fields={names}");
                let rows = format!("{DATABASE}/_all_docs?include_docs=true");
                let asked = if form == Form::Csv {
                    couch.map(|couch| couch.get_as(&table, "text/csv"))
                } else {
                    couch.map(|couch| couch.get_as(&rows, "application/json"))
                };
                asked.unwrap_or_default()
            }
        }
    }

    /// Requests that store what is answered later, in their order; each has to be answered with 201.
    pub fn set_up(&self) -> Vec<Vec<u8>> {
        let Some(couch) = &self.couch else { return Vec::new() };
        let document = |row: usize| {
            let cells = (0..COLUMNS).map(|number| (column(number), cell(row, number).into()));
            let members: serde_json::Map<String, serde_json::Value> =
                cells.chain([("_id".to_owned(), id(row).into())]).collect();
            serde_json::Value::Object(members)
        };
        let documents: Vec<_> = (0..ROWS).map(document).collect();
        vec![couch.make(DATABASE), couch.bulk_of(DATABASE, &serde_json::json!({"docs": documents}).to_string())]
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
        couch: None,
    };
    match maker {
        Maker::Behind(web, program) => behind(web, program, &place, maker),
        Maker::Hyper => Ok(alone(hyper_floor::start_with_page(&place)?, "HTTP/1.1, tokio's threads as many as cores")),
        Maker::Python => {
            python(&place).map(|started| alone(started, "one process, a thread a connection; SQLite's defaults"))
        }
        Maker::Recension => {
            let (process, address) = recension::start(&place, given)?;
            let served =
                alone((process, address), "defaults, requests as admin with Basic authentication; not compressed");
            Ok(Served { couch: Some(Couch::new(address, Some(recension::ADMIN))), ..served })
        }
    }
}

fn behind(web: Web, program: Program, place: &Place<'_>, maker: Maker) -> Result<Served> {
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
        Program::FastCgiC => {}
    }
    let socket = gate.join("s");
    let traced = place.traced.map(|file| file.with_extension("gate"));
    let beside = Place { dir: &gate, traced: traced.as_deref() };
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
    let (process, address) = web.start(place, gate.is_some().then_some(socket.as_path()))?;
    let settings = format!("{}; {how}", web.settings());
    Ok(Served { processes: [process].into_iter().chain(gate).collect(), address, settings, maker, couch: None })
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
