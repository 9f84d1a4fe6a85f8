"""The experiment "extractive-structures" as the protocol `Experiment` of module `registry` defines it.

Snakemake imports this module at every start, so functions import heavy modules themselves.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy
from heuristic_core.experiments.extractive_structures.config import parse_extractive as parse
from heuristic_core.experiments.extractive_structures.results import members, subject

__all__ = ["CLAIMS", "COMMANDS", "list_drawing_modules", "members", "parse", "plan", "subject", "warnings"]
COMMANDS = ()
CLAIMS = Path(__file__).with_name("claims.yaml")


def plan(study: ExtractiveStudy, device: str | None, wanted: Counter, missing: Counter) -> str:
    """Return the plan of a run as text.

    Args:
        study: The study.
        device: Device for a model that was pre-trained elsewhere; the embedded model runs on one core.
        wanted: All jobs of the run, by rule.
        missing: Jobs without an up-to-date result, by rule.
    """
    from heuristic_core.experiments.extractive_structures.plan import format_plan

    return format_plan(study, wanted, missing, device)


def list_drawing_modules(script: str, settings: Mapping) -> list[Path]:
    """Return the module that a job of `script` loads by name to draw a figure or table."""
    return [Path(__file__).with_name("figures") / f"{settings['name']}.py"] if script == "extractive_figure" else []


def reference() -> ReferencePage:
    """Return the texts of the settings page that the settings lack."""
    from heuristic_core.experiments.extractive_structures.reference import REFERENCE

    return REFERENCE


def warnings(root: str) -> list[str]:
    """Return no warnings: tables report every failure in a row."""
    return []
