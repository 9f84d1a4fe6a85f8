"""How the groups of subsets, J and AUC look wherever they appear."""

from heuristic_core.experiments.heuristic_core.analysis.accuracy import AUC, J
from heuristic_core.figures.roles import Role

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
