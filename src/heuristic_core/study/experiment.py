"""The base of an experiment, as the workflow uses it."""

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from string import Formatter
from typing import Any, Protocol

from heuristic_core.config.findings import load_findings
from heuristic_core.config.reference import ReferencePage
from heuristic_core.figures.targets import drawing_module, target_files
from heuristic_core.jobs.command import format_block
from heuristic_core.plan.needs import Need
from heuristic_core.provenance.crate.subject import Subject, describe_target
from heuristic_core.report.results import Results
from heuristic_core.report.sides import Comparison
from heuristic_core.study.layout import Layout
from heuristic_core.study.table import Table
from heuristic_core.study.target import Target


class Study(Protocol):
    """A checked configuration.

    Attributes:
        study: Name of the study.
        results: Folder of all results.
        arithmetic: "portable" or "native".
    """

    study: str
    results: str
    arithmetic: str

    @property
    def root(self) -> str:
        """Folder of the study's results."""


class Experiment(ABC):
    """An experiment: its tables, figures and claims, and how its studies are read, planned and described.

    Subclasses set the attributes and implement :meth:`parse`, :meth:`plan` and :meth:`describe`. Snakemake makes an
    instance at every start, so methods import heavy modules themselves.

    Attributes:
        folder: The experiment's package; it has claims.yaml and, if it draws, figures/.
        tables: Its tables by schema name.
        targets: Its figures and printed tables by name.
        layout: Class of its paths.
        paper: Identifier of the paper in CITATION.cff, such as "arXiv:2403.03942".
        script_prefix: Prefix of the names of the scripts that draw, judge claims and write the report.
        commands: Keys of Snakemake's --config that are commands rather than settings of a study.
        comparison: Comparison of two studies; None if unsupported.
        sweep: Checks a figure over several studies, see :func:`heuristic_core.experiments.studies.parse_sweep`; its
            rule is in `sweep.smk` of the experiment's rules.
        setting_keys: Names of job settings that differ from the configuration's -> key there; "" if the rest of the
            name is the key.
    """

    folder: Path
    tables: Mapping[str, Table] = {}
    targets: Mapping[str, Target] = {}
    layout: type[Layout] = Layout
    paper: str
    script_prefix: str = ""
    commands: Sequence[str] = ()
    comparison: Comparison | None = None
    sweep: Callable | None = None
    setting_keys: Mapping[str, str] = {}

    @abstractmethod
    def parse(self, values: dict, origin: str = "configuration") -> Study:
        """Check a configuration.

        Args:
            values: The configuration.
            origin: Its file, for messages.

        Raises:
            ConfigError: If it is invalid; the message has one line per error.
        """

    @abstractmethod
    def plan(self, study: Study, device: str | None, all_jobs: Counter, missing_jobs: Counter) -> str:
        """Return the plan of a run as text.

        Args:
            study: The study.
            device: The device for which times are estimated; default: the study's.
            all_jobs: All jobs of the run, by rule.
            missing_jobs: Jobs without an up-to-date result, by rule.
        """

    @abstractmethod
    def describe(self, study: Study) -> tuple[str, str]:
        """Return what a run of the study did and what came out, for its archive."""

    def estimate_needs(self, study: Study) -> dict[str, Need]:
        """Return what one job of each rule requests from a cluster, for rules that need more than a small table."""
        return {}

    @property
    def claims(self) -> Path:
        """File of claims."""
        return self.folder / "claims.yaml"

    @property
    def figure_script(self) -> str:
        """Name of the script that draws."""
        return f"{self.script_prefix}figure"

    def make_layout(self, study: Study) -> Layout:
        """Return the paths of a study's results."""
        return self.layout.from_study(study)

    @property
    def findings(self) -> Path:
        """File of findings, which an experiment may lack."""
        return self.folder / "findings.yaml"

    def list_replicates(self, name: str) -> list[str]:
        """Return the published table on further training seeds of the study `name`; empty if there is none."""
        replicates = load_findings(self.findings).replicates if self.findings.is_file() else None
        path = Path(__file__).parents[3] / replicates.table if replicates and replicates.study == name else None
        return [os.path.relpath(path)] if path and path.is_file() else []

    def list_tables(self, study: Study) -> list[str]:
        """Return the names of the study's tables that figures, claims or the report read."""
        return [name for name, table in self.tables.items() if table.archived and table.exists(study)]

    def list_wildcards(self, study: Study) -> dict[str, Sequence]:
        """Return the values of the wildcards in the patterns of tables' parts, by their names."""
        return {}

    def list_parts(self, study: Study) -> dict[str, list[str]]:
        """Return the files that tables of a study are joined from, by table."""
        folder, wildcards = self.make_layout(study).parts, self.list_wildcards(study)
        return {
            name: [f"{folder}/{path}" for path in _expand(table.parts, wildcards)]
            for name, table in self.tables.items()
            if table.parts and table.exists(study)
        }

    def find_missing(self, name: str, study: Study) -> str | None:
        """Return why a study cannot have a target, or None if it can.

        Args:
            name: Name of the target.
            study: The study.
        """
        return self.targets[name].find_missing(name, study, self.list_tables(study))

    def list_figure_inputs(self, name: str, study: Study) -> list[str]:
        """Return the files of tables that a target is drawn from.

        Args:
            name: Name of the target.
            study: The study.
        """
        target, existing = self.targets[name], self.list_tables(study)
        optional = [table for table in target.optional_tables if table in existing]
        return [path for table in (*target.tables, *optional) for path in self.list_table_files(name, table, study)]

    def list_table_files(self, name: str, table: str, study: Study) -> list[str]:
        """Return the files from which a target reads a table: the table, or those of its parts that it shows.

        Args:
            name: Name of the target.
            table: Name of the table.
            study: The study.
        """
        return [self.make_layout(study).table(table)]

    def list_unavailable(self, study: Study) -> dict[str, str]:
        """Return the targets that a study cannot have, with reasons."""
        return {name: reason for name in self.targets if (reason := self.find_missing(name, study))}

    def list_members(self, study: Study) -> list[str]:
        """Return the members of the study's archive: paths below its folder."""
        layout = self.make_layout(study)
        targets = [name for name in self.targets if self.find_missing(name, study) is None]
        paths = [*map(layout.table, (*self.list_tables(study), "claims", "provenance"))]
        paths += [path for name in targets for path in target_files(layout.root, name)]
        paths += [layout.report, layout.description, *self.list_further_members(study)]
        return sorted({path.removeprefix(f"{layout.root}/") for path in paths})

    def list_further_members(self, study: Study) -> list[str]:
        """Return the paths of members that are no tables, figures or pages."""
        return []

    def describe_archive(self, study: Study) -> Subject:
        """Return the description of the study for its archive."""
        return Subject(*self.describe(study), self.paper, self.describe_file)

    def describe_file(self, path: Path) -> str | None:
        """Return one line on a file of the archive; None if there is nothing to say."""
        return describe_target(path, {name: target.title for name, target in self.targets.items()})

    def list_drawing_modules(self, script: str, settings: Mapping[str, Any]) -> list[Path]:
        """Return the modules that a job loads by name rather than by an import.

        Args:
            script: Name of the job's script.
            settings: Settings of the job.
        """
        return [self.find_drawing_module(settings["name"])] if script == self.figure_script else []

    def drawing_module(self, name: str) -> str:
        """Return the name of the module that draws a target, which also names its caption if it has none of its own."""
        return drawing_module(self.targets, name)

    def find_drawing_module(self, name: str) -> Path:
        """Return the file of the module that draws a target."""
        return self.folder / "figures" / f"{self.drawing_module(name)}.py"

    def figure_settings(self, name: str, study: Study) -> dict[str, str]:
        """Return the settings of the job that draws a target, only those it shows: no others redraw it.

        Args:
            name: Name of the target.
            study: The study.
        """
        return {"figures": format_block(study.figures)}

    def claim_settings(self, study: Study) -> dict[str, str]:
        """Return the settings of the job that judges claims."""
        return {"study": study.study}

    def report_settings(self, study: Study) -> dict[str, str]:
        """Return the settings of the job that writes the report, besides those of every experiment."""
        return {}

    def list_report_tables(self, study: Study) -> list[str]:
        """Return the tables that the report reads, besides those of its figures."""
        existing = self.list_tables(study)
        return [name for name, table in self.tables.items() if table.reported and name in existing]

    def list_warnings(self, root: str) -> list[str]:
        """Return warnings about the study with results in `root`, for the end of a run."""
        return []

    def make_reference(self) -> ReferencePage | None:
        """Return the texts of the settings page that the settings lack, if the experiment has a page."""
        return None

    def open_results(self, results: Results) -> Results:
        """Return the results of a study as the experiment's own class."""
        return results


def _expand(pattern: str, wildcards: Mapping[str, Sequence]) -> list[str]:
    """Return a pattern with all combinations of the values of its wildcards."""
    names = [name for _, name, _, _ in Formatter().parse(pattern) if name]
    combinations = product(*(wildcards[name] for name in names))
    return [pattern.format(**dict(zip(names, values, strict=True))) for values in combinations]
