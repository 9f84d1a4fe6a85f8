"""A study of a decoder that others have pre-trained: its tokens, what it knows, its jobs, and what stops them."""

import json

import pytest
import torch
import yaml
from conftest import ROOT
from decoders import make_decoder, make_tokenizer, save_decoder
from extractive import TINY, VOCABULARY, WORLD, hop, study
from mentions import mentions, raises
from reduced import planned, snakemake

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import ConfigError, parse_yaml
from heuristic_core.experiments.extractive_structures.config import parse_extractive
from heuristic_core.experiments.extractive_structures.data import fill_template
from heuristic_core.experiments.extractive_structures.decoders import convert_parameters
from heuristic_core.experiments.extractive_structures.experiment import EXPERIMENT
from heuristic_core.experiments.extractive_structures.knowledge import (
    build_prerequisites,
    check_options,
    check_prerequisites,
)
from heuristic_core.experiments.extractive_structures.setting import Setting
from heuristic_core.experiments.extractive_structures.tokens import HubTokenizer, encode_examples, encode_queries
from heuristic_core.tables.parquet import read_table

HUB = {key: value for key, value in TINY.items() if key not in ("model", "pretraining")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_decoder(tmp_path_factory.mktemp("qwen2"), "qwen2", VOCABULARY.words)


def hub_settings(**changed):
    return HUB | {"pretrained": {"name": "tiny", "folder": "model", "known_rank": 9}} | changed


# ---- tokens


def test_answers_follow_prompts_as_in_the_whole_sentence(folder):
    encode = HubTokenizer(folder)
    facts = hop().facts.sentences
    result = encode_examples(facts, encode)
    for fact, row, length in zip(facts, result.tokens, result.length, strict=True):
        assert row[:length].tolist() == encode.prompt(f"{fact.prompt} {fact.answer}")


def test_roles_are_of_words_and_their_pieces(folder):
    encode = HubTokenizer(folder)
    example = fill_template("{name} lives in", "Tokyo", name="Xylophonia Doe")  # no word that the tokenizer has learned
    roles = encode.roles(example)
    assert len(roles) == len(set(roles)) == len(encode.prompt(example.prompt))
    assert roles[0] == "begin 1" and roles[-3:] == ("name last", "lives", "in")
    pieces = [role for role in roles if role.startswith("name 1")]
    assert len(pieces) > 1 and pieces[-1] == "name 1" and pieces[-2] == "name 1 -1"
    taught = Setting(study().data, 1, folder).encode_hop("first")
    for k, question in enumerate(taught.hop.implications.sentences):
        assert len(question.roles) == int(taught.parts["implications"].last[k]) + 1


def test_options_that_begin_alike_are_both_named(tmp_path):
    make_tokenizer(["x"]).save_pretrained(tmp_path)  # other letters are tokens, and a space before them is one, too
    with raises(InputError, "Tokyo", "Paris", "world.yaml"):
        encode_queries(hop().facts._replace(options=["Tokyo", "Paris"], sentences=[]), HubTokenizer(tmp_path))


def test_answers_of_every_relation_are_told_apart_before_a_model_is_loaded(tmp_path, folder):
    check_options(WORLD, study().data, HubTokenizer(folder))
    make_tokenizer([city[key] for city in WORLD.cities for key in ("city", "animal")]).save_pretrained(tmp_path)
    with raises(InputError, "world.yaml"):
        check_options(WORLD, study().data, HubTokenizer(tmp_path))


# ---- what it knows


def test_a_model_that_does_not_know_cities_is_named(folder):
    encode, data = HubTokenizer(folder), study().data
    p = convert_parameters(make_decoder("qwen2", 4000))
    ranks = check_prerequisites(p, WORLD, data, encode, 5.0, "tiny")
    assert ranks.keys() == build_prerequisites(WORLD, data).keys() == {"first", "second"} and max(ranks.values()) > 0
    with raises(InputError, "tiny", 6, "pretrained.known_rank", 0, "data.cities"):
        check_prerequisites(p, WORLD, data, encode, 0.0, "tiny")


def test_what_implications_need_is_known_after_it_was_learned():
    facts = build_prerequisites(WORLD, study().data)
    first, second = facts["first"].sentences[0], facts["second"].sentences[0]
    assert (first.prompt, first.answer) == ("The people in Tokyo speak", "Japanese")
    assert (second.prompt, second.answer) == ("The city that contains Skytree is", "Tokyo")


# ---- configurations


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"model": TINY["model"]}, ("pretrained", "tiny", "`model`")),
        ({"pretraining": TINY["pretraining"]}, ("pretrained", "tiny", "`pretraining`")),
        ({"arithmetic": "portable", "device": "cuda"}, ("arithmetic", "portable", "device", "cuda", "native")),
        ({"pretrained": {"name": "a", "hub": "a/b"}}, ("pretrained", "hub", "revision")),
        ({"sweep": {"learning_rates": [3e-6, 1e-6], "epochs": [4]}}, ("sweep", [3e-6, 1e-6], [1e-6, 3e-6])),
    ],
)
def test_impossible_studies_are_named(changed, named):
    with raises(ConfigError, *named):
        parse_extractive(hub_settings(**changed), "a.yaml")


