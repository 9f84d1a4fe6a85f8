"""On how many training seeds claims hold: counts by hand, and the coverage of the interval."""

import numpy as np
import pytest
import yaml
from amounts import amount
from claim_tables import table
from conftest import ROOT
from mentions import raises
from scipy.stats import norm

from heuristic_core.config.reading import ConfigError, read_merged_configs
from heuristic_core.experiments.studies import parse_studies, parse_tables
from heuristic_core.figures.table_replicates import sheets
from heuristic_core.stats.replicates import compute_share_interval, count_replicates


def claims(*verdicts, estimates=None, threshold="> 5 points", family="f"):
    about = {"claim": "c", "sentence": "It holds", "paper": "ours", "family": family, "threshold": threshold}
    values = estimates or [10.0] * len(verdicts)
    rows = [
        about | {"ft_seed": k, "verdict": verdict, "estimate": value}
        for k, (verdict, value) in enumerate(zip(verdicts, values, strict=True))
    ]
    return table("claims", [about | {"ft_seed": None, "verdict": "not clear"}, *rows])


def test_seeds_to_which_a_claim_does_not_apply_do_not_count():
    first = claims("supported", "supported", "failed runs", "does not apply", estimates=[10.0, 20.0, 30.0, 99.0])
    second = claims("contradicted", "not clear", "not run", estimates=[0.0, 10.0, 99.0])
    (row,) = count_replicates([first, second]).to_dict("records")
    assert (row["models"], row["seeds"], row["supported"], row["contradicted"]) == (2, 5, 2, 1)
    assert row["by_model"] == "2 of 3, 0 of 2"
    assert row["mean"] == pytest.approx((20 + 5) / 2)
    assert (row["low"], row["high"]) == pytest.approx(compute_share_interval(2, 5))
    (sheet,) = sheets(count_replicates([first, second]))

    assert sheet.rows[0][1:4] == ["2 of 5", "40 [5, 85]", "1 of 5"]


def test_a_test_has_no_mean_and_a_claim_that_never_applies_has_no_share():
    (row,) = count_replicates([claims("supported", threshold="p < 0.05")] * 2).to_dict("records")
    assert np.isnan(row["mean"]) and row["seeds"] == 2
    (row,) = count_replicates([claims("does not apply"), claims("not run")]).to_dict("records")
    assert row["seeds"] == 0 and np.isnan(row["low"]) and np.isnan(row["mean"])


def test_ends_are_those_of_clopper_and_pearson():
    assert compute_share_interval(10, 10) == pytest.approx((0.025**0.1, 1))
    assert compute_share_interval(0, 10) == pytest.approx((0, 1 - 0.025**0.1))


@pytest.mark.sampled
@pytest.mark.parametrize("spread", [0.0, 0.2, 2.0])
def test_the_interval_covers_the_mean_share_of_models_that_differ(spread):
    """spread: of the log odds of a supported seed over models."""
    ends = [compute_share_interval(k, 10) for k in range(11)]
    rng, covered, count = np.random.default_rng(7), [], amount(2000)
    for _ in range(count):
        shares = 1 / (1 + np.exp(-rng.normal(1.0, spread, 3)))
        holding = sum(rng.binomial(n, share) for n, share in zip((4, 3, 3), shares, strict=True))
        low, high = ends[holding]
        covered.append(low <= np.average(shares, weights=(4, 3, 3)) <= high)
    assert np.mean(covered) >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / count)


@pytest.mark.sampled
@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.8])
def test_draws_that_all_seeds_share_leave_the_interval_to_these_draws(correlation):
    """Fine-tuning runs of all models share the draws of their pruning seeds; the interval is for these draws.

    correlation: of runs, through the shared draws. The share for the same draws and other runs is covered; that over
    other draws is not, the more they matter.
    """
    ends = [compute_share_interval(k, 10) for k in range(11)]
    rng, count = np.random.default_rng(int(10 * correlation)), amount(2000)
    of_draws, over_draws = 0, 0
    for _ in range(count):
        shared = np.sqrt(correlation) * rng.normal()
        holding = int((shared + np.sqrt(1 - correlation) * rng.normal(size=10) > 0).sum())
        low, high = ends[holding]
        of_draws += low <= norm.cdf(shared / np.sqrt(1 - correlation)) <= high
        over_draws += low <= 0.5 <= high
    assert of_draws / count >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / count)
    assert (over_draws / count < 0.9) == (correlation > 0)


# ---- the configuration


def test_the_shipped_file_has_ten_fresh_seeds_of_three_pre_trained_models():
    path = ROOT / "config" / "replicates.yaml"
    values = read_merged_configs([path])
    configured = parse_studies(values, path)
    studies = [entry.study for entry in configured.values()]
    assert parse_tables(values, configured, path)["replicates"].target == "table_replicates"
    seeds = [seed for study in studies for seed in study.finetune.seeds]
    assert len(set(seeds)) == len(seeds) == 10 and not {1, 2} & set(seeds)  # these chose the recipe
    assert [study.pretraining and study.pretraining.seed for study in studies] == [None, 1, 2]
    rest = [study.model_dump(exclude={"study": True, "model": True, "finetune": {"seeds"}}) for study in studies]
    assert rest[0] == rest[1] == rest[2]


def test_what_is_no_table_of_replicates_is_refused(tmp_path):
    path = tmp_path / "studies.yaml"
    both = {"studies": [str(ROOT / "config.yaml"), str(ROOT / "config" / "list-sorting.yaml")]}
    configured = parse_studies(both, path)
    assert parse_tables(both, configured, path) == {}
    with raises(ConfigError, "studies.yaml", "replicates", "heuristic-core", "list-sorting"):
        parse_tables(both | {"replicates": {"name": "x"}}, configured, path)
    with pytest.raises(ConfigError, match=r"replicates\.axes"):
        parse_tables(both | {"replicates": {"name": "x", "axes": {}}}, configured, path)


def test_studies_that_differ_in_more_than_their_model_and_seeds_are_no_replicates(tmp_path):
    def refused(*tokens, name="x", **changes):
        other = tmp_path / "other.yaml"
        other.write_text(yaml.safe_dump({"study": "other", **changes}))
        path, base = tmp_path / "studies.yaml", str(ROOT / "config.yaml")
        values = {"studies": [base, [base, str(other)]], "replicates": {"name": name}}
        with raises(ConfigError, *tokens):
            parse_tables(values, parse_studies(values, path), path)

    seeds = {"finetune": {"seeds": [3, 4]}}
    refused("other", "miniature", "`task`", **seeds, task={"counter_examples": 0.5})
    refused("replicates", 1, finetune={"seeds": [1, 3]})
    refused("replicates.name", "'other'", name="other", **seeds)
