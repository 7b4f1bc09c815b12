//! Proofs of access. The store cannot be used without one, and only this folder makes them: an endpoint that forgets to
//! ask for access does not compile.

/// Proof that the server's admin asks. Only [`super::Session::server_admin`] and a replicator that none but server
/// admins can write to make one.
#[derive(Clone, Copy, Debug)]
pub struct ServerAdmin(());

impl ServerAdmin {
    /// To be called after it was checked.
    pub(super) fn checked() -> Self {
        ServerAdmin(())
    }
}

/// Proof that access to a database was asked for and granted, or is asked for now.
#[derive(Clone, Copy, Debug)]
pub struct Granted(());

impl Granted {
    /// To be called by what checks the access.
    pub(super) fn checked() -> Self {
        Granted(())
    }
}
