"""The study's claims, each judged on every fine-tuning run."""

from collections.abc import Callable

import pandas as pd

from heuristic_core.analysis import claims_accuracy, claims_heads
from heuristic_core.analysis.evidence import CannotSay, Evidence, Verdict
from heuristic_core.analysis.frames import frame
from heuristic_core.config.context import Context
from heuristic_core.tables import RUN

CLAIMS = [*claims_accuracy.CLAIMS, *claims_heads.CLAIMS]


def findings(
    context: Context,
    accuracy: pd.DataFrame,
    finetune_accuracy: pd.DataFrame,
    core: pd.DataFrame,
    core_null: pd.DataFrame,
    rank_correlation: pd.DataFrame,
    effective_size: pd.DataFrame,
    ablations: pd.DataFrame,
) -> pd.DataFrame:
    """Table "findings" from the tables of those names: a verdict on each claim, for each run that has accuracies.

    A run is a study, model, task and fine-tuning seed. The verdict is null where a claim cannot be judged; then
    the estimate says why.
    """
    tables = {
        "accuracy": accuracy,
        "finetune_accuracy": finetune_accuracy,
        "core": core,
        "core_null": core_null,
        "rank_correlation": rank_correlation,
        "effective_size": effective_size,
        "ablations": ablations,
    }
    rows = []
    for run, _ in accuracy.groupby([*RUN]):
        identity = dict(zip(RUN, run, strict=True))
        evidence = Evidence(context, **{name: _of_run(table, identity) for name, table in tables.items()})
        rows += [identity | {"claim": claim} | _judged(judge, evidence) for claim, judge in CLAIMS]
    return frame("findings", rows)


def _of_run(table: pd.DataFrame, identity: dict) -> pd.DataFrame:
    for column, value in identity.items():
        table = table[table[column] == value]
    return table


def _judged(judge: Callable[[Evidence], Verdict], evidence: Evidence) -> dict:
    try:
        return judge(evidence)._asdict()
    except CannotSay as reason:
        return {"shown": None, "estimate": str(reason)}
