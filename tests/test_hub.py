"""Downloads from a hub on 127.0.0.1, what is checked of them, and a study that then runs from the cache alone."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import httpx2
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import ROOT
from hub_server import Hub
from huggingface_hub import errors
from hypothesis import given
from hypothesis import strategies as st
from reduced import REDUCED, planned, snakemake

from heuristic_core.errors import InputError
from heuristic_core.fetch import _explained
from heuristic_core.hub import Source, matching, model_files

LABELS = ["entailment", "neutral", "contradiction"]
WEIGHTS = bytes(range(256)) * 12  # as large files are kept; fetching looks into none
MODEL = {
    "config.json": b"{}",
    "tokenizer.json": b'{"version": "1.0"}',
    "merges.txt": b"a b\n",
    "model.safetensors": WEIGHTS,
    "pytorch_model.bin": b"not wanted" * 300,
    "onnx/tokenizer.json": b"nor this",
    "README.md": b"nor this",
}
NAME = "tiny/bert"


@pytest.fixture
def hub():
    server = Hub()
    yield server
    server.close()


@pytest.fixture
def environment(hub, tmp_path):
    """Environment variables of a user of that hub, whose cache is empty."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    kept |= {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "home"), "NO_PROXY": "127.0.0.1"}
    return kept | {"PYTHONPATH": str(ROOT / "src"), "HEURISTIC_CORE_WARM": "0"}


