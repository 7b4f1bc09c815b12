//! Subjects that are separate programs, in any language: docs/src/external-subjects.md. The sources of ours are within
//! this program, which builds them beside itself when they are first needed.

pub mod lines;
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_64;

pub use program::{Hello, Program};

use super::Given;
use crate::error::{LabError, Result};
use crate::given::PYTHON;
use crate::servers::said_by;

/// One of our programs.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// Built by `ghc`.
    Haskell {
        /// The library that it is about.
        library: &'static str,
        /// Its package in Debian.
        package: &'static str,
        /// Files by their names.
        files: &'static [(&'static str, &'static str)],
    },
    /// It is run by Debian's Python, with Debian's packages.
    Python {
        /// The module that it is about.
        module: &'static str,
        /// Its package in Debian.
        package: &'static str,
        /// The program, as `main.py`.
        text: &'static str,
    },
    /// The program of `--external`.
    Given,
}

macro_rules! haskell {
    ($library:literal, $package:literal, $program:literal, $shared:literal) => {
        Source::Haskell {
            library: $library,
            package: $package,
            files: &[
                ("Main.hs", include_str!(concat!("../../../external/", $program, "/Main.hs"))),
                ("Protocol.hs", include_str!("../../../external/haskell/Protocol.hs")),
                (concat!($shared, ".hs"), include_str!(concat!("../../../external/haskell/", $shared, ".hs"))),
            ],
        }
    };
}

/// acid-state with ixset.
pub const ACID_STATE: Source =
    haskell!("acid-state", "libghc-acid-state-dev libghc-ixset-dev", "acid-state", "Accounts");
/// HDBC-sqlite3.
pub const HDBC_SQLITE3: Source = haskell!("HDBC-sqlite3", "libghc-hdbc-sqlite3-dev", "hdbc-sqlite3", "Accounts");
/// HDBC-postgresql.
pub const HDBC_POSTGRESQL: Source =
    haskell!("HDBC-postgresql", "libghc-hdbc-postgresql-dev", "hdbc-postgresql", "People");
/// postgresql-simple.
pub const POSTGRESQL_SIMPLE: Source =
    haskell!("postgresql-simple", "libghc-postgresql-simple-dev", "postgresql-simple", "People");
/// psycopg.
pub const PSYCOPG: Source = Source::Python {
    module: "psycopg",
    package: "python3-psycopg",
    text: include_str!("../../../external/psycopg/main.py"),
};

/// `MongoDB` by its driver in Python; the server is the one that `--mongodb-url` names.
pub const MONGODB: Source = Source::Python {
    module: "pymongo",
    package: "python3-pymongo",
    text: include_str!("../../../external/mongodb/main.py"),
};
/// The part that programs in Python share.
const PYTHON_LINES: &str = include_str!("../../../external/python/lines.py");

impl Source {
    /// Why it cannot run here, and what to do about that.
    pub fn missing(self, given: &Given) -> Option<String> {
        match self {
            Source::Haskell { library, package, .. } => installed(library).is_none().then(|| {
                let command = format!("apt-get install ghc {package}");
                format!("no ghc with {library}; `{}`", command.trim_end())
            }),
            Source::Python { module, package, .. } => {
                python(module).is_none().then(|| format!("no Python with {module}; `apt-get install {package}`"))
            }
            Source::Given => given.external.is_none().then(|| {
                "no program was given: --external \"COMMAND WITH ARGUMENTS\", which speaks the lines of \
                 docs/src/external-subjects.md, or a server's URL where it needs one"
                    .to_owned()
            }),
        }
    }

    /// The version of the library that it is about.
    pub fn version(self) -> String {
        let found = match self {
            Source::Haskell { library, .. } => installed(library).map(str::to_owned),
            Source::Python { module, .. } => python(module),
            Source::Given => Some("as given".to_owned()),
        };
        found.unwrap_or_else(|| "not installed".to_owned())
    }