def test_tables_are_those_that_a_study_can_have():
    embedded, hub = study(), parse_extractive(hub_settings())
    swept = parse_extractive(hub_settings(sweep={"learning_rates": [1e-3], "epochs": [1, 2]}))
    assert "extractive_trace" in EXPERIMENT.list_tables(embedded) and "extractive_trace" not in EXPERIMENT.list_tables(
        hub
    )
    more = {"extractive_sweep", "extractive_choice", "extractive_made_up_sweep"}
    assert set(EXPERIMENT.list_tables(swept)) - set(EXPERIMENT.list_tables(hub)) == more


@pytest.mark.parametrize("family, weights", [("olmo", "layers"), ("llama", "all"), ("gemma", "all"), ("qwen", "all")])
def test_the_papers_models_learn_with_the_weights_of_the_authors_code(family, weights):
    text = (ROOT / "config" / f"paper-extractive-{family}.yaml").read_text()
    settings = parse_extractive(parse_yaml(text)).finetuning
    assert (settings.hop_weights, settings.made_up_weights) == (weights, weights)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["olmo", "llama", "gemma", "qwen"])
def test_the_papers_studies_are_planned_without_a_network(tmp_path, family, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    config = ROOT / "config" / f"paper-extractive-{family}.yaml"
    jobs = planned(tmp_path, config)
    assert (jobs["fetch"], jobs["load"], jobs["teach"], jobs["sweep"]) == (1, 1, 5, 5) and "pretrain" not in jobs


# ---- the whole study


@pytest.mark.slow
def test_a_study_of_a_folder_goes_from_nothing_to_its_report(tmp_path, folder):
    config = tmp_path / "hub.yaml"
    values = hub_settings(pretrained={"name": "tiny", "folder": str(folder), "known_rank": 9}, study="hub")
    values |= {"sweep": {"learning_rates": [1e-3, 1e-2], "epochs": [1, 2]}, "results": "results"}
    config.write_text(yaml.safe_dump(json.loads(json.dumps(values))))
    snakemake(tmp_path, config=config)
    root = tmp_path / "results" / "hub"
    tables = {
        name: read_table(root / "tables" / f"{name}.parquet")
        for name in EXPERIMENT.list_tables(parse_extractive(values))
    }
    assert set(tables["extractive_curves"]["corpus"]) == {"whole"}
    assert len(tables["extractive_sweep"]) == 2 * 2 * 2 * 2 * 2  # seeds, hops, rates, epochs, parts
    assert len(tables["extractive_choice"]) == 2 * 2 * 2
    assert len(tables["extractive_components"]) == 2 * 2 * 2 * 5
    claims = read_table(root / "tables" / "claims.parquet").set_index("claim")["verdict"]
    assert claims.pop("facts-learned") == "contradicted" and set(claims) == {"does not apply"}
    assert (root / "report.html").is_file() and planned(tmp_path, config) == {}
    with torch.no_grad():
        again = tables["extractive_sweep"].query("learning_rate == 0.001 and epoch == 2 and seed == 1")["rank"].tolist()
    assert again == tables["extractive_curves"].query("epoch == 2 and seed == 1")["rank"].tolist()


def test_a_folder_that_is_not_there_is_named_before_anything_runs(tmp_path):
    config = {
        "experiment": "extractive-structures",
        "study": "x",
        "seeds": [1],
        "pretrained": {"name": "x", "folder": "none"},
    }
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(config))
    done = snakemake(tmp_path, "--dry-run", config=tmp_path / "x.yaml", check=False)
    assert done.returncode == 1 and mentions(done.stderr + done.stdout, "pretrained.folder", "'none'")
