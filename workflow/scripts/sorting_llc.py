"""Sample the local learning coefficient of the models of one condition at one checkpoint."""

import torch
from safetensors.torch import load_file

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import lists, sequences
from heuristic_core.experiments.list_sorting.llc import local_learning
from heuristic_core.experiments.list_sorting.model import losses
from heuristic_core.experiments.list_sorting.study import LlcRuns
from heuristic_core.experiments.list_sorting.tables import SORTING
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.settings("sorting", ListSorting)
    parser.settings("llc", LlcRuns)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--condition", required=True, help="name of the condition")
    parser.add_argument("--step", type=int, required=True, help="training step of the checkpoint")
    parser.reads(checkpoint="weights")
    parser.writes(table="where to write table sorting_llc")
    args = parser.read(arguments)
    use_threads(1)
    study, seeds = args.sorting, args.sorting.training.seeds
    tokens = sequences(lists(study.data).train, study.data)

    def draw(count: int, generator: torch.Generator) -> torch.Tensor:
        return tokens[torch.randint(len(tokens), (count,), generator=generator)]

    estimates = local_learning(losses, load_file(args.checkpoint), draw, args.llc, seeds)
    names = {"study": args.study, "condition": args.condition, "step": args.step}
    rows = [names | {"seed": row.pop("model")} | row for row in estimates.rows]
    columns = list(SORTING["sorting_llc"])
    write_table("sorting_llc", [{column: row[column] for column in columns} for row in rows], args.table)


if __name__ == "__main__":
    recorded(main)
