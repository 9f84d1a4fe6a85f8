"""What statistics read of a list-sorting study: its tables, and measures by condition and training seed.

Statistics use only conditions whose models all sort: what heads do where sorting fails says nothing about how lists are
sorted. The other conditions are left out and listed beside the estimate.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, wraps

import pandas as pd

from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, statistic
from heuristic_core.study.claims import Evidence as BaseEvidence

WITH_DECAY, WITHOUT_DECAY, ANY_DECAY = "with", "without", "any"  # weight decay
NATS = ("loss", "entropy")  # measures in nats; the others are in percent
ACCURACY = "token_accuracy"
IDLE_TOLERANCE = 1e-3  # nats; a head does nothing if ablating it changes loss and entropy by at most this
SORTS_ABOVE = 95  # percent of sorted numbers that are right; the claims name the same limit


class Evidence(BaseEvidence):
    """The tables of a study, and what its statistics read in them."""

    @cached_property
    def accuracies(self) -> pd.DataFrame:
        """Columns condition, seed, token_accuracy (0-1) and lists of every model at its last step.

        Models that do not sort are included.
        """
        return self._last("sorting_models").dropna(subset=ACCURACY)[["condition", "seed", ACCURACY, "lists"]]

    @cached_property
    def excluded_conditions(self) -> pd.Series:
        """Lowest token accuracy, percent, of each condition with a model that does not sort."""
        lowest = 100 * self.accuracies.groupby("condition", sort=False)[ACCURACY].min().astype(float)
        return lowest[lowest <= SORTS_ABOVE]

    def conditions(self, decay: str = ANY_DECAY) -> pd.DataFrame:
        """Return the rows of table "sorting_conditions" whose models all sort.

        Args:
            decay: WITH or WITHOUT weight decay, or ANY.

        Raises:
            DoesNotApply: In no condition all models sort.
            NotComputable: No condition with this decay does.
            ValueError: `decay` is unknown.
        """
        if decay not in (WITH_DECAY, WITHOUT_DECAY, ANY_DECAY):
            raise ValueError(f"unknown decay = {decay!r}; choose from {WITH_DECAY}, {WITHOUT_DECAY}, {ANY_DECAY}")
        rows = self.table("sorting_conditions")
        rows = rows[~rows["condition"].isin(self.excluded_conditions.index)]
        if rows.empty:
            raise DoesNotApply("in no condition all models sort")
        rows = rows if decay == ANY_DECAY else rows[(rows["weight_decay"] > 0) == (decay == WITH_DECAY)]
        if rows.empty:
            raise NotComputable(f"no condition {decay} weight decay sorts")
        return rows

    def select_final_rows(self, name: str, table: str = "sorting_models") -> pd.DataFrame:
        """Return the rows of a table at the last step of conditions that sort.

        Args:
            name: Column whose value must be known.
            table: Name of the table.
        """
        rows = self._last(table)
        return rows[rows["condition"].isin(self.conditions()["condition"])].dropna(subset=name)

    def measure_by_seed(self, measure: str, decay: str = ANY_DECAY) -> pd.DataFrame:
        """Return a measure of every model at its last step, percent or nats, [seeds, conditions].

        Args:
            measure: A column of table "sorting_models".
            decay: WITH or WITHOUT weight decay, or ANY.

        Raises:
            NotComputable: No model has the measure.
        """
        rows = self.select_final_rows(measure)
        rows = rows[rows["condition"].isin(self.conditions(decay)["condition"])]
        if rows.empty:
            raise NotComputable(
                f"no model {decay} weight decay has the measure {measure}" if decay != ANY_DECAY else f"no {measure}"
            )
        values = rows.pivot(index="seed", columns="condition", values=measure)[rows["condition"].unique()]
        return values.astype(float).sort_index() * (1 if measure in NATS else 100)

    @cached_property
    def idle_heads(self) -> list[str]:
        """Heads whose mean ablation changes neither loss nor entropy by more than `IDLE_TOLERANCE` at the last step.

        Names are such as "head 1 of l2, seed 3". Such a head does not attend to numbers, or writes the same whatever it
        attends to. Overlap with it is low, or not defined.

        Raises:
            NotComputable: No head was ablated by means.
        """
        rows = self.select_final_rows("loss", "sorting_ablations")
        whole = rows[rows["kind"] == "none"].set_index(["condition", "seed"])
        single = rows[(rows["kind"] == "mean") & rows["ablated"].str.isdecimal()]
        if single.empty:
            raise NotComputable("no head was ablated by means")
        keys = pd.MultiIndex.from_frame(single[["condition", "seed"]])
        changes = (single[[*NATS]].astype(float) - whole[[*NATS]].astype(float).reindex(keys).to_numpy()).abs()
        idle = single[(changes <= IDLE_TOLERANCE).all(axis=1)]
        return [f"head {row.ablated} of {row.condition}, seed {row.seed}" for row in idle.itertuples()]

    def split_by_overlap(self, overlap: float) -> tuple[list[str], list[str]]:
        """Return the conditions whose mean overlap ends below `overlap` percent, and the others.

        Raises:
            DoesNotApply: There is no such condition.
        """
        means = self.measure_by_seed("overlap").mean()
        if not (means < overlap).any():
            raise DoesNotApply(f"in no condition the mean overlap ends below {overlap:g} %")
        return list(means.index[means < overlap]), list(means.index[means >= overlap])

    def pair_conditions(self, alike: str, first: list[str], second: list[str]) -> list[tuple[str, str]]:
        """Return all pairs of a condition of `first` and one of `second` that differ in one thing only.

        Args:
            alike: Column of table "sorting_conditions" whose digest leaves this thing out, such as but_decay.
            first: Names of conditions.
            second: Names of conditions.
        """
        digests = self.conditions().set_index("condition")[alike]
        return [(a, b) for a in first for b in second if digests[a] == digests[b]]

    def _last(self, table: str) -> pd.DataFrame:
        """Return the rows of a table at the last step of each condition."""
        rows = self.table(table)
        last = self.table("sorting_conditions").set_index("condition")["steps"]
        return rows[rows["step"] == rows["condition"].map(last)]


def sorting_statistic(function: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Register a statistic of conditions that sort.

    Its detail, or the reason why it is missing, lists the conditions left out.
    """

    @wraps(function)
    def list_excluded(evidence: Evidence, **options) -> Estimate:
        left_out = ", ".join(f"{name} {lowest:.3g} %" for name, lowest in evidence.excluded_conditions.items())
        suffix = f"; left out, as a model sorts at most {SORTS_ABOVE} %: {left_out}" if left_out else ""
        try:
            estimate = function(evidence, **options)
        except NotComputable as reason:
            raise type(reason)(f"{reason}{suffix}") from None
        return replace(estimate, detail=estimate.detail + suffix)

    return statistic(list_excluded)
