"""The hours and the memory that the work of a study takes."""

import pytest
from conftest import ROOT
from mentions import raises
from planning import BERT, HUNDRED, PAPER, by_name

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.plan.memory import estimate_memory
from heuristic_core.experiments.subnetworks.plan.pairs import Pairs, StudyPairs
from heuristic_core.plan.devices import estimate_hours, get_device
from heuristic_core.plan.shapes import Shape

# ---- hours


def test_a_timed_piece_of_work_takes_the_time_that_it_took():
    """The published one: 486 runs at 90 minutes are 729 hours; their steps are 8,662 on average, not 9,300."""
    pruning = by_name(PAPER, BERT, HUNDRED._replace(train=Pairs(1, 39)))["pruning"]
    took = estimate_hours(pruning, BERT, get_device("a5000"), "float32")
    assert took.kind == "published"
    assert took.hours == pytest.approx(486 * 1.5 * (pruning.repeats / 486 / 9300), rel=0.01)


def test_what_was_not_timed_is_an_estimate():
    result = by_name(PAPER, BERT, HUNDRED)
    assert estimate_hours(result["fine-tuning"], BERT, get_device("a5000"), "float32").kind == "estimate"
    assert estimate_hours(result["pruning"], BERT, get_device("a100"), "float16").kind == "estimate scaled from H100"
    assert estimate_hours(result["pruning"], BERT, get_device("cpu"), "float32").kind == "measured"
    wider = BERT.model_copy(update={"hidden": 1024})
    assert estimate_hours(result["pruning"], wider, get_device("cpu"), "float32").kind == "estimate"


def test_a_throughput_holds_for_its_precision():
    """MiniLM; devices.yaml has 8,660 and 16,300 evaluated tokens a second."""
    shape = Shape(layers=6, heads=12, hidden=384, feed_forward=1536, vocabulary=30522, positions=512)
    result = by_name(PAPER, shape, HUNDRED._replace(train=Pairs(1, 37.6), evaluation=Pairs(10, 376)))
    took = {
        p: estimate_hours(result["full models"], shape, get_device("cpu"), p)
        for p in ("float32", "bfloat16", "float16")
    }
    for precision, rate in (("float32", 8660), ("bfloat16", 16300)):
        assert took[precision].kind == "measured"
        assert took[precision].hours == pytest.approx(result["full models"].tokens / rate / 3600, rel=0.01)
    assert took["float16"].kind == "estimate"
    step = (
        estimate_hours(result["fine-tuning"], shape, get_device("cpu"), "bfloat16").hours * 3600 / PAPER.finetune.steps
    )
    assert step == pytest.approx(0.42)
    assert estimate_hours(result["pruning"], shape, get_device("cpu"), "float16").kind == "estimate"


def test_a_throughput_holds_for_its_execution():
    """devices.yaml has 77.2 ms for a step of an H100 in float32, 14.3 ms in bfloat16 by CUDA graphs."""
    pruning, data = PAPER.prune, HUNDRED._replace(train=Pairs(1, 39))
    changed = {"precision": "bfloat16", "engine": "graphs", "dropout": False}
    graphs = PAPER.model_copy(update={"prune": pruning.model_copy(update=changed)})
    for study, precision, seconds in ((PAPER, "float32", 0.0772), (graphs, "bfloat16", 0.0143)):
        work = by_name(study, BERT, data)["pruning"]
        took = estimate_hours(work, BERT, get_device("h100"), precision)
        assert took.kind == "measured" and took.hours * 3600 / work.repeats == pytest.approx(seconds)
    eager = by_name(PAPER, BERT, data)["pruning"]
    assert estimate_hours(eager, BERT, get_device("h100"), "bfloat16").kind == "estimate"


def test_auto_is_planned_in_bfloat16_on_a_gpu_and_in_float32_on_a_core():
    pruning = by_name(PAPER, BERT, HUNDRED)["pruning"]
    for on, precision in (("a100", "bfloat16"), ("cpu", "float32")):
        assert estimate_hours(pruning, BERT, get_device(on), "auto") == estimate_hours(
            pruning, BERT, get_device(on), precision
        )


