//! The way in for a limited user: their limits in a database.

use std::sync::Arc;

use super::SECRET;
use super::limits::{Limits, Shared};
use recension_app::auth::databases::Database;
use recension_app::auth::{Session, users};
use recension_app::identity::random::new_uuid;
use recension_app::state::App;
use recension_wire::error::{ApiError, Result};

/// The limits of who asks, in a database whose rule limits them.
pub async fn limits(app: &Arc<App>, session: &Session, db: Database) -> Result<Shared> {
    let own = session.clone();
    let limits = app.blocking(move || {
        let secret = secret(&own)?;
        let users = own.collection_of_users(users::DATABASE)?;
        Limits::of(db, users.as_ref(), &secret).map(Arc::new)
    });
    limits.await
}

/// The refusal of an endpoint that limited users do not have.
pub fn refused() -> ApiError {
    ApiError::forbidden("The database has access rules: this is for its admins.")
}

/// The server's secret, made once.
fn secret(session: &Session) -> Result<String> {
    let databases = session.databases();
    if let Some(secret) = databases.note(SECRET)? {
        return Ok(secret);
    }
    databases.set_note(SECRET, &format!("{}{}", new_uuid(), new_uuid()))?;
    databases.note(SECRET)?.ok_or_else(|| ApiError::internal("a note that was made is not there".to_owned()))
}
