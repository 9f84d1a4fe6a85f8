"""Learned subnetworks against random and gradient-importance ones, from predictions on the same pairs."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.controls import controls, on_drawn_pairs
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.reads("+", learned="predictions of the learned subnetworks")
    parser.reads(predictions="predictions of the controls")
    parser.writes(table="where to write accuracies and differences")
    args = parser.read(arguments)
    paths, a = [*args.learned, args.predictions], args.analysis
    tables = (read_table(path, without=["logits"]) for path in paths)
    parts = [on_drawn_pairs(table, a.control_pairs, a.seed, a.class_rule) for table in tables]
    write_table("controls", controls(pd.concat(parts), a.subsets), args.table)


if __name__ == "__main__":
    recorded(main)
