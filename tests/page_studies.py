"""Small finished studies, as their pages read them: tables with exact numbers, two figures, one table."""

import json

import numpy as np
import pandas as pd
from conftest import ROOT
from matplotlib.figure import Figure as Canvas

from heuristic_core.common.atomic import write_text
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import table3, write
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import write_table
from heuristic_core.tables.schemas import get_schema

RUN = {"study": "s", "model": "m", "task": "t"}
LAST, MID, HIGH, SEEDS = 2200, 0.35, 0.5, (42, 43, 44)
CONTEXT = Context(mid=MID, high=HIGH, last=LAST, seeds=SEEDS, curve_seeds=SEEDS, checkpoints=(1000, LAST), margin=3.0)
SUBSETS = {"in_domain": ("id", None), "ln_swap": ("ood", "lexical_overlap"), "cn_if": ("ood", "constituent")}
FULL = {"in_domain": 99.0, "ln_swap": 60.0, "cn_if": 40.0}
# Of table 3: three rows of accuracies.
ABLATED = [
    {"row": "none", "column": "ln_swap", "accuracy": 12.5},
    {"row": "none", "column": "cn_if", "accuracy": -3.0},
    {"row": "head 0.1", "column": "ln_swap", "accuracy": 7.2},
    {"row": "head 0.1", "column": "cn_if", "accuracy": 1.5},
    {"row": "all core heads", "column": "ln_swap", "accuracy": 100.0},
    {"row": "all core heads", "column": "cn_if"},
]

NOT_COUNTED = {"in_training": None, "in_training_same_label": None, "in_training_swapped": None}
READ = {
    "group": None,
    "source": "pairs.csv",
    "rows": 61234,
    "torn": 5,
    "not_chosen": 1000,
    "other_label": 0,
    "unlabelled": 34,
    "overlapping": 0,
    "not_drawn": 195,
    "used": 60000,
    "truncated": 900,
    "truncated_share": 0.015,
    "unknown_share": 0.0,
}
SPLITS = [
    READ | {"set": "train", "subset": "train", "duplicates": 7} | NOT_COUNTED,
    READ
    | {"set": "cn_if", "subset": "cn_if", "group": "ood", "duplicates": 0}
    | {"in_training": 3, "in_training_same_label": 1, "in_training_swapped": 2},
]


def table(name, rows):
    """Rows with columns left out, which are null."""
    return [dict.fromkeys(get_schema(name).names) | RUN | row for row in rows]


def accuracy_rows(ft_seeds, shift):
    for ft_seed in ft_seeds:
        for step in (1000, LAST):
            for subset, (group, family) in SUBSETS.items():
                value = FULL[subset] + shift - (LAST - step) / 100 + ft_seed
                missing = step == 1000 and subset == "cn_if"
                yield {
                    "ft_seed": ft_seed, "step": step, "sparsity": 0.0, "repeat": 0, "subset": subset, "group": group,
                    "family": family, "n": 100, "accuracy": None if missing else value, "low": value - 4,
                    "high": value + 4, "unit": "pair", "reason": "the run failed" if missing else None,
                }  # fmt: skip


def group_rows(ft_seeds, shift):
    for ft_seed in ft_seeds:
        for group, value, half in (("id", 95.0, 2.0), ("ood", 50.0, 5.0)):
            value += shift
            yield {
                "ft_seed": ft_seed, "step": LAST, "sparsity": 0.0, "repeat": 0, "group": group, "subsets": 2, "n": 200,
                "accuracy": value, "low": value - half, "high": value + half, "unit": "pair",
            }  # fmt: skip


def summary_rows(ft_seeds, shift):
    for sparsity in (0.0, MID, HIGH):
        for subset, (group, family) in {None: ("ood", None), **SUBSETS}.items():
            row = {"step": LAST, "sparsity": sparsity, "subset": subset, "group": group, "family": family}
            mean = 30.0 + shift - 20 * (sparsity - MID)
            for ft_seed in ft_seeds if sparsity else ():
                yield row | {"ft_seed": ft_seed, "over": "pruning seeds", "n": 12, "mean": mean, "sd": 6.0}
            yield row | {"over": "fine-tuning seeds", "n": len(ft_seeds), "mean": mean + 1, "sd": 2.0}


def size_rows(ft_seeds, shift):
    for ft_seed in ft_seeds:
        for step, group in ((1000, "ood"), (LAST, "id"), (LAST, "ood")):
            row = {
                "ft_seed": ft_seed, "step": step, "group": group, "criterion": "accuracy", "threshold": 3.0,
                "order": "per-seed", "full_accuracy": 50.0, "floor": 40.0,
            }  # fmt: skip
            for seed, size in zip((*SEEDS, None), (70.0, 80.0, 90.0, 80.0), strict=True):
                undefined = step == 1000
                reason = "full model at 0.7 %, below the margin of 3 points" if undefined else None
                yield row | {
                    "seed": seed, "effective_size": None if undefined else size + shift, "reason": reason,
                    "least": None if undefined else size + shift, "most": None if undefined else size + shift,
                    "n_seeds": 1 if seed else 3,
                }  # fmt: skip


