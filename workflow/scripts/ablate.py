"""Ablate heads from the full model: every head alone, sets of core heads, chosen sets, and matched random controls."""

import pyarrow.parquet as pq

from heuristic_core.common.atomic import replacing
from heuristic_core.common.progress import Progress
from heuristic_core.common.threads import use_threads
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
from heuristic_core.experiments.heuristic_core.jobs.replacements import Replacements
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import as_table, coded_frame, read_table, write_table
from heuristic_core.tables.schemas import schema

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
    parser.reads("?", minimal="their minimal pairs, on which counterfactual ablation takes activations")
    parser.writes(
        predictions="where to write predictions (Parquet)",
        sets="where to write the ablated sets (Parquet)",
    )
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    analysis, run = args.analysis, identity(args)
    model = load_model(args.checkpoint, args.device, args.precision)
    replacements = Replacements(model, ComponentMeans.load(args.means).to(model), args)
    kinds = replacements.kinds
    core = read_table(args.core)
    heads, stable = (core.loc[core[name], "component"].tolist() for name in ("in_core", "in_stable_core"))
    chosen = chosen_heads(analysis.ablation_sets, model.grid)

    def predict(kind, one, draw):
        columns = replacements.predictions(kind, one.heads, draw)
        count, about = len(columns["example"]), {"kind": kind, "ablation": one.name, "draw": draw}
        about = run.columns(count, "step") | {name: [value] * count for name, value in about.items()}
        return as_table(TABLE, columns | about)

    # Thousands of pairs times hundreds of sets: written as they come.
    with replacing(args.predictions) as partial, pq.ParquetWriter(partial, schema(TABLE), compression="zstd") as file:

        def write(name, ablations):
            every = list(with_draws(ablations, analysis.resample_draws))
            progress = Progress(name, len(every))
            for done, one in enumerate(every, start=1):
                file.write_table(table := predict(*one))
                yield table.select(["ablation", "draw", "subset", "group", "template", "correct"])
                progress.at(done, sets=done)

        first, singles = kinds[:1], single_sets(heads, model.grid, chosen)
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
        for _ in write("ablate sets", ablated(sets, kinds)[len(singles) :]):
            pass
    write_table("ablation_sets", set_table(sets, kinds, run), args.sets)


if __name__ == "__main__":
    recorded(main)
