"""Configuration of interventions that depend on the core, and of further pruning runs."""

from itertools import cycle
from typing import Annotated, NamedTuple

from pydantic import Field, PositiveInt

from heuristic_core.config.blocks import Block, OptionalPairs, Resamples, Seeds, Share, Steps, Unit

Sets = Annotated[PositiveInt, Unit("sets")]

PAIRS = "number of pairs of each evaluation subset, a sample stratified by label (`analysis.seed`); default: all"


class Mediation(Block):
    """Mediation of the core's effect by later heads.

    Measures what generalisation regains if later heads keep their clean activations while the core is ablated, and what
    it loses if only they have the activations of the ablated run.
    """

    random_sets: Sets = Field(
        20,
        description="number of random sets, matched in layers, for the counter-heuristic heads and for the core; with "
        "fewer than 20 no claim is decided",
    )
    pairs: OptionalPairs = Field(
        None,
        description="number of pairs of each evaluation subset, drawn from the pairs that `masks` (`pairs`, "
        "`id_pairs`) did not use to choose heads; default: all of them",
    )


class Paths(Block):
    """Direct effects of core heads on queries, keys and values of later heads, and on the logits (path patching)."""

    random_senders: Sets = Field(
        7,
        description="number of random senders: heads of each core head's layer, and sets in place of all core heads; "
        "an effect is compared with their mean and with each of them",
    )
    pairs: OptionalPairs = Field(40, description=PAIRS.replace("default: all", "null: all"))


class Masks(Block):
    """Contribution of each head to random subnetworks that contain the core, by subset."""

    count: Annotated[int, Field(ge=20), Unit("subnetworks")] = Field(300, description="random subnetworks")
    bootstrap: Resamples = Field(1000, description="number of resamples of the random subnetworks for intervals")
    pairs: OptionalPairs = Field(
        None,
        description="number of pairs of each OOD and OOD-entailment subset, a sample stratified by label "
        "(`analysis.seed`); `mediation` uses the others; default: all, and `mediation` uses the same pairs",
    )
    id_pairs: OptionalPairs = Field(
        None, description="number of pairs of each in-domain subset, likewise; default: all"
    )

    @property
    def by_group(self) -> dict[str, int | None]:
        """Number of pairs of each subset, by its group; None for all."""
        return {"id": self.id_pairs, "ood": self.pairs, "ood-entailment": self.pairs}


class Interpolation(Block):
    """Subnetworks between one that follows the heuristic and one that generalises, head by head."""

    pairs: OptionalPairs = Field(None, description=PAIRS)


class ClosedRun(NamedTuple):
    """A pruning run with the gates of some heads closed.

    Attributes:
        set: 0 for the core, 1 and above for random sets instead.
        seed: Pruning seed.
    """

    set: int
    seed: int


class CoreFree(Block):
    """Pruning without the core, and packing.

    The core is closed; controls close random sets of as many heads of the same layers. Packing looks for further
    subnetworks while the heads of earlier ones are closed.
    """

    seeds: Annotated[Seeds, Field(min_length=2)] = Field(
        list(range(71, 83)), description="pruning seeds of subnetworks without the core"
    )
    control_sets: Sets = Field(
        48,
        description="number of random sets in place of the core, one pruning run each; with fewer than 40 sound runs "
        "no p of table `core_free` can be below 0.05",
    )
    packing_controls: Annotated[int, Field(ge=0), Unit("sets")] = Field(
        3, description="number of random sets in place of the closed heads, in each round of packing"
    )
    recovery: Share = Field(
        0.85, description="packing continues while the subnetwork has this share of the full model's in-domain accuracy"
    )

    @property
    def runs(self) -> list[ClosedRun]:
        """All pruning runs: every seed with the core closed, then the random sets, cycling through the seeds."""
        turns = zip(range(1, self.control_sets + 1), cycle(self.seeds), strict=False)
        return [*(ClosedRun(0, seed) for seed in self.seeds), *(ClosedRun(*turn) for turn in turns)]


class Transplant(Block):
    """Components found at one checkpoint, with weights and means of another checkpoint."""

    pairs: OptionalPairs = Field(None, description=PAIRS)


class Entry(Block):
    """Steps at which heads enter subnetworks, from fresh pruning seeds at neighbouring checkpoints (mid sparsity)."""

    checkpoints: Annotated[Steps, Field(min_length=2)] = Field(
        description="steps around generalisation, ascending, all in `finetune.checkpoints`"
    )
    seeds: Annotated[Seeds, Field(min_length=2)] = Field(
        description="pruning seeds, not in the grid; checkpoints with fewer than 3 sound runs are not used"
    )


class Mechanism(Block):
    """Analyses that depend on the core. Only listed parts run; `{}` runs a part with its defaults."""

    mediation: Mediation | None = Field(None, description="default: not run")
    paths: Paths | None = Field(None, description="default: not run")
    masks: Masks | None = Field(None, description="default: not run")
    interpolation: Interpolation | None = Field(None, description="default: not run")
    core_free: CoreFree | None = Field(None, description="default: not run")
    transplant: Transplant | None = Field(None, description="default: not run")
    entry: Entry | None = Field(None, description="default: not run")

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the parts that the study has."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)
