# Recension: `make run` shows it, `make test` checks it. Each target is a script of scripts/ that can be run by itself.
# The network is needed once: by cargo, by `make run`'s data set, by the clients and servers that `make test` installs.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test attack bench lint docs dist clean

# The toolchain that this is checked with, where it is installed; see scripts/toolchain.
export RUSTUP_TOOLCHAIN := $(shell scripts/toolchain)

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build, load 170,391 cities, and walk through a query, an index, a change and a look back
	@scripts/run

test: ## Everything that CI checks, then "N passed, N failed"; PART=core, PART=lab: a part; LONG=1: in depth
	@PART='$(PART)' LONG='$(LONG)' scripts/test

attack: ## Attack a release build for hours: kills, damage, floods, full disks, clusters; [ARGS="--seed 7 damage"]
	@scripts/attack $(ARGS)

# The suites: engine, http, goget, apocrypha, hasql, nebari, bonsaidb, bigtable, processes, queries,
# versions, ycsb, crash, cluster.
bench: ## Where the time goes; SUITE=engine [QUICK=1|FULL=1]: a suite beside other stores, into BENCHMARKS.md
	@SUITE='$(SUITE)' QUICK='$(QUICK)' FULL='$(FULL)' scripts/bench

lint: ## Format and lints only
	@scripts/lint

docs: ## The library's reference (rustdoc) and the guide (mdbook, which is built into target/ if it is missing)
	@scripts/docs

dist: ## A tarball and a Debian package of the release build, each tried, in target/dist
	@scripts/dist

clean: ## Remove what `make` made: builds, the fetched data set, the walk-through's store
	rm -rf target data
