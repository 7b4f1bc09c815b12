//! Commands that are not built in. They take any words, and refuse by the name of the feature that they need.

/// A module with commands that refuse.
macro_rules! absent {
    ($module:ident, $feature:literal, $($command:ident),+) => {
        /// Commands that this program was built without.
        #[cfg(not(feature = $feature))]
        pub mod $module {
            use crate::context::Context;
            use crate::error::{CliError, Result};

            $(
                /// A command that is not built in.
                #[derive(Debug, clap::Args)]
                pub struct $command {
                    #[arg(hide = true, num_args = 0.., trailing_var_arg = true, allow_hyphen_values = true)]
                    words: Vec<std::ffi::OsString>,
                }

                impl $command {
                    /// Refuses to run.
                    pub fn run(&self, _: &mut Context) -> Result<()> {
                        let why = concat!("this program was built without the cargo feature `", $feature, "`");
                        Err(CliError::Usage(why.to_owned()))
                    }
                }
            )+
        }
    };
}

absent!(apocrypha, "apocrypha", ApocryphaCommand);
absent!(d, "apocrypha", D);
absent!(serve, "server", Serve, ConfigCommand);
absent!(gateway, "server", Fcgi, Scgi, CgiCommand);
absent!(token, "server", TokenCommand);
