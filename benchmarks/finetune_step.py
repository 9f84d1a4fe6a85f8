"""Time of a fine-tuning step in passes of like length and in bfloat16, beside the plain step: one pass in float32,
padded to the longest pair of the batch, as a plain training loop over shuffled pairs does it.

    python benchmarks/finetune_step.py --size minilm --out finetune_step.json

All ways learn from the same batches, interleaved step by step; the ratio is the median over steps of plain over it.
Before times are taken, one step from the same weights must give the plain loss and gradient, within the precision.
"""

import math
from copy import deepcopy

import torch
from common import SIZES, classifier, encoded_pairs, interleaved, parser_for, ratio, report
from torch import Tensor

from heuristic_core.common.threads import use_threads
from heuristic_core.config.blocks import Finetune
from heuristic_core.models.batches import PairTensors
from heuristic_core.training.finetune import Batches
from heuristic_core.training.stepper import Stepper

BATCH = 32
RATE = 1e-5
PLAIN = "plain"
WAYS = {
    PLAIN: {},
    "passes of 512": {"pass_tokens": 512},
    "passes of 1024": {"pass_tokens": 1024},
    "bfloat16": {"precision": "bfloat16"},
    "bfloat16, passes of 1024": {"pass_tokens": 1024, "precision": "bfloat16"},
}
CLOSE = {"float32": 1e-3, "bfloat16": 0.3}  # relative error of the gradient that is let pass


def main():
    parser = parser_for(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    use_threads(args.threads)
    report([measured(name, args.turns) for name in args.size or SIZES], args.out)


def measured(name: str, turns: int | None) -> dict:
    """What is reported of one size."""
    size = SIZES[name]
    _, encoded, about = encoded_pairs("generated" if name == "miniature" else "MNLI", size.pairs, size)
    turns = turns or 3 * size.turns
    pairs, batches = PairTensors(encoded), Batches(len(encoded), BATCH, 1)
    model = classifier(size).train().requires_grad_(True)
    for module in model.modules():  # draws of their own would make losses differ
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    model.config.attention_probs_dropout_prob = 0.0
    steppers = {way: Stepper(deepcopy(model), pairs, settings(changes)) for way, changes in WAYS.items()}
    check({way: gradient(stepper, batches.at(0)) for way, stepper in steppers.items()})
    ways = {w: (lambda turn, s=stepper: s.step(batches.at(turn), RATE)) for w, stepper in steppers.items()}
    times = interleaved(ways, turns)
    ratios = {way: ratio(times[PLAIN], times[way]) for way in WAYS if way != PLAIN}
    seconds = {way: sorted(taken)[len(taken) // 2] for way, taken in times.items()}
    return {"size": name, "lengths": about, "plain over it": ratios, "median seconds": seconds}


def settings(changes: dict) -> Finetune:
    return Finetune(
        seeds=[1], steps=1000, batch_size=BATCH, learning_rate=RATE, checkpoints=[1000], evaluate_every=1000, **changes
    )


def gradient(stepper: Stepper, index: Tensor) -> Tensor:
    """The gradient of one step, flat; the step is made, too."""
    seen = []
    hook = stepper.optimizer.register_step_pre_hook(
        lambda *_: seen.append(torch.cat([w.grad.flatten() for w in stepper.model.parameters()]))
    )
    stepper.step(index, RATE)
    hook.remove()
    return seen[0]


def check(gradients: dict[str, Tensor]) -> None:
    """Stop where a way's gradient is not the plain one."""
    exact = gradients[PLAIN]
    for way, found in gradients.items():
        error = float((found - exact).norm() / exact.norm())
        allowed = CLOSE[WAYS[way].get("precision", "float32")]
        if not (math.isfinite(error) and error < allowed):
            raise SystemExit(f"{way}: the gradient is off by {error:.3g} of its size; at most {allowed} was expected")


if __name__ == "__main__":
    main()
