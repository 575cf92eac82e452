# Every target sets up what it needs: the environment is made once, in .venv, and again when
# pyproject.toml or requirements.lock change.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Overrides for any figure: make fig-adap-ksweep ARGS="runs=5 figure.horizon=100_000"
ARGS ?=

# Without make's own rules, which would take `make fig-` for a file to compile.
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
.PHONY: help list all smoke gallery test check slow reliability lint bench clean

help: ## this text
	@echo "make fig-<name>      a figure, computed as far as it is not cached, into out/<name>/"
	@echo "make paper-<key>     every figure of a paper: tossou2016, sajed2019, azize2022, ..."
	@echo "make explain-<name>  what of a figure is cached, and why the rest is not"
	@echo "make sweep-<name>    a saved multirun: alpha, epsilon, v, tau; into out/multirun/"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 21
	@echo 'Overrides: make fig-adap-ksweep ARGS="runs=5 figure.horizon=100_000"'

fig-%: $(READY)
	@$(BIN)/dpbandits run $* $(ARGS)

explain-%: $(READY)
	@$(BIN)/dpbandits explain $* $(ARGS)

sweep-%: $(READY)
	@$(BIN)/python experiments/run.py sweep=$* $(ARGS)

list: $(READY) ## the figures, algorithms and environments
	@$(BIN)/dpbandits list

all: $(READY) ## every figure at the papers' scale, cold half an hour
	@$(BIN)/dpbandits run-all $(ARGS)

paper-%: $(READY)
	@$(BIN)/dpbandits run-all --paper $* $(ARGS)

smoke: $(READY) ## every figure, tiny, into out/smoke/: does it run at all?
	@$(BIN)/dpbandits run-all profile=smoke $(ARGS)

gallery: $(READY) ## every figure, claim and algorithm as pages, out/gallery/index.html; a minute
	@$(BIN)/dpbandits gallery $(ARGS)

test: $(READY) ## the tests, on two cores, minutes
	@$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

check: $(READY) ## every figure, played anew with few runs, against its reference; minutes
	@$(BIN)/dpbandits check $(ARGS)

slow: $(READY) ## the tests that take long: bugs that are planted, faults of all kinds; an hour
	@$(BIN)/python -m pytest -m slow -s $(ARGS)

reliability: $(READY) ## the faults alone, and docs/reliability.md with what came of them; root, Dask
	@$(BIN)/python scripts/make_reliability.py $(ARGS)

lint: $(READY) ## format, style and types
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

bench: $(READY) ## speed: kernels, threads, every figure from a cold cache; most of an hour
	@$(BIN)/python benchmarks/bench.py $(ARGS)

clean: ## remove pictures, results and the environment
	rm -rf out cache .venv .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dpbandits needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 2; }
	@echo "Setting up .venv; once, about a minute" >&2
	@rm -f $(READY)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $(READY)
