"""The profile for SLURM without a SLURM: what it asks for, how it follows jobs, and what users change."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT, STUDY_FILES
from mentions import mentions
from pair_files import paws_of_the_paper
from planning import PAPER
from reduced import REDUCED, STUDY, parse_job_counts, snakemake
from slurm_dry_runs import PROFILE, dry_run, site_profile

from heuristic_core.config.models import PretrainedModel
from heuristic_core.experiments.subnetworks.config.cells import list_cells, repeated_cells
from heuristic_core.experiments.subnetworks.plan import needs as needs_of
from heuristic_core.plan import slurm
from heuristic_core.plan.jobs import base_rule

# ---- how jobs are followed


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """A function that puts commands, shell scripts by name, on an otherwise empty PATH."""

    def put(**scripts):
        for name, script in scripts.items():
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return put


@pytest.mark.parametrize(
    ("scripts", "command", "reason"),
    [
        ({}, None, "sbatch"),
        ({"sbatch": ""}, "squeue", "sacct"),
        ({"sbatch": "", "sacct": ""}, "sacct", "sacct"),
        ({"sbatch": "", "sacct": "echo 'storage is disabled' >&2; exit 1"}, "squeue", "'storage is disabled'"),
        ({"sbatch": "", "sacct": "exec /bin/sleep 60"}, "squeue", 0.5),
    ],
)
def test_accounting_is_asked_only_where_it_answers(commands, monkeypatch, capsys, scripts, command, reason):
    monkeypatch.setattr(slurm, "TIMEOUT_SECONDS", 0.5)
    commands(**scripts)
    assert slurm.choose_status_command() == command
    (line,) = capsys.readouterr().err.splitlines()
    assert mentions(line, reason) and (command is None or mentions(line, command))


# ---- what users change


@pytest.mark.slow
def test_jobs_with_a_gpu_go_where_the_site_profile_says(tmp_path, changed):
    site_resources = {"slurm_account": "mine", "slurm_partition": "cpu", "gpu_partition": "gpu", "gpu_type": "a100"}
    profile = site_profile(tmp_path / "site", **{"default-resources": site_resources})
    cuda, cpu = (
        dry_run(tmp_path, "figure02", config=changed(**settings), profile=profile)
        for settings in ({"finetune__seeds": [1], "device": "cuda", "arithmetic": "native"}, {"finetune__seeds": [1]})
    )
    models = {"finetune", "full_model", "evaluate", "prune", "prune_again", "evaluate_again"}
    for rule, resources in cuda.items():
        at_gpu = base_rule(rule) in models
        assert resources["slurm_account"] == "mine"
        assert (resources["slurm_partition"], resources.get("gpu")) == (("gpu", "1") if at_gpu else ("cpu", None))
        assert resources.get("gpu_model") == ("a100" if at_gpu else None)
        assert int(resources["mem_mb"]) > 0, "ours is still there"
    assert models <= set(map(base_rule, cuda))
    assert {(r["slurm_partition"], r.get("gpu_model"), r.get("gpu", "0")) for r in cpu.values()} == {("cpu", None, "0")}


# ---- what jobs ask for


@pytest.mark.slow
def test_every_job_of_the_paper_asks_for_sane_memory_and_time_and_for_more_the_second_time(tmp_path):
    paws_of_the_paper(tmp_path)
    first = dry_run(tmp_path, "all_figures", config=ROOT / "config" / "paper.yaml")
    again = dry_run(tmp_path, "--attempt", "2", config=ROOT / "config" / "paper-qqp-bert.yaml")
    assert len(first) > 150 and len(again) > 50
    for rule, resources in first.items():
        if rule.endswith(("all_figures", "fetch")):
            continue
        memory, minutes = int(resources["mem_mb"]), int(resources["runtime"])
        assert 1000 <= memory <= 32_000, (rule, memory)
        assert 2 <= minutes <= 3 * 24 * 60, (rule, minutes)
        if rule.endswith("concatenate"):  # what it asks depends on the table, and here is one of its jobs
            continue
        if second := again.get(rule.removeprefix("paper_qqp_bert_")):
            assert (int(second["mem_mb"]), int(second["runtime"])) == (2 * memory, 2 * minutes)
    gpus = {rule for rule, resources in first.items() if resources.get("gpu") == "1"}
    assert {base_rule(re.sub(r"^paper_(qqp|mnli)_(bert|roberta|gpt2)_", "", rule)) for rule in gpus} == {
        "finetune", "full_model", "prune", "prune_again", "evaluate", "evaluate_again", "ablate", "attention",
        "evaluate_controls", "initial_attention", "empty_circuit",
    }  # fmt: skip


def test_needs_grow_with_the_model_and_with_the_study():
    small, paper = needs_of.estimate_needs(STUDY), needs_of.estimate_needs(PAPER)
    for rule in ("encode", "finetune", "prune", "evaluate", "gather"):
        assert paper[rule].mem_mb > small[rule].mem_mb and paper[rule].runtime > small[rule].runtime
    longer = PAPER.model_copy(
        update={"finetune": PAPER.finetune.model_copy(update={"steps": 2 * PAPER.finetune.steps})}
    )
    assert needs_of.estimate_needs(longer)["finetune"].runtime > 1.8 * paper["finetune"].runtime
    assert needs_of.estimate_needs(longer)["prune"] == paper["prune"]


def test_a_model_of_which_nothing_is_known_is_taken_for_a_large_one():
    unknown = PretrainedModel(name="x", source="pretrained", hub="someone/else", revision="0" * 40)
    guessed = needs_of.estimate_needs(PAPER.model_copy(update={"model": unknown}))
    assert guessed["prune"].runtime > needs_of.estimate_needs(PAPER)["prune"].runtime


@pytest.mark.slow
def test_reading_the_snakefile_imports_no_torch_and_no_transformers():
    code = (
        "import sys; from heuristic_core.experiments.subnetworks.config import load_study;"
        "from heuristic_core.experiments.subnetworks.plan.needs import estimate_needs;"
        "[estimate_needs(load_study(f)) for f in sys.argv[1:]]; print({'torch', 'transformers'} & set(sys.modules))"
    )
    files = [ROOT / name for name in STUDY_FILES]
    done = subprocess.run([sys.executable, "-c", code, *map(str, files)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# ---- where there is no SLURM


@pytest.fixture
def no_slurm(tmp_path):
    """An environment whose PATH has a shell and little else."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "bash", "which"):
        (folder / name).symlink_to(shutil.which(name))
    return os.environ | {"PATH": str(folder)}


