//! `recension d`: a command of Apocrypha from the command line. It must never lose what somebody else writes while an
//! editor is open.

use std::io::{self, IsTerminal, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use recension_apocrypha::language::CHANGED;
use recension_apocrypha::limits::{FRAME_BYTES_MAX, REPLY_BYTES_MAX};
use recension_apocrypha::{Value, wire};

use super::apocrypha::default_socket;
use crate::context::Context;
use crate::error::{CliError, Result};
use crate::tls;

const EXAMPLES: &str = "\
Examples:
  recension d toppings + pineapple
  recension d toppings
  recension d toppings --edit
  recension d --strict menu pizza --keys
  recension d -- -c menu pizza
  recension d --host db.example.org --ca ca.pem menu
  recension d --completion bash

Without --host and --port it tries the unix socket first, then 127.0.0.1:9999. Piped input is the last word; \
after --set its lines are joined. At a terminal --edit opens $VISUAL or $EDITOR, and writes the saved text if \
nobody has changed the value meanwhile. Options come before the first word; put -- before a first word that \
begins with -. A link to this program with the name d takes only words.";

const BASH: &str = r#"# Completes the keys of Apocrypha: eval "$(recension d --completion bash)"
_recension_d() {
    local word=${COMP_WORDS[COMP_CWORD]} first=1 IFS=$'\n'
    [ "${COMP_WORDS[0]##*/}" = recension ] && first=2
    local path=("${COMP_WORDS[@]:first:COMP_CWORD-first}")
    COMPREPLY=($(recension d -- "${path[@]}" --keys </dev/null 2>/dev/null | while read -r key; do
        case $key in "$word"*) printf '%q\n' "$key" ;; esac
    done))
}
complete -F _recension_d d
_recension_or_d() {
    if [ "${COMP_WORDS[1]}" = d ] && [ "$COMP_CWORD" -gt 1 ]; then _recension_d; else _recension "$@"; fi
}
declare -F _recension >/dev/null && complete -F _recension_or_d -o nosort -o bashdefault -o default recension
"#;

/// Send an Apocrypha command to a server, and print its answer
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct D {
    /// The server's host
    #[arg(long, env = "AP_HOST", value_name = "HOST")]
    host: Option<String>,
    /// The server's port
    #[arg(long, env = "AP_PORT", value_name = "N")]
    port: Option<u16>,
    /// The server's unix socket
    #[arg(long, value_name = "PATH", conflicts_with_all = ["host", "port"])]
    socket: Option<PathBuf>,
    /// Use TLS
    #[arg(long, conflicts_with = "socket")]
    tls: bool,
    /// The certificates (PEM) to trust, instead of the system's; implies --tls
    #[arg(long, env = "RECENSION_APOCRYPHA_CA", value_name = "FILE", conflicts_with = "socket")]
    ca: Option<PathBuf>,
    /// The token that the server requires
    #[arg(long, env = "RECENSION_APOCRYPHA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    /// Print a script that completes keys in a shell: bash (zsh after `bashcompinit`)
    #[arg(long, value_name = "SHELL", value_parser = ["bash"])]
    completion: Option<String>,
    /// The command
    #[arg(value_name = "WORD", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// A connection's bytes.
trait Duplex: Read + Write {}

impl<S: Read + Write> Duplex for S {}

impl D {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        if self.completion.is_some() {
            return Ok(context.out.line(BASH.trim_end())?);
        }
        let mut words = self.words.clone();
        if !io::stdin().is_terminal() && !context.in_shell() {
            let mut text = String::new();
            io::stdin()
                .lock()
                .take(FRAME_BYTES_MAX as u64)
                .read_to_string(&mut text)
                .map_err(|error| CliError::io("reading standard input", &error))?;
            let text = text.trim_end_matches('\n');
            let is_json = words.last().is_some_and(|word| word == "--set" || word == "-s");
            words.extend((!text.is_empty()).then(|| if is_json { text.replace('\n', " ") } else { text.to_owned() }));
        }
        let mut server = self.connect()?;
        let wants_editor = words.last().is_some_and(|word| word == "--edit" || word == "-e");
        if wants_editor && io::stdin().is_terminal() && io::stdout().is_terminal() {
            return edit(&mut *server, &words, context);
        }
        let reply = ask(&mut *server, &words)?;
        if !reply.is_empty() {
            context.out.line(reply.trim_end_matches('\n'))?;
        }
        Ok(())
    }

    fn connect(&self) -> Result<Box<dyn Duplex>> {
        let to_socket = |path: &Path| -> io::Result<Box<dyn Duplex>> { Ok(Box::new(UnixStream::connect(path)?)) };
        let mut server = match &self.socket {
            Some(path) => {
                to_socket(path).map_err(|error| CliError::io(format!("connecting to {}", path.display()), &error))?
            }
            None if self.host.is_none() && self.port.is_none() && !self.speaks_tls() => {
                match to_socket(&default_socket()) {
                    Ok(server) => server,
                    Err(_) => self.connect_tcp()?,
                }
            }
            None => self.connect_tcp()?,
        };
        if let Some(token) = &self.token {
            ask(&mut *server, &["--token".to_owned(), token.clone()])?;
        }
        Ok(server)
    }

    fn connect_tcp(&self) -> Result<Box<dyn Duplex>> {
        let (host, port) = (self.host.as_deref().unwrap_or("127.0.0.1"), self.port.unwrap_or(9999));
        let stream = TcpStream::connect((host, port)).map_err(|error| {
            CliError::Io(format!(
                "no server of Apocrypha answers at {host}:{port}: {error}; `recension apocrypha` starts one, --host \
                 and \
                 --port name another"
            ))
        })?;
        let set = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(Duration::from_mins(5))));
        set.map_err(|error| CliError::io("connecting", &error))?;
        if self.speaks_tls() {
            return Ok(Box::new(tls::over(stream, host, self.ca.as_deref())?));
        }
        Ok(Box::new(stream))
    }

    fn speaks_tls(&self) -> bool {
        self.tls || self.ca.is_some()
    }
}

