//! The subjects of the suite `bigtable`: static files, CGI and `FastCGI` programs behind lighttpd and nginx, and
//! standalone servers. Each is started here on loopback with directories of its own. Which program runs behind which
//! server is data.

mod ours;
pub mod page;
mod peers;
mod start;

pub use ours::Way;
pub use page::Form;
pub use peers::Library;
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
    /// Haskell by the package `cgi`, a process a page.
    CgiLibrary,
    /// C by libfcgi, processes that stay.
    FastCgiC,
    /// Ours: documents of a store through a template.
    Ours(Way),
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
    /// A server in Haskell.
    Haskell(Library),
    /// A server and a writer of templates in Rust, by their names.
    Rust(&'static str, &'static str),
    /// Ours: documents of a store through a template, as tables, as JSON and as CSV.
    Recension,
}

impl Program {
    /// Whether it stays, so that the web server need start none for a page.
    fn stays(self) -> bool {
        matches!(self, Program::FastCgiC | Program::Ours(Way::FastCgi | Way::Scgi))
    }

    fn missing(self, given: &Given) -> Option<String> {
        match self {
            Program::Static => None,
            Program::CgiC => no_compiler(),
            Program::CgiPerl => said_by("perl", "-v").is_none().then(|| "no perl; `apt-get install perl`".to_owned()),
            Program::CgiPython => no_python(),
            Program::CgiHaskell => Source::Haskell { library: "bytestring", package: "", files: &[] }.missing(given),
            Program::CgiLibrary => peers::CGI.missing(given),
            Program::Ours(_) => our_server::missing(given),
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
                let wrapped = web == Web::Nginx && program != Program::Static && !program.stays();
                let gate = if wrapped { fcgiwrap_missing() } else { None };
                // All at once, so that nobody installs one to be told of the next.
                all_of([web.missing(), program.missing(given), gate])
            }
            Maker::Hyper => None,
            Maker::Python => no_python(),
            Maker::Haskell(library) => library.source().missing(given),
            Maker::Rust(..) => peers::no_pages(),
            Maker::Recension => our_server::missing(given),
        }
    }

    /// Whether it answers this form.
    fn makes(self, form: Form) -> bool {
        match self {
            Maker::Recension => true,
            Maker::Behind(_, Program::Ours(way)) => {
                matches!(form, Form::Page | Form::Escaped) || (form == Form::Kept && way != Way::Cgi)
            }
            Maker::Python => form != Form::Kept,
            // A file, and a page in memory, are kept.
            Maker::Behind(_, Program::Static) | Maker::Hyper => matches!(form, Form::Page | Form::Kept),
            Maker::Rust(..) => matches!(form, Form::Page | Form::Escaped),
            Maker::Behind(..) | Maker::Haskell(_) => form == Form::Page,
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

macro_rules! haskell {
    ($library:ident, $name:literal, $what:literal) => {
        (
            Kind {
                tier: Tier::T0,
                missing: |given| Maker::Haskell(Library::$library).missing(given),
                ..Kind::new($name, $what, || Library::$library.source().version())
            },
            Maker::Haskell(Library::$library),
        )
    };
}

macro_rules! rust {
    ($server:literal, $writer:literal) => {
        (
            Kind {
                tier: Tier::T0,
                missing: |_| peers::no_pages(),
                ..Kind::new(
                    concat!($server, "-", $writer),
                    concat!($server, " with ", $writer, "'s template; it has no store: texts are in memory"),
                    || peers::versions($server, $writer),
                )
            },
            Maker::Rust($server, $writer),
        )
    };
}

macro_rules! behind {
    ($web:ident, $program:expr, $name:literal, $what:literal) => {
        (
            Kind {
                tier: Tier::T0,
                floor: matches!($program, Program::Static),
                missing: |given| Maker::Behind(Web::$web, $program).missing(given),
                ..Kind::new($name, $what, || Web::$web.version())
            },
            Maker::Behind(Web::$web, $program),
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
                ..Kind::new(OURS, "recension serve: stored documents through a template, and their rows", our_version)
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
        behind!(Lighttpd, Program::Static, "lighttpd-static", "lighttpd, a file"),
        behind!(Lighttpd, Program::FastCgiC, "lighttpd-fcgi-c", "lighttpd, FastCGI in C"),
        behind!(Lighttpd, Program::CgiC, "lighttpd-cgi-c", "lighttpd, CGI in C, -O2"),
        behind!(Lighttpd, Program::CgiPerl, "lighttpd-cgi-perl", "lighttpd, CGI in Perl"),
        behind!(Lighttpd, Program::CgiPython, "lighttpd-cgi-python", "lighttpd, CGI in Python"),
        behind!(Lighttpd, Program::CgiHaskell, "lighttpd-cgi-haskell", "lighttpd, CGI in Haskell, -O2"),
        behind!(
            Lighttpd,
            Program::CgiLibrary,
            "lighttpd-cgi-haskell-cgi",
            "lighttpd, CGI in Haskell by the package cgi"
        ),
        behind!(Lighttpd, Program::Ours(Way::FastCgi), "lighttpd-fcgi-recension", "lighttpd, recension fcgi"),
        behind!(Lighttpd, Program::Ours(Way::Scgi), "lighttpd-scgi-recension", "lighttpd, recension scgi"),
        behind!(Lighttpd, Program::Ours(Way::Cgi), "lighttpd-cgi-recension", "lighttpd, recension cgi"),
        behind!(Nginx, Program::Static, "nginx-static", "nginx, a file"),
        behind!(Nginx, Program::FastCgiC, "nginx-fcgi-c", "nginx, FastCGI in C"),
        behind!(Nginx, Program::CgiC, "nginx-cgi-c", "nginx with fcgiwrap, CGI in C, -O2"),
        behind!(Nginx, Program::CgiPerl, "nginx-cgi-perl", "nginx with fcgiwrap, CGI in Perl"),
        behind!(Nginx, Program::CgiPython, "nginx-cgi-python", "nginx with fcgiwrap, CGI in Python"),
        behind!(Nginx, Program::CgiHaskell, "nginx-cgi-haskell", "nginx with fcgiwrap, CGI in Haskell, -O2"),
        behind!(
            Nginx,
            Program::CgiLibrary,
            "nginx-cgi-haskell-cgi",
            "nginx with fcgiwrap, CGI in Haskell by the package cgi"
        ),
        behind!(Nginx, Program::Ours(Way::FastCgi), "nginx-fcgi-recension", "nginx, recension fcgi"),
        behind!(Nginx, Program::Ours(Way::Scgi), "nginx-scgi-recension", "nginx, recension scgi"),
        behind!(Nginx, Program::Ours(Way::Cgi), "nginx-cgi-recension", "nginx with fcgiwrap, recension cgi"),
        haskell!(Warp, "warp", "warp, bytestring's builder"),
        haskell!(Snap, "snap", "snap-server, bytestring's builder"),
        haskell!(Happstack, "happstack", "happstack-server with blaze-html"),
        haskell!(Yesod, "yesod", "yesod-core with hamlet, behind warp"),
        rust!("hyper", "sailfish"),
        rust!("hyper", "maud"),
        rust!("hyper", "askama"),
        rust!("actix", "sailfish"),
        rust!("ntex", "sailfish"),
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
    subjects().into_iter().any(|(kind, maker)| kind.name == name && maker.makes(form))
}

/// Whether one is a CGI program, which can be run without its web server. Behind either it is the same one.
pub fn is_cgi(name: &str) -> bool {
    name.starts_with("lighttpd-cgi-")
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
