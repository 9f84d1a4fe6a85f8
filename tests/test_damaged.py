"""Results damaged on the disk: the job that reads one says so and how to mend it, and mended the study is as it was."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from reduced import RUNS, results, snakemake

pytestmark = pytest.mark.slow

STEP = f"{RUNS}/ft1/step60"
CELL = f"{STEP}/s0.4/seed42"
TABLES = "results/reduced/tables"


def flipped(path: Path) -> None:
    """One bit in the middle."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


# What is damaged, how, and a result whose job reads it.
DAMAGES = [
    (f"{STEP}/checkpoint/model.safetensors", flipped, f"{CELL}/predictions.parquet"),
    (f"{STEP}/checkpoint/config.json", truncated, f"{CELL}/predictions.parquet"),
    (f"{CELL}/subnetwork.json", flipped, f"{CELL}/predictions.parquet"),
    (f"{CELL}/subnetwork.json", emptied, f"{RUNS}/ft1/core.parquet"),
    (f"{CELL}/predictions.parquet", truncated, f"{STEP}/accuracy.parquet"),
    (f"{STEP}/means.safetensors", flipped, f"{CELL}/subnetwork.json"),
    (f"{STEP}/logits.safetensors", truncated, f"{CELL}/subnetwork.json"),
    (f"{RUNS}/data/encoded/evaluation.safetensors", flipped, f"{CELL}/predictions.parquet"),
    (f"{TABLES}/accuracy.parquet", flipped, f"{TABLES}/effective_size.parquet"),
    (f"{TABLES}/core.parquet", emptied, f"{TABLES}/claims.parquet"),
]


def test_damage_is_named_and_mended_by_what_the_message_says(finished, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(finished, folder, symlinks=True)
    for name, damage, reader in DAMAGES:
        whole = (folder / name).read_bytes()
        times = (folder / name).stat()
        damage(folder / name)
        os.utime(folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))  # no time stamp betrays it
        (folder / reader).unlink()
        done = snakemake(folder, "--", reader, check=False)
        text = done.stdout + done.stderr
        assert done.returncode == 1, name
        message = re.search(r"error: (\S+) has changed since .* To have it made anew: rm -r (\S+), and run again", text)
        assert message and message[1] == name and name.startswith(message[2]), text[-3000:]
        assert "Traceback" not in text
        (folder / name).write_bytes(whole)
        os.utime(folder / name, ns=(times.st_atime_ns, times.st_mtime_ns))
        shutil.copy2(finished / reader, folder / reader)

    # By the message's words, also where all that was made from a file is there; with what the failed jobs lost.
    lost = [f"{STEP}/checkpoint", f"{CELL}/subnetwork.json", f"{CELL}/predictions.parquet", f"{TABLES}/core.parquet"]
    subprocess.run(["rm", "-r", *lost], cwd=folder, check=True)
    snakemake(folder)
    whole, mended = results(finished), results(folder)
    assert sorted(whole) == sorted(mended)
    assert [name for name in whole if whole[name] != mended[name]] == []
