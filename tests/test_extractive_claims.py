"""Verdicts on made tables: as the paper has it, the other way round, where facts are not learned, and with one seed."""

import numpy as np
import pandas as pd
import pytest
from extractive_tables import CITIES, PAPER, SEEDS, tables
from mentions import mentions, raises

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.extractive_structures.claims import judge_claims
from heuristic_core.experiments.extractive_structures.correlations import lowest_correlation
from heuristic_core.experiments.extractive_structures.evidence import Evidence
from heuristic_core.experiments.extractive_structures.experiment import EXPERIMENT
from heuristic_core.experiments.extractive_structures.statistics import (
    rank_after_order,
    rank_by_order,
    rank_drop_from_facts,
    rank_of_facts,
    rank_taught_by_order,
    score_effect_correlation,
)
from heuristic_core.stats.estimates import TooFewUnits

STATED = load_claims(EXPERIMENT.claims)
OTHER = {"early": "late", "late": "early"}
LAYERS = {(hop, OTHER[layers]): rank for (hop, layers), rank in PAPER["frozen"].items()}
SWAPPED = {
    "implications": {"whole": 9.0, "no-implications": 1.0, "shuffled": 1.0},
    "frozen": LAYERS,
    "restored": LAYERS,
    "orders": {"joint": 7.0, "facts first": 8.0, "implications first": 1.0},
    "weights": {"none": 2.0, "graft": 9.0, "control": 1.0},
    "removal": -0.9,
    "stored": -0.5,
    "r": 0.2,
    "shared": 0,
    "order": -1,
    "rho": 0.1,
}


def verdicts(**changed) -> dict[str, str]:
    result = judge_claims("made", tables(**changed), STATED)
    return result.set_index("claim")["verdict"].to_dict()


def test_a_study_as_the_paper_has_it_supports_every_claim():
    assert set(verdicts().values()) == {"supported"}


def test_the_other_way_round_only_the_facts_are_learned():
    result = verdicts(**SWAPPED)
    assert {claim for claim, verdict in result.items() if verdict == "supported"} == {"facts-learned"}
    assert set(result.values()) == {"supported", "contradicted"}


def test_where_facts_are_not_learned_nothing_else_applies():
    result = verdicts(facts=6.0)
    assert result.pop("facts-learned") == "contradicted"
    assert set(result.values()) == {"does not apply"}


OF_MADE_UP = {claim.claim for claim in STATED if {"extractive_ordering", "extractive_grafting"} & set(claim.tables)}
OF_LOCALISATION = {claim.claim for claim in STATED if "extractive_localisation" in claim.tables}


@pytest.mark.slow
def test_made_up_words_are_judged_by_what_was_taught_of_them_and_hops_by_facts_of_hops():
    assert len(OF_MADE_UP) == 5 and len(OF_LOCALISATION) == 2
    rows = tables()
    rows["extractive_curves"]["rank"] += 6
    unlearned_hops = judge_claims("made", rows, STATED).set_index("claim")["verdict"]
    assert set(unlearned_hops[unlearned_hops == "supported"].index) == OF_MADE_UP | OF_LOCALISATION
    other = judge_claims("made", tables(taught=6.0), STATED).set_index("claim")["verdict"]
    assert set(other[other == "does not apply"].index) == OF_MADE_UP | OF_LOCALISATION
    assert set(other[other != "does not apply"]) == {"supported"}


@pytest.mark.parametrize("column", ["facts_rank", "implications_rank"])
def test_localisation_needs_the_facts_and_the_implications_of_its_models(column):
    rows = tables()
    rows["extractive_localisation"][column] = 6.0 + rows["extractive_localisation"]["seed"] / 10
    result = judge_claims("made", rows, STATED).set_index("claim")["verdict"]
    assert set(result[list(OF_LOCALISATION)]) == {"does not apply"}


