"""Which heads all subnetworks of one fine-tuning run share, and whether they are more than chance would give."""

from heuristic_core.experiments.heuristic_core.analysis.core import core, core_null
from heuristic_core.experiments.heuristic_core.analysis.stable_core import stable_core
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import load_run
from heuristic_core.tables.parquet import as_frame, as_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.context()
    parser.reads("+", subnetworks="files of the subnetworks (JSON)")
    parser.writes(
        core="where to write the core",
        core_null="where to write its size against chance",
        stable_core="where to write how the stable core is selected",
    )
    args = parser.read(arguments)
    rows = [row for path in args.subnetworks for row in load_run(path).rows()]
    components, analysis = as_frame(as_table("components", rows)), args.analysis
    drawn = components, args.context, analysis.permutations, analysis.seed
    write_table("core", core(components, args.context), args.core)
    write_table("core_null", core_null(*drawn), args.core_null)
    write_table("stable_core", stable_core(*drawn), args.stable_core)


if __name__ == "__main__":
    recorded(main)
