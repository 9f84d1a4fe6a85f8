"""Ablate heads from the full model: every head alone, sets of core heads, chosen sets, and matched random controls."""

from functools import cache

import pyarrow.parquet as pq

from heuristic_core.common.atomic import replacing
from heuristic_core.common.progress import Progress
from heuristic_core.common.threads import use_threads
from heuristic_core.evaluation.evaluate import drawn_donors, predictions, subnetwork_logits
from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import (
    ablated,
    chosen_heads,
    joint_sets,
    set_table,
    single_sets,
    with_draws,
)
from heuristic_core.experiments.heuristic_core.analysis.ablations import single_ood_drops
from heuristic_core.experiments.heuristic_core.analysis.completeness_sets import completeness_sets
from heuristic_core.experiments.heuristic_core.analysis.triples import choosing, triple_sets
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import as_table, coded_frame, read_table, write_table
from heuristic_core.tables.schemas import schema
from heuristic_core.tasks.encoded import Encoded

TABLE = "ablation_predictions"


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.reads(
        core="the run's core (Parquet)",
        checkpoint="folder of the fine-tuned model",
        means="component means",
        train="encoded training pairs, from which activations are resampled",
        evaluation="encoded evaluation pairs",
    )
    parser.writes(
        predictions="where to write predictions (Parquet)",
        sets="where to write the ablated sets (Parquet)",
    )
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    analysis, run = args.analysis, identity(args)
    model = load_model(args.checkpoint, args.device, args.precision)
    evaluation = Encoded.load(args.evaluation).thinned(analysis.ablation_pairs, seed=analysis.seed)
    means, pairs = ComponentMeans.load(args.means).to(model), PairTensors(evaluation, model.pad, model.device)
    core = read_table(args.core)
    heads, stable = (core.loc[core[name], "component"].tolist() for name in ("in_core", "in_stable_core"))
    chosen = chosen_heads(analysis.ablation_sets, model.grid)

    train = Encoded.load(args.train) if "resample" in analysis.ablation_kinds else None

    @cache
    def donors(draw):
        return PairTensors(drawn_donors(train, len(pairs), analysis.seed, draw), model.pad, model.device)

    def predict(kind, one, draw):
        of_draw = donors(draw) if kind == "resample" else None
        logits = subnetwork_logits(model, pairs, one.heads, means, kind, of_draw).numpy()
        columns = predictions(logits, evaluation) | run.columns(len(pairs), "step")
        about = {"kind": kind, "ablation": one.name, "draw": draw}
        return as_table(TABLE, columns | {name: [value] * len(pairs) for name, value in about.items()})

    # Thousands of pairs times hundreds of sets: written as they come.
    with replacing(args.predictions) as partial, pq.ParquetWriter(partial, schema(TABLE), compression="zstd") as file:

        def write(name, ablations):
            every = list(with_draws(ablations, analysis.resample_draws))
            progress = Progress(name, len(every))
            for done, one in enumerate(every, start=1):
                file.write_table(table := predict(*one))
                yield table.select(["ablation", "draw", "subset", "group", "template", "correct"])
                progress.at(done, sets=done)

        first, singles = analysis.ablation_kinds[:1], single_sets(heads, model.grid, chosen)
        alone = coded_frame(write("ablate single heads", ablated(singles, first)))
        drops, on_half = (
            single_ood_drops(rows, set_table(singles, first, run), analysis.subsets)
            for rows in (alone, alone[choosing(alone)])
        )
        draws = analysis.control_draws, analysis.pair_control_draws
        joint = joint_sets(heads, drops, model.grid, *draws, analysis.seed, chosen)
        triples = triple_sets(heads, on_half, model.grid, analysis.control_draws, analysis.seed)
        completeness = completeness_sets(heads, stable, model.grid, analysis.control_draws, analysis.seed)
        sets = [*singles, *joint, *triples, *completeness]
        for _ in write("ablate sets", ablated(sets, analysis.ablation_kinds)[len(singles) :]):
            pass
    write_table("ablation_sets", set_table(sets, analysis.ablation_kinds, run), args.sets)


if __name__ == "__main__":
    recorded(main)
