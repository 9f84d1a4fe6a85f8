"""Path patching between core heads and later heads."""

from typing import Annotated

import numpy as np
import pandas as pd

from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.data.encoded import Encoded
from heuristic_core.data.minimal_pairs import SWAP_SUBSET, select_paired
from heuristic_core.experiments.subnetworks.analysis.contrasts import Levels
from heuristic_core.experiments.subnetworks.analysis.path_effects import Effects, compute_paths, list_senders
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluated_model import EvaluatedModel
from heuristic_core.experiments.subnetworks.jobs.evaluator import values_by_pair
from heuristic_core.interventions.evaluate import make_predictions
from heuristic_core.interventions.path_patching import donor_from_pairs, path_logits
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.interventions import mean_source
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def patch_paths(
    core: Input,
    model: EvaluatedModel,
    mechanism: Mechanism,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    paths: Output,
    minimal: Input | None = None,
) -> None:
    """Measure direct effects of core heads on queries, keys and values of later heads, and on the logits.

    Args:
        core: The run's core (Parquet).
        model: The fine-tuned model and its evaluation pairs.
        mechanism: Settings of analyses that depend on the core.
        run: Identity of the checkpoint.
        paths: Where to write the table (Parquet).
        minimal: Minimal pairs of the evaluation pairs, where the language gives them.
    """
    analysis = model.analysis
    settings, core_rows = mechanism.paths, read_table(core)
    evaluator = model.load(settings.pairs)
    network, heads = evaluator.model, core_rows.loc[core_rows["in_core"], "component"].tolist()
    families = list_senders(heads, network.grid, settings.random_senders, analysis.seed)

    def tensors(pairs):
        return PairTensors(pairs, network.pad, network.device)

    def values(logits, encoded):
        return values_by_pair(logits.reshape(-1, *logits.shape[-2:]), encoded, analysis.class_rule)

    def compute_effects(patched, clean, encoded):
        """Compute changes in total, of the logits alone, and by receiver and part; values do not affect attention."""
        changed = [values(logits, encoded) for logits in patched[:3]]
        by_pair = {name: np.concatenate([part[name] for part in changed], axis=1) - clean[name] for name in clean}
        attention = np.full(by_pair["accuracy"].shape, np.nan)
        moved = patched.attention_shift.numpy()
        for part in range(moved.shape[1]):
            attention[:, 2 + part :: 3] = moved[:, part].T
        return Effects(by_pair, attention)

    def table(donor, encoded, donor_source, subsets, by_subset):
        interventions = [(sender.heads, sender.receivers) for family in families for sender in family]
        full, patched = path_logits(network, tensors(encoded), donor_source, interventions)
        pairs, clean = make_predictions(full.numpy(), encoded), values(full, encoded)
        levels = Levels(pairs, subsets, analysis.bootstrap, analysis.seed)
        effects = (compute_effects(sender_runs, clean, encoded) for sender_runs in patched)
        return [
            compute_paths(run, family, network.grid, donor, [next(effects) for _ in family], levels, by_subset)
            for family in families
        ]

    mean_outputs = mean_source(evaluator.means)
    parts = [make_frame("paths", [])]
    parts += table("mean", evaluator.evaluation, lambda index: mean_outputs, analysis.subsets, False)
    minimal_pairs = evaluator.subsample(Encoded.load(minimal)) if minimal else evaluator.evaluation
    if swapped := select_paired(evaluator.evaluation, minimal_pairs, [SWAP_SUBSET]):
        parts += table("minimal pair", swapped.pairs, donor_from_pairs(network, tensors(swapped.minimal)), None, True)
    write_table("paths", pd.concat(parts), paths)
