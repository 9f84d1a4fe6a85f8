"""Draw one figure or table of the paper from the study's tables."""

from pathlib import Path

from heuristic_core.experiments.heuristic_core.config.analysis import Figures
from heuristic_core.experiments.heuristic_core.figures import draw, write
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS
from heuristic_core.experiments.heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--name", required=True, choices=TARGETS, help="which one")
    parser.settings("figures", Figures)
    parser.context()
    parser.reads("+", tables="the Parquet tables it is drawn from")
    parser.places(folder="the study's folder, with figures/ and tables/ in it")
    parser.writes("*", files="the files that are written there, for the record")
    args = parser.read(arguments)
    settings = getattr(args.figures, args.name)
    tables = {Path(path).stem: read_table(path) for path in args.tables}
    figure, marks = draw(args.name, tables, settings, args.context)
    write(args.folder, args.name, figure, marks, settings)


if __name__ == "__main__":
    recorded(main)
