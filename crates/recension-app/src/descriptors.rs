//! How many files and connections the process may have open: raised as far as the system lets it, and shared out.

use rustix::process::{Resource, getrlimit, setrlimit};

use crate::config::Config;

/// Descriptors that stay for the store, for workers and for logs, at least.
const KEPT_MIN: u64 = 128;

/// Raises the limit to the highest that the system allows without an administrator.
pub fn raise_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        limit.current = limit.maximum;
        // If the system refuses, what there is is shared out.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Connections that there may be at a time, by doors.
#[cfg_attr(not(feature = "apocrypha"), allow(dead_code, reason = "a door is not built in"))]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Doors {
    /// Those of HTTP, of gateways and of clients of Redis.
    pub http: usize,
    pub apocrypha: usize,
    /// Those of other machines' programs.
    pub engine: usize,
}

/// How many connections there may be, of those that are wanted: a quarter of the descriptors is kept. Silence at the
/// other doors takes no place from HTTP.
pub fn doors(config: &Config) -> Doors {
    let doors = shared_out(config, getrlimit(Resource::Nofile).current);
    if doors.http < config.max_connections {
        tracing::warn!(
            "{} connections at a time instead of {}: the system's limit of open files allows no more (ulimit -n)",
            doors.http,
            config.max_connections
        );
    }
    doors
}

/// The same for a door alone.
#[cfg(feature = "apocrypha")]
pub fn places(wanted: usize) -> usize {
    wanted.min(room(getrlimit(Resource::Nofile).current))
}

fn shared_out(config: &Config, limit: Option<u64>) -> Doors {
    let room = room(limit);
    let apocrypha = if config.apocrypha.listen.is_some() { config.max_connections.min(room / 4) } else { 0 };
    // Each has two.
    let engine =
        if config.engine.listen.is_some() { recension_remote::limits::CONNECTIONS_MAX.min(room / 8) } else { 0 };
    Doors { http: config.max_connections.min(room.saturating_sub(apocrypha + 2 * engine)), apocrypha, engine }
}

fn room(limit: Option<u64>) -> usize {
    let Some(limit) = limit else { return usize::MAX };
    let room = limit.saturating_sub((limit / 4).max(KEPT_MIN)).max(limit / 2).max(1);
    usize::try_from(room).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_the_descriptors_is_kept_and_doors_share_the_rest() {
        let mut config = Config { max_connections: 10_000, ..Config::default() };
        for (limit, http) in [(Some(1024), 768), (Some(256), 128), (Some(1_048_576), 10_000), (None, 10_000)] {
            assert_eq!(shared_out(&config, limit), Doors { http, apocrypha: 0, engine: 0 });
        }
        config.apocrypha.listen = Some(config.listen);
        config.engine.listen = Some(config.listen);
        assert_eq!(shared_out(&config, Some(1024)), Doors { http: 384, apocrypha: 192, engine: 96 });
    }
}
