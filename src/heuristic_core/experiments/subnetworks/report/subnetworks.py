"""The subnetworks of a study, row by row: kept components and accuracies."""

from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import SUMMARY_GROUPS
from heuristic_core.figures.text import format_number, format_percent

CHECKPOINT_KEYS = ["ft_seed", "step"]
RUN_KEYS = [*CHECKPOINT_KEYS, "sparsity", "seed", "repeat"]
MAX_WIDE_HEADS = 48  # models with more heads get smaller squares
LAYER_GAP = 0.8  # squares, between layers
DIGITS = 1  # decimals of accuracies


class SubnetworkRow(NamedTuple):
    """One subnetwork.

    Attributes:
        ft_seed: The fine-tuning seed.
        step: The fine-tuning step.
        sparsity: The target sparsity, as text.
        seed: The pruning seed.
        is_repeat: Whether this is a further run of the pruning seed.
        accuracies: The accuracies of `SUMMARY_GROUPS`, as text.
        kept_path: An SVG path of the kept components.
        heads: The number of kept heads.
        mlps: The number of kept MLPs.
    """

    ft_seed: int
    step: int
    sparsity: str
    seed: int
    is_repeat: bool
    accuracies: list[str]
    kept_path: str
    heads: int
    mlps: int


class Subnetworks(NamedTuple):
    """All subnetworks of a study.

    Attributes:
        rows: One row for each subnetwork.
        labels: The labels of the accuracies.
        heads: The number of heads of the model.
        mlps: The number of MLPs of the model.
        squares_path: An SVG path of all components.
        size: The size of a square in pixels.
        width: The width of the SVG paths in squares.
        choices: The values that can be chosen, by column of a row.
        details: The details of each row, for JSON.
    """

    rows: list[SubnetworkRow]
    labels: list[str]
    heads: int
    mlps: int
    squares_path: str
    size: int
    width: float
    choices: dict[str, list]
    details: dict


def build_subnetworks(components: pd.DataFrame, accuracy: pd.DataFrame, groups: pd.DataFrame) -> Subnetworks | None:
    """Build the rows of all subnetworks, or return None if there is no subnetwork.

    Args:
        components: Table "components".
        accuracy: Table "accuracy".
        groups: Table "group_accuracy".
    """
    if components.empty:
        return None
    grid = components.drop_duplicates("component").sort_values("component", kind="stable")
    positions = _place_components(grid)
    values = groups.set_index([*RUN_KEYS, "group"])["accuracy"].sort_index()
    components_by_run = dict(list(components.groupby(RUN_KEYS)))
    rows = [
        _build_row(dict(zip(RUN_KEYS, key, strict=True)), run_components, values, positions)
        for key, run_components in components_by_run.items()
    ]
    total = grid["kind"].value_counts()
    return Subnetworks(
        rows=rows,
        labels=[ROLES[group].label for group in SUMMARY_GROUPS],
        heads=int(total.get("head", 0)),
        mlps=int(total.get("mlp", 0)),
        squares_path=_svg_path(positions.values()),
        size=9 if total.get("head", 0) <= MAX_WIDE_HEADS else 4,
        width=max(x for x, _ in positions.values()) + 1,
        choices={
            name: list(dict.fromkeys(getattr(row, name) for row in rows)) for name in (*CHECKPOINT_KEYS, "sparsity")
        },
        details=_details(components_by_run, accuracy),
    )


def _build_row(run: dict, components: pd.DataFrame, values: pd.Series, positions: dict) -> SubnetworkRow:
    """Build the row of one run; `positions` holds a position by component."""
    kept = components[components["kept"]]
    accuracies = [values.get((*run.values(), group)) for group in SUMMARY_GROUPS]
    return SubnetworkRow(
        ft_seed=int(run["ft_seed"]),
        step=int(run["step"]),
        sparsity=format_percent(run["sparsity"]),
        seed=int(run["seed"]),
        is_repeat=run["repeat"] > 0,
        accuracies=["" if value is None else format_number(value, DIGITS) for value in accuracies],
        kept_path=_svg_path(positions[component] for component in kept["component"].sort_values(kind="stable")),
        heads=int((kept["kind"] == "head").sum()),
        mlps=int((kept["kind"] == "mlp").sum()),
    )


def _place_components(grid: pd.DataFrame) -> dict[int, tuple[float, float]]:
    """Return positions by component: heads of a layer side by side, then its MLP, lower, then the next layer."""
    positions, x = {}, 0.0
    for _, layer in grid.groupby("layer"):
        for kind in ("head", "mlp"):
            for component in layer.loc[layer["kind"] == kind, "component"]:
                positions[int(component)] = (round(x, 1), 1.0 if kind == "mlp" else 0.0)
                x += 1
        x += LAYER_GAP
    return positions


def _svg_path(places) -> str:
    """Return an SVG path of squares of side 0.9 with their upper left corners at `places`."""
    return "".join(f"M{x:g} {y:g}h.9v.9h-.9z" for x, y in places)


def _details(components_by_run: dict, accuracy: pd.DataFrame) -> dict:
    """Return the details of each run for the page, in the order of rows.

    Key "runs" has components by layer, and values [accuracy, low, high] in the order of "subsets". Key "full" has the
    full model's values by checkpoint.
    """
    subsets = accuracy.dropna(subset="subset").drop_duplicates("subset")[["subset", "group"]]
    numbers = accuracy[["accuracy", "low", "high"]].round(DIGITS).astype(object)
    table = accuracy.assign(numbers=numbers.where(numbers.notna(), None).to_numpy().tolist())
    full_values = {
        key: _values_by_subset(run_rows, subsets)
        for key, run_rows in table[table["seed"].isna()].groupby(CHECKPOINT_KEYS)
    }
    values_by_run = {
        key: _values_by_subset(run_rows, subsets) for key, run_rows in table.dropna(subset="seed").groupby(RUN_KEYS)
    }
    return {
        "subsets": subsets["subset"].tolist(),
        "groups": [ROLES[group].label for group in subsets["group"]],
        "full": {f"{int(ft_seed)} {int(step)}": values for (ft_seed, step), values in full_values.items()},
        "runs": [
            {"layers": _describe_layers(run_rows), "values": values_by_run.get(key, [])}
            for key, run_rows in components_by_run.items()
        ],
    }


def _values_by_subset(rows: pd.DataFrame, subsets: pd.DataFrame) -> list:
    """Return values in the order of `subsets`, None for a missing subset."""
    by_name = dict(zip(rows["subset"], rows["numbers"], strict=True))
    return [by_name.get(name) for name in subsets["subset"]]


def _describe_layers(components: pd.DataFrame) -> list[str]:
    """Return a description for each layer, such as "layer 0: heads 1, 3; MLP"."""
    heads: dict[int, list[int]] = {layer: [] for layer in sorted(components["layer"].unique())}
    mlps = set()
    for layer, head, kept in zip(*(components[name] for name in ("layer", "head", "kept")), strict=True):
        if kept and pd.isna(head):
            mlps.add(layer)
        elif kept:
            heads[layer].append(int(head))
    descriptions = []
    for layer, kept_heads in heads.items():
        parts = [f"heads {', '.join(map(str, sorted(kept_heads)))}"] if kept_heads else []
        parts += ["MLP"] if layer in mlps else []
        descriptions.append(f"layer {layer}: {'; '.join(parts) or 'nothing'}")
    return descriptions
