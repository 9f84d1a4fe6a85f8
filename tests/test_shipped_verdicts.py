"""The verdicts under docs/studies are those that the present claims give on the tables beside them."""

import pandas as pd
import pytest
from conftest import ROOT

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.extractive_structures import claims as extractive_structures
from heuristic_core.experiments.extractive_structures.experiment import EXPERIMENT as EXTRACTIVE_STRUCTURES
from heuristic_core.experiments.list_sorting import claims as list_sorting
from heuristic_core.experiments.list_sorting.experiment import EXPERIMENT as LIST_SORTING
from heuristic_core.tables.parquet import read_table

NUMBERS = ["estimate", "low", "high", "p", "n"]


@pytest.mark.parametrize(
    ("folder", "experiment", "judge"),
    [
        ("list-sorting", LIST_SORTING, list_sorting.judge_claims),
        ("extractive", EXTRACTIVE_STRUCTURES, extractive_structures.judge_claims),
    ],
)
def test_verdicts_follow_from_the_tables_beside_them(folder, experiment, judge):
    tables = ROOT / "docs" / "studies" / folder / "tables"
    shipped = read_table(tables / "claims.parquet").set_index("claim")
    frames = {path.stem: read_table(path) for path in tables.glob("*.parquet") if path.stem in experiment.tables}
    judged = judge(shipped["study"].iloc[0], frames, load_claims(experiment.claims)).set_index("claim")
    assert judged["verdict"].to_dict() == shipped["verdict"].to_dict()
    pd.testing.assert_frame_equal(judged[NUMBERS], shipped[NUMBERS], check_dtype=False, rtol=1e-6)
