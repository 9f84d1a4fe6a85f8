"""Overlap heads before fine-tuning, lesioned fine-tuning, and what is said of it, on models and tables by hand."""

import pytest
import torch
from conftest import make_encoded
from families import make_model
from mentions import raises
from test_attention import Given, make_pair

from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.lesion import Lesion
from heuristic_core.experiments.subnetworks.jobs.lesion_heads import LesionUnavailable, select_lesion_heads
from heuristic_core.interventions.attention import overlap_rows, uniform_attention
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.implementation import wrap_model
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table

IDENTITY = Identity("s", "m", "t", 1)
RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
CONTEXT = Context(mid=0.3, high=0.5, last=30, seeds=(1, 2))


# ---- shares before fine-tuning


def test_a_head_is_an_overlap_head_by_its_share_against_uniform_attention():
    # [S] a b [S] b [S]: "a" repeats nothing, either "b" has one repeated token among six.
    pair = make_pair("a b", "b")
    keen, dull = torch.full((6, 6), 0.1), torch.full((6, 6), 1 / 6)
    keen[2, 4] = keen[4, 2] = 0.5
    model = Given(torch.stack([keen, dull]))
    first, second = overlap_rows(IDENTITY, model, [pair], 2.0)
    assert first["uniform"] == second["uniform"] == pytest.approx(2 * (1 / 6) / 3)
    assert (first["share"], second["share"]) == pytest.approx((2 * 0.5 / 3, 2 * (1 / 6) / 3))
    assert (first["overlap"], second["overlap"]) == (True, False)
    assert [first[name] for name in ("component", "name", "layer", "head", "n")] == [0, "0.0", 0, 0, 1]
    assert as_table("overlap_heads", [first, second]).num_rows == 2
    assert all(row["overlap"] for row in overlap_rows(IDENTITY, model, [pair], 0.9))


def test_no_head_is_an_overlap_head_where_no_word_is_repeated():
    rows = overlap_rows(IDENTITY, Given(torch.full((2, 5, 5), 0.2)), [make_pair("a", "b")], 2.0)
    assert [(row["uniform"], row["overlap"]) for row in rows] == [(0, False)] * 2


def test_uniform_attention_is_over_what_the_layer_lets_a_query_see():
    attention = torch.zeros(1, 2, 3, 3)
    attention[0, 0, 1, 0], attention[0, 1, 1, 1] = 1.0, 1.0  # one head gives all to what the other does not look at
    attention[0, :, 0, 0] = 1.0
    even = uniform_attention(attention)
    assert even[0, 0].tolist() == even[0, 1].tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 0, 0]]


@pytest.mark.parametrize(("case", "seen"), [("bert", "all"), ("gpt2", "earlier")])
def test_a_decoder_sees_what_came_before(case, seen):
    model, result = wrap_model(make_model(case)), []
    model.observe_attention(
        PairTensors(make_encoded(1), model.pad).batch(torch.arange(1)), lambda _, p: result.append(p)
    )
    size = result[0].shape[-1]
    ones = torch.ones(size, size) if seen == "all" else torch.ones(size, size).tril()
    torch.testing.assert_close(uniform_attention(result[0])[0, 0], ones / ones.sum(-1, keepdim=True))


# ---- which heads


def head_rows(*overlap, layers=3, heads=4):
    grid = ComponentGrid(layers, heads)
    return [
        {"component": c.index, "name": c.name, "layer": c.layer, "head": c.head, "overlap": c.index in overlap}
        for c in grid
        if c.kind == "head"
    ]


def per_layer(components, heads=4):
    return [sum(component // heads == layer for component in components) for layer in range(3)]


def test_random_sets_are_others_of_the_same_layers_and_differ():
    overlap = [0, 5, 6]
    rows = head_rows(*overlap)
    assert select_lesion_heads("overlap", rows, 0, 1) == overlap
    sets = [select_lesion_heads(f"random{k}", rows, 0, 1) for k in range(1, 4)]
    for item in sets:
        assert per_layer(item) == per_layer(overlap) == [1, 2, 0] and not set(item) & set(overlap)
        assert item == sorted(item)
    assert len({*map(tuple, sets)}) == 3
    assert select_lesion_heads("random3", rows, 0, 1) == sets[-1]
    others = [[select_lesion_heads(f"random{k}", rows, *seeds) for k in range(1, 4)] for seeds in ((1, 1), (0, 2))]
    assert sets not in others


def test_a_layer_with_too_few_others_gives_all_that_it_has():
    rows = head_rows(0, 1, 2, 4)
    assert {tuple(select_lesion_heads(f"random{k}", rows, 0, 1)) for k in (1, 2, 3)} == {(3, 5), (3, 6), (3, 7)}
    with raises(LesionUnavailable, 3):
        select_lesion_heads("random4", rows, 0, 1)
    assert select_lesion_heads("random1", head_rows(0, 1, 2, 3, 4), 0, 1)[0] > 4  # layer 0 has no other at all


@pytest.mark.parametrize(
    ("overlap", "name"), [([], "overlap"), ([], "random1"), (range(12), "overlap"), (range(4), "random1")]
)
def test_where_no_lesion_makes_sense_there_is_none(overlap, name):
    with pytest.raises(LesionUnavailable):
        select_lesion_heads(name, head_rows(*overlap), 0, 1)


def test_lesions_have_names_and_numbers():
    assert Lesion(control_draws=2).names == ("overlap", "random1", "random2")
    with raises(ConfigError, "lesion.control_draws", 0):
        parse_study({"lesion": {"control_draws": 0}})
