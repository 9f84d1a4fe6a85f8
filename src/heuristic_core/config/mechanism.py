"""The block that asks what depends on the core: interventions on the last checkpoint, and further pruning runs."""

from typing import Annotated

from pydantic import Field, PositiveInt

from heuristic_core.config.blocks import Block, Seeds, Steps

PAIRS = "of each evaluation subset, this number of pairs, the first; default: all"


class Mediation(Block):
    """What generalisation regains where later heads are as in the clean run while the core is ablated, and what it
    loses where they alone are as under the ablation."""

    random_sets: PositiveInt = Field(
        20,
        description="random sets of heads with the layers of the counter-heuristic heads, and random sets in the "
        "core's place; with fewer than 20 no claim is decided",
    )
    pairs: PositiveInt | None = Field(None, description=PAIRS)


class Paths(Block):
    """Direct effects of core heads on queries, keys and values of later heads, and on the logits (path patching)."""

    random_senders: PositiveInt = Field(
        4,
        description="random heads of each core head's layer, and random sets in the place of all core heads, that send "
        "instead; an effect is compared with their mean",
    )
    pairs: PositiveInt | None = Field(40, description=PAIRS.replace("default: all", "null: all"))


class Masks(Block):
    """What a head adds to random subnetworks that all contain the core, subset by subset."""

    count: Annotated[int, Field(ge=20)] = Field(300, description="random subnetworks")
    bootstrap: PositiveInt = Field(1000, description="resamples of the random subnetworks behind every interval")
    pairs: PositiveInt | None = Field(None, description=PAIRS)


class Interpolation(Block):
    """Subnetworks between one that follows the heuristic and one that generalises, head by head."""

    pairs: PositiveInt | None = Field(None, description=PAIRS)


class CoreFree(Block):
    """Pruning with the core closed, and with random sets of as many heads of the same layers closed in its place."""

    seeds: Annotated[Seeds, Field(min_length=2)] = Field(
        list(range(71, 83)), description="pruning seeds of subnetworks without the core"
    )
    control_sets: PositiveInt = Field(20, description="random sets in the core's place, one pruning run each")


class Transplant(Block):
    """The components that pruning finds at one checkpoint, with weights and means of another one."""

    pairs: PositiveInt | None = Field(None, description=PAIRS)


class Entry(Block):
    """When heads enter subnetworks: fresh pruning seeds at the mid sparsity of neighbouring checkpoints."""

    checkpoints: Annotated[Steps, Field(min_length=2)] = Field(
        description="steps around generalisation, ascending; all kept by fine-tuning"
    )
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(description="pruning seeds, others than the grid's")


class Mechanism(Block):
    """What depends on the core: each part that is given, `{}` with its defaults, is analysed."""

    mediation: Mediation | None = Field(None, description="default: not analysed")
    paths: Paths | None = Field(None, description="default: not analysed")
    masks: Masks | None = Field(None, description="default: not analysed")
    interpolation: Interpolation | None = Field(None, description="default: not analysed")
    core_free: CoreFree | None = Field(None, description="default: not analysed")
    transplant: Transplant | None = Field(None, description="default: not analysed")
    entry: Entry | None = Field(None, description="default: not analysed")

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that a study has."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)
