"""The experiment "heuristic-core", with the interface that module `registry` describes.

Snakemake imports this module at every start, so slow imports are inside functions.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.common.progress import read_warnings
from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.subnetworks import figures
from heuristic_core.experiments.subnetworks.archive.members import members
from heuristic_core.experiments.subnetworks.archive.subject import describe_study as subject
from heuristic_core.experiments.subnetworks.config import context
from heuristic_core.experiments.subnetworks.config.study import Study, parse_study
from heuristic_core.experiments.subnetworks.config.sweep import parse_sweep as sweep
from heuristic_core.experiments.subnetworks.figures.targets import drawing_module
from heuristic_core.experiments.subnetworks.figures.targets import unavailable_targets as lacking
from heuristic_core.experiments.subnetworks.report.sides import USAGE, parse_sides
from heuristic_core.experiments.subnetworks.study_results import StudyResults
from heuristic_core.jobs.environment import prepare_drawing
from heuristic_core.report.results import Results
from heuristic_core.report.sides import Comparison

__all__ = [
    "CLAIMS",
    "COMMANDS",
    "COMPARISON",
    "KEYS",
    "lacking",
    "list_drawing_modules",
    "members",
    "open_results",
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
    """Check a configuration; its key `experiment` is optional."""
    return parse_study({key: value for key, value in values.items() if key != "experiment"}, origin)


def plan(study: Study, device: str | None, wanted: Counter, missing: Counter) -> str:
    """Return what a run of `study` needs, with times for a device of plan/devices.yaml (default: the study's kind)."""
    from heuristic_core.experiments.subnetworks.plan import report
    from heuristic_core.plan import devices

    name = device or devices.DEFAULT_DEVICES[study.device]
    return report.plan(study, name, devices.get_device(name), wanted, missing)


def list_drawing_modules(script: str, settings: Mapping) -> list[Path]:
    """Return the modules that a drawing job loads by name."""
    return [Path(figures.__file__).with_name(f"{drawing_module(settings['name'])}.py")] if script == "figure" else []


def reference() -> ReferencePage:
    """Return the texts of the configuration reference."""
    from heuristic_core.experiments.subnetworks.config.reference import REFERENCE

    return REFERENCE


def warnings(root: str) -> list[str]:
    """Return warnings of missing, omitted or truncated data, and of failures in fine-tuning and pruning."""
    from heuristic_core.experiments.subnetworks.report.page import collect_warnings

    logs = [Path(root) / "logs" / f"{job}.log" for job in ("sentences", "encode")]
    messages = [
        f"{log.parts[-3]}: {text}. See {log}" for log in logs for text in read_warnings(log)
    ] + collect_warnings([root])
    return messages + [
        f"{Path(root).name}: {text}." for text in _missing_glyphs(Path(root) / "tables" / "splits.parquet")
    ]


def _missing_glyphs(splits: Path) -> list[str]:
    """Return a warning of characters in names of subsets that figures cannot show; none before the table exists."""
    from heuristic_core.tables.parquet import read_table

    names = read_table(splits)["subset"].dropna() if splits.exists() else []
    if all(name.isascii() for name in names):
        return []
    prepare_drawing()
    from heuristic_core.figures.glyphs import missing_glyph_warning

    return [text] if (text := missing_glyph_warning(names)) else []


def open_results(results: Results) -> StudyResults:
    """Return the results of a study, with its subnetworks and models."""
    return StudyResults(results.folder, results.settings)
