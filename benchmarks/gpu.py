"""Times of pruning steps, evaluation and fine-tuning on a GPU, each checked against the CPU first, as JSON.

    benchmarks/gpu.sh --out gpu.json
    benchmarks/gpu.sh --device cpu --size tiny

A model with random weights, and pairs of random tokens as long as MNLI's (log-normal, mean 39): times depend on shapes
and lengths alone. Every engine, precision and number of seeds in a pass makes a step with closed, open and other gates,
and must give the KL and the gradient of the CPU's eager float32 step within `CLOSE`. What fails, or does not agree, has
an "error" instead of a time. "seconds of a run" are those of 9,300 steps of one seed.
"""

import argparse
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

try:
    import numpy  # noqa: F401
    import pydantic  # noqa: F401
    import torch
except ImportError as missing:
    sys.exit(f"benchmarks/gpu.sh needs torch, numpy and pydantic: {missing}")

from random_bert import SIZES, Size, random_bert, random_pairs
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.pruning import Prune
from heuristic_core.interventions.evaluate import all_logits, subnetwork_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import kept_count
from heuristic_core.models.device import resolve_device
from heuristic_core.models.fused import FusedModel
from heuristic_core.pruning.inputs import PruningInputs
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.prune import make_objective

PAPER_STEPS = 9300
CLOSE = {"float32": 5e-3, "bfloat16": 0.15}  # relative error of the gradient that is let pass; of logits the same
PRECISIONS = ("bfloat16", "float32")
ENGINES = ("eager", "graphs", "compile")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--size", choices=SIZES, default="bert-base")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="may be repeated (default: all)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 4], metavar="N", help="pruning seeds in a pass")
    parser.add_argument("--seconds", type=float, default=5, help="that each way is timed for")
    parser.add_argument("--limit", type=float, default=540, help="seconds after which no further way is begun")
    parser.add_argument("--out", type=Path, help="JSON file to write (default: the terminal)")
    args = parser.parse_args()
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no NVIDIA GPU is usable here; --device cpu --size tiny tries the script itself")
    resolve_device(args.device)
    torch.set_num_threads(torch.get_num_threads() if args.device == "cuda" else 1)
    document = {"machine": machine(args.device), "size": args.size, "run": PAPER_STEPS, "results": []}
    for row in measured(args):
        print(json.dumps(row), file=sys.stderr, flush=True)
        document["results"].append(row)
        if args.out:  # after every row, so that a run that is stopped leaves what it measured
            args.out.write_text(json.dumps(document, indent=1) + "\n")
    if not args.out:
        print(json.dumps(document, indent=1))


def measured(args: argparse.Namespace) -> Iterator[dict]:
    """One row for every combination that is tried."""
    bench, ways = Bench(SIZES[args.size], args.device, args.seconds), []
    engines = args.engine or ENGINES

    def add_steps(engine: str, precision: str) -> None:
        for seeds in args.seeds:
            about = {"what": "pruning step", "engine": engine, "precision": precision, "seeds": seeds}
            ways.append((about, partial(bench.pruning, engine, precision, seeds)))

    for precision in PRECISIONS:
        for engine in (engine for engine in engines if engine != "compile"):
            add_steps(engine, precision)
        ways.append(({"what": "evaluation", "precision": precision}, partial(bench.evaluation, precision)))
        ways.append(({"what": "fine-tuning step", "precision": precision}, partial(bench.finetuning, precision)))
    if "compile" in engines:  # last, as compilation takes minutes
        for precision in PRECISIONS:
            add_steps("compile", precision)
    began = time.monotonic()
    for about, way in ways:
        yield about | (tried(way) if time.monotonic() - began < args.limit else {"error": "no time was left"})


