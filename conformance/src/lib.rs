//! Suites that every engine and every server must pass, and the simulated disk that crashes.

<<<<<<< HEAD
pub mod suite;
=======
pub mod crash;
pub mod sim;
>>>>>>> sim
