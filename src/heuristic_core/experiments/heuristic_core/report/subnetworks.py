"""The subnetworks of a study, row by row: which components each has kept, and how accurate it is."""

from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import MEASURED
from heuristic_core.figures.text import number, percent

CHECKPOINT = ["ft_seed", "step"]
CELL = [*CHECKPOINT, "sparsity", "seed", "repeat"]
FEW = 48  # heads that are drawn wide
APART = 0.8  # of a square: from one layer to the next
SHOWN = 1  # digits of accuracies


class Row(NamedTuple):
    """One subnetwork. accuracies: of `MEASURED`, as text. kept: an SVG path of its components."""

    ft_seed: int
    step: int
    sparsity: str
    seed: int
    again: bool
    accuracies: list[str]
    kept: str
    heads: int
    mlps: int


class Subnetworks(NamedTuple):
    """All of them. squares: an SVG path of all components. size: of a square, pixels. width: of the paths, squares.

    choices: column of a row -> what can be chosen. told: by row what its page says, for JSON.
    """

    rows: list[Row]
    labels: list[str]
    heads: int
    mlps: int
    squares: str
    size: int
    width: float
    choices: dict[str, list]
    told: dict


def subnetworks(components: pd.DataFrame, accuracy: pd.DataFrame, groups: pd.DataFrame) -> Subnetworks | None:
    """From tables "components", "accuracy" and "group_accuracy"; None where no pruning run found a subnetwork."""
    if components.empty:
        return None
    grid = components.drop_duplicates("component").sort_values("component", kind="stable")
    places = _places(grid)
    values = groups.set_index([*CELL, "group"])["accuracy"].sort_index()
    by_run = dict(list(components.groupby(CELL)))
    rows = [_row(dict(zip(CELL, key, strict=True)), one, values, places) for key, one in by_run.items()]
    total = grid["kind"].value_counts()
    return Subnetworks(
        rows=rows,
        labels=[ROLES[group].label for group in MEASURED],
        heads=int(total.get("head", 0)),
        mlps=int(total.get("mlp", 0)),
        squares=_path(places.values()),
        size=9 if total.get("head", 0) <= FEW else 4,
        width=max(x for x, _ in places.values()) + 1,
        choices={name: list(dict.fromkeys(getattr(row, name) for row in rows)) for name in (*CHECKPOINT, "sparsity")},
        told=_told(by_run, accuracy),
    )


def _row(run: dict, components: pd.DataFrame, values: pd.Series, places: dict) -> Row:
    kept = components[components["kept"]]
    of_run = [values.get((*run.values(), group)) for group in MEASURED]
    return Row(
        ft_seed=int(run["ft_seed"]),
        step=int(run["step"]),
        sparsity=percent(run["sparsity"]),
        seed=int(run["seed"]),
        again=run["repeat"] > 0,
        accuracies=["" if value is None else number(value, SHOWN) for value in of_run],
        kept=_path(places[one] for one in kept["component"].sort_values(kind="stable")),
        heads=int((kept["kind"] == "head").sum()),
        mlps=int((kept["kind"] == "mlp").sum()),
    )


def _places(grid: pd.DataFrame) -> dict[int, tuple[float, float]]:
    """By component its square: heads of a layer side by side, then its MLP, lower; then the next layer."""
    places, x = {}, 0.0
    for _, layer in grid.groupby("layer"):
        for kind in ("head", "mlp"):
            for component in layer.loc[layer["kind"] == kind, "component"]:
                places[int(component)] = (round(x, 1), 1.0 if kind == "mlp" else 0.0)
                x += 1
        x += APART
    return places


def _path(places) -> str:
    """Squares of side 0.9 with their upper left corners at these places."""
    return "".join(f"M{x:g} {y:g}h.9v.9h-.9z" for x, y in places)


def _told(by_run: dict, accuracy: pd.DataFrame) -> dict:
    """What a page says of each run, in the rows' order: components by layer, and accuracies with intervals by subset.

    Its numbers are [accuracy, low, high] in the order of `subsets`; `full` has the full model's by checkpoint.
    """
    subsets = accuracy.dropna(subset="subset").drop_duplicates("subset")[["subset", "group"]]
    numbers = accuracy[["accuracy", "low", "high"]].round(SHOWN).astype(object)
    table = accuracy.assign(numbers=numbers.where(numbers.notna(), None).to_numpy().tolist())
    full = {key: _by_subset(one, subsets) for key, one in table[table["seed"].isna()].groupby(CHECKPOINT)}
    found = {key: _by_subset(one, subsets) for key, one in table.dropna(subset="seed").groupby(CELL)}
    return {
        "subsets": subsets["subset"].tolist(),
        "groups": [ROLES[group].label for group in subsets["group"]],
        "full": {f"{int(ft_seed)} {int(step)}": values for (ft_seed, step), values in full.items()},
        "runs": [{"layers": _layers(one), "values": found.get(key, [])} for key, one in by_run.items()],
    }


def _by_subset(rows: pd.DataFrame, subsets: pd.DataFrame) -> list:
    by_name = dict(zip(rows["subset"], rows["numbers"], strict=True))
    return [by_name.get(name) for name in subsets["subset"]]


def _layers(components: pd.DataFrame) -> list[str]:
    """Such as "layer 0: heads 1, 3; MLP", for every layer."""
    said = []
    for layer, of_layer in components.groupby("layer"):
        kept = of_layer[of_layer["kept"]]
        heads = [str(int(head)) for head in kept["head"].dropna().sort_values(kind="stable")]
        parts = [f"heads {', '.join(heads)}"] if heads else []
        parts += ["MLP"] if (kept["kind"] == "mlp").any() else []
        said.append(f"layer {layer}: {'; '.join(parts) or 'nothing'}")
    return said