def tried(way: Callable[[], dict]) -> dict:
    """What a way gives; why it fails, so that the others are still measured."""
    try:
        return way()
    except (InputError, ImportError, RuntimeError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"}


class Disagreement(ValueError):
    """A way does not compute what the CPU computes."""


class Bench:
    """The model and its pairs, on the CPU and on the device, and what is measured of them."""

    def __init__(self, size: Size, device: str, seconds: float):
        self._size, self._device, self._seconds = size, device, seconds
        self._config, self._weights = random_bert(size)
        self._train, self._evaluation = random_pairs(size, size.pairs, 0), random_pairs(size, size.evaluated, 1)
        plain = FusedModel(self._config, self._weights)
        pairs = PairTensors(self._train, plain.pad)
        self._means = component_means(plain, pairs, torch.arange(min(64, size.pairs)).split(16))
        self._logits = all_logits(plain, pairs)
        self._references: dict[int, tuple[Tensor, Tensor]] = {}
        self._plain = PruningInputs(plain, self._means, pairs, self._logits)

    def pruning(self, engine: str, precision: str, seeds: int) -> dict:
        """Seconds of a step, and of a run."""
        model = self._model(precision)
        inputs = PruningInputs(model, self._means, PairTensors(self._train, model.pad, self._device), self._logits)
        if seeds not in self._references:
            self._references[seeds] = one_step(self._plain, "eager", seeds, self._size)
        began = time.perf_counter()
        found = one_step(inputs, engine, seeds, self._size)
        kl, gradient = map(relative, found, self._references[seeds])
        self._agree(max(kl, gradient), precision)
        learner, objective = stepping(inputs, engine, seeds, self._size)

        def steps(count: int) -> None:
            for draw in learner.draws(count, len(inputs.pairs)):
                objective.compute_gradients(learner, draw)
                learner.advance()

        steps(50 if self._device == "cuda" else 1)  # every shape is captured
        self._wait()
        preparing = time.perf_counter() - began
        seconds = self._timed(steps, 25 if self._device == "cuda" else 1)
        return {
            "KL apart": kl,
            "gradient apart": gradient,
            "seconds before the first step": preparing,
            "seconds": seconds,
            "seconds of a run": PAPER_STEPS * seconds / seeds,
            "TFLOP/s": seeds * self._operations() / seconds / 1e12,
            "GB": self._peak(),
        }

    def evaluation(self, precision: str) -> dict:
        """Pairs a second of a subnetwork at 50 % sparsity."""
        model, grid = self._model(precision), self._plain.model.grid
        count = len(grid) - kept_count(len(grid), 0.5)
        removed = sorted(torch.randperm(len(grid), generator=torch.Generator().manual_seed(0))[:count].tolist())
        some = self._evaluation.slice_pairs(0, min(64, self._size.evaluated))
        of_cpu = subnetwork_logits(self._plain.model, PairTensors(some, model.pad), removed, self._means)
        pairs = PairTensors(some, model.pad, self._device)
        apart = relative(subnetwork_logits(model, pairs, removed, self._means), of_cpu)
        self._agree(apart, precision)
        pairs = PairTensors(self._evaluation, model.pad, self._device)

        def evaluate(count: int) -> None:
            for _ in range(count):
                subnetwork_logits(model, pairs, removed, self._means)

        evaluate(1)
        seconds = self._timed(evaluate, 1)
        return {"logits apart": apart, "seconds": seconds, "pairs/s": len(pairs) / seconds, "GB": self._peak()}

    def finetuning(self, precision: str) -> dict:
        """Seconds of a step of Hugging Face's model; float32 weights in either precision."""
        from transformers import BertConfig, BertForSequenceClassification

        from heuristic_core.training.stepper import Stepper

        def stepper(device: str, precision: str) -> Stepper:
            config = {**self._config, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
            model = BertForSequenceClassification(BertConfig(**config))
            model.load_state_dict(self._weights, strict=False)
            pairs = PairTensors(self._train, self._plain.model.pad, device)
            settings = Finetune(
                seeds=[1], steps=1000, batch_size=self._size.tuned, learning_rate=1e-6, checkpoints=[1000],
                evaluate_every=1000, precision=precision,
            )  # fmt: skip
            return Stepper(model.to(device).train(), pairs, settings)

        index = torch.arange(self._size.tuned)
        own = stepper(self._device, precision)
        apart = abs(own.step(index, 1e-6) / stepper("cpu", "float32").step(index, 1e-6) - 1)
        self._agree(apart, precision)

        def steps(count: int) -> None:
            for _ in range(count):
                own.step(index, 1e-6)

        steps(3)
        seconds = self._timed(steps, 10 if self._device == "cuda" else 1)
        return {"loss apart": apart, "seconds": seconds, "pairs/s": self._size.tuned / seconds, "GB": self._peak()}

    def _model(self, precision: str) -> FusedModel:
        if self._device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        dtype = getattr(torch, precision)
        return FusedModel(self._config, {name: one.to(self._device, dtype) for name, one in self._weights.items()})

    def _operations(self) -> float:
        """Floating point operations of products with weights, of a step of one seed: docs/performance.md."""
        size, tokens = self._size, float(self._train.lengths.mean()) * self._size.batch
        weights = 4 * size.hidden**2 + 2 * size.hidden * size.feed_forward
        return 2 * 2 * tokens * weights * size.layers

    def _timed(self, run: Callable[[int], None], count: int) -> float:
        """Seconds of one of `count` repetitions, the median over turns."""
        taken, end = [], time.perf_counter() + self._seconds
        while len(taken) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            run(count)
            self._wait()
            taken.append((time.perf_counter() - start) / count)
        return sorted(taken)[len(taken) // 2]

    def _agree(self, apart: float, precision: str) -> None:
        if not (math.isfinite(apart) and apart <= CLOSE[precision]):
            raise Disagreement(
                f"differs from the CPU by {apart:.3g} of its size; at most {CLOSE[precision]} was expected"
            )

    def _wait(self) -> None:
        if self._device == "cuda":
            torch.cuda.synchronize()

    def _peak(self) -> float | None:
        return torch.cuda.max_memory_allocated() / 1e9 if self._device == "cuda" else None


def stepping(inputs: PruningInputs, engine: str, seeds: int, size: Size):
    """A learner with gates closed, open and between, and its objective. It learns so slowly that it stays there."""
    settings = Prune(
        rise=0, hold=10 * PAPER_STEPS, batch_size=size.batch, log_alpha_mean=0.0, log_alpha_std=2.0, learning_rate=1e-6,
        controller_learning_rate=1e-6, engine=engine,
    )  # fmt: skip
    runs = [PruningRun(0.5, seed) for seed in range(seeds)]
    learner = Learner(runs, settings, len(inputs.model.grid), inputs.model.device)
    return learner, make_objective(inputs, runs, settings)


def one_step(inputs: PruningInputs, engine: str, seeds: int, size: Size) -> tuple[Tensor, Tensor]:
    """KL of each seed, and the gradient of log_alpha, of a first step."""
    learner, objective = stepping(inputs, engine, seeds, size)
    row = objective.compute_gradients(learner, learner.draws(1, len(inputs.pairs))[0])
    return row[:, 0].cpu(), learner.log_alpha.grad.cpu()


def relative(value: Tensor, exact: Tensor) -> float:
    """The size of the difference over the size of what is exact."""
    return float((value.float() - exact.float()).norm() / exact.float().norm())


def machine(device: str) -> dict:
    """What the times were taken on."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()
    return {"device": name, "torch": torch.__version__, "cuda": torch.version.cuda, "python": platform.python_version()}


if __name__ == "__main__":
    main()
