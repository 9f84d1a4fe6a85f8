"""Predictions of subnetworks that were not learned: random ones, and ones of gradient importance."""

import pyarrow.parquet as pq

from heuristic_core.common.atomic import replacing
from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.progress import Progress
from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.evaluate import predictions, subnetwork_logits
from heuristic_core.experiments.heuristic_core.analysis.controls import permuted
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import kept_count
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.importance import gate_gradients, normalised
from heuristic_core.pruning.subnetwork import Subnetwork, load_run
from heuristic_core.tables.parquet import as_table
from heuristic_core.tables.schemas import schema
from heuristic_core.tasks.encoded import Encoded

TABLE = "control_predictions"


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.reads(
        checkpoint="folder of the fine-tuned model",
        means="component means",
        train="encoded training pairs",
        evaluation="encoded evaluation pairs",
    )
    parser.writes(predictions="where to write predictions (Parquet)")
    parser.reads("+", subnetworks="the learned subnetworks (JSON)")
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    model, evaluation, run = (
        load_model(args.checkpoint, args.device, args.precision),
        Encoded.load(args.evaluation).thinned(args.analysis.control_pairs, seed=args.analysis.seed),
        identity(args),
    )
    means, pairs = ComponentMeans.load(args.means), PairTensors(evaluation, model.pad, model.device)
    learned = [one for one in map(load_run, args.subnetworks) if isinstance(one, Subnetwork)]

    kept = []  # (cell, control, components)
    for one in learned:
        cell = one.identity
        draw = numpy_generator(args.analysis.seed, "random subnetwork", run.ft_seed, f"{cell.sparsity:g}", cell.seed)
        kept.append((cell, "random", permuted(one.kept, model.grid, draw)))
    train = Encoded.load(args.train)
    train = train.part(0, min(args.analysis.importance_pairs, len(train)))
    exact = load_model(args.checkpoint, args.device)  # gradients this small would vanish in fewer digits
    importance = normalised(gate_gradients(exact, PairTensors(train, model.pad, model.device), means), model.grid)
    for sparsity in sorted({one.identity.sparsity for one in learned}):
        largest = keep_largest(importance, kept_count(len(model.grid), sparsity))
        kept.append((run._replace(sparsity=sparsity, seed=0), "importance", largest))

    progress = Progress("evaluate controls", len(kept))
    with replacing(args.predictions) as partial, pq.ParquetWriter(partial, schema(TABLE), compression="zstd") as file:
        for done, (cell, control, components) in enumerate(kept, start=1):
            removed = sorted(set(range(len(model.grid))) - set(components))
            columns = predictions(subnetwork_logits(model, pairs, removed, means).numpy(), evaluation)
            columns |= cell.columns(len(pairs)) | {"control": [control] * len(pairs)}
            file.write_table(as_table(TABLE, columns))
            progress.at(done)


if __name__ == "__main__":
    recorded(main)
