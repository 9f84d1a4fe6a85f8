"""Choose the learning rate and number of epochs that teach a hop's facts best."""

from heuristic_core.experiments.extractive_structures.choice import choice_rows
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = Arguments(__doc__)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.reads(table="table extractive_sweep")
    parser.writes(choice="where to write table extractive_choice")
    args = parser.read(arguments)
    rows = choice_rows(read_table(args.table))
    write_table("extractive_choice", [{"study": args.study} | row for row in rows], args.choice)


if __name__ == "__main__":
    recorded(main)