@pytest.fixture
def fetch(environment, tmp_path):
    """A function that runs the script `fetch`; returns its rows by path, or what it wrote on standard error."""

    def run(commit, name=NAME, splits=(), **variables):
        model = {"name": "tiny", "source": "pretrained", "hub": name, "revision": commit}
        columns = {"sentences": ["premise", "hypothesis"]}
        evaluation = {f"set{i}": columns | {"group": "id"} | split for i, split in enumerate(splits)}
        task = {"name": "nli", "source": "files", "labels": LABELS, "train": [columns | {"file": "local.parquet"}]}
        task["evaluation"] = evaluation or {"local": columns | {"group": "id", "file": "local.parquet"}}
        out = tmp_path / "fetched.json"
        out.unlink(missing_ok=True)
        command = [sys.executable, str(ROOT / "workflow" / "scripts" / "fetch.py"), "--fetched", str(out)]
        command += ["--model", json.dumps(model), "--task", json.dumps(task), "--log", str(tmp_path / "log")]
        variables |= {"HF_HUB_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(command, env=environment | variables, capture_output=True, text=True)
        assert (done.returncode == 0) == out.exists() and "Traceback" not in done.stderr, done.stderr
        return {row["path"]: row for row in json.loads(out.read_text())} if out.exists() else done.stderr

    return run


@pytest.fixture
def snapshot(tmp_path):
    """Where the cache holds the files of a commit of the model."""
    return lambda commit: tmp_path / "home/hub" / f"models--{NAME.replace('/', '--')}" / "snapshots" / commit


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


def test_shards_and_patterns_of_files_are_fetched_whole(hub, fetch):
    shards = {f"model-0000{i}-of-00002.safetensors": bytes([i]) * 3000 for i in (1, 2)}
    model = {"config.json": b"{}", "model.safetensors.index.json": b"{}", **shards}
    data = {f"mnli/train-{i}.parquet": bytes([i]) * 10 for i in range(3)} | {"qqp/train-0.parquet": b"other"}
    split = {"hub": "glue/data", "revision": hub.add("dataset", "glue/data", data), "file": "mnli/train-*.parquet"}
    rows = fetch(hub.add("model", NAME, model), splits=[split, split])
    assert sorted(rows) == sorted([*model, *(f"mnli/train-{i}.parquet" for i in range(3))])


def test_a_download_that_breaks_off_is_resumed_where_it_stopped(hub, fetch):
    chunk = 10 * 2**20  # the client writes as much at a time
    weights = os.urandom(1000) * 25_000
    hub.cut["model.safetensors"] = 1
    rows = fetch(hub.add("model", NAME, MODEL | {"model.safetensors": weights}))
    assert rows["model.safetensors"]["sha256"] == hashlib.sha256(weights).hexdigest()
    ranges = [wanted for path, wanted in hub.downloads() if path.endswith("model.safetensors")]
    assert ranges == [None, f"bytes={chunk}-"]


@pytest.mark.parametrize("path", ["model.safetensors", "config.json"], ids=["large", "small"])
def test_wrong_bytes_are_downloaded_again_and_kept_never(hub, fetch, snapshot, path):
    commit = hub.add("model", NAME, MODEL)
    hub.wrong[path] = 1
    assert fetch(commit)[path]["sha256"] == hashlib.sha256(MODEL[path]).hexdigest()

    commit = hub.add("model", NAME, MODEL | {path: MODEL[path][::-1]})
    hub.wrong[path] = 9
    error = fetch(commit)
    assert f"model.hub = '{NAME}'" in error and path in error and "downloaded twice" in error
    assert not (snapshot(commit) / path).exists()
    hub.wrong.clear()
    assert fetch(commit)[path]["bytes"] == len(MODEL[path])


@pytest.mark.parametrize("links", [True, False], ids=["links", "no links"])
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


def test_what_the_hub_does_not_have_or_give_is_named(hub, fetch):
    commit, other = hub.add("model", NAME, MODEL), "0" * 40
    assert f"model.revision = '{other}': {NAME} has no such commit" in fetch(other)
    assert "model.hub = 'tiny/bart': " in fetch(commit, name="tiny/bart")
    hub.gated.add(NAME)
    assert f"model.hub = '{NAME}'" in (error := fetch(commit)) and "HF_TOKEN" in error and "granted" in error


def test_what_a_repository_lacks_is_named(hub, fetch):
    old = {"config.json": b"{}", "pytorch_model.bin": b"weights", "vocab.txt": b"a"}
    error = fetch(hub.add("model", NAME, old))
    assert f"model.hub = '{NAME}'" in error and "pytorch_model.bin" in error and "safetensors" in error
    assert "no config.json" in fetch(hub.add("model", NAME, {"model.safetensors": b"x"}))
    commit, data = hub.add("model", NAME, MODEL), hub.add("dataset", "tiny/nli", {"train.parquet": b"x"})
    error = fetch(commit, splits=[{"hub": "tiny/nli", "revision": data, "file": "dev-*.parquet"}])
    assert "task.evaluation.set0.file = 'dev-*.parquet'" in error and "train.parquet" in error
    assert not any("pytorch_model" in path for path, _ in hub.downloads())


def test_without_a_network_what_is_there_is_checked_and_what_is_not_is_named(hub, fetch):
    commit, missing = hub.add("model", NAME, MODEL), "1" * 40
    rows = fetch(commit)
    hub.close()
    assert fetch(commit) == rows
    error = fetch(missing, HF_HUB_OFFLINE="1")
    assert f"model.hub = '{NAME}'" in error and f"{hub.endpoint} cannot be reached" in error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (httpx2.ConnectError("no route"), "cannot be reached (ConnectError: no route)"),
        (httpx2.ReadTimeout("slow"), "cannot be reached (ReadTimeout: slow)"),
        (errors.LocalEntryNotFoundError("nothing here"), "cannot be reached"),
        (OSError("No space left on device"), "download failed: No space left on device; what was complete is kept"),
    ],
)
def test_what_the_client_raises_becomes_one_message(error, words):
    with (
        pytest.raises(InputError, match=re.escape(words)) as raised,
        _explained(Source("task.train.0", "dataset", NAME, "0" * 40, "*.parquet")),
    ):
        raise error
    assert f"task.train.0.hub = '{NAME}'" in str(raised.value)


ASK = """
import json, sys
from heuristic_core.errors import InputError
from heuristic_core.hub import cached_files, cached_model
model, data = sys.argv[1:]
def told(function, *arguments):
    try:
        return str(function(*arguments))
    except InputError as error:
        return f"error: {error}"
ask = lambda *patterns: told(cached_files, "tiny/nli", data, patterns, "dataset")
print(json.dumps([told(cached_model, "tiny/bert", model), ask("b-*", "a-*"), ask("a-*", "c-*"), ask("none")]))
"""


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
    assert partial.startswith(f"error: c-* of dataset tiny/nli, commit {data}") and "make fetch CONFIG=" in partial
    assert none.startswith("error: none of dataset tiny/nli")
    (snapshot(commit) / "model.safetensors").unlink()
    assert ask()[0].startswith(f"error: model.safetensors of model {NAME}, commit {commit}")
    shutil.rmtree(snapshot(commit))
    assert ask()[0].startswith(f"error: model {NAME}, commit {commit}")
    assert hub.requests == []


