"""Find the heads that subnetworks share: frequencies, the heuristic core, and tests against chance (paper, section 4).

The paper's expectation under chance is a product of shares over all heads (:func:`expected_over_all_heads`). The null
hypothesis used here also accounts for layers, which differ greatly in their numbers of kept heads.
"""

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.analysis.stability import compute_share_intervals, select_stable_heads
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import compute_overlap, draw_overlaps, draw_shared_counts, tail_p_values
from heuristic_core.tables.columns import COMPONENT, RUN

# Sets of subnetworks whose shared heads are counted: name -> cells.
SETS = {
    "high": ("high",),
    "mid": ("mid",),
    "mid+high": ("mid", "high"),
    "early": ("early",),
    "early+mid+high": ("early", "mid", "high"),
}
Masks = dict[
    str, dict[int, np.ndarray]
]  # cell ("mid", "high", "early") -> pruning seed -> kept heads, bool [layers, heads]


def list_cells(context: Context) -> dict[str, tuple[int, float, tuple[int, ...]]]:
    """Return the cells with many seeds: mid, high and, if the study has it, early.

    Args:
        context: Cells of the study.

    Returns:
        Step, sparsity and pruning seeds by name of the cell.
    """
    spread = {name: (context.last, getattr(context, name), context.seeds) for name in ("mid", "high")}
    if context.early is not None:
        spread["early"] = (context.early, context.high, context.early_seeds)
    return spread


