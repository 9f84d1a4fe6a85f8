"""Accuracies by sparsity as small tables, and the effective sizes that they give."""

from heuristic_core.experiments.subnetworks.analysis.effective_size import compute_effective_size
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
GRID = Analysis(margins=[3.0], recovery=[], effective_size="grid")
ONE = GRID.model_copy(update={"effective_size": "interpolated"})


def cell(step, sparsity, seed, repeat=0, column="accuracy", **subsets):
    """Rows of table "accuracy". subsets: group_name=value, the group before the first underscore."""
    for name, value in subsets.items():
        group = name.split("_")[0].replace("entailment", "ood-entailment")
        about = {"step": step, "sparsity": sparsity, "seed": seed, "repeat": repeat, "subset": name, "group": group}
        yield RUN | about | {column: value}


def curves(full, by_seed, step=10, name="id_a"):
    """The full model and, per seed, accuracies by sparsity, on one subset."""
    yield from cell(step, 0.0, None, **{name: full})
    for seed, curve in by_seed.items():
        for sparsity, value in curve.items():
            yield from cell(step, sparsity, seed, **{name: value})


def sizes(rows, seeds, analysis=GRID, steps=(10, 20, 30, 40), curve_repeat=0, groups=None):
    """Table "effective_size". groups: rows of table "group_accuracy"."""
    settings = {"curve_seeds": tuple(seeds), "checkpoints": steps, "curve_repeat": curve_repeat}
    context = Context(mid=0.3, high=0.5, last=40, seeds=(1, 2), **settings)
    groups = None if groups is None else make_frame("group_accuracy", list(groups))
    return compute_effective_size(make_frame("accuracy", list(rows)), analysis, context, groups=groups)


def summary(result, order, column="effective_size", step=10, group="id", **values):
    """One value of the only row of an order over all seeds."""
    rows = result[result["seed"].isna()]
    for key, value in ({"order": order, "step": step, "group": group} | values).items():
        rows = rows[rows[key] == value]
    (row,) = rows.to_dict("records")
    return row[column]


# Faithful above 87: seed 1 up to 0.1 and again at 0.5; seed 2 up to 0.3; their mean up to 0.3 (88, 87.5, 86.5).
TWO = {1: {0.1: 88.0, 0.3: 86.0, 0.5: 88.0}, 2: {0.1: 88.0, 0.3: 89.0, 0.5: 85.0}}
