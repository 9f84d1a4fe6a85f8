"""The palette: one meaning for each colour, and the looks of the groups of subsets, J and AUC."""

from heuristic_core.experiments.subnetworks.analysis.accuracy import AUC, J
from heuristic_core.figures.roles import Role

# Okabe and Ito's palette, which colour-blind readers can distinguish, too.
ROLES = {
    "id": Role("ID", "#0072B2", "o", "-"),
    "ood": Role("OOD", "#D55E00", "^", "--"),
    "ood-entailment": Role("OOD-entailment", "#009E73", "s", "-."),
    "j": Role("J", "black", "D", "-"),
    "auc": Role("AUC", "0.45", "v", ":"),
    "mixed": Role("mixed, by subset", "#AA4499", "P", ":"),
    "mixed-1:1": Role("mixed, ID and OOD 1:1", "#AA4499", "P", ":"),
}
CORE_COLOUR = "#DDAA33"
REPEATED_COLOUR = "#8C510A"  # attention to the same word in the other sentence
SPARSITY_COLOURS = {"mid": "#90A4AE", "high": "#455A64"}
COLOURS = {group: role.colour for group, role in ROLES.items()}


def group_label(group: str) -> str:
    """Return the name of a row without a subset, such as "OOD, mean"; J and AUC are not means over subsets."""
    return ROLES[group].label if group in (J, AUC) else f"{ROLES[group].label}, mean"
