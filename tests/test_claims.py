"""Claims: their file, and their table."""

import numpy as np
import pandas as pd
import pytest
import yaml
from claim_tables import CONTEXT, core_rows, group_row, table
from conftest import CLAIMS
from mentions import mentions, mentions_together, raises
from scipy import stats

from heuristic_core.common.errors import InputError
from heuristic_core.config.claims import Precondition, load_claims
from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.subnetworks.analysis import statistics_accuracy
from heuristic_core.experiments.subnetworks.analysis.claims import judge_claims
from heuristic_core.stats.estimates import STATISTICS, Estimate, statistic
from heuristic_core.stats.means import mean_interval
from heuristic_core.stats.seeds import FINE_TUNING_SEEDS
from heuristic_core.stats.verdicts import CONTRADICTED, SUPPORTED
from heuristic_core.tables.schemas import SCHEMAS, get_schema


def test_the_shipped_claims_name_statistics_and_tables_that_exist():
    shipped = load_claims(CLAIMS)
    known_statistics = {
        name for name, function in STATISTICS.items() if function.__module__.startswith(statistics_accuracy.__package__)
    }
    assert {entry.statistic for claim in shipped for entry in claim.statistics} == known_statistics
    assert {table for claim in shipped for table in claim.tables} <= set(SCHEMAS)


def test_a_statistic_has_a_name_of_its_own():
    def full_accuracy(evidence):
        """Another of this name."""

    module = "heuristic_core.experiments.subnetworks.analysis.statistics_accuracy"
    with raises(ValueError, "full_accuracy", module, __name__):
        statistic(full_accuracy)
    assert STATISTICS["full_accuracy"] is not full_accuracy


@pytest.mark.parametrize(
    ("change", "key", "value"),
    [
        ({"threshold": "above 3"}, "0.threshold", "above 3"),
        ({"statistik": "x"}, "0.statistik", "x"),
        ({"tables": []}, "0.tables", []),
        ({"needs": [{"statistic": "x"}]}, "0.needs.0.threshold", {"statistic": "x"}),
        ({"needs": [{"statistic": "x", "threshold": "p < 0.05"}]}, "0.needs.0.threshold", "p < 0.05"),
        ({"needs": [{"statistic": "x", "threshold": "> 0", "paper": "p"}]}, "0.needs.0.paper", "p"),
    ],
)
def test_a_faulty_claim_is_named(tmp_path, change, key, value):
    claim = {"claim": "a", "sentence": "A", "paper": "p", "tables": ["core"], "statistic": "x", "threshold": "> 3"}
    (tmp_path / "claims.yaml").write_text(yaml.safe_dump([claim | change]))
    with raises(ConfigError, tmp_path / "claims.yaml", key, repr(value)):
        load_claims(tmp_path / "claims.yaml")


def test_a_claim_occurs_once_and_its_file_exists(tmp_path):
    path = tmp_path / "claims.yaml"
    first = yaml.safe_load(CLAIMS.read_text())[0]
    path.write_text(yaml.safe_dump(2 * [first]))
    with raises(ConfigError, path, first["claim"]):
        load_claims(path)
    with raises(ConfigError, tmp_path / "absent.yaml"):
        load_claims(tmp_path / "absent.yaml")


@pytest.fixture(autouse=True)
def mean_over_pruning_seeds(monkeypatch):
    """A statistic with known answers."""

    def mean_accuracy(evidence, group, sparsity):
        values = evidence.spread("group_accuracy", group, sparsity)["accuracy"]
        return Estimate(*mean_interval(values), len(values), "pruning seeds")

    monkeypatch.setitem(STATISTICS, "mean_accuracy", mean_accuracy)


def make_claims(**change):
    name = "high-sparsity-keeps-the-task"
    (base_claim,) = [claim for claim in load_claims(CLAIMS) if claim.claim == name]
    return [
        base_claim.model_copy(
            update={"statistic": "mean_accuracy", "threshold": "< 10 %"}
            | {"options": {"group": "id", "sparsity": "high"}}
            | change
        )
    ]


def spread_rows(ft_seed, values):
    rows = [
        group_row(v, group="id", sparsity=0.5, seed=s) | {"ft_seed": ft_seed} for s, v in enumerate(values, start=1)
    ]
    return table("group_accuracy", rows)


