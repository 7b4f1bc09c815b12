//! `recension fcgi`, `recension scgi` and `recension cgi`: the server behind a web server, which does TLS and knows the
//! clients' addresses. The store may be open in another process at the same time.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use clap::Args;
use recension_server::config::{Config, ServeFlags};
use recension_server::{Environment, Gateway, Place, Protocol, ServeError, logs};

use crate::context::Context;
use crate::error::{CliError, Result};

/// Flags of all gateways.
#[derive(Debug, Args)]
pub struct Flags {
    /// The store (instead of --store)
    #[arg(value_name = "DIR")]
    pub dir: Option<String>,
    /// A TOML file, as serve reads it; flags and the environment override it
    #[arg(long, env = "RECENSION_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A server admin
    #[arg(long, env = "RECENSION_ADMIN", hide_env_values = true, value_name = "NAME:PASSWORD")]
    pub admin: Option<String>,
    /// Without server admins, treat everybody whom the web server lets in as one
    #[arg(long, env = "RECENSION_ADMIN_PARTY")]
    pub admin_party: bool,
    /// What to log: error, warn, info, debug or a filter
    #[arg(long, env = "RECENSION_LOG", value_name = "LEVEL")]
    pub log: Option<String>,
}

/// Flags of gateways that listen.
#[derive(Debug, Args)]
pub struct Listening {
    /// The address that the web server connects to [default: for fcgi, the socket that the web server starts it with]
    #[arg(long, value_name = "unix:PATH|ADDRESS:PORT")]
    pub listen: Option<Place>,
    /// Permissions of the unix socket, as for chmod
    #[arg(long, value_name = "OCTAL", value_parser = mode)]
    pub socket_mode: Option<u32>,
    /// As what.
    #[command(flatten)]
    pub flags: Flags,
}

/// Serve the store behind a web server, by FastCGI
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  recension fcgi notes.store --listen unix:/run/recension.sock --socket-mode 660\n  \
    nginx:  location / { fastcgi_pass unix:/run/recension.sock; include fastcgi_params; }"
)]
pub struct Fcgi {
    /// Where, and as what.
    #[command(flatten)]
    pub listening: Listening,
}

/// Serve the store behind a web server, by SCGI
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  recension scgi notes.store --listen 127.0.0.1:4000\n  \
    nginx:  location / { scgi_pass 127.0.0.1:4000; include scgi_params; }")]
pub struct Scgi {
    /// Where, and as what.
    #[command(flatten)]
    pub listening: Listening,
}

/// Answer one request as a CGI program
///
/// The request is in the environment and on standard input (RFC 3875). The store may be open in other processes; if a
/// server has it open, requests are faster.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    REQUEST_URI=/notes/_all_docs RECENSION_ADMIN_PARTY=true recension cgi notes.store\n  \
    Apache:  ScriptAlias / /srv/recension.sh/   (a script that ends with: exec recension cgi /srv/notes.store)")]
pub struct CgiCommand {
    /// Open the store for reading only; writes are refused
    #[arg(long)]
    pub read_only: bool,
    /// As what.
    #[command(flatten)]
    pub flags: Flags,
}

fn mode(text: &str) -> std::result::Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o777 => Ok(mode),
        _ => Err("give three octal digits, such as 660".to_owned()),
    }
}

impl Flags {
    fn configured(&self, context: &Context) -> Result<Config> {
        let flags = ServeFlags {
            config: self.config.clone(),
            admin: self.admin.clone(),
            admin_party: self.admin_party,
            log: self.log.clone(),
            ..ServeFlags::default()
        };
        context.whole_store("gateway")?;
        let store = self.dir.as_deref().or(context.named_address());
        let config = Config::of(&flags, store).map_err(|error| CliError::Usage(error.message))?;
        Ok(config.with_key_source(context.key_source()))
    }
}

fn failed(error: &ServeError) -> CliError {
    CliError::Io(error.to_string())
}

impl Listening {
    fn run(&self, protocol: Protocol, context: &mut Context) -> Result<()> {
        let config = self.flags.configured(context)?;
        context.error_as_json = config.log_json;
        recension_server::descriptors::raise_limit();
        logs::init(&config.log, config.log_json);
        let place = match (&self.listen, protocol) {
            (Some(place), _) => place.clone(),
            (None, Protocol::FastCgi) => Place::Inherited,
            (None, Protocol::Scgi) => {
                return Err(CliError::Usage("scgi listens somewhere: give --listen unix:PATH or ADDRESS:PORT".into()));
            }
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::io("starting the gateway's threads", &error))?;
        let done = runtime.block_on(async {
            let gateway = Gateway::bind(config, protocol, &place).await.map_err(|error| failed(&error))?;
            if let (Some(mode), Place::Unix(path)) = (self.socket_mode, &place) {
                let permissions = std::fs::Permissions::from_mode(mode);
                std::fs::set_permissions(path, permissions)
                    .map_err(|error| CliError::io("giving the socket its mode", &error))?;
            }
            if place != Place::Inherited {
                context.out.line(&format!("listening on {}", gateway.place()))?;
                context.out.flush()?;
            }
            if let Some(admin) = gateway.first_admin() {
                let (name, password) = (&admin.name, &admin.password);
                let _ =
                    writeln!(std::io::stderr(), "server admin: {name}, password: {password} (it is not shown again)");
            }
            gateway.run(recension_server::signalled()).await.map_err(|error| failed(&error))
        });
        logs::close();
        done
    }
}

impl Fcgi {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        self.listening.run(Protocol::FastCgi, context)
    }
}

impl Scgi {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        self.listening.run(Protocol::Scgi, context)
    }
}

impl CgiCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let config = self.flags.configured(context)?;
        context.error_as_json = config.log_json;
        let variables = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect();
        let variables = Environment(variables);
        let mut output = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
        if recension_server::handed_over(&config, &variables, &mut output).map_err(|error| failed(&error))? {
            return Ok(());
        }
        recension_server::descriptors::raise_limit();
        logs::init(&config.log, config.log_json);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::io("starting the program's threads", &error))?;
        let answered = recension_server::cgi(config, variables, std::io::stdin(), output, self.read_only);
        runtime.block_on(answered).map_err(|error| failed(&error))?;
        // It does not wait for a web server that keeps standard input open.
        runtime.shutdown_background();
        logs::close();
        Ok(())
    }
}
