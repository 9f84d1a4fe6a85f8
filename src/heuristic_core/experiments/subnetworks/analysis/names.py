"""Labels of subsets that cannot be confused with labels of groups and measures."""

from heuristic_core.experiments.subnetworks.analysis.accuracy import ENTAILMENT, LABELS

# Labels of groups and measures in tables, figures and pages, alone or before a comma as in "ID, mean".
GROUP_LABELS = LABELS | {
    ENTAILMENT: "OOD-entailment",
    "mixed": "mixed, by subset",
    "mixed-1:1": "mixed, ID and OOD 1:1",
}
RESERVED_LABELS = {"", *GROUP_LABELS, *LABELS.values(), *(label.partition(",")[0] for label in GROUP_LABELS.values())}
SUBSET_SUFFIX = " (subset)"


def subset_label(subset: str) -> str:
    """Return the label of a subset: its name, marked where it could be taken for a group or a measure.

    Labels of subsets are unique, and none is the label of a group or a measure.
    """
    reserved = subset.partition(",")[0].strip() in RESERVED_LABELS
    return subset + SUBSET_SUFFIX if reserved or subset.endswith(SUBSET_SUFFIX) else subset
