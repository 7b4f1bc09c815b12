//! Sockets in a store's folder: their permissions, their creation, and the way to them if a path is longer than the
//! address of a socket may be. Only processes of one user meet there.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use recension_engine::{EngineError, Result};

use crate::wire::{Connector, Halves, Patient};

/// The name of the engine's socket in the folder.
pub(crate) const SOCKET_FILE: &str = "SOCKET";

/// How long an owner may take to greet. One that is busy does it at once, and one that is stopped never does.
pub(crate) const GREETED_WITHIN: Duration = Duration::from_secs(20);

/// The longest path that is used directly; the address of a socket has room for 107 bytes.
const PLAIN_PATH_BYTES_MAX: usize = 100;

/// Does `work` with a short path of `name` in `folder`.
fn with_short_path<T>(folder: &Path, name: &str, work: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let plain = folder.join(name);
    if plain.as_os_str().len() <= PLAIN_PATH_BYTES_MAX {
        return work(&plain);
    }
    let opened = File::open(folder)?;
    work(&PathBuf::from(format!("/proc/self/fd/{}/{name}", opened.as_raw_fd())))
}

/// Listens under a name in the folder of a store whose lock this process holds. An existing socket there is a dead
/// process's.
///
/// # Errors
/// [`EngineError::Io`].
pub fn listen(folder: &Path, name: &str) -> Result<UnixListener> {
    let failed = |error| EngineError::io(format!("listening on {}", folder.join(name).display()), error);
    // Its name before it replaces a dead process's.
    let new_name = format!("{name}.new");
    let new = folder.join(&new_name);
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let listener = with_short_path(folder, &new_name, |path| UnixListener::bind(path)).map_err(failed)?;
    // Nobody can find it before only its owner may use it.
    fs::set_permissions(&new, Permissions::from_mode(0o600))
        .and_then(|()| fs::rename(&new, folder.join(name)))
        .map_err(failed)?;
    Ok(listener)
}

/// Removes the socket of a name, so that no process connects to an owner that is about to end. The store's lock is
/// held.
pub fn remove(folder: &Path, name: &str) {
    // If it stays, it refuses connections, as a dead process's does.
    let _ = fs::remove_file(folder.join(name));
}

/// Whether there is a socket, of a living process or of a dead one.
pub(crate) fn is_there(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(SOCKET_FILE)).is_ok()
}

/// The owner of the store in a folder.
pub(crate) struct InFolder(PathBuf);

impl InFolder {
    pub(crate) fn of(folder: &Path) -> Arc<dyn Connector> {
        Arc::new(InFolder(folder.to_owned()))
    }
}

impl Connector for InFolder {
    fn connect(&self) -> io::Result<Halves> {
        let stream = connect(&self.0, SOCKET_FILE)?;
        stream.set_read_timeout(Some(GREETED_WITHIN))?;
        let process = rustix::net::sockopt::socket_peercred(&stream).ok().map(|peer| peer.pid.as_raw_nonzero().get());
        let (from, waiting) = (stream.try_clone()?, stream.try_clone()?);
        let greeted = Box::new(move || waiting.set_read_timeout(None));
        Ok(Halves { read: Box::new(Patient { from, process }), write: Box::new(stream), greeted })
    }
}

/// Connects to the socket of a name, if a process of this one's user listens there.
///
/// # Errors
/// The system's, and [`io::ErrorKind::PermissionDenied`] for another user's process.
pub fn connect(folder: &Path, name: &str) -> io::Result<UnixStream> {
    let stream = with_short_path(folder, name, |path| UnixStream::connect(path))?;
    check_peer(&stream)?;
    Ok(stream)
}

/// Refuses a peer that runs as another user.
///
/// # Errors
/// [`io::ErrorKind::PermissionDenied`].
pub fn check_peer(stream: &(impl AsFd + ?Sized)) -> io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    let own = rustix::process::geteuid();
    if peer.uid == own {
        return Ok(());
    }
    let what = format!(
        "the store is in use by a process of user {}, and this is one of user {}: run it as that user",
        peer.uid.as_raw(),
        own.as_raw()
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

/// Whether the socket is another user's.
pub(crate) fn is_foreign(folder: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder.join(SOCKET_FILE)).is_ok_and(|found| found.uid() != own)
}
