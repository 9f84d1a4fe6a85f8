"""Faults of disks: full and read-only, of results and of the working folder."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mentions import mentions
from reduced import RUNS, snakemake
from whole_runs import CELL, TARGETS, fails, have_same_bytes

from heuristic_core.common import faults


@pytest.fixture
def small(copy):
    """The study with its results on a disk of their own; a function that mounts that again with other options."""
    results, aside = copy / "results", copy.with_name("aside")
    results.rename(aside)
    results.mkdir()

    def mount(options: str) -> int:
        return subprocess.run(["mount", "-o", options, "-t", "tmpfs", "tmpfs", results], check=False).returncode

    if os.geteuid() or not sys.platform.startswith("linux") or mount("size=40m"):
        pytest.skip("only root can mount a small disk")
    shutil.copytree(aside, results, symlinks=True, dirs_exist_ok=True)
    yield copy, lambda options: mount(f"remount,{options}")
    subprocess.run(["umount", "--lazy", results], check=True)


def fill(folder: Path) -> Path:
    """A file that leaves no room on the disk of `folder`."""
    path = folder / "filler"
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError:
                    break
    return path


@pytest.mark.slow
def test_full_and_read_only_disks_are_told_and_left(small, finished):
    folder, remount = small
    shutil.rmtree(folder / CELL)
    filler = fill(folder / "results")
    assert mentions(fails(folder, "--", *TARGETS), "results/reduced", os.strerror(errno.ENOSPC))
    assert not any((folder / target).exists() for target in TARGETS)
    filler.unlink()

    assert remount("ro") == 0
    assert mentions(fails(folder, "--", *TARGETS), "results/reduced", os.strerror(errno.EROFS))
    assert snakemake(folder, "--dry-run", "--", *TARGETS).returncode == 0

    assert remount("rw") == 0
    snakemake(folder, "--", *TARGETS)
    assert have_same_bytes(folder, finished, *TARGETS)
    assert not [path for path in (folder / "results").rglob("*") if ".partial" in path.name]


@pytest.mark.slow
def test_fine_tuning_on_a_full_disk_goes_on_when_there_is_room(small, finished):
    folder, _ = small
    run = folder / RUNS / "ft1"
    names = [f"{RUNS}/ft1/{name}" for name in ("trace.parquet", "evaluations.parquet")]
    names += [f"{RUNS}/ft1/step{step}/checkpoint/model.safetensors" for step in (30, 60)]
    for name in names:
        (folder / name).unlink()
    filler = fill(folder / "results")
    with open(filler, "rb+") as file:
        file.truncate(filler.stat().st_size - 300_000)  # room for a beginning
    assert faults.SPACE_ADVICE in fails(folder, "--", names[0])
    assert (run / ".unfinished-finetune_checkpoints").is_dir() and not (folder / names[0]).exists()
    filler.unlink()
    snakemake(folder, "--", names[0])
    assert have_same_bytes(folder, finished, *names)
    assert not (run / ".unfinished-finetune_checkpoints").exists()


@pytest.mark.slow
def test_a_working_folder_that_is_full_or_read_only_is_told(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", disk]
    if os.geteuid() or subprocess.run([*mount, "-o", "size=100k"], check=False).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        fill(disk)
        assert mentions(fails(disk, "--dry-run"), disk, os.strerror(errno.ENOSPC))
        subprocess.run([*mount, "-o", "remount,ro"], check=True)
        assert mentions(fails(disk), disk / ".snakemake", os.strerror(errno.EROFS))
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)