def core_rows(ft_seeds, heads):
    for ft_seed in ft_seeds:
        for head in range(8):
            yield {
                "ft_seed": ft_seed, "component": head, "name": f"0.{head}", "kind": "head", "layer": 0, "head": head,
                "mid": 12, "high": 12 if head < heads else 3, "in_core": head < heads,
            }  # fmt: skip


def claim_rows(ft_seeds, last_verdict):
    first = {
        "claim": "disagree", "sentence": "Subnetworks disagree by <more> than 20 points", "paper": "figure 2",
        "threshold": "> 20", "family": "subnetworks",
    }  # fmt: skip
    yield first | {
        "verdict": "supported", "estimate": 61.5, "low": 50.0, "high": 73.0, "n": len(ft_seeds),
        "unit": "fine-tuning seeds", "detail": "both seeds support it", "p": 0.002, "p_holm": 0.004,
    }  # fmt: skip
    for ft_seed, estimate in zip(ft_seeds, (50.0, 73.0), strict=False):
        yield first | {
            "ft_seed": ft_seed, "verdict": "supported", "estimate": estimate, "low": estimate - 5,
            "high": estimate + 5, "n": 12, "unit": "pruning seeds", "detail": "widest on cn_if",
        }  # fmt: skip
    second = {"claim": "core", "sentence": "The core matters", "paper": "table 3", "threshold": "> 0"}
    second |= {"family": "ablation"}
    value = {"supported": 4.0, "contradicted": -4.5}.get(last_verdict)
    yield second | {
        "verdict": last_verdict, "estimate": value, "low": value and value - 1, "high": value and value + 1,
        "detail": "a core of one head",
    }  # fmt: skip


def make_marks(name, ft_seeds):
    """Values behind the marks of figure 2 or of figure 6: 85.5 % in-domain, 20 % out-of-domain."""
    groups = (("id", 85.5, "in_domain"), ("ood", 20.0, "cn_if"))
    if name == "figure02":
        return pd.DataFrame(
            {
                "study": "s", "ft_seed": ft_seed, "step": LAST, "sparsity": sparsity, "seed": seed, "subset": subset,
                "group": group, "n": 100, "accuracy": value, "low": value - 5, "high": value + 5, "unit": "pair",
                "collapsed": False,
            }
            for ft_seed in ft_seeds
            for sparsity, seed in ((0.0, None), *((sparsity, seed) for sparsity in (MID, HIGH) for seed in SEEDS))
            for group, value, subset in groups
        )  # fmt: skip
    return pd.DataFrame(
        {
            "ft_seed": ft_seed, "quantity": quantity, "group": group, "step": step, "seed": None, "value": value,
            "least": value, "most": value, "low": value - 3, "high": value + 3, "sd": 2.0, "n_seeds": 3,
            "floor": 40.0, "state": "defined", "reason": None, "collapsed": 0.0,
        }
        for ft_seed in ft_seeds
        for quantity in ("effective_size", "full_accuracy")
        for group, value, _ in groups
        for step in (1000, LAST)
    )  # fmt: skip


def component_rows(ft_seeds):
    """Two layers of two heads: the first pruning seed keeps head 0.1 and MLP 1, the others head 0.0 and MLP 0."""
    for run in (Identity(*RUN.values(), ft, LAST, s, seed) for ft in ft_seeds for s in (MID, HIGH) for seed in SEEDS):
        yield from Subnetwork(run, 2, 2, (1, 5) if run.seed == SEEDS[0] else (0, 4), (0.0,) * 6).rows()


def make_study(root, ft_seeds=(1, 2), shift=0.0, heads=4, verdict="not clear", figure="figure06"):
    """A finished study under `root`. shift: added to its accuracies and sizes; figure: that it has beside figure02."""
    rows = {
        "accuracy": accuracy_rows(ft_seeds, shift), "group_accuracy": group_rows(ft_seeds, shift),
        "summary": summary_rows(ft_seeds, shift), "effective_size": size_rows(ft_seeds, shift),
        "core": core_rows(ft_seeds, heads), "claims": claim_rows(ft_seeds, verdict),
        "components": component_rows(ft_seeds),
        "rank_correlation": (
            {"ft_seed": s, "step": LAST, "seeds": "shared", "rho": 0.8 + shift / 100, "low": 0.6, "high": 0.95, "n": 32}
            for s in ft_seeds
        ),
    }  # fmt: skip
    write_table("splits", SPLITS, root / "tables" / "splits.parquet")
    for name, of_table in rows.items():
        write_table(name, table(name, of_table), root / "tables" / f"{name}.parquet")
    settings = load_study(ROOT / "config.yaml").model_dump(mode="json")
    write_text(root / "study.json", json.dumps({"context": CONTEXT.model_dump(mode="json"), "settings": settings}))
    for name in ("figure02", figure):
        canvas = Canvas(figsize=(7, 2))
        canvas.subplots().plot(np.arange(5) * (1 + shift))
        write(root, name, canvas, make_marks(name, ft_seeds), Figure(dpi=100))
    ablated = pd.DataFrame(ABLATED).reindex(columns=table3.COLUMNS)
    write(root, "table3", None, ablated.assign(ft_seed=1, kind="mean", role="core", statistic="one"), Figure())
    return root
