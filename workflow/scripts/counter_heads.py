"""What heads add to random subnetworks that contain the core, and how well such effects predict learned ones."""

from heuristic_core.experiments.heuristic_core.analysis.counter_heads import counter_heads, mask_tests
from heuristic_core.experiments.heuristic_core.analysis.mask_fit import mask_fit
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.reads(
        masks="masks and what they score",
        components="components of the sound mid-sparsity subnetworks",
    )
    parser.writes(
        counter_heads="where to write effects of heads",
        mask_fit="where to write how well they predict",
        mask_tests="where to write tests against chance",
    )
    args = parser.read(arguments)
    masks, seed, subsets = read_table(args.masks), args.analysis.seed, args.analysis.subsets
    run = {name: values[0] for name, values in identity(args).columns(1, "step").items()}
    effects = counter_heads(masks, read_table(args.components), run, args.mechanism.masks.bootstrap, seed, subsets)
    write_table("counter_heads", effects, args.counter_heads)
    write_table("mask_fit", mask_fit(masks, run, subsets), args.mask_fit)
    write_table("mask_tests", mask_tests(masks, run, seed, subsets), args.mask_tests)


if __name__ == "__main__":
    recorded(main)
