"""Downloads from a hub on 127.0.0.1, and what is checked of them."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
from amounts import first_fast
from fetching import MODEL, NAME, WEIGHTS, wait_until
from filelock import FileLock
from huggingface_hub import errors
from hypothesis import given
from hypothesis import strategies as st
from mentions import mentions, raises

from heuristic_core.common.errors import InputError
from heuristic_core.data.fetch import ATTEMPTS, _explain_errors
from heuristic_core.data.hub import Source, match_names, select_model_files


@pytest.fixture
def snapshot(tmp_path):
    """Where the cache holds the files of a commit of the model."""
    return lambda commit: tmp_path / "home/hub" / f"models--{NAME.replace('/', '--')}" / "snapshots" / commit


@pytest.mark.slow
def test_a_model_is_fetched_with_what_is_loaded_and_nothing_else(hub, fetch, snapshot):
    commit = hub.add("model", NAME, MODEL)
    rows = fetch(commit)
    assert sorted(rows) == ["config.json", "merges.txt", "model.safetensors", "tokenizer.json"]
    assert rows["model.safetensors"] == {
        "kind": "model",
        "repository": NAME,
        "revision": commit,
        "path": "model.safetensors",
        "bytes": len(WEIGHTS),
        "sha256": hashlib.sha256(WEIGHTS).hexdigest(),
    }
    assert {path.name: path.read_bytes() for path in snapshot(commit).iterdir()} == {p: MODEL[p] for p in rows}

    hub.requests.clear()
    assert fetch(commit) == rows and hub.requests == [], "all is there: nothing is asked of the hub"
    blobs = {path.name: (snapshot(commit) / path).resolve().name for path in map(Path, rows)}
    assert blobs["model.safetensors"] == rows["model.safetensors"]["sha256"] and len(blobs["config.json"]) == 40


@pytest.mark.slow
def test_shards_and_patterns_of_files_are_fetched_whole(hub, fetch):
    shards = {f"model-0000{i}-of-00002.safetensors": bytes([i]) * 3000 for i in (1, 2)}
    model = {"config.json": b"{}", "model.safetensors.index.json": b"{}", **shards}
    data = {f"mnli/train-{i}.parquet": bytes([i]) * 10 for i in range(3)} | {"qqp/train-0.parquet": b"other"}
    split = {"hub": "glue/data", "revision": hub.add("dataset", "glue/data", data), "file": "mnli/train-*.parquet"}
    rows = fetch(hub.add("model", NAME, model), splits=[split, split])
    assert sorted(rows) == sorted([*model, *(f"mnli/train-{i}.parquet" for i in range(3))])


@pytest.mark.slow
def test_a_download_that_breaks_off_is_resumed_where_it_stopped(hub, fetch):
    chunk = 10 * 2**20  # the client writes as much at a time
    weights = os.urandom(1000) * 25_000
    hub.cut["model.safetensors"] = 1
    rows = fetch(hub.add("model", NAME, MODEL | {"model.safetensors": weights}))
    assert rows["model.safetensors"]["sha256"] == hashlib.sha256(weights).hexdigest()
    ranges = [wanted for path, wanted in hub.downloads() if "/bytes/" in path]
    assert ranges == [None, f"bytes={chunk}-"]


@pytest.mark.slow
@pytest.mark.parametrize("path", first_fast("model.safetensors", "config.json"), ids=["large", "small"])
def test_wrong_bytes_are_downloaded_again_and_kept_never(hub, fetch, snapshot, path):
    commit = hub.add("model", NAME, MODEL)
    hub.wrong[path] = 1
    assert fetch(commit)[path]["sha256"] == hashlib.sha256(MODEL[path]).hexdigest()

    commit = hub.add("model", NAME, MODEL | {path: MODEL[path][::-1]})
    hub.wrong[path] = 9
    before = len(hub.downloads())
    error = fetch(commit)
    assert f"model.hub = '{NAME}'" in error and path in error
    assert len([address for address, _ in hub.downloads()[before:] if "/resolve/" in address]) == ATTEMPTS
    assert not (snapshot(commit) / path).exists()
    hub.wrong.clear()
    assert fetch(commit)[path]["bytes"] == len(MODEL[path])


@pytest.mark.slow
@pytest.mark.parametrize("links", first_fast(True, False), ids=["links", "no links"])
def test_a_file_damaged_in_the_cache_is_found_and_downloaded_again(hub, fetch, snapshot, links):
    variables = {} if links else {"HF_HUB_DISABLE_SYMLINKS": "1"}
    commit = hub.add("model", NAME, MODEL)
    rows = fetch(commit, **variables)
    file = snapshot(commit) / "model.safetensors"
    assert file.is_symlink() == links
    file.write_bytes(WEIGHTS[:-1] + b"?")
    hub.requests.clear()
    assert fetch(commit, **variables) == rows
    assert {path.split("/")[-1] for path, _ in hub.downloads()} == {"model.safetensors"}
    assert file.read_bytes() == WEIGHTS


def large_parts(folder):
    with suppress(FileNotFoundError):  # a small file was finished after it was listed
        return [path for path in folder.glob("*.incomplete") if path.stat().st_size > 2**20]


@pytest.mark.slow
def test_a_killed_download_leaves_nothing_behind_once_it_is_done_again(hub, fetch, command, environment, snapshot):
    weights = os.urandom(1000) * 25_000
    commit = hub.add("model", NAME, MODEL | {"model.safetensors": weights})
    gate = hub.stalled["model.safetensors"] = threading.Event()
    blobs = snapshot(commit).parent.parent / "blobs"
    started = subprocess.Popen(command(commit), env=environment)
    (part,) = wait_until(lambda: large_parts(blobs))
    started.kill()
    started.wait()
    assert part.exists() and not (snapshot(commit) / "model.safetensors").exists()
    hub.stalled.clear()
    gate.set()

    elsewhere = blobs / "0123.abcd.incomplete"  # of a file that another process downloads just now
    elsewhere.write_bytes(b"x")
    with FileLock(blobs.parent.parent / ".locks" / blobs.parent.name / "0123.lock"):
        assert fetch(commit)["model.safetensors"]["sha256"] == hashlib.sha256(weights).hexdigest()
    assert list(blobs.glob("*.incomplete")) == [elsewhere]
    fetch(commit)
    assert not list(blobs.glob("*.incomplete"))


def test_one_fetch_waits_for_another(hub, command, environment, tmp_path):
    script, log = command(hub.add("model", NAME, MODEL)), tmp_path / "log"
    with FileLock(tmp_path / "home/hub/.locks/heuristic-core.lock"):
        started = subprocess.Popen(script, env=environment)
        wait_until(lambda: log.exists() and "another fetch" in log.read_text())
        assert hub.requests == []
    assert started.wait() == 0 and hub.requests


@pytest.mark.slow
def test_a_cache_that_cannot_be_locked_is_checked_all_the_same(hub, fetch, tmp_path):
    commit = hub.add("model", NAME, MODEL)
    rows = fetch(commit)
    shutil.rmtree(tmp_path / "home/hub/.locks")
    (tmp_path / "home/hub/.locks").write_text("no folder")
    assert fetch(commit) == rows


@pytest.mark.slow
def test_what_the_hub_does_not_have_or_give_is_named(hub, fetch):
    commit, other = hub.add("model", NAME, MODEL), "0" * 40
    assert mentions(fetch(other), "model.revision", other, NAME)
    assert mentions(fetch(commit, name="tiny/bart"), "model.hub", "tiny/bart")
    hub.gated.add(NAME)
    assert mentions(fetch(commit), "model.hub", NAME, "HF_TOKEN")


@pytest.mark.slow
def test_what_a_repository_lacks_is_named(hub, fetch):
    old = {"config.json": b"{}", "pytorch_model.bin": b"weights", "vocab.txt": b"a"}
    error = fetch(hub.add("model", NAME, old))
    assert mentions(error, "model.hub", NAME, "pytorch_model.bin", "safetensors")
    assert mentions(fetch(hub.add("model", NAME, {"model.safetensors": b"x"})), "config.json")
    commit, data = hub.add("model", NAME, MODEL), hub.add("dataset", "tiny/nli", {"train.parquet": b"x"})
    error = fetch(commit, splits=[{"hub": "tiny/nli", "revision": data, "file": "dev-*.parquet"}])
    assert mentions(error, "task.evaluation.set0.file", "dev-*.parquet", "train.parquet")
    assert not any("pytorch_model" in path for path, _ in hub.downloads())


@pytest.mark.slow
def test_without_a_network_what_is_there_is_checked_and_what_is_not_is_named(hub, fetch):
    commit, missing = hub.add("model", NAME, MODEL), "1" * 40
    rows = fetch(commit)
    hub.close()
    assert fetch(commit) == rows
    error = fetch(missing, HF_HUB_OFFLINE="1")
    assert mentions(error, "model.hub", NAME, hub.endpoint)


@pytest.mark.parametrize(
    ("error", "named"),
    [
        (httpx2.ConnectError("no route"), ("ConnectError", "no route", "HF_HUB_CACHE")),
        (httpx2.ReadTimeout("slow"), ("ReadTimeout", "slow", "HF_HUB_CACHE")),
        (errors.LocalEntryNotFoundError("nothing here"), ("LocalEntryNotFoundError", "nothing here", "HF_HUB_CACHE")),
        (OSError("No space left on device"), ("No space left on device", "fetch")),
    ],
)
def test_what_the_client_raises_becomes_one_message(error, named):
    with (
        raises(InputError, "task.train.0.hub", NAME, *named),
        _explain_errors(Source("task.train.0", "dataset", NAME, "0" * 40, "*.parquet")),
    ):
        raise error


ASK = """
import json, sys
from heuristic_core.common.errors import InputError
from heuristic_core.data.hub import find_cached_files, find_cached_model
model, data = sys.argv[1:]
def told(function, *arguments):
    try:
        return str(function(*arguments))
    except InputError as error:
        return f"error: {error}"
