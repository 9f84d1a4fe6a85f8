"""Whether a study's schedule of pruning lets gates reach their targets, tried before anything runs."""

from collections.abc import Iterator
from textwrap import fill

from heuristic_core.experiments.heuristic_core.analysis.runs import END, off_target
from heuristic_core.experiments.heuristic_core.config import Study
from heuristic_core.plan.shapes import Shape

SEEDS = range(12)
LONGEST = 2000  # steps of a schedule that is tried, a second for each sparsity; the presets are longer, and measured
ADVICE = (
    "Runs that miss their target are reported, and claims that rest on them are undecided. Measured to suit targets of "
    "20 to 80 %: rise 300, hold 300, log_alpha_mean 2.0, learning_rate 0.2, controller_learning_rate 0.1, warmup_steps "
    "10, decay from-start (config.yaml: 15 of 160 runs missed). With 300 to 450 steps, a controller_learning_rate of "
    "0.5 misses less often, at the cost of the subnetwork; 200 steps or fewer do not suffice. The paper's 9,300 steps "
    "at a log_alpha_mean of 10 are in config/pruning/default.yaml. See docs/pruning.md, A schedule for a new model."
)


def warning(study: Study, shape: Shape) -> str | None:
    """What to know of the schedule before a run, for the terminal; None where most gates are near their targets.

    Of gates by themselves, in a model that would lose nothing by pruning: a real model's gates have to give way, too.
    """
    said = list(_misses(study, shape))
    if not said:
        return None
    text = (
        "Warning: the block prune has too few steps, or rates that do not fit them. In a trial of gates without a "
        f"model, {'; '.join(said)}. {ADVICE}"
    )
    return fill(text, 118, break_on_hyphens=False)


def _misses(study: Study, shape: Shape) -> Iterator[str]:
    """For each sparsity at which most gates miss it, where they end."""
    size = shape.layers * (shape.heads + 1)
    for sparsity in study.grid.sparsities:
        steps = study.prune.steps_at(sparsity)
        if steps > LONGEST or study.prune.controller != "sampled":  # runs are judged by sampled gates alone
            continue
        from heuristic_core.pruning.trial import gates_alone  # loads torch

        ends = gates_alone(study.prune, size, sparsity, SEEDS, END)
        if 2 * sum(off_target(sparsity - end, size) for end in ends) > len(ends):
            yield f"{steps} steps towards {100 * sparsity:g} % end at {100 * min(ends):.1f} to {100 * max(ends):.1f} %"
