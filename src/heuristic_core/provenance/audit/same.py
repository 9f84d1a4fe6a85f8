"""Whether two files hold the same result: byte for byte, or number for number within tolerances."""

import json
import math
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

# Between machines that add floating-point numbers in other orders, a value v may differ by ABSOLUTE + RELATIVE * |v|.
ABSOLUTE, RELATIVE = 1e-4, 1e-3
PICTURES = (".pdf", ".png", ".svg")  # drawn from numbers that are compared themselves
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?")


def difference(recorded: Path, again: Path, exact: bool) -> str | None:
    """Where a file computed `again` differs from the recorded one; None where they are the same.

    exact: every byte counts. Else numbers may differ within the tolerances, and pictures are not compared.
    """
    if not again.exists():
        return "was not made again"
    if recorded.read_bytes() == again.read_bytes():
        return None
    if not exact and recorded.suffix in PICTURES:
        return None
    compare = {".parquet": _tables, ".safetensors": _tensors, ".json": _json}.get(recorded.suffix, _text)
    detail = compare(recorded, again, (0.0, 0.0) if exact else (ABSOLUTE, RELATIVE))
    return detail or ("other bytes, though every value is the same" if exact else None)


def close(a: float, b: float, tolerance: tuple[float, float]) -> bool:
    """Whether |a - b| <= absolute + relative * max(|a|, |b|); NaN equals NaN."""
    absolute, relative = tolerance
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= absolute + relative * max(abs(a), abs(b))


def _tables(recorded: Path, again: Path, tolerance) -> str | None:
    before, after = pq.read_table(recorded), pq.read_table(again)
    if before.schema != after.schema or len(before) != len(after):
        return f"{len(before)} rows of {len(before.schema)} columns, again {len(after)} rows of {len(after.schema)}"
    for name in before.column_names:
        if before[name].equals(after[name]):
            continue
        allowed = tolerance if _real(before.schema.field(name).type) else (0.0, 0.0)
        for row, (a, b) in enumerate(zip(before[name].to_pylist(), after[name].to_pylist(), strict=True)):
            if detail := _values(a, b, allowed):
                return f"column {name}, row {row}: {detail}"
    return None


def _real(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind)


def _tensors(recorded: Path, again: Path, tolerance) -> str | None:
    import torch
    from safetensors.torch import load_file

    before, after = load_file(recorded), load_file(again)
    if before.keys() != after.keys():
        return f"tensors {sorted(before)}, again {sorted(after)}"
    for name in sorted(before):
        a, b = before[name], after[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"{name} is {a.dtype}{list(a.shape)}, again {b.dtype}{list(b.shape)}"
        absolute, relative = tolerance if a.is_floating_point() else (0.0, 0.0)
        near = torch.isclose(a.double(), b.double(), atol=absolute, rtol=relative, equal_nan=True)
        if not near.all():
            return f"{name} differs in {int((~near).sum())} of {a.numel()} values"
    return None


def _json(recorded: Path, again: Path, tolerance) -> str | None:
    return _values(*(json.loads(path.read_text()) for path in (recorded, again)), tolerance)


def _values(a, b, tolerance) -> str | None:
    """Where two nested values differ: real numbers within the tolerance are the same, all else must be equal."""
    if isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys():
        return next((f"{key}: {detail}" for key in a if (detail := _values(a[key], b[key], tolerance))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next(
            (detail for before, after in zip(a, b, strict=True) if (detail := _values(before, after, tolerance))), None
        )
    same = close(a, b, tolerance) if isinstance(a, float) and isinstance(b, float) else a == b
    return None if same else f"{a!r}, again {b!r}"


def _text(recorded: Path, again: Path, tolerance) -> str | None:
    """Line by line; what looks like a number may differ within the tolerance."""
    lines = [path.read_text(errors="replace").splitlines() for path in (recorded, again)]
    if len(lines[0]) != len(lines[1]):
        return f"{len(lines[0])} lines, again {len(lines[1])}"
    for count, (before, after) in enumerate(zip(*lines, strict=True), 1):
        numbers = [list(map(float, NUMBER.findall(line))) for line in (before, after)]
        words = [NUMBER.sub("0", line) for line in (before, after)]
        near = words[0] == words[1] and all(close(a, b, tolerance) for a, b in zip(*numbers, strict=True))
        if not near and before != after:
            return f"line {count}: {before[:100]!r}, again {after[:100]!r}"
    return None
