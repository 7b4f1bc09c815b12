# Recension: `make run` shows it, `make test` checks it. Each target is a script of scripts/ that can be
# run by itself; nothing here needs the network but what cargo and `make run`'s data set fetch once.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run test bench lint docs clean

# The toolchain that this is checked with, where it is installed; see scripts/toolchain.
export RUSTUP_TOOLCHAIN := $(shell scripts/toolchain)

help: ## What there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build, load 170,391 cities, and walk through a query, an index, a change and a look back
	@scripts/run

test: ## Everything that CI checks: format, lints, build, tests, doctests; ends with "N passed, N failed"
	@scripts/test

bench: ## Where the time goes; with SUITE=engine, http, apocrypha, goget, hasql, nebari, bonsaidb, bigtable or crash [QUICK=1|FULL=1] beside others, into BENCHMARKS.md
	@SUITE='$(SUITE)' QUICK='$(QUICK)' FULL='$(FULL)' scripts/bench

lint: ## Format and lints only
	@scripts/lint

docs: ## The library's reference (rustdoc) and, where mdbook is installed, the guide
	@scripts/docs

clean: ## Remove what `make` made: builds, the fetched data set, the walk-through's store
	rm -rf target data
