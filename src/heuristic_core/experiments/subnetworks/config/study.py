"""Configuration of a study: all blocks, and the checks across them."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from heuristic_core.config.blocks import AUTO_PRECISION_TEXT, Block, Finetune, Name, PrecisionSetting
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.models import AnyModel, NewModel, Pretraining
from heuristic_core.config.pruning import Prune
from heuristic_core.config.reading import read_config, validate
from heuristic_core.config.requirements import DataRequirements
from heuristic_core.config.tasks import AnyTask, describe_unknown_subsets
from heuristic_core.experiments.subnetworks.config.analysis import COUNTERFACTUAL, Analysis, Counterpart, Figures
from heuristic_core.experiments.subnetworks.config.grid import Grid
from heuristic_core.experiments.subnetworks.config.lesion import Lesion
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism


class Study(Block):
    """A study: one model, one task, a grid of subnetworks, and settings of analyses and figures."""

    study: Name = Field(description="name of the study; its results are in <results>/<study>")
    results: str = Field(
        "results", pattern=r"^[\w./-]+$", description="folder of all results, relative to the working directory"
    )
    device: Literal["cpu", "cuda"] = Field("cpu", description="device that runs models: the CPU or one NVIDIA GPU")
    precision: PrecisionSetting = Field(
        "float32",
        description="precision of evaluation; `finetune` and `prune` have their own. " + AUTO_PRECISION_TEXT,
    )
    arithmetic: Literal["portable", "native"] = Field(
        "native",
        description="CPU instructions of jobs. portable: the same rounding on every x86-64 processor with AVX2, on one "
        "thread, in float32. native: the fastest instructions of the processor",
    )
    model: AnyModel = Field(description="what fine-tuning starts from: `source` chooses one of the two blocks below")
    task: AnyTask = Field(description="where sentence pairs come from: `source` chooses one of the two blocks below")
    finetune: Finetune
    prune: Prune
    grid: Grid
    lesion: Lesion | None = Field(None, description="default: no lesioned fine-tuning")
    mechanism: Mechanism = Mechanism()
    counterpart: Counterpart = Counterpart()
    analysis: Analysis = Analysis()
    figures: Figures = Figures()

    @model_validator(mode="after")
    def _check_across_blocks(self):
        kept, last = self.finetune.checkpoints, self.finetune.checkpoints[-1]
        for key, steps in (
            ("grid.checkpoints", self.grid.checkpoints),
            ("grid.early.checkpoint", [self.grid.early.checkpoint] if self.grid.early else []),
            ("mechanism.entry.checkpoints", self.mechanism.entry.checkpoints if self.mechanism.entry else []),
        ):
            if missing := [step for step in steps if step not in kept]:
                raise ValueError(f"{key}: {missing[0]} is not in finetune.checkpoints = {kept}; add it there")
        if last not in self.grid.checkpoints:
            raise ValueError(f"grid.checkpoints must contain the last of finetune.checkpoints, {last}")
        if isinstance(self.model, NewModel) and self.task.max_length > self.model.architecture.positions:
            raise ValueError(
                f"task.max_length = {self.task.max_length} exceeds model.architecture.positions = "
                f"{self.model.architecture.positions}; lower the former or raise the latter"
            )
        pairs = self.task.train_pairs
        for setting, need in self.pairs_needed.items():
            if pairs is not None and need > pairs:
                raise ValueError(
                    f"{setting} needs {need} training pairs, but task.train_pairs = {pairs}; lower the former or "
                    "raise the latter"
                )
        for sparsity in self.grid.sparsities:
            if (steps := self.prune.total_steps(sparsity)) < max(1, self.prune.warmup_steps):
                raise ValueError(
                    f"prune: rise and hold give {steps} steps at sparsity {sparsity}, but at least one is needed, and "
                    f"at least warmup_steps = {self.prune.warmup_steps}; raise the former or lower the latter"
                )
        self._check_sentences()
        self._check_competition()
        self._check_entry_seeds()
        self._check_engine()
        self._check_portable()
        self._check_vocabulary()
        self._check_groups()
        self._check_subsets()
        self._check_ablated_heads()
        self._check_ablation_kinds()
        return self

    def _check_sentences(self) -> None:
        """Check that settings fit a task of pairs, or of single sentences."""
        count = self.task.sentence_count
        for example in self.analysis.example_pairs or []:
            if len(example) != count:
                raise ValueError(
                    f"analysis.example_pairs: {example} must have as many sentences as the task's examples, {count}"
                )
        if count == 1 and self.lesion:
            raise ValueError(
                "lesion: it removes heads that attend to the same word in the other sentence, but the task has single "
                "sentences; remove the block"
            )

        if count == 1 and self.pretraining and self.pretraining.related != Pretraining.model_fields["related"].default:
            raise ValueError(
                f"model.pretraining.related = {self.pretraining.related}: text of single sentences has no related "
                "ones; remove the key"
            )

    def _check_competition(self) -> None:
        """Check that planted competition has counter-examples, and pairs that are none, to draw from."""
        if (competition := self.finetune.competition) is None:
            return
        key, task, batch = "finetune.competition", self.task, self.finetune.batch_size
        if not isinstance(task, GeneratedTask):
            raise ValueError(f"{key} needs a task with counter-examples, source: generated; remove the block")
        if task.random_labels:
            raise ValueError(f"{key} and task.random_labels exclude each other; remove one")
        if not 0 < task.counter_examples < 1:
            raise ValueError(
                f"{key} needs counter-examples and other pairs, but task.counter_examples = {task.counter_examples}; "
                "set a share between 0 and 1, or remove the block"
            )
        if not 0 < (count := competition.count(batch)) < batch:
            raise ValueError(
                f"{key}.counter_examples = {competition.counter_examples} makes {count} of finetune.batch_size = "
                f"{batch} pairs counter-examples; at least one pair must be, and one must not"
            )
        if isinstance(self.model, NewModel) and (heads := self.model.architecture.heads) % 2:
            raise ValueError(f"{key} needs an even number of heads in each layer; model.architecture.heads is {heads}")
        if self.lesion:
            raise ValueError(f"{key} and lesion exclude each other; remove one block")

    def _check_entry_seeds(self) -> None:
        """Check that part `entry` shares no seed with the grid: runs of one seed share batches and noise."""
        if self.mechanism.entry is None:
            return
        early = self.grid.early.seeds if self.grid.early else []
        for key, seeds in (("seeds", self.grid.seeds), ("curve_seeds", self.grid.curve_seeds), ("early.seeds", early)):
            if shared := [seed for seed in self.mechanism.entry.seeds if seed in seeds]:
                raise ValueError(
                    f"mechanism.entry.seeds: {shared[0]} is also in grid.{key}; choose seeds that are not in the grid"
                )

    def _check_engine(self) -> None:
        """Check that the device supports the engine."""
        if self.prune.engine == "graphs" and self.device != "cuda":
            raise ValueError(
                f"prune.engine = 'graphs' needs device = 'cuda', not {self.device!r}; set prune.engine = 'eager', or "
                "device = 'cuda'"
            )

    def _check_portable(self) -> None:
        """Check that portable arithmetic is not combined with settings that round differently elsewhere."""
        if self.arithmetic == "native":
            return
        blocks = {"finetune": self.finetune, "model.pretraining": self.pretraining, "prune": self.prune}
        required = [("device", self.device, "cpu"), ("precision", self.precision, "float32")]
        for name, block in blocks.items():
            required += [
                (f"{name}.{key}", getattr(block, key), right)
                for key, right in (("precision", "float32"), ("threads", 1), ("engine", "eager"))
                if hasattr(block, key)
            ]
        for key, value, right in required:
            if value != right:
                raise ValueError(
                    f"{key} = {value!r} does not give the same bytes on every processor, which arithmetic = 'portable' "
                    f"requires; set {key} = {right!r}, or arithmetic = 'native'"
                )

    def _check_ablated_heads(self) -> None:
        """Check that a new model has the heads to ablate."""
        shape = self.model.architecture if isinstance(self.model, NewModel) else None
        for name in (name for heads in self.analysis.ablation_sets for name in heads):
            layer, head = map(int, name.split("."))
            if shape and not (layer < shape.layers and head < shape.heads):
                last = f"{shape.layers - 1}.{shape.heads - 1}"
                raise ValueError(f"analysis.ablation_sets: unknown head {name!r}; the model has heads 0.0 to {last}")

    def _check_ablation_kinds(self) -> None:
        """Check that the first kind of ablation, which claims use, also applies to in-domain pairs."""
        if self.analysis.ablation_kinds[0] == COUNTERFACTUAL:
            raise ValueError(
                f"analysis.ablation_kinds = {self.analysis.ablation_kinds}: in-domain pairs have no minimal pair, and "
                "claims use the first kind; put 'mean', 'zero' or 'resample' before 'counterfactual'"
            )

    def _check_vocabulary(self) -> None:
        """Check that a new model has a vocabulary for the task."""
        if isinstance(self.model, NewModel) and not isinstance(self.task, GeneratedTask):
            raise ValueError(
                f"model.source = 'new' has no vocabulary for task {self.task.name!r}; set model.source = 'pretrained' "
                "or task.source = 'generated'"
            )

    def _check_subsets(self) -> None:
        """Check that the task has all requested subsets, if they are known."""
        known = self.task.subsets
        if known and (unknown := describe_unknown_subsets(self.requested_subsets, known)):
            raise ValueError(unknown[0])

    def _check_groups(self) -> None:
        """Check that there are in-domain and out-of-domain pairs, which every analysis compares."""
        if isinstance(self.task, GeneratedTask):
            return
        groups = set().union(*(split.groups for split in self.task.evaluation.values()))
        for group, pairs in (("id", "pairs like those of training"), ("ood", "pairs on which the shortcut is wrong")):
            if group not in groups:
                raise ValueError(
                    f"task.evaluation: no set has the group {group!r}, but a study compares in-domain with "
                    f"out-of-domain pairs; add a set of {pairs}, with `group: {group}`"
                )

    @property
    def has_families(self) -> bool:
        """Whether evaluation subsets have families, which contain the minimal pairs."""
        return isinstance(self.task, GeneratedTask) or any(split.family_by for split in self.task.evaluation.values())

    @property
    def requested_subsets(self) -> dict[str, list[str]]:
        """Requested evaluation subsets, by the key that names them."""
        lists = {"analysis": self.analysis.subsets} | {
            f"figures.{name}": figure.subsets for name, figure in self.figures
        }
        return {f"{key}.subsets": names for key, names in lists.items() if names}

    @property
    def requirements(self) -> DataRequirements:
        """Requirements on the data, for tasks from files."""
        return DataRequirements(self.pairs_needed, self.requested_subsets, ("id", "ood"))

    @property
    def pairs_needed(self) -> dict[str, int]:
        """Minimal number of training pairs, by the setting that needs them as messages name it."""
        prune, held_out = self.prune, self.prune.pairs_held_out
        needs = {}
        suffix = f" with prune.held_out = {held_out}" if held_out else ""
        if prune.examples is not None:
            needs[f"prune.examples = {prune.examples}{suffix}"] = prune.examples + held_out
        elif held_out:
            needs[f"prune.held_out = {held_out}"] = held_out + 1
        if prune.mean_examples is not None:
            needs[f"prune.mean_examples = {prune.mean_examples}"] = prune.mean_examples
        return needs | {f"finetune.batch_size = {self.finetune.batch_size}": self.finetune.batch_size}

    @property
    def pretraining(self) -> Pretraining | None:
        """Settings of the model's pre-training; None for a pretrained model."""
        return self.model.pretraining if isinstance(self.model, NewModel) else None

    @property
    def root(self) -> str:
        """Folder of all results."""
        return f"{self.results}/{self.study}"

    @property
    def last_checkpoint(self) -> int:
        """Step of the last kept checkpoint."""
        return self.finetune.checkpoints[-1]


def parse_study(values: dict, origin: str = "configuration") -> Study:
    """Check the values of a configuration file.

    Args:
        values: The parsed YAML.
        origin: Name of the file in messages.

    Returns:
        The study.

    Raises:
        ConfigError: If it is invalid; the message has one line per error.
    """
    return validate(Study, values, origin)


def load_study(path: str | Path) -> Study:
    """Read and check a YAML configuration file."""
    return parse_study(read_config(path), str(path))
