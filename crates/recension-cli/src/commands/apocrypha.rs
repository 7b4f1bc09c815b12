//! `recension apocrypha`: a server of Apocrypha's command language. It takes the flags of the existing servers, so a
//! start script goes on working when only the program's name is changed in it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use recension::Store;
use recension::engine::Durability;
use recension_apocrypha::{Database, Dialect, Settings, Token, file};
use recension_server::{Apocrypha, ApocryphaConfig, Backend, logs, trace_to_stderr};

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};

/// The existing servers' port.
const PORT: u16 = 9999;

/// The setting of the collection that records that the file was read.
const IMPORTED: &str = "apocrypha_imported";

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DurabilityName {
    /// Loss of power
    Disk,
    /// The end of the process
    Process,
}

const EXAMPLES: &str = "\
Examples:
  recension apocrypha
  recension apocrypha --database db.json --tcp-port 9998 --dialect python
  recension apocrypha --stateless --no-unix --trace
  RECENSION_APOCRYPHA_TOKEN=secret recension apocrypha --listen 0.0.0.0:9999

The members of the top level are the documents of the collection apocrypha. --database FILE names a database \
file of the existing servers: it is read once, into the store FILE.recension, and never written; `recension \
--store FILE.recension export apocrypha --format apocrypha -o FILE` writes it back.";

/// Serve the store to Apocrypha clients, over TCP and a unix socket
///
/// Every acknowledged write is on disk, unless --durability or --stateless is set. Ctrl-C or SIGTERM ends it when
/// running commands are answered.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
// These are the flags of the two programs that this one replaces.
#[allow(clippy::struct_excessive_bools)]
pub struct ApocryphaCommand {
    /// The existing server to behave like: haskell or python
    #[arg(long, env = "RECENSION_APOCRYPHA_DIALECT", default_value = "haskell", value_name = "DIALECT")]
    dialect: Dialect,
    /// The address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:9999", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// The port to listen on, on 127.0.0.1
    #[arg(long, value_name = "N", conflicts_with = "listen")]
    tcp_port: Option<u16>,
    /// The unix socket to listen on too (apocrypha.sock in the folder for temporary files)
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<PathBuf>,
    /// Do not listen on a unix socket
    #[arg(long, conflicts_with = "unix_socket")]
    no_unix: bool,
    /// A database file of the existing servers, or a store
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// Keep everything in memory; it is gone when the server ends
    #[arg(long)]
    stateless: bool,
    /// What an acknowledged write survives
    #[arg(long, value_enum, default_value = "disk")]
    durability: DurabilityName,
    /// Forward all commands to another server
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["database", "stateless"])]
    proxy: Option<String>,
    /// Token that TCP clients must send first; required beyond loopback
    #[arg(long, env = "RECENSION_APOCRYPHA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    token: Option<String>,
    /// A certificate chain (PEM), for TLS
    #[arg(long, env = "RECENSION_TLS_CERTIFICATE", value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, env = "RECENSION_TLS_KEY", value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// The maximum length of a command, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = recension_apocrypha::limits::FRAME_BYTES_MAX)]
    max_frame: usize,
    /// Memory for replies longer than 64 KiB, of all connections together, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = recension_apocrypha::limits::LONG_REPLIES_BYTES_MAX)]
    max_replies: usize,
    /// The maximum number of connections
    #[arg(long, value_name = "N", default_value_t = recension_apocrypha::limits::CONNECTIONS_MAX)]
    max_connections: usize,
    /// Threads that answer requests; by default one less than there are processors
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Print each command and its time on standard error
    #[arg(long)]
    trace: bool,
    /// Print no remarks
    #[arg(long)]
    headless: bool,
    /// Accepted, and does nothing: there is no cache
    #[arg(long)]
    no_cache: bool,
}

