"""Presets of pruning override a study's settings."""

import pytest
import yaml
from conftest import ROOT

from heuristic_core.config.pruning import Prune
from heuristic_core.experiments.subnetworks.config import parse_study


def overlaid(*files):
    """Configuration files merged as Snakemake merges the files after --configfile."""
    from snakemake.utils import update_config

    values = {}
    for file in files:
        update_config(values, yaml.safe_load((ROOT / file).read_text()))
    return values


@pytest.mark.parametrize("study", ["config/minilm-mnli.yaml", "config.yaml"])
def test_pruning_presets_lie_over_a_study(study):
    published = parse_study(overlaid(study, "config/pruning/as-published.yaml")).prune
    assert (published.total_steps(0.5), published.total_steps(0.7)) == (9300, 10420)
    assert (published.weight_decay, published.controller_weight_decay) == (0.01, 0.01)
    assert (published.dropout, published.discretise, published.controller) == (True, "threshold", "sampled")
    assert (published.gate_draws, published.batch_size, published.decay) == (4, 128, "after-warmup")
    assert (published.thresholds, published.threshold_rule) == ({0.5: 0.5, 0.7: 0.35}, "nearest")
    assert Prune.model_validate_json(published.model_dump_json()) == published
    ours = parse_study(overlaid(study, "config/pruning/own-choices.yaml")).prune
    required = {"rise", "hold", "batch_size"}
    scale = {"rise_per_percent", "hold_per_percent", "examples", "mean_examples"}
    for key, field in Prune.model_fields.items():
        if key not in required | scale:
            assert getattr(ours, key) == field.get_default(call_default_factory=True), key


def test_presets_name_every_choice_where_paper_and_code_differ():
    choices = {"dropout", "weight_decay", "controller_weight_decay", "controller", "gate_draws", "discretise", "decay"}
    choices |= {"threshold_rule"}
    for preset in ("as-published", "own-choices"):
        assert choices <= set(yaml.safe_load((ROOT / f"config/pruning/{preset}.yaml").read_text())["prune"])
