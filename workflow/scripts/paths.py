"""Direct effects of core heads on queries, keys and values of later heads, and on the logits (path patching)."""

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.evaluate import predictions
from heuristic_core.evaluation.path_patching import on_pairs, path_logits
from heuristic_core.experiments.heuristic_core.analysis.contrasts import Levels
from heuristic_core.experiments.heuristic_core.analysis.path_effects import Effects, paths, senders
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator, reads_checkpoint, values_by_pair
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.interventions import constants
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.tasks.minimal_pairs import SWAPPED, paired


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    reads_checkpoint(parser)
    parser.reads(core="the run's core (Parquet)")
    parser.reads("?", minimal="minimal pairs of the evaluation pairs, where the language gives them")
    parser.writes(paths="where to write the table (Parquet)")
    args = parser.read(arguments)
    use_threads(1)
    part, analysis, core = args.mechanism.paths, args.analysis, read_table(args.core)
    evaluator, heads = Evaluator(args, part.pairs), core.loc[core["in_core"], "component"].tolist()
    model, run = evaluator.model, identity(args)
    families = senders(heads, model.grid, part.random_senders, analysis.seed)

    def tensors(pairs):
        return PairTensors(pairs, model.pad, model.device)

    def table(donor, evaluation, instead, subsets, by_subset):
        sent = [(one.heads, one.receivers) for family in families for one in family]
        full, found = path_logits(model, tensors(evaluation), instead, sent)
        pairs, clean = predictions(full.numpy(), evaluation), values(full, evaluation)
        levels = Levels(pairs, subsets, analysis.bootstrap, analysis.seed)
        effects = (effects_of(one, clean, evaluation) for one in found)
        return [
            paths(run, family, model.grid, donor, [next(effects) for _ in family], levels, by_subset)
            for family in families
        ]

    def values(logits, evaluation):
        return values_by_pair(logits.reshape(-1, *logits.shape[-2:]), evaluation, analysis.class_rule)

    def effects_of(found, clean, evaluation):
        """Changes of the total, of the logits alone, and by receiver and part; attention does not depend on values."""
        changed = [values(logits, evaluation) for logits in found[:3]]
        by_pair = {name: np.concatenate([one[name] for one in changed], axis=1) - clean[name] for name in clean}
        attention = np.full(by_pair["accuracy"].shape, np.nan)
        moved = found.moved.numpy()
        for part in range(moved.shape[1]):
            attention[:, 2 + part :: 3] = moved[:, part].T
        return Effects(by_pair, attention)

    means = constants(evaluator.means)
    parts = [frame("paths", []), *table("mean", evaluator.evaluation, lambda index: means, analysis.subsets, False)]
    minimal = evaluator.thinned(Encoded.load(args.minimal)) if args.minimal else evaluator.evaluation
    if swapped := paired(evaluator.evaluation, minimal, [SWAPPED]):
        parts += table("minimal pair", swapped.pairs, on_pairs(model, tensors(swapped.minimal)), None, True)
    write_table("paths", pd.concat(parts), args.paths)


if __name__ == "__main__":
    recorded(main)
