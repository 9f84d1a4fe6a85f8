"""Files of addresses: downloaded once, checked by their SHA-256, and kept whole or not at all."""

import hashlib
import os
import subprocess
import threading

import pytest
from fetching import LABELS, MODEL, NAME, WEIGHTS, wait_until
from mentions import mentions, raises
from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.splits import Split
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.download import list_downloads
from heuristic_core.data.split_files import find_local_paths, find_missing_paths, find_present_paths, find_split_paths


@pytest.fixture
def pairs_at(hub):
    """A function that gives a split whose file is on the server."""

    def made(path="/raw/pairs.txt", file="inner/pairs.txt", content=WEIGHTS):
        return {"url": hub.endpoint + path, "sha256": hashlib.sha256(content).hexdigest(), "file": file}

    return made


@pytest.mark.slow
def test_a_file_of_an_address_is_downloaded_once_and_again_where_it_is_damaged(hub, fetch, pairs_at, tmp_path):
    hub.files["/raw/pairs.txt"] = WEIGHTS
    commit, split = hub.add("model", NAME, MODEL), pairs_at()
    row = {"kind": "url", "url": split["url"], "path": "inner/pairs.txt", "bytes": len(WEIGHTS)}
    rows, kept = fetch(commit, splits=[split, split]), tmp_path / "data/inner/pairs.txt"
    assert rows.pop("inner/pairs.txt") == row | {"sha256": split["sha256"]} and len(rows) == 4
    raw_requests = [path for path, _ in hub.downloads() if path == "/raw/pairs.txt"]
    assert (raw_requests, kept.read_bytes()) == (["/raw/pairs.txt"], WEIGHTS)
    assert [path.name for path in kept.parent.iterdir()] == ["pairs.txt"]

    hub.requests.clear()
    fetch(commit, splits=[split])
    assert hub.requests == []
    kept.write_bytes(WEIGHTS[1:])
    fetch(commit, splits=[split])
    assert kept.read_bytes() == WEIGHTS and len(hub.requests) == 1


@pytest.mark.slow
def test_an_address_that_does_not_give_the_file_is_named_and_nothing_is_kept(hub, fetch, pairs_at, tmp_path):
    commit, split = hub.add("model", NAME, MODEL), pairs_at()
    named = "task.evaluation.set0.url", split["url"]
    assert mentions(fetch(commit, splits=[split]), *named, 404)
    hub.files["/raw/pairs.txt"] = b"other"
    error = fetch(commit, splits=[split])
    other = hashlib.sha256(b"other").hexdigest()
    assert mentions(error, *named, other, "task.evaluation.set0.sha256", split["sha256"])
    hub.files["/raw/pairs.txt"] = WEIGHTS
    hub.cut["/raw/pairs.txt"] = 1
    assert mentions(error := fetch(commit, splits=[split]), *named) and not mentions(error, other)
    assert mentions(fetch(commit, splits=[split], HF_HUB_OFFLINE="1"), *named)
    assert not list((tmp_path / "data/inner").iterdir())


def test_no_message_tells_what_may_be_secret_in_an_address(hub, fetch, pairs_at, tmp_path):
    commit, split = hub.add("model", NAME, MODEL), pairs_at()
    split["url"] = split["url"].replace("://", "://me:hidden@") + "?token=hidden"
    error = fetch(commit, splits=[split])
    named = "task.evaluation.set0.url", f"{hub.endpoint}/raw/pairs.txt"
    assert mentions(error, *named, 404) and mentions((tmp_path / "log").read_text(), *named)
    assert "hidden" not in error + (tmp_path / "log").read_text()


