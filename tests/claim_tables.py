"""Small tables of one study, on which claims and their statistics have known answers."""

from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, select_run
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.tables.parquet import as_frame, as_table
from heuristic_core.tables.schemas import get_schema

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
CONTEXT = Context(
    mid=0.3, high=0.5, last=30, seeds=(1, 2, 3, 4), curve_seeds=(1, 2), margin=3.0, early=10, early_seeds=(1, 2)
)


def table(name, rows):
    """Rows of a table, columns they lack null."""
    empty = dict.fromkeys(get_schema(name).names)
    return as_frame(as_table(name, [empty | RUN | row for row in rows]))


def evidence(**tables):
    return Evidence(CONTEXT, select_run({name: table(name, rows) for name, rows in tables.items()}, RUN))


def group_row(value, group="ood", sparsity=0.3, seed=1, **more):
    return {"step": 30, "sparsity": sparsity, "seed": seed, "repeat": 0, "group": group, "accuracy": value} | more


SPREAD = [group_row(value, seed=seed) for seed, value in ((1, 10.0), (2, 20.0), (3, 30.0), (4, 60.0))]
FULL = group_row(80.0, sparsity=0.0, seed=None, low=75.0, high=85.0, n=200, unit="template", units=12)


def actual(*shares):
    rows = [{"step": 30, "sparsity": 0.3, "seed": s, "repeat": 0, "component": 0} for s in (1, 2, 3, 4)]
    return [row | {"actual_sparsity": share} for row, share in zip(rows, shares, strict=True)]


def core_rows(in_core, early, size=4):
    return [
        {"component": c, "kind": "head", "layer": c // size, "head": c % size, "in_core": c in in_core}
        | {"mid": 4, "high": 4, "n_mid": 4, "n_high": 4, "n_early": 2, "early": 2 if c in early else 0}
        for c in range(2 * size)
    ]


def ablation(role, name, size, changes, **more):
    """changes: subset or None -> (group, change)."""
    base = {"step": 30, "kind": "mean", "ablation": name, "role": role, "size": size, "layers": "0+1", "n": 100}
    return [base | {"subset": s, "group": g, "change": c} | more for s, (g, c) in changes.items()]


JOINT = [
    *ablation("strongest", "0.0+1.1", 2, {None: ("id", -2.0)}, change_low=-3.0, change_high=-1.0),
    *ablation("strongest", "0.0+1.1", 2, {None: ("ood", -40.0)}, change_low=-44.0, change_high=-36.0, interaction=5.0),
    *ablation("strongest", "0.0+1.1", 2, {"a": ("ood", -50.0)}, accuracy=30.0, interaction=15.0, interaction_low=5.0,
              interaction_high=20.0),
    *ablation("strongest", "0.0+1.1", 2, {"b": ("ood", -30.0)}, accuracy=20.0, interaction=-5.0, interaction_low=-9.0,
              interaction_high=-1.0),
    *ablation("strongest", "0.0+1.1", 2, {None: ("j", -45.0)}, change_low=-51.0, change_high=-39.0, interaction=6.0,
              interaction_low=2.0, interaction_high=10.0),
    *(row for group in ("ood", "j") for k in range(40) for row in
      ablation("control", f"control {k}", 2, {None: (group, -0.5 * k)})),
]  # fmt: skip
