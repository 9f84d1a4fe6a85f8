"""Studies of the other experiments in which nothing was learned, or all seeds are the same: no claim may be supported.

They are the published tables, changed. A claim that models learned their task is of these very models, whatever the
number of seeds, and may stand where they did.
"""

import numpy as np
import pandas as pd
import pytest
from amounts import first_fast
from conftest import ROOT

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.extractive_structures import claims as extractive_structures
from heuristic_core.experiments.extractive_structures.experiment import EXPERIMENT as EXTRACTIVE_STRUCTURES
from heuristic_core.experiments.list_sorting import claims as list_sorting
from heuristic_core.experiments.list_sorting.experiment import EXPERIMENT as LIST_SORTING
from heuristic_core.tables.parquet import read_table

STUDIES = {  # experiment, judge, and the claim that models learned their task
    "list-sorting": (LIST_SORTING, list_sorting.judge_claims, "sorts"),
    "extractive": (EXTRACTIVE_STRUCTURES, extractive_structures.judge_claims, "facts-learned"),
}
CHANCE_RANK = 9.5  # of twenty answers
GUESSED = {"token_accuracy": 0.02, "list_accuracy": 0.0, "rank": CHANCE_RANK, "facts_rank": CHANCE_RANK}
GUESSED |= {"implications_rank": CHANCE_RANK}
# What is measured of a model, a head or a component, by the names of columns.
MEASURED = ["loss", "entropy", "confidence", "copying", "suppression", "overlap", "splitting", "value"]
MEASURED += ["suppression_of_next", "r", "rho", "r_pooled", "observed", "expected", "p", "kept_by", "greedy_kl"]
MEASURED += ["informative", "downstream", "upstream", "upstream_path", "restored", "ablated", "kl", "ranges"]


def read_frames(folder):
    experiment = STUDIES[folder][0]
    paths = (ROOT / "docs" / "studies" / folder / "tables").glob("*.parquet")
    return {path.stem: read_table(path) for path in paths if path.stem in experiment.tables and path.stem != "claims"}


def supported(folder, change):
    experiment, judge, _ = STUDIES[folder]
    frames = {name: change(rows) for name, rows in read_frames(folder).items()}
    verdicts = judge("s", frames, load_claims(experiment.claims)).set_index("claim")["verdict"]
    return {claim for claim, verdict in verdicts.items() if verdict == "supported"}


def first_seed(rows):
    return rows[rows["seed"] == rows["seed"].min()] if "seed" in rows else rows


def same_seeds(rows):
    """The first seed's rows for every seed."""
    if "seed" not in rows:
        return rows
    return pd.concat([first_seed(rows).assign(seed=seed) for seed in rows["seed"].unique()]).astype(rows.dtypes)


def numbers(rows):
    return [name for name in MEASURED if name in rows and pd.api.types.is_numeric_dtype(rows[name])]


def constant_answers(rows):
    """One answer to everything, whatever is ablated, frozen or taught: all measures are the same."""
    rows = rows.assign(**{name: value for name, value in GUESSED.items() if name in rows})
    return rows.assign(**{name: rows[name].where(rows[name].isna(), 0) for name in numbers(rows)})


def random_weights(rows, rng):
    """Guesses, and measures that differ by chance: those of the study, shuffled within the table."""
    noisy = {name: value + 0.01 * value * rng.normal(size=len(rows)) for name, value in GUESSED.items() if name in rows}
    shuffled = {name: rows[name].to_numpy()[rng.permutation(len(rows))] for name in numbers(rows)}
    return rows.assign(**noisy, **shuffled)


@pytest.mark.parametrize("folder", STUDIES)
def test_the_published_study_supports_more(folder):
    """Otherwise the other tests would hold for any tables."""
    claims = supported(folder, lambda rows: rows)
    assert STUDIES[folder][2] in claims and len(claims) > 2


@pytest.mark.parametrize("change", [first_seed, same_seeds])
@pytest.mark.parametrize("folder", STUDIES)
def test_one_seed_or_one_seed_many_times_supports_nothing_beyond_its_own_models(folder, change):
    assert supported(folder, change) <= {STUDIES[folder][2]}


@pytest.mark.parametrize("folder", STUDIES)
def test_constant_answers_support_nothing(folder):
    assert supported(folder, constant_answers) == set()


@pytest.mark.parametrize("folder", STUDIES)
@pytest.mark.parametrize("generator", first_fast(0, 1, 2))
def test_random_weights_support_nothing(folder, generator):
    rng = np.random.default_rng(generator)
    assert supported(folder, lambda rows: random_weights(rows, rng)) == set()
