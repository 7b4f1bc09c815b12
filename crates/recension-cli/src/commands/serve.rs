//! `recension serve` and `recension config`: the HTTP server, and what it is configured to.

use clap::Args;
use recension_server::config::{Config, ServeFlags};
use recension_server::{Server, logs};

use crate::context::Context;
use crate::error::{CliError, Result};

/// Serve the store over HTTP, as CouchDB does
///
/// PouchDB and other clients of CouchDB read, write and sync with it. Ctrl-C or SIGTERM ends it when the requests
/// that it is at are finished.
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

/// Print how `serve` would be configured, as TOML
#[derive(Debug, Args)]
pub struct ConfigCommand {
    /// The store (instead of --store)
    #[arg(value_name = "DIR")]
    pub dir: Option<String>,
    /// What serve would be given.
    #[command(flatten)]
    pub flags: ServeFlags,
}

fn configured(flags: &ServeFlags, dir: Option<&str>, context: &Context) -> Result<Config> {
    // The file may name a store: the command line's default is weaker than that, what it names is not.
    Config::of(flags, dir.or(context.named_address())).map_err(|error| CliError::Usage(error.message))
}

impl ConfigCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let config = configured(&self.flags, self.dir.as_deref(), context)?;
        Ok(context.out.line(config.to_toml().trim_end())?)
    }
}

impl Serve {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        let config = configured(&self.flags, self.dir.as_deref(), context)?;
        logs::init(&config);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::io("starting the server's threads", &error))?;
        runtime.block_on(async {
            let server = Server::bind(config).await.map_err(|error| CliError::Io(error.to_string()))?;
            // Whoever started it learns from this line where it listens, and that it does.
            context.out.line(&format!("listening on {}", server.url()))?;
            if let Some(address) = server.apocrypha() {
                context.out.line(&format!("listening for Apocrypha on {address}"))?;
            }
            if let Some(admin) = server.first_admin() {
                let (name, password) = (&admin.name, &admin.password);
                context.out.line(&format!("server admin: {name}, password: {password} (it is not shown again)"))?;
            }
            context.out.flush()?;
            server.run(recension_server::signalled()).await.map_err(|error| CliError::Io(error.to_string()))
        })
    }
}
