"""What the jobs of a study that run models compute: passes, tokens, floating-point operations.

Products with weights and attention's own are counted over real tokens; padding, softmax and the like are left to the
throughput. Backward passes cost twice a forward pass where weights learn, once where gates alone do.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain

from heuristic_core.config.blocks import Finetune
from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import (
    ablated,
    joint_sets,
    single_sets,
    with_draws,
)
from heuristic_core.experiments.heuristic_core.analysis.completeness_sets import completeness_sets
from heuristic_core.experiments.heuristic_core.analysis.mediation import plan
from heuristic_core.experiments.heuristic_core.analysis.path_effects import PARTS, senders
from heuristic_core.experiments.heuristic_core.analysis.triples import triple_sets
from heuristic_core.experiments.heuristic_core.config import Study
from heuristic_core.experiments.heuristic_core.config.analysis import COUNTERFACTUAL
from heuristic_core.experiments.heuristic_core.config.cells import Cell, cells, repeats, spread
from heuristic_core.experiments.heuristic_core.plan.pairs import StudyPairs
from heuristic_core.models.components import ComponentGrid
from heuristic_core.plan.devices import PASSES, Work
from heuristic_core.plan.shapes import Shape

IN_PASSING = "evaluation in passing"  # whose predictions are in one file alone
PRETRAINING = "pre-training"
# What a model with heads of other pairs takes beside its own pass, in passes: one on these pairs, and every row of all
# layers in both. Measured: 1.9 of the miniature, 1.6 of MiniLM's shape.
DONORS, OF_OTHERS = "activations on other pairs", 1.75
EXCHANGED = "counterfactual ablations"  # of the pairs that have a minimal pair alone
# Of all heads, nine of BERT's 144 are the core. How large a study's core is shows only at its end: few pruning seeds
# share others by chance. Cores of MiniLM's 72 heads: 11 of four seeds at 50 %, 10 of three; so estimated, 9 and 13. Of
# the miniature's 32 heads: 5 of three seeds at 40 %; so estimated, 8.
CORE_SHARE = 1 / 16


def work_of(study: Study, shape: Shape, data: StudyPairs) -> list[Work]:
    """All that a study computes with models, in the order of the workflow."""
    grid, runs, last = cells(study) + repeats(study), len(study.finetune.seeds), spread(study)
    tune, prune = study.finetune, study.prune
    passing = evaluations_in_passing(tune)
    samples = (prune.mean_examples or data.train.pairs) + (prune.pairs_needed or data.train.pairs)
    steps = sum(prune.steps_at(cell.sparsity) for cell in grid)
    controls = [*last, *(Cell(0, sparsity, 0) for sparsity in (study.grid.mid, study.grid.high))]
    length, evaluated = data.train.mean, data.evaluation.pairs
    thinned = min(evaluated, (study.analysis.ablation_pairs or evaluated) * data.subsets)

    def work(name, rules, engine, times, pairs, tokens_a_pair, kept=1.0) -> Work:
        flops = pairs * tokens_a_pair * shape.forward(tokens_a_pair) * PASSES[engine] * kept
        return Work(name, rules, engine, runs * times, runs * pairs, runs * pairs * tokens_a_pair, runs * flops)

    def evaluation(name, rules, models: int, kept: float = 1.0, pairs: int = evaluated) -> Work:
        return work(name, rules, "evaluate", models, models * pairs, data.evaluation.mean, kept)

    def tuning(prefix, rules, models: int) -> list[Work]:
        steps = models * tune.steps
        return [
            work(f"{prefix}fine-tuning", rules, "finetune", steps, steps * tune.batch_size, length),
            evaluation(f"{prefix}{IN_PASSING}", rules, models * passing),
        ]

    def pretraining() -> Work:
        """Of the model itself, whose pairs are about as long as those of the task."""
        settings = study.pretraining
        pairs = settings.steps * settings.batch_size
        flops = pairs * length * shape.forward(length) * PASSES["finetune"]
        return Work(PRETRAINING, ("pretrain",), "finetune", settings.steps, pairs, pairs * length, flops)

    def further_runs() -> list[Work]:
        """With heads closed; of packing one round, as most models have no second subnetwork."""
        part, mid, high = study.mechanism.core_free, study.grid.mid, study.grid.high
        count, round_ = len(part.runs), 1 + part.packing_controls
        closed, packed = count * prune.steps_at(mid), round_ * prune.steps_at(high)
        return [
            work("pruning with heads closed", ("prune_closed",), "prune", closed, closed * prune.batch_size, length),
            evaluation("subnetworks with heads closed", ("core_free",), 1 + count + len(study.grid.seeds), 1 - mid),
            work("pruning side by side", ("packing",), "prune", packed, packed * prune.batch_size, length),
            evaluation("subnetworks side by side", ("packing",), 2 + round_, 1 - high),
        ]

    def transplanted() -> Work:
        """Masks of every checkpoint at every checkpoint, and full models."""
        steps, thin = len(study.grid.checkpoints), study.mechanism.transplant.pairs
        models = steps * (steps * len(study.grid.curve_seeds) + 1)
        pairs, kept = min(evaluated, (thin or evaluated) * data.subsets), 1 - study.grid.mid
        return evaluation("transplants", ("transplant",), models, kept, pairs)

    checkpoints, by_kind = len(tune.checkpoints), ablations(study, shape)
    resampled, exchanged = by_kind["resample"], by_kind.pop(COUNTERFACTUAL, 0) * study.has_families
    outside = evaluated - sum(data.in_domain)  # at most so many pairs have a minimal pair
    outside = min(outside, (study.analysis.ablation_pairs or outside) * (data.subsets - len(data.in_domain)))
    donors, of_donors = resampled + exchanged, resampled * thinned + exchanged * outside
    return [
        *([pretraining()] if study.pretraining else []),
        *tuning("", ("finetune",), 1),
        *(tuning("lesioned ", ("lesion",), len(study.lesion.names)) if study.lesion else []),
        work("means and logits", ("full_model",), "evaluate", checkpoints, checkpoints * samples, length),
        evaluation("full models", ("full_model",), checkpoints),
        work("pruning", ("prune", "prune_again"), "prune", steps, steps * prune.batch_size, length),
        evaluation("subnetworks", ("evaluate", "evaluate_again"), len(grid), _kept(grid)),
        evaluation("empty circuits", ("empty_circuit",), len(study.grid.checkpoints), 0.0),
        evaluation("ablations", ("ablate",), sum(by_kind.values()), pairs=thinned),
        *([evaluation(EXCHANGED, ("ablate",), exchanged, pairs=outside)] if exchanged else []),
        *([work(DONORS, ("ablate",), "evaluate", donors, of_donors, length, OF_OTHERS)] if donors else []),
        evaluation("controls", ("evaluate_controls",), len(controls), _kept(controls)),
        *(further_runs() if study.mechanism.core_free else []),
        *([transplanted()] if study.mechanism.transplant else []),
        *_between(study, shape, data, evaluation),
        *(
            evaluation(part, (part,), models, pairs=min(evaluated, (pairs or evaluated) * data.subsets))
            for part, (models, pairs) in _interventions(study, shape).items()
        ),
    ]


def _between(study: Study, shape: Shape, data: StudyPairs, evaluation: Callable[..., Work]) -> Iterator[Work]:
    """Random masks, and what is between two learned subnetworks, of which each lacks the share of random ones."""
    kept, learned, parts = 1 - study.grid.mid, len(study.grid.seeds), study.mechanism

    def thinned(limit: int | None, subsets: int, pairs: int) -> int:
        return min(pairs, (limit or pairs) * subsets)

    every = data.evaluation.pairs
    if masks := parts.masks:
        pairs = thinned(masks.pairs, data.subsets - len(data.in_domain), every - sum(data.in_domain))
        pairs += sum(min(size, masks.id_pairs or size) for size in data.in_domain)
        yield evaluation("masks", ("masks",), masks.count + learned, kept, pairs)
    if between := parts.interpolation:
        apart = round(kept * (1 - kept) * shape.layers * (shape.heads + 1))
        models = learned + apart + apart * (apart + 1)
        yield evaluation("interpolation", ("interpolation",), models, kept, thinned(between.pairs, data.subsets, every))


def _interventions(study: Study, shape: Shape) -> dict[str, tuple[int, int | None]]:
    """Of parts of the block `mechanism`: patched models of one fine-tuning seed, and pairs of each subset (None: all).

    As many heads as the core has are taken to work against the heuristic. That runs begin alike is not counted.
    """
    grid, core, found = ComponentGrid(shape.layers, shape.heads), _core(study, shape), {}
    if part := study.mechanism.mediation:
        later = range(shape.heads, shape.layers * shape.heads)
        cores = plan(core, later[: len(core)], grid, part.random_sets, study.analysis.seed)
        found["mediation"] = 1 + sum(1 + 2 * len(one.sets) for one in cores), part.pairs
    if part := study.mechanism.paths:
        every = chain(*senders(core, grid, part.random_senders, study.analysis.seed))
        found["paths"] = sum(4 + len(PARTS) * len(one.receivers) for one in every), part.pairs
    return found


def evaluations_in_passing(tune: Finetune) -> int:
    """Of one fine-tuning run: before the first step, at every interval, and at the end."""
    return 1 + -(-tune.steps // tune.evaluate_every)


def ablation_count(study: Study, shape: Shape) -> int:
    """Ablated models of one fine-tuning seed, if its core is spread over all layers."""
    return sum(ablations(study, shape).values())


def ablations(study: Study, shape: Shape) -> Counter:
    """The same by kind."""
    grid, analysis = ComponentGrid(shape.layers, shape.heads), study.analysis
    heads, core = shape.layers * shape.heads, _core(study, shape)
    draws = analysis.control_draws, analysis.pair_control_draws
    none = dict.fromkeys(range(heads), 0.0)
    joint = joint_sets(core, none, grid, *draws, analysis.seed)
    sets = single_sets(core, grid) + joint + triple_sets(core, none, grid, analysis.control_draws, analysis.seed)
    stable = core[:-1] or core  # which has sets of its own where it differs from the core
    sets += completeness_sets(core, stable, grid, analysis.control_draws, analysis.seed)
    every = with_draws(ablated(sets, analysis.ablation_kinds), analysis.resample_draws)
    return Counter(kind if one.heads else "mean" for kind, one, _ in every)


def _core(study: Study, shape: Shape) -> list[int]:
    """A core of the size that is expected, spread over all layers."""
    heads, grid = shape.layers * shape.heads, study.grid
    by_chance = (1 - CORE_SHARE) * (1 - grid.high) ** len(grid.seeds)
    size = max(1, round(heads * (CORE_SHARE + by_chance)))
    return [k * heads // size for k in range(size)]


def _kept(grid: list[Cell]) -> float:
    """The mean share of components that is left of subnetworks."""
    return 1 - sum(cell.sparsity for cell in grid) / len(grid)
