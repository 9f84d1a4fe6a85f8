"""Settings of a study that analyses and figures need besides their tables."""

from pydantic import Field

from heuristic_core.config.blocks import Block
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.subset_names import GENERATED_NAMES, HANS_NAMES
from heuristic_core.experiments.subnetworks.config.analysis import Counterpart, Mixed, Order, Rule
from heuristic_core.experiments.subnetworks.config.study import Study

# Field of Context -> key of the configuration that it comes from.
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
    "names": "analysis.names",
    "lesions": "lesion",
    "pretraining": "model.pretraining",
    "parts": "mechanism",
    "entry": "mechanism.entry.checkpoints",
    "entry_seeds": "mechanism.entry.seeds",
    "counterpart": "counterpart",
}


def default_names(study: Study) -> dict[str, str]:
    """Return readable names of the study's subsets, as far as they are known."""
    if isinstance(study.task, GeneratedTask):
        return GENERATED_NAMES[study.task.language]
    return HANS_NAMES if study.has_families else {}


class Context(Block):
    """Settings of a study for analyses and figures.

    Attributes:
        mid: Lower sparsity of the spread, 0-1.
        high: Higher sparsity of the spread, 0-1.
        last: Step of the last kept checkpoint.
        seeds: Pruning seeds of the spread.
        curve_seeds: Pruning seeds of accuracy curves and effective size.
        curve_repeat: Number of their runs; 0 except for published results, whose curves are separate runs.
        checkpoints: Steps at which effective size is measured.
        repeats: Pruning seeds that ran twice.
        margin: Margin of faithfulness, in points.
        size_rule: As `analysis.effective_size`.
        size_order: As `analysis.size_order`.
        mixed: As `analysis.mixed`.
        early: Step of the early checkpoint, if any.
        early_seeds: Its pruning seeds.
        subsets: Subsets that enter group means; None for all.
        names: Subset -> its name in figures and tables; other subsets keep theirs.
        lesions: Names of the lesioned fine-tuning runs.
        pretraining: Steps of pre-training on pairs with measurements.
        parts: Parts of the block `mechanism` that the study has.
        entry: Steps of part `entry`.
        entry_seeds: Pruning seeds of part `entry`.
        counterpart: The experiment of the paper that the study repeats.
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
    # Defaults are left out of the settings of jobs, so that studies with them do not rerun.
    size_rule: Rule = Field("interpolated", exclude_if=lambda rule: rule == "interpolated")
    size_order: Order = Field("per-seed", exclude_if=lambda order: order == "per-seed")
    mixed: Mixed = Field("groups", exclude_if=lambda mixed: mixed == "groups")
    early: int | None = None
    early_seeds: tuple[int, ...] = ()
    subsets: tuple[str, ...] | None = None
    names: dict[str, str] = Field({}, exclude_if=lambda names: not names)
    lesions: tuple[str, ...] = ()
    pretraining: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    entry: tuple[int, ...] = ()
    entry_seeds: tuple[int, ...] = ()
    counterpart: Counterpart = Counterpart()

    @classmethod
    def from_study(cls, study: Study) -> "Context":
        """Return the context of a study."""
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
            names=default_names(study) | analysis.names,
            lesions=study.lesion.names if study.lesion else (),
            pretraining=study.pretraining.measure_steps if study.pretraining and study.task.sentence_count == 2 else (),
            parts=study.mechanism.parts,
            entry=tuple(entry.checkpoints) if entry else (),
            entry_seeds=tuple(entry.seeds) if entry else (),
            counterpart=study.counterpart,
        )
