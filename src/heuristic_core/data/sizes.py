"""Bound the number of rows of a file without parsing it."""

from pathlib import Path

from heuristic_core.config.tasks import Format

CHUNK_BYTES = 1 << 22  # bytes


def count_max_rows(path: Path, format: Format | None = None) -> int | None:
    """Return the rows of a Parquet file, or the lines of a text file (an upper bound of its rows); None if unknown."""
    if path.is_dir() or path.suffix == ".gz":
        return None
    if format == "parquet" or (format is None and path.suffix == ".parquet"):
        import pyarrow.parquet as pq

        return pq.ParquetFile(path).metadata.num_rows
    lines, last = 1, b""
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            # A line ends with \n, \r or \r\n.
            lines += chunk.count(b"\n") + chunk.count(b"\r") - (last + chunk).count(b"\r\n")
            last = chunk[-1:]
    return lines
