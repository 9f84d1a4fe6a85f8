"""A model on the tests' own hub, and the script `fetch` on it."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LABELS = ["entailment", "neutral", "contradiction"]


WEIGHTS = bytes(range(256)) * 12  # as large files are kept; fetching looks into none


MODEL = {
    "config.json": b"{}",
    "tokenizer.json": b'{"version": "1.0"}',
    "merges.txt": b"a b\n",
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"not wanted" * 300,
    "onnx/tokenizer.json": b"nor this",
    "README.md": b"nor this",
}


NAME = "tiny/bert"


@pytest.fixture
def command(tmp_path):
    """A function that gives the command line of the script `fetch`, whose output is `fetched.json`, its log `log`."""

    def made(commit, name=NAME, splits=()):
        model = {"name": "tiny", "source": "pretrained", "hub": name, "revision": commit}
        columns = {"sentences": ["premise", "hypothesis"]}
        evaluation = {f"set{i}": columns | {"group": "id"} | split for i, split in enumerate(splits)}
        task = {"name": "nli", "source": "files", "labels": LABELS, "train": [columns | {"file": "local.parquet"}]}
        task["folder"] = str(tmp_path / "data")
        task["evaluation"] = evaluation or {"local": columns | {"group": "id", "file": "local.parquet"}}
        script = [sys.executable, str(ROOT / "workflow" / "scripts" / "fetch.py")]
        script += ["--model", json.dumps(model), "--task", json.dumps(task)]
        return [*script, "--fetched", str(tmp_path / "fetched.json"), "--log", str(tmp_path / "log")]

    return made


@pytest.fixture
def fetch(command, environment, tmp_path):
    """A function that runs the script `fetch`; returns its rows by path, or what it wrote on standard error."""

    def run(commit, name=NAME, splits=(), **variables):
        out = tmp_path / "fetched.json"
        out.unlink(missing_ok=True)
        script = command(commit, name, splits)
        done = subprocess.run(script, env=environment | variables, capture_output=True, text=True)
        assert (done.returncode == 0) == out.exists() and "Traceback" not in done.stderr, done.stderr
        return {row["path"]: row for row in json.loads(out.read_text())} if out.exists() else done.stderr

    return run


def wait_until(condition, seconds=60):
    """What `condition` returns once it is true."""
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return result
