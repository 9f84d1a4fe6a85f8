"""Named random generators of numpy, for modules without torch. For torch, see :mod:`heuristic_core.common.seeds`."""

import zlib

import numpy as np


def numpy_generator(*parts: int | str) -> np.random.Generator:
    """Return a generator seeded by a name. Equal parts give equal draws, other parts independent ones.

    Args:
        *parts: Purpose of the draws, and what they belong to, such as a seed of the study.
    """
    # CRC-32, because hash() differs between processes.
    return np.random.default_rng([zlib.crc32(part.encode()) if isinstance(part, str) else part for part in parts])
