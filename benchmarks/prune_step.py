"""Time a pruning step relative to the released code's step and to the matrix products that it needs.

    python benchmarks/prune_step.py --size miniature --size minilm --out prune_step.json
    python benchmarks/prune_step.py --size bert-base --device cuda --precision bfloat16

The first form alternates in one process, on one CPU thread in float32, between
- baseline: the step of the paper's released code. Its collator tokenises the sentences of each micro-batch and
  pads them to the maximum length; the full model gives its logits; Hugging Face's model in training mode, with
  its components gated by hooks, is run and differentiated; AdamW steps on log_alpha and the multipliers.
- ours: the library's step on the same pairs with its default settings (one gate sample, no dropout), in three stages of
  a run: where gates keep all components, all but a quarter, and half of them (`stage`). A step leaves out what its
  gates close, so these differ; the baseline's time does not depend on it.
- as published: the library's step with the baseline's settings (dropout, four samples) and a quarter removed.
- ours, R runs: several runs in one pass, a quarter removed in each; not for models of more than 6 layers.
- products: the matrix products with weights that a step with all components needs (`common.list_products`).
- products, laid out: the same by oneDNN on weights in its layout, as in the library.
- ours, bfloat16, and both products, bfloat16: the same in bfloat16, if the processor has instructions for it.

Before that, both sides must agree in a small step without dropout, including gradients. Lengths are those of real pairs
if shared/data is next to the repository, at 1.25 tokens a word. Seconds are medians per step. ratio: baseline over
ours; matmul_share: the faster products over ours with all components, in either precision; shared_pass: time per token
of a run alone over that in a pass of R runs. All three are medians over turns, which are more reliable than times on
a shared machine.

The second form times the library alone and extrapolates to a run of 9,300 steps.
"""

import statistics
import time
from collections.abc import Callable
from typing import get_args

import torch
from common import (
    SIZES,
    MaskedBert,
    PackedProducts,
    Size,
    encode_pairs,
    list_products,
    make_classifier,
    make_parser,
    multiply,
)
from released_step import Baseline
from timing import median_ratio, print_report, time_interleaved
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.common.threads import use_threads
from heuristic_core.config.blocks import Precision
from heuristic_core.config.pruning import Prune
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors, length_multiple
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.device import is_bfloat16_faster
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.micro_batches import pass_tokens
from heuristic_core.pruning.inputs import PruningInputs
from heuristic_core.pruning.learner import Learner, PruningRun, StepDraws
from heuristic_core.pruning.prune import Objective

SPARSITY = 0.5
SHARED = (2, 4, 8)
STAGES = {"ours": 0.0, "ours, quarter removed": 0.25, "ours, half removed": 0.5}
ALONE, BFLOAT16 = "ours, quarter removed", "bfloat16"
PRODUCTS = {  # needed by steps with all components
    "ours": ("products", "products, laid out"),
    f"ours, {BFLOAT16}": (f"products, {BFLOAT16}", f"products, laid out, {BFLOAT16}"),
}
PAPER_STEPS = 9300
TOLERANCE = 1e-4


