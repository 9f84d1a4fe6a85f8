"""Effective size of models, and the halves of heads that all their learned subsets keep."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.effective_size import core_rows, size_rows
from heuristic_core.tables.parquet import read_table, write_table


def find_needed_halves(
    subsets: Input, masks: Input, heads: Input, prune: PruneRuns, sizes: Output, core: Output
) -> None:
    """Find the effective size of list-sorting models over training, and the halves that all learned subsets keep.

    Args:
        subsets: Table sorting_subsets.
        masks: Table sorting_masks.
        heads: Table sorting_heads.
        prune: Settings of pruning.
        sizes: Where to write table sorting_sizes.
        core: Where to write table sorting_core.
    """
    write_table("sorting_sizes", size_rows(read_table(subsets), prune), sizes)
    write_table("sorting_core", list(core_rows(read_table(masks), read_table(heads))), core)
