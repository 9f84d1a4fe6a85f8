"""The experiment of extractive structures as a workflow: from nothing to its report, again, and with a seed more."""

import json
import zipfile

import pytest
import yaml
from conftest import ROOT
from reduced import planned, snakemake

from heuristic_core.config.claims import load_claims
from heuristic_core.config.reading import read_config
from heuristic_core.experiments.extractive_structures.config import parse_extractive
from heuristic_core.experiments.extractive_structures.experiment import EXPERIMENT
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.scores import KINDS
from heuristic_core.tables.parquet import read_table

CONFIG = ROOT / "tests" / "studies" / "extractive.yaml"
STUDY = parse_extractive(read_config(CONFIG))
RESULTS = "results/extractive"


@pytest.mark.slow
def test_from_nothing_to_report(tmp_path):
    snakemake(tmp_path, config=CONFIG)
    tables = {
        name: read_table(tmp_path / RESULTS / "tables" / f"{name}.parquet") for name in EXPERIMENT.list_tables(STUDY)
    }
    epochs, cities = STUDY.finetuning.epochs, STUDY.data.cities
    counts = {name: len(table) // len(STUDY.seeds) for name, table in tables.items()}
    assert counts == {
        "extractive_trace": 2 * 1,  # corpora, parts of 20 steps
        "extractive_curves": 2 * 2 * (epochs + 1) * 2,  # corpora, hops, parts
        "extractive_freezing": 2 * 4 * 2 * 2,  # hops, layers, frozen or restored, parts
        "extractive_ordering": 8 * epochs * 4,  # stages, parts
        "extractive_grafting": 3 * 3,
        "extractive_localisation": 2,
        "extractive_scores": 4 * 6 * (10 + 10),  # kinds, components, tokens of both hops
        "extractive_components": 2 * 6,
        "extractive_agreement": 2 * 4 * 2 * 2,  # hops, kinds of score and of component, means or questions
        "extractive_removal": 2 * 4 * 2 * 2,
        "extractive_subnetworks": 2 * 2 * (5 + 1) * 6,  # hops, parts, pruning seeds and the greedy one, components
        "extractive_core": 2 * 2 * 6,
        "extractive_sharing": 2 * 2,
        "extractive_transfer": 2 * 4 * (5 * 4 // 2 + 5),  # kinds of component, scores, pairs of relations
    }
    assert all(
        (table["questions"] == cities).all() for table in (tables["extractive_curves"], tables["extractive_freezing"])
    )
    start = tables["extractive_curves"].query("epoch == 0 and corpus == 'whole'")["rank"].tolist()
    frozen = tables["extractive_freezing"].query("layers == 'all' and how == 'frozen'")["rank"].tolist()
    assert start == frozen
    end = tables["extractive_curves"].query(f"epoch == {epochs} and corpus == 'whole'")["rank"].tolist()
    assert tables["extractive_freezing"].query("layers == 'none' and how == 'restored'")["rank"].tolist() == end
    components, scores = tables["extractive_components"], tables["extractive_scores"]
    sums = (
        scores.query("hop == 'first'")
        .groupby(["score", "kind", "layer", "head"], dropna=False, sort=False)["value"]
        .sum()
    )
    result = (
        components.query("hop == 'first'")
        .groupby(["kind", "layer", "head"], dropna=False, sort=False)[list(KINDS)]
        .sum()
    )
    for kind in KINDS:
        assert sums[kind].tolist() == pytest.approx(result[kind].tolist())  # every question has every token
    result = read_table(tmp_path / RESULTS / "tables" / "claims.parquet")
    assert set(result["claim"]) == {item.claim for item in load_claims(EXPERIMENT.claims)}
    page = (tmp_path / RESULTS / "report.html").read_text()
    assert all(target.title in page for target in TARGETS.values())
    assert planned(tmp_path, CONFIG) == {}
    described = json.loads((tmp_path / RESULTS / "study.json").read_text())
    assert parse_extractive(described["settings"]) == STUDY

    snakemake(tmp_path, "export", config=CONFIG)
    with zipfile.ZipFile(tmp_path / RESULTS / "extractive.crate.zip") as archive:
        assert {"claims.yaml", *EXPERIMENT.list_members(STUDY)} <= set(archive.namelist())
    (tmp_path / "more.yaml").write_text(yaml.safe_dump(read_config(CONFIG) | {"seeds": [1, 2, 3]}))
    jobs = planned(tmp_path, tmp_path / "more.yaml")
    assert {name: jobs[name] for name in ("pretrain", "teach", "freeze", "order", "score")} == {
        "pretrain": 2, "teach": 2, "freeze": 1, "order": 1, "score": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_a_corpus_less_needs_no_job(tmp_path):
    (tmp_path / "one.yaml").write_text(
        yaml.safe_dump(
            read_config(CONFIG) | {"pretraining": read_config(CONFIG)["pretraining"] | {"corpora": ["whole"]}}
        )
    )
    both, fewer = (planned(tmp_path, path) for path in (CONFIG, tmp_path / "one.yaml"))
    assert (both["pretrain"], fewer["pretrain"]) == (4, 2) and both["score"] == fewer["score"] == 2
    assert fewer.keys() == both.keys()