def main():
    parser = make_parser(__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--precision", choices=get_args(Precision), default="float32", help="of the frozen model")
    args = parser.parse_args()
    use_threads(1)
    alone = args.device != "cpu" or args.precision != "float32"

    def measure(size: Size) -> dict:
        if alone:
            return measure_throughput(size, args.device, args.precision)
        return compare(size, args.turns or size.turns)

    print_report(({"size": name} | measure(SIZES[name]) for name in args.size or SIZES), args.out)


def make_settings(size: Size, published: bool, batch: int | None = None) -> Prune:
    """Return the default settings or those of the released code, with open, closed and intermediate gates."""
    return Prune(
        rise=0,
        hold=PAPER_STEPS,
        batch_size=batch or size.batch,
        gate_draws=size.draws if published else 1,
        log_alpha_mean=0.0,
        log_alpha_std=1.0,
        learning_rate=1e-6,  # so low that the run stays in its stage
        controller_learning_rate=1e-6,
        dropout=published,
        examples=size.pairs,
        mean_examples=size.pairs,
    )


def make_inputs(size: Size, device: str = "cpu", precision: str = "float32"):
    """Return Hugging Face's model, sentence pairs, a description of their lengths, and the inputs of the library."""
    plain = make_classifier(size).to(device, getattr(torch, precision))
    corpus = "generated" if size == SIZES["miniature"] else "MNLI"
    rows, encoded, lengths = encode_pairs(corpus, size.pairs, size)
    model = wrap_model(plain, precision)
    pairs = PairTensors(encoded, model.pad, model.device, length_multiple(model.device, model.dtype))
    means = component_means(model, pairs, torch.arange(64).split(16))
    return plain, rows, lengths, PruningInputs(model, means, pairs, all_logits(model, pairs))


class LibraryStep:
    """Pruning step of the library for `runs` runs in a pass.

    `removed` is the share of components with closed gates; None keeps the random log_alpha.
    """

    def __init__(self, inputs: PruningInputs, settings: Prune, runs: int = 1, removed: float | None = None):
        self._inputs, seeds = inputs, [PruningRun(SPARSITY, seed) for seed in range(runs)]
        self.learner = Learner(seeds, settings, len(inputs.model.grid), inputs.model.device)
        self.objective = Objective(inputs, seeds, settings)
        if removed is not None:
            with torch.no_grad():
                for seed, log_alpha in enumerate(self.learner.log_alpha):
                    log_alpha.copy_(draw_stage(inputs.model.grid, removed, seed))

    def run_steps(self, count: int) -> None:
        for draw in self.learner.make_draws(count, len(self._inputs.pairs)):
            self.objective.compute_gradients(self.learner, draw)
            self.learner.advance()


def draw_stage(grid: ComponentGrid, removed: float, seed: int) -> Tensor:
    """Draw log_alpha: -3 for heads that make up the share `removed` of all components, 3 for the other components.

    Pruning removes hardly any MLP. At +-3 a fifth of the gates lie between 0 and 1, as in runs of the miniature.
    """
    heads = grid.layers * grid.heads
    log_alpha = torch.full((len(grid),), 3.0)
    log_alpha[torch.randperm(heads, generator=torch_generator("stage", seed))[: round(removed * len(grid))]] = -3.0
    return log_alpha


def check_agreement(masked: MaskedBert, rows: list[dict], size: Size, inputs: PruningInputs) -> dict[str, float]:
    """Compare KL and gradients of log_alpha of both sides for the same few pairs and gates, without dropout.

    Ends the program if they differ.
    """
    settings = make_settings(size, True, 16).model_copy(update={"dropout": False})
    ours = LibraryStep(inputs, settings)
    draw = ours.learner.make_draws(1, len(inputs.pairs))[0]
    kl = float(ours.objective.compute_gradients(ours.learner, draw)[0, 0])
    plain_step = Baseline(masked, rows, size, settings, ours.learner.log_alpha[0])
    plain_kl = plain_step.compute_gradients(draw.index[0], draw.noise[0], SPARSITY)
    gradient, plain_gradient = ours.learner.log_alpha.grad[0], plain_step.log_alpha.grad
    difference, largest = float((gradient - plain_gradient).abs().max()), float(plain_gradient.abs().max())
    comparison = {"KL": kl, "KL apart": abs(kl - plain_kl), "gradient": largest, "gradient apart": difference}
    # A KL near the tolerance would always agree.
    if not (comparison["KL apart"] <= TOLERANCE and kl >= 100 * TOLERANCE and difference <= 1e-3 * largest):
        raise SystemExit(f"the baseline and the library disagree, or KL is too small to compare: {comparison}")
    return comparison


def compare(size: Size, turns: int) -> dict:
    """Return the results for one size."""
    plain, rows, lengths, inputs = make_inputs(size)
    masked = MaskedBert(plain, inputs.means)
    checked = check_agreement(masked, rows, size, inputs)
    plan_settings = make_settings(size, True).model_copy(update={"dropout": False})  # passes of several runs have none
    plan = LibraryStep(inputs, plan_settings, SHARED[-1]).learner.make_draws(size.steps * (turns + 1), size.pairs)
    parts = [list_micro_batches(inputs.pairs, draw.index[0], size.hidden) for draw in plan]
    work = list_products(plain, parts)
    ways = make_steps(masked, rows, inputs, size, plan, work)
    if measures_bfloat16 := is_bfloat16_faster(torch.device("cpu")):
        ways |= make_bfloat16_steps(size, list_products(plain, parts, torch.bfloat16))
    times = time_interleaved(ways, turns)
    seconds = {way: statistics.median(values) / size.steps for way, values in times.items()}
    steps = range(size.steps, len(plan))  # those of the counted turns
    real, padded = (sum(part[k] for n in steps for part in parts[n]) / len(steps) for k in (0, 2))
    flop = sum(2 * len(x) * matrix.numel() for n in steps for x, matrix in work[n]) / len(steps)
    ours = (*STAGES, "as published", *([f"ours, {BFLOAT16}"] if measures_bfloat16 else []))
    shares = {
        way: median_ratio(times[min(PRODUCTS[way], key=seconds.get)], times[way]) for way in ours if way in PRODUCTS
    }
    rates = {way: flop / 1e9 / value for way, value in seconds.items() if "products" in way}
    return {
        "lengths": lengths,
        "steps": len(steps),
        "check": checked,
        "seconds": seconds,
        "ratio": {way: median_ratio(times["baseline"], times[way]) for way in ours},
        "matmul_share": shares,
        "gflop": flop / 1e9,
        "gflop/s": rates,
        "tokens/s": {way: real / seconds[way] for way in ("baseline", *ours)},
        "padded/real": {"baseline": size.batch * size.max_length / real, "ours": padded / real},
        "shared_pass": compare_passes(inputs.pairs, plan, size.steps, times),
    }


def list_micro_batches(pairs: PairTensors, index: Tensor, hidden: int) -> list[tuple[int, int, int]]:
    """Return the real tokens, pairs and padded tokens of each micro-batch of a step of the library."""
    parts = pairs.split_by_length(pass_tokens("cpu", hidden), index)
    lengths = [pairs.lengths[index[part]] for part in parts]
    return [(int(values.sum()), len(values), len(values) * int(values.max())) for values in lengths]


def compare_passes(pairs: PairTensors, plan: list[StepDraws], steps: int, times: dict) -> dict[str, float]:
    """Return the time per token of a run alone over that of several runs in a pass, each of which draws other pairs."""

    def per_token(runs: int, seconds: list[float]) -> list[float]:
        tokens = [int(pairs.lengths[draw.index[:runs]].sum()) for draw in plan]
        return [value / sum(tokens[t * steps : (t + 1) * steps]) for t, value in enumerate(seconds, start=1)]

    passes = {runs: times.get(f"ours, {runs} runs") for runs in SHARED}
    return {
        str(r): median_ratio(per_token(1, times[ALONE]), per_token(r, values)) for r, values in passes.items() if values
    }


def make_steps(masked, rows, inputs, size, plan, work) -> dict[str, Callable[[int], None]]:
    """Return the ways to time, as functions of the turn, from the draws `plan` and products `work` of every step."""
    settings, published = make_settings(size, False), make_settings(size, True)
    ours = {name: LibraryStep(inputs, settings, removed=removed) for name, removed in STAGES.items()}
    ours["as published"] = LibraryStep(inputs, published, removed=STAGES[ALONE])
    if size.layers <= 6:
        ours |= {f"ours, {runs} runs": LibraryStep(inputs, settings, runs, STAGES[ALONE]) for runs in SHARED}
    baseline = Baseline(masked, rows, size, published, ours["as published"].learner.log_alpha[0])

    def steps(turn: int) -> range:
        return range(turn * size.steps, (turn + 1) * size.steps)

    def plain(turn: int) -> None:
        for n in steps(turn):
            baseline.step(plan[n].index[0], plan[n].noise[0], SPARSITY)

    warm(inputs, size)
    ways = {name: lambda turn, step=step: step.run_steps(size.steps) for name, step in ours.items()}
    return {"baseline": plain, **ways, **make_products(work, size, "")}


def warm(inputs: PruningInputs, size: Size) -> None:
    """Take steps until oneDNN has compiled what most passes need."""
    LibraryStep(inputs, make_settings(size, False), removed=STAGES["ours"]).run_steps(size.warm)


def make_products(work: list, size: Size, ending: str) -> dict[str, Callable[[int], None]]:
    laid_out = PackedProducts(work)
    return {
        f"products{ending}": lambda turn: multiply(work, turn, size.steps),
        f"products, laid out{ending}": lambda turn: laid_out.multiply(turn, size.steps),
    }


def make_bfloat16_steps(size: Size, work: list) -> dict[str, Callable[[int], None]]:
    """Return the ways to time in bfloat16: the step with all components, and its products `work`."""
    *_, inputs = make_inputs(size, precision=BFLOAT16)
    ours = LibraryStep(inputs, make_settings(size, False), removed=STAGES["ours"])
    warm(inputs, size)
    return {f"ours, {BFLOAT16}": lambda turn: ours.run_steps(size.steps), **make_products(work, size, f", {BFLOAT16}")}


def measure_throughput(size: Size, device: str, precision: str, warm: int = 10, steps: int = 50) -> dict:
    """Return the steps per second of the library alone."""
    _, _, lengths, inputs = make_inputs(size, device, precision)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    where = torch.cuda.get_device_name() if device == "cuda" else device
    rates = {}
    for way, published in (("ours", False), ("as published", True)):
        ours = LibraryStep(inputs, make_settings(size, published), removed=STAGES[ALONE])
        ours.run_steps(warm)
        wait()
        start = time.perf_counter()
        ours.run_steps(steps)
        wait()
        rates[way] = steps / (time.perf_counter() - start)
    minutes = {way: PAPER_STEPS / rate / 60 for way, rate in rates.items()}
    result = {"lengths": lengths, "device": where, "precision": precision, "steps": steps, "steps/s": rates}
    return result | {f"minutes of {PAPER_STEPS}": minutes}


if __name__ == "__main__":
    main()
