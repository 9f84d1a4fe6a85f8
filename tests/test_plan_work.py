"""Shapes of models, and the work of a study."""

import pytest
from conftest import ROOT
from mentions import raises
from planning import BERT, HUNDRED, PAPER, by_name

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import PretrainedModel
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.config.lesion import Lesion
from heuristic_core.experiments.subnetworks.config.mechanism import Interpolation, Masks, Mechanism, Mediation, Paths
from heuristic_core.experiments.subnetworks.plan.needs import estimate_needs
from heuristic_core.experiments.subnetworks.plan.pairs import Pairs, count_pairs
from heuristic_core.experiments.subnetworks.plan.space import PREDICTION_BYTES, estimate_disk
from heuristic_core.experiments.subnetworks.plan.work import DONOR_PASSES, FINETUNING_EVALUATION, estimate_work
from heuristic_core.plan.shapes import Shape, read_shape

# ---- shapes


def test_a_shape_has_the_parameters_of_the_model(bert, checkpoint):
    shape = read_shape(PretrainedModel(name="tiny", source="pretrained", folder=str(checkpoint)))
    classifier = sum(weight.numel() for weight in bert.classifier.parameters())
    assert shape.parameters == bert.num_parameters() - classifier


def test_the_papers_models_have_the_sizes_that_are_published():
    sizes = {"mnli-bert": 108.3, "mnli-roberta": 124.6, "mnli-gpt2": 124.4}
    for name, size in sizes.items():
        result = read_shape(load_study(ROOT / "config" / f"paper-{name}.yaml").model).parameters / 1e6
        assert result == pytest.approx(size, rel=0.01)


def test_a_model_of_unknown_shape_is_named():
    with raises(InputError, "model.hub", "'someone/else'", "fetch"):
        read_shape(PretrainedModel(name="x", source="pretrained", hub="someone/else", revision="0" * 40))


def test_gpt2s_names_are_read_and_a_missing_number_is_named(tmp_path):
    model = PretrainedModel(name="tiny", source="pretrained", folder=str(tmp_path))
    text = '{"n_layer": 2, "n_head": 4, "n_embd": 8, "n_inner": null, "vocab_size": 9, "n_positions": 10%s}'
    (tmp_path / "config.json").write_text(text % "")
    assert read_shape(model) == Shape(layers=2, heads=4, hidden=8, feed_forward=32, vocabulary=9, positions=10)
    (tmp_path / "config.json").write_text((text % "").replace("n_layer", "n_laier"))
    with raises(InputError, "config.json", "num_hidden_layers"):
        read_shape(model)


# ---- work


def test_work_of_the_papers_study_is_what_its_grid_says():
    result = by_name(PAPER, BERT, HUNDRED)
    assert result["fine-tuning"].pairs == 61_360 * 32
    assert result[FINETUNING_EVALUATION].repeats == 1 + 123  # before the first step, every 500, and at the end
    surface = 33 * sum(6500 + 56 * percent for percent in range(5, 75, 5))
    assert result["pruning"].repeats == surface + (9 + 3) * (9300 + 10_420)
    assert result["subnetworks"].repeats == 486
    assert result["controls"].repeats == 24 + 2


def test_a_pruning_step_of_bert_takes_the_operations_that_its_products_have():
    """128 pairs of 39 tokens: about 1,600 GFLOP in products with weights, and attention."""
    pruning = by_name(PAPER, BERT, HUNDRED._replace(train=Pairs(1, 39)))["pruning"]
    assert pruning.flops / pruning.repeats == pytest.approx(1.7e12, rel=0.05)


def test_every_fine_tuning_seed_does_the_same_work():
    more = PAPER.model_copy(update={"finetune": PAPER.finetune.model_copy(update={"seeds": [1, 2, 3]})})
    for single, three in zip(estimate_work(PAPER, BERT, HUNDRED), estimate_work(more, BERT, HUNDRED), strict=True):
        assert (three.repeats, three.pairs, three.flops) == (
            3 * single.repeats,
            3 * single.pairs,
            pytest.approx(3 * single.flops),
        )


def test_a_lesioned_run_does_the_work_of_fine_tuning():
    lesioned = PAPER.model_copy(update={"lesion": Lesion(control_draws=2)})
    before, after = (by_name(study, BERT, HUNDRED) for study in (PAPER, lesioned))
    assert not any("lesioned" in name for name in before)
    for name in ("fine-tuning", FINETUNING_EVALUATION):
        assert after[name] == before[name]
        assert after[f"lesioned {name}"].rules == ("lesion",)
        assert after[f"lesioned {name}"].flops == pytest.approx(3 * before[name].flops)
    assert (
        estimate_needs(lesioned)["lesion"] == estimate_needs(PAPER)["finetune"] == estimate_needs(lesioned)["finetune"]
    )
    disks = [estimate_disk(study, BERT, HUNDRED, estimate_work(study, BERT, HUNDRED)) for study in (PAPER, lesioned)]
    passing = after[f"lesioned {FINETUNING_EVALUATION}"].pairs
    assert disks[1]["predictions"] - disks[0]["predictions"] == pytest.approx(passing * PREDICTION_BYTES)


