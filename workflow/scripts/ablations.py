"""What ablating heads costs, from predictions."""

import pyarrow.parquet as pq

from heuristic_core.analysis.ablations import ablations
from heuristic_core.arguments import Arguments
from heuristic_core.config.analysis import Analysis
from heuristic_core.tables import ABLATION, RUN, STEP, SUBSET, as_frame, read_table, write_table

NAMES = [*(name for name in RUN if name != "ft_seed"), *ABLATION, *SUBSET, "template"]
COLUMNS = [*NAMES, "ft_seed", *STEP, "example", "correct", "correct_merged", "log_odds"]


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.files(
        predictions="predictions of every ablation",
        sets="the ablated sets",
        table="where to write accuracies and changes",
    )
    args = parser.read(arguments)
    # Names by number: tens of millions of rows would not fit into memory as text.
    predictions = as_frame(pq.read_table(args.predictions, columns=COLUMNS, read_dictionary=NAMES))
    settings, sets = args.analysis, read_table(args.sets)
    rows = ablations(predictions, sets, settings.subsets, settings.class_rule, settings.bootstrap, settings.seed)
    write_table("ablations", rows, args.table)


if __name__ == "__main__":
    main()
