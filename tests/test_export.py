"""One archive per study: an RO-Crate that a validator accepts, complete, true, the same again, and without secrets."""

import hashlib
import io
import json
import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml
from archives import METADATA, export, list_entities, members, script, write
from conftest import ROOT
from once import once
from reduced import REDUCED, STUDY, snakemake

from heuristic_core.common.hashing import file_digest
from heuristic_core.experiments.subnetworks.experiment import EXPERIMENT
from heuristic_core.provenance.crate.metadata import summarise_run
from heuristic_core.provenance.crate.records import collect_records
from heuristic_core.provenance.record import RECORD_FIELDS, record_digest

SETTINGS = yaml.safe_load(REDUCED.read_text())
SECRET = "hf_QwErTyUiOpAsDfGhJkLzXcVbNm"
CONTEXT = "https://w3id.org/ro/crate/1.3/context"
# What the specification recommends and nobody can know before it is published, or CITATION.cff does not say.
NOT_KNOWN = re.compile("publisher|author|organization|contactPoint|Bioschemas", re.IGNORECASE)


@pytest.fixture(scope="module")
def study(finished, tmp_path_factory):
    """A folder with the finished study and its archive; all tests share it."""

    def make(folder):
        shutil.copytree(finished, folder, dirs_exist_ok=True)
        snakemake(folder, "--", "export", env=os.environ | {"HF_TOKEN": SECRET})

    return once(tmp_path_factory, "exported", make)


@pytest.fixture(scope="module")
def archive(study):
    return study / "results" / "reduced" / "reduced.crate.zip"


