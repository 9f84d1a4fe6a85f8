"""Work of jobs that run models: passes, tokens, floating-point operations.

Operations are the matrix products of weights and of attention, over real tokens; the measured throughput accounts for
padding, softmax etc. A backward pass costs two forward passes if weights are trained, one if only gates are.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

from heuristic_core.config.blocks import Finetune
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import (
    assign_draws,
    list_ablations,
    make_joint_sets,
    make_single_sets,
)
from heuristic_core.experiments.subnetworks.analysis.completeness_sets import make_completeness_sets
from heuristic_core.experiments.subnetworks.analysis.mediation import plan_mediation
from heuristic_core.experiments.subnetworks.analysis.path_effects import PARTS, list_senders
from heuristic_core.experiments.subnetworks.analysis.triples import choose_triples
from heuristic_core.experiments.subnetworks.config import Study
from heuristic_core.experiments.subnetworks.config.analysis import COUNTERFACTUAL
from heuristic_core.experiments.subnetworks.config.cells import (
    Cell,
    list_cells,
    pruned_steps,
    repeated_cells,
    spread_cells,
)
from heuristic_core.experiments.subnetworks.plan.pairs import StudyPairs
from heuristic_core.models.components import ComponentGrid
from heuristic_core.plan.devices import PASSES, Work
from heuristic_core.plan.shapes import Shape

FINETUNING_EVALUATION = "evaluation in passing"  # predictions are in one file only
PRETRAINING = "pre-training"
# Additional cost, in passes, of a model with head activations of other pairs: one pass on these pairs, and all
# positions of all layers in both. Measured: 1.9 for the miniature, 1.6 for MiniLM's shape.
DONOR_PASSES, DONOR_PASS_COST = "activations on other pairs", 1.75
COUNTERFACTUALS = "counterfactual ablations"  # only of pairs with a minimal pair
# In the paper the core is nine of BERT's 144 heads; with few pruning seeds, other heads are shared by chance.
# Actual and estimated sizes: MiniLM (72 heads) at 50 %, four seeds 11 and 9, three seeds 10 and 13; the miniature
# (32 heads) at 40 %, three seeds 5 and 8.
CORE_SHARE = 1 / 16


def estimate_work(study: Study, shape: Shape, data: StudyPairs) -> list[Work]:
    """Return all work with models, in the order of the workflow.

    Args:
        study: The study.
        shape: Sizes of its model.
        data: Sizes of its sets of pairs.
    """
    grid, runs, last = list_cells(study) + repeated_cells(study), len(study.finetune.seeds), spread_cells(study)
    tune, prune = study.finetune, study.prune
    evaluations = count_finetuning_evaluations(tune)
    samples = (prune.mean_examples or data.train.pairs) + (prune.pairs_needed or data.train.pairs)
    steps = sum(prune.total_steps(cell.sparsity) for cell in grid)
    controls = [*last, *(Cell(0, sparsity, 0) for sparsity in (study.grid.mid, study.grid.high))]
    length, evaluated = data.train.mean, data.evaluation.pairs
    subsampled_pairs = min(evaluated, (study.analysis.ablation_pairs or evaluated) * data.subsets)

    def work(name, rules, engine, times, pairs, tokens_a_pair, kept=1.0) -> Work:
        flops = pairs * tokens_a_pair * shape.flops_per_token(tokens_a_pair) * PASSES[engine] * kept
        execution = prune.engine if engine == "prune" else "eager"
        tokens = runs * pairs * tokens_a_pair
        return Work(name, rules, engine, runs * times, runs * pairs, tokens, runs * flops, execution)

    def evaluation(name, rules, models: int, kept: float = 1.0, pairs: int = evaluated) -> Work:
        return work(name, rules, "evaluate", models, models * pairs, data.evaluation.mean, kept)

    def tuning(prefix, rules, models: int) -> list[Work]:
        steps = models * tune.steps
        return [
            work(f"{prefix}fine-tuning", rules, "finetune", steps, steps * tune.batch_size, length),
            evaluation(f"{prefix}{FINETUNING_EVALUATION}", rules, models * evaluations),
        ]

    def pretraining() -> Work:
        """Return the work of pre-training, with pairs about as long as the task's."""
        settings = study.pretraining
        pairs = settings.steps * settings.batch_size
        flops = pairs * length * shape.flops_per_token(length) * PASSES["finetune"]
        return Work(PRETRAINING, ("pretrain",), "finetune", settings.steps, pairs, pairs * length, flops)

    def further_runs() -> list[Work]:
        """Return the work with heads closed; one round of packing, as most models have no second subnetwork."""
        part, mid, high = study.mechanism.core_free, study.grid.mid, study.grid.high
        count, round_ = len(part.runs), 1 + part.packing_controls
        closed, packed = count * prune.total_steps(mid), round_ * prune.total_steps(high)
        return [
            work("pruning with heads closed", ("prune_closed",), "prune", closed, closed * prune.batch_size, length),
            evaluation("subnetworks with heads closed", ("core_free",), 1 + count + len(study.grid.seeds), 1 - mid),
            work("pruning side by side", ("packing",), "prune", packed, packed * prune.batch_size, length),
            evaluation("subnetworks side by side", ("packing",), 2 + round_, 1 - high),
        ]

    def transplant_work() -> Work:
        """Return the work of transplants: masks of every checkpoint in every checkpoint, and full models."""
        steps, limit = len(study.grid.checkpoints), study.mechanism.transplant.pairs
        models = steps * (steps * len(study.grid.curve_seeds) + 1)
        pairs, kept = min(evaluated, (limit or evaluated) * data.subsets), 1 - study.grid.mid
        return evaluation("transplants", ("transplant",), models, kept, pairs)

    checkpoints, by_kind = len(pruned_steps(study)), count_ablations(study, shape)
    resampled, counterfactual = by_kind["resample"], by_kind.pop(COUNTERFACTUAL, 0) * study.has_families
    outside = evaluated - sum(data.in_domain_sizes)  # upper bound of pairs with a minimal pair
    outside = min(outside, (study.analysis.ablation_pairs or outside) * (data.subsets - len(data.in_domain_sizes)))
    donors, donor_pairs = resampled + counterfactual, resampled * subsampled_pairs + counterfactual * outside
    return [
        *([pretraining()] if study.pretraining else []),
        *tuning("", ("finetune",), 1),
        *(tuning("lesioned ", ("lesion",), len(study.lesion.names)) if study.lesion else []),
        work("means and logits", ("full_model",), "evaluate", checkpoints, checkpoints * samples, length),
        evaluation("full models", ("full_model",), checkpoints),
        work("pruning", ("prune", "prune_again"), "prune", steps, steps * prune.batch_size, length),
        evaluation("subnetworks", ("evaluate", "evaluate_again"), len(grid), _mean_kept_share(grid)),
        evaluation("empty circuits", ("empty_circuit",), len(study.grid.checkpoints), 0.0),
        evaluation("ablations", ("ablate",), sum(by_kind.values()), pairs=subsampled_pairs),
        *([evaluation(COUNTERFACTUALS, ("ablate",), counterfactual, pairs=outside)] if counterfactual else []),
        *(
            [work(DONOR_PASSES, ("ablate",), "evaluate", donors, donor_pairs, length, DONOR_PASS_COST)]
            if donors
            else []
        ),
        evaluation("controls", ("evaluate_controls",), len(controls), _mean_kept_share(controls)),
        *(further_runs() if study.mechanism.core_free else []),
        *([transplant_work()] if study.mechanism.transplant else []),
        *_mask_work(study, shape, data, evaluation),
        *(
            evaluation(part, (part,), models, pairs=min(evaluated, (pairs or evaluated) * data.subsets))
            for part, (models, pairs) in _intervention_models(study, shape).items()
        ),
    ]


