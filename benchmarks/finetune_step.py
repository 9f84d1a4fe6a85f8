"""Time a fine-tuning step in passes of similar lengths and in bfloat16 relative to the plain step.

The plain step is one float32 pass padded to the longest pair of the batch, as in a training loop over shuffled pairs.

    python benchmarks/finetune_step.py --size minilm --out finetune_step.json

All ways learn from the same batches and alternate after every step; the ratio is the median over steps of the plain
time over the other. Before timing, one step from the same weights must give the plain gradient within the precision.

"over one shape" compares bfloat16 with the simplest loop over Hugging Face's model, whose batches are one pass of the
same shape, with as many padded tokens as the passes have on average. 1 is as fast.
"""

import math
import statistics
from copy import deepcopy

import torch
import torch.nn.functional as F
from common import SIZES, encode_pairs, make_classifier, make_parser
from timing import median_ratio, print_report, time_interleaved
from torch import Tensor

from heuristic_core.common.threads import use_threads
from heuristic_core.config.blocks import Finetune
from heuristic_core.models.batches import PairTensors, length_multiple
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
BEST, ONE_SHAPE = "bfloat16, passes of 1024", "one shape, bfloat16"
MAX_ERRORS = {"float32": 1e-3, "bfloat16": 0.3}  # largest accepted relative error of the gradient


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    use_threads(args.threads)
    print_report((measure(name, args.turns) for name in args.size or SIZES), args.out)


def measure(name: str, turns: int | None) -> dict:
    """Return the results for one size."""
    size = SIZES[name]
    _, encoded, lengths = encode_pairs("generated" if name == "miniature" else "MNLI", size.pairs, size)
    turns = turns or 3 * size.turns
    bfloat16 = PairTensors(encoded, multiple=length_multiple(torch.device("cpu"), torch.bfloat16))
    pairs, batches = PairTensors(encoded), Batches(len(encoded), BATCH, 1)
    model = make_classifier(size).train().requires_grad_(True)
    for module in model.modules():  # independent dropout would make losses differ
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    model.config.attention_probs_dropout_prob = 0.0
    steppers = {
        way: Stepper(deepcopy(model), bfloat16 if "precision" in changes else pairs, make_settings(changes))
        for way, changes in WAYS.items()
    }
    check_gradients({way: compute_gradient(stepper, batches.at(0)) for way, stepper in steppers.items()})
    ways = {w: (lambda turn, s=stepper: s.step(batches.at(turn), RATE)) for w, stepper in steppers.items()}
    tokens = statistics.mean(count_padded_tokens(bfloat16, batches.at(turn)) for turn in range(turns))
    one_shape = OneShape(deepcopy(model), round(tokens / BATCH))
    times = time_interleaved(ways | {ONE_SHAPE: one_shape.step}, turns)
    ratios = {way: median_ratio(times[PLAIN], times[way]) for way in WAYS if way != PLAIN}
    seconds = {way: sorted(values)[len(values) // 2] for way, values in times.items()}
    over_one_shape = round(seconds[BEST] / tokens / (seconds[ONE_SHAPE] / one_shape.tokens), 3)
    return {
        "size": name,
        "lengths": lengths,
        "plain over it": ratios,
        "median seconds": seconds,
        "padded tokens": tokens,
        "over one shape, per token": over_one_shape,
    }


class OneShape:
    """A plain training loop in bfloat16 whose batches all have the shape [BATCH, length]."""

    def __init__(self, model, length: int):
        self.tokens, self._shape = BATCH * length, (BATCH, length)
        model.set_attn_implementation("eager")
        self._model, self._optimizer = model, torch.optim.AdamW(model.parameters(), lr=RATE, fused=True)

    def step(self, turn: int) -> None:
        ids, labels = torch.randint(5, self._model.config.vocab_size, self._shape), torch.randint(3, (BATCH,))
        self._optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            logits = self._model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        F.cross_entropy(logits.float(), labels).backward()
        torch.nn.utils.clip_grad_norm_(self._model.parameters(), 1.0)
        self._optimizer.step()


def count_padded_tokens(pairs: PairTensors, index: Tensor) -> int:
    """Count the tokens of a batch's passes, padding included."""
    return sum(pairs.batch(index[part]).ids.numel() for part in pairs.split_by_length(1024, index))


def make_settings(changes: dict) -> Finetune:
    return Finetune(
        seeds=[1], steps=1000, batch_size=BATCH, learning_rate=RATE, checkpoints=[1000], evaluate_every=1000, **changes
    )


def compute_gradient(stepper: Stepper, index: Tensor) -> Tensor:
    """Take a step and return its gradient, flattened."""
    recorded = []
    hook = stepper.optimizer.register_step_pre_hook(
        lambda *_: recorded.append(torch.cat([w.grad.flatten() for w in stepper.model.parameters()]))
    )
    stepper.step(index, RATE)
    hook.remove()
    return recorded[0]


def check_gradients(gradients: dict[str, Tensor]) -> None:
    """End the program if a gradient differs from the plain one."""
    exact = gradients[PLAIN]
    for way, value in gradients.items():
        error = float((value - exact).norm() / exact.norm())
        allowed = MAX_ERRORS[WAYS[way].get("precision", "float32")]
        if not (math.isfinite(error) and error < allowed):
            raise SystemExit(f"{way}: the gradient is off by {error:.3g} of its size; at most {allowed} was expected")


if __name__ == "__main__":
    main()
