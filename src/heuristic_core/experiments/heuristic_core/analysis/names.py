"""Names of subsets beside names of groups and measures, wherever both head rows, columns or lines."""

from heuristic_core.experiments.heuristic_core.analysis.accuracy import ENTAILMENT, LABELS

# What tables, figures and pages call groups and measures, alone or before a comma, as in "ID, mean".
GROUP_LABELS = LABELS | {
    ENTAILMENT: "OOD-entailment",
    "mixed": "mixed, by subset",
    "mixed-1:1": "mixed, ID and OOD 1:1",
}
OURS = {"", *GROUP_LABELS, *LABELS.values(), *(label.partition(",")[0] for label in GROUP_LABELS.values())}
MARK = " (subset)"


def subset_label(subset: str) -> str:
    """What a subset is called beside groups: its name, marked where it could be taken for one of ours.

    No two subsets have one label, and no label is that of a group or a measure.
    """
    ours = subset.partition(",")[0].strip() in OURS
    return subset + MARK if ours or subset.endswith(MARK) else subset
