"""Ablate heads from the full model: every head alone, sets of core heads, and matched random controls."""

import pyarrow as pa

from heuristic_core.ablation import ComponentMeans
from heuristic_core.analysis.ablation_sets import joint_sets, set_table, single_sets
from heuristic_core.analysis.ablations import single_ood_drops
from heuristic_core.arguments import Arguments, identity
from heuristic_core.config.analysis import Analysis
from heuristic_core.evaluate import predictions, subnetwork_logits
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.load import load_model
from heuristic_core.progress import Progress
from heuristic_core.tables import as_frame, as_table, read_table, write_table
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.threads import use_threads


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.files(
        core="the run's core (Parquet)",
        checkpoint="folder of the fine-tuned model",
        means="component means",
        evaluation="encoded evaluation pairs",
        predictions="where to write predictions (Parquet)",
        sets="where to write the ablated sets (Parquet)",
    )
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    model = load_model(args.checkpoint, args.device)
    evaluation = Encoded.load(args.evaluation).thinned(args.analysis.ablation_pairs)
    means, run = ComponentMeans.load(args.means).to(model), identity(args)
    pairs = PairTensors(evaluation, model.pad, model.device)
    core = read_table(args.core)
    heads = core.loc[core["in_core"], "component"].tolist()

    def predict(sets):
        tables = []
        for one in sets:
            logits = subnetwork_logits(model, pairs, one.heads, means).numpy()
            columns = predictions(logits, evaluation.labels, evaluation.subsets)
            columns |= {"ablation": [one.name] * len(pairs)} | run.columns(len(pairs), "step")
            tables.append(as_table("ablation_predictions", columns))
            progress.at(len(tables), sets=len(tables))
        return pa.concat_tables(tables)

    singles = single_sets(heads, model.grid)
    progress = Progress("ablate single heads", len(singles))
    alone = predict(singles)
    drops = single_ood_drops(as_frame(alone), set_table(singles, run), args.analysis.subsets)
    joint = joint_sets(heads, drops, model.grid, args.analysis.control_draws, args.analysis.seed)
    progress = Progress("ablate sets", len(joint))
    together = [predict(joint)] if joint else []
    write_table("ablation_predictions", pa.concat_tables([alone, *together]), args.predictions)
    write_table("ablation_sets", set_table([*singles, *joint], run), args.sets)


if __name__ == "__main__":
    main()
