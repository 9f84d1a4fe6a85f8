"""Compare subnetworks pruned with bfloat16 and float32 weights, relative to the difference between two seeds.

    python benchmarks/precision.py results/miniature/mini-bert/pairs/ft1/step1800 --config config.yaml --out out.json

Reads the checkpoint folder of a finished study. Prunes with the study's settings for three seeds, at both sparsities of
its spread and in both precisions, and evaluates every subnetwork in float32. Nothing is timed.
"""

import argparse
import json
from itertools import combinations
from pathlib import Path

import pandas as pd
from safetensors.torch import load_file

from heuristic_core.common.threads import use_threads
from heuristic_core.data.encoded import Encoded
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.interventions.evaluate import make_predictions, subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import kept_count
from heuristic_core.models.implementation import load_model
from heuristic_core.pruning.hard_concrete import keep_largest
from heuristic_core.pruning.inputs import make_pruning_inputs
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.prune import prune

SEEDS = (42, 43, 44)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", type=Path, help="folder <results>/<study>/<model>/<task>/ft<seed>/step<step>")
    parser.add_argument("--config", required=True, help="the study's configuration")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    use_threads(1)
    study = load_study(args.config)
    sparsities = (study.grid.mid, study.grid.high)
    kept = {p: prune_runs(args.step, study.prune, sparsities, p, args.device) for p in ("float32", "bfloat16")}
    rows = []
    for row in (row for sparsity in sparsities for row in compare(args.step, kept, sparsity)):
        print(json.dumps(row), flush=True)
        rows.append(row)
        if args.out:  # after every row, so that an interrupted run keeps its measurements
            args.out.write_text(json.dumps(rows, indent=1) + "\n")


def prune_runs(step: Path, settings, sparsities, precision: str, device: str) -> dict[PruningRun, list[int]]:
    """Prune, and return the kept components by run."""
    model = load_model(step / "checkpoint", device, precision)
    means, logits = ComponentMeans.load(step / "means.safetensors"), load_file(step / "logits.safetensors")["logits"]
    train = Encoded.load(step.parents[1] / "data/encoded/train.safetensors")
    inputs, _ = make_pruning_inputs(model, means, train, logits, settings)
    results = [
        result
        for sparsity in sparsities
        for result in prune(inputs, [PruningRun(sparsity, s) for s in SEEDS], settings)
    ]
    size = len(model.grid)
    return {result.run: keep_largest(result.log_alpha, kept_count(size, result.run.sparsity)) for result in results}


def compare(step: Path, kept: dict[str, dict[PruningRun, list[int]]], sparsity: float):
    """Yield a row per seed (components shared by both precisions, accuracies of both), and one for pairs of seeds."""
    exact, rounded = kept["float32"], kept["bfloat16"]
    for run in (PruningRun(sparsity, seed) for seed in SEEDS):
        row = {"sparsity": sparsity, "seed": run.seed, "kept": len(exact[run])}
        row["shared"] = len(set(exact[run]) & set(rounded[run]))
        for precision, subnetwork in (("float32", exact[run]), ("bfloat16", rounded[run])):
            row |= {f"{group}, {precision}": value for group, value in compute_accuracies(step, subnetwork).items()}
        yield row
    pairs = combinations((set(exact[PruningRun(sparsity, seed)]) for seed in SEEDS), 2)
    yield {"sparsity": sparsity, "shared by two seeds in float32": [len(a & b) for a, b in pairs]}


def compute_accuracies(step: Path, kept: list[int]) -> dict[str, float]:
    """Return the mean accuracy over the subsets of each group, in percent."""
    model, means = load_model(step / "checkpoint"), ComponentMeans.load(step / "means.safetensors")
    evaluation = Encoded.load(step.parents[1] / "data/encoded/evaluation.safetensors")
    removed = [i for i in range(len(model.grid)) if i not in kept]
    logits = subnetwork_logits(model, PairTensors(evaluation), removed, means).numpy()
    columns = make_predictions(logits, evaluation)
    rows = pd.DataFrame({name: columns[name] for name in ("group", "subset", "correct")})
    subsets = rows.groupby(["group", "subset"], sort=False)["correct"].mean()
    return {group: round(100 * share, 1) for group, share in subsets.groupby("group", sort=False).mean().items()}


if __name__ == "__main__":
    main()
