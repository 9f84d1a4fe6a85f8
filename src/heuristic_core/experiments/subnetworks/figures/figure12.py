"""Figure 12: the spread of subnetworks' accuracies on all subsets, and of J and AUC on all families of HANS."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.spread import draw_spread
from heuristic_core.figures.drawing import Drawing, Tables


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw two panels for each fine-tuning seed: mid, then high sparsity.

    Args:
        tables: Data frames by schema name: "accuracy" and "family_scores", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point and per segment.
    """
    return draw_spread(tables, settings, context, settings.subsets, families=True)
