"""The halves of heads that one condition's models need."""

from safetensors.torch import load_file

from heuristic_core.common.progress import Progress
from heuristic_core.common.roles import Input, Output, require_same_length
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.halves import compute_corners, compute_half_means
from heuristic_core.experiments.list_sorting.pruning import mask_rows, subset_rows
from heuristic_core.experiments.list_sorting.study import select_trained_steps
from heuristic_core.tables.parquet import write_table


def prune_halves(
    checkpoints: list[Input],
    sorting: ListSorting,
    prune: PruneRuns,
    study: str,
    condition: str,
    subsets: Output,
    masks: Output,
) -> None:
    """Find the halves of heads that the models of one condition need: all subsets, and subsets that gates learn.

    Args:
        checkpoints: Weights (safetensors), a file for each kept step.
        sorting: Data, model and training of the condition.
        prune: Settings of pruning.
        study: Name of the study.
        condition: Name of the condition.
        subsets: Where to write the measures of all subsets, table sorting_subsets.
        masks: Where to write the learned subsets, table sorting_masks.
    """
    kept, gate_steps = sorting.training.kept, select_trained_steps(sorting.training, prune.checkpoints)
    require_same_length(**{"sorting.training.kept": kept, "checkpoints": checkpoints})
    drawn = draw_lists(sorting.data)
    tokens = make_sequences(drawn.held_out[: prune.lists], sorting.data)
    training = make_sequences(drawn.train[: prune.training_lists], sorting.data)
    subset_table, mask_table, progress = [], [], Progress("prune", len(kept))
    for number, (step, checkpoint) in enumerate(zip(kept, checkpoints, strict=True), 1):
        weights = load_file(checkpoint)
        for m, seed in enumerate(sorting.training.seeds):
            names = {"study": study, "condition": condition, "seed": seed, "step": step}
            model = {name: value[m : m + 1] for name, value in weights.items()}
            means = compute_half_means(model, training)
            held_out = compute_corners(model, tokens, means)
            exact = subset_rows(model, held_out, tokens)
            subset_table += [names | row for row in exact]
            if step in gate_steps:
                pool = compute_corners(model, training, means)
                mask_table += [names | row for row in mask_rows(model, pool, held_out, tokens, exact, prune)]
        progress.update(number)
    write_table("sorting_subsets", subset_table, subsets)
    write_table("sorting_masks", mask_table, masks)
