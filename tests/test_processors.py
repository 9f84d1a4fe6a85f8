"""The same bytes on other processors: an AMD EPYC and an Intel Haswell, which QEMU emulates, against this machine's.

Under user-mode emulation a program sees that processor's CPUID, so that torch, MKL, OpenBLAS, numpy and the C library
choose their instructions as they would there. Every operation is compared (operations.py), then a few steps of every
job, on the true models of transformers, with tables and figures (processors.py). Both take some ten minutes of a core
on each processor.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from reduced import ROOT

from heuristic_core.common import arithmetic

PROCESSORS = ("EPYC-Rome", "Haswell")
QEMU, NEEDED = "qemu-x86_64", (7, 2)  # the first that emulates AVX2
OPERATIONS, STEPS = (str(ROOT / "tests" / name) for name in ("operations.py", "processors.py"))


def lacking() -> str | None:
    """Why nothing can be compared here; None if it can."""
    if not arithmetic.supports_portable():
        return "this processor is no x86-64 with AVX2"
    if shutil.which(QEMU) is None:
        return f"no {QEMU}, with which other processors are emulated; install Debian's package qemu-user"
    banner = subprocess.run([QEMU, "--version"], capture_output=True, text=True).stdout
    version = re.search(r"version (\d+)\.(\d+)", banner)
    if version is None or tuple(map(int, version.groups())) < NEEDED:
        return f"{QEMU} emulates AVX2 from version {'.'.join(map(str, NEEDED))} on; this is {banner.partition('(')[0]}"
    return None


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(lacking() is not None, reason=str(lacking())),
]


def run(folder: Path, *prefix: str, options: Sequence[str] = ()) -> dict[str, str]:
    """Return digests by the name of the result, from one processor. prefix: the emulator's command, if any."""
    done = subprocess.run([*prefix, sys.executable, OPERATIONS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    steps = [*prefix, sys.executable, STEPS, folder / "steps.json", *options]
    done_steps = subprocess.run(steps, capture_output=True, text=True)
    assert done_steps.returncode == 0, done_steps.stderr
    case = json.loads((folder / "steps.json").read_text())
    print(*prefix[2:], "seconds of CPU:", {part: round(value) for part, value in case["seconds"].items()})
    return case["digests"] | {f"operation {name}": value for name, value in json.loads(done.stdout)["digests"].items()}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return run(tmp_path_factory.mktemp("here"))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_another_processor_gives_the_same_bytes(processor, here, tmp_path):
    there = run(tmp_path, QEMU, "-cpu", processor, options=["--emulated"])
    assert len(here) > 300 and here.keys() == there.keys()
    assert [name for name, digest in here.items() if there[name] != digest] == []
