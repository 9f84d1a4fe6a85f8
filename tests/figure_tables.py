"""A small synthetic study for the figures, of 2 fine-tuning and 12 pruning seeds: tables of accuracies and sizes."""

from itertools import product

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import mean_interval
from heuristic_core.tables.schemas import SCHEMAS

FT_SEEDS, STEPS = (1, 2), (600, 1000, 1400, 2200)
CONTEXT = Context(
    mid=0.35, high=0.5, last=2200, seeds=tuple(range(42, 54)), curve_seeds=(42, 43, 44), checkpoints=STEPS,
    repeats=(42, 43), margin=3.0,
)  # fmt: skip
SPARSITIES = (0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6)
CASES = ("prep", "rel", "passive", "conj"), ("pp", "np"), ("if", "verb", "adv")
FAMILIES = dict(zip("lsc", ("lexical_overlap", "subsequence", "constituent"), strict=True))
SUBSETS = {"in_domain": ("id", None)} | {
    f"{letter}{kind}_{case}": (group, family)
    for kind, group in (("n", "ood"), ("e", "ood-entailment"))
    for (letter, family), cases in zip(FAMILIES.items(), CASES, strict=True)
    for case in cases
}


def filter_rows(rows, **values):
    for column, value in values.items():
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    return rows


def table(name, rows):
    """What no figure shows may be left out of `rows`, and is null."""
    rows = list(rows)
    assert not (unknown := set().union(*rows) - set(SCHEMAS[name])), (name, unknown)
    return make_frame(name, rows)


def run(ft_seed, **values):
    return {"study": "s", "model": "m", "task": "t", "ft_seed": ft_seed} | values


def subset_rows(rng, means, scale):
    """One accuracy per subset around the mean of its group."""
    for subset, (group, family) in sorted(SUBSETS.items()):
        mean = means[group] * (rng.uniform(0.2, 1.8) if group == "ood" and scale else 1)
        noise = scale * rng.normal() if means[group] < 99 else -abs(rng.normal())
        accuracy = float(np.clip(round(mean + noise), 0, 100))
        interval = {"low": max(0.0, accuracy - 8), "high": min(100.0, accuracy + 6), "unit": "example"}
        yield {"subset": subset, "group": group, "family": family, "n": 100, "accuracy": accuracy} | interval


def accuracy_rows(rng):
    for ft_seed in FT_SEEDS:
        full = {"id": 100, "ood": 70, "ood-entailment": 96}
        run_keys = run(ft_seed, step=2200)
        yield from (run_keys | {"sparsity": 0.0, "seed": None, "repeat": 0} | row for row in subset_rows(rng, full, 12))
        for sparsity in SPARSITIES:
            decay = max(0, 1 - sparsity / 0.5)
            means = {"id": 100 - 12 * sparsity**2, "ood": 70 * decay, "ood-entailment": 96}
            for seed in CONTEXT.seeds if sparsity in (0.35, 0.5) else CONTEXT.curve_seeds:
                identity = run_keys | {"sparsity": sparsity, "seed": seed, "repeat": 0}
                yield from (identity | row for row in subset_rows(rng, means, 8 * decay))
        for seed in CONTEXT.repeats:  # another run of a seed: no figure but those of `curve_repeat` 1 may show it
            identity = run_keys | {"sparsity": 0.35, "seed": seed, "repeat": 1}
            yield from (identity | row for row in subset_rows(rng, dict.fromkeys(full, 1.0), 0))


def group_accuracy_rows(accuracy):
    keys = ["study", "model", "task", "ft_seed", "step", "sparsity", "seed", "repeat", "group"]
    by_group = accuracy.astype({"seed": object}).groupby(keys, dropna=False, sort=False)
    for key, of_group in by_group:
        values = of_group[["accuracy", "low", "high"]].mean().to_dict() | {"n": 900, "unit": "example"}
        yield dict(zip(keys, key, strict=True)) | {"subsets": len(of_group)} | values


def measured(rows):
    """Rows of J, with intervals, and beside them of AUC, as of a model whose ROC curve has one corner."""
    j = rows[rows["group"] == "j"].assign(unit="example")
    j = j.assign(low=(j["accuracy"] - 4).clip(-100, 100), high=(j["accuracy"] + 4).clip(-100, 100))
    auc = {name: 50 + j[name] / 2 for name in ("accuracy", "low", "high")}
    return pd.concat([j, j.assign(group="auc", **auc)], ignore_index=True)


def summary_rows(accuracy, group_accuracy):
    """Over pruning seeds, then over fine-tuning seeds."""
    rows = pd.concat([accuracy, group_accuracy])
    rows = rows[rows["sparsity"].isin([0.0, 0.35, 0.5]) & (rows["repeat"] == 0)].astype({"subset": object})
    keys = ["study", "model", "task", "step", "sparsity", "subset", "group", "family"]
    means = [
        condensed(of_cell["accuracy"], "pruning seeds") | dict(zip(["ft_seed", *keys], key, strict=True))
        for key, of_cell in rows.groupby(["ft_seed", *keys], dropna=False, sort=False)
    ]
    yield from (row for row in means if row["sparsity"])  # the full model's own is no mean over pruning seeds
    for key, of_cell in pd.DataFrame(means).groupby(keys, dropna=False, sort=False):
        yield condensed(of_cell["mean"], "fine-tuning seeds") | dict(zip(keys, key, strict=True)) | {"ft_seed": None}