def test_of_two_forms_of_weights_the_one_that_is_loaded_is_taken():
    shards = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors", "model.safetensors.index.json"]
    assert set(model_files([*MODEL, *shards])) == set(model_files(MODEL))
    assert set(shards) < set(model_files([*shards, "config.json", "model.fp16.safetensors", "spiece.model"]))


@given(st.lists(st.text("ab[?/", min_size=1, max_size=6), max_size=5), st.text("ab[?/*", max_size=5))
def test_a_star_stands_for_any_part_of_a_name_and_other_characters_for_themselves(names, pattern):
    def fits(name: str, wanted: str) -> bool:
        if not wanted:
            return not name
        if wanted[0] == "*":
            return fits(name, wanted[1:]) or (name[:1] not in ("", "/") and fits(name[1:], wanted))
        return name[:1] == wanted[0] and fits(name[1:], wanted[1:])

    assert matching(names, pattern) == sorted(name for name in names if fits(name, pattern))


def pairs(count: int) -> pa.Table:
    rows = [
        {"premise": f"dog {i % 7} saw cats", "hypothesis": f"cats {i % 5} ran", "label": i % 3} for i in range(count)
    ]
    return pa.Table.from_pylist(rows)


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory):
    """The folder of a tiny BERT without a classifier, and its tokenizer."""
    from transformers import BertConfig, BertModel, BertTokenizer

    folder = tmp_path_factory.mktemp("pretrained")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "dog", "saw", "cats", "ran", *map(str, range(9))]
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(words), max_position_embeddings=24, **sizes)).save_pretrained(folder)
    BertTokenizer(vocab={word: i for i, word in enumerate(words)}).save_pretrained(folder)
    return folder


@pytest.mark.workflow
def test_a_study_is_fetched_once_and_then_runs_from_the_cache(hub, environment, pretrained, tmp_path):
    data = {}
    for name, count in {"train-0": 200, "train-1": 100, "dev-0": 40}.items():
        sink = pa.BufferOutputStream()
        pq.write_table(pairs(count), sink)
        data[f"nli/{name}.parquet"] = sink.getvalue().to_pybytes()
    place = {
        "hub": "tiny/nli",
        "revision": hub.add("dataset", "tiny/nli", data),
        "sentences": ["premise", "hypothesis"],
    }
    values = yaml.safe_load(REDUCED.read_text())
    model = {"name": "tiny", "source": "pretrained", "hub": NAME, "revision": hub.add("model", NAME, pretrained)}
    task = {"name": "nli", "source": "files", "labels": LABELS, "max_length": 24}
    task |= {"train": [place | {"file": "nli/train-*.parquet"}]}
    task |= {"evaluation": {"dev": place | {"file": "nli/dev-*.parquet", "group": "id"}}}
    config = tmp_path / "study.yaml"
    config.write_text(yaml.safe_dump(values | {"model": model, "task": task}))
    runs = tmp_path / "results/reduced/tiny/nli"

    snakemake(tmp_path, "fetch", config=config, env=environment)
    rows = json.loads((runs / "data/fetched.json").read_text())
    assert {row["path"] for row in rows} >= {*data, "config.json", "model.safetensors"}
    assert str(tmp_path) not in (runs / "data/fetched.json").read_text()

    asked = len(hub.requests)
    hub.repositories.clear()
    snakemake(tmp_path, "results/reduced/tiny/nli/ft1/trace.parquet", config=config, env=environment)
    assert len(hub.requests) == asked, hub.requests[asked:]
    assert pq.read_metadata(runs / "data/sentences/train.parquet").num_rows == 300

    # Checked anew, nothing that was made from it runs again.
    snakemake(tmp_path, "--forcerun", "fetch", "--", "fetch", config=config, env=environment)
    left = planned(tmp_path, config)
    assert left["finetune"] == 1 and not {"fetch", "sentences", "encode"} & set(left)


@pytest.mark.workflow
def test_a_study_without_the_hub_has_nothing_to_fetch(tmp_path):
    done = snakemake(tmp_path, "fetch")
    assert "nothing to fetch" in done.stdout + done.stderr and not (tmp_path / "results/reduced/mini-bert").exists()
