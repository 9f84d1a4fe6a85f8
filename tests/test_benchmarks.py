"""The benchmarks run, and their own checks of what they compare hold. What they measure is not looked at here."""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

RESULTS = {"prune_step": "ratio", "evaluate": "ratio", "finetune_step": "plain over it"}


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_a_benchmark_runs_at_the_smallest_size(name, tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--size", "miniature", "--turns", "1"]
    subprocess.run([*command, "--out", str(tmp_path / "out.json")], check=True, capture_output=True)
    results = json.loads((tmp_path / "out.json").read_text())["results"]
    assert results and all(RESULTS[name] in str(result) for result in results)


@pytest.mark.slow
def test_the_benchmark_of_list_sorting_runs(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "list_sorting.py"), "--seeds", "2", "--batch-size", "16"]
    command += ["--numbers", "26", "--turns", "1", "--out", str(tmp_path / "out.json")]
    subprocess.run(command, check=True, capture_output=True)
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert result["one by one over together"] > 0 and result["plain over together"] > 0


@pytest.mark.slow
def test_the_benchmark_of_extractive_scores_runs(tmp_path):
    command = [sys.executable, str(ROOT / "benchmarks" / "extractive_scores.py"), "--cities", "4"]
    command += ["--counterfactuals", "1", "--turns", "1", "--out", str(tmp_path / "out.json")]
    subprocess.run(command, check=True, capture_output=True)
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert result["replacement over scores"] > 1


@pytest.mark.slow
def test_precisions_are_compared_on_a_finished_study(finished):
    from reduced import REDUCED, RUNS, STUDY

    folder = finished / RUNS / f"ft1/step{STUDY.last_checkpoint}"
    command = [sys.executable, str(ROOT / "benchmarks" / "precision.py"), str(folder), "--config", str(REDUCED)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=finished)
    assert len(list(map(json.loads, done.stdout.splitlines()))) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["startup", "arithmetic"])
def test_a_benchmark_of_jobs_runs_on_a_finished_study(name, finished, tmp_path):
    from reduced import REDUCED, RUNS

    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--config", str(REDUCED), "--repeats", "1"]
    command += [str(finished / RUNS)] if name == "startup" else ["--kinds", "prune"]
    subprocess.run([*command, "--out", str(tmp_path / "out.json")], check=True, capture_output=True, cwd=finished)
    results = json.loads((tmp_path / "out.json").read_text())["results"]
    keys = {"startup": {"script", "fresh", "fork", "work"}, "arithmetic": {"job", "portable", "native", "ratio"}}
    assert len(results) == (2 if name == "startup" else 1) and all(keys[name] <= set(result) for result in results)


@pytest.mark.slow
def test_a_benchmark_that_is_stopped_writes_its_complete_turns(tmp_path):
    command = [sys.executable, "-u", str(ROOT / "benchmarks" / "finetune_step.py"), "--size", "miniature"]
    command += ["--turns", "1000000", "--out", str(tmp_path / "out.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        for line in running.stdout:
            if line.startswith("turn 3 "):
                running.terminate()
                break
        rest = running.stdout.read()
    assert running.returncode == 130
    (result,) = json.loads((tmp_path / "out.json").read_text())["results"]
    assert all(ratio > 0 for ratio in result["plain over it"].values()) and "plain over it" in rest
