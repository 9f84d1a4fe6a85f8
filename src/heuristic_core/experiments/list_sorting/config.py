"""The blocks of a list-sorting study: its data, its model and its training.

Sizes that are defaults are those of the public ARENA sorted-list model.
"""

from math import floor, perm
from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from heuristic_core.config.blocks import (
    AdamBetas,
    Block,
    Heads,
    NonNegativeNumber,
    Positive,
    PositiveNumber,
    PositiveSteps,
    Seed,
    Seeds,
    Steps,
    Unit,
    Width,
)
from heuristic_core.config.reading import validate

Lists = Annotated[PositiveInt, Unit("lists")]
Checkpoints = Annotated[PositiveInt, Unit("checkpoints")]


class Data(Block):
    """Lists of distinct numbers from 0 to `numbers` - 1, in random order.

    Each list is followed by a separator and by the same numbers in ascending order.
    """

    numbers: Annotated[int, Field(ge=2, le=10_000), Unit("numbers")] = Field(
        51, description="size of the range of numbers; the vocabulary also has a separator"
    )
    length: Annotated[int, Field(ge=2, le=1000), Unit("numbers")] = Field(10, description="length of a list")
    mean_gap: Annotated[Positive | None, Unit("")] = Field(
        None,
        description="mean difference between neighbours of a sorted list; it determines the width of the random window "
        "of consecutive numbers from which a list is drawn; default: all numbers, (numbers + 1) / (length + 1)",
    )
    train_lists: Lists = Field(150_000, description="training lists, possibly with repetitions")
    held_out_lists: Lists = Field(2000, description="lists for measurements; none is a training list")
    seed: Seed = Field(0, description="seed of training and held-out lists")

    @model_validator(mode="after")
    def _check_possible_lists(self):
        if self.length > self.numbers:
            raise ValueError(
                f"length = {self.length} exceeds numbers = {self.numbers}, but the numbers of a list are distinct; "
                "lower length or raise numbers"
            )
        widest = (self.numbers + 1) / (self.length + 1)
        if self.mean_gap is not None and not 1 <= self.mean_gap <= widest:
            raise ValueError(
                f"mean_gap = {self.mean_gap} is impossible with numbers = {self.numbers} and length = {self.length}; "
                f"choose a value from 1 to {floor(widest * 1e4) / 1e4}"
            )
        if 2 * self.held_out_lists > (possible := perm(floor(self.window), self.length)):
            raise ValueError(
                f"held_out_lists = {self.held_out_lists} is more than half of the {possible} possible lists, and "
                "training has the others; lower it, or raise numbers or length"
            )
        return self

    @property
    def window(self) -> float:
        """Mean width of the window that a list's numbers are from; a non-integer mean mixes both neighbours.

        The mean gap of `length` distinct numbers in a window of w is (w + 1) / (length + 1).
        """
        gap = self.mean_gap or self.numbers  # without mean_gap: a bound that `numbers` always cuts
        return min(self.numbers, gap * (self.length + 1) - 1)

    @property
    def nominal_gap(self) -> float:
        """Mean gap that lists are drawn for."""
        return (self.window + 1) / (self.length + 1)


class Model(Block):
    """A transformer of one attention layer, without MLP."""

    heads: Heads = Field(2, description="attention heads of the layer")
    width: Width = Field(96, description="of the residual stream")
    head_width: Width = Field(48, description="of queries, keys and values")
    positions: bool = Field(True, description="learned embeddings of positions")
    layer_norm: bool = Field(True, description="before attention and before the unembedding")
    biases: bool = Field(True, description="of attention, unembedding and LayerNorms")


class Training(Block):
    """Training of one model per seed, all in one pass, at a learning rate that changes linearly."""

    seeds: Annotated[Seeds, Field(min_length=1)] = Field(
        description="seeds of initial weights and of the order of lists"
    )
    steps: PositiveSteps = Field(7325, description="training steps")
    batch_size: Lists = Field(512, description="lists of a step")
    optimiser: Literal["adam-l2", "adamw", "adam"] = Field(
        "adam-l2", description="weight decay: added to the gradient (L2), decoupled, or none"
    )
    weight_decay: NonNegativeNumber = Field(0.005, description="strength of the decay; 0 with `adam`")
    learning_rate: PositiveNumber = Field(1e-3, description="learning rate of the first step")
    final_learning_rate: NonNegativeNumber = Field(
        1e-4, description="learning rate after the last step, approached linearly"
    )
    adam_betas: AdamBetas = Field((0.9, 0.999), description="Adam's decay rates of both moments")
    adam_epsilon: PositiveNumber = Field(1e-8, description="Adam's term against division by zero")
    checkpoints: Annotated[Steps | None, Unit("steps")] = Field(
        None,
        description="steps whose weights are kept, besides the first and the last; default: a logarithmic grid, see "
        "`per_decade`",
    )
    per_decade: Annotated[PositiveInt, Unit("steps per decade")] = Field(
        8, description="kept steps per decade (10 to 100, 100 to 1000, ...) if `checkpoints` is not set"
    )
    save_every: PositiveSteps = Field(500, description="steps between saved states, from which interrupted runs resume")

    @model_validator(mode="after")
    def _check_optimiser(self):
        if self.optimiser == "adam" and self.weight_decay:
            raise ValueError(
                f"weight_decay = {self.weight_decay}, but optimiser = 'adam' has none; set weight_decay = 0, or "
                "optimiser = 'adam-l2' or 'adamw'"
            )
        if self.optimiser != "adam" and not self.weight_decay:
            raise ValueError(
                f"optimiser = {self.optimiser!r} needs weight_decay > 0; set weight_decay, or optimiser = 'adam'"
            )
        if self.final_learning_rate > self.learning_rate:
            raise ValueError(
                f"final_learning_rate = {self.final_learning_rate} exceeds learning_rate = {self.learning_rate}; "
                "lower final_learning_rate, or raise learning_rate"
            )
        if self.checkpoints and self.checkpoints[-1] > self.steps:
            raise ValueError(
                f"checkpoints: {self.checkpoints[-1]} exceeds steps = {self.steps}; remove it, or raise steps"
            )
        return self

    @property
    def kept(self) -> list[int]:
        """Steps whose weights are kept, ascending, from 0 to the last."""
        if self.checkpoints:
            return sorted({0, *self.checkpoints, self.steps})
        grid, k = {0, self.steps}, 0
        while (step := round(10 ** (1 + k / self.per_decade))) < self.steps:
            grid.add(step)
            k += 1
        return sorted(grid)


class ListSorting(Block):
    """Data, a model and its training."""

    data: Data = Data()
    model: Model = Model()
    training: Training

    @model_validator(mode="after")
    def _check_batch_size(self):
        if self.training.batch_size > self.data.train_lists:
            raise ValueError(
                f"training.batch_size = {self.training.batch_size} exceeds data.train_lists = {self.data.train_lists}"
            )
        return self


def parse(values: dict, origin: str = "configuration") -> ListSorting:
    """Check a configuration.

    Args:
        values: The configuration.
        origin: Its file, for messages.

    Raises:
        ConfigError: If they are invalid; the message has one line per error.
    """
    return validate(ListSorting, values, origin)
