"""Which heads the subnetworks share: frequencies, the heuristic core, and what chance would give (paper, section 4).

The paper compares with chance by a product of shares over all heads (:func:`expected_over_all_heads`); here the null
hypothesis knows of layers, whose numbers of kept heads differ much.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.randomisation import shared_by_chance, tails
from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.analysis.stability import share_intervals, stable_heads
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.tables.columns import COMPONENT, RUN

# Sets of subnetworks whose shared heads are counted, each by the cells it consists of.
SETS = {
    "high": ("high",),
    "mid": ("mid",),
    "mid+high": ("mid", "high"),
    "early": ("early",),
    "early+mid+high": ("early", "mid", "high"),
}
Masks = dict[str, dict[int, np.ndarray]]  # by cell (mid, high, early) and pruning seed: bool [layers, heads]


def cells(context: Context) -> dict[str, tuple[int, float, tuple[int, ...]]]:
    """Step, sparsity and pruning seeds of the cells that have many seeds: mid, high and, where there is one, early."""
    found = {name: (context.last, getattr(context, name), context.seeds) for name in ("mid", "high")}
    if context.early is not None:
        found["early"] = (context.early, context.high, context.early_seeds)
    return found


def head_frequency(components: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Table "head_frequency" from table "components": how many subnetworks of each cell keep a component.

    A cell is a step and a sparsity. Its subnetworks are of the spread's seeds at the last step's mid and high sparsity,
    of the early seeds at the early checkpoint and high sparsity, and of the curve's seeds elsewhere.
    """
    # Reversed, so that mid and high win where the early checkpoint is the last one.
    seeds = {(step, sparsity): of for step, sparsity, of in reversed(cells(context).values())}
    counts = []
    first = components[components["repeat"] == 0]
    for (*run, step, sparsity), cell in first.groupby([*RUN, "step", "sparsity"]):
        cell = cell[cell["seed"].isin(seeds.get((step, sparsity), context.curve_seeds))]
        kept = cell.groupby([*COMPONENT], dropna=False)["kept"].agg(count="sum", n="size").reset_index()
        identity = dict(zip(RUN, run, strict=True))
        counts += kept.assign(**identity, step=step, sparsity=sparsity).to_dict("records")
    return frame("head_frequency", counts)


def _kept(components: pd.DataFrame, step: int, sparsity: float, seeds: tuple[int, ...]) -> pd.DataFrame:
    """The masks of one cell of one run: seeds x component indices, True where kept; failed runs have none.

    Raises InputError without any.
    """
    first = components["repeat"] == 0
    here = first & (components["step"] == step) & (components["sparsity"] == sparsity) & components["seed"].isin(seeds)
    if not here.any():
        named = ", ".join(map(str, seeds))
        raise InputError(
            f"no subnetworks at step {step}, sparsity {sparsity:g} of pruning seeds {named}: none ran, or all failed"
        )
    return components[here].pivot(index="seed", columns="component", values="kept").astype(bool)


def run_masks(components: pd.DataFrame, context: Context) -> Masks:
    """The heads that one run's subnetworks keep. Raises InputError where a cell has no subnetworks."""
    heads = components[components["kind"] == "head"]
    layers = heads["layer"].nunique()
    kept = {name: _kept(heads, *cell) for name, cell in cells(context).items()}
    return {
        name: {int(seed): mask.reshape(layers, -1) for seed, mask in zip(masks.index, masks.to_numpy(), strict=True)}
        for name, masks in kept.items()
    }


def masks_of_runs(components: pd.DataFrame, context: Context) -> Iterator[tuple[dict, Masks]]:
    """The columns of every fine-tuning run in table "components", and its masks as of :func:`run_masks`."""
    for run, of_run in components.groupby([*RUN]):
        yield dict(zip(RUN, run, strict=True)), run_masks(of_run, context)


def of_both(masks: Masks) -> np.ndarray:
    """The masks at mid and at high sparsity of the pruning seeds that have both: bool [2, seeds, layers, heads]."""
    shape = next(iter(masks["mid"].values())).shape
    seeds = sorted(masks["mid"].keys() & masks["high"].keys())
    return np.array([masks[cell][seed] for cell in ("mid", "high") for seed in seeds], bool).reshape(2, -1, *shape)