def test_what_a_stage_taught_is_ranked_at_its_end_and_may_be_forgotten_later():
    rows = tables()
    ordering = rows["extractive_ordering"]
    later = (ordering["order"] == "facts first") & (ordering["stage"] > 0) & (ordering["part"] == "facts")
    ordering.loc[later, "rank"] = 6.0
    assert rank_taught_by_order(Evidence(rows), "facts first").value == pytest.approx(0.0)
    at_end = (ordering["order"] == "facts first") & (ordering["stage"] == 1) & (ordering["part"] == "implications")
    ordering.loc[at_end, "rank"] = 4.0
    assert rank_taught_by_order(Evidence(rows), "facts first").value == pytest.approx(4.0)
    assert rank_taught_by_order(Evidence(rows), "facts first", stage=0).value == pytest.approx(0.0)


KEPT = ["kept-are-informative", "kept-are-upstream"]


def test_what_layers_have_in_common_does_not_tell_which_components_are_kept():
    """Subnetworks keep layer 1, whose scores are high; within layers, as many heads along scores as against them."""
    rows = tables()
    core = rows["extractive_core"]
    against = core["layer"] == 1
    rows["extractive_core"] = core.assign(
        **{name: core[name].where(~against, 200 - core[name]) for name in ("informative", "upstream_path")}
    )
    heads = rows["extractive_core"].query("kind == 'head'")
    assert heads["kept_by"].corr(heads["informative"], method="spearman") > 0.5
    result = judge_claims("made", rows, STATED).set_index("claim").loc[KEPT]
    assert set(result["verdict"]) == {"not clear"} and (result["p"] > 0.5).all()


@pytest.mark.parametrize("column", ["kept_by", "informative"])
def test_without_components_that_differ_within_layers_of_two_seeds_there_are_too_few(column):
    rows = tables()
    core = rows["extractive_core"]
    equal = (core["hop"] == "second") & (core["seed"] > 1)
    rows["extractive_core"] = core.assign(**{column: core[column].mask(equal, core["layer"] + 1)})
    result = judge_claims("made", rows, STATED).set_index("claim").loc[KEPT[0]]
    assert result["verdict"] == "too few" and mentions(result["detail"], "second hop", 1)


def test_one_seed_decides_nothing():
    single_seed = {name: rows[rows["seed"] == SEEDS[0]] for name, rows in tables().items()}
    result = judge_claims("made", single_seed, STATED)
    about_models = result["claim"] == "facts-learned"
    assert set(result.loc[about_models, "verdict"]) == {"supported"}
    assert set(result.loc[~about_models, "verdict"]) == {"too few"}


def test_no_difference_is_never_supported():
    even = {"orders": dict.fromkeys(PAPER["orders"], 5.0), "weights": dict.fromkeys(PAPER["weights"], 5.0)}
    result = verdicts(**even)
    assert {result[claim] for claim in ("facts-before-implications", "graft-carries-extraction")} <= {
        "too few",  # identical seeds have no interval
        "contradicted",
    }


def test_a_model_that_is_too_large_for_full_replacement_leaves_its_claims_not_run_with_the_reason():
    made = tables()
    made["extractive_agreement"] = made["extractive_agreement"].assign(r=None, n=0, reason="194 components")
    result = judge_claims("made", made, STATED).set_index("claim")
    replacement_claims = result[result.index.str.endswith("agrees-with-replacement")]
    assert len(replacement_claims) == 3 and set(replacement_claims["verdict"]) == {"not run"}
    assert replacement_claims["detail"].str.contains("194 components").all()


def test_statistics_by_hand():
    made = Evidence(tables())
    fall = rank_drop_from_facts(made, "first")
    before, after = (rank + 0.02 * (np.array(SEEDS) - 2.5) * rank**0.5 for rank in (10, 1))
    assert fall.value == pytest.approx((100 * (before - after) / before).mean()) and fall.n == len(SEEDS)
    difference = rank_by_order(made, "implications first", "facts first")
    assert difference.value == pytest.approx(5.0)