def condensed(values, over):
    mean, low, high = mean_interval(values)
    row = {"over": over, "n": len(values), "mean": mean, "low": low, "high": high, "left_out": 0}
    return row | {"sd": float(values.std()), "min": float(values.min()), "max": float(values.max())}


def variance_rows():
    places = list(SUBSETS.items()) + [(None, (group, None)) for group in ("id", "ood", "ood-entailment")]
    for ft_seed in FT_SEEDS:
        for sparsity in (0.35, 0.5):
            for subset, (group, family) in places:
                place = {"step": 2200, "sparsity": sparsity, "subset": subset, "group": group, "family": family}
                values = {"between_sd": 6.25, "seeds": 12, "within_sd": 1.5, "repeated": 2, "same_masks": None}
                yield run(ft_seed) | place | (values if sparsity == 0.35 else values | {"same_masks": 1})


def trace_rows(rng):
    for ft_seed in FT_SEEDS:
        for step in range(100, 2201, 100):
            known = 1 / (1 + np.exp(-(step - 1500) / 120))
            means = {"id": min(100, step / 4), "ood": 72 * known, "ood-entailment": 99 - 8 * known}
            yield from (run(ft_seed, step=step) | row for row in subset_rows(rng, means, 3 * known))


def lesion_rows(trace):
    """Without overlap heads the rise comes later and ends lower; fine-tuning seed 2 has fewer others."""
    for row in trace:
        for lesion, size, left in (("overlap", 6, 0.5), ("random1", 7 - row["ft_seed"], 0.95), ("random2", 6, 0.9)):
            out = {"lesion": lesion, "heads": list(range(size)), "size": size}
            lost = {name: left * row[name] for name in ("accuracy", "low", "high")} if row["group"] == "ood" else {}
            yield row | out | lost


SIZES = {"id": 46.7, "ood": 93.3, "ood-entailment": 60.0, "mixed": 76.7, "mixed-1:1": 70.0, "j": 95.0}
CRITERIA = (("accuracy", 3.0), ("accuracy", 5.0), ("recovery", 95.0), ("agreement", 95.0), ("kl", 0.1))


def effective_size_rows(rng):
    for ft_seed in FT_SEEDS:
        for step in STEPS:
            for (group, percent), (criterion, threshold) in product(SIZES.items(), CRITERIA):
                full = 0.7 if group == "ood" and step < 1400 else 80.0
                size = None if full < 3 else percent - 3 * ft_seed - (threshold == 5)
                row = run(ft_seed, step=step, group=group, criterion=criterion, threshold=threshold)
                row |= {"full_accuracy": full, "effective_size": size, "floor": 30.0 + 10 * ft_seed}
                row |= {"least": size, "most": size}
                row["reason"] = None if size else "undefined: full model at 0.7 %, below the margin of 3 points"
                sd = float(rng.uniform(2, 9)) if size else None
                yield row | {"order": "per-seed", "seed": None, "sd": sd, "n_seeds": 3}
                yield row | {"order": "upward", "seed": None, "sd": sd, "n_seeds": 3}
                yield row | {"order": "mean-first", "seed": None, "sd": None, "n_seeds": 3}
                yield row | {"order": "per-seed", "seed": 42, "sd": None, "n_seeds": 1}


def circuit_performance_rows():
    """The size of OOD is undefined before step 1400, as above."""
    for ft_seed, step, group in product(FT_SEEDS, STEPS, ("id", "ood", "j")):
        row = run(ft_seed, step=step, group=group, full_accuracy=80.0, empty_accuracy=10.0)
        why = "undefined: the full model is not above the empty circuit" if group == "ood" and step < 1400 else None
        for seed in (*CONTEXT.curve_seeds, None):
            cmd = 30.0 + (seed or 43) - 43 + 20 * (group != "id")
            area = {} if why else {
                "cpr": 98 - cmd, "cpr_low": 90 - cmd, "cpr_high": 105 - cmd, "cmd": cmd, "cmd_low": cmd - 8,
                "cmd_high": cmd + 7,
            }  # fmt: skip
            yield row | area | {"seed": seed, "n_seeds": 1 if seed else 3, "reason": why}


def control_rows(rng):
    levels = {"learned": 80.0, "random": 45.0, "importance": 60.0}
    for ft_seed in FT_SEEDS:
        for sparsity in (CONTEXT.mid, CONTEXT.high):
            places = [*((s, *SUBSETS[s]) for s in SUBSETS), *((None, g, None) for g in ("id", "ood", "ood-entailment"))]
            for subset, group, family in places:
                learned = levels["learned"] + rng.normal()
                for control, level in levels.items():
                    single, difference = control == "importance", learned - level
                    compared = control != "learned"
                    yield run(ft_seed, step=2200, sparsity=sparsity, control=control) | {
                        "subset": subset, "group": group, "family": family, "n": 1 if single else 12, "left_out": 0,
                        "accuracy": level if compared else learned, "sd": None if single else 2.5,
                        "difference": difference if compared else None,
                        "difference_low": difference - 5 if compared else None,
                        "difference_high": difference + 5 if compared else None,
                    }  # fmt: skip
