//! Shared parts of the systems that are reached over a network: streams with and without TLS, pooled connections, and
//! waiting for news.

#[cfg(feature = "mysql")]
mod driver;
#[cfg(any(feature = "etcd", feature = "s3"))]
pub(crate) mod http;
#[cfg(any(feature = "postgres", feature = "mongodb", feature = "mysql"))]
mod pool;
#[cfg(any(feature = "postgres", feature = "mongodb"))]
mod stream;
mod tls;
mod watch;
#[cfg(feature = "s3")]
pub(crate) mod windows;

#[cfg(feature = "mysql")]
pub(crate) use driver::Driver;
#[cfg(any(feature = "postgres", feature = "mongodb", feature = "mysql"))]
pub(crate) use pool::Pool;
#[cfg(any(feature = "postgres", feature = "mongodb"))]
pub(crate) use stream::{Stream, connect};
#[cfg(any(feature = "etcd", feature = "mysql", feature = "s3"))]
pub(crate) use tls::certificates;
#[cfg(any(feature = "postgres", feature = "mongodb"))]
pub(crate) use tls::config;
pub(crate) use watch::Watch;

use std::time::Duration;

/// How long connecting may take.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long an answer may take. What has taken so long is not asked a second time: a system that hangs is told of
/// within twice this time, whatever is asked and however many hosts it has.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
