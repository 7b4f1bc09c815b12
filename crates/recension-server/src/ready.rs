//! A request made from the variables of CGI, as gateways and CGI programs hand it over, ready to be answered.

use std::sync::Arc;

use http::{Request, Response};
use recension_gateway::{Environment, Malformed, environment};

use crate::dispatch::answered;
use recension_app::auth::connection::Connection;
use recension_app::observed::ObservedBody;
use recension_app::state::App;
use recension_wire::arriving::{Arriving, Handed, Hander, Mount, Secure, handed};

/// A request made from variables, ready to be answered, and the sender of its body.
pub(crate) struct Ready {
    pub(crate) request: Request<Arriving>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) length: Option<u64>,
}

impl Ready {
    pub(crate) fn of(environment: &Environment) -> Result<(Self, Hander), Malformed> {
        let asked = environment::request(environment)?;
        let (hander, body): (Hander, Handed) = handed(asked.length);
        let mut request = Request::from_parts(asked.head, Arriving::Handed(body));
        if asked.secure {
            request.extensions_mut().insert(Secure);
        }
        if let Some(mount) = asked.mount {
            request.extensions_mut().insert(Mount(mount));
        }
        let connection = Arc::new(Connection::from(asked.client));
        Ok((Ready { request, connection, length: asked.length }, hander))
    }

    pub(crate) async fn answered(self, app: &Arc<App>) -> Response<ObservedBody> {
        answered(Arc::clone(app), self.connection, self.request).await
    }
}
