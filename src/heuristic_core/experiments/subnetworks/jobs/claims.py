"""Claims of the paper."""

from pathlib import Path

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.subnetworks.analysis import claims as claim_analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.tables.parquet import read_table, write_table


def judge_claims(tables: list[Input], claims: Input, context: StudyContext, table: Output) -> None:
    """Judge claims on a study's tables.

    Args:
        tables: The study's tables (Parquet).
        claims: The claims (YAML).
        context: A study's configuration file, or the context drawn from it as JSON.
        table: Where to write verdicts (Parquet).
    """
    by_name = {Path(path).stem: read_table(path) for path in tables}
    write_table("claims", claim_analysis.judge_claims(context, by_name, load_claims(claims)), table)
