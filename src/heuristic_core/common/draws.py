"""Named random generators of numpy, for what starts without torch; with torch: :mod:`heuristic_core.common.seeds`."""

import zlib

import numpy as np


def numpy_generator(*parts: int | str) -> np.random.Generator:
    """A generator of its own for everything that `parts` name; equal parts give equal draws."""
    # CRC-32 rather than hash(), which differs from one process to the next.
    return np.random.default_rng([zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts])
