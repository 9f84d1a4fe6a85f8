"""Choice of CPU instructions: portable or native arithmetic.

With `portable`, every operation rounds the same on every x86-64 processor with AVX2, so that the same configuration
gives the same bytes. With `native`, libraries use the fastest instructions, which round differently on different
processors.

Libraries choose instructions once, when they are loaded or first compute. So the environment is prepared before numpy
or torch is imported (:func:`prepare_arithmetic`), and the job then checks what they chose (:func:`enforce`).
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

from heuristic_core.common import matrix_products
from heuristic_core.common.errors import InputError

LOGGER = logging.getLogger(__name__)
PORTABLE, NATIVE = "portable", "native"
ARITHMETIC_OPTION = "--arithmetic"
PORTABLE_VARIABLES = {
    "ATEN_CPU_CAPABILITY": "avx2",  # torch's own kernels
    "MKL_CBWR": "COMPATIBLE",  # torch's attention, by MKL, whose AVX2 branch is for Intel processors only
    "NPY_DISABLE_CPU_FEATURES": "X86_V4,AVX512_ICL,AVX512_SPR",  # numpy's exp and log differ with AVX-512
    "OPENBLAS_CORETYPE": "Haswell",  # matrix products of numpy, scipy and torch (heuristic_core.common.matrix_products)
    "OPENBLAS_NUM_THREADS": "1",
}
# With the name of X86_V4 in numpy before 2.4, where this variable does not disable it and `mismatches` reports it.
NEWER_CPU_FEATURES = (*PORTABLE_VARIABLES["NPY_DISABLE_CPU_FEATURES"].split(","), "AVX512_SKX")
MKL_COMPATIBLE = 3  # value of mkl_cbwr_get for MKL_CBWR=COMPATIBLE
REQUIRED_CPU_FLAGS = {"avx2", "fma"}  # what torch's AVX2 kernels are compiled for


def parse_arithmetic(arguments: Sequence[str]) -> str:
    """Return the arithmetic on a job's command line; native without the option.

    It is needed before the script, whose parser has the option, imports torch. workflow/fork_server/run.py has a copy.
    """
    return arguments[list(arguments).index(ARITHMETIC_OPTION) + 1] if ARITHMETIC_OPTION in arguments else NATIVE


@cache
def supports_portable() -> bool:
    """Return whether this processor supports portable arithmetic: an x86-64 with AVX2."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    cpuinfo = Path("/proc/cpuinfo")
    flags = re.findall(r"^flags\s*:(.*)$", cpuinfo.read_text(), re.MULTILINE) if cpuinfo.exists() else []
    return bool(flags) and set(flags[0].split()) >= REQUIRED_CPU_FLAGS


def arithmetic_environment(arithmetic: str, variables: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return environment variables, with those that `arithmetic` needs on this processor.

    Args:
        arithmetic: `PORTABLE` or `NATIVE`.
        variables: Environment variables of the process.
    """
    return {**variables, **(PORTABLE_VARIABLES if arithmetic == PORTABLE and supports_portable() else {})}


def prepare_arithmetic(arithmetic: str) -> None:
    """Set this process's environment for `arithmetic`. Call it before numpy or torch is imported."""
    os.environ.update(arithmetic_environment(arithmetic))


def enforce(arithmetic: str, may_restart: bool) -> str:
    """Make this process compute in an arithmetic.

    Args:
        arithmetic: `PORTABLE` or `NATIVE`.
        may_restart: Whether to restart Python with the right environment if necessary, as for `python SCRIPT ...`. The
            workflow sets the environment itself.

    Returns:
        The arithmetic used; native if this processor lacks portable arithmetic.

    Raises:
        InputError: If a library computes differently.
    """
    if arithmetic == NATIVE or not supports_portable():
        return NATIVE
    if may_restart and arithmetic_environment(arithmetic) != dict(os.environ):
        prepare_arithmetic(arithmetic)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    if torch := sys.modules.get("torch"):
        torch.backends.mkldnn.enabled = False  # oneDNN compiles for this processor
        torch.set_num_threads(1)
        matrix_products.use_openblas(torch)
    check_arithmetic(arithmetic)
    if names := unverifiable_packages():
        LOGGER.warning("%s: instructions of these builds are unknown; compare their results", ", ".join(names))
    return PORTABLE


def check_arithmetic(arithmetic: str) -> None:
    """Check that all loaded libraries compute in an arithmetic.

    Raises:
        InputError: If one computes differently.
    """
    if arithmetic == NATIVE:
        return
    if problems := mismatches():
        assignments = " ".join(f"{name}={value}" for name, value in PORTABLE_VARIABLES.items())
        raise InputError(
            f"arithmetic = 'portable', but {'; '.join(problems)}. Set {assignments} before Python starts, or "
            "arithmetic = 'native'"
        )


def mismatches() -> list[str]:
    """Describe how loaded libraries deviate from portable arithmetic, one entry per deviation."""
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
        if not matrix_products.uses_openblas():
            problems.append("torch computes matrix products by MKL")
    if numpy := sys.modules.get("numpy"):
        features = numpy._core._multiarray_umath.__cpu_features__
        if enabled := [name for name in NEWER_CPU_FEATURES if features.get(name)]:
            problems.append(f"numpy computes with {', '.join(enabled)}")
        kernels = [(name, core) for name, core in _openblas() if core not in (None, "Haswell")]
        problems += [f"{name} computes with OpenBLAS's kernels for {core}" for name, core in kernels]
    return problems


def unverifiable_packages() -> list[str]:
    """Return loaded packages whose instructions are unknown: builds other than the locked wheels."""
    packages = [name for name, core in _openblas() if core is None]
    if (torch := sys.modules.get("torch")) and _mkl_branch(torch) is None:
        packages.append("torch")
    return packages


def _mkl_branch(torch) -> int | None:
    """Return the code branch of torch's MKL; None if this build has no MKL or does not export it."""
    library = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    try:
        return ctypes.CDLL(str(library)).mkl_serv_cbwr_get(1)
    except (OSError, AttributeError):
        return None


def _openblas() -> list[tuple[str, str | None]]:
    """Return (package, kernels) for the OpenBLAS of numpy and scipy, if loaded; kernels are None without a wheel."""
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
