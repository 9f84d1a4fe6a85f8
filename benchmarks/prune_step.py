"""What a step of pruning costs, against the plain way to do it and against the bare matrix products it needs.

    python benchmarks/prune_step.py --size miniature --size minilm --out prune_step.json
    python benchmarks/prune_step.py --size bert-base --device cuda --precision bfloat16

The first form takes turns in one process, on one CPU thread in float32, between
- baseline: what the paper's released code does in a step. Its collator tokenises the sentences of each micro-batch and
  pads them to the longest length allowed; the full model gives its logits; Hugging Face's model in training mode, with
  its components gated by hooks, is run and differentiated; AdamW steps on log_alpha and the multipliers.
- ours: the library's step on the same pairs with its default settings (one gate sample, no dropout), in three stages of
  a run: where gates keep all components, all but a quarter, and half of them (`stage`). A step leaves out what its
  gates close, so these differ; the baseline's time does not depend on it.
- as published: the library's step with the baseline's settings (dropout, four samples) and a quarter removed.
- ours, R runs: several runs in one pass, a quarter removed in each; not for models of more than 6 layers.
- products: the matrix products with weights that a step with all components cannot do without (`common.products`).
- products, laid out: the same by oneDNN on weights that are laid out for it beforehand, as the library does it.
- ours, bfloat16, and both products, bfloat16: the same in bfloat16, where the processor has instructions for it.

Before that, both sides compute a small step with dropout off and must agree, gradients included. Lengths are real ones
where shared/data is beside the repository, at 1.25 tokens a word. Seconds are medians, per step; ratio: baseline
over ours; matmul_share: the faster products over ours with all components, in either precision; shared_pass: time per
token alone over that in a pass of R runs; all three are medians of the turns' own.

The second form measures the library alone, and says what a run of 9,300 steps would take. Times mean little on a shared
machine; ratios are measured in turn in one run.
"""

import statistics
import time
from collections.abc import Callable
from typing import get_args

import torch
from common import (
    SIZES,
    LaidOut,
    MaskedBert,
    Size,
    classifier,
    encoded_pairs,
    interleaved,
    multiply,
    parser_for,
    products,
    ratio,
    report,
)
from released_step import Baseline
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.common.threads import use_threads
from heuristic_core.config.blocks import Precision
from heuristic_core.config.pruning import Prune
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import ComponentGrid
from heuristic_core.models.device import has_native_bfloat16
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.micro_batches import pass_tokens
from heuristic_core.pruning.inputs import PruningInputs
from heuristic_core.pruning.learner import Draws, Learner, PruningRun
from heuristic_core.pruning.prune import Objective

SPARSITY = 0.5
SHARED = (2, 4, 8)
STAGES = {"ours": 0.0, "ours, quarter removed": 0.25, "ours, half removed": 0.5}
ALONE, BFLOAT16 = "ours, quarter removed", "bfloat16"
PRODUCTS = {  # that steps with all components cannot do without
    "ours": ("products", "products, laid out"),
    f"ours, {BFLOAT16}": (f"products, {BFLOAT16}", f"products, laid out, {BFLOAT16}"),
}
PAPER_STEPS = 9300
TOLERANCE = 1e-4


