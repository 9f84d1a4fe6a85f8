"""The files of a target, a figure or a table, by its name.

Imports nothing heavy: the DAG reads it.
"""


def shown(path: str) -> bool:
    """Whether a report shows this file of a target: one of its formats."""
    return path.endswith(".png") or ("/tables/" in path and path.endswith(".csv"))


def outputs(root: str, name: str) -> list[str]:
    """The files of a target: a figure in three formats with the values behind its marks, or a table in four."""
    if name.startswith("table"):
        return [f"{root}/tables/{name}.{suffix}" for suffix in ("parquet", "csv", "md", "tex")]
    return [f"{root}/figures/{name}.{suffix}" for suffix in ("pdf", "svg", "png", "csv")]