@pytest.fixture(scope="module")
def archive_members(archive):
    return members(archive)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """A cache of the validator's that holds the context of RO-Crate 1.3, as the library rocrate brings it."""
    import requests
    import rocrate
    import urllib3
    from requests_cache import CachedSession

    class Bundled(requests.adapters.BaseAdapter):
        def send(self, request, **_):
            response = requests.Response()
            response.status_code, response.url, response.request = 200, request.url, request
            response.headers["Content-Type"] = "application/ld+json"
            body = (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_bytes()
            assert json.loads(body)["@id"] == CONTEXT
            response.raw = urllib3.HTTPResponse(io.BytesIO(body), response.headers, 200, preload_content=False)
            return response

        def close(self):
            pass

    path = tmp_path_factory.mktemp("cache") / "validator"
    with CachedSession(str(path), backend="sqlite", expire_after=-1) as session:
        session.mount("https://w3id.org", Bundled())
        session.get(CONTEXT)
    return path


def issues(archive, cache):
    """What the validator finds, by severity."""
    from rocrate_validator import services
    from rocrate_validator.models import ValidationSettings

    result = services.validate(
        ValidationSettings(
            rocrate_uri=str(archive),
            profile_identifier="ro-crate-1.3",
            requirement_severity="RECOMMENDED",
            offline=True,
            cache_path=cache,
        )
    )
    archive_members = {"REQUIRED": set(), "RECOMMENDED": set()}
    for issue in result.get_issues():
        archive_members[issue.severity.name].add(issue.message)
    return archive_members


def some_of_each_kind(archive_members, count=2):
    """The archive's members with at most `count` files of a kind, and metadata that tells of no others.

    The validator takes minutes for hundreds of files, and they are described by the same few lines of code.
    """
    whole, kinds, kept = json.loads(archive_members[METADATA]), Counter(), set()
    for entity in whole["@graph"]:
        kind = (str(entity["@type"]), str(entity.get("encodingFormat")), *sorted(entity))
        kinds[kind] += 1
        if kinds[kind] <= count or "File" not in entity["@type"]:
            kept.add(entity["@id"])
    files = archive_members.keys() - {METADATA}

    def without(value):
        if isinstance(value, list):
            return [without(item) for item in value if not is_gone(item)]
        return (
            {key: without(item) for key, item in value.items() if not is_gone(item)}
            if isinstance(value, dict)
            else value
        )

    def is_gone(value):
        return isinstance(value, dict) and value.keys() == {"@id"} and value["@id"] in files - kept

    graph = [without(entity) for entity in whole["@graph"] if entity["@id"] in kept]
    metadata = json.dumps(whole | {"@graph": graph}).encode()
    return {METADATA: metadata} | {name: archive_members[name] for name in sorted(files & kept)}


@pytest.mark.slow
def test_the_validator_accepts_it(archive_members, cache, tmp_path):
    few = some_of_each_kind(archive_members)
    assert 20 < len(few) < len(archive_members)
    archive_members = issues(write(tmp_path / "few.zip", few), cache)
    assert archive_members["REQUIRED"] == set()
    assert {message for message in archive_members["RECOMMENDED"] if not NOT_KNOWN.search(message)} == set()


@pytest.mark.slow
def test_the_validator_would_find_a_fault(archive_members, cache, tmp_path):
    """Without this, the test above might pass because nothing is looked at."""
    entities = list_entities(archive_members)
    few = [entities[name] for name in ("./", METADATA, "claims.yaml", "#author-1")]
    few[0] = few[0] | {"hasPart": {"@id": "claims.yaml"}, "license": None}
    whole = json.loads(archive_members[METADATA]) | {"@graph": few}
    faulty = write(tmp_path / "faulty.zip", {METADATA: json.dumps(whole).encode(), "claims.yaml": b""})
    assert any("license" in message for message in issues(faulty, cache)["REQUIRED"])


def test_it_holds_what_was_promised_and_says_the_truth_of_it(study, archive_members):
    assert archive_members.keys() >= {
        *("report.html", "study.json", "config.yaml", "claims.yaml", "CITATION.cff", "Snakefile"),
        *("envs/requirements.txt", "tables/accuracy.parquet", "tables/splits.parquet", "tables/prune_trace.parquet"),
        *("figures/figure02.pdf", "figures/figure06.csv", "tables/table3.tex", "tables/table3.md"),
        *("mini-bert/pairs/ft2/step60/s0.4/seed44/subnetwork.json",),
        *("mini-bert/pairs/ft1/step60/s0.2/seed42/repeat1/subnetwork.json",),
    }
    results = [
        name for name in archive_members if not name.startswith("provenance/")
    ]  # these have records of all that led here
    assert [name for name in results if "predictions" in name or name.endswith((".log", ".safetensors"))] == []
    assert archive_members["Snakefile"] == (ROOT / "Snakefile").read_bytes()
    for name in EXPERIMENT.list_members(STUDY):
        assert archive_members[name] == (study / "results/reduced" / name).read_bytes(), name
    entities = list_entities(archive_members)
    files = {name for name, entity in entities.items() if "File" in entity["@type"]}
    assert files == archive_members.keys() - {METADATA} == {part["@id"] for part in entities["./"]["hasPart"]}
    for name in files:
        assert entities[name]["sha256"] == hashlib.sha256(archive_members[name]).hexdigest()
        assert entities[name]["contentSize"] == str(len(archive_members[name]))
    run = entities["#run"]
    assert run["instrument"] == {"@id": "Snakefile"}
    assert {"@id": "config.yaml"} in run["object"] and {"@id": "tables/core.parquet"} in run["result"]
    assert yaml.safe_load(archive_members["config.yaml"]) == SETTINGS


def test_exporting_again_gives_the_same_bytes(study, archive, tmp_path):
    copied = tmp_path / "elsewhere" / "reduced"
    shutil.copytree(study / "results/reduced", copied, copy_function=shutil.copyfile)  # with other times
    export(copied, SETTINGS, tmp_path / "again.zip")
    assert (tmp_path / "again.zip").read_bytes() == archive.read_bytes()


@pytest.mark.slow
def test_no_path_user_or_secret_enters_it(study, tmp_path):
    private = ("/home/ada", "lovelace", "s3cret", SECRET, str(Path.home()), str(tmp_path), str(study), str(ROOT))
    split = {"sentences": ["a", "b"], "url": "https://ada:s3cret@example.org/x.csv?key=s3cret", "sha256": "0" * 64}
    task = {
        **{"name": "pairs", "source": "files", "folder": '/home/ada "lovelace"/data', "labels": ["no", "yes"]},
        "train": [split | {"file": "x.csv"}],
        "evaluation": {group: split | {"file": "x.csv", "group": group} for group in ("id", "ood")},
    }
    model = {"name": "mini-bert", "source": "pretrained", "folder": "/home/ada.lovelace/models/tiny"}
    settings = {**SETTINGS, "task": task, "model": model, "results": "/home/ada.lovelace/results", "figures": {}}
    root = tmp_path / "reduced"
    shutil.copytree(study / "results/reduced", root)
    rewrite_settings(root, settings)
    assert all(word in (root / "report.html").read_text() for word in ("/home/ada", "s3cret"))
    archive_members = export(root, settings, tmp_path / "out.zip")
    config = yaml.safe_load(archive_members["config.yaml"])
    assert (config["task"]["folder"], config["model"]["folder"], config["results"]) == ("data", "tiny", "results")
    assert config["task"]["train"][0]["url"] == "https://example.org/x.csv"
    assert json.loads(archive_members["study.json"])["settings"]["model"]["folder"] == "tiny"
    assert '<td class="text">tiny</td>' in archive_members["report.html"].decode()
    for name, content in archive_members.items():
        assert [word for word in private if word in texts(name, content)] == [], name


def rewrite_settings(root, settings):
    """What a study of `settings` has in study.json and in its report, in a finished study of others."""
    from heuristic_core.experiments.subnetworks.config import parse_study

    list_entities = json.loads((root / "study.json").read_text())
    list_entities["settings"] = json.loads(parse_study(settings).model_dump_json())
    (root / "study.json").write_text(json.dumps(list_entities))
    for name in ("study.json", "report.html"):  # they are not what was made any more
        (root / f"provenance/{name}.json").unlink()
    names = sorted({path.stem for path in (root / "figures").glob("*.png")})
    captions = sorted(map(str, (ROOT / "workflow/report/subnetworks").glob("*.rst")))
    arguments = ["--root", root, "--context", json.dumps(list_entities["context"]), "--settings", root / "study.json"]
    arguments += ["--claims", root / "tables/claims.parquet", "--report", root / "report.html"]
    arguments += ["--captions", *captions, "--targets", *names, "--log", root / "page.log"]
    script("report").main([*map(str, arguments)])


def texts(name, content):
    """All that a member says: of a Parquet file its text columns and metadata."""
    if not name.endswith(".parquet"):
        return content.decode(errors="replace")
    table = pq.read_table(io.BytesIO(content))
    columns = [
        str(set(table[c].to_pylist())) for c in table.column_names if str(table.schema.field(c).type) == "string"
    ]
    return " ".join([*columns, str(table.schema.metadata), str([field.metadata for field in table.schema])])


def record(folder, name, inputs, started, commit="c" * 40):
    path = folder / "provenance" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    made = dict.fromkeys(RECORD_FIELDS) | {
        "inputs": dict.fromkeys(inputs, "0" * 64),
        "started": started,
        "seconds": 90.5,
    }
    made |= {"commit": commit, "outputs": {name: file_digest(folder / name)} if (folder / name).is_file() else {}}
    path.write_text(json.dumps(made | {"digest": record_digest(made)}))


def test_records_are_those_of_what_led_here(tmp_path):
    record(tmp_path, "tables/core.parquet", ["m/subnetwork.json"], "2026-01-01T10:00:00Z")
    record(tmp_path, "m/subnetwork.json", ["m/checkpoint/model.safetensors"], "2026-01-01T09:00:00Z")
    record(tmp_path, "m/checkpoint", [], "2026-01-01T08:00:00Z")
    record(tmp_path, "of-a-seed-that-is-gone/subnetwork.json", [], "2026-01-01T11:00:00Z")
    assert collect_records(tmp_path, ["tables/core.parquet", "without-record.csv"]) == [
        "provenance/m/checkpoint.json",
        "provenance/m/subnetwork.json.json",
        "provenance/tables/core.parquet.json",
    ]


@pytest.mark.parametrize(("dirty", "commit"), [(False, "a" * 40), (True, None), (None, "a" * 40)])
def test_code_that_differed_from_its_commit_names_none(dirty, commit):
    made = {"started": "2026-01-01T10:00:00Z", "seconds": 1.0, "commit": "a" * 40, "dirty": dirty}
    assert summarise_run([made]).commit == commit


def test_dates_and_commit_are_those_of_the_records(study, archive_members, tmp_path):
    assert list_entities(archive_members)["./"]["datePublished"]
    root = tmp_path / "reduced"
    shutil.copytree(study / "results/reduced", root)
    shutil.rmtree(root / "provenance", ignore_errors=True)
    record(root, "tables/core.parquet", ["tables/components.parquet"], "2026-01-01T23:59:00Z", commit="a" * 40)
    record(root, "tables/components.parquet", [], "2026-01-01T10:00:00Z", commit="b" * 40)
    record(root, "reduced.crate.zip", ["tables/core.parquet"], "2026-03-01T10:00:00Z")
    entities = list_entities(with_records := export(root, SETTINGS, tmp_path / "dated.zip"))
    assert [name for name in with_records if name.startswith("provenance")] == [
        "provenance/tables/components.parquet.json",
        "provenance/tables/core.parquet.json",
    ]
    assert entities["./"]["datePublished"] == "2026-01-02"
    assert (entities["#run"]["startTime"], entities["#run"]["endTime"]) == (
        "2026-01-01T10:00:00+00:00",
        "2026-01-02T00:00:30+00:00",
    )
    assert entities["Snakefile"]["identifier"] == f"swh:1:rev:{'a' * 40}"
