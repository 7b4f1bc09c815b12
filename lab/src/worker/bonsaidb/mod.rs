//! The workloads of `BonsaiDb`'s own benchmarks in a worker: documents and keys (`values.rs`), and a shop (`shop.rs`).

mod shop;
mod values;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use shop::Shopping;
pub use values::Call;

use super::protocol::Reply;
use crate::error::{LabError, Result};
use crate::subjects::bonsaidb::{Size, open_shop, open_values};
use shop::Counter;
use values::Keeper;

/// A command to a worker of the suite `bonsaidb`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Bonsaidb {
    /// Opens documents and keys, as they were left.
    OpenValues {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
    },
    /// Makes calls on them.
    Values {
        /// Which.
        call: Call,
        /// How many.
        count: u64,
        /// The seed of the drawn keys.
        seed: u64,
    },
    /// Opens a shop, as it was left; or a new one that is loaded, and then that is timed.
    OpenShop {
        /// The subject.
        subject: String,
        /// Its directory, which exists.
        dir: PathBuf,
        /// Its size at the beginning, and the seed of its data.
        load: Option<(Size, u64)>,
    },
    /// Shoppers.
    Shop(Shopping),
    /// Reads everything and compares it with the model.
    Verify,
    /// Closes what is open in order.
    Close,
}

/// The open subject, and its model. When it is closed, the model stays.
#[derive(Default)]
pub(super) struct Bonsai {
    values: Option<Keeper>,
    shop: Option<Counter>,
    left_values: Option<values::Model>,
    left_shop: Option<shop::Model>,
}

fn none() -> LabError {
    LabError::Worker { what: "nothing is open".to_owned() }
}

impl Bonsai {
    /// Does one command.
    pub(super) fn handle(&mut self, command: Bonsaidb) -> Result<Reply> {
        match command {
            Bonsaidb::OpenValues { subject, dir } => {
                let values = open_values(&subject, &dir)?;
                let settings = Some(values.settings());
                self.values = Some(Keeper::new(values, self.left_values.take()));
                Ok(Reply { settings, ..Reply::default() })
            }
            Bonsaidb::Values { call, count, seed } => self.values.as_mut().ok_or_else(none)?.run(call, count, seed),
            Bonsaidb::OpenShop { subject, dir, load } => {
                let shop = open_shop(&subject, &dir)?;
                let settings = Some(shop.settings());
                let (counter, wall_ns) = Counter::new(shop, self.left_shop.take(), load)?;
                self.shop = Some(counter);
                Ok(Reply { ops: 1, wall_ns, settings, ..Reply::default() })
            }
            Bonsaidb::Shop(shopping) => self.shop.as_mut().ok_or_else(none)?.run(&shopping),
            Bonsaidb::Verify => match (&mut self.values, &mut self.shop) {
                (Some(values), _) => values.verify(),
                (None, Some(shop)) => shop.verify(),
                (None, None) => Err(none()),
            },
            Bonsaidb::Close => {
                if let Some(values) = self.values.take() {
                    self.left_values = Some(values.close()?);
                }
                if let Some(shop) = self.shop.take() {
                    self.left_shop = Some(shop.close()?);
                }
                Ok(Reply::default())
            }
        }
    }
}
