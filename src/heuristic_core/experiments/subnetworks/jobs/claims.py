"""Claims of the paper."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.subnetworks.analysis import claims as claim_analysis
from heuristic_core.experiments.subnetworks.jobs.parameters import StudyContext
from heuristic_core.jobs.tables import read_by_name
from heuristic_core.tables.parquet import write_table


def judge_claims(tables: list[Input], claims: Input, context: StudyContext, table: Output) -> None:
    """Judge claims on a study's tables.

    Args:
        tables: The study's tables (Parquet).
        claims: The claims (YAML).
        context: A study's configuration file, or the context drawn from it as JSON.
        table: Where to write verdicts (Parquet).
    """
    verdicts = claim_analysis.judge_claims(context, read_by_name(tables), load_claims(claims))
    write_table("claims", verdicts, table)