def test_what_was_measured_on_one_gpu_is_scaled_by_the_peaks_of_another():
    """devices.yaml: peaks of 989 and 312 TFLOP/s in bfloat16, 67 and 19.5 in float32."""
    result = by_name(PAPER, BERT, HUNDRED)
    for name, precision, ratio in (("fine-tuning", "bfloat16", 989 / 312), ("pruning", "float32", 67 / 19.5)):
        h100, a100 = (estimate_hours(result[name], BERT, get_device(gpu), precision) for gpu in ("h100", "a100"))
        assert (h100.kind, a100.kind) == ("measured", "scaled from H100")
        assert a100.hours / h100.hours == pytest.approx(ratio)


def test_a_precision_is_never_estimated_from_another_that_was_timed():
    """In float32 evaluation follows pruning in float32, not evaluation in bfloat16."""
    evaluation = by_name(PAPER, BERT, HUNDRED._replace(train=Pairs(1, 39)))["full models"]
    took = estimate_hours(evaluation, BERT, get_device("h100"), "float32")
    step = by_name(PAPER, BERT, HUNDRED._replace(train=Pairs(1, 39)))["pruning"]
    seconds = 0.0772 * evaluation.flops / (step.flops / step.repeats)
    assert took.kind == "estimate" and took.hours * 3600 == pytest.approx(seconds)


def test_an_unknown_device_is_named_with_those_there_are():
    with raises(InputError, "DEVICE", "'abacus'", "cpu", "a5000"):
        get_device("abacus")


# ---- memory


def test_memory_grows_with_what_a_job_holds():
    def peak(study, name):
        return {m.name: m.host + m.device for m in estimate_memory(study, BERT, HUNDRED)}[name]

    larger = PAPER.model_copy(update={"finetune": PAPER.finetune.model_copy(update={"batch_size": 64})})
    assert peak(larger, "fine-tuning") > 1.3 * peak(PAPER, "fine-tuning")
    assert peak(larger, "pruning") == peak(PAPER, "pruning")


def test_memory_is_what_was_measured_of_minilm():
    """On MNLI and HANS, one core: fine-tuning in bfloat16, and jobs without a model."""
    study = load_study(ROOT / "config" / "minilm-mnli.yaml")
    data = StudyPairs(Pairs(35_092, 1.40e6), Pairs(49_647, 1.317e6), subsets=32, largest_subset=9832, counted=True)
    shape = Shape(layers=6, heads=12, hidden=384, feed_forward=1536, vocabulary=30522, positions=512)

    def peaks(**finetune):
        changed = study.finetune.model_copy(update=finetune)
        return {
            m.name: m.host / 1e9 for m in estimate_memory(study.model_copy(update={"finetune": changed}), shape, data)
        }

    assert peaks()["fine-tuning"] == pytest.approx(3.17, rel=0.1)
    assert peaks(precision="float32", pass_tokens=512)["fine-tuning"] == pytest.approx(1.24, rel=0.1)
    assert peaks()["pruning"] == pytest.approx(2.24, rel=0.1)  # an upper bound: 1.65 in float32, 1.86 in bfloat16
    assert peaks()["sentences"] == pytest.approx(0.284, rel=0.1)
    assert peaks()["encode"] == pytest.approx(0.808, rel=0.1)
    assert peaks(steps=2700)["finetune_accuracy"] == pytest.approx(0.521, rel=0.1)  # ten evaluations
    few = study.model_copy(update={"grid": study.grid.model_copy(update={"seeds": [42, 43, 44, 45]})})
    gathered = {m.name: m.host / 1e9 for m in estimate_memory(few, shape, data)}["gather"]
    assert gathered == pytest.approx(0.560, rel=0.1)  # eight subnetworks and the full model
