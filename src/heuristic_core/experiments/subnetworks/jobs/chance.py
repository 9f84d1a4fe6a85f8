"""The full model against chance."""

from heuristic_core.common.atomic import write_text
from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.subnetworks.analysis.chance import format_error, judge_files, stops_study
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.tables.parquet import write_table


def compare_with_chance(full: Input, subsets: Input, analysis: Analysis, table: Output) -> None:
    """Compare the full model's in-domain accuracy with chance.

    Args:
        full: The full model's predictions (Parquet).
        subsets: Subsets and labels (JSON).
        analysis: Settings of the analysis.
        table: Where to write accuracy and chance (Parquet).
    """
    write_table("chance", [judge_files(full, subsets, analysis)], table)


def require_learning(full: Input, subsets: Input, analysis: Analysis, learned: Output) -> None:
    """Fail where the full model has not learned the task, before it is pruned, unless the study continues at chance.

    Args:
        full: The full model's predictions (Parquet).
        subsets: Subsets and labels (JSON).
        analysis: Settings of the analysis.
        learned: An empty file, written where the study continues.

    Raises:
        InputError: The full model is at chance.
    """
    row = judge_files(full, subsets, analysis)
    if stops_study(row) and not analysis.despite_chance:
        raise InputError(format_error(row))
    write_text(learned, "")
