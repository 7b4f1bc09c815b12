//! The laboratory's program as its users run it, in sizes that mean nothing: one binary, a module a suite.

mod apocrypha;
mod bigtable;
mod bonsaidb;
mod cluster;
mod common;
mod crash;
mod goget;
mod hasql;
mod http;
mod laboratory;
mod mine;
mod nebari;
mod processes;
mod queries;
mod versions;
mod ycsb;
