"""What analysis and figures need to know of a study beside their tables."""

from pydantic import Field

from heuristic_core.config.blocks import Block
from heuristic_core.experiments.heuristic_core.config.analysis import Counterpart, Mixed, Order, Rule
from heuristic_core.experiments.heuristic_core.config.study import Study

# The keys of the configuration that its fields are made from.
KEYS = {
    "mid": "grid.mid",
    "high": "grid.high",
    "last": "finetune.checkpoints",
    "seeds": "grid.seeds",
    "curve_seeds": "grid.curve_seeds",
    "checkpoints": "grid.checkpoints",
    "repeats": "grid.repeats",
    "margin": "analysis.margin",
    "size_rule": "analysis.effective_size",
    "size_order": "analysis.size_order",
    "mixed": "analysis.mixed",
    "early": "grid.early.checkpoint",
    "early_seeds": "grid.early.seeds",
    "subsets": "analysis.subsets",
    "lesions": "lesion",
    "pretraining": "model.pretraining",
    "parts": "mechanism",
    "entry": "mechanism.entry.checkpoints",
    "entry_seeds": "mechanism.entry.seeds",
    "counterpart": "counterpart",
}


class Context(Block):
    """mid, high: the two sparsities of the spread. last: the last kept step. seeds: pruning seeds of the spread.

    curve_seeds: pruning seeds of the accuracy curves and of effective size, curve_repeat: which of their runs (0 but
    for published results, whose curves are runs of their own). checkpoints: steps of effective size.
    repeats: pruning seeds that ran twice. early, early_seeds: the early checkpoint
    and its pruning seeds, if the study has them. margin: points. size_rule, size_order, mixed: which effective size is
    shown and judged, as in the block `analysis`. subsets: those that enter group means; None for all.
    lesions: names of the lesioned fine-tuning runs, if the study has them. pretraining: steps of pre-training at which
    it is measured, if the study has one.
    parts: of the block `mechanism`, those that the study has. entry, entry_seeds: steps and pruning seeds of its part
    `entry`.
    counterpart: the paper's experiment that it repeats.
    """

    mid: float
    high: float
    last: int
    seeds: tuple[int, ...] = ()
    curve_seeds: tuple[int, ...] = ()
    curve_repeat: int = 0
    checkpoints: tuple[int, ...] = ()
    repeats: tuple[int, ...] = ()
    margin: float | None = None
    # Without the defaults, so that the settings of jobs whose study says nothing of them remain what they were.
    size_rule: Rule = Field("interpolated", exclude_if=lambda rule: rule == "interpolated")
    size_order: Order = Field("per-seed", exclude_if=lambda order: order == "per-seed")
    mixed: Mixed = Field("groups", exclude_if=lambda mixed: mixed == "groups")
    early: int | None = None
    early_seeds: tuple[int, ...] = ()
    subsets: tuple[str, ...] | None = None
    lesions: tuple[str, ...] = ()
    pretraining: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    entry: tuple[int, ...] = ()
    entry_seeds: tuple[int, ...] = ()
    counterpart: Counterpart = Counterpart()

    @classmethod
    def of(cls, study: Study) -> "Context":
        grid, analysis, entry = study.grid, study.analysis, study.mechanism.entry
        return cls(
            mid=grid.mid,
            high=grid.high,
            last=study.last_checkpoint,
            seeds=tuple(grid.seeds),
            curve_seeds=tuple(grid.curve_seeds),
            checkpoints=tuple(grid.checkpoints),
            repeats=tuple(grid.repeats),
            margin=analysis.margin,
            size_rule=analysis.effective_size,
            size_order=analysis.size_order,
            mixed=analysis.mixed,
            early=grid.early.checkpoint if grid.early else None,
            early_seeds=tuple(grid.early.seeds) if grid.early else (),
            subsets=tuple(analysis.subsets) if analysis.subsets else None,
            lesions=study.lesion.names if study.lesion else (),
            pretraining=study.pretraining.measured if study.pretraining else (),
            parts=study.mechanism.parts,
            entry=tuple(entry.checkpoints) if entry else (),
            entry_seeds=tuple(entry.seeds) if entry else (),
            counterpart=study.counterpart,
        )
