"""The block that asks for lesioned fine-tuning: is what pre-training made needed to generalise?"""

from pydantic import Field, PositiveInt

from heuristic_core.config.blocks import Block

OVERLAP = "overlap"


class Lesion(Block):
    """Fine-tuning without the heads that attend to the repeated word before fine-tuning, on which it builds as the
    paper conjectures (section 5). Controls are without as many random heads. Each run costs as much as fine-tuning."""

    control_draws: PositiveInt = Field(
        3, description="random sets of as many other heads of the same layers, each fine-tuned without"
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Of all lesioned runs of one fine-tuning seed: "overlap", "random1", "random2", ..."""
        return (OVERLAP, *(f"random{draw}" for draw in range(1, self.control_draws + 1)))
