"""The experiment "extractive-structures" as shared parts of the workflow know it: see module `registry`.

Snakemake imports it at every start, so what is heavy is imported where it is used.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from heuristic_core.config.reference import Words
from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy
from heuristic_core.experiments.extractive_structures.config import parse_extractive as parse
from heuristic_core.experiments.extractive_structures.results import members, subject

__all__ = ["CLAIMS", "COMMANDS", "drawing", "members", "parse", "plan", "subject", "warnings"]
COMMANDS = ()
CLAIMS = Path(__file__).with_name("claims.yaml")


def plan(study: ExtractiveStudy, device: str | None, wanted: Counter, missing: Counter) -> str:
    """What a run of `study` needs. device: for a model of others; an embedded model runs on a processor's core."""
    from heuristic_core.experiments.extractive_structures.plan import report

    return report(study, wanted, missing, device)


def drawing(script: str, settings: Mapping) -> list[Path]:
    """The module that a job draws a figure or table with."""
    return [Path(__file__).with_name("figures") / f"{settings['name']}.py"] if script == "extractive_figure" else []


def reference() -> Words:
    """What the page of its settings says beside the settings themselves."""
    from heuristic_core.experiments.extractive_structures.reference import REFERENCE

    return REFERENCE


def warnings(root: str) -> list[str]:
    """None: no part of a study fails without a row that says so."""
    return []
