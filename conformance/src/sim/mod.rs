//! A disk that crashes. [`SimDisk`] keeps, for every file, its contents for a running process (*live*), its contents
//! after a power loss (*durable*), and the journal of the changes between them. It must never make anything durable
//! that was not synced, and never lose anything that was.

mod calls;
mod counting;
mod dice;
mod disk;
mod fault;
mod file;
mod gate;
mod image;
mod names;
mod rng;
mod world;

pub use calls::{Call, Counters, OpKind};
pub use counting::CountingDisk;
pub use dice::CrashPolicy;
pub use disk::{Moment, SimDisk};
pub use fault::{Fault, FaultKind};
pub use gate::Gate;
pub use image::SECTOR;
pub use rng::Rng;
