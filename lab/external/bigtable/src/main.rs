//! The page of the suite bigtable by a server and a writer of templates in Rust: SERVER WRITER PORT. It is made anew
//! for each request, by two threads.

mod servers;
mod writers;

use std::process::ExitCode;

use writers::Writer;

/// What `--version` says: what the lock file beside this has.
const LOCK: &str = include_str!("../Cargo.lock");

fn version_of(name: &str) -> &'static str {
    let begin = format!("name = \"{name}\"\nversion = \"");
    LOCK.split_once(&begin).and_then(|(_, rest)| rest.split_once('"')).map_or("unknown", |(version, _)| version)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words == ["--version"] {
        let names = [("hyper", "hyper"), ("actix", "actix-web"), ("ntex", "ntex")];
        let writers = ["sailfish", "maud", "askama"].map(|name| (name, name));
        let all = names.iter().chain(&writers).map(|(name, package)| format!("{name} {}", version_of(package)));
        println!("{}", all.collect::<Vec<_>>().join(" "));
        return ExitCode::SUCCESS;
    }
    let [server, writer, port] = words.as_slice() else { return usage() };
    let (Some(writer), Ok(port)) = (Writer::named(writer), port.parse()) else { return usage() };
    let served = match *server {
        "hyper" => servers::hyper(writer, port),
        "actix" => servers::actix(writer, port),
        "ntex" => servers::ntex(writer, port),
        _ => return usage(),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("recension-lab-pages hyper|actix|ntex sailfish|maud|askama PORT");
    ExitCode::from(2)
}
