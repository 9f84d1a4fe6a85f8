"""Figure 12: the spread of subnetworks' accuracies on all subsets, and of J and AUC on all families of HANS."""

from heuristic_core.experiments.heuristic_core.figures.spread import spread


def draw(tables, settings, context):
    """Rows: fine-tuning seeds, each at mid, then at high sparsity. Marks: one row per point and per segment."""
    return spread(tables, settings, context, settings.subsets, families=True)