impl ApocryphaCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        recension_server::descriptors::raise_limit();
        logs::init("warn", false);
        let config = self.config()?;
        if self.no_cache && !self.headless {
            context.out.remark("--no-cache changes nothing: no answer comes from a cache that could be stale")?;
        }
        let backend = match &self.proxy {
            Some(host) => Backend::Proxy(with_port(host)),
            None => Backend::Database(self.open(context)?),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(config.event_loops)
            .enable_all()
            .build()
            .map_err(|error| CliError::io("starting the server's threads", &error))?;
        runtime.block_on(async {
            let failed = |error: recension_server::ServeError| CliError::Io(error.to_string());
            let server = Apocrypha::bind(config, backend).await.map_err(failed)?;
            context.out.line(&format!("listening on {}", server.address()))?;
            context.out.flush()?;
            server.run(recension_server::signalled()).await.map_err(failed)
        })
    }

    fn config(&self) -> Result<ApocryphaConfig> {
        let token = self.token.as_deref().map(|text| {
            Token::new(text).ok_or_else(|| CliError::Usage("a token is one line of 1 to 1024 bytes".to_owned()))
        });
        let unix_socket = self.unix_socket.clone().unwrap_or_else(default_socket);
        let usual = ApocryphaConfig::default();
        Ok(ApocryphaConfig {
            listen: self.tcp_port.map_or(self.listen, |port| SocketAddr::from(([127, 0, 0, 1], port))),
            unix_socket: (!self.no_unix).then_some(unix_socket),
            tls: self.tls_certificate.clone().zip(self.tls_key.clone()),
            settings: Settings {
                token: token.transpose()?,
                frame_bytes_max: self.max_frame,
                sending: recension::engine::budget::Budget::new(self.max_replies),
                trace: self.trace.then(trace_to_stderr),
                ..Settings::default()
            },
            max_connections: self.max_connections,
            event_loops: self.workers.map_or(usual.event_loops, usize::from),
            ..usual
        })
    }

    fn open(&self, context: &mut Context) -> Result<Database> {
        let file = self.database.as_deref().filter(|path| !path.is_dir());
        if self.stateless {
            context.set_address("memory:");
        } else if let Some(path) = &self.database {
            let mut address = path.clone().into_os_string();
            if file.is_some() {
                address.push(".recension");
            }
            let address = address.to_str().ok_or_else(|| CliError::Usage("--database is not UTF-8".to_owned()))?;
            context.set_address(address);
        }
        context.share();
        let store: Store = context.store(Missing::Create)?;
        let database = Database::on(&store, self.dialect)?;
        if let Some(path) = file.filter(|path| path.exists()) {
            self.import(&database, path, context)?;
        }
        let durability = match self.durability {
            DurabilityName::Disk if !self.stateless => Durability::Disk,
            _ => Durability::Process,
        };
        Ok(database.with_durability(durability))
    }

    /// Reads the file, if that was not done before. No request is answered until all of it is there.
    fn import(&self, database: &Database, path: &Path, context: &mut Context) -> Result<()> {
        if database.collection().settings().get(IMPORTED)?.is_some() {
            return Ok(());
        }
        let number = file::import(database, path)
            .map_err(|error| CliError::Input(format!("reading the database {}: {error}", path.display())))?;
        database.collection().settings().set(IMPORTED, Some(&path.display().to_string()))?;
        if self.headless {
            return Ok(());
        }
        Ok(context.out.remark(&format!("{number} members were read from {}", path.display()))?)
    }
}

/// Adds the usual port if none is named. An address of IPv6 stands in brackets, or has no port.
fn with_port(host: &str) -> String {
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    match (host.starts_with('['), after.matches(':').count()) {
        (true | false, 0) => format!("{host}:{PORT}"),
        (false, 2..) => format!("[{host}]:{PORT}"),
        _ => host.to_owned(),
    }
}

/// Where the existing servers have their unix socket.
pub(super) fn default_socket() -> PathBuf {
    std::env::temp_dir().join("apocrypha.sock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_named_with_or_without_its_port() {
        for (named, address) in [
            ("db", "db:9999"),
            ("db:1", "db:1"),
            ("127.0.0.1", "127.0.0.1:9999"),
            ("::1", "[::1]:9999"),
            ("[::1]", "[::1]:9999"),
            ("[::1]:1", "[::1]:1"),
        ] {
            assert_eq!(with_port(named), address);
        }
    }
}
