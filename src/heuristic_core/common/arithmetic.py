"""The CPU instructions that a job computes with.

`portable`: every operation rounds the same on every x86-64 processor with AVX2, so that the same configuration gives
the same bytes there. `native`: with the fastest that the libraries find, which round differently on each kind of
processor.

Libraries choose their instructions once, when they are loaded or first compute. So the environment is prepared before
numpy or torch is imported (:func:`prepare`), and the job then checks what they really chose (:func:`settle`).
"""

import ctypes
import logging
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from heuristic_core.common.errors import InputError

LOGGER = logging.getLogger(__name__)
PORTABLE, NATIVE = "portable", "native"
OPTION = "--arithmetic"
SETTINGS = {
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels
    "MKL_CBWR": "COMPATIBLE",  # MKL's products within torch; its AVX2 branch is taken on Intel's processors alone
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",  # numpy's exp and log differ with AVX-512
    "OPENBLAS_CORETYPE": "Haswell",  # products of numpy and scipy
    "OPENBLAS_NUM_THREADS": "1",
}
# The same, and what numpy before 2.4 calls X86_V4: there it cannot be switched off so, and is named as a departure.
NEWER_CPU_FEATURES = (*SETTINGS["NPY_DISABLE_CPU_FEATURES"].split(","), "AVX512_SKX")
MKL_COMPATIBLE = 3  # mkl_cbwr_get's code of that branch
REQUIRED_CPU_FLAGS = {"avx2", "fma"}  # what torch's AVX2 kernels are compiled for


def asked(arguments: Sequence[str]) -> str:
    """The arithmetic that a job's command line names; native where it names none.

    workflow/fork_server/run.py has a copy.
    """
    return arguments[list(arguments).index(OPTION) + 1] if OPTION in arguments else NATIVE


@cache
def available() -> bool:
    """Whether this processor can compute in portable arithmetic: an x86-64 with AVX2."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    cpuinfo = Path("/proc/cpuinfo")
    flags = re.findall(r"^flags\s*:(.*)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    return bool(flags) and set(flags[0].split()) >= REQUIRED_CPU_FLAGS


def environment(arithmetic: str, of: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment variables `of` a process with what `arithmetic` needs here."""
    return {**of, **(SETTINGS if arithmetic == PORTABLE and available() else {})}


def prepare(arithmetic: str) -> None:
    """Set this process's environment for `arithmetic`. Call it before numpy or torch is imported."""
    os.environ.update(environment(arithmetic))


def settle(arithmetic: str, by_hand: bool) -> str:
    """Make sure that this process computes in `arithmetic`; what it computes in.

    Where this processor cannot compute in portable arithmetic, that is native. by_hand: the process was started as
    `python SCRIPT ...` by a person or a test, not by the workflow: it is started again if its environment is another.
    Raises InputError where a library computes otherwise than asked.
    """
    if arithmetic == NATIVE or not available():
        return NATIVE
    if by_hand and environment(arithmetic) != dict(os.environ):
        prepare(arithmetic)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    if torch := sys.modules.get("torch"):
        torch.backends.mkldnn.enabled = False  # it compiles for the processor that it runs on
        torch.set_num_threads(1)
    check(arithmetic)
    if names := unverifiable_packages():
        LOGGER.warning("%s: these builds do not tell what they compute with; compare their results", ", ".join(names))
    return PORTABLE


def check(arithmetic: str) -> None:
    """Raise InputError where a library that is loaded computes otherwise than `arithmetic` asks."""
    if arithmetic == NATIVE:
        return
    if problems := mismatches():
        assignments = " ".join(f"{name}={value}" for name, value in SETTINGS.items())
        raise InputError(
            f"arithmetic = 'portable', but {'; '.join(problems)}. Set {assignments} before Python starts, or "
            "arithmetic = 'native'"
        )


def mismatches() -> list[str]:
    """What the libraries that are loaded compute with otherwise than portable arithmetic asks, in words."""
    problems = []
    if torch := sys.modules.get("torch"):
        if (chosen := torch.backends.cpu.get_cpu_capability()) != "AVX2":
            problems.append(f"torch computes with {chosen}")
        if (branch := _mkl_branch(torch)) not in (None, MKL_COMPATIBLE):
            problems.append(f"MKL computes with its branch {branch}, not {MKL_COMPATIBLE}")
        if (threads := torch.get_num_threads()) != 1:
            problems.append(f"torch computes on {threads} threads")
        if torch.backends.mkldnn.enabled:
            problems.append("torch computes with oneDNN")
    if numpy := sys.modules.get("numpy"):
        features = numpy._core._multiarray_umath.__cpu_features__
        if with_newer := [name for name in NEWER_CPU_FEATURES if features.get(name)]:
            problems.append(f"numpy computes with {', '.join(with_newer)}")
        kernels = [(name, core) for name, core in _openblas() if core not in (None, "Haswell")]
        problems += [f"{name} computes with OpenBLAS's kernels for {core}" for name, core in kernels]
    return problems


def unverifiable_packages() -> list[str]:
    """The libraries that are loaded and do not tell what they compute with: builds other than the locked wheels."""
    packages = [name for name, core in _openblas() if core is None]
    if (torch := sys.modules.get("torch")) and _mkl_branch(torch) is None:
        packages.append("torch")
    return packages


def _mkl_branch(torch) -> int | None:
    """The branch that MKL within torch computes with; None where this build of torch does not tell, or has no MKL."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    try:
        return ctypes.CDLL(str(library)).mkl_serv_cbwr_get(1)
    except (OSError, AttributeError):
        return None


def _openblas() -> list[tuple[str, str | None]]:
    """Package and kernels of the OpenBLAS in numpy's wheel, and in scipy's once it is loaded; None without a wheel."""
    kernels = []
    for package, part, suffix in (("numpy", "numpy", "64_"), ("scipy", "scipy.linalg", "")):
        if part not in sys.modules:
            continue
        libraries = Path(sys.modules[package].__file__).parents[1].glob(f"{package}.libs/libscipy_openblas*")
        if not (paths := list(libraries)):
            kernels.append((package, None))
        for path in paths:
            core = getattr(ctypes.CDLL(str(path)), f"scipy_openblas_get_corename{suffix}")
            core.restype = ctypes.c_char_p
            kernels.append((package, core().decode()))
    return kernels
