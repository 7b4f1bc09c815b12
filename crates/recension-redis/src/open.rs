//! The door of a store, with all commands.

use recension::Store;

use crate::commands;
use crate::door::Door;
use crate::settings::Settings;

impl Door {
    /// The door of a store.
    pub fn on(store: &Store, settings: Settings) -> Self {
        Door::with(store, settings, commands::find)
    }
}
