"""Time the extractive scores of every component and token relative to full replacement of each output.

    python benchmarks/extractive_scores.py --arithmetic portable --out extractive_scores.json

The model has the default sizes and random weights; times do not depend on them. Scores are of the paper's three kinds,
for all first-hop prompts at once; replacement uses the same counterfactual prompts and computes the same three numbers
in batches of all prompts and tokens. Both alternate on one thread; the ratio is the median over turns. Before timing,
scores and replacement must agree on a model that has hardly changed.
"""

import argparse
import sys
from pathlib import Path

from heuristic_core.common import arithmetic

if __name__ == "__main__":
    arithmetic.prepare_arithmetic(arithmetic.parse_arithmetic(sys.argv))  # before numpy and torch are imported

import torch
from timing import median_ratio, print_report, time_interleaved

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Model
from heuristic_core.experiments.extractive_structures.counterfactuals import Contrast, contrast
from heuristic_core.experiments.extractive_structures.parameters import init_parameters
from heuristic_core.experiments.extractive_structures.patching import measure_replacement
from heuristic_core.experiments.extractive_structures.scores import compute_first_order
from heuristic_core.experiments.extractive_structures.setting import Setting

MAX_ERROR = 0.01  # largest accepted difference, relative to the largest score


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cities", type=int, default=Data().cities, help="number of cities and of prompts")
    parser.add_argument("--counterfactuals", type=int, default=10, help="prompts that each prompt is compared with")
    parser.add_argument("--turns", type=int, default=3, help="counted turns")
    parser.add_argument(
        arithmetic.ARITHMETIC_OPTION, choices=(arithmetic.PORTABLE, arithmetic.NATIVE), default=arithmetic.NATIVE
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    use_threads(1)
    print_report(map(measure, [args]), args.out)


def measure(args: argparse.Namespace) -> dict:
    """Return the ratio of times and the median seconds, once scores and replacement have been compared."""
    used = arithmetic.enforce(args.arithmetic, may_restart=False)
    models = make_contrast(args.cities, args.counterfactuals)
    check_scores(models)
    times = time_interleaved(
        {"scores": lambda turn: compute_first_order(models), "replacement": lambda turn: measure_replacement(models)},
        args.turns,
    )
    return {
        "arithmetic": used,
        "prompts": args.cities,
        "counterfactuals": args.counterfactuals,
        "replacement over scores": median_ratio(times["replacement"], times["scores"]),
        "median seconds": {way: sorted(values)[len(values) // 2] for way, values in times.items()},
    }


def make_contrast(cities: int, counterfactuals: int) -> Contrast:
    """Make a contrast of two slightly different models."""
    setting, rng = Setting(Data(cities=cities), 1), torch.Generator().manual_seed(1)
    old = {name: 3 * value for name, value in init_parameters(Model(), len(setting.vocabulary), 1).items()}
    new = {name: value + 1e-5 * torch.randn(value.shape, generator=rng) for name, value in old.items()}
    return contrast(old, new, setting.encode_hop("first").parts["implications"], counterfactuals, 1)


def check_scores(models: Contrast) -> None:
    """End the program if replacement and scores disagree."""
    double = models._replace(
        **{which: {n: v.double() for n, v in getattr(models, which).items()} for which in ("old", "new")}
    )
    replacement = measure_replacement(double)
    for kind, value in compute_first_order(double).items():
        if kind == "upstream":  # replaced outputs differ much, so this score is a first-order approximation
            continue
        error = float((value - replacement[kind]).nan_to_num().abs().max() / value.nan_to_num().abs().max())
        if not error < MAX_ERROR:
            raise SystemExit(f"{kind}: replacement is off by {error:.3g} of the largest score; expected {MAX_ERROR}")


if __name__ == "__main__":
    main()
