"""Effects of heads in random subnetworks."""

from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.experiments.subnetworks.analysis import counter_heads as counter_heads_analysis
from heuristic_core.experiments.subnetworks.analysis.mask_fit import compute_mask_fit
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def measure_head_effects(
    masks: Input,
    components: Input,
    mechanism: Mechanism,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    counter_heads: Output,
    mask_fit: Output,
    mask_tests: Output,
) -> None:
    """Measure what heads add to random subnetworks that contain the core, and how well that predicts learned ones.

    Args:
        masks: Masks and their scores (Parquet).
        components: Components of the sound mid-sparsity subnetworks (Parquet).
        mechanism: Settings of analyses that depend on the core.
        analysis: Settings of the analysis.
        run: Identity of the checkpoint.
        counter_heads: Where to write effects of heads (Parquet).
        mask_fit: Where to write how well they predict (Parquet).
        mask_tests: Where to write tests against chance (Parquet).
    """
    scores, seed, subsets = read_table(masks), analysis.seed, analysis.subsets
    identity = {name: values[0] for name, values in run.as_columns(1, "step").items()}
    bootstrap = mechanism.masks.bootstrap
    effects = counter_heads_analysis.compute_counter_heads(
        scores, read_table(components), identity, bootstrap, seed, subsets
    )
    write_table("counter_heads", effects, counter_heads)
    write_table("mask_fit", compute_mask_fit(scores, identity, subsets), mask_fit)
    write_table("mask_tests", counter_heads_analysis.compute_mask_tests(scores, identity, seed, subsets), mask_tests)
