"""Subnetworks of a taught model: gates against runs by hand, greedy ones against all, and what subnetworks share."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
import torch
from extractive import VOCABULARY, hop, two_models

from heuristic_core.experiments.extractive_structures.config import Pruning
from heuristic_core.experiments.extractive_structures.model import run
from heuristic_core.experiments.extractive_structures.pruning import (
    learn_gates,
    measure_divergence,
    measure_rank,
    prune_greedily,
    run_full_model,
    run_gated,
    subnetwork_rows,
)
from heuristic_core.experiments.extractive_structures.removal import build_ablation_shift
from heuristic_core.experiments.extractive_structures.scores import KINDS, mask_prompts
from heuristic_core.experiments.extractive_structures.sharing import core_rows, sharing_rows, transfer_rows
from heuristic_core.experiments.extractive_structures.tokens import encode_queries
from heuristic_core.pruning.hard_concrete import keep_largest

ALL = range(6)  # two layers of two heads and an MLP
MODEL = {name: value.float() for name, value in two_models()[1].items()}
WHOLE = run_full_model(MODEL, encode_queries(hop().implications, VOCABULARY))
SETTINGS = Pruning(seeds=[1, 3])


def test_open_gates_change_nothing_and_a_closed_one_is_ablation_by_the_mean():
    plain = run(MODEL, WHOLE.queries.tokens)
    torch.testing.assert_close(run_gated(WHOLE, WHOLE.queries, torch.ones(1, 2, 3)), plain.logits)
    assert measure_divergence(WHOLE, ALL) == pytest.approx(0, abs=1e-6)
    for layer, part in product(range(2), range(3)):
        gates = torch.ones(1, 2, 3)
        gates[0, layer, part] = 0
        head = part if part < 2 else None
        if layer == 0:  # what later layers give is no longer as in the whole model's run
            shift = build_ablation_shift(plain.layers[layer], layer, head, mask_prompts(WHOLE.queries))
            expected = run(MODEL, WHOLE.queries.tokens, shift).logits
            torch.testing.assert_close(run_gated(WHOLE, WHOLE.queries, gates), expected, atol=1e-4, rtol=1e-4)


def test_a_gate_of_a_question_is_of_this_question_alone():
    gates = torch.ones(len(WHOLE.answers), 2, 3)
    gates[0] = 0.5
    result = run_gated(WHOLE, WHOLE.queries, gates)
    torch.testing.assert_close(result[1:], run(MODEL, WHOLE.queries.tokens).logits[1:])
    assert not torch.allclose(result[0], run(MODEL, WHOLE.queries.tokens).logits[0])


def test_greedy_leaves_out_what_costs_least_each_time():
    kept = list(ALL)
    while len(kept) > 3:
        kept = list(min(combinations(kept, len(kept) - 1), key=lambda subset: measure_divergence(WHOLE, subset)))
    assert prune_greedily(WHOLE, 3) == kept


@pytest.mark.slow
def test_learned_subnetworks_are_better_than_others_of_their_size():
    """Their mean rank among all subsets is below what 95 % of as many random subsets have."""
    every = np.array([measure_divergence(WHOLE, subset) for subset in combinations(ALL, 3)])
    result = learn_gates(WHOLE, Pruning(seeds=[1, 2, 3, 4, 5, 6]), "first facts", 1)
    learned = [measure_divergence(WHOLE, keep_largest(run.log_alpha, 3)) for run in result]
    ranks = [int((every < divergence - 1e-9).sum()) for divergence in learned]
    random = np.random.default_rng(0).integers(len(every), size=(10_000, len(result))).mean(axis=1)
    assert np.mean(ranks) < np.quantile(random, 0.05)


def test_models_and_hops_have_draws_of_their_own():
    """Common draws would make subnetworks of models that say nothing alike, seed by seed."""
    short = Pruning(seeds=SETTINGS.seeds, gates=SETTINGS.gates.model_copy(update={"rise": 2, "hold": 2}))
    result = [
        learn_gates(WHOLE, short, *named) for named in (("first facts", 1), ("first facts", 2), ("second facts", 1))
    ]
    alphas = torch.stack([run.log_alpha for runs in result for run in runs])
    assert len(alphas.unique(dim=0)) == 6
    again = learn_gates(WHOLE, short, "first facts", 1)
    assert all(torch.equal(a.log_alpha, b.log_alpha) for a, b in zip(result[0], again, strict=True))


@pytest.mark.slow
def test_rows_say_what_is_kept_and_what_it_answers():
    rows = pd.DataFrame(subnetwork_rows(WHOLE, SETTINGS, "first facts", 1))
    assert rows.groupby(["how", "prune_seed"], dropna=False)["kept"].sum().tolist() == [3, 3, 3]
    assert rows["prune_seed"].dropna().unique().tolist() == SETTINGS.seeds
    last = rows[rows["how"] == "greedy"]
    assert last["kept"].tolist() == [number in prune_greedily(WHOLE, 3) for number in ALL]
    assert last["rank"].unique().tolist() == [measure_rank(WHOLE, prune_greedily(WHOLE, 3))]
    assert last["head"].isna().tolist() == [False, False, True] * 2


def made(*masks: str, how: str = "learned") -> list[dict]:
    """Rows of subnetworks; a mask has a letter for each head of two layers of two, 1 where kept."""
    return [
        {"study": "s", "seed": 1, "hop": "first", "part": "facts", "how": how, "prune_seed": number, "kl": 0.5}
        | {"kind": "head", "layer": place // 2, "head": place % 2, "kept": mask[place] == "1"}
        for number, mask in enumerate(masks)
        for place in range(4)
    ]


def test_what_all_share_is_counted_against_chance():
    rows = pd.DataFrame(made("1010", "1001", "1010") + made("1010", how="greedy"))
    (result,) = sharing_rows(rows, 4000)
    assert (result["observed"], result["n"], result["greedy_kl"]) == (1, 3, 0.5)
    assert result["expected"] == pytest.approx(2 * 2 * 0.5**3, abs=0.05)  # of each layer one of two heads, three times
    assert result["p"] == pytest.approx(1 - 0.75**2, abs=0.05)
    scores = pd.DataFrame(made("1111"))[["study", "seed", "hop", "kind", "layer", "head"]]
    core = core_rows(rows, scores.assign(**{kind: range(4) for kind in KINDS}))
    assert core["kept_by"].tolist() == [3, 0, 2, 1] and core["greedy"].tolist() == [True, False, True, False]
    assert core["informative"].tolist() == [0, 1, 2, 3]


def test_one_subnetwork_shares_nothing():
    (result,) = sharing_rows(pd.DataFrame(made("1010")), 10)
    assert result["observed"] is None and result["reason"]


def test_scores_of_relations_are_compared_component_by_component():
    values = torch.arange(6.0).view(1, 1, 2, 3)
    scores = {"a": values, "b": 3 * values, "c": -values, "d": torch.zeros(1, 1, 2, 3)}
    rows = transfer_rows({name: dict.fromkeys(KINDS, value) for name, value in scores.items()})
    of_heads = {(row["a"], row["b"]): row for row in rows if row["kind"] == "head" and row["score"] == KINDS[0]}
    assert {pair: row["rho"] for pair, row in of_heads.items() if "d" not in pair} == pytest.approx(
        {("a", "b"): 1, ("a", "c"): -1, ("b", "c"): -1}
    )
    assert of_heads["a", "d"]["rho"] is None and of_heads["a", "d"]["reason"]
