"""Runs of the whole study that a fault may end: what they say, and whether they made the same files."""

from pathlib import Path

from reduced import RUNS, snakemake

CELL = f"{RUNS}/ft1/step60/s0.4/seed44"
TARGETS = [f"{CELL}/subnetwork.json", f"{CELL}/trace.parquet"]


def read_output(done) -> str:
    return done.stdout + done.stderr


def fails(folder: Path, *arguments: str, **options) -> str:
    """What a run says that ends with an error; no traceback is among it."""
    done = snakemake(folder, *arguments, check=False, **options)
    assert done.returncode == 1, read_output(done)
    assert "Traceback" not in read_output(done), read_output(done)
    return read_output(done)


def have_same_bytes(first: Path, second: Path, *names: str) -> bool:
    return all((first / name).read_bytes() == (second / name).read_bytes() for name in names)
