"""Files of a target, which is a figure or a table.

It imports nothing heavy, since Snakemake loads it at every start.
"""


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
