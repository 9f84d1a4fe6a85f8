"""What a claim may look at: one fine-tuning run's tables, and the ways in which claims read them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from heuristic_core.analysis.accuracy import chosen, group_means
from heuristic_core.config.context import Context


class CannotSay(Exception):
    """A claim can be neither shown nor denied; the message says what is missing."""


class Verdict(NamedTuple):
    """shown: whether a run shows a claim. estimate: the numbers behind it, in words."""

    shown: bool
    estimate: str


@dataclass(frozen=True)
class Evidence:
    """The tables of one fine-tuning run, by their schema names, and what to know of the study.

    Group means are restricted to the context's subsets. Only entailment-class accuracy takes every
    "ood-entailment" subset of the families that the out-of-domain subsets belong to: it is there to check those.
    Every method raises CannotSay where what it should return is missing.
    """

    context: Context
    accuracy: pd.DataFrame
    finetune_accuracy: pd.DataFrame
    core: pd.DataFrame
    core_null: pd.DataFrame
    rank_correlation: pd.DataFrame
    effective_size: pd.DataFrame
    ablations: pd.DataFrame

    def training_curve(self) -> pd.DataFrame:
        """The full model's accuracy over fine-tuning, percent: steps x groups id and ood."""
        what = "evaluation of the full model over fine-tuning"
        means = group_means(complete(self.finetune_accuracy, what), self.context.subsets)
        curve = means.pivot(index="step", columns="group", values="accuracy")
        return complete(curve.reindex(columns=["id", "ood"]), what, "id", "ood")

    def entailment_at(self, steps: Sequence[int]) -> pd.Series:
        """The full model's entailment-class accuracy over fine-tuning, percent: by step, as `steps` are given."""
        what = "ood-entailment evaluation of the full model over fine-tuning"
        rows = complete(self._of_group(self.finetune_accuracy, "ood-entailment"), what, "accuracy")
        means = rows.groupby("step")[["accuracy"]].mean().reindex(list(steps))
        return complete(means, what, "accuracy")["accuracy"]

    def full(self, group: str) -> float:
        """The full model's accuracy on a group at the last checkpoint, percent."""
        at_last = self.accuracy["step"] == self.context.last
        values = self._of_group(self.accuracy[at_last & self.accuracy["seed"].isna()], group)
        return complete(values, f"{group} evaluation of the full model", "accuracy")["accuracy"].mean()

    def spread(self, sparsity: float, group: str) -> pd.DataFrame:
        """Accuracy of the last checkpoint's subnetworks of one sparsity, percent: seeds x subsets of a group."""
        seeds = list(self.context.seeds)
        here = (self.accuracy["step"] == self.context.last) & (self.accuracy["sparsity"] == sparsity)
        rows = self.accuracy[here & self.accuracy["seed"].isin(seeds)]
        if (present := rows["seed"].nunique()) < len(seeds):
            raise CannotSay(f"only {present} of {len(seeds)} subnetworks at sparsity {sparsity:g}")
        values = complete(self._of_group(rows, group), f"{group} evaluation at sparsity {sparsity:g}", "accuracy")
        return values.pivot(index="seed", columns="subset", values="accuracy")

    def spread_mean(self, sparsity: float, group: str) -> pd.Series:
        """The same, averaged over the subsets: by pruning seed."""
        return self.spread(sparsity, group).mean(axis="columns")

    def null(self, name: str) -> pd.Series:
        """The row of table "core_null" for a set of subnetworks."""
        rows = self.core_null[self.core_null["set"] == name]
        return complete(rows, f"comparison of {name} subnetworks with chance").iloc[0]

    def core_heads(self) -> pd.DataFrame:
        """The rows of the core's heads in table "core"."""
        rows = complete(self.core, "subnetworks to take a core from", "in_core")
        return rows[rows["in_core"].astype(bool)]

    def effective_sizes(self, group: str) -> pd.DataFrame:
        """The per-seed summaries of effective size on a group, by ascending step."""
        table = self.effective_size
        rows = table[(table["group"] == group) & (table["order"] == "per-seed") & table["seed"].isna()]
        return complete(rows, f"effective sizes on {group}", "step").set_index("step").sort_index()

    def largest_ablation(self) -> pd.DataFrame:
        """Rows of table "ablations" for the three strongest core heads, or for all of a core of one or two."""
        for role in ("strongest", "pair", "core"):
            rows = self.ablations[self.ablations["role"] == role]
            if len(rows):
                return rows
        raise CannotSay("no core head was ablated")

    def single_ablations(self) -> pd.DataFrame:
        """Points that ablating one head costs: heads by name, in the table's order, x role, layer, id and ood."""
        rows = self.ablations[self.ablations["role"].isin(["core", "non-core"]) & self.ablations["subset"].isna()]
        costs = -rows.pivot(index=["ablation", "role"], columns="group", values="change")
        costs = costs.reindex(columns=["id", "ood"]).reset_index("role").loc[rows["ablation"].unique()]
        costs["layer"] = costs.index.str.partition(".").get_level_values(0).astype(int)
        return complete(costs, "ablations of single heads", "id", "ood")

    def entailment_cost(self, ablation: pd.DataFrame) -> float:
        """Points of entailment-class accuracy that an ablation costs; its rows of table "ablations"."""
        what = f"ood-entailment evaluation of ablation {ablation['ablation'].iloc[0]}"
        return -complete(self._of_group(ablation, "ood-entailment"), what, "change")["change"].mean()

    def _of_group(self, rows: pd.DataFrame, group: str) -> pd.DataFrame:
        """Those rows, of one subset each, that enter the mean of a group."""
        selected = chosen(self.accuracy, self.context.subsets)
        if group == "ood-entailment":
            families = selected.loc[selected["group"] == "ood", "family"]
            selected = self.accuracy[self.accuracy["family"].isin(families)]
        return rows[(rows["group"] == group) & rows["subset"].isin(selected["subset"])]


def group_row(ablation: pd.DataFrame, group: str) -> pd.Series:
    """The row with the mean over a group, among one ablation's rows of table "ablations"."""
    rows = ablation[ablation["subset"].isna() & (ablation["group"] == group)]
    return complete(rows, f"{group} evaluation of ablation {ablation['ablation'].iloc[0]}", "change").iloc[0]


def complete(values: pd.DataFrame, what: str, *columns: str) -> pd.DataFrame:
    """`values`, unless it is empty or one of its `columns` has nulls: then a claim stays open."""
    if not len(values) or values[list(columns)].isna().to_numpy().any():
        raise CannotSay(f"no {what}" if not len(values) else f"missing values: {what}")
    return values


def entailment_class(read: Callable[[], str]) -> str:
    """For instance "entailment class 99.8 %"; where `read` cannot say, why: no verdict hangs on these numbers."""
    try:
        return f"entailment class {read()}"
    except CannotSay as reason:
        return f"entailment class unknown ({reason})"


def span(values: pd.Series) -> str:
    """The range of `values` in words: "93.3 to 99.8 %"."""
    return f"{values.min():.1f} to {values.max():.1f} %"
