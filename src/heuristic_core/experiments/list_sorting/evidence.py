"""What statistics read of a list-sorting study: its tables, and values of its models by condition and training seed."""

from dataclasses import dataclass

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay

WITH, WITHOUT, ANY = "with", "without", "any"  # weight decay
OF_HEADS = ("copying", "suppression")  # of the model's head that has most of it
NATS = ("loss", "entropy")
DATA = ["numbers", "length", "mean_gap"]
MODEL = ["heads", "layer_norm", "biases", "steps"]  # the model, and for how long it is trained
DECAY = ["optimiser", "weight_decay"]


@dataclass(frozen=True)
class Evidence:
    """The tables of a study by schema name."""

    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table. Raises CannotSay where it has none."""
        if name not in self.tables or self.tables[name].empty:
            raise CannotSay(f"the study has no table {name}")
        return self.tables[name]

    def conditions(self, decay: str = ANY) -> pd.DataFrame:
        """The rows of table "sorting_conditions" with weight decay, without, or any. Raises CannotSay for none."""
        if decay not in (WITH, WITHOUT, ANY):
            raise ValueError(f"decay = {decay!r} is not possible; give {WITH}, {WITHOUT} or {ANY}")
        rows = self.table("sorting_conditions")
        rows = rows if decay == ANY else rows[(rows["weight_decay"] > 0) == (decay == WITH)]
        if rows.empty:
            raise CannotSay(f"the study has no condition {decay} weight decay")
        return rows

    def at_end(self, name: str, table: str = "sorting_models") -> pd.DataFrame:
        """The rows of a table at the last step of each condition."""
        rows = self.table(table)
        last = self.table("sorting_conditions").set_index("condition")["steps"]
        return rows[rows["step"] == rows["condition"].map(last)].dropna(subset=name)

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

    def specialised(self, overlap: float) -> tuple[list[str], list[str]]:
        """The conditions whose soft overlap ends below `overlap` percent, mean over seeds, and the others."""
        means = self.models("soft_overlap").mean()
        return list(means.index[means < overlap]), list(means.index[means >= overlap])
