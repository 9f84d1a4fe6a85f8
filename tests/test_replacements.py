"""Kinds of replacement of heads: which pairs each is of, and that a kind is left out where no pair allows it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import make_encoded
from mentions import mentions, raises

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.replacements import Replacements
from heuristic_core.interventions.evaluate import all_logits, make_predictions, subnetwork_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors

KINDS = ["mean", "zero", "resample", "counterfactual"]
REMOVED = [1, 6]


@pytest.fixture
def make_replacements(fused, tmp_path):
    """Writes the sets, and gives a model's replacements on them; changed: the pairs that have a minimal pair."""

    def made(changed, kinds=KINDS, pairs=None, minimal=True):
        evaluation = make_encoded(60)
        ids = evaluation.ids.copy()
        for pair in changed:
            ids[evaluation.offsets[pair] + 1] += 1  # the first word
        evaluation.save(tmp_path / "evaluation")
        replace(evaluation, ids=ids).save(tmp_path / "minimal")
        make_encoded(90, seed=5).save(tmp_path / "train")
        analysis = Analysis(ablation_kinds=kinds, ablation_pairs=pairs)
        paths = {name: str(tmp_path / name) for name in ("evaluation", "train")}
        paths["minimal"] = str(tmp_path / "minimal") if minimal else None
        tensors = PairTensors(evaluation, fused.pad)
        means = component_means(fused, tensors, torch.arange(60).split(30))
        return Replacements(fused, means, **paths, analysis=analysis), evaluation, replace(evaluation, ids=ids), means

    return made


def test_kinds_of_all_pairs_and_the_kind_of_those_with_a_minimal_pair(make_replacements, fused):
    changed = [21, 25, 44]
    replacements, evaluation, minimal, means = make_replacements(changed)
    assert replacements.kinds == KINDS
    columns = {kind: replacements.predictions(kind, REMOVED, 0) for kind in KINDS}
    pairs = PairTensors(evaluation, fused.pad)
    for kind in ("mean", "zero"):
        expected = make_predictions(subnetwork_logits(fused, pairs, REMOVED, means, kind).numpy(), evaluation)
        assert (np.stack(columns[kind]["logits"]) == np.stack(expected["logits"])).all()
        assert columns[kind]["example"].tolist() == list(range(60))
    paired = columns["counterfactual"]
    assert paired["example"].tolist() == changed and paired["subset"].tolist() == ["out", "out", "out_entailed"]
    assert (paired["label"] == evaluation.labels[changed]).all()
    donors = PairTensors(minimal, fused.pad)
    expected = subnetwork_logits(fused, pairs, REMOVED, means, "counterfactual", donors)[changed].numpy()
    np.testing.assert_allclose(np.stack(paired["logits"]), expected, atol=1e-5)
    none = replacements.predictions("counterfactual", (), 0)
    np.testing.assert_allclose(np.stack(none["logits"]), all_logits(fused, pairs)[changed].numpy(), atol=1e-5)
    again, other = (np.stack(replacements.predictions("resample", REMOVED, draw)["logits"]) for draw in (0, 1))
    assert (again == np.stack(columns["resample"]["logits"])).all() and not np.allclose(again, other)


def test_thinned_pairs_keep_their_minimal_pairs(make_replacements, fused):
    replacements, *_ = make_replacements(range(20, 60), pairs=5)
    every, paired = (replacements.predictions(kind, REMOVED, 0) for kind in ("mean", "counterfactual"))
    assert len(every["example"]) == 15 and paired["example"].tolist() == list(range(5, 15))
    assert (paired["label"] == every["label"][5:]).all() and (paired["subset"] == every["subset"][5:]).all()


def test_without_minimal_pairs_the_kind_is_left_out_and_the_log_says_why(make_replacements, caplog):
    replacements, *_ = make_replacements([])
    assert replacements.kinds == ["mean", "zero", "resample"]
    assert mentions(caplog.text, "counterfactual")


def test_no_kind_is_left(make_replacements):
    with raises(InputError, "analysis.ablation_kinds", "[counterfactual]", "mean", "zero", "resample"):
        make_replacements([], kinds=["counterfactual"])


def test_counterfactual_ablation_by_hand_asks_for_minimal_pairs(make_replacements):
    with raises(InputError, "--minimal"):
        make_replacements([1], minimal=False)
