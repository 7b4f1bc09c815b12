//! The subjects of the suite `bigtable`: static files, CGI and `FastCGI` programs behind lighttpd and nginx, and
//! standalone servers. Each is started here on loopback with directories of its own. Which program runs behind which
//! server is data.

pub mod page;
mod start;

pub use page::Form;
pub use start::{Served, start};

use super::external::Source;
use super::{Given, Kind, OURS, Tier, our_version, versions};
use crate::given::PYTHON;
use crate::servers::web::{Web, fcgiwrap_missing};
use crate::servers::{no_compiler, recension as our_server, said_by};

/// The program that makes the page behind a web server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    /// Nobody: it is a file.
    Static,
    /// C, a process a page.
    CgiC,
    /// Perl, a process a page.
    CgiPerl,
    /// Python, a process a page.
    CgiPython,
    /// Haskell, a process a page.
    CgiHaskell,
    /// C by libfcgi, processes that stay.
    FastCgiC,
}

/// The kind of subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Maker {
    /// A program behind a web server.
    Behind(Web, Program),
    /// Bare hyper with the page in memory.
    Hyper,
    /// Python's own server.
    Python,
    /// Ours: rows as JSON and CSV; it has no HTML yet.
    Recension,
}

impl Program {
    fn missing(self) -> Option<String> {
        match self {
            Program::Static => None,
            Program::CgiC => no_compiler(),
            Program::CgiPerl => said_by("perl", "-v").is_none().then(|| "no perl; `apt-get install perl`".to_owned()),
            Program::CgiPython => no_python(),
            Program::CgiHaskell => {
                Source::Haskell { library: "bytestring", package: "", files: &[] }.missing(&Given::default())
            }
            Program::FastCgiC => {
                let there = ["/usr/include/fcgiapp.h", "/usr/local/include/fcgiapp.h"];
                let there = there.iter().any(|file| std::path::Path::new(file).is_file());
                all_of([no_compiler(), (!there).then(|| "no libfcgi; `apt-get install libfcgi-dev`".to_owned())])
            }
        }
    }
}

impl Maker {
    fn missing(self, given: &Given) -> Option<String> {
        match self {
            Maker::Behind(web, program) => {
                let wrapped = web == Web::Nginx && !matches!(program, Program::Static | Program::FastCgiC);
                let gate = if wrapped { fcgiwrap_missing() } else { None };
                // All at once, so that nobody installs one to be told of the next.
                all_of([web.missing(), program.missing(), gate])
            }
            Maker::Hyper => None,
            Maker::Python => no_python(),
            Maker::Recension => our_server::missing(given),
        }
    }
}

/// All that is missing, in one sentence.
fn all_of<const PARTS: usize>(missing: [Option<String>; PARTS]) -> Option<String> {
    let missing: Vec<String> = missing.into_iter().flatten().collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

fn no_python() -> Option<String> {
    said_by(PYTHON, "--version").is_none().then(|| "no Python; `apt-get install python3`".to_owned())
}

fn python_version() -> String {
    said_by(PYTHON, "--version").unwrap_or_default()
}

macro_rules! behind {
    ($web:ident, $program:ident, $name:literal, $what:literal) => {
        (
            Kind {
                tier: Tier::T0,
                floor: matches!(Program::$program, Program::Static),
                missing: |given| Maker::Behind(Web::$web, Program::$program).missing(given),
                ..Kind::new($name, $what, || Web::$web.version())
            },
            Maker::Behind(Web::$web, Program::$program),
        )
    };
}

/// The subjects, and what each is.
pub fn subjects() -> Vec<(Kind, Maker)> {
    let alone = |kind: Kind| Kind { tier: Tier::T0, ..kind };
    vec![
        (
            alone(Kind {
                missing: |given| Maker::Recension.missing(given),
                ..Kind::new(OURS, "recension serve: rows as JSON and CSV; it makes no HTML yet", our_version)
            }),
            Maker::Recension,
        ),
        (
            alone(Kind {
                floor: true,
                ..Kind::new("hyper", "bare hyper with the page in memory: the floor of HTTP here", || {
                    versions::of_crate("hyper")
                })
            }),
            Maker::Hyper,
        ),
        behind!(Lighttpd, Static, "lighttpd-static", "lighttpd, a file"),
        behind!(Lighttpd, FastCgiC, "lighttpd-fcgi-c", "lighttpd, FastCGI in C"),
        behind!(Lighttpd, CgiC, "lighttpd-cgi-c", "lighttpd, CGI in C, -O2"),
        behind!(Lighttpd, CgiPerl, "lighttpd-cgi-perl", "lighttpd, CGI in Perl"),
        behind!(Lighttpd, CgiPython, "lighttpd-cgi-python", "lighttpd, CGI in Python"),
        behind!(Lighttpd, CgiHaskell, "lighttpd-cgi-haskell", "lighttpd, CGI in Haskell, -O2"),
        behind!(Nginx, Static, "nginx-static", "nginx, a file"),
        behind!(Nginx, FastCgiC, "nginx-fcgi-c", "nginx, FastCGI in C"),
        behind!(Nginx, CgiC, "nginx-cgi-c", "nginx with fcgiwrap, CGI in C, -O2"),
        behind!(Nginx, CgiPerl, "nginx-cgi-perl", "nginx with fcgiwrap, CGI in Perl"),
        behind!(Nginx, CgiPython, "nginx-cgi-python", "nginx with fcgiwrap, CGI in Python"),
        behind!(Nginx, CgiHaskell, "nginx-cgi-haskell", "nginx with fcgiwrap, CGI in Haskell, -O2"),
        (
            alone(Kind {
                missing: |given| Maker::Python.missing(given),
                ..Kind::new(
                    "python-http",
                    "Python's http.server, a thread a connection; rows from SQLite",
                    python_version,
                )
            }),
            Maker::Python,
        ),
    ]
}

/// The kinds of subjects.
pub fn kinds() -> Vec<Kind> {
    subjects().into_iter().map(|(kind, _)| kind).collect()
}

/// Whether one answers this form.
pub fn makes(name: &str, form: Form) -> bool {
    match name {
        OURS => matches!(form, Form::Json | Form::Csv),
        "python-http" => true,
        _ => form == Form::Page,
    }
}

/// The static file of the server that stands before a subject.
pub fn static_of(name: &str) -> Option<&'static str> {
    let server = name.split('-').next()?;
    match server {
        "lighttpd" => Some("lighttpd-static"),
        "nginx" => Some("nginx-static"),
        _ => None,
    }
}
