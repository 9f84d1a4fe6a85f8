"""What statistics read of a list-sorting study: its tables, and values of its models by condition and training seed.

Statistics are of conditions all of whose models come to sort: what heads do where they fail to sort says nothing of how
lists are sorted. The other conditions are left out, and named beside the estimate.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, wraps

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic

WITH, WITHOUT, ANY = "with", "without", "any"  # weight decay
OF_HEADS = ("copying", "suppression")  # of the model's head that has most of it
NATS = ("loss", "entropy")
ACCURACY = "token_accuracy"
IDLE = 1e-3  # nats: a head without which neither loss nor entropy changes by more does nothing
SORTS_ABOVE = 95  # percent of sorted numbers that are right; the claims name the same limit


@dataclass(frozen=True)
class Evidence:
    """The tables of a study by schema name."""

    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table. Raises CannotSay where it has none."""
        if name not in self.tables or self.tables[name].empty:
            raise CannotSay(f"the study has no table {name}")
        return self.tables[name]

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """condition, seed, token_accuracy (0-1) and lists of every model at its last step, whether it sorts or not."""
        return self._last("sorting_models").dropna(subset=ACCURACY)[["condition", "seed", ACCURACY, "lists"]]

    @cached_property
    def left_out(self) -> pd.Series:
        """The conditions with a model that does not sort, and the lowest token accuracy of their models, percent."""
        lowest = 100 * self.accuracies.groupby("condition", sort=False)[ACCURACY].min().astype(float)
        return lowest[lowest <= SORTS_ABOVE]

    def conditions(self, decay: str = ANY) -> pd.DataFrame:
        """The rows of table "sorting_conditions" that sort, with weight decay, without, or any.

        Raises CannotSay for none.
        """
        if decay not in (WITH, WITHOUT, ANY):
            raise ValueError(f"decay = {decay!r} is not possible; give {WITH}, {WITHOUT} or {ANY}")
        rows = self.table("sorting_conditions")
        rows = rows[~rows["condition"].isin(self.left_out.index)]
        if rows.empty:
            raise CannotSay("in no condition all models sort")
        rows = rows if decay == ANY else rows[(rows["weight_decay"] > 0) == (decay == WITH)]
        if rows.empty:
            raise CannotSay(f"no condition {decay} weight decay sorts")
        return rows

    def at_end(self, name: str, table: str = "sorting_models") -> pd.DataFrame:
        """The rows of a table at the last step of each condition that sorts, where column `name` is known."""
        rows = self._last(table)
        return rows[rows["condition"].isin(self.conditions()["condition"])].dropna(subset=name)

    def models(self, measure: str, decay: str = ANY) -> pd.DataFrame:
        """A measure of every model at its last step, where it is known, percent or nats: [seeds, conditions].

        measure: a column of table "sorting_models"; or one of `OF_HEADS`, the highest of the model's heads. Raises
        CannotSay where no model has it.
        """
        rows = self.at_end(measure, "sorting_heads" if measure in OF_HEADS else "sorting_models")
        rows = rows[rows["condition"].isin(self.conditions(decay)["condition"])]
        if rows.empty:
            raise CannotSay(f"no model {decay} weight decay has a {measure}" if decay != ANY else f"no {measure}")
        found = rows.groupby(["seed", "condition"], sort=False)[measure].max().unstack("condition")
        return found.astype(float).sort_index() * (1 if measure in NATS else 100)

    @cached_property
    def idle(self) -> list[str]:
        """The heads that do nothing at the last step, such as "head 1 of l2, seed 3": their ablation by means changes
        neither loss nor entropy by more than `IDLE`. So does that of a head that does not attend to numbers, or puts
        out the same whatever it attends to. The folded OV matrix of such a head may have any soft overlap, or none.

        Raises CannotSay where no head was ablated.
        """
        rows = self.at_end("loss", "sorting_ablations")
        whole = rows[rows["kind"] == "none"].set_index(["condition", "seed"])
        single = rows[(rows["kind"] == "mean") & rows["ablated"].str.isdecimal()]
        if single.empty:
            raise CannotSay("no head was ablated by means")
        keys = pd.MultiIndex.from_frame(single[["condition", "seed"]])
        changes = (single[[*NATS]].astype(float) - whole[[*NATS]].astype(float).reindex(keys).to_numpy()).abs()
        idle = single[(changes <= IDLE).all(axis=1)]
        return [f"head {row.ablated} of {row.condition}, seed {row.seed}" for row in idle.itertuples()]

    def specialised(self, overlap: float) -> tuple[list[str], list[str]]:
        """The conditions whose soft overlap ends below `overlap` percent, mean over seeds, and the others."""
        means = self.models("soft_overlap").mean()
        return list(means.index[means < overlap]), list(means.index[means >= overlap])

    def pairs(self, alike: str, first: list[str], second: list[str]) -> list[tuple[str, str]]:
        """All pairs of a condition of `first` and one of `second` that differ in one thing alone.

        alike: column of table "sorting_conditions" whose digest leaves this thing out, such as but_decay.
        """
        digests = self.conditions().set_index("condition")[alike]
        return [(a, b) for a in first for b in second if digests[a] == digests[b]]

    def _last(self, table: str) -> pd.DataFrame:
        rows = self.table(table)
        last = self.table("sorting_conditions").set_index("condition")["steps"]
        return rows[rows["step"] == rows["condition"].map(last)]


def statistic_of_sorting(function: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Register a statistic of conditions that sort: its detail, or why it cannot be had, names those left out."""

    @wraps(function)
    def named(evidence: Evidence, **options) -> Estimate:
        left_out = ", ".join(f"{name} {lowest:.3g} %" for name, lowest in evidence.left_out.items())
        beside = f"; left out, as a model sorts at most {SORTS_ABOVE} %: {left_out}" if left_out else ""
        try:
            found = function(evidence, **options)
        except CannotSay as reason:
            raise type(reason)(f"{reason}{beside}") from None
        return replace(found, detail=found.detail + beside)

    return statistic(named)
