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


def keep_times(path: Path, times: os.stat_result) -> None:
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


# Runs of Snakemake; of each: what is damaged, how, and a result whose job reads it and nothing else that is damaged.
FT1, FT2 = (f"{RUNS}/ft{seed}" for seed in (1, 2))
ROUNDS = [
    [
        (f"{STEP}/checkpoint/model.safetensors", flipped, f"{CELL}/predictions.parquet"),
        (f"{FT1}/step30/checkpoint/config.json", truncated, f"{FT1}/step30/s0.4/seed42/predictions.parquet"),
        (f"{FT2}/step60/s0.4/seed42/subnetwork.json", flipped, f"{FT2}/step60/s0.4/seed42/predictions.parquet"),
        (f"{FT2}/step30/means.safetensors", flipped, f"{FT2}/step30/s0.4/seed42/subnetwork.json"),
    ],
    [
        (f"{RUNS}/data/encoded/evaluation.safetensors", emptied, f"{CELL}/predictions.parquet"),
        (f"{STEP}/logits.safetensors", truncated, f"{STEP}/s0.2/seed42/subnetwork.json"),
    ],
    [
        (f"{CELL}/subnetwork.json", emptied, f"{FT1}/core.parquet"),
        (f"{FT2}/step60/s0.4/seed42/predictions.parquet", truncated, f"{FT2}/step60/accuracy.parquet"),
    ],
    [(f"{TABLES}/accuracy.parquet", flipped, f"{TABLES}/effective_size.parquet")],
    [(f"{TABLES}/core.parquet", emptied, f"{TABLES}/claims.parquet")],
]


def test_damage_is_named_and_mended_by_what_the_message_says(finished, tmp_path):
    folder = tmp_path / "study"
    shutil.copytree(finished, folder, symlinks=True)
    for damages in ROUNDS:
        whole = {name: ((folder / name).read_bytes(), (folder / name).stat()) for name, *_ in damages}
        for name, damage, reader in damages:
            damage(folder / name)
            keep_times(folder / name, whole[name][1])  # no time stamp betrays it
            (folder / reader).unlink()
        readers = [reader for *_, reader in damages]
        done = snakemake(folder, "--keep-going", "--", *readers, check=False)
        text = done.stdout + done.stderr
        assert done.returncode == 1, damages
        assert not any((folder / reader).exists() for reader in readers)
        remedies = re.findall(r"error: (\S+) .*\brm -r ([^\s,]+)", text)
        assert {name for name, _ in remedies} == set(whole), text[-3000:]
        assert all(name.startswith(removed) for name, removed in remedies)
        assert "Traceback" not in text
        for name, (content, times) in whole.items():
            (folder / name).write_bytes(content)
            keep_times(folder / name, times)
        for reader in readers:
            shutil.copy2(finished / reader, folder / reader)

    # By the message's words, also where all that was made from a file is there; with what the failed jobs lost.
    lost = [f"{STEP}/checkpoint", f"{CELL}/subnetwork.json", f"{CELL}/predictions.parquet", f"{TABLES}/core.parquet"]
    subprocess.run(["rm", "-r", *lost], cwd=folder, check=True)
    snakemake(folder)
    whole, mended = results(finished), results(folder)
    assert sorted(whole) == sorted(mended)
    assert [name for name in whole if whole[name] != mended[name]] == []
