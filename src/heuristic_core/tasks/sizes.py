"""How many rows a file can have at most, without reading them."""

from pathlib import Path

from heuristic_core.config.tasks import Format

CHUNK = 1 << 22  # bytes


def most_rows(path: Path, format: Format | None = None) -> int | None:
    """The rows of a Parquet file, or the lines of a text file, which may be more than its rows; None where unknown."""
    if path.is_dir() or path.suffix == ".gz":
        return None
    if format == "parquet" or (format is None and path.suffix == ".parquet"):
        import pyarrow.parquet as pq

        return pq.ParquetFile(path).metadata.num_rows
    lines, last = 1, b""
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            # A line ends with \\n, \\r or both of them.
            lines += chunk.count(b"\n") + chunk.count(b"\r") - (last + chunk).count(b"\r\n")
            last = chunk[-1:]
    return lines
