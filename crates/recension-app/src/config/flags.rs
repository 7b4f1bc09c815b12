//! Flags of `recension serve`, each of which the environment can give too.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{Config, Preset, RequestLog};

/// Flags of `recension serve` and `recension config`.
#[derive(Args, Clone, Debug, Default)]
pub struct ServeFlags {
    /// Where to listen; port 0 takes a free one (127.0.0.1:5984 unless the file says another)
    #[arg(long, env = "RECENSION_LISTEN", value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// A unix socket to listen on too
    #[arg(long, env = "RECENSION_UNIX_SOCKET", value_name = "PATH")]
    pub unix_socket: Option<PathBuf>,
    /// A TOML file; flags and the environment override it
    #[arg(long, env = "RECENSION_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What the users of a program are told to set up; other flags win over it
    #[arg(long, env = "RECENSION_PRESET", value_name = "PRESET")]
    pub preset: Option<Preset>,
    /// A server admin
    #[arg(long, env = "RECENSION_ADMIN", hide_env_values = true, value_name = "NAME:PASSWORD")]
    pub admin: Option<String>,
    /// Without server admins, treat everybody as one (loopback only)
    #[arg(long, env = "RECENSION_ADMIN_PARTY")]
    pub admin_party: bool,
    /// A certificate chain (PEM), for TLS
    #[arg(long, env = "RECENSION_TLS_CERTIFICATE", value_name = "FILE")]
    pub tls_certificate: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, env = "RECENSION_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Sites whose pages may send requests (CORS), with credentials; or `*`: all sites, without credentials
    #[arg(long, env = "RECENSION_CORS_ORIGINS", value_name = "ORIGIN", value_delimiter = ',')]
    pub cors_origins: Vec<String>,
    /// Address on which to serve Apocrypha clients too
    #[arg(long, env = "RECENSION_APOCRYPHA", value_name = "ADDRESS:PORT")]
    pub apocrypha: Option<SocketAddr>,
    /// The dialect of Apocrypha: haskell or python
    #[arg(long, env = "RECENSION_APOCRYPHA_DIALECT", value_name = "DIALECT")]
    pub apocrypha_dialect: Option<String>,
    /// Token that Apocrypha clients must send first
    #[arg(long, env = "RECENSION_APOCRYPHA_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub apocrypha_token: Option<String>,
    /// Let other machines' programs open the store there: recension --store recension://HOST:PORT
    #[arg(long, env = "RECENSION_ENGINE", value_name = "ADDRESS:PORT")]
    pub engine: Option<SocketAddr>,
    /// Token that these programs may send instead of a server admin's password, 16 bytes at least
    #[arg(long, env = "RECENSION_ENGINE_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub engine_token: Option<String>,
    /// Address on which to serve Redis clients too
    #[arg(long, env = "RECENSION_REDIS", value_name = "ADDRESS:PORT")]
    pub redis: Option<SocketAddr>,
    /// The branch of the store that Redis clients use [default: the main line]
    #[arg(long, env = "RECENSION_REDIS_BRANCH", value_name = "NAME")]
    pub redis_branch: Option<String>,
    /// Password that Redis clients must send (AUTH)
    #[arg(long, env = "RECENSION_REDIS_PASSWORD", hide_env_values = true, value_name = "PASSWORD")]
    pub redis_password: Option<String>,
    /// Memory for answers that are sent in pieces, of all of them together (67108864 unless the file says another)
    #[arg(long, env = "RECENSION_MAX_LIST_MEMORY", value_name = "BYTES")]
    pub max_list_memory: Option<usize>,
    /// What to log: error, warn, info, debug or a filter
    #[arg(long, env = "RECENSION_LOG", value_name = "LEVEL")]
    pub log: Option<String>,
    /// Write the log as one JSON object per line
    #[arg(long, env = "RECENSION_LOG_JSON")]
    pub log_json: bool,
    /// Log every request on standard output, with client, user, path, status, bytes and time
    #[arg(long, env = "RECENSION_LOG_REQUESTS", value_name = "FORMAT")]
    pub log_requests: Option<RequestLog>,
}

impl ServeFlags {
    /// Puts what is given over a configuration.
    pub(super) fn apply(&self, config: &mut Config) {
        fn set<T: Clone>(to: &mut T, from: Option<&T>) {
            if let Some(from) = from {
                to.clone_from(from);
            }
        }
        if let Some(preset) = self.preset {
            preset.apply(config);
        }
        set(&mut config.listen, self.listen.as_ref());
        set(&mut config.log, self.log.as_ref());
        set(&mut config.max_list_memory, self.max_list_memory.as_ref());
        config.unix_socket = self.unix_socket.clone().or(config.unix_socket.take());
        config.tls_certificate = self.tls_certificate.clone().or(config.tls_certificate.take());
        config.tls_key = self.tls_key.clone().or(config.tls_key.take());
        config.apocrypha.listen = self.apocrypha.or(config.apocrypha.listen);
        config.apocrypha.dialect = self.apocrypha_dialect.clone().or(config.apocrypha.dialect.take());
        config.apocrypha.token = self.apocrypha_token.clone().or(config.apocrypha.token.take());
        config.engine.listen = self.engine.or(config.engine.listen);
        config.engine.token = self.engine_token.clone().or(config.engine.token.take());
        config.redis.listen = self.redis.or(config.redis.listen);
        config.redis.branch = self.redis_branch.clone().or(config.redis.branch.take());
        config.redis.password = self.redis_password.clone().or(config.redis.password.take());
        config.admins.extend(self.admin.clone());
        config.log_json |= self.log_json;
        config.log_requests = self.log_requests.or(config.log_requests);
        config.admin_party |= self.admin_party;
        if !self.cors_origins.is_empty() {
            config.cors.enabled = true;
            config.cors.origins.clone_from(&self.cors_origins);
            // PouchDB asks with credentials. Sites that are named are trusted with them; all the world is not.
            config.cors.credentials |= !self.cors_origins.iter().any(|origin| origin == "*");
        }
    }
}