def test_without_a_corpus_its_claims_are_not_run():
    rows = tables()
    rows["extractive_curves"] = rows["extractive_curves"].query("corpus != 'shuffled'")
    result = judge_claims("made", rows, STATED).set_index("claim")
    assert result.loc["learned-from-implications-that-follow", "verdict"] == "not run"
    assert mentions(result.loc["learned-from-implications-that-follow", "detail"], "shuffled")


HOP = {"extractive_removal": "r", "extractive_agreement": "r", "extractive_sharing": "observed"}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOP)
@pytest.mark.parametrize("absent", [True, False])
def test_both_hops_are_judged_by_both(name, absent):
    rows = tables()
    second = rows[name]["hop"] == "second"
    rows[name] = rows[name][~second] if absent else rows[name].assign(**{HOP[name]: rows[name][HOP[name]].mask(second)})
    result = judge_claims("made", rows, STATED).set_index("claim")
    changed = result[result["verdict"] == "too few"]
    assert len(changed) and all(mentions(detail, "second hop") for detail in changed["detail"])
    assert set(result.loc[result.index.difference(changed.index), "verdict"]) == {"supported"}


def test_correlations_of_either_sign_have_a_mean_between_them():
    """Of five models, the scores of four MLPs and what it costs to remove them: their squares have a mean of 0.85."""
    r = pd.Series([0.97, 0.999, -0.94, -0.93, -0.76])
    result = lowest_correlation({"first hop": r}, "r")
    assert result.value == pytest.approx(np.tanh(np.arctanh(r).mean()))
    assert -1 < result.low < 0 < result.high < 1
    rows = tables()
    removal = rows["extractive_removal"]
    rows["extractive_removal"] = removal.assign(r=removal["seed"].map(dict(zip(SEEDS, r, strict=False))))
    estimate = score_effect_correlation(Evidence(rows), "informative", "restored", "mlp")
    assert estimate.low < 0.7 < estimate.high and mentions(estimate.detail, "2 of 4")


def test_equal_correlations_have_no_interval():
    result = lowest_correlation({"": pd.Series([0.9, 0.9, 0.9])}, "r")
    assert (result.low, result.high) == (None, None) and result.value == pytest.approx(0.9)


@pytest.mark.parametrize("r", [1.0, -1.0])
def test_a_correlation_of_one_has_too_few_components(r):
    with raises(TooFewUnits, "rho", "second hop"):
        lowest_correlation({"first hop": pd.Series([0.2, 0.3]), "second hop": pd.Series([0.5, r])}, "rho")


def test_correlations_near_one_have_intervals_within_it():
    result = lowest_correlation({"a": pd.Series([0.2, 0.99, 0.9999]), "b": pd.Series([-0.9999, 0.9, 0.999])}, "r")
    assert -1 <= result.low < result.value < result.high <= 1


def test_intervals_are_of_possible_ranks():
    even = Evidence(tables(orders={"joint": 19.0, "facts first": 0.0, "implications first": 19.0}))
    wide = even.tables["extractive_ordering"]
    spread = wide["rank"] + (wide["seed"] - 2.5) * 8
    made = Evidence(even.tables | {"extractive_ordering": wide.assign(rank=spread.clip(0, CITIES - 1))})
    after, difference = rank_after_order(made, "joint"), rank_by_order(made, "joint", "facts first")
    assert after.low >= 0 and after.high <= 200
    assert difference.low >= -(CITIES - 1) and difference.high <= CITIES - 1


def test_the_worst_model_and_hop_decide_whether_facts_were_learned():
    made = tables()
    curves = made["extractive_curves"].assign(rank=0.5)
    worst = (curves["seed"] == SEEDS[-1]) & (curves["hop"] == "second") & (curves["epoch"] == curves["epoch"].max())
    made["extractive_curves"] = curves.assign(rank=curves["rank"].mask(worst, 1.5))
    result = rank_of_facts(Evidence(made))
    assert (result.value, result.exact, result.n, result.unit) == (1.5, True, 2 * len(SEEDS), "models")