def test_few_pruning_seeds_are_taken_to_share_more_heads_and_so_more_pairs():
    def ablations(**grid):
        return by_name(PAPER.model_copy(update={"grid": PAPER.grid.model_copy(update=grid)}), BERT, HUNDRED)[
            "ablations"
        ]

    few = {"sparsities": [0.2, 0.4], "mid": 0.2, "high": 0.4}
    twelve, three = ablations().repeats, ablations(seeds=[1, 2, 3], **few).repeats
    core = 9 + 135 * 0.6**3  # a sixteenth of 144 heads, and of the others those that three seeds share by chance
    assert three - twelve > core * (core - 1) / 2 - 36
    assert estimate_needs(PAPER)["ablate"].runtime > 3


def test_ablations_with_activations_on_other_pairs_pass_these_pairs_too():
    def parts(*kinds):
        analysis = PAPER.analysis.model_copy(update={"ablation_kinds": list(kinds)})
        return by_name(PAPER.model_copy(update={"analysis": analysis}), BERT, HUNDRED)

    assert DONOR_PASSES not in parts("mean", "zero")
    three = parts("mean", "resample", "counterfactual")
    exchanged = parts("mean", "counterfactual")
    assert three[DONOR_PASSES].repeats > exchanged[DONOR_PASSES].repeats > 0
    of_kind, outside = exchanged["counterfactual ablations"], HUNDRED.evaluation.pairs - sum(HUNDRED.in_domain_sizes)
    assert of_kind.pairs == of_kind.repeats * outside and of_kind.repeats == exchanged[DONOR_PASSES].repeats
    both, alone = parts("mean", "resample"), parts("mean")
    assert both[DONOR_PASSES].repeats == both["ablations"].repeats - alone["ablations"].repeats - 1  # without "none"
    assert both[DONOR_PASSES].tokens == both[DONOR_PASSES].pairs * HUNDRED.train.mean and both[DONOR_PASSES].rules == (
        "ablate",
    )


def test_random_masks_and_what_is_between_subnetworks_are_counted():
    parts = Mechanism(masks=Masks(count=100, pairs=10), interpolation=Interpolation())
    study = PAPER.model_copy(update={"mechanism": parts})
    before, after = (by_name(item, BERT, HUNDRED) for item in (PAPER, study))
    assert after.keys() - before.keys() == {"masks", "interpolation"}
    assert after["masks"].repeats == 100 + 12 and after["masks"].rules == ("masks",)
    assert after["masks"].pairs == 112 * min(HUNDRED.evaluation.pairs, 10 * HUNDRED.subsets)
    apart = round(PAPER.grid.mid * (1 - PAPER.grid.mid) * 12 * 13)
    # All learned ones, every component out of the one that generalises, and both halves of the greedy path.
    assert after["interpolation"].repeats == 12 + apart + 2 * sum(range(1, apart + 1))
    assert estimate_needs(study)["interpolation"].mem_mb > estimate_needs(PAPER)["interpolation"].mem_mb
    assert estimate_needs(study)["masks"].runtime > estimate_needs(PAPER)["masks"].runtime


def test_random_masks_see_their_own_number_of_in_domain_pairs():
    data = HUNDRED._replace(in_domain_sizes=(30,))

    def pairs(**masks):
        study = PAPER.model_copy(update={"mechanism": Mechanism(masks=Masks(count=20, **masks))})
        result = by_name(study, BERT, data)["masks"]
        return result.pairs / result.repeats

    every = data.evaluation.pairs
    assert (pairs(), pairs(id_pairs=40), pairs(id_pairs=10)) == (every, every, every - 20)
    assert pairs(pairs=2) == 30 + 2 * (data.subsets - 1)
    assert pairs(pairs=2, id_pairs=10) == 10 + 2 * (data.subsets - 1)
    generated = load_study(ROOT / "config.yaml")
    assert count_pairs(generated, read=False).in_domain_sizes == (generated.task.id_pairs,)


def test_analyses_of_the_mechanism_keep_no_predictions():
    parts = Mechanism(masks=Masks(), interpolation=Interpolation(), mediation=Mediation(), paths=Paths())
    more = PAPER.model_copy(update={"mechanism": parts})
    disks = [
        estimate_disk(item, BERT, HUNDRED, estimate_work(item, BERT, HUNDRED))["predictions"] for item in (PAPER, more)
    ]
    assert disks[0] == disks[1]


def test_patched_models_are_counted_where_a_study_has_these_parts():
    """A core of nine heads, as `CORE_SHARE` has it; head 0.0 is among them, so that all of eleven layers are later."""
    assert not {"mediation", "paths"} & by_name(PAPER, BERT, HUNDRED).keys()
    parts = {"mediation": Mediation(random_sets=20, pairs=None), "paths": Paths(random_senders=4, pairs=40)}
    more = PAPER.model_copy(update={"mechanism": Mechanism(**parts)})
    result, runs = by_name(more, BERT, HUNDRED), len(PAPER.finetune.seeds)
    later, counter = 132 - 8, 1
    exchanged = later + 11 + 1 + counter + 20
    assert result["mediation"].repeats == runs * (1 + 1 + 2 * exchanged + 20 * (1 + 2 * 2))
    assert result["mediation"].pairs == result["mediation"].repeats * HUNDRED.evaluation.pairs
    receivers = 5 * [144 - 12 * (1 + k * 16 // 12) for k in range(9)]
    assert result["paths"].repeats == pytest.approx(runs * (4 * 50 + 3 * (sum(receivers) + 5 * later)), rel=0.01)
    assert {"mediation", "paths"} <= estimate_needs(more).keys() and estimate_needs(more)[
        "paths"
    ].runtime > estimate_needs(PAPER)["paths"].runtime