ask = lambda *patterns: told(find_cached_files, "tiny/nli", data, patterns, "dataset")
print(json.dumps([told(find_cached_model, "tiny/bert", model), ask("b-*", "a-*"), ask("a-*", "c-*"), ask("none")]))
"""


@pytest.mark.slow
def test_what_the_cache_has_is_found_and_what_it_lacks_is_named(hub, fetch, environment, snapshot):
    commit = hub.add("model", NAME, MODEL)
    data = hub.add("dataset", "tiny/nli", {f"{name}-{i}.csv": f"{name}{i}".encode() for name in "abc" for i in (0, 1)})
    fetch(
        commit,
        splits=[{"hub": "tiny/nli", "revision": data, "file": file} for file in ("a-*.csv", "b-*.csv", "c-0.csv")],
    )
    hub.requests.clear()

    def ask() -> list[str]:
        command = [sys.executable, "-c", ASK, commit, data]
        return json.loads(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)

    model, both, partial, none = ask()
    assert model == str(snapshot(commit))
    assert re.findall(r"\w-\d\.csv", both) == ["b-0.csv", "b-1.csv", "a-0.csv", "a-1.csv"]
    assert mentions(partial, "error", "c-*", "tiny/nli", data, "make fetch CONFIG")
    assert mentions(none, "error", "none", "tiny/nli")
    (snapshot(commit) / "model.safetensors").unlink()
    assert mentions(ask()[0], "error", "model.safetensors", NAME, commit)
    shutil.rmtree(snapshot(commit))
    assert mentions(ask()[0], "error", NAME, commit)
    assert hub.requests == []


def test_of_two_forms_of_weights_the_one_that_is_loaded_is_taken():
    shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"]
    assert set(select_model_files([*MODEL, *shards])) == set(select_model_files(MODEL))
    assert set(shards) < set(select_model_files([*shards, "config.json", "model.fp16.safetensors", "spiece.model"]))


@given(st.lists(st.text("ab[?/", min_size=1, max_size=6), max_size=5), st.text("ab[?/*", max_size=5))
def test_a_star_stands_for_any_part_of_a_name_and_other_characters_for_themselves(names, pattern):
    def fits(name: str, wanted: str) -> bool:
        if not wanted:
            return not name
        if wanted[0] == "*":
            return fits(name, wanted[1:]) or (name[:1] not in ("", "/") and fits(name[1:], wanted))
        return name[:1] == wanted[0] and fits(name[1:], wanted[1:])

    assert match_names(names, pattern) == sorted(name for name in names if fits(name, pattern))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5h://me:secret@127.0.0.1:1080"),
        ("https_proxy", "socks4://me:secret@127.0.0.1"),
        ("HTTP_PROXY", "http://me:secret@[::1"),
        ("SSL_CERT_FILE", "/secret/../none.pem"),
    ],
)
def test_a_proxy_or_certificate_that_cannot_be_used_is_named_and_not_its_password(hub, fetch, name, value):
    output = fetch(hub.add("model", NAME, MODEL), **{name: value, "LOWER": "x"})
    assert output.startswith(f"error: {name}=") and f"unset {name}" in output and "me:secret" not in output


@pytest.mark.slow
def test_what_the_cache_has_needs_no_connection(hub, fetch):
    commit = hub.add("model", NAME, MODEL)
    assert fetch(commit) == fetch(commit, ALL_PROXY="socks5://127.0.0.1:1080")
