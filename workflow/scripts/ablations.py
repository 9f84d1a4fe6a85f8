"""What ablating heads costs, from predictions."""

from heuristic_core.analysis.ablations import ablations
from heuristic_core.arguments import Arguments
from heuristic_core.config.analysis import Analysis
from heuristic_core.tables import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.files(
        predictions="predictions of every ablation",
        sets="the ablated sets",
        table="where to write accuracies and changes",
    )
    args = parser.read(arguments)
    predictions, sets = read_table(args.predictions, without=["logits"]), read_table(args.sets)
    write_table("ablations", ablations(predictions, sets, args.analysis.subsets, seed=args.analysis.seed), args.table)


if __name__ == "__main__":
    main()
