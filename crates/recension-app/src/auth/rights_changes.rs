//! The announcement that rights were changed.

use tokio::sync::watch;

/// Wakes those that wait with rights when some rights were changed.
#[derive(Debug)]
pub struct RightsChanges(watch::Sender<()>);

impl Default for RightsChanges {
    fn default() -> Self {
        RightsChanges(watch::Sender::new(()))
    }
}

impl RightsChanges {
    /// Says that some rights were changed, or may have been.
    pub fn tell(&self) {
        self.0.send_replace(());
    }

    /// What a waiting feed listens to.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.0.subscribe()
    }
}
