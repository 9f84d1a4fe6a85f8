"""A list-sorting study: conditions that differ in data, model or training, and how they are measured."""

import json
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from heuristic_core.config.blocks import Block, Name, Names, Seed
from heuristic_core.config.figure import AllFigures
from heuristic_core.config.reading import format_error, validate
from heuristic_core.experiments.list_sorting.config import Checkpoints, Data, Lists, ListSorting, Model, Training
from heuristic_core.experiments.list_sorting.config_llc import LocalLearning, Stages
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns

VARIED_BLOCKS = ("data", "model", "training")
# Settings that count lists -> the setting of `data` that limits them.
POOLS = dict.fromkeys(("lists", "folded_lists"), "held_out_lists")
POOLS |= dict.fromkeys(("mean_lists", "training_lists"), "train_lists")
# Files and folders next to those of the conditions.
RESERVED_NAMES = ("figures", "logs", "provenance", "report.html", "study.json", "tables")


def _require_changes(changes: object) -> object:
    """Return changes of a condition, or raise if YAML left them empty."""
    if changes is None:
        raise ValueError("no changes; use {} for a condition without changes")
    return changes


class Measure(Block):
    """Measurements of every kept checkpoint of every model, on held-out lists."""

    lists: Lists = Field(500, description="number of held-out lists, the first")
    mean_lists: Lists = Field(500, description="number of training lists, the first, for means and resampled contexts")
    folded_lists: Lists = Field(
        100, description="number of held-out lists, the first, on which folded matrices are compared with the model"
    )
    matrices: Checkpoints = Field(
        5, description="number of checkpoints whose QK and OV matrices are stored, evenly spaced over those kept"
    )
    seed: Seed = Field(0, description="seed of the choice of resampled contexts")


class LlcRuns(LocalLearning):
    """Sampling of the local learning coefficient."""

    conditions: Names | None = Field(None, description="conditions; default: all")
    checkpoints: Checkpoints = Field(
        8, description="number of checkpoints of each model, evenly spaced over those kept after step 0"
    )


