"""Whole studies whose model and data come from a hub on 127.0.0.1: fetched once, then run from the cache alone."""

import hashlib
import json
import shlex
import subprocess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import ROOT
from reduced import REDUCED, parse_job_counts, planned, snakemake

LABELS = ["entailment", "neutral", "contradiction"]
NAME = "tiny/bert"


@pytest.mark.slow
def test_make_fetch_checks_again_in_every_study_of_several(hub, tmp_path):
    values = yaml.safe_load(REDUCED.read_text())
    model = {"name": "tiny", "source": "pretrained", "hub": NAME, "revision": "0" * 40}
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(values | {"study": name, "model": model}))
        listed = tmp_path / f"results/{name}/tiny/pairs/data/fetched.json"
        listed.parent.mkdir(parents=True)
        listed.write_text("[]")
    both, environment = tmp_path / "both.yaml", tmp_path / "venv"
    both.write_text("studies: [a.yaml, b.yaml]\n")
    snakemake(tmp_path, "--touch", "--", "fetch", config=both)
    make = ["make", "--no-print-directory", "--dry-run", "fetch", f"CONFIG={both}", f"VENV={environment}"]
    lines = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    program, *arguments = shlex.split(lines[-1])  # after what sets up the environment
    assert program == str(environment / "bin/snakemake") and "--configfile" in arguments
    for options, jobs in ((arguments[:2] + arguments[-2:], {}), (arguments, {"a_fetch": 1, "b_fetch": 1})):
        done = snakemake(tmp_path, "--dry-run", "--quiet", "rules", *options, config=both)
        assert {rule: n for rule, n in parse_job_counts(done.stdout + done.stderr).items() if rule != "fetch"} == jobs


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


@pytest.mark.slow
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
    task |= {"evaluation": {"dev": place | {"file": "nli/dev-*.parquet", "group": "id"}}, "folder": "kept"}
    rows = "premise\thypothesis\tlabel\n" + "dog saw cats\tcats ran\t1\n" * 9
    hub.files["/raw.tsv"] = rows.encode()
    address = {"url": f"{hub.endpoint}/raw.tsv", "sha256": hashlib.sha256(rows.encode()).hexdigest()}
    task["evaluation"]["odd"] = place | address | {"file": "odd.tsv", "group": "ood"}
    for key in ("hub", "revision"):
        del task["evaluation"]["odd"][key]
    config = tmp_path / "study.yaml"
    config.write_text(yaml.safe_dump(values | {"model": model, "task": task}))
    runs = tmp_path / "results/reduced/tiny/nli"

    snakemake(tmp_path, "fetch", config=config, env=environment)
    rows = json.loads((runs / "data/fetched.json").read_text())
    assert {row["path"] for row in rows} >= {*data, "config.json", "model.safetensors", "odd.tsv"}
    assert str(tmp_path) not in (runs / "data/fetched.json").read_text()

    request_count = len(hub.requests)
    hub.repositories.clear()
    hub.files.clear()
    snakemake(tmp_path, "results/reduced/tiny/nli/ft1/trace.parquet", config=config, env=environment)
    assert len(hub.requests) == request_count, hub.requests[request_count:]
    assert pq.read_metadata(runs / "data/sentences/train.parquet").num_rows == 300

    # Checked again, nothing that was made from it runs again.
    snakemake(tmp_path, "--forcerun", "fetch", "--", "fetch", config=config, env=environment)
    left = planned(tmp_path, config)
    assert left["finetune"] == 1 and not {"fetch", "sentences", "encode"} & set(left)


@pytest.mark.slow
def test_a_study_without_the_hub_has_nothing_to_fetch(tmp_path):
    snakemake(tmp_path, "fetch")
    assert not (tmp_path / "results/reduced/mini-bert").exists()