    /// The command that starts it. Builds it if that was not done before.
    pub(crate) fn command(self, given: &Given) -> Result<Command> {
        if let Some(reason) = self.missing(given) {
            return Err(LabError::Unavailable { reason });
        }
        match self {
            Source::Haskell { library, files, .. } => Ok(Command::new(built(library, files)?)),
            Source::Python { module, text, .. } => {
                let dir = place(module, &[("main.py", text), ("lines.py", PYTHON_LINES)])?;
                let mut command = Command::new(PYTHON);
                command.arg(dir.join("main.py"));
                command.envs(given.mongodb_url.iter().map(|url| ("MONGODB_URL", url)));
                Ok(command)
            }
            Source::Given => {
                let mut words = given.external.as_deref().unwrap_or_default().split_whitespace();
                let mut command = Command::new(words.next().unwrap_or_default());
                command.args(words);
                Ok(command)
            }
        }
    }
}

/// The version of a Haskell library, if it is installed.
fn installed(library: &str) -> Option<&'static str> {
    static ALL: OnceLock<String> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let listed = Command::new("ghc-pkg").args(["list", "--simple-output"]).output();
        listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default()
    });
    all.split_whitespace()
        .find_map(|package| package.rsplit_once('-').filter(|(name, _)| *name == library).map(|(_, version)| version))
}

/// The version of a Python module, if it is installed.
fn python(module: &str) -> Option<String> {
    let asked = Command::new(PYTHON)
        .arg("-c")
        .arg(format!("import {module}; print(getattr({module}, \"__version__\", None) or {module}.version)"))
        .output();
    let output = asked.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A directory with these files. Other files get another directory.
pub(crate) fn place(name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
    let failed = |path: &Path| LabError::io(format!("writing {}", path.display()));
    let mut bytes = Vec::new();
    for (file, text) in files {
        bytes.extend_from_slice(file.as_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    let own = std::env::current_exe().map_err(LabError::io("finding this program"))?;
    // Tests run from `deps`, which is a folder beside the program.
    let beside = own.parent().unwrap_or(Path::new("."));
    let beside = if beside.ends_with("deps") { beside.parent().unwrap_or(beside) } else { beside };
    let dir = beside.join("external").join(format!("{name}-{:016x}", xxh3_64(&bytes)));
    std::fs::create_dir_all(&dir).map_err(failed(&dir))?;
    for (file, text) in files {
        let path = dir.join(file);
        if std::fs::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        // Another run may be building it too. Both put the same file there.
        let unfinished = dir.join(format!("{file}.{}", std::process::id()));
        std::fs::write(&unfinished, text).and_then(|()| std::fs::rename(&unfinished, &path)).map_err(failed(&path))?;
    }
    Ok(dir)
}

/// The program of these files in Haskell, built once.
pub(crate) fn built(name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
    built_with(name, files, &["-with-rtsopts=-A16m"])
}

/// The same of a server, which uses all processors.
pub(crate) fn built_threaded(name: &str, files: &[(&str, &str)]) -> Result<PathBuf> {
    built_with(name, files, &["-threaded", "-with-rtsopts=-A16m -N"])
}

fn built_with(name: &str, files: &[(&str, &str)], more: &[&str]) -> Result<PathBuf> {
    built_by(name, files, |dir, unfinished| {
        let mut ghc = Command::new("ghc");
        ghc.args(["-O2", "-rtsopts"]).args(more).args(["-outputdir", "objects", "Main.hs", "-o"]).arg(unfinished);
        ghc.current_dir(dir);
        ghc
    })
}

/// Builds the program from these files once. The compiler is told where they are, and where the program goes.
pub(crate) fn built_by(
    name: &str,
    files: &[(&str, &str)],
    compiler: impl FnOnce(&Path, &Path) -> Command,
) -> Result<PathBuf> {
    let dir = place(name, files)?;
    let (program, unfinished) = (dir.join("program"), dir.join("unfinished"));
    // One build at a time: the second caller finds it built.
    let lock = std::fs::File::create(dir.join("lock")).map_err(LabError::io("making a lock file"))?;
    lock.lock().map_err(LabError::io("waiting for another build"))?;
    if !program.is_file() {
        let mut compiler = compiler(&dir, &unfinished);
        let what = format!("{}, building {name}", compiler.get_program().display());
        let output = compiler.output().map_err(LabError::io(what.clone()))?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " | ");
            return Err(LabError::Subject { what, why });
        }
        std::fs::rename(&unfinished, &program).map_err(LabError::io("keeping what was built"))?;
    }
    Ok(program)
}

/// The compiler of the Haskell programs.
pub fn compiler() -> String {
    said_by("ghc", "--numeric-version").map_or_else(|| "no ghc".to_owned(), |version| format!("ghc {version} -O2"))
}
