"""What is expensive is made once, whichever of pytest's processes asks for it first, and shared by all of them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder `name` of this run of the tests, filled by `make`. What a test changes in it, others see: copy it.

    Where `make` fails, it fails for all, and none of the others tries again.
    """
    base = factory.getbasetemp()
    shared = base.with_name("shared") if "PYTEST_XDIST_WORKER" in os.environ else base  # as deep as what a test makes
    shared.mkdir(exist_ok=True)
    folder, made, failed = shared / name, shared / f"{name}.made", shared / f"{name}.failed"
    with FileLock(shared / f"{name}.lock"):
        if failed.exists():
            pytest.fail(f"{name} could not be made: {failed.read_text()}", pytrace=False)
        if not made.exists():
            folder.mkdir()
            try:
                make(folder)
            except BaseException as error:
                failed.write_text(f"{type(error).__name__}: {error}"[-3000:])
                raise
            made.touch()
    return folder
