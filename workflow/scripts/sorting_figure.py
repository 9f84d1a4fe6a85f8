"""Draw one figure or table of the list-sorting experiment from the study's tables."""

from pathlib import Path

from heuristic_core.experiments.list_sorting.figures import draw, sheets_of
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.study import SortingFigures
from heuristic_core.figures.save import save
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--name", required=True, choices=TARGETS, help="which one")
    parser.settings("figures", SortingFigures)
    parser.reads("+", tables="the Parquet tables it is drawn from")
    parser.places(folder="the study's folder, with figures/ and tables/ in it")
    parser.writes("*", files="the files that are written there, for the record")
    args = parser.read(arguments)
    tables = {Path(path).stem: read_table(path) for path in args.tables}
    figure, marks = draw(args.name, tables, args.figures)
    title, sheets = TARGETS[args.name].title, sheets_of(args.name, marks)
    save(args.folder, args.name, figure, marks, args.figures, title, sheets)


if __name__ == "__main__":
    recorded(main)
