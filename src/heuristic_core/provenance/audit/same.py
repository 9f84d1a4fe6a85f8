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
    found = compare(recorded, again, (0.0, 0.0) if exact else (ABSOLUTE, RELATIVE))
    return found or ("other bytes, though every value is the same" if exact else None)


def close(a: float, b: float, tolerance: tuple[float, float]) -> bool:
    """Whether |a - b| <= absolute + relative * max(|a|, |b|); NaN equals NaN."""
    absolute, relative = tolerance
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= absolute + relative * max(abs(a), abs(b))


def _tables(recorded: Path, again: Path, tolerance) -> str | None:
    one, other = pq.read_table(recorded), pq.read_table(again)
    if one.schema != other.schema or len(one) != len(other):
        return f"{len(one)} rows of {len(one.schema)} columns, again {len(other)} rows of {len(other.schema)}"
    for name in one.column_names:
        if one[name].equals(other[name]):
            continue
        allowed = tolerance if _real(one.schema.field(name).type) else (0.0, 0.0)
        for row, (a, b) in enumerate(zip(one[name].to_pylist(), other[name].to_pylist(), strict=True)):
            if found := _values(a, b, allowed):
                return f"column {name}, row {row}: {found}"
    return None


def _real(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind.value_type if pa.types.is_list(kind) else kind)


def _tensors(recorded: Path, again: Path, tolerance) -> str | None:
    import torch
    from safetensors.torch import load_file

    one, other = load_file(recorded), load_file(again)
    if one.keys() != other.keys():
        return f"tensors {sorted(one)}, again {sorted(other)}"
    for name in sorted(one):
        a, b = one[name], other[name]
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
        return next((f"{key}: {found}" for key in a if (found := _values(a[key], b[key], tolerance))), None)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return next((found for one, other in zip(a, b, strict=True) if (found := _values(one, other, tolerance))), None)
    same = close(a, b, tolerance) if isinstance(a, float) and isinstance(b, float) else a == b
    return None if same else f"{a!r}, again {b!r}"


def _text(recorded: Path, again: Path, tolerance) -> str | None:
    """Line by line; what looks like a number may differ within the tolerance."""
    lines = [path.read_text(errors="replace").splitlines() for path in (recorded, again)]
    if len(lines[0]) != len(lines[1]):
        return f"{len(lines[0])} lines, again {len(lines[1])}"
    for count, (one, other) in enumerate(zip(*lines, strict=True), 1):
        numbers = [list(map(float, NUMBER.findall(line))) for line in (one, other)]
        words = [NUMBER.sub("0", line) for line in (one, other)]
        near = words[0] == words[1] and all(close(a, b, tolerance) for a, b in zip(*numbers, strict=True))
        if not near and one != other:
            return f"line {count}: {one[:100]!r}, again {other[:100]!r}"
    return None
