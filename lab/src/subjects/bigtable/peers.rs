//! Peers that make the page in other programs: servers in Haskell as Debian has them, the package `cgi`, and servers
//! and writers of templates in Rust, which are a crate of their own (`external/bigtable/`) so that the laboratory does
//! not get them.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

use crate::error::{LabError, Result};
use crate::servers::web::plain_environment;
use crate::servers::{Place, Process, free_port, said_by};
use crate::subjects::external::{self, Source};

/// A server's library in Haskell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// warp.
    Warp,
    /// snap-server.
    Snap,
    /// happstack-server.
    Happstack,
    /// yesod-core.
    Yesod,
}

macro_rules! haskell {
    ($library:literal, $package:literal, $file:literal) => {
        Source::Haskell {
            library: $library,
            package: $package,
            files: &[("Main.hs", include_str!(concat!("../../../external/bigtable/", $file)))],
        }
    };
}

/// The package `cgi`.
pub(super) const CGI: Source = haskell!("cgi", "libghc-cgi-dev", "Cgi.hs");

/// The program of the crate in `external/bigtable/`, beside this one.
const PAGES: &str = "recension-lab-pages";

impl Library {
    /// Its program.
    pub fn source(self) -> Source {
        match self {
            Library::Warp => haskell!("warp", "libghc-warp-dev", "Warp.hs"),
            Library::Snap => haskell!("snap-server", "libghc-snap-server-dev", "Snap.hs"),
            Library::Happstack => {
                haskell!("happstack-server", "libghc-happstack-server-dev libghc-blaze-html-dev", "Happstack.hs")
            }
            Library::Yesod => haskell!("yesod-core", "libghc-yesod-core-dev", "Yesod.hs"),
        }
    }

    /// Starts it.
    pub(super) fn start(self, place: &Place<'_>) -> Result<(Process, SocketAddr)> {
        let Source::Haskell { library, files, .. } = self.source() else {
            return Err(LabError::Worker { what: "a server in Haskell is none".to_owned() });
        };
        listening(place, external::built_threaded(&format!("bigtable-{library}"), files)?, &[])
    }
}

/// The program by the package `cgi`.
pub(super) fn cgi() -> Result<PathBuf> {
    let Source::Haskell { library, files, .. } = CGI else {
        return Err(LabError::Worker { what: "a program in Haskell is none".to_owned() });
    };
    external::built(&format!("bigtable-{library}"), files)
}

/// Where the program of Rust's servers is.
fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let beside = own.parent()?;
    // Tests run from `deps`, beside which the program is.
    let beside = if beside.ends_with("deps") { beside.parent()? } else { beside };
    Some(beside.join(PAGES)).filter(|file| file.is_file())
}

/// Why Rust's servers cannot be started.
pub(super) fn no_pages() -> Option<String> {
    let how = "there is no `recension-lab-pages` beside this program; \
               `cargo build --release --manifest-path lab/external/bigtable/Cargo.toml`, as `make bench` does";
    program().is_none().then(|| how.to_owned())
}

/// The versions of a server and of a writer, as the program was built with them.
pub(super) fn versions(server: &str, writer: &str) -> String {
    let said = program().and_then(|program| said_by(&program.display().to_string(), "--version")).unwrap_or_default();
    let of = |name: &str| said.split(' ').skip_while(|word| *word != name).nth(1).unwrap_or("unknown").to_owned();
    format!("{}, {} {}", of(server), writer, of(writer))
}

/// Starts one of Rust's servers with a writer.
pub(super) fn pages(place: &Place<'_>, server: &str, writer: &str) -> Result<(Process, SocketAddr)> {
    let program = program().ok_or_else(|| LabError::Unavailable { reason: no_pages().unwrap_or_default() })?;
    listening(place, program, &[server, writer])
}

/// Starts a program that is told the port on which it listens.
fn listening(place: &Place<'_>, program: PathBuf, words: &[&str]) -> Result<(Process, SocketAddr)> {
    let address = free_port()?;
    let mut command = place.program(program);
    plain_environment(&mut command);
    command.args(words).arg(address.port().to_string());
    let process = place.start("a server of pages", &mut command, || TcpStream::connect(address).is_ok())?;
    Ok((process, address))
}
