"""Accuracy of the empty circuit of a checkpoint: its model with all components replaced by their means."""

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator, reads_checkpoint
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.columns import RUN
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    reads_checkpoint(parser)
    parser.writes(empty_circuit="where to write accuracies")
    args = parser.read(arguments)
    use_threads(1)
    evaluator = Evaluator(args)
    scores = evaluator.scores(evaluator.without(range(len(evaluator.model.grid))))
    about = {name: getattr(identity(args), name) for name in (*RUN, "step")}
    write_table("empty_circuit", scores.drop(columns="log_odds").assign(**about), args.empty_circuit)


if __name__ == "__main__":
    recorded(main)
