"""How what is compared looks wherever it appears."""

from typing import NamedTuple

from heuristic_core.analysis.accuracy import AUC, J


class Role(NamedTuple):
    """The look of a group of subsets, or of another kind of line. Readable without colour."""

    label: str
    colour: str
    marker: str = ""
    line: str = "-"


# Okabe and Ito's palette: distinct to colour-blind readers too.
ROLES = {
    "id": Role("ID", "#0072B2", "o", "-"),
    "ood": Role("OOD", "#D55E00", "^", "--"),
    "ood-entailment": Role("OOD-entailment", "#009E73", "s", "-."),
    "j": Role("J", "black", "D", "-"),
    "auc": Role("AUC", "0.45", "v", ":"),
    "mixed": Role("mixed, by subset", "#AA4499", "P", ":"),
    "mixed-1:1": Role("mixed, ID and OOD 1:1", "#AA4499", "P", ":"),
}
COLOURS = {group: role.colour for group, role in ROLES.items()}


def group_label(group: str) -> str:
    """The name of a row of no subset, such as "OOD, mean"; J and AUC are no means over subsets."""
    return ROLES[group].label if group in (J, AUC) else f"{ROLES[group].label}, mean"
