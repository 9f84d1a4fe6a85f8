"""What ablating heads costs, from predictions."""

from dataclasses import replace

from heuristic_core.experiments.heuristic_core.analysis.ablation_cells import read_cells
from heuristic_core.experiments.heuristic_core.analysis.ablations import ablations
from heuristic_core.experiments.heuristic_core.analysis.triples import triples
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads(
        predictions="predictions of every ablation",
        sets="the ablated sets",
    )
    parser.writes(
        table="where to write accuracies and changes",
        triples="where to write those of the strongest three heads, on pairs that did not choose them",
    )
    args = parser.read(arguments)
    predictions, settings, sets = read_cells(args.predictions), args.analysis, read_table(args.sets)
    scoring = settings.subsets, settings.class_rule, settings.bootstrap, settings.seed
    write_table("triples", triples(predictions, sets, *scoring), args.triples)
    last = {model: replace(cells, once=True) for model, cells in predictions.items()}
    write_table("ablations", ablations(last, sets, *scoring), args.table)


if __name__ == "__main__":
    recorded(main)
