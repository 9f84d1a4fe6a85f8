"""Files and modules of targets, which are figures and tables.

It imports nothing heavy, since Snakemake loads it at every start.
"""

from collections.abc import Mapping
from typing import Protocol


class DrawingTarget(Protocol):
    """What drawing needs to know of a target.

    Attributes:
        tables: Schema names of the Parquet tables that it is drawn from.
        possibly_empty: Those of `tables` that may have no rows.
        drawn_by: The target whose module draws it; None for its own.
    """

    tables: tuple[str, ...]
    possibly_empty: tuple[str, ...]
    drawn_by: str | None


def drawing_module(targets: Mapping[str, DrawingTarget], name: str) -> str:
    """Return the name of the module that draws a target, which also names its caption if it has none of its own.

    Args:
        targets: Targets of the experiment by name.
        name: Name of the target.
    """
    return targets[name].drawn_by or name


def is_report_file(path: str) -> bool:
    """Return whether Snakemake's report shows this file of a target, which is one of its formats."""
    return path.endswith(".png") or ("/tables/" in path and path.endswith(".csv"))


def target_files(root: str, name: str) -> list[str]:
    """Return the files of a target: a figure in three formats and the values behind its marks, or a table in four.

    Args:
        root: Folder of figures/ and tables/.
        name: Name of the target.
    """
    if name.startswith("table"):
        return [f"{root}/tables/{name}.{suffix}" for suffix in ("parquet", "csv", "md", "tex")]
    return [f"{root}/figures/{name}.{suffix}" for suffix in ("pdf", "svg", "png", "csv")]
