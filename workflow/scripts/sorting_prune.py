"""Find the halves of heads that the models of one condition need: all subsets, and subsets that gates learn."""

from safetensors.torch import load_file

from heuristic_core.common.progress import Progress
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.data import lists, sequences
from heuristic_core.experiments.list_sorting.halves import corners, half_means
from heuristic_core.experiments.list_sorting.pruning import mask_rows, subset_rows
from heuristic_core.experiments.list_sorting.study import trained
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.settings("sorting", ListSorting)
    parser.settings("prune", PruneRuns)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.add_argument("--condition", required=True, help="name of the condition")
    parser.reads("+", checkpoints="weights, a file for each kept step")
    parser.writes(subsets="where to write table sorting_subsets", masks="where to write table sorting_masks")
    parser.one_each("sorting.training.kept", "checkpoints")
    args = parser.read(arguments)
    use_threads(1)
    study, settings, kept = args.sorting, args.prune, args.sorting.training.kept
    drawn, gate_steps = lists(study.data), trained(study.training, settings.checkpoints)
    tokens = sequences(drawn.held_out[: settings.lists], study.data)
    training = sequences(drawn.train[: settings.training_lists], study.data)
    subsets, masks, progress = [], [], Progress("prune", len(kept))
    for number, (step, path) in enumerate(zip(kept, args.checkpoints, strict=True), 1):
        weights = load_file(path)
        for m, seed in enumerate(study.training.seeds):
            names = {"study": args.study, "condition": args.condition, "seed": seed, "step": step}
            model = {name: value[m : m + 1] for name, value in weights.items()}
            means = half_means(model, training)
            held_out = corners(model, tokens, means)
            exact = subset_rows(model, held_out, tokens)
            subsets += [names | row for row in exact]
            if step in gate_steps:
                pool = corners(model, training, means)
                masks += [names | row for row in mask_rows(model, pool, held_out, tokens, exact, settings)]
        progress.at(number)
    write_table("sorting_subsets", subsets, args.subsets)
    write_table("sorting_masks", masks, args.masks)


if __name__ == "__main__":
    recorded(main)
