"""Effective size of list-sorting models over training, and the halves of heads that all learned subsets keep."""

from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.needed import core_rows, size_rows
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.settings("prune", PruneRuns)
    parser.reads(subsets="table sorting_subsets", masks="table sorting_masks", heads="table sorting_heads")
    parser.writes(sizes="where to write table sorting_sizes", core="where to write table sorting_core")
    args = parser.read(arguments)
    subsets, masks, heads = (read_table(path) for path in (args.subsets, args.masks, args.heads))
    write_table("sorting_sizes", size_rows(subsets, args.prune), args.sizes)
    write_table("sorting_core", list(core_rows(masks, heads)), args.core)


if __name__ == "__main__":
    recorded(main)
