"""The page that puts two studies next to each other: differences, claims, figures."""

import os
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.shared_core import SharedCore
from heuristic_core.experiments.heuristic_core.figures import sheets_of
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS, module
from heuristic_core.experiments.heuristic_core.report.sides import Side
from heuristic_core.figures.targets import outputs
from heuristic_core.report.claims import Claim, claims_of
from heuristic_core.report.exhibits import Exhibit, exhibit
from heuristic_core.report.render import data_uri, is_number, render
from heuristic_core.tables.parquet import as_table


class Pair(NamedTuple):
    """What both sides have of one drawing, or of one claim; None where a side lacks it."""

    a: Exhibit | Claim | None
    b: Exhibit | Claim | None


def comparison_page(
    sides: tuple[Side, Side],
    contexts: Sequence,
    differences: pd.DataFrame,
    shared: Sequence[SharedCore],
    claims: Sequence[list[dict]],
    only_in: Sequence[list[str]],
    folder: Path,
) -> str:
    """The HTML page. shared: core heads of both. claims, only_in: of each side, the rows of its claims and subsets that
    the other has not.

    folder: of the page, from which it links to the studies.
    """
    rows = [_plain(row) for row in as_table("differences", differences).to_pylist()]
    return render(
        "compare.html.j2",
        names=_names(sides),
        same=sides[0].root == sides[1].root,
        reports=[_link(side.root / "report.html", folder) for side in sides],
        contexts=contexts,
        quantities=[(name, list(of_it)) for name, of_it in groupby(rows, key=lambda row: row["quantity"])],
        shared=shared,
        csv=data_uri(differences.to_csv(index=False, lineterminator="\n").encode(), "text/csv"),
        claims=pair_claims(*map(claims_of, claims)),
        figures=pair_figures(sides, folder),
        only_in=only_in,
    )


def _names(sides: tuple[Side, Side]) -> list[str]:
    """What the sides are called: the study, with its folder where both have one name."""
    a, b = ([side.root.name, str(side.root)] for side in sides)
    use_folder = sides[0].name == sides[1].name
    runs = [f", fine-tuning seed {side.ft_seed}" if side.ft_seed is not None else "" for side in sides]
    return [name[use_folder] + run for name, run in zip((a, b), runs, strict=True)]


def _plain(row: dict) -> dict:
    """A row with NaN as None, and whether its interval leaves out zero."""
    row = {key: value if not isinstance(value, float) or is_number(value) else None for key, value in row.items()}
    return row | {"apart": row["low"] is not None and (row["low"] > 0 or row["high"] < 0)}


def pair_claims(a: Sequence[Claim], b: Sequence[Claim]) -> list[Pair]:
    """Claims of the same name together, in the order of a, then the claims of b alone."""
    of_a, of_b = ({claim.name: claim for claim in claims} for claims in (a, b))
    return [Pair(of_a.get(name), of_b.get(name)) for name in of_a | of_b]


def pair_figures(sides: tuple[Side, Side], folder: Path) -> list[Pair]:
    """Figures that one module draws together, though their names may differ, as figure06 and figure15 do."""
    drawings = dict.fromkeys(module(name) for name in TARGETS if name.startswith("figure"))
    pairs = [Pair(*(_figure(side, drawing, folder) for side in sides)) for drawing in drawings]
    return [pair for pair in pairs if pair.a or pair.b]


def _figure(side: Side, drawing: str, folder: Path) -> Exhibit | None:
    for name in TARGETS:
        if module(name) == drawing and all(Path(path).is_file() for path in outputs(str(side.root), name)):
            return exhibit(
                side.root, name, TARGETS[name].title, "", partial(sheets_of, name), _link(side.root, folder) + "/"
            )
    return None


def _link(path: Path, folder: Path) -> str:
    """From the page's folder to `path`."""
    return Path(os.path.relpath(path, folder)).as_posix()
