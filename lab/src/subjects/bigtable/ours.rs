//! Our rows of the suite `bigtable`: two databases whose rows a template makes pages of, the requests for them, and
//! our server and gateways, alone and behind web servers.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::page::{COLUMNS, ROWS, cell, column, id};
use super::{Form, Maker, Program, Served};
use crate::error::{LabError, Result};
use crate::servers::web::{Behind, Web, fcgiwrap, plain_environment};
use crate::servers::{Place, recension};
use crate::subjects::Given;
use crate::subjects::http::couch::Couch;

/// The database of the page's numbers, and that of the texts.
const NUMBERS: &str = "numbers";
const TEXTS: &str = "texts";
/// What browsers accept. Programs that name only HTML get JSON.
const BROWSER: &str = "text/html,application/xhtml+xml";
/// Where a CGI program is among a web server's paths.
const SCRIPT: &str = "/page.cgi";

/// How a web server hands requests on to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// To `recension fcgi`.
    FastCgi,
    /// To `recension scgi`.
    Scgi,
    /// To `recension cgi`, a process a request, beside a server that has the store open.
    Cgi,
}

/// Us, as a client asks us.
pub(super) struct Door {
    couch: Couch,
    /// What stands before our paths.
    prefix: &'static str,
}

impl Door {
    /// The request for a form.
    pub(super) fn request(&self, form: Form) -> Vec<u8> {
        let columns = || (0..COLUMNS).map(column).collect::<Vec<_>>().join(",");
        let (database, more, accept) = match form {
            Form::Page | Form::Kept => (NUMBERS, "include_docs=true&template=site/page".to_owned(), BROWSER),
            Form::Escaped => (TEXTS, "include_docs=true&template=site/page".to_owned(), BROWSER),
            Form::Html => (TEXTS, format!("fields={}", columns()), BROWSER),
            Form::Json => (TEXTS, "include_docs=true".to_owned(), "application/json"),
            Form::Csv => (TEXTS, format!("fields={}", columns()), "text/csv"),
        };
        // The rows without the design document, which has the template.
        let target = format!("{database}/_all_docs?startkey=%220%22&endkey=%22a%22&limit={ROWS}&{more}");
        let target = format!("{}{target}", self.prefix);
        let asked = self.couch.get_as(&target, accept);
        if form == Form::Kept {
            return asked;
        }
        // Nothing that was made before, and nothing is kept.
        let text = String::from_utf8_lossy(&asked).into_owned();
        text.replacen("\r\n\r\n", "\r\ncache-control: no-store\r\n\r\n", 1).into_bytes()
    }

    /// Requests that store what is answered later, in their order; each has to be answered with 201.
    pub(super) fn set_up(&self) -> Vec<Vec<u8>> {
        let stored = |name: &str, value: fn(usize, usize) -> Value| {
            let row = |row: usize| {
                let cells = (0..COLUMNS).map(|number| (column(number), value(row, number)));
                let key = ("_id".to_owned(), Value::from(id(row)));
                Value::Object(cells.chain([key]).collect())
            };
            let documents: Vec<Value> = (0..ROWS).map(row).chain([design()]).collect();
            let documents = json!({"docs": documents}).to_string();
            let name = format!("{}{name}", self.prefix);
            [self.couch.make(&name), self.couch.bulk_of(&name, &documents)]
        };
        let numbers = stored(NUMBERS, |_, column| (column + 1).into());
        let texts = stored(TEXTS, |row, column| cell(row, column).into());
        numbers.into_iter().chain(texts).collect()
    }
}

/// The template of the page.
fn design() -> Value {
    let cells: Vec<String> = (0..COLUMNS).map(|number| format!("<td>{{{{ doc.{} }}}}</td>", column(number))).collect();
    let cells = cells.concat();
    let page = json!({"head": "<table>", "row": format!("<tr>{cells}</tr>"), "foot": "</table>"});
    json!({"_id": "_design/site", "templates": {"page": page}})
}

/// Our server, alone.
pub(super) fn alone(place: &Place<'_>, given: &Given) -> Result<Served> {
    let (process, address) = recension::start(place, given)?;
    let door = Door { couch: Couch::new(address, Some(recension::ADMIN)), prefix: "" };
    Ok(Served {
        processes: vec![process],
        address,
        settings: "defaults, requests as admin with Basic authentication; not compressed".to_owned(),
        maker: Maker::Recension,
        ours: Some(door),
        program: None,
    })
}