def compute_head_frequency(components: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Compute table "head_frequency": how many subnetworks of each cell keep a component.

    A cell is a step and a sparsity. Its subnetworks are those of the spread's seeds at mid and high sparsity of the
    last step, of the early seeds at high sparsity of the early checkpoint, and of the curve's seeds elsewhere.

    Args:
        components: Table "components".
        context: Cells of the study.
    """
    # Reversed, so that mid and high take precedence if the early checkpoint is also the last.
    seeds = {(step, sparsity): cell_seeds for step, sparsity, cell_seeds in reversed(list_cells(context).values())}
    counts = []
    first = components[components["repeat"] == 0]
    for (*run, step, sparsity), cell in first.groupby([*RUN, "step", "sparsity"]):
        cell = cell[cell["seed"].isin(seeds.get((step, sparsity), context.curve_seeds))]
        kept = cell.groupby([*COMPONENT], dropna=False)["kept"].agg(count="sum", n="size").reset_index()
        identity = dict(zip(RUN, run, strict=True))
        counts += kept.assign(**identity, step=step, sparsity=sparsity).to_dict("records")
    return make_frame("head_frequency", counts)


def _cell_masks(components: pd.DataFrame, step: int, sparsity: float, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Return the masks of a cell of a run, bool [seeds, component indices]; failed runs have no row.

    Raises:
        InputError: If the cell has no subnetworks.
    """
    first = components["repeat"] == 0
    in_cell = (
        first & (components["step"] == step) & (components["sparsity"] == sparsity) & components["seed"].isin(seeds)
    )
    if not in_cell.any():
        names = ", ".join(map(str, seeds))
        raise InputError(
            f"table components: no subnetworks at step {step}, sparsity {sparsity:g} of pruning seeds {names}; "
            "none ran, or all failed (table runs)"
        )
    return components[in_cell].pivot(index="seed", columns="component", values="kept").astype(bool)


def collect_run_masks(components: pd.DataFrame, context: Context) -> Masks:
    """Return the heads that the subnetworks of a fine-tuning run keep.

    Args:
        components: Table "components" of one fine-tuning run.
        context: Cells of the study.

    Raises:
        InputError: If a cell has no subnetworks.
    """
    heads = components[components["kind"] == "head"]
    layers = heads["layer"].nunique()
    kept = {name: _cell_masks(heads, *cell) for name, cell in list_cells(context).items()}
    return {
        name: {int(seed): mask.reshape(layers, -1) for seed, mask in zip(masks.index, masks.to_numpy(), strict=True)}
        for name, masks in kept.items()
    }


def iter_run_masks(components: pd.DataFrame, context: Context) -> Iterator[tuple[dict, Masks]]:
    """Yield the identity columns and the masks (:func:`collect_run_masks`) of each fine-tuning run.

    Args:
        components: Table "components".
        context: Cells of the study.
    """
    for run, run_rows in components.groupby([*RUN]):
        yield dict(zip(RUN, run, strict=True)), collect_run_masks(run_rows, context)


def stack_masks(masks: Masks) -> np.ndarray:
    """Stack the mid- and high-sparsity masks of the pruning seeds that have both.

    Args:
        masks: Masks by cell and pruning seed.

    Returns:
        bool, [2, seeds, layers, heads], mid before high, seeds ascending.
    """
    shape = next(iter(masks["mid"].values())).shape
    seeds = sorted(masks["mid"].keys() & masks["high"].keys())
    return np.array([masks[cell][seed] for cell in ("mid", "high") for seed in seeds], bool).reshape(2, -1, *shape)


def compute_core(components: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Compute table "core": how many subnetworks keep each component, and which heads are in the core.

    A head is in the core if all mid- and high-sparsity subnetworks of the last checkpoint keep it. Failed runs have no
    subnetwork; columns n_* count the existing subnetworks. The stable core consists of the heads that sufficiently many
    pruning seeds keep at both sparsities, see :mod:`.stability`.

    Args:
        components: Table "components".
        context: Cells of the study.

    Raises:
        InputError: If there are no mid, no high, or (in a study with an early cell) no early subnetworks.
    """
    if components.empty:
        raise InputError("table components is empty: all pruning runs of the spread failed; table runs says why")
    parts = []
    for _, run in components.groupby([*RUN]):
        kept = {name: _cell_masks(run, *cell) for name, cell in list_cells(context).items()}
        names = run[[*RUN, *COMPONENT]].drop_duplicates("component").set_index("component").sort_index()
        in_all = kept["mid"].all() & kept["high"].all()
        counts = {name: masks.sum() for name, masks in kept.items()}
        counts |= {f"n_{name}": len(masks) for name, masks in kept.items()}
        counts |= _stability(pd.concat([kept["mid"], kept["high"]]).groupby(level="seed").all(), names)
        parts.append(names.assign(**counts, in_core=in_all & (names["kind"] == "head")).reset_index())
    return make_frame("core", pd.concat(parts))


def _stability(kept_by_seed: pd.DataFrame, components: pd.DataFrame) -> dict[str, pd.Series]:
    """Compute the columns of table "core" about pruning seeds, by component index.

    Args:
        kept_by_seed: Whether both subnetworks of a pruning seed keep a component, bool [seeds, component indices].
        components: Kind and layer by component index; all layers have equally many heads.
    """
    heads = components.index[components["kind"] == "head"]
    masks = kept_by_seed[heads].to_numpy().reshape(len(kept_by_seed), components.loc[heads, "layer"].nunique(), -1)
    low, high = compute_share_intervals(len(kept_by_seed))[kept_by_seed.sum()].T
    stable = pd.Series(select_stable_heads(masks).ravel(), heads).reindex(components.index, fill_value=False)
    ends = {"seed_share_low": low, "seed_share_high": high}
    return {"seed_share": kept_by_seed.mean(), "in_stable_core": stable} | {
        name: pd.Series(end, kept_by_seed.columns) for name, end in ends.items()
    }


def intersect_by_seed(masks: Masks, names: tuple[str, ...]) -> np.ndarray:
    """Return the heads that all subnetworks of a pruning seed share.

    Runs of the same seed at two sparsities share their random draws, so the sparser mask is nearly a subset of the
    other. They are a single observation of what a seed keeps, not two.

    Args:
        masks: Masks by cell and pruning seed.
        names: Cells whose subnetworks are intersected; failed runs are skipped.

    Returns:
        Shared heads, bool [seeds, layers, heads], seeds ascending.
    """
    shared: dict[int, np.ndarray] = {}
    for name in names:
        for seed, mask in masks[name].items():
            shared[seed] = mask & shared.get(seed, True)
    return np.stack([shared[seed] for seed in sorted(shared)])


def expected_over_all_heads(heads: int, sparsities: Iterable[float]) -> float:
    """Compute the paper's expected number of heads shared by chance (section 4).

    For 144 heads and twelve subnetworks of 70 % sparsity it is 144 * 0.3^12 = 7.7e-5. The paper assumes that all heads
    are kept independently with equal probability. This ignores layers, that sparsity also counts MLPs, and that runs of
    the same seed are alike.

    Args:
        heads: Number of heads of the model.
        sparsities: Target sparsity of each subnetwork, a share.
    """
    return heads * math.prod(1 - sparsity for sparsity in sparsities)


def compute_core_null(components: pd.DataFrame, context: Context, permutations: int, seed: int) -> pd.DataFrame:
    """Compute table "core_null": whether subnetworks share more heads than expected by chance.

    Under the null hypothesis, heads are permuted within each layer, separately for each pruning seed, which preserves
    the seed's number of heads per layer. Permuting each mask separately would count the nesting of a seed's mid and
    high masks as sharing between seeds, so their intersection is permuted (:func:`intersect_by_seed`). The paper's
    expectation from the target sparsities is given for comparison.

    The number of heads that many seeds share is near 0 by chance, so it cannot be shown to be smaller. The p-value of
    the other tail is therefore for the overlap of two seeds (:func:`.compute_overlap`).

    Args:
        components: Table "components".
        context: Cells of the study.
        permutations: Number of permutations.
        seed: Seed of the permutations.

    Raises:
        InputError: If a cell has no subnetworks.
    """
    rows = []
    targets = {name: sparsity for name, (_, sparsity, _) in list_cells(context).items()}
    for run, kept in iter_run_masks(components, context):
        for name, set_cells in SETS.items():
            if not set(set_cells) <= set(kept):
                continue
            masks = intersect_by_seed(kept, set_cells)
            observed = int(masks.all(axis=0).sum())
            draws = draw_shared_counts(masks, permutations, numpy_generator(seed, run["ft_seed"], name))
            more, _ = tail_p_values(draws, observed)
            overlap, rng = compute_overlap(masks), numpy_generator(seed, run["ft_seed"], name, "overlap")
            overlap_draws = draw_overlaps(masks, permutations, rng)
            _, fewer = tail_p_values(overlap_draws, overlap)
            row = {
                "set": name,
                "n": sum(len(kept[cell]) for cell in set_cells),
                "seeds": len(masks),
                "observed": observed,
                "expected": draws.mean(),
                "expected_over_all": expected_over_all_heads(
                    masks[0].size, (targets[cell] for cell in set_cells for _ in kept[cell])
                ),
                "p": more,
                "overlap": overlap,
                "expected_overlap": overlap_draws.mean(),
                "p_fewer": fewer,
            }
            rows.append(run | row | {"permutations": permutations})
    return make_frame("core_null", rows)


class CommonHeads(NamedTuple):
    """Number of heads in the intersection of two sets, compared with chance.

    Under chance, the heads of one set are drawn at random within each layer (hypergeometric, convolved over layers).

    Attributes:
        observed: Number of heads in both sets.
        expected: Expected number under chance.
        p: Probability of at least `observed` heads under chance.
        p_fewer: Probability of at most `observed` heads under chance.
    """

    observed: int
    expected: float
    p: float
    p_fewer: float


def count_common_heads(layers: pd.Series, a: pd.Series, b: pd.Series) -> CommonHeads:
    """Count the heads in both of two sets, and compare the count with chance.

    Args:
        layers: Layer of each head.
        a: Whether a head is in the first set, bool, with the index of `layers`.
        b: Whether a head is in the second set, in the same form.
    """
    both, pmf = int((a & b).sum()), np.ones(1)
    for _, layer in layers.groupby(layers):
        count_a, count_b = int(a[layer.index].sum()), int(b[layer.index].sum())
        pmf = np.convolve(pmf, stats.hypergeom.pmf(np.arange(count_a + 1), len(layer), count_b, count_a))
    expected = float((pmf * np.arange(len(pmf))).sum())
    return CommonHeads(both, expected, *(min(1.0, float(tail.sum())) for tail in (pmf[both:], pmf[: both + 1])))