class SortingStudy(Block):
    """A study after Urdshals and Urdshals (arXiv 2501.18666)."""

    experiment: Literal["list-sorting"] = Field(description="chooses this experiment")
    study: Name = Field(description="name of the study; its results are in <results>/<study>")
    results: str = Field(
        "results", pattern=r"^[\w./-]+$", description="folder of all results, relative to the working directory"
    )
    arithmetic: Literal["portable", "native"] = Field(
        "native", description="CPU instructions of jobs, as in studies of the heuristic core"
    )
    data: Data = Data()
    model: Model = Model()
    training: Training
    conditions: dict[Name, Annotated[dict[str, Any], BeforeValidator(_require_changes)]] = Field(
        {"base": {}},
        min_length=1,
        description="name -> changes to the blocks data, model and training, such as `{data: {numbers: 26}}`",
    )
    measure: Measure = Measure()
    llc: LlcRuns | None = Field(None, description="default: not sampled")
    prune: PruneRuns | None = Field(None, description="default: no pruning of halves")
    stages: Stages = Stages()
    figures: AllFigures = AllFigures()

    @model_validator(mode="after")
    def _check_conditions(self):
        for name, changes in self.conditions.items():
            if name in RESERVED_NAMES:
                raise ValueError(
                    f"conditions.{name}: {self.root}/{name} is reserved for other results; choose another name"
                )
            if unknown := changes.keys() - set(VARIED_BLOCKS):
                raise ValueError(
                    f"conditions.{name}: unknown block {sorted(unknown)[0]}; choose from {', '.join(VARIED_BLOCKS)}"
                )
            for block, values in changes.items():
                if not isinstance(values, dict):
                    raise ValueError(
                        f"conditions.{name}.{block} = {values!r} must be a mapping of settings: {block}: {{...}}"
                    )
            try:
                self.condition_settings(name)
            except ValidationError as error:
                raise ValueError(format_error(error.errors()[0], ListSorting, ("conditions", name))) from None
        for block in ("llc", "prune"):
            runs = getattr(self, block)
            if runs and (unknown := set(runs.conditions or ()) - self.conditions.keys()):
                raise ValueError(
                    f"{block}.conditions: unknown condition {sorted(unknown)[0]!r}; "
                    f"choose from {', '.join(self.conditions)}"
                )
        for name in self.pruned_conditions:
            self.prune.check(name, self.condition_settings(name).model.heads)
        for name in self.conditions:
            self._check_lists(name)
            self._check_checkpoints(name)
        return self

    def _check_lists(self, condition: str) -> None:
        """Check that a condition has as many lists as the settings use; defaults are limited to what it has.

        Raises:
            ValueError: A setting exceeds the lists of the condition.
        """
        data, blocks = self.condition_settings(condition).data, {"measure": self.measure}
        if condition in self.pruned_conditions:
            blocks["prune"] = self.prune
        for block, settings in blocks.items():
            for name in sorted(POOLS.keys() & settings.model_fields_set):
                pool = POOLS[name]
                if (count := getattr(settings, name)) > (available := getattr(data, pool)):
                    raise ValueError(
                        f"{block}.{name} = {count} exceeds data.{pool} = {available} of condition {condition!r}; "
                        f"lower it, or raise data.{pool}"
                    )
        if "folded_lists" in self.measure.model_fields_set and self.measure.folded_lists > self.measure.lists:
            raise ValueError(
                f"measure.folded_lists = {self.measure.folded_lists} exceeds measure.lists = {self.measure.lists}, "
                "from which they are taken; lower it"
            )

    def _check_checkpoints(self, condition: str) -> None:
        """Check that a condition keeps as many steps as the settings use; defaults are limited to what it keeps.

        Raises:
            ValueError: A setting exceeds the kept steps of the condition.
        """
        kept = len(self.condition_settings(condition).training.kept)
        uses = {("measure", "matrices"): kept}
        if self.sampled_steps(condition):
            uses["llc", "checkpoints"] = kept - 1  # not step 0
        if condition in self.pruned_conditions:
            uses["prune", "checkpoints"] = kept - 1
        for (block, name), available in uses.items():
            settings = getattr(self, block)
            if name in settings.model_fields_set and (count := getattr(settings, name)) > available:
                raise ValueError(
                    f"{block}.{name} = {count} exceeds the {available} steps that condition {condition!r} keeps"
                    f"{' after step 0' if available < kept else ''}; lower it, or raise training.per_decade"
                )

    def condition_settings(self, condition: str) -> ListSorting:
        """Return data, model and training of a condition.

        Raises:
            ValidationError: They are impossible.
        """
        base = json.loads(self.model_dump_json(include=set(VARIED_BLOCKS)))
        return ListSorting.model_validate_json(json.dumps(_merge(base, self.conditions[condition])))

    def sampled_steps(self, condition: str) -> list[int]:
        """Return the steps of a condition at which the local learning coefficient is sampled, ascending."""
        if self.llc is None or condition not in (self.llc.conditions or self.conditions):
            return []
        return select_trained_steps(self.condition_settings(condition).training, self.llc.checkpoints)

    @property
    def pruned_conditions(self) -> list[str]:
        """Conditions whose halves of heads are pruned."""
        return [] if self.prune is None else self.prune.conditions or list(self.conditions)

    @property
    def root(self) -> str:
        """Folder of all results of the study."""
        return f"{self.results}/{self.study}"


def parse_sorting(values: dict, origin: str = "configuration") -> SortingStudy:
    """Check a configuration.

    Args:
        values: The configuration.
        origin: Its file, for messages.

    Raises:
        ConfigError: If they are invalid; the message has one line per error.
    """
    return validate(SortingStudy, values, origin)


def select_trained_steps(training: Training, count: int) -> list[int]:
    """Return some of the kept steps after step 0, evenly spaced, ascending.

    Args:
        training: Settings of training, with the kept steps.
        count: Maximum number of steps.
    """
    return select_evenly([step for step in training.kept if step], count)


def select_evenly(values: list[int], count: int) -> list[int]:
    """Return some values, including the last, as even as their positions allow.

    Args:
        values: The values.
        count: Maximum number of values, from 1.
    """
    last, parts = len(values) - 1, max(min(count, len(values)) - 1, 1)
    return (
        [values[i] for i in sorted({round(last * k / parts) for k in range(parts + 1)})] if count > 1 else values[-1:]
    )


def _merge(base: dict, changes: dict) -> dict:
    """Merge nested mappings; values of `changes` replace those of `base`."""
    nested = {key for key in changes if isinstance(changes[key], dict) and isinstance(base.get(key), dict)}
    return base | changes | {key: _merge(base[key], changes[key]) for key in nested}
