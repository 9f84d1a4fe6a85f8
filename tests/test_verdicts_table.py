"""The table of verdicts of several studies."""

import pandas as pd
import pytest
import yaml
from claim_tables import table
from conftest import ROOT

from heuristic_core.config.reading import ConfigError, read_merged_configs
from heuristic_core.experiments.studies import parse_studies, parse_tables
from heuristic_core.figures.table_verdicts import select_overall, sheets


def claims(study, *rows):
    about = {"study": study, "paper": "ours", "threshold": "> 5 points", "sentence": "It holds", "family": "f"}
    return table("claims", [about | {"ft_seed": None} | row for row in rows])


def test_the_row_of_the_study_speaks_for_it_or_the_only_one():
    several = claims(
        "a",
        {"claim": "c", "verdict": "not clear", "estimate": 1.0},
        {"claim": "c", "ft_seed": 1, "verdict": "supported", "estimate": 9.0},
        {"claim": "d", "ft_seed": 1, "verdict": "contradicted", "estimate": 2.0},
    )
    assert select_overall(several)[["claim", "verdict"]].values.tolist() == [["c", "not clear"], ["d", "contradicted"]]


def test_claims_are_rows_and_studies_columns(tmp_path):
    first = claims(
        "a",
        {"claim": "c", "verdict": "supported", "estimate": 80.44},
        {"claim": "test", "verdict": "not clear", "threshold": "p < 0.05", "p": 0.12, "family": None},
        {"claim": "absent", "verdict": "not run"},
    )
    second = claims("b", {"claim": "c", "verdict": "does not apply"})
    made = sheets(pd.concat([select_overall(first), select_overall(second)]))
    assert [sheet.title for sheet in made] == ["Claims", "Checks"]
    assert made[0].columns == ["claim", "a", "b"] and len(made[0].rows) == len(made[1].rows) == 1
    assert made[0].rows[0][1].startswith("supported (80.4") and made[0].rows[0][2] == "does not apply"
    assert made[1].rows[0][1:] == ["not clear (p = 0.12)", "–"]


def test_studies_with_other_claims_and_names_in_use_are_refused(tmp_path):
    files = [ROOT / "config.yaml", ROOT / "config/list-sorting.yaml"]
    values = {"studies": [str(file) for file in files], "verdicts": {"name": "all"}}
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump(values))
    read_merged_configs([path])
    with pytest.raises(ConfigError, match="verdicts"):
        parse_tables(values, parse_studies(values, path), path)
    values = {"studies": [str(files[0])], "verdicts": {"name": "miniature"}}
    with pytest.raises(ConfigError, match="miniature"):
        parse_tables(values, parse_studies(values, path), path)
    assert parse_tables(values | {"verdicts": {"name": "all"}}, parse_studies(values, path), path).keys() == {
        "verdicts"
    }
