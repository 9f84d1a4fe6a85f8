"""The settings of a job that draws: the fields of the context that its module reads."""

import json
import re

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
