"""The components that subnetworks share."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.extractive_structures.sharing import core_rows, sharing_rows
from heuristic_core.tables.parquet import read_table, write_table


def find_core(subnetworks: Input, components: Input, permutations: int, core: Output, sharing: Output) -> None:
    """Count the components that subnetworks of a model share, with their scores, and compare with chance.

    Args:
        subnetworks: Table extractive_subnetworks (Parquet).
        components: Table extractive_components (Parquet).
        permutations: Number of permutations for chance.
        core: Where to write table extractive_core.
        sharing: Where to write table extractive_sharing.
    """
    kept = read_table(subnetworks)
    write_table("extractive_core", core_rows(kept, read_table(components)), core)
    write_table("extractive_sharing", list(sharing_rows(kept, permutations)), sharing)