def test_a_study_is_judged_over_its_fine_tuning_seeds():
    values = {1: [1, 2, 1, 2], 2: [2, 3, 2, 3], 3: [4, 3, 4, 3]}
    agree = pd.concat([spread_rows(*item) for item in values.items()])
    result = judge_claims(CONTEXT, {"group_accuracy": agree}, make_claims())
    assert list(result.columns) == get_schema("claims").names
    assert result["ft_seed"].isna().tolist() == [True, False, False, False]
    assert result["verdict"].tolist() == ["supported"] * 4
    over_pruning_seeds = stats.t.ppf(0.975, 3) * np.std([1, 2, 1, 2], ddof=1) / 2  # shared by fine-tuning seeds
    half = np.hypot(stats.t.ppf(0.975, 2) * np.std([1.5, 2.5, 3.5], ddof=1) / np.sqrt(3), over_pruning_seeds)
    assert result[["estimate", "low", "high"]].iloc[0].tolist() == pytest.approx([2.5, 2.5 - half, 2.5 + half])
    assert result["n"][0] == 3 and mentions(result["unit"][0], FINE_TUNING_SEEDS)
    differ = pd.concat([spread_rows(1, [1, 2, 1, 2]), spread_rows(2, [40, 30, 40, 30])])
    result = judge_claims(CONTEXT, {"group_accuracy": differ}, make_claims())
    assert result["verdict"].tolist() == ["not clear", "supported", "contradicted"]
    assert mentions_together(result["detail"][0], SUPPORTED, 1, 2)
    assert mentions_together(result["detail"][0], CONTRADICTED, 1)


def test_one_fine_tuning_seed_speaks_for_its_study():
    result = judge_claims(CONTEXT, {"group_accuracy": spread_rows(1, [1, 2, 1, 2])}, make_claims())
    study_row, seed_row = result.drop(columns=["ft_seed", "opposite", "p_holm"]).to_dict("records")
    assert study_row == seed_row and study_row["verdict"] == "supported" and study_row["unit"] == "pruning seeds"


def test_fine_tuning_seeds_without_a_value_have_no_part():
    rows = pd.concat([spread_rows(1, [1, 2, 1, 2]), spread_rows(2, [1, 2, 1, 3]), spread_rows(3, [None] * 4)])
    whole = judge_claims(CONTEXT, {"group_accuracy": rows}, make_claims()).iloc[0]
    assert (whole["verdict"], whole["n"]) == ("supported", 2)
    of_all, of_known = whole["detail"].split("; ")
    assert mentions_together(of_all, SUPPORTED, 2, 3) and mentions_together(of_all, CONTRADICTED, 0)
    assert mentions(of_known, 2, 3)
    of_one_seed = judge_claims(CONTEXT, {"group_accuracy": rows[rows["ft_seed"] != 2]}, make_claims()).iloc[0]
    assert of_one_seed["verdict"] == "not run" and mentions(of_one_seed["detail"].partition("; ")[2], 1, 2)


def test_a_minority_of_fine_tuning_seeds_does_not_speak_for_the_study():
    """Two of five have a value and support the claim; of the others, nothing is known."""
    rows = [spread_rows(seed, [1, 2, 1, 2 + seed / 10] if seed < 3 else [None] * 4) for seed in (1, 2, 3, 4, 5)]
    result = judge_claims(CONTEXT, {"group_accuracy": pd.concat(rows)}, make_claims())
    assert result["verdict"].tolist() == ["not run", "supported", "supported", "not run", "not run", "not run"]


def test_what_is_missing_was_not_run():
    other = table("core", core_rows({0}, {0}))
    result = judge_claims(CONTEXT, {"core": other}, make_claims())
    assert result["verdict"].tolist() == ["not run"] * 2
    assert all(mentions(detail, "group_accuracy") for detail in result["detail"])
    assert result["estimate"].isna().all()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"statistic": "absent"}, ("absent", "mean_accuracy")),
        ({"options": {"group": "id", "sparsity": "mid", "share": 1}}, ("mean_accuracy", "share")),
        ({"needs": [Precondition(statistic="absent", threshold="> 0")]}, ("absent", "mean_accuracy")),
        ({"needs": [Precondition(statistic="full_accuracy", threshold="> 0")]}, ("full_accuracy", "group")),
    ],
)
def test_what_no_statistic_has_is_named_before_anything_is_judged(change, named):
    with raises(InputError, *named):
        judge_claims(CONTEXT, {}, make_claims(**change))