/// One of our gateways behind a web server that runs in `place`.
pub(super) fn behind(web: Web, way: Way, place: &Place<'_>, beside: &Place<'_>, given: &Given) -> Result<Served> {
    let program = recension::program(given)
        .ok_or_else(|| LabError::Unavailable { reason: recension::missing(given).unwrap_or_default() })?;
    let (socket, store) = (beside.dir.join("s"), place.dir.join("store"));
    let mut processes = Vec::new();
    let mut script = None;
    let (front, how) = match way {
        Way::FastCgi | Way::Scgi => {
            let (word, front) = match way {
                Way::FastCgi => ("fcgi", Behind::FastCgi(&socket)),
                _ => ("scgi", Behind::Scgi(&socket)),
            };
            let mut command = beside.program(&program);
            plain_environment(&mut command);
            command.args([word, "--admin-party", "--log", "warn", "--listen"]);
            command.arg(format!("unix:{}", socket.display())).arg(&store);
            processes.push(beside.start("our gateway", &mut command, || socket.exists())?);
            (front, format!("recension {word}, one process that stays"))
        }
        Way::Cgi => {
            let dir = beside.dir.join("serve");
            std::fs::create_dir_all(&dir).map_err(LabError::io("making a directory of servers"))?;
            let owner = Place { dir: &dir, traced: None };
            let mut command = owner.program(&program);
            plain_environment(&mut command);
            command.arg("serve").arg(&store).args(["--listen", "127.0.0.1:0", "--log", "warn", "--admin-party"]);
            processes.push(owner.start_that_says("recension serve", &mut command)?.0);
            script = Some(written(place, &program, &store)?);
            let front = if web == Web::Nginx {
                processes.push(fcgiwrap(beside, &socket)?);
                Behind::Programs(&socket)
            } else {
                Behind::Files
            };
            (front, "recension cgi, a process a page, beside recension serve on the same store".to_owned())
        }
    };
    let (process, address) = web.start(place, front)?;
    processes.insert(0, process);
    let prefix = if way == Way::Cgi { "page.cgi/" } else { "" };
    Ok(Served {
        processes,
        address,
        settings: format!("{}; {how}; whoever the web server lets in is admin", web.settings()),
        maker: Maker::Behind(web, Program::Ours(way)),
        ours: Some(Door { couch: Couch::new(address, None), prefix }),
        program: script,
    })
}

/// The CGI program: a script, as web servers want a file without arguments.
fn written(place: &Place<'_>, program: &Path, store: &Path) -> Result<PathBuf> {
    let file = place.dir.join("www").join("page.cgi");
    let text = format!(
        "#!/bin/sh\nexport RECENSION_ADMIN_PARTY=true\nexec {} cgi --log warn {}\n",
        program.display(),
        store.display()
    );
    std::fs::write(&file, text)
        .and_then(|()| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)))
        .map_err(LabError::io("writing a CGI program"))?;
    Ok(file)
}

/// The program, asked for the page as a web server asks a CGI program.
pub(super) fn asked(program: &Path, door: Option<&Door>) -> Command {
    let mut command = Command::new(program);
    plain_environment(&mut command);
    let target = door.map(|door| String::from_utf8_lossy(&door.request(Form::Page)).into_owned());
    let target = target.as_deref().and_then(|text| text.split(' ').nth(1)).unwrap_or(SCRIPT).to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    command.envs([
        ("GATEWAY_INTERFACE", "CGI/1.1"),
        ("REQUEST_METHOD", "GET"),
        ("REQUEST_URI", &target),
        ("SCRIPT_NAME", SCRIPT),
        ("PATH_INFO", path.strip_prefix(SCRIPT).unwrap_or_default()),
        ("QUERY_STRING", query),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("HTTP_ACCEPT", BROWSER),
        ("HTTP_CACHE_CONTROL", "no-store"),
    ]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door(prefix: &'static str) -> Door {
        Door { couch: Couch::new(([127, 0, 0, 1], 1).into(), None), prefix }
    }

    #[test]
    fn only_the_page_that_may_be_kept_is_asked_for_without_saying_that_none_is() {
        for form in [Form::Page, Form::Kept, Form::Escaped, Form::Html, Form::Json, Form::Csv] {
            let text = String::from_utf8(door("page.cgi/").request(form)).unwrap();
            assert!(text.starts_with("GET /page.cgi/") && text.ends_with("\r\n\r\n"), "{text}");
            assert_eq!(text.contains("no-store"), form != Form::Kept, "{text}");
        }
    }

    #[test]
    fn a_program_is_asked_for_what_a_web_server_would_ask_it_for() {
        let command = asked(Path::new("page.cgi"), Some(&door("page.cgi/")));
        let value = |name: &str| {
            let found = command.get_envs().find(|(own, _)| *own == name).and_then(|(_, value)| value);
            found.unwrap_or_default().to_string_lossy().into_owned()
        };
        assert_eq!(value("PATH_INFO"), "/numbers/_all_docs");
        assert!(value("QUERY_STRING").contains("template=site/page"));
        assert!(value("REQUEST_URI").starts_with("/page.cgi/numbers/_all_docs?"));
    }
}
