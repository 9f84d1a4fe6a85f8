"""Time pruning steps, evaluation and fine-tuning on a GPU, after checking each against the CPU; write JSON.

    benchmarks/gpu.sh --out gpu.json
    benchmarks/gpu.sh --device cpu --size tiny

The model has random weights, and pairs of random tokens are as long as MNLI's (log-normal, mean 39), because times
depend only on shapes and lengths. Every engine, precision and number of seeds in a pass takes a step with closed, open
and intermediate gates, and must give the KL and the gradient of the CPU's eager float32 step within `MAX_ERRORS`. What
fails or disagrees has an "error" instead of a time. "seconds of a run" are those of 9,300 steps of one seed.
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

from random_bert import SIZES, Size, draw_pairs, make_bert
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
MAX_ERRORS = {"float32": 5e-3, "bfloat16": 0.15}  # largest accepted relative errors of gradients and of logits
PRECISIONS = ("bfloat16", "float32")
ENGINES = ("eager", "graphs", "compile")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--size", choices=SIZES, default="bert-base")
    parser.add_argument("--engine", action="append", choices=ENGINES, help="may be repeated (default: all)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 4], metavar="N", help="pruning seeds in a pass")
    parser.add_argument("--seconds", type=float, default=5, help="seconds to time each way for")
    parser.add_argument("--limit", type=float, default=540, help="seconds after which no further way starts")
    parser.add_argument("--out", type=Path, help="JSON file to write (default: the terminal)")
    args = parser.parse_args()
    if args.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no usable NVIDIA GPU; try the script with --device cpu --size tiny")
    resolve_device(args.device)
    torch.set_num_threads(torch.get_num_threads() if args.device == "cuda" else 1)
    document = {"machine": describe_machine(args.device), "size": args.size, "run": PAPER_STEPS, "results": []}
    for row in measure(args):
        print(json.dumps(row), file=sys.stderr, flush=True)
        document["results"].append(row)
        if args.out:  # after every row, so that an interrupted run keeps its measurements
            args.out.write_text(json.dumps(document, indent=1) + "\n")
    if not args.out:
        print(json.dumps(document, indent=1))


def measure(args: argparse.Namespace) -> Iterator[dict]:
    """Yield a row for each combination of engine, precision and number of seeds."""
    bench, ways = Bench(SIZES[args.size], args.device, args.seconds), []
    engines = args.engine or ENGINES

    def add_steps(engine: str, precision: str) -> None:
        for seeds in args.seeds:
            labels = {"what": "pruning step", "engine": engine, "precision": precision, "seeds": seeds}
            ways.append((labels, partial(bench.time_pruning, engine, precision, seeds)))

    for precision in PRECISIONS:
        for engine in (engine for engine in engines if engine != "compile"):
            add_steps(engine, precision)
        ways.append(({"what": "evaluation", "precision": precision}, partial(bench.time_evaluation, precision)))
        ways.append(({"what": "fine-tuning step", "precision": precision}, partial(bench.time_finetuning, precision)))
    if "compile" in engines:  # last, as compilation takes minutes
        for precision in PRECISIONS:
            add_steps("compile", precision)
    start_time = time.monotonic()
    for labels, way in ways:
        yield labels | (
            run_or_error(way) if time.monotonic() - start_time < args.limit else {"error": "no time was left"}
        )


def run_or_error(way: Callable[[], dict]) -> dict:
    """Return the result of a way, or its error, so that the other ways are still measured."""
    try:
        return way()
    except (InputError, ImportError, RuntimeError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"}


class Disagreement(ValueError):
    """The GPU and the CPU compute different results."""


class Bench:
    """Measurements of a model and its pairs on the CPU and on the device."""

    def __init__(self, size: Size, device: str, seconds: float):
        self._size, self._device, self._seconds = size, device, seconds
        self._config, self._weights = make_bert(size)
        self._train, self._evaluation = draw_pairs(size, size.pairs, 0), draw_pairs(size, size.evaluated, 1)
        plain = FusedModel(self._config, self._weights)
        pairs = PairTensors(self._train, plain.pad)
        self._means = component_means(plain, pairs, torch.arange(min(64, size.pairs)).split(16))
        self._logits = all_logits(plain, pairs)
        self._references: dict[int, tuple[Tensor, Tensor]] = {}
        self._plain = PruningInputs(plain, self._means, pairs, self._logits)

    def time_pruning(self, engine: str, precision: str, seeds: int) -> dict:
        """Time a pruning step and a run."""
        model = self._model(precision)
        inputs = PruningInputs(model, self._means, PairTensors(self._train, model.pad, self._device), self._logits)
        if seeds not in self._references:
            self._references[seeds] = compute_first_step(self._plain, "eager", seeds, self._size)
        start_time = time.perf_counter()
        result = compute_first_step(inputs, engine, seeds, self._size)
        kl, gradient = map(relative_error, result, self._references[seeds])
        self._check_agreement(max(kl, gradient), precision)
        learner, objective = make_learner(inputs, engine, seeds, self._size)

        def steps(count: int) -> None:
            for draw in learner.make_draws(count, len(inputs.pairs)):
                objective.compute_gradients(learner, draw)
                learner.advance()

        steps(50 if self._device == "cuda" else 1)  # until graphs of all shapes are captured
        self._wait()
        preparing = time.perf_counter() - start_time
        seconds = self._time(steps, 25 if self._device == "cuda" else 1)
        return {
            "KL apart": kl,
            "gradient apart": gradient,
            "seconds before the first step": preparing,
            "seconds": seconds,
            "seconds of a run": PAPER_STEPS * seconds / seeds,
            "TFLOP/s": seeds * self._count_operations() / seconds / 1e12,
            "GB": self._peak_memory(),
        }

    def time_evaluation(self, precision: str) -> dict:
        """Time the evaluation of a subnetwork at 50 % sparsity."""
        model, grid = self._model(precision), self._plain.model.grid
        count = len(grid) - kept_count(len(grid), 0.5)
        removed = sorted(torch.randperm(len(grid), generator=torch.Generator().manual_seed(0))[:count].tolist())
        sample = self._evaluation.slice_pairs(0, min(64, self._size.evaluated))
        reference = subnetwork_logits(self._plain.model, PairTensors(sample, model.pad), removed, self._means)
        pairs = PairTensors(sample, model.pad, self._device)
        difference = relative_error(subnetwork_logits(model, pairs, removed, self._means), reference)
        self._check_agreement(difference, precision)
        pairs = PairTensors(self._evaluation, model.pad, self._device)

        def evaluate(count: int) -> None:
            for _ in range(count):
                subnetwork_logits(model, pairs, removed, self._means)

        evaluate(1)
        seconds = self._time(evaluate, 1)
        return {
            "logits apart": difference,
            "seconds": seconds,
            "pairs/s": len(pairs) / seconds,
            "GB": self._peak_memory(),
        }

    def time_finetuning(self, precision: str) -> dict:
        """Time a fine-tuning step of Hugging Face's model, whose weights are float32 in both precisions."""
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
        accelerated = stepper(self._device, precision)
        difference = abs(accelerated.step(index, 1e-6) / stepper("cpu", "float32").step(index, 1e-6) - 1)
        self._check_agreement(difference, precision)

        def steps(count: int) -> None:
            for _ in range(count):
                accelerated.step(index, 1e-6)

        steps(3)
        seconds = self._time(steps, 10 if self._device == "cuda" else 1)
        return {
            "loss apart": difference,
            "seconds": seconds,
            "pairs/s": self._size.tuned / seconds,
            "GB": self._peak_memory(),
        }

    def _model(self, precision: str) -> FusedModel:
        if self._device == "cuda":
            torch.cuda.reset_peak_memory_stats()
        dtype = getattr(torch, precision)
        return FusedModel(
            self._config, {name: weight.to(self._device, dtype) for name, weight in self._weights.items()}
        )

    def _count_operations(self) -> float:
        """Count the floating-point operations of products with weights in a step of one seed."""
        size, tokens = self._size, float(self._train.lengths.mean()) * self._size.batch
        weights = 4 * size.hidden**2 + 2 * size.hidden * size.feed_forward
        return 2 * 2 * tokens * weights * size.layers

    def _time(self, run: Callable[[int], None], count: int) -> float:
        """Return the seconds of one of `count` repetitions, the median over turns."""
        times, end = [], time.perf_counter() + self._seconds
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            run(count)
            self._wait()
            times.append((time.perf_counter() - start) / count)
        return sorted(times)[len(times) // 2]

    def _check_agreement(self, difference: float, precision: str) -> None:
        if not (math.isfinite(difference) and difference <= MAX_ERRORS[precision]):
            raise Disagreement(
                f"differs from the CPU by {difference:.3g} of its size; at most {MAX_ERRORS[precision]} was expected"
            )

    def _wait(self) -> None:
        if self._device == "cuda":
            torch.cuda.synchronize()

    def _peak_memory(self) -> float | None:
        return torch.cuda.max_memory_allocated() / 1e9 if self._device == "cuda" else None


def make_learner(inputs: PruningInputs, engine: str, seeds: int, size: Size):
    """Make a learner with closed, open and intermediate gates, which a low learning rate keeps, and its objective."""
    settings = Prune(
        rise=0, hold=10 * PAPER_STEPS, batch_size=size.batch, log_alpha_mean=0.0, log_alpha_std=2.0, learning_rate=1e-6,
        controller_learning_rate=1e-6, engine=engine,
    )  # fmt: skip
    runs = [PruningRun(0.5, seed) for seed in range(seeds)]
    learner = Learner(runs, settings, len(inputs.model.grid), inputs.model.device)
    return learner, make_objective(inputs, runs, settings)


def compute_first_step(inputs: PruningInputs, engine: str, seeds: int, size: Size) -> tuple[Tensor, Tensor]:
    """Return the KL of each seed and the gradient of log_alpha in a first step."""
    learner, objective = make_learner(inputs, engine, seeds, size)
    row = objective.compute_gradients(learner, learner.make_draws(1, len(inputs.pairs))[0])
    return row[:, 0].cpu(), learner.log_alpha.grad.cpu()


def relative_error(value: Tensor, exact: Tensor) -> float:
    """Return the norm of the difference over the norm of `exact`."""
    return float((value.float() - exact.float()).norm() / exact.float().norm())


def describe_machine(device: str) -> dict:
    """Describe the device and the versions of libraries."""
    name = torch.cuda.get_device_name() if device == "cuda" else platform.processor() or platform.machine()
    return {"device": name, "torch": torch.__version__, "cuda": torch.version.cuda, "python": platform.python_version()}


if __name__ == "__main__":
    main()
