"""Resources that a job requests from a cluster."""

from typing import NamedTuple


class Need(NamedTuple):
    """Resources of a job, named as in Snakemake.

    Attributes:
        mem_mb: Memory of the host, MB.
        runtime: Minutes.
    """

    mem_mb: int
    runtime: int