/// The reply to a command. An error that the server answers becomes an error here.
fn ask(server: &mut dyn Duplex, words: &[String]) -> Result<String> {
    let reply = exchange(server, words).map_err(|error| CliError::io("asking the server", &error))?;
    match reply.strip_prefix("error: ") {
        Some(why) if why.trim_end() == CHANGED => Err(CliError::Conflict(why.trim_end().to_owned())),
        Some(why) => Err(CliError::Input(why.trim_end().to_owned())),
        None => Ok(reply),
    }
}

fn exchange(server: &mut dyn Duplex, words: &[String]) -> io::Result<String> {
    // A word with newlines is several words: the existing clients send piped input this way.
    let mut frame = Vec::new();
    wire::write(words.join("\n").as_bytes(), &mut frame);
    server.write_all(&frame)?;
    let mut head = [0; wire::HEAD_BYTES];
    server.read_exact(&mut head)?;
    let length = u32::from_be_bytes(head) as usize;
    if length > REPLY_BYTES_MAX * 2 {
        return Err(io::Error::other(format!("the reply announces {length} bytes")));
    }
    let mut reply = Vec::new();
    server.take(length as u64).read_to_end(&mut reply)?;
    if reply.len() < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    String::from_utf8(reply).map_err(io::Error::other)
}

/// Lets an editor change a value.
fn edit(server: &mut dyn Duplex, words: &[String], context: &mut Context) -> Result<()> {
    let path = words.split_last().map_or(&[][..], |(_, path)| path);
    let before = ask(server, words)?;
    let folder = std::env::temp_dir().join(format!("recension-d-{}", std::process::id()));
    let failed = |error: io::Error| CliError::io(format!("editing in {}", folder.display()), &error);
    private_folder(&folder).map_err(failed)?;
    let file = folder.join("value.json");
    let edited = std::fs::write(&file, &before).map_err(failed).and_then(|()| {
        run_editor(&file)?;
        std::fs::read_to_string(&file).map_err(failed)
    });
    let wrote = edited.and_then(|after| {
        if after.trim() == before.trim() {
            return Ok(context.out.remark("nothing was changed")?);
        }
        let wrong = |error| CliError::Input(format!("{}: {error}; it stays there", file.display()));
        let json = Value::parse(&after).map_err(|error| wrong(error.to_string()))?.to_json();
        let expected = Value::parse(&before).map_err(|error| wrong(error.to_string()))?.to_json();
        let mut command = vec!["--if".to_owned(), expected];
        command.extend(path.iter().cloned());
        command.extend(["--set".to_owned(), json]);
        ask(server, &command).map(drop).map_err(|error| match error {
            CliError::Conflict(_) => CliError::Conflict(format!(
                "somebody else has changed it meanwhile; what was edited is in {}",
                file.display()
            )),
            other => other,
        })
    });
    if wrote.is_ok() {
        let _ = std::fs::remove_dir_all(&folder);
    }
    wrote
}

fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

fn run_editor(file: &Path) -> Result<()> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(std::env::var_os).unwrap_or_else(|| "vi".into());
    // As git does it: the variable is shell code, and the file is its argument.
    let mut script = editor;
    script.push(" \"$1\"");
    let ended = Command::new("sh").arg("-c").arg(&script).arg("sh").arg(file).status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(CliError::Io(format!("the editor ended with {status}; nothing was written"))),
        Err(error) => Err(CliError::io("starting the editor", &error)),
    }
}
