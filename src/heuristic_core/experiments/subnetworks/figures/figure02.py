"""Figure 2: the spread of subnetworks' accuracies on every evaluation subset, and of J and AUC, at both sparsities."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.rows import resolve_subsets
from heuristic_core.experiments.subnetworks.figures.spread import draw_spread
from heuristic_core.figures.drawing import Drawing, Tables

FIRST_LETTERS = {"mnli": "a", "qqp": "c"}  # the paper's panels


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a row of panels for each fine-tuning seed: mid and high sparsity.

    Args:
        tables: Data frames by schema name: "accuracy" and "group_accuracy", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point and per segment.
    """
    letter, subsets = FIRST_LETTERS[context.counterpart.task], resolve_subsets(settings, context)
    return draw_spread(tables, settings, context, subsets, families=False, first_letter=letter)
