"""Configuration of lesioned fine-tuning, which tests whether generalisation needs heads from pre-training."""

from typing import Annotated

from pydantic import Field, PositiveInt

from heuristic_core.config.blocks import Block, Unit

OVERLAP = "overlap"


class Lesion(Block):
    """Fine-tuning without the heads that attend to the repeated word before fine-tuning.

    The paper conjectures (section 5) that fine-tuning builds on these heads. Controls are fine-tuned without as many
    random heads. Each run costs as much as fine-tuning.
    """

    control_draws: Annotated[PositiveInt, Unit("sets")] = Field(
        3, description="number of controls, each without a random set of as many other heads of the same layers"
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the lesioned runs of one fine-tuning seed: "overlap", "random1", "random2", ..."""
        return (OVERLAP, *(f"random{draw}" for draw in range(1, self.control_draws + 1)))