@pytest.mark.slow
def test_a_killed_download_of_an_address_leaves_nothing_behind(hub, fetch, command, environment, pairs_at, tmp_path):
    content = os.urandom(1000) * 2_000
    hub.files["/raw/pairs.txt"] = content
    commit, split, folder = hub.add("model", NAME, MODEL), pairs_at(content=content), tmp_path / "data/inner"
    gate = hub.stalled["/raw/pairs.txt"] = threading.Event()
    started = subprocess.Popen(command(commit, splits=[split]), env=environment)
    (part,) = wait_until(lambda: [path for path in folder.glob(".*") if path.stat().st_size])
    started.kill()
    started.wait()
    hub.stalled.clear()
    gate.set()
    assert part.exists() and list(folder.iterdir()) == [part]
    fetch(commit, splits=[split])
    assert [path.name for path in folder.iterdir()] == ["pairs.txt"]
    assert (folder / "pairs.txt").read_bytes() == content


def test_files_that_nobody_downloads_are_listed_where_they_are_missing(hub, fetch, pairs_at, tmp_path):
    hub.files["/raw/pairs.txt"] = WEIGHTS
    (tmp_path / "data").mkdir()
    (tmp_path / "data/there.csv").write_text("a")
    fetch(hub.add("model", NAME, MODEL), splits=[pairs_at(), {"file": "there.csv"}, {"file": "set-*.csv"}])
    listed = [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("  task.")]
    wanted = ("task.train.0.file", "local.parquet"), ("task.evaluation.set2.file", "set-*.csv")
    for line, (key, name) in zip(listed, wanted, strict=True):
        assert mentions(line, key, tmp_path / "data" / name)


def test_sentences_need_the_file_that_the_hash_says(tmp_path):
    split = {"file": "a.csv", "url": "https://example.org/a", "sha256": hashlib.sha256(b"x").hexdigest()}
    split |= {"sentences": ["premise", "hypothesis"]}
    task = FilesTask.model_validate(
        {"name": "t", "source": "files", "folder": str(tmp_path), "labels": LABELS, "train": [split]}
        | {"evaluation": {"dev": split | {"group": "id"}}}
    )
    with raises(InputError, tmp_path / "a.csv", "make fetch CONFIG=FILE"):
        find_split_paths(task, task.train[0])
    assert find_present_paths(task, task.train[0]) == []
    (tmp_path / "a.csv").write_text("y")
    with raises(InputError, tmp_path / "a.csv", hashlib.sha256(b"y").hexdigest(), split["sha256"], "make fetch"):
        find_split_paths(task, task.train[0])
    (tmp_path / "a.csv").write_text("x")
    assert find_split_paths(task, task.train[0]) == [tmp_path / "a.csv"]
    assert find_local_paths(task) == [] and find_missing_paths(task) == {}


def test_files_of_addresses_may_have_the_same_name_in_several_folders(tmp_path):
    def split(folder, content, group=None):
        fields = {
            "file": "a.csv",
            "url": f"https://example.org/{content.decode()}",
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        fields |= {"sentences": ["a", "b"]} | ({"folder": str(tmp_path / folder)} if folder else {})
        return fields | ({"group": group} if group else {})

    def make_task(*sets):
        values = {"name": "t", "source": "files", "folder": str(tmp_path / "data"), "labels": LABELS}
        return FilesTask.model_validate(
            values | {"train": [split(None, b"x")], "evaluation": {f"set{i}": entry for i, entry in enumerate(sets)}}
        )

    task = make_task(split("more", b"y", "id"), split("data", b"x", "ood"))
    assert [(item.path, item.url[-1]) for item in list_downloads(task)] == [
        (tmp_path / "data/a.csv", "x"),
        (tmp_path / "more/a.csv", "y"),
    ]
    with raises(InputError, tmp_path / "more/a.csv"):
        find_split_paths(task, task.evaluation["set0"])
    with raises(ValidationError, "task.evaluation.set0", "task.train.0", "a.csv"):
        make_task(split("./data/../data", b"y", "id"))
    with raises(ValidationError, "folder", "'x'", "hub"):
        Split(file="a.csv", folder="x", hub="a/b", revision="0" * 40, sentences=("a", "b"))