def _mask_work(study: Study, shape: Shape, data: StudyPairs, evaluation: Callable[..., Work]) -> Iterator[Work]:
    """Yield the work of random masks and of interpolation between two subnetworks that overlap like random ones."""
    kept, learned, parts = 1 - study.grid.mid, len(study.grid.seeds), study.mechanism

    def subsampled_pairs(limit: int | None, subsets: int, pairs: int) -> int:
        return min(pairs, (limit or pairs) * subsets)

    evaluated = data.evaluation.pairs
    if masks := parts.masks:
        pairs = subsampled_pairs(
            masks.pairs, data.subsets - len(data.in_domain_sizes), evaluated - sum(data.in_domain_sizes)
        )
        pairs += sum(min(size, masks.id_pairs or size) for size in data.in_domain_sizes)
        yield evaluation("masks", ("masks",), masks.count + learned, kept, pairs)
    if between := parts.interpolation:
        differing = round(kept * (1 - kept) * shape.layers * (shape.heads + 1))
        models = learned + differing + differing * (differing + 1)
        yield evaluation(
            "interpolation", ("interpolation",), models, kept, subsampled_pairs(between.pairs, data.subsets, evaluated)
        )


def _intervention_models(study: Study, shape: Shape) -> dict[str, tuple[int, int | None]]:
    """Return patched models of one fine-tuning seed and pairs of each subset (None: all), by part of `mechanism`.

    Assumes as many counter-heuristic heads as core heads; savings from shared first layers are not counted.
    """
    grid, core, work_by_part = ComponentGrid(shape.layers, shape.heads), _expected_core(study, shape), {}
    if part := study.mechanism.mediation:
        later = range(shape.heads, shape.layers * shape.heads)
        cores = plan_mediation(core, later[: len(core)], grid, part.random_sets, study.analysis.seed)
        work_by_part["mediation"] = 1 + sum(1 + 2 * len(control.sets) for control in cores), part.pairs
    if part := study.mechanism.paths:
        all_senders = chain(*list_senders(core, grid, part.random_senders, study.analysis.seed))
        work_by_part["paths"] = sum(4 + len(PARTS) * len(sender.receivers) for sender in all_senders), part.pairs
    return work_by_part


