"""What a process computes with is checked, and what cannot be portable is refused."""

import ast
import importlib.util
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from marks import portable
from mentions import mentions, raises
from reduced import ROOT

from heuristic_core.common import arithmetic
from heuristic_core.common.arithmetic import NATIVE, PORTABLE, PORTABLE_VARIABLES
from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.subnetworks.config.study import parse_study
from heuristic_core.jobs.arguments import JobParser

# ---- what a process computes with

CHECK = """
import numpy, scipy.linalg, torch
from heuristic_core.common import arithmetic
torch.set_num_threads(2)
from heuristic_core.common.errors import InputError
print(arithmetic.mismatches())
try:
    print(arithmetic.enforce("portable", may_restart=False))
except InputError as error:
    print(error)
"""


def checked(**settings) -> str:
    """What CHECK prints in a process with these environment variables and none of SETTINGS otherwise."""
    kept = {name: value for name, value in os.environ.items() if name not in PORTABLE_VARIABLES}
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True, env=kept | settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@portable
def test_libraries_that_compute_otherwise_are_named():
    other = {"ATEN_CPU_CAPABILITY": "default", "MKL_CBWR": "AUTO", "OPENBLAS_CORETYPE": "Nehalem"}
    result, error = checked(**other).splitlines()
    departures = ast.literal_eval(result)
    for library, kind in (("torch", "DEFAULT"), ("MKL", 3), ("numpy", "Nehalem"), ("scipy", "Nehalem")):
        assert any(mentions(departure, library, kind) for departure in departures)
        assert mentions(error, library, kind)
    newer = any(mentions(departure, "numpy", "X86_V4") for departure in departures)
    assert newer == (" avx512bw " in Path("/proc/cpuinfo").read_text())
    for kind in ("oneDNN", "2 threads", "products by MKL"):  # enforce changes these itself
        assert any(mentions(departure, "torch", kind) for departure in departures) and kind not in error
    assert all(f"{name}={value}" in error for name, value in PORTABLE_VARIABLES.items())
    assert mentions(error, "arithmetic", "native")


@pytest.mark.slow
@portable
def test_what_was_prepared_is_no_departure():
    result, chosen = checked(**PORTABLE_VARIABLES).splitlines()
    threads, library, products = ast.literal_eval(result)
    assert mentions(threads, "torch", 2) and mentions(library, "torch", "oneDNN") and mentions(products, "torch", "MKL")
    assert chosen == PORTABLE


@portable
def test_builds_that_do_not_tell_what_they_compute_with_are_named(monkeypatch):
    assert arithmetic.unverifiable_packages() == []
    monkeypatch.setattr(arithmetic, "_mkl_branch", lambda torch: None)
    monkeypatch.setattr(arithmetic, "_openblas", lambda: [("numpy", None), ("scipy", "Haswell")])
    assert arithmetic.unverifiable_packages() == ["numpy", "torch"]
    assert not any("MKL computes" in mismatch or "OpenBLAS" in mismatch for mismatch in arithmetic.mismatches())


@pytest.mark.slow
@portable
def test_what_computes_otherwise_later_leaves_no_record():
    program = """
import torch
from heuristic_core.common import arithmetic
from heuristic_core.common.errors import InputError
arithmetic.enforce("portable", may_restart=False)
torch.set_num_threads(2)
try:
    arithmetic.check_arithmetic("portable")
except InputError as error:
    print(error)
"""
    environment = os.environ | PORTABLE_VARIABLES
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert mentions(done.stdout, "arithmetic", "portable", "torch", 2)


@pytest.mark.slow
@portable
def test_a_script_started_by_hand_starts_itself_again_and_records_what_it_computes_in(checkpoint, encoded, tmp_path):
    pairs, study = tmp_path / "pairs", tmp_path / "s"
    encoded.save(pairs)
    written = {name: study / name for name in ("means", "logits", "predictions")}
    study.mkdir()
    identity = {"study": "s", "model-name": "m", "task-name": "t", "ft-seed": 1, "step": 1}
    options = identity | {"checkpoint": checkpoint, "train": pairs, "evaluation": pairs} | written
    options |= {"arithmetic": PORTABLE, "code": "c", "log": study / "logs" / "job.log"}
    command = [sys.executable, ROOT / "workflow" / "scripts" / "full_model.py"]
    command += [part for name, value in options.items() for part in (f"--{name}", value)]
    kept = {name: value for name, value in os.environ.items() if name not in PORTABLE_VARIABLES}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=kept)
    assert done.returncode == 0, done.stderr
    assert json.loads((study / "provenance" / "means.json").read_text())["arithmetic"] == PORTABLE


