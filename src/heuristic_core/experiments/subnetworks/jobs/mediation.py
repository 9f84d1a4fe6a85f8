"""Mediation of the core's effect by later heads."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.experiments.subnetworks.analysis.contrasts import Levels
from heuristic_core.experiments.subnetworks.analysis.counter_heads import select_counter_heads
from heuristic_core.experiments.subnetworks.analysis.mediation import compute_mediation, plan_mediation
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluated_model import EvaluatedModel
from heuristic_core.experiments.subnetworks.jobs.evaluator import values_by_pair
from heuristic_core.interventions.evaluate import make_predictions
from heuristic_core.interventions.mediation import mediated_logits
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def mediate(
    core: Input,
    model: EvaluatedModel,
    mechanism: Mechanism,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    mediation: Output,
    counter_heads: Input | None = None,
) -> None:
    """Measure what later heads restore while the core is ablated, and what they transmit of the ablation.

    Args:
        core: The run's core (Parquet).
        model: The fine-tuned model and its evaluation pairs.
        mechanism: Settings of analyses that depend on the core.
        run: Identity of the checkpoint.
        mediation: Where to write the table (Parquet).
        counter_heads: Counter-heuristic heads (Parquet).
    """
    analysis = model.analysis
    settings, core_rows = mechanism.mediation, read_table(core)
    skip = mechanism.masks and mechanism.masks.by_group  # on these pairs heads were chosen
    evaluator = model.load(settings.pairs, skip)
    heads = core_rows.loc[core_rows["in_core"], "component"].tolist()
    counter = select_counter_heads(read_table(counter_heads)) if counter_heads else []
    cores = plan_mediation(heads, counter, evaluator.model.grid, settings.random_sets, analysis.seed)
    exchanged = [(ablated.heads, [mediators.heads for mediators in ablated.sets]) for ablated in cores]
    full, mediated = mediated_logits(evaluator.model, evaluator.pairs, evaluator.means, exchanged)

    def values(logits):
        return values_by_pair(logits.reshape(-1, *full.shape), evaluator.evaluation, analysis.class_rule)

    pairs = make_predictions(full.numpy(), evaluator.evaluation)
    levels = Levels(pairs, analysis.subsets, analysis.bootstrap, analysis.seed)
    interventions = (tuple(values(logits) for logits in core_logits) for core_logits in mediated)
    write_table("mediation", compute_mediation(run, cores, levels, values(full), interventions), mediation)
