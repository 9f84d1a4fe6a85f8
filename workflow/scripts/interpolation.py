"""Subnetworks between the mid-sparsity subnetwork that generalises least and the one that generalises most."""

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.analysis.interpolation import interpolation
from heuristic_core.experiments.heuristic_core.analysis.random_masks import learned
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator, reads_checkpoint
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.reads(components="components of the sound mid-sparsity subnetworks")
    reads_checkpoint(parser)
    parser.writes(table="where to write what subnetworks between them score")
    args = parser.read(arguments)
    use_threads(1)
    evaluator = Evaluator(args, args.mechanism.interpolation.pairs)
    grid = evaluator.model.grid
    run = {name: values[0] for name, values in identity(args).columns(1, "step").items()}

    def predict(kept):
        return evaluator.without(set(range(len(grid))) - kept)

    table = interpolation(learned(read_table(args.components)), predict, grid, args.analysis, run)
    write_table("interpolation", table, args.table)


if __name__ == "__main__":
    recorded(main)