def main():
    parser = parser_for(__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--precision", choices=get_args(Precision), default="float32", help="of the frozen model")
    args = parser.parse_args()
    use_threads(1)
    alone = args.device != "cpu" or args.precision != "float32"
    results = []
    for name in args.size or SIZES:
        size = SIZES[name]
        found = throughput(size, args.device, args.precision) if alone else compare(size, args.turns or size.turns)
        results.append({"size": name} | found)
    report(results, args.out)


def settings_for(size: Size, published: bool, batch: int | None = None) -> Prune:
    """The defaults or the released code's choices; gates that are open, closed and between."""
    return Prune(
        rise=0,
        hold=PAPER_STEPS,
        batch_size=batch or size.batch,
        gate_draws=size.draws if published else 1,
        log_alpha_mean=0.0,
        log_alpha_std=1.0,
        learning_rate=1e-6,  # the arithmetic of a step, without leaving the stage that is measured
        controller_learning_rate=1e-6,
        dropout=published,
        examples=size.pairs,
        mean_examples=size.pairs,
    )


def inputs_for(size: Size, device: str = "cpu", precision: str = "float32"):
    """Hugging Face's model, the sentence pairs, what to say of their lengths, and the library's inputs."""
    plain = classifier(size).to(device, getattr(torch, precision))
    kind = "generated" if size == SIZES["miniature"] else "MNLI"
    rows, encoded, lengths = encoded_pairs(kind, size.pairs, size)
    model = wrap_model(plain, precision)
    pairs = PairTensors(encoded, model.pad, model.device)
    means = component_means(model, pairs, torch.arange(64).split(16))
    return plain, rows, lengths, PruningInputs(model, means, pairs, all_logits(model, pairs))


class Ours:
    """The library's step. removed: the share of components that gates close; None leaves log_alpha as it is drawn."""

    def __init__(self, inputs: PruningInputs, settings: Prune, runs: int = 1, removed: float | None = None):
        self._inputs, seeds = inputs, [PruningRun(SPARSITY, seed) for seed in range(runs)]
        self.learner = Learner(seeds, settings, len(inputs.model.grid), inputs.model.device)
        self.objective = Objective(inputs, seeds, settings)
        if removed is not None:
            with torch.no_grad():
                for seed, log_alpha in enumerate(self.learner.log_alpha):
                    log_alpha.copy_(stage(inputs.model.grid, removed, seed))

    def steps(self, count: int) -> None:
        for draw in self.learner.draws(count, len(self._inputs.pairs)):
            self.objective.compute_gradients(self.learner, draw)
            self.learner.advance()


def stage(grid: ComponentGrid, removed: float, seed: int) -> Tensor:
    """log_alpha of -3 for so large a share of all components, all of them heads, and 3 for the others.

    Pruning removes hardly any MLP. At +-3 a fifth of the gates lie between 0 and 1, as in the miniature's runs.
    """
    heads = grid.layers * grid.heads
    log_alpha = torch.full((len(grid),), 3.0)
    log_alpha[torch.randperm(heads, generator=torch_generator("stage", seed))[: round(removed * len(grid))]] = -3.0
    return log_alpha


def check(masked: MaskedBert, rows: list[dict], size: Size, inputs: PruningInputs) -> dict[str, float]:
    """Both sides' KL for the same few pairs and gates, without dropout, and their largest gradient of log_alpha.

    Ends the program where they differ.
    """
    settings = settings_for(size, True, 16).model_copy(update={"dropout": False})
    ours = Ours(inputs, settings)
    draw = ours.learner.draws(1, len(inputs.pairs))[0]
    kl = float(ours.objective.compute_gradients(ours.learner, draw)[0, 0])
    theirs = Baseline(masked, rows, size, settings, ours.learner.log_alpha[0])
    plain_kl = theirs.gradients(draw.index[0], draw.noise[0], SPARSITY)
    gradient, plain_gradient = ours.learner.log_alpha.grad[0], theirs.log_alpha.grad
    apart, largest = float((gradient - plain_gradient).abs().max()), float(plain_gradient.abs().max())
    found = {"KL": kl, "KL apart": abs(kl - plain_kl), "gradient": largest, "gradient apart": apart}
    # A KL that does not stand out against the tolerance would agree in any case.
    if not (found["KL apart"] <= TOLERANCE and kl >= 100 * TOLERANCE and apart <= 1e-3 * largest):
        raise SystemExit(f"the baseline and the library do not compute the same thing, or nothing: {found}")
    return found


def compare(size: Size, turns: int) -> dict:
    """One size's results."""
    plain, rows, lengths, inputs = inputs_for(size)
    masked = MaskedBert(plain, inputs.means)
    checked = check(masked, rows, size, inputs)
    drawn = settings_for(size, True).model_copy(update={"dropout": False})  # several runs have none
    plan = Ours(inputs, drawn, SHARED[-1]).learner.draws(size.steps * (turns + 1), size.pairs)
    parts = [micro_batches(inputs.pairs, draw.index[0], size.hidden) for draw in plan]
    work = products(plain, parts)
    ways = ways_to_step(masked, rows, inputs, size, plan, work)
    if rounded := has_native_bfloat16(torch.device("cpu")):
        ways |= ways_in_bfloat16(size, products(plain, parts, torch.bfloat16))
    times = interleaved(ways, turns)
    seconds = {way: statistics.median(values) / size.steps for way, values in times.items()}
    steps = range(size.steps, len(plan))  # those of the counted turns
    real, padded = (sum(part[k] for n in steps for part in parts[n]) / len(steps) for k in (0, 2))
    flop = sum(2 * len(x) * matrix.numel() for n in steps for x, matrix in work[n]) / len(steps)
    ours = (*STAGES, "as published", *([f"ours, {BFLOAT16}"] if rounded else []))
    shares = {way: ratio(times[min(PRODUCTS[way], key=seconds.get)], times[way]) for way in ours if way in PRODUCTS}
    rates = {way: flop / 1e9 / taken for way, taken in seconds.items() if "products" in way}
    return {
        "lengths": lengths,
        "steps": len(steps),
        "check": checked,
        "seconds": seconds,
        "ratio": {way: ratio(times["baseline"], times[way]) for way in ours},
        "matmul_share": shares,
        "gflop": flop / 1e9,
        "gflop/s": rates,
        "tokens/s": {way: real / seconds[way] for way in ("baseline", *ours)},
        "padded/real": {"baseline": size.batch * size.max_length / real, "ours": padded / real},
        "shared_pass": shared_passes(inputs.pairs, plan, size.steps, times),
    }


def micro_batches(pairs: PairTensors, index: Tensor, hidden: int) -> list[tuple[int, int, int]]:
    """Real tokens, pairs and padded tokens of each micro-batch in which the library takes a step's pairs."""
    parts = pairs.split_by_length(pass_tokens("cpu", hidden), index)
    lengths = [pairs.lengths[index[part]] for part in parts]
    return [(int(some.sum()), len(some), len(some) * int(some.max())) for some in lengths]


def shared_passes(pairs: PairTensors, plan: list[Draws], steps: int, times: dict) -> dict[str, float]:
    """Time per token of a run alone over that of several runs in a pass: each run draws other pairs."""

    def per_token(runs: int, seconds: list[float]) -> list[float]:
        tokens = [int(pairs.lengths[draw.index[:runs]].sum()) for draw in plan]
        return [value / sum(tokens[t * steps : (t + 1) * steps]) for t, value in enumerate(seconds, start=1)]

    passes = {runs: times.get(f"ours, {runs} runs") for runs in SHARED}
    return {str(r): ratio(per_token(1, times[ALONE]), per_token(r, taken)) for r, taken in passes.items() if taken}


def ways_to_step(masked, rows, inputs, size, plan, work) -> dict[str, Callable[[int], None]]:
    """What is timed, each a function of the turn. plan, work: what is drawn, and the products, of every step."""
    settings, published = settings_for(size, False), settings_for(size, True)
    ours = {name: Ours(inputs, settings, removed=removed) for name, removed in STAGES.items()}
    ours["as published"] = Ours(inputs, published, removed=STAGES[ALONE])
    if size.layers <= 6:
        ours |= {f"ours, {runs} runs": Ours(inputs, settings, runs, STAGES[ALONE]) for runs in SHARED}
    baseline = Baseline(masked, rows, size, published, ours["as published"].learner.log_alpha[0])

    def steps(turn: int) -> range:
        return range(turn * size.steps, (turn + 1) * size.steps)

    def plain(turn: int) -> None:
        for n in steps(turn):
            baseline.step(plan[n].index[0], plan[n].noise[0], SPARSITY)

    warm(inputs, size)
    ways = {name: lambda turn, one=one: one.steps(size.steps) for name, one in ours.items()}
    return {"baseline": plain, **ways, **ways_to_multiply(work, size, "")}


def warm(inputs: PruningInputs, size: Size) -> None:
    """Let oneDNN compile what most passes need: a run has done so after its first steps."""
    Ours(inputs, settings_for(size, False), removed=STAGES["ours"]).steps(size.warm)


def ways_to_multiply(work: list, size: Size, ending: str) -> dict[str, Callable[[int], None]]:
    laid_out = LaidOut(work)
    return {
        f"products{ending}": lambda turn: multiply(work, turn, size.steps),
        f"products, laid out{ending}": lambda turn: laid_out.multiply(turn, size.steps),
    }


def ways_in_bfloat16(size: Size, work: list) -> dict[str, Callable[[int], None]]:
    """The library's step with all components, and its products, `work`."""
    *_, inputs = inputs_for(size, precision=BFLOAT16)
    ours = Ours(inputs, settings_for(size, False), removed=STAGES["ours"])
    warm(inputs, size)
    return {f"ours, {BFLOAT16}": lambda turn: ours.steps(size.steps), **ways_to_multiply(work, size, f", {BFLOAT16}")}


def throughput(size: Size, device: str, precision: str, warm: int = 10, steps: int = 50) -> dict:
    """Steps per second of the library alone."""
    _, _, lengths, inputs = inputs_for(size, device, precision)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    where = torch.cuda.get_device_name() if device == "cuda" else device
    rates = {}
    for way, published in (("ours", False), ("as published", True)):
        ours = Ours(inputs, settings_for(size, published), removed=STAGES[ALONE])
        ours.steps(warm)
        wait()
        start = time.perf_counter()
        ours.steps(steps)
        wait()
        rates[way] = steps / (time.perf_counter() - start)
    minutes = {way: PAPER_STEPS / rate / 60 for way, rate in rates.items()}
    result = {"lengths": lengths, "device": where, "precision": precision, "steps": steps, "steps/s": rates}
    return result | {f"minutes of {PAPER_STEPS}": minutes}


if __name__ == "__main__":
    main()