@pytest.fixture
def processor(monkeypatch, tmp_path):
    """A function that makes the processor one with these flags, or of this machine."""

    def made(flags="", machine="x86_64"):
        (tmp_path / "cpuinfo").write_text(f"processor\t: 0\nflags\t\t: {flags}\n" if flags else "processor\t: 0\n")
        monkeypatch.setattr(arithmetic, "Path", lambda path: tmp_path / "cpuinfo")
        monkeypatch.setattr(platform, "machine", lambda: machine)
        arithmetic.supports_portable.cache_clear()

    yield made
    arithmetic.supports_portable.cache_clear()


@pytest.mark.parametrize(
    ("of", "able"),
    [
        ({"flags": "fpu sse4_2 avx f16c fma avx2"}, True),
        ({"flags": "fpu sse4_2 avx f16c"}, False),
        ({"flags": "fpu avx2"}, False),
        ({"flags": "fma avx2", "machine": "aarch64"}, False),
        ({}, False),
    ],
)
def test_where_portable_arithmetic_is_available(of, able, processor):
    processor(**of)
    assert arithmetic.supports_portable() is able


def test_a_processor_that_cannot_computes_natively_and_its_environment_is_left_alone(processor, monkeypatch):
    for name in PORTABLE_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    processor("fpu sse4_2 avx")
    before = dict(os.environ)
    arithmetic.prepare_arithmetic(PORTABLE)
    assert dict(os.environ) == before == arithmetic.arithmetic_environment(PORTABLE)
    assert arithmetic.enforce(PORTABLE, may_restart=True) == NATIVE
    assert dict(os.environ) == before


def test_native_arithmetic_asks_for_nothing(processor):
    processor("fma avx2")
    assert arithmetic.arithmetic_environment(NATIVE, {"HOME": "a"}) == {"HOME": "a"}
    assert arithmetic.arithmetic_environment(PORTABLE, {"HOME": "a"}) == {"HOME": "a"} | PORTABLE_VARIABLES
    assert arithmetic.enforce(NATIVE, may_restart=True) == NATIVE
    assert arithmetic.parse_arithmetic(["--log", "a"]) == NATIVE
    assert arithmetic.parse_arithmetic(["--arithmetic", "portable", "--log", "a"]) == PORTABLE


def test_forks_of_one_server_share_arithmetic_and_what_is_read_when_libraries_are_imported(monkeypatch):
    path = ROOT / "workflow" / "fork_server" / "run.py"
    monkeypatch.syspath_prepend(path.parent)
    spec = importlib.util.spec_from_file_location("fork_server_run", path)
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    monkeypatch.delenv("HF_HOME", raising=False)
    first = run.environment_digest(PORTABLE)
    assert run.environment_digest(PORTABLE) == first != run.environment_digest(NATIVE)
    monkeypatch.setenv("LANGUAGE", "en")
    assert run.environment_digest(PORTABLE) == first
    monkeypatch.setenv("HF_HOME", "elsewhere")
    assert run.environment_digest(PORTABLE) != first


# ---- configurations


@pytest.mark.parametrize(
    ("key", "value", "right"),
    [
        ("arithmetic", "fast", "portable"),
        ("finetune.threads", 2, 1),
        ("finetune.precision", "bfloat16", "float32"),
        ("prune.precision", "bfloat16", "float32"),
        ("prune.precision", "auto", "float32"),
        ("model.pretraining.threads", 2, 1),
        ("precision", "float16", "float32"),
        ("device", "cuda", "cpu"),
    ],
)
def test_a_configuration_that_cannot_be_portable_is_one_message(key, value, right):
    values = yaml.safe_load((ROOT / "config" / "miniature-pretrain.yaml").read_text())
    *blocks, name = key.split(".")
    block = values
    for part in blocks:
        block = block[part]
    block[name] = value
    with raises(ConfigError, key, repr(value), repr(right), "arithmetic", "native") as caught:
        parse_study(values)
    assert len(str(caught.value).splitlines()) == 2  # what cannot be run, and why
    if key != "arithmetic":
        assert parse_study(values | {"arithmetic": "native"})


@pytest.mark.parametrize("option", [("--device", "cuda"), ("--precision", "bfloat16"), ("--precision", "auto")])
def test_a_script_by_hand_refuses_what_is_not_portable(option, capsys):
    parser = JobParser("test")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", default="float32")
    with pytest.raises(SystemExit):
        parser.parse(["--arithmetic", "portable", *option])
    assert mentions(capsys.readouterr().err, *option, "--arithmetic", "portable")
