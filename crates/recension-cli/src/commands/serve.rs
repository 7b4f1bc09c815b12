//! `recension serve` and `recension config`: the HTTP server, and its configuration.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::path::Path;

use clap::Args;
use recension_server::config::{Config, ServeFlags};
use recension_server::{ServeError, Server, logs};
use serde_json::json;

use crate::context::{Context, is_absent, made_in};
use crate::error::{CliError, Result};

/// Serve the store over HTTP, as CouchDB does
///
/// PouchDB and other CouchDB clients can read, write and sync with it. Ctrl-C or SIGTERM ends it when running
/// requests are finished. SIGHUP reads the configuration and the certificate again.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension serve notes.store\n  \
    RECENSION_ADMIN=ada:secret recension serve --listen 0.0.0.0:5984 --cors-origins https://example.org")]
pub struct Serve {
    /// The store (instead of --store)
    #[arg(value_name = "DIR")]
    pub dir: Option<String>,
    /// How to serve.
    #[command(flatten)]
    pub flags: ServeFlags,
}

/// Print the configuration that `serve` would use, as TOML
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension config --listen 127.0.0.1:8080 notes.store > recension.toml\n  \
    recension config --config recension.toml")]
pub struct ConfigCommand {
    /// The store (instead of --store)
    #[arg(value_name = "DIR")]
    pub dir: Option<String>,
    /// What serve would be given.
    #[command(flatten)]
    pub flags: ServeFlags,
}

fn configured(flags: &ServeFlags, dir: Option<&str>, context: &Context) -> Result<Config> {
    context.whole_store("serve")?;
    // The file may name a store: the command line's default is weaker than that, what it names is not.
    let config = Config::of(flags, dir.or(context.named_address()));
    let config = config.map_err(|error| CliError::Usage(error.message))?;
    Ok(config.with_key_source(context.key_source()))
}

impl ConfigCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let config = configured(&self.flags, self.dir.as_deref(), context)?;
        Ok(context.out.line(config.to_toml().trim_end())?)
    }
}

/// A line on standard error. Nobody may read it.
fn say(as_json: bool, text: &str, json: impl FnOnce() -> serde_json::Value) {
    let mut to = std::io::stderr();
    let _ = if as_json { writeln!(to, "{}", json()) } else { writeln!(to, "{text}") };
}

/// The line about a door that is open.
fn listening(as_json: bool, whom: &str, door: &str, address: &dyn std::fmt::Display) -> String {
    if as_json {
        json!({ "listening": address.to_string(), "door": door }).to_string()
    } else {
        format!("listening {whom}on {address}")
    }
}

impl Serve {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        context.error_as_json = self.flags.log_json;
        let mut config = configured(&self.flags, self.dir.as_deref(), context)?;
        context.error_as_json = config.log_json;
        config.script_worker = crate::functions::worker();
        recension_server::descriptors::raise_limit();
        logs::init(&config.log, config.log_json);
        let (flags, named) =
            (self.flags.clone(), self.dir.clone().or_else(|| context.named_address().map(str::to_owned)));
        let keys = context.key_source().clone();
        let again = move || Config::of(&flags, named.as_deref()).map(|config| config.with_key_source(&keys));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::io("starting the server's threads", &error))?;
        let as_json = config.log_json;
        let done = runtime.block_on(async {
            let failed = |error: ServeError| CliError::Io(error.to_string());
            let folder = Path::new(&config.store).to_owned();
            let was_absent = is_absent(&folder);
            let server = Server::bind(config).await.map_err(failed)?;
            if was_absent && folder.is_dir() {
                say(as_json, &made_in(&folder), || json!({ "new_store": folder }));
            }
            if as_json {
                logs::begin_serving(&folder, &server.url());
            }
            // The server prints beside this command's own lines. They have standard output locked, so it gets a handle
            // of its own.
            let out = std::io::stdout().as_fd().try_clone_to_owned();
            let out = out.map_err(|error| CliError::io("opening standard output for the log of requests", &error))?;
            server.log_requests_to(std::fs::File::from(out)).map_err(failed)?;
            server.reload_on_hangup(again).map_err(failed)?;
            // The program that started it learns from this line that the server listens, and where.
            let mut lines = vec![listening(as_json, "", "http", &server.url())];
            if let Some(address) = server.apocrypha() {
                lines.push(listening(as_json, "for Apocrypha ", "apocrypha", &address));
            }
            if let Some(address) = server.engine() {
                lines.push(listening(as_json, "for programs that open the store ", "engine", &address));
            }
            if let Some(address) = server.redis() {
                lines.push(listening(as_json, "for Redis ", "redis", &address));
            }
            // Nobody may read them, or their disk is full: the server serves all the same.
            let told = lines.iter().try_for_each(|line| context.out.line(line)).and_then(|()| context.out.flush());
            if let Err(error) = told {
                let why = format!("standard output cannot be written ({error})");
                say(as_json, &format!("recension: {why}; {}", lines.join(", ")), || json!({ "error": why }));
            }
            if let Some(admin) = server.first_admin() {
                // Standard output goes to other programs and into logs, so the password goes to standard error.
                let (name, password) = (&admin.name, &admin.password);
                let text = format!("server admin: {name}, password: {password} (it is not shown again)");
                say(as_json, &text, || json!({ "server_admin": name, "password": password }));
            }
            let ended =
                server.run(recension_server::signalled()).await.map_err(|error| CliError::Io(error.to_string()));
            if as_json {
                logs::end_serving();
            }
            ended
        });
        logs::close();
        done
    }
}
