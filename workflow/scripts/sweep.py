"""Draw what ablating the core costs in studies that differ in a setting."""

import json

from heuristic_core.config.figure import Figure
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--sweep", required=True, type=json.loads, help="target, figure and studies' values (JSON)")
    parser.reads("+", tables="table ablations of every study, in the order of the studies")
    parser.places(folder="where to write figures/")
    parser.writes("*", files="the files that are written there, for the record")
    args = parser.read(arguments)
    from heuristic_core.experiments.heuristic_core.figures.figure_sweep import draw
    from heuristic_core.figures import style
    from heuristic_core.figures.save import save

    settings = Figure.model_validate(args.sweep["figure"])
    with style.applied(formulas=False):
        figure, marks = draw([read_table(path) for path in args.tables], settings, args.sweep["studies"])
    save(
        args.folder,
        args.sweep["target"],
        figure,
        marks,
        settings,
        "What ablating the core costs, by setting",
        formulas=False,
    )


if __name__ == "__main__":
    recorded(main)
