# Every target sets up what it needs: the environment in .venv is made once, and again when
# pyproject.toml or requirements.lock changes.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
# Overrides for any figure: make fig-adap-ksweep ARGS="runs=5 figure.horizon=100_000"
ARGS ?=

# Disable the built-in rules, which would treat `fig-` as a file to compile.
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := help
.PHONY: help list all results smoke explorer site report test test-all check slow reliability lint mutants bench clean distclean

# Make would silently ignore a variable that no target reads, as in `make fig-adap-c2 runs=5`.
given := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
ignored := $(filter-out ARGS BIN PYTHON MAKE MAKEFLAGS SHELL,$(given)) $(filter ~%,$(MAKECMDGOALS))
$(if $(strip $(ignored)),$(error make has no use for $(strip $(ignored)): write ARGS="key=value ..."))

help: ## print this text
	@echo "make fig-<name>      a figure into out/<name>/; computes only what is not cached"
	@echo "make paper-<key>     every figure of a paper: tossou2016, sajed2019, azize2022, ..."
	@echo "make explain-<name>  the experiments of a figure: cached or not, and why not"
	@echo "make sweep-<name>    a saved multirun: alpha, epsilon, v, tau; into out/multirun/"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 21
	@echo 'Overrides: make fig-adap-ksweep ARGS="runs=5 figure.horizon=100_000"'

fig-%: $(READY)
	@$(BIN)/dpbandits run $* $(ARGS)

explain-%: $(READY)
	@$(BIN)/dpbandits explain $* $(ARGS)

sweep-%: $(READY)
	@$(BIN)/python experiments/run.py sweep=$* $(ARGS)

list: $(READY) ## names of figures, algorithms and environments
	@$(BIN)/dpbandits list

all: $(READY) ## every figure at the papers' scale; 14 minutes without a cache
	@$(BIN)/dpbandits run-all $(ARGS)

paper-%: $(READY)
	@$(BIN)/dpbandits run-all --paper $* $(ARGS)

results: $(READY) ## our own results: constant, free, tail, equal-privacy; 25 minutes
	@$(BIN)/dpbandits run-all --paper results $(ARGS)

smoke: $(READY) ## every figure at a tiny scale, into out/smoke/
	@$(BIN)/dpbandits run-all profile=smoke $(ARGS)

explorer: $(READY) ## data of the explorer, docs/explorer/; half an hour without a cache
	@$(BIN)/python scripts/make_explorer.py $(ARGS)

site: $(READY) ## documentation, figures, claims, algorithms: out/site/index.html; minutes
	@$(PIP) -r requirements-site.lock
	@$(BIN)/dpbandits site $(ARGS)

report: $(READY) ## judge all claims, docs/reproducibility/; about 15 minutes after `make all`
	@$(BIN)/dpbandits report --gather $(ARGS)

test: $(READY) ## run the short tests, on two cores; ten minutes
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m 'not slow and not long' \
	  tests/contract tests/golden tests/unit $(ARGS)

test-all: $(READY) ## also the long ones: hundreds of runs, whole commands, clusters
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(ARGS)

check: $(READY) ## play every figure with few runs and compare with its reference; minutes
	@$(BIN)/dpbandits check $(ARGS)

slow: $(READY) ## the slow tests: planted bugs, faults of all kinds; an hour
	@$(BIN)/python -m pytest -m slow -s $(ARGS)

reliability: $(READY) ## only the faults; writes docs/reliability.md; needs root and Dask
	@$(BIN)/python scripts/make_reliability.py $(ARGS)

lint: $(READY) ## format, style, types and the layers of the packages
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo

mutants: $(READY) ## small wrong versions of the sources, which the tests must notice; an hour
	@$(PIP) -r requirements-mutants.lock
	@$(BIN)/python scripts/make_mutants.py $(ARGS)

bench: $(READY) ## measure kernels, threads, every figure without a cache; most of an hour
	@$(BIN)/python benchmarks/bench.py $(ARGS)

clean: ## remove pictures, pages (out/) and caches of tools; keep results and environment
	@sh scripts/clean.sh

distclean: ## remove results (cache/) and the environment too; prints the number of runs
	@sh scripts/clean.sh all

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dpbandits needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -c 'import ensurepip' 2> /dev/null || \
	  { echo "$(PYTHON) has no venv: on Debian and Ubuntu, sudo apt install python3-venv" >&2; exit 2; }
	@echo "Setting up .venv, once, about a minute" >&2
	@rm -f $(READY)
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(PIP) --no-compile -r requirements.lock
	@$(PIP) --no-compile --no-build-isolation --no-deps --editable .
	@touch $(READY)
