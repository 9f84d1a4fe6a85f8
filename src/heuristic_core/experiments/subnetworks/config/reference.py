"""Text of the configuration reference: see :mod:`heuristic_core.config.reference`."""

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.subnetworks.config.study import Study

HEAD = """# Configuration reference

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
[List sorting](configuration-list-sorting.md) and [extractive structures](configuration-extractive-structures.md) have
pages of their own.

A study is one YAML file. An unknown key or an impossible value stops a run before its first job, with one message that
names file, key, value and remedy. `required` means that the key has no default. *none* means that nothing is set.
Shares are numbers from 0 to 1.

Instead of a study, a file may hold the key `studies`: a list of configuration files, relative to this file. One run
then makes all of these studies. `config/paper.yaml` is an example. Beside it may stand `sweep`, a figure of what the
core costs against settings in which the studies differ (`config/dose.yaml`), `replicates`, a table of how many
training seeds each claim holds on, over studies that differ in their pre-trained model alone
(`config/replicates.yaml`), or `verdicts`, a table of the verdicts of all studies (`config/controls.yaml`).

Later files of `--configfile A B` override earlier files key by key, also within blocks.
"""
TITLES = {
    "task.train": ("An entry of `task.train`", "task.train.<number>"),
    "task.evaluation": ("An entry of `task.evaluation`", "task.evaluation.<name>"),
}
REFERENCE = ReferencePage("configuration.md", HEAD, Study, TITLES)
