"""Marks of tests that need something of the processor."""

import pytest

from heuristic_core.common import arithmetic

portable = pytest.mark.skipif(not arithmetic.supports_portable(), reason="this processor is no x86-64 with AVX2")