@pytest.mark.slow
def test_without_slurm_a_dry_run_works_and_a_run_says_what_is_missing(tmp_path, no_slurm):
    done = snakemake(tmp_path, *PROFILE, "--dry-run", "--quiet", "rules", env=no_slurm)
    assert parse_job_counts(done.stdout + done.stderr)["finetune"] == 2
    done = snakemake(tmp_path, *PROFILE, env=no_slurm, check=False)
    assert done.returncode == 1
    assert mentions(done.stdout + done.stderr, "sbatch")
    assert "Traceback" not in done.stdout + done.stderr


# ---- what the profile does not change


@pytest.mark.slow
def test_few_submissions_carry_all_jobs_and_each_subnetwork_travels_with_its_evaluation(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "submissions.py"), "--directory", str(tmp_path)]
    done = subprocess.run([*command, str(REDUCED)], capture_output=True, text=True, check=True)
    rows = re.findall(r"^(\w+) +([\d,]+) jobs +([\d,]+) submissions$", done.stdout, re.M)
    counts = {name: (int(jobs), int(submissions)) for name, jobs, submissions in rows}
    runs = 2 * len(list_cells(STUDY) + repeated_cells(STUDY))
    empty = 2 * len(STUDY.grid.checkpoints)
    assert counts["small_subnetworks"][0] == 2 * runs + empty
    assert counts["small_subnetworks"][1] < runs / 2
    assert counts["tables"][1] == 1, "all of them"
    plan = snakemake(tmp_path, "--dry-run", "--quiet", "rules")
    assert counts["total"][0] == parse_job_counts(plan.stdout + plan.stderr).total()


def test_the_profile_plans_the_same_jobs(tmp_path):
    plans = [snakemake(tmp_path, "--dry-run", "--quiet", "rules", *extra) for extra in ((), PROFILE)]
    here, there = (parse_job_counts(done.stdout + done.stderr) for done in plans)
    assert here == there and here.total() > 100


@pytest.mark.slow
def test_a_study_finished_here_has_nothing_to_do_there(finished):
    done = snakemake(finished, *PROFILE, "--dry-run", "--quiet", "rules")
    assert parse_job_counts(done.stdout + done.stderr).total() == 0


COUNTED = """
import sys
from snakemake import cli, dag
dag.DAG._check_groups = lambda self: print(len(self._group), "jobs in groups", file=sys.stderr)
cli.main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_dry_run_here_looks_at_no_groups_and_with_the_profile_does(tmp_path):
    """It searches them for cycles, which takes longer than all else."""
    words = ["--dry-run", "--snakefile", ROOT / "Snakefile", "--directory", tmp_path, "--configfile", REDUCED]
    for profile, count in (((), "\n0 jobs"), (PROFILE, r"\n[1-9]\d+ jobs")):
        command = [sys.executable, "-c", COUNTED, *words, *profile]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert re.search(f"{count} in groups", done.stderr), done.stderr


@pytest.mark.slow
def test_a_dry_run_whose_reader_leaves_ends_in_peace(tmp_path):
    words = ["--dry-run", "--snakefile", ROOT / "Snakefile", "--directory", tmp_path, "--configfile", REDUCED]
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read() and process.wait() != 0
