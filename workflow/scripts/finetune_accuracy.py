"""Accuracies of the full model over fine-tuning, with intervals, from its predictions."""

from heuristic_core.analysis.scores import finetune_accuracy
from heuristic_core.arguments import Arguments
from heuristic_core.config.analysis import Analysis
from heuristic_core.tables import as_frame, concatenate, matrix, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.files(predictions="predictions of every evaluation", table="where to write accuracies")
    args = parser.read(arguments)
    predictions, a = concatenate("finetune_predictions", [args.predictions]), args.analysis
    rows, logits = as_frame(predictions.drop_columns("logits")), matrix(predictions["logits"])
    write_table("finetune_accuracy", finetune_accuracy(rows, logits, a.class_rule, a.bootstrap, a.seed), args.table)


if __name__ == "__main__":
    main()
