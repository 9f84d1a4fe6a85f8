"""Labels of subsets that cannot be confused with labels of groups and measures."""

from collections import Counter
from collections.abc import Iterable, Mapping

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


def label_subsets(subsets: Iterable[str], names: Mapping[str, str]) -> dict[str, str]:
    """Map subsets to unique labels: their readable names where they have one of their own, else their labels.

    Args:
        subsets: Subsets.
        names: Subset -> readable name.
    """
    labels = {subset: subset_label(names.get(subset, subset)) for subset in sorted(subsets)}
    plain = {subset: subset_label(subset) for subset in labels}
    counts = Counter([*labels.values(), *(plain[subset] for subset in labels if labels[subset] != plain[subset])])
    return {subset: label if counts[label] == 1 else plain[subset] for subset, label in labels.items()}
