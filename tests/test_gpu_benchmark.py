"""The benchmark of a GPU: whole on a CPU, at a tiny size, and the table that the page takes from it."""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    path = tmp_path_factory.mktemp("gpu") / "gpu.json"
    command = [str(BENCHMARKS / "gpu.sh"), "--device", "cpu", "--size", "tiny", "--seconds", "0", "--seeds", "1", "2"]
    command += ["--engine", "eager", "--engine", "graphs", "--engine", "compile", "--out", str(path)]
    subprocess.run(command, env=os.environ | {"PYTHON": sys.executable}, check=True, capture_output=True)
    return path


@pytest.mark.slow
def test_nothing_but_torch_numpy_and_pydantic_is_needed(tmp_path):
    """Every other package that this environment has is one that cannot be imported; fine-tuning is left out."""
    others = (
        "tqdm",
        "transformers",
        "safetensors",
        "pandas",
        "pyarrow",
        "scipy",
        "yaml",
        "datasets",
        "seaborn",
        "rich",
    )
    started = f"import runpy, sys; sys.modules.update(dict.fromkeys({others})); sys.argv = sys.argv[1:]; "
    command = [sys.executable, "-c", started + "runpy.run_path(sys.argv[0], run_name='__main__')"]
    command += [str(BENCHMARKS / "gpu.py"), "--device", "cpu", "--size", "tiny", "--seconds", "0", "--seeds", "1"]
    command += ["--engine", "eager", "--out", str(tmp_path / "gpu.json")]
    subprocess.run(
        command, env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}:{BENCHMARKS}"}, check=True, capture_output=True
    )
    rows = json.loads((tmp_path / "gpu.json").read_text())["results"]
    assert {row["what"] for row in rows if "error" not in row} == {"pruning step", "evaluation"}
    assert all("transformers" in row["error"] for row in rows if "error" in row)


@pytest.mark.slow
def test_everything_but_graphs_is_measured_and_agrees_with_itself(measured):
    rows = json.loads(measured.read_text())["results"]
    failed = [row for row in rows if "error" in row]
    assert len(rows) == 16 and {row["engine"] for row in failed} == {"graphs"} and len(failed) == 4
    assert all("needs a GPU" in row["error"] for row in failed)
    exact = [row for row in rows if row["precision"] == "float32" and "error" not in row]
    apart = [
        row[key] for row in exact for key in ("KL apart", "gradient apart", "logits apart", "loss apart") if key in row
    ]
    assert len(apart) == 10 and max(apart) < 5e-6  # a compiler orders sums otherwise
    rounded = [row for row in rows if row["precision"] == "bfloat16" and row.get("gradient apart")]
    assert all(row["gradient apart"] > 1e-4 for row in rounded)  # it is not float32 that was measured


@pytest.mark.slow
def test_the_table_goes_between_the_marks_of_the_page(measured, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- benchmarks/gpu_table.py -->\nold\n<!-- end -->\nafter\n")
    command = [sys.executable, str(BENCHMARKS / "gpu_table.py"), str(measured), "--into", str(page)]
    subprocess.run(command, check=True)
    subprocess.run(command, check=True)
    text = page.read_text()
    assert text.startswith("before\n<!--") and text.endswith("<!-- end -->\nafter\n") and "old" not in text
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + 16 and {line.count("|") for line in lines} == {lines[0].count("|")}
    page.write_text("no marks\n")
    assert subprocess.run(command, capture_output=True).returncode == 1


def test_the_page_has_a_place_for_the_table():
    text = (ROOT / "docs" / "performance.md").read_text()
    assert 0 < text.find("<!-- benchmarks/gpu_table.py -->") < text.find("<!-- end -->")


@pytest.mark.slow
def test_the_benchmarks_of_large_studies_run(tmp_path):
    command = [
        sys.executable,
        str(BENCHMARKS / "large_tables.py"),
        str(tmp_path),
        "--subnetworks",
        "8",
        "--sets",
        "160",
    ]
    done = subprocess.run([*command, "--pairs", "300", "--controls", "4"], check=True, capture_output=True, text=True)
    jobs = [json.loads(line)["job"] for line in done.stdout.splitlines()]
    assert jobs[0] == "gather" and jobs[-1] == "claims" and "ablations" in jobs
    command = [sys.executable, str(BENCHMARKS / "dag.py"), "--jobs", "250"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert 240 <= json.loads(done.stdout)["jobs"] <= 400
