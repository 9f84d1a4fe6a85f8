"""The settings of a job that draws: the fields of the context that its module reads."""

import json
import re

import pandas as pd
import pytest

from heuristic_core.config.reading import read_merged_configs
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.experiment import EXPERIMENT


@pytest.mark.parametrize("name", EXPERIMENT.targets)
def test_a_job_has_the_fields_of_the_context_that_its_module_reads(name):
    study = EXPERIMENT.parse(read_merged_configs(["config.yaml"]))
    given = json.loads(EXPERIMENT.figure_settings(name, study)["context"])
    read = set(re.findall(r"\bcontext\.(\w+)", EXPERIMENT.find_drawing_module(name).read_text()))
    unset = {field for field, info in Context.model_fields.items() if info.exclude_if}  # defaults are left out
    assert read & Context.model_fields.keys() <= {*given, *unset}


def test_targets_from_parts_of_tables_show_every_fine_tuning_seed(finished):
    names = [name for name, target in EXPERIMENT.targets.items() if target.only_last_checkpoint]
    tables = [pd.read_csv(finished / "results" / "reduced" / "figures" / f"{name}.csv") for name in names]
    assert names and all(set(table["ft_seed"]) == {1, 2} for table in tables)
