"""Braces and other signs that Snakemake's formatting or a shell would take for its own, in paths and in settings."""

import os
import shlex
from pathlib import Path

import pytest
import yaml
from reduced import REDUCED, clone, snakemake

from heuristic_core.jobs.wildcards import escape_setting, link_paths

ODD = "a {x} $HOME 'q\" %&é東"
VALUES = yaml.safe_load(REDUCED.read_text())
HEADER = "first,second,label,kind\n"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return clone(tmp_path_factory.mktemp("odd") / ODD / "h{c}", copy=os.symlink)


def files_study(folder: Path) -> Path:
    """A study of files whose folder, names, labels and patterns have braces; its configuration."""
    data = folder / "data {v2}" / "{1}"
    data.mkdir(parents=True)
    rows = "".join(f'"A dog {k} {{x}} barks.","A dog barks, {{0}}.",{{{"no"[k % 2 :]}}},abcde\n' for k in range(40))
    for name in ("train{a,b}.csv", "dev {w} 'it'.csv"):
        (data / name).write_text(HEADER + rows)
    split = {"sentences": ["first", "second"], "label": "label", "where": {"kind": "^[a-z]{4,8}$"}}
    labels = ["{no}", "{o}"]
    groups = {"{no}": "id", "{o}": "ood"}
    evaluation = split | {"file": "dev {w} 'it'.csv", "group_by_label": groups}
    sets = {f"set{k}": evaluation | {"only_label": label} for k, label in enumerate(labels)}
    task = {"name": "odd", "source": "files", "folder": str(data), "labels": labels, "max_length": 24}
    task |= {"train": [split | {"file": "train{a,b}*"}], "evaluation": sets}
    model = {"name": "mini", "source": "pretrained", "package": "heuristic_core", "folder": "checkpoints/mini-bert"}
    small = {"prune": VALUES["prune"] | {"examples": 20, "mean_examples": 20, "batch_size": 4}}
    values = VALUES | small | {"study": "odd", "model": model, "task": task}
    path = folder / "study {s}.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    return path


@pytest.mark.slow
def test_files_with_braces_in_every_part_of_their_paths_are_read(tmp_path):
    config = files_study(tmp_path)
    snakemake(tmp_path, "--", "sentences", config=config)
    again = snakemake(tmp_path, "--dry-run", "--", "sentences", config=config)
    assert "Nothing to be done" in again.stdout + again.stderr
    (file,) = (tmp_path / "data {v2}" / "{1}").glob("train*")
    file.write_text(file.read_text().replace("dog", "cat"))
    again = snakemake(tmp_path, "--dry-run", "--", "sentences", config=config)
    assert "Nothing to be done" not in again.stdout + again.stderr


@pytest.mark.slow
def test_a_checkout_in_a_folder_of_odd_signs_plans_and_runs_jobs(checkout, tmp_path):
    here = tmp_path / "work {y} $PWD"
    config = files_study(here)
    done = snakemake(here, "--dry-run", config=config, checkout=checkout)
    assert "rule report" in done.stdout + done.stderr
    snakemake(here, "--", "sentences", "describe", config=config, checkout=checkout)
    assert (here / "results/odd/study.json").exists()


@pytest.mark.parametrize("value", ["^[a-z]{4,8}$", ["x", "data {v2}/a.csv"], '{"folder": "{x}"}'])
def test_settings_with_braces_are_what_functions_return(value):
    assert escape_setting(value)(None) == value


@pytest.mark.parametrize("value", ["a", 1, None, ["a", "b"], [1, 2]])
def test_other_settings_are_as_they_were(value):
    assert escape_setting(value) is value


def test_paths_with_braces_are_linked_and_others_are_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a {x}/dev.csv", "b {x}/dev.csv", "a {x}/dev{1}.csv", "a {x}/dev_1_.csv", "c/dev.csv", "{/one.csv"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
    paths = ["a {x}/dev.csv", "b {x}/dev.csv", "a {x}/dev{1}.csv", "a {x}/dev_1_.csv", "c/dev.csv", "{/one.csv"]
    result = link_paths(paths, "links")
    assert [Path(path).read_text() for path in result] == paths
    assert result[4:] == paths[4:] and len(set(result)) == 6
    assert not any("{" in path for path in result[:4]) and shlex.join(result[:4]) == " ".join(result[:4])
    assert [Path(path).name for path in result[:2]] == ["dev.csv", "dev.csv"]
    before = os.lstat(result[0]).st_mtime_ns
    assert link_paths(paths, "links") == result and os.lstat(result[0]).st_mtime_ns == before
