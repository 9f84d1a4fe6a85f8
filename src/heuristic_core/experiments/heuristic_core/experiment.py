"""The experiment "heuristic-core" as shared parts of the workflow know it: see module `registry`.

Snakemake imports it at every start, so what is heavy is imported where it is used.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.common.progress import warned
from heuristic_core.config.reference import Words
from heuristic_core.experiments.heuristic_core import figures
from heuristic_core.experiments.heuristic_core.archive.members import members
from heuristic_core.experiments.heuristic_core.archive.subject import subject_of as subject
from heuristic_core.experiments.heuristic_core.config import context
from heuristic_core.experiments.heuristic_core.config.study import Study, parse_study
from heuristic_core.experiments.heuristic_core.config.sweep import sweep_of as sweep
from heuristic_core.experiments.heuristic_core.figures.targets import lacking, module
from heuristic_core.experiments.heuristic_core.opened import OpenedStudy
from heuristic_core.experiments.heuristic_core.report.sides import USAGE, parse_sides
from heuristic_core.jobs.environment import prepare_drawing
from heuristic_core.report.results import Results
from heuristic_core.report.sides import Comparison

__all__ = [
    "CLAIMS",
    "COMMANDS",
    "COMPARISON",
    "KEYS",
    "drawing",
    "lacking",
    "members",
    "opened",
    "parse",
    "plan",
    "reference",
    "subject",
    "sweep",
    "warnings",
]
COMMANDS = ("published", "published_groups", "compare", "crate", "publish", "licence")
COMPARISON = Comparison("compare", USAGE, parse_sides)
KEYS = {f"context.{field}": key for field, key in context.KEYS.items()}
CLAIMS = Path(__file__).with_name("claims.yaml")


def parse(values: dict, origin: str = "configuration") -> Study:
    """Check a configuration; it may say which experiment it is of, as others must."""
    return parse_study({key: value for key, value in values.items() if key != "experiment"}, origin)


def plan(study: Study, device: str | None, wanted: Counter, missing: Counter) -> str:
    """What a run of `study` needs, with times for a device of plan/devices.yaml; default: the study's own kind."""
    from heuristic_core.experiments.heuristic_core.plan import report
    from heuristic_core.plan import devices

    name = device or devices.DEFAULTS[study.device]
    return report.plan(study, name, devices.device(name), wanted, missing)


def drawing(script: str, settings: Mapping) -> list[Path]:
    """The module that a job draws a figure or table with."""
    return [Path(figures.__file__).with_name(f"{module(settings['name'])}.py")] if script == "figure" else []


def reference() -> Words:
    """What the page of its settings says beside the settings themselves."""
    from heuristic_core.experiments.heuristic_core.config.reference import REFERENCE

    return REFERENCE


def warnings(root: str) -> list[str]:
    """What of the data is missing, left out or cut, and what of fine-tuning and pruning did not go well."""
    from heuristic_core.experiments.heuristic_core.report.page import warnings_of

    logs = [Path(root) / "logs" / f"{job}.log" for job in ("sentences", "encode")]
    found = [f"{log.parts[-3]}: {text}. See {log}" for log in logs for text in warned(log)] + warnings_of([root])
    return found + [f"{Path(root).name}: {text}." for text in _missing_glyphs(Path(root) / "tables" / "splits.parquet")]


def _missing_glyphs(splits: Path) -> list[str]:
    """A warning of characters in the names of subsets that no figure can show; none before there is the table."""
    from heuristic_core.tables.parquet import read_table

    names = read_table(splits)["subset"].dropna() if splits.exists() else []
    if all(name.isascii() for name in names):
        return []
    prepare_drawing()
    from heuristic_core.figures.glyphs import warning

    return [text] if (text := warning(names)) else []


def opened(results: Results) -> OpenedStudy:
    """The results of a study, with its subnetworks and models."""
    return OpenedStudy(results.folder, results.settings)
