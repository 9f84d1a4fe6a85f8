"""Claims of an experiment on one study as a whole: its tables as evidence, and their verdicts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from heuristic_core.config.claims import Claim
from heuristic_core.stats.estimates import NotComputable
from heuristic_core.stats.judging import check_claims, judge
from heuristic_core.stats.training_seeds import TRAINING_SEEDS


@dataclass(frozen=True)
class Evidence:
    """The tables of a study, for the statistics of claims.

    Attributes:
        tables: Frames by schema name.
    """

    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        """Return the rows of a table.

        Raises:
            NotComputable: If the study lacks the table, or it is empty.
        """
        if name not in self.tables or self.tables[name].empty:
            raise NotComputable(f"the study has no table {name}")
        return self.tables[name]


def make_judge(make_evidence: Callable[[dict], Evidence], labels: Mapping) -> Callable[..., pd.DataFrame]:
    """Return the function that judges claims on a study, over its training seeds.

    Args:
        make_evidence: Returns the evidence, from the study's tables.
        labels: Values of the identity columns of table "claims", but for the study's name.
    """

    def judge_claims(study: str, tables: dict[str, pd.DataFrame], stated: Sequence[Claim]) -> pd.DataFrame:
        """Return table "claims", one row for each claim; no seed has a row, as statistics are over seeds.

        Args:
            study: Name of the study.
            tables: Frames by schema name.
            stated: The claims of claims.yaml.

        Raises:
            InputError: If a statistic is unknown, or lacks an option.
        """
        check_claims(stated)
        return judge(stated, [make_evidence(tables)], {"study": study} | dict(labels), [], TRAINING_SEEDS)

    return judge_claims
