"""Time of the extractive scores of every component and token, beside full replacement of each of these outputs.

    python benchmarks/extractive_scores.py --arithmetic portable --out extractive_scores.json

The model has the default sizes and random weights; times do not depend on them. Scores are the paper's three kinds, of
all first-hop prompts at once, with the same counterfactual prompts as replacement, which computes the same three
numbers in batches of all prompts and tokens. Both run on one thread, interleaved; the ratio is the median over turns.
Before times are taken, scores and replacement must agree on a model that has hardly changed.
"""

import argparse
import sys
from pathlib import Path

from heuristic_core.common import arithmetic

if __name__ == "__main__":
    arithmetic.prepare_arithmetic(arithmetic.parse_arithmetic(sys.argv))  # before numpy and torch are imported

import torch
from common import interleaved, ratio, report

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.extractive_structures.config import Data, Model
from heuristic_core.experiments.extractive_structures.model import init_parameters
from heuristic_core.experiments.extractive_structures.patching import measure_replacement
from heuristic_core.experiments.extractive_structures.scores import Contrast, compute_first_order, contrast
from heuristic_core.experiments.extractive_structures.setting import Setting

CLOSE = 0.01  # difference, as a share of the largest score, that is let pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cities", type=int, default=Data().cities, help="as many prompts")
    parser.add_argument("--counterfactuals", type=int, default=10, help="prompts that each prompt is compared with")
    parser.add_argument("--turns", type=int, default=3, help="counted turns")
    parser.add_argument(
        arithmetic.ARITHMETIC_OPTION, choices=(arithmetic.PORTABLE, arithmetic.NATIVE), default=arithmetic.NATIVE
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    use_threads(1)
    used = arithmetic.enforce(args.arithmetic, may_restart=False)
    of = made(args.cities, args.counterfactuals)
    check(of)
    times = interleaved(
        {"scores": lambda turn: compute_first_order(of), "replacement": lambda turn: measure_replacement(of)},
        args.turns,
    )
    result = {
        "arithmetic": used,
        "prompts": args.cities,
        "counterfactuals": args.counterfactuals,
        "replacement over scores": ratio(times["replacement"], times["scores"]),
        "median seconds": {way: sorted(taken)[len(taken) // 2] for way, taken in times.items()},
    }
    report([result], args.out)


def made(cities: int, counterfactuals: int) -> Contrast:
    """Two models that differ a little."""
    setting, rng = Setting(Data(cities=cities), 1), torch.Generator().manual_seed(1)
    old = {name: 3 * value for name, value in init_parameters(Model(), len(setting.vocabulary), 1).items()}
    new = {name: value + 1e-5 * torch.randn(value.shape, generator=rng) for name, value in old.items()}
    return contrast(old, new, setting.encode_hop("first").parts["implications"], counterfactuals, 1)


def check(of: Contrast) -> None:
    """Stop where replacement does not agree with scores."""
    double = of._replace(**{which: {n: v.double() for n, v in getattr(of, which).items()} for which in ("old", "new")})
    full = measure_replacement(double)
    for kind, value in compute_first_order(double).items():
        if kind == "upstream":  # replaced outputs are far, so that it is right to first order alone
            continue
        error = float((value - full[kind]).nan_to_num().abs().max() / value.nan_to_num().abs().max())
        if not error < CLOSE:
            raise SystemExit(f"{kind}: replacement is off by {error:.3g} of the largest score; expected {CLOSE}")


if __name__ == "__main__":
    main()
