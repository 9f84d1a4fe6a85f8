"""Compare two files of a result: byte for byte, or value for value within tolerances."""

import json
import math
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# Machines may add floating-point numbers in different orders: a value v may differ by ABSOLUTE + RELATIVE * |v|.
ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE = 1e-4, 1e-3
_PICTURE_SUFFIXES = (".pdf", ".png", ".svg")  # the values that they show are compared elsewhere
_NUMBER_PATTERN = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def find_difference(recorded: Path, recomputed: Path, exact: bool) -> str | None:
    """Return how a recomputed file differs from the recorded one.

    Args:
        recorded: Path of the recorded file.
        recomputed: Path of the recomputed file.
        exact: Whether every byte must be the same. If not, numbers may differ within the tolerances, and pictures are
            not compared.

    Returns:
        The first difference; None if there is none.
    """
    if not recomputed.exists():
        return "was not written when the job was recomputed"
    if recorded.read_bytes() == recomputed.read_bytes():
        return None
    if not exact and recorded.suffix in _PICTURE_SUFFIXES:
        return None
    compare_by_suffix = {".parquet": _compare_tables, ".safetensors": _compare_tensors, ".json": _compare_json}
    compare = compare_by_suffix.get(recorded.suffix, _compare_text)
    detail = compare(recorded, recomputed, (0.0, 0.0) if exact else (ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE))
    return detail or ("bytes differ, although all values are equal" if exact else None)


def is_close(a: float, b: float, tolerance: tuple[float, float]) -> bool:
    """Return whether |a - b| <= absolute + relative * max(|a|, |b|); NaN equals NaN.

    Args:
        a: First value.
        b: Second value.
        tolerance: Absolute and relative tolerance.
    """
    absolute, relative = tolerance
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= absolute + relative * max(abs(a), abs(b))


def _compare_tables(recorded: Path, recomputed: Path, tolerance) -> str | None:
    """Return the first difference between Parquet files: in columns, number of rows, or a cell."""
    before, after = pq.read_table(recorded), pq.read_table(recomputed)
    if before.schema != after.schema or len(before) != len(after):
        shapes = [f"{len(table)} rows of {len(table.schema)}" for table in (before, after)]
        return f"{shapes[0]} columns, recomputed {shapes[1]}"
    for name in before.column_names:
        if before[name].equals(after[name]):
            continue
        column_tolerance = tolerance if _is_floating(before.schema.field(name).type) else (0.0, 0.0)
        for row, (a, b) in enumerate(zip(before[name].to_pylist(), after[name].to_pylist(), strict=True)):
            if detail := _compare_values(a, b, column_tolerance):
                return f"column {name}, row {row}: {detail}"
    return None


def _is_floating(dtype: pa.DataType) -> bool:
    """Return whether a column holds floating-point numbers or lists of them."""
    return pa.types.is_floating(dtype.value_type if pa.types.is_list(dtype) else dtype)


def _compare_tensors(recorded: Path, recomputed: Path, tolerance) -> str | None:
    """Return the first difference between safetensors files: in names, shape, dtype or values of a tensor."""
    import torch
    from safetensors.torch import load_file

    before, after = load_file(recorded), load_file(recomputed)
    if before.keys() != after.keys():
        return f"tensors {sorted(before)}, recomputed {sorted(after)}"
    for name in sorted(before):
        a, b = before[name], after[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name} is {a.dtype}{list(a.shape)}, recomputed {b.dtype}{list(b.shape)}"
        absolute, relative = tolerance if a.is_floating_point() else (0.0, 0.0)
        is_same = torch.isclose(a.double(), b.double(), atol=absolute, rtol=relative, equal_nan=True)
        if not is_same.all():
            return f"{name} differs in {int((~is_same).sum())} of {a.numel()} values"
    return None


def _compare_json(recorded: Path, recomputed: Path, tolerance) -> str | None:
    """Return the first difference between the values of JSON files."""
    return _compare_values(*(json.loads(path.read_text()) for path in (recorded, recomputed)), tolerance)


def _compare_values(a, b, tolerance) -> str | None:
    """Return the first difference between nested values. Floats may differ within the tolerance, other values not."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next((f"{key}: {detail}" for key in a if (detail := _compare_values(a[key], b[key], tolerance))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        details = (_compare_values(before, after, tolerance) for before, after in zip(a, b, strict=True))
        return next((detail for detail in details if detail), None)
    is_same = is_close(a, b, tolerance) if isinstance(a, float) and isinstance(b, float) else a == b
    return None if is_same else f"{a!r}, recomputed {b!r}"


def _compare_text(recorded: Path, recomputed: Path, tolerance) -> str | None:
    """Return the first line that differs by more than numbers within the tolerance."""
    lines = [path.read_text(errors="replace").splitlines() for path in (recorded, recomputed)]
    if len(lines[0]) != len(lines[1]):
        return f"{len(lines[0])} lines, recomputed {len(lines[1])}"
    for line_number, (before, after) in enumerate(zip(*lines, strict=True), 1):
        numbers = [list(map(float, _NUMBER_PATTERN.findall(line))) for line in (before, after)]
        words = [_NUMBER_PATTERN.sub("0", line) for line in (before, after)]
        unchanged = words[0] == words[1] and all(is_close(a, b, tolerance) for a, b in zip(*numbers, strict=True))
        if not unchanged and before != after:
            return f"line {line_number}: {before[:100]!r}, recomputed {after[:100]!r}"
    return None