def core(components: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Table "core" from table "components": how many subnetworks keep each component, and the heads that all keep.

    A head is in the core if every mid- and every high-sparsity subnetwork of the last checkpoint keeps it: every one
    that there is, as failed runs have none. Columns n_* say how many that are. The stable core has the heads that
    enough pruning seeds keep at both sparsities: see :mod:`.stability`.
    Raises InputError where mid, high or, if the study has any, early subnetworks are absent altogether.
    """
    if components.empty:
        raise InputError("there is no subnetwork to look for shared heads in: every pruning run of the spread failed")
    parts = []
    for _, run in components.groupby([*RUN]):
        kept = {name: _kept(run, *cell) for name, cell in cells(context).items()}
        of_run = run[[*RUN, *COMPONENT]].drop_duplicates("component").set_index("component").sort_index()
        in_all = kept["mid"].all() & kept["high"].all()
        counts = {name: masks.sum() for name, masks in kept.items()}
        counts |= {f"n_{name}": len(masks) for name, masks in kept.items()}
        counts |= _stability(pd.concat([kept["mid"], kept["high"]]).groupby(level="seed").all(), of_run)
        parts.append(of_run.assign(**counts, in_core=in_all & (of_run["kind"] == "head")).reset_index())
    return frame("core", pd.concat(parts))


def _stability(by_seed: pd.DataFrame, components: pd.DataFrame) -> dict[str, pd.Series]:
    """Compute the columns of table "core" on pruning seeds, by component index.

    Args:
        by_seed: Whether both subnetworks of a pruning seed keep a component, bool [seeds, component indices].
        components: Kind and layer by component index; a model's layers have equally many heads.
    """
    heads = components.index[components["kind"] == "head"]
    masks = by_seed[heads].to_numpy().reshape(len(by_seed), components.loc[heads, "layer"].nunique(), -1)
    low, high = share_intervals(len(by_seed))[by_seed.sum()].T
    stable = pd.Series(stable_heads(masks).ravel(), heads).reindex(components.index, fill_value=False)
    ends = {"seed_share_low": low, "seed_share_high": high}
    return {"seed_share": by_seed.mean(), "in_stable_core": stable} | {
        name: pd.Series(end, by_seed.columns) for name, end in ends.items()
    }


def by_seed(masks: Masks, names: tuple[str, ...]) -> np.ndarray:
    """What the subnetworks of each pruning seed in cells `names` share: bool [seeds, layers, heads], seeds ascending.

    Of a seed with a failed run it is what its other subnetworks share.

    The runs of one seed at two sparsities share their random draws, so that the sparser mask is nearly within the
    other: together they are one piece of evidence about what a seed keeps, not two.
    """
    shared: dict[int, np.ndarray] = {}
    for name in names:
        for seed, mask in masks[name].items():
            shared[seed] = mask & shared.get(seed, True)
    return np.stack([shared[seed] for seed in sorted(shared)])


def expected_over_all_heads(heads: int, sparsities: Iterable[float]) -> float:
    """How many of `heads` heads would be in all subnetworks of these sparsities by the paper's reckoning (section 4).

    144 heads and twelve subnetworks of 70 % give 144 * 0.3^12 = 7.7e-5. Every head is kept with the same probability,
    and independently: neither layers count, nor that a sparsity is of heads and MLPs, nor that runs of one seed are
    alike.
    """
    return heads * math.prod(1 - sparsity for sparsity in sparsities)


def core_null(components: pd.DataFrame, context: Context, permutations: int, seed: int) -> pd.DataFrame:
    """Table "core_null" from table "components": do subnetworks share more heads than chance would give?

    Chance: in what each pruning seed keeps the heads of each layer are permuted, so its number of heads per layer
    stays. Another way permutes every mask by itself; where a seed gives several (mid and high), that would count their
    nesting as heads that seeds share, so here the heads in all masks of a seed are permuted as one (:func:`by_seed`).
    Beside it is the paper's expectation, from the target sparsities.
    Raises InputError as :func:`core` does.
    """
    rows = []
    targets = {name: sparsity for name, (_, sparsity, _) in cells(context).items()}
    for run, kept in masks_of_runs(components, context):
        for name, of_set in SETS.items():
            if not set(of_set) <= set(kept):
                continue
            masks = by_seed(kept, of_set)
            observed = int(masks.all(axis=0).sum())
            draws = shared_by_chance(masks, permutations, numpy_generator(seed, run["ft_seed"], name))
            more, fewer = tails(draws, observed)
            row = {
                "set": name,
                "n": sum(len(kept[cell]) for cell in of_set),
                "seeds": len(masks),
                "observed": observed,
                "expected": draws.mean(),
                "expected_over_all": expected_over_all_heads(
                    masks[0].size, (targets[cell] for cell in of_set for _ in kept[cell])
                ),
                "p": more,
                "p_fewer": fewer,
            }
            rows.append(run | row | {"permutations": permutations})
    return frame("core_null", rows)


class Common(NamedTuple):
    """Heads in both of two sets. expected: if one were drawn at random within each layer. p, p_fewer: the probability
    of at least, and of at most, as many then (hypergeometric, convolved over layers)."""

    observed: int
    expected: float
    p: float
    p_fewer: float


def common_heads(layers: pd.Series, one: pd.Series, other: pd.Series) -> Common:
    """How many heads two sets have in common, and how many by chance.

    layers: of all heads. one, other: bool, whether a head is in the set. All three have one index.
    """
    both, chances = int((one & other).sum()), np.ones(1)
    for _, layer in layers.groupby(layers):
        own, marked = int(one[layer.index].sum()), int(other[layer.index].sum())
        chances = np.convolve(chances, stats.hypergeom.pmf(np.arange(own + 1), len(layer), marked, own))
    expected = float((chances * np.arange(len(chances))).sum())
    return Common(both, expected, *(min(1.0, float(tail.sum())) for tail in (chances[both:], chances[: both + 1])))
