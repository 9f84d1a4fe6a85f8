"""The same bytes on other processors: an AMD EPYC and an Intel Haswell, which QEMU emulates, against this machine's.

Under user-mode emulation a program sees that processor's CPUID, so that torch, MKL, OpenBLAS, numpy and the C library
choose their instructions as they would there. Each processor is one process that imports everything once, the true
models of transformers included, and does a few steps of every job (processors.py); both run side by side.
Each takes two to four minutes of a core.
"""

import json
import re
import shutil
import subprocess
import sys

import pytest
from reduced import ROOT

from heuristic_core.common import arithmetic

PROCESSORS = ("EPYC-Rome", "Haswell")
QEMU, NEEDED = "qemu-x86_64", (7, 2)  # the first that emulates AVX2
PROGRAM = (sys.executable, str(ROOT / "tests" / "processors.py"))


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


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """By processor, digests by the name of the result; this machine is called "here"."""
    folder = tmp_path_factory.mktemp("processors")
    commands = {"here": PROGRAM} | {name: (QEMU, "-cpu", name, *PROGRAM) for name in PROCESSORS}
    running = {
        name: subprocess.Popen([*command, folder / name], stderr=(folder / f"{name}.log").open("w"), text=True)
        for name, command in commands.items()
    }
    try:
        for name, process in running.items():
            assert process.wait() == 0, (folder / f"{name}.log").read_text()
    finally:
        for process in running.values():
            process.kill()
    result = {name: json.loads((folder / name).read_text()) for name in commands}
    for name, case in result.items():
        print(f"{name}, seconds of CPU:", {part: round(value) for part, value in case["seconds"].items()})
    return {name: case["digests"] for name, case in result.items()}


@pytest.mark.parametrize("processor", PROCESSORS)
def test_another_processor_gives_the_same_bytes(processor, digests):
    here, there = digests["here"], digests[processor]
    assert len(here) > 300 and here.keys() == there.keys()
    assert [name for name, digest in here.items() if there[name] != digest] == []
