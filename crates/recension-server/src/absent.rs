//! The listeners of doors that are not built in: types without a value, in the places of those that listen.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use recension::Store;

use crate::listen::Tls;
use crate::serve_error::ServeError;
use recension_app::state::App;

/// A listener that is none. The configuration has refused an address for it by the feature's name.
pub(crate) enum Absent {}

impl Absent {
    #[expect(clippy::unused_async, reason = "the listeners that are there bind so")]
    pub(crate) async fn configured(_: &Arc<App>, _: &Store) -> Result<Option<Self>, ServeError> {
        Ok(None)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        match *self {}
    }

    pub(crate) fn tls(&self) -> Option<Arc<Tls>> {
        match *self {}
    }

    #[expect(clippy::unused_async, reason = "the listeners that are there run so")]
    pub(crate) async fn run(self, _: impl Future<Output = ()>) -> Result<(), ServeError> {
        match self {}
    }
}
