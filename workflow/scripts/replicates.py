"""Tell on how many training seeds each claim holds, over studies that differ in their pre-trained model alone."""

from heuristic_core.analysis.replicates import replicates
from heuristic_core.figures.save import save
from heuristic_core.figures.table_replicates import sheets
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--target", required=True, help="name of the table")
    parser.reads("+", claims="table claims of every study")
    parser.places(folder="where to write tables/")
    parser.writes("*", files="the files that are written there, for the record")
    args = parser.read(arguments)
    table = replicates([read_table(path) for path in args.claims])
    save(args.folder, args.target, None, table, None, "On how many training seeds each claim holds", sheets(table))


if __name__ == "__main__":
    recorded(main)