def count_finetuning_evaluations(tune: Finetune) -> int:
    """Return the evaluations of one fine-tuning run: before the first step, at every interval, at the end."""
    return 1 + -(-tune.steps // tune.evaluate_every)


def ablation_count(study: Study, shape: Shape) -> int:
    """Return the number of ablated models of one fine-tuning seed, for a core spread over all layers.

    Args:
        study: The study.
        shape: Sizes of its model.
    """
    return sum(count_ablations(study, shape).values())


def count_ablations(study: Study, shape: Shape) -> Counter:
    """Count the ablated models of one fine-tuning seed by kind of ablation.

    Args:
        study: The study.
        shape: Sizes of its model.
    """
    grid, analysis = ComponentGrid(shape.layers, shape.heads), study.analysis
    heads, core = shape.layers * shape.heads, _expected_core(study, shape)
    draws = analysis.control_draws, analysis.pair_control_draws
    no_effect = dict.fromkeys(range(heads), 0.0)
    joint = make_joint_sets(core, no_effect, grid, *draws, analysis.seed)
    sets = (
        make_single_sets(core, grid)
        + joint
        + choose_triples(core, no_effect, grid, analysis.control_draws, analysis.seed)
    )
    stable = core[:-1] or core  # has sets of its own if it differs from the core
    sets += make_completeness_sets(core, stable, grid, analysis.control_draws, analysis.seed)
    models = assign_draws(list_ablations(sets, analysis.ablation_kinds), analysis.resample_draws)
    return Counter(kind if head_set.heads else "mean" for kind, head_set, _ in models)


def _expected_core(study: Study, shape: Shape) -> list[int]:
    """Return a core of the expected size, spread over all layers."""
    heads, grid = shape.layers * shape.heads, study.grid
    by_chance = (1 - CORE_SHARE) * (1 - grid.high) ** len(grid.seeds)
    size = max(1, round(heads * (CORE_SHARE + by_chance)))
    return [k * heads // size for k in range(size)]


def _mean_kept_share(grid: list[Cell]) -> float:
    """Return the mean share of components that subnetworks keep."""
    return 1 - sum(cell.sparsity for cell in grid) / len(grid)
