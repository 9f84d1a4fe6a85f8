"""Time a training step of several list-sorting models in one pass relative to the same seeds one by one.

    python benchmarks/list_sorting.py --arithmetic portable --out list_sorting.json

Two ways take seeds one by one: the project's own step with a pass per seed, and a plain step with a module of torch's
layers per seed, keys and queries for every token of every list, and torch's fused Adam. All ways learn from the same
batches in the same arithmetic and alternate after every step on one thread; a ratio is the median over steps. Before
timing, the plain gradient of the first batch must equal that of the project's step.
"""

import argparse
import sys
from pathlib import Path

from heuristic_core.common import arithmetic

if __name__ == "__main__":
    arithmetic.prepare_arithmetic(arithmetic.parse_arithmetic(sys.argv))  # before numpy and torch are imported

import torch
import torch.nn.functional as F
from timing import median_ratio, print_report, time_interleaved
from torch import Tensor, nn

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.list_sorting.config import ListSorting, parse
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import initialise_parameters
from heuristic_core.experiments.list_sorting.training import Learner, make_optimizer

MAX_ERROR = 1e-3  # largest accepted relative error of the gradient


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--numbers", type=int, action="append", help="may be repeated (default: 51)")
    parser.add_argument("--turns", type=int, default=10, help="counted turns")
    parser.add_argument(
        arithmetic.ARITHMETIC_OPTION, choices=(arithmetic.PORTABLE, arithmetic.NATIVE), default=arithmetic.NATIVE
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    use_threads(1)
    used = arithmetic.enforce(args.arithmetic, may_restart=False)
    studies = [make_study(args, numbers) for numbers in args.numbers or [51]]
    print_report(({"arithmetic": used} | measure(study, args.turns) for study in studies), args.out)


def make_study(args: argparse.Namespace, numbers: int) -> ListSorting:
    steps = args.turns + 1
    training = {"seeds": list(range(args.seeds)), "batch_size": args.batch_size, "steps": steps}
    lists = {"numbers": numbers, "train_lists": args.seeds * args.batch_size, "held_out_lists": 1}
    return parse({"data": lists, "training": training}, "benchmark")


def measure(study: ListSorting, turns: int) -> dict:
    """Return the results for one study."""
    seeds, size = study.training.seeds, study.training.batch_size
    batches = make_sequences(draw_lists(study.data).train, study.data).split(size)
    modules = [TorchModel(study, seed) for seed in seeds]
    check_gradients(study, modules[0], batches[0])
    optimizers = [make_optimizer(list(module.parameters()), study.training) for module in modules]
    together, alone = Learner(study, seeds), [Learner(study, [seed]) for seed in seeds]

    def step_plain(turn: int) -> None:
        for module, optimizer, tokens in zip(modules, optimizers, batches, strict=True):
            module.loss(tokens).backward()
            optimizer.step()
            optimizer.zero_grad()

    def step_alone(turn: int) -> None:
        for learner, tokens in zip(alone, batches, strict=True):
            learner.advance([tokens])

    ways = {"together": lambda turn: together.advance(batches), "one by one": step_alone, "plain": step_plain}
    times = time_interleaved(ways, turns)
    return {
        "numbers": study.data.numbers,
        "seeds": len(seeds),
        "lists": size,
        "one by one over together": median_ratio(times["one by one"], times["together"]),
        "plain over together": median_ratio(times["plain"], times["together"]),
        "median seconds": {way: sorted(values)[len(values) // 2] for way, values in times.items()},
    }


class TorchModel(nn.Module):
    """The model of one seed, made of torch's layers."""

    def __init__(self, study: ListSorting, seed: int):
        super().__init__()
        data, model = study.data, study.model
        d, inner, tokens = model.width, model.heads * model.head_width, data.numbers + 1
        self.length, self.heads = data.length, model.heads
        self.token, self.position = nn.Embedding(tokens, d), nn.Embedding(2 * data.length + 1, d)
        self.norm, self.final = nn.LayerNorm(d), nn.LayerNorm(d)
        self.query, self.key, self.value = (nn.Linear(d, inner) for _ in range(3))
        self.output, self.unembed = nn.Linear(inner, d), nn.Linear(d, tokens)
        positions = 2 * data.length + 1
        self.register_buffer("later", torch.full((positions, positions), -torch.inf).triu(1))
        self._start(initialise_parameters(data, model, [seed]))

    @torch.no_grad()
    def _start(self, parameters: dict[str, Tensor]) -> None:
        first = {name: value[0] for name, value in parameters.items()}
        self.token.weight.copy_(first["token"])
        self.position.weight.copy_(first["position"])
        for name in ("query", "key", "value"):
            getattr(self, name).weight.copy_(first[name].transpose(0, 1).flatten(1).T)
        self.output.weight.copy_(first["output"].flatten(0, 1).T)
        self.unembed.weight.copy_(first["unembed"].T)
        for layer in (self.query, self.key, self.value, self.output, self.unembed):
            layer.bias.zero_()

    def loss(self, tokens: Tensor) -> Tensor:
        """Return the mean cross-entropy of the sorted numbers in `tokens` [B, 2 L + 1]."""
        b, positions = tokens.shape
        x = self.token(tokens) + self.position.weight
        normalised = self.norm(x)
        q, k, v = (
            layer(normalised).view(b, positions, self.heads, -1).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        attention = torch.softmax(q @ k.mT * q.shape[-1] ** -0.5 + self.later, -1)
        x = x + self.output((attention @ v).transpose(1, 2).flatten(2))
        logits = self.unembed(self.final(x))[:, self.length : -1]
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, self.length + 1 :].flatten())


def check_gradients(study: ListSorting, plain: TorchModel, tokens: Tensor) -> None:
    """End the program if plain gradients of embedding or unembedding differ from those of the project's step."""
    reference = Learner(study, study.training.seeds[:1])
    reference.advance([tokens])
    plain.loss(tokens).backward()
    gradients = reference.gradients
    for name, gradient in (("token", plain.token.weight.grad), ("unembed", plain.unembed.weight.grad.T)):
        error = float((gradient - gradients[name][0]).norm() / gradient.norm())
        if not error < MAX_ERROR:
            raise SystemExit(
                f"{name}: the gradient is off by {error:.3g} of its size; at most {MAX_ERROR} was expected"
            )
    plain.zero_grad()


if __name__ == "__main__":
    main()
