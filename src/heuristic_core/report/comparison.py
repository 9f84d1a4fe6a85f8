"""Values of the page that compares two studies: differences, claims, figures."""

import os
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from heuristic_core.figures.targets import target_files
from heuristic_core.report.claims import Claim, group_claims
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.render import data_uri, is_number
from heuristic_core.report.settings import read_study, setting_differences
from heuristic_core.tables.parquet import as_table


class Pair(NamedTuple):
    """One figure, table or claim of both studies.

    Attributes:
        a: Item of study a; None if a lacks it.
        b: Item of study b; None if b lacks it.
    """

    a: Exhibit | Claim | None
    b: Exhibit | Claim | None


def comparison_values(
    roots: Sequence[Path],
    names: Sequence[str],
    differences: pd.DataFrame,
    claims: Sequence[list[dict]],
    figures: Sequence[Pair],
    folder: Path,
) -> dict:
    """Return the variables of template comparison.html.j2.

    Args:
        roots: Folders of both studies.
        names: Names of both studies.
        differences: Table "differences".
        claims: Rows of table "claims" of each study.
        figures: Figures and tables of both studies.
        folder: Folder of the page, for relative links to the studies.
    """
    rows = [_make_page_row(row) for row in as_table("differences", differences).to_pylist()]
    settings = [read_study(root / "study.json")["settings"] for root in roots]
    return {
        "names": names,
        "same": roots[0] == roots[1],
        "reports": [relative_link(root / "report.html", folder) for root in roots],
        "computed": [values is not None for values in settings],
        "settings": setting_differences(*settings) if all(settings) else [],
        "quantities": [(name, list(group)) for name, group in groupby(rows, key=lambda row: row["quantity"])],
        "csv": data_uri(differences.to_csv(index=False, lineterminator="\n").encode(), "text/csv"),
        "claims": pair_claims(*map(group_claims, claims)),
        "figures": figures,
    }


def _make_page_row(row: dict) -> dict:
    """Replace NaN in a row by None, and add whether its interval excludes zero."""
    row = {key: value if not isinstance(value, float) or is_number(value) else None for key, value in row.items()}
    return row | {"apart": row["low"] is not None and (row["low"] > 0 or row["high"] < 0)}


def pair_claims(a: Sequence[Claim], b: Sequence[Claim]) -> list[Pair]:
    """Pair claims of the same name, in the order of a, then the claims that only b has.

    Args:
        a: Claims of the first study.
        b: Claims of the second study.
    """
    claims_a, claims_b = ({claim.name: claim for claim in claims} for claims in (a, b))
    return [Pair(claims_a.get(name), claims_b.get(name)) for name in claims_a | claims_b]


def pair_figures(
    roots: Sequence[Path], drawings: Sequence[Sequence[str]], load: Callable[[Path, str], Exhibit]
) -> list[Pair]:
    """Pair the figures and tables of both studies.

    Args:
        roots: Folders of both studies.
        drawings: For each figure or table, the names of targets that show it. A study may have any one of them.
        load: Function that loads a target from a study's folder.

    Returns:
        Pairs in the order of `drawings`, without those that neither study has.
    """

    def load_first(root: Path, names: Sequence[str]) -> Exhibit | None:
        available = (name for name in names if all(Path(path).is_file() for path in target_files(str(root), name)))
        return next((load(root, name) for name in available), None)

    pairs = [Pair(*(load_first(root, names) for root in roots)) for names in drawings]
    return [pair for pair in pairs if pair.a or pair.b]


def relative_link(path: Path, folder: Path) -> str:
    """Return the relative link from a page to a file.

    Args:
        path: Path of the file.
        folder: Folder of the page.
    """
    return Path(os.path.relpath(path, folder)).as_posix()
