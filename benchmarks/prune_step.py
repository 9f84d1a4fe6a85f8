"""What a step of pruning costs, against the plain way to do it and against the bare matrix products it needs.

    python benchmarks/prune_step.py --size miniature --size minilm --out prune_step.json
    python benchmarks/prune_step.py --size bert-base --device cuda --precision bfloat16

The first form takes turns in one process, on one CPU thread in float32, between
- baseline: what the paper's released code does in a step. Its collator tokenises the sentences of each micro-batch and
  pads them to the longest length allowed; the full model gives its logits; Hugging Face's model in training mode, with
  its components gated by hooks, is run and differentiated; AdamW steps on log_alpha and the multipliers.
- ours: the library's own step, on the same pairs and with the same noise, as many gate samples and runs;
  `with dropout` at the rates of the baseline, and without, which is the library's default.
- ours, R runs: several runs in one pass.
- products: the matrix products with weights that a step on these micro-batches cannot do without, for real tokens
  only, into fresh outputs, walking the layers forward and then backward. Attention's own products, the pooler's and the
  classifier's are not counted.

Before that, both sides compute one small step with dropout off and must agree, gradients included.
matmul_share: the products' share of our time. ratio: baseline over ours. shared_pass: time per run alone over time per
run in a pass of R. Seconds are medians per step, ratios and shares medians of the turns' own.

The second form measures the library alone, and says what a run of 9,300 steps would take. Times mean little on a shared
machine; ratios are measured in turn in one run.
"""

import statistics
import time
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from common import (
    SIZES,
    MaskedBert,
    Size,
    classifier,
    encoded_pairs,
    interleaved,
    padded_inputs,
    parser_for,
    ratio,
    report,
    tokenizer_of,
)
from torch import Tensor

from heuristic_core.ablation import component_means
from heuristic_core.config.blocks import Prune
from heuristic_core.evaluate import all_logits
from heuristic_core.learner import Learner, Run
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.load import PRECISIONS, view_of
from heuristic_core.prune import PASS_TOKENS, Objective, PruningInputs
from heuristic_core.threads import use_threads

SPARSITY = 0.5
SHARED = (2, 4, 8)
PAPER_STEPS = 9300
TOLERANCE = 1e-4


def main():
    parser = parser_for(__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--precision", choices=PRECISIONS, default="float32", help="of the frozen model")
    args = parser.parse_args()
    use_threads(1)
    alone = args.device != "cpu" or args.precision != "float32"
    results = []
    for name in args.size or SIZES:
        size = SIZES[name]
        found = throughput(size, args.device, args.precision) if alone else compare(name, size, args.turns)
        results.append({"size": name} | found)
    report(results, args.out)


def settings_for(size: Size, dropout: bool, batch: int | None = None) -> Prune:
    """The published settings, but gates that are open, closed and between, as in the middle of a run."""
    return Prune(
        rise=0,
        hold=PAPER_STEPS,
        batch_size=batch or size.batch,
        gate_draws=size.draws,
        log_alpha_mean=0.0,
        log_alpha_std=1.0,
        dropout=dropout,
        examples=size.pairs,
        mean_examples=size.pairs,
    )


def inputs_for(size: Size, kind: str, device: str = "cpu", precision: str = "float32"):
    """Hugging Face's model, the sentence pairs, where their lengths come from, and the library's inputs."""
    plain = classifier(size).to(device, PRECISIONS[precision])
    rows, encoded, source = encoded_pairs(kind, size.pairs, size)
    model = view_of(plain)
    pairs = PairTensors(encoded, model.pad, model.device)
    means = component_means(model, pairs, torch.arange(64).split(16))
    return plain, rows, source, PruningInputs(model, means, pairs, all_logits(model, pairs))


class Ours:
    """The library's step."""

    def __init__(self, inputs: PruningInputs, settings: Prune, runs: int = 1):
        self._inputs, seeds = inputs, [Run(SPARSITY, seed) for seed in range(runs)]
        self.learner = Learner(seeds, settings, len(inputs.model.grid), inputs.model.device)
        self.objective = Objective(inputs, seeds, settings)

    def steps(self, count: int) -> None:
        for draw in self.learner.draws(count, len(self._inputs.pairs)):
            self.objective.descend(self.learner, draw)
            self.learner.advance()


class Baseline:
    """The plain step. log_alpha: where it starts, [components]."""

    def __init__(self, masked: MaskedBert, rows: list[dict], size: Size, settings: Prune, log_alpha: Tensor):
        self._masked, self._rows, self._size, self._dropout = masked, rows, size, settings.dropout
        self._tokenizer = tokenizer_of(size)
        self.log_alpha = log_alpha.detach().clone().requires_grad_()
        self._lambdas = torch.zeros(2, requires_grad=True)
        descent = {"params": [self.log_alpha], "lr": settings.learning_rate}
        ascent = {"params": [self._lambdas], "lr": settings.controller_learning_rate, "maximize": True}
        self._optimizer = torch.optim.AdamW([descent, ascent], weight_decay=0.01)

    def step(self, index: Tensor, noise: Tensor, target: float) -> None:
        self.gradients(index, noise, target)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def gradients(self, index: Tensor, noise: Tensor, target: float) -> float:
        """Those of one step, over micro-batches with a gate sample each; the mean KL. noise: [draws, components]."""
        total = 0.0
        for part, uniform in zip(index.chunk(len(noise)), noise, strict=True):
            rows = [self._rows[i] for i in part.tolist()]
            inputs = padded_inputs(self._tokenizer, rows, self._size.max_length)
            kl, penalty = self._losses(inputs, uniform, target)
            ((kl + penalty) / len(noise)).backward()
            total += kl.item() / len(noise)
        return total

    def _losses(self, inputs: dict, uniform: Tensor, target: float) -> tuple[Tensor, Tensor]:
        model = self._masked.model
        self._masked.gates = None
        with torch.no_grad():
            full = F.log_softmax(model.eval()(**inputs).logits, -1)
        uniform = uniform.clamp(1e-6, 1 - 1e-6)
        soft = torch.sigmoid((uniform.log() - (1 - uniform).log() + self.log_alpha) / (2 / 3))
        z = self._masked.gates = (1.2 * soft - 0.1).clamp(0, 1)
        gated = F.log_softmax(model.train(self._dropout)(**inputs).logits, -1)
        gap = target - (1 - z.mean())
        penalty = self._lambdas[0] * gap + self._lambdas[1] * gap**2
        return F.kl_div(gated, full, reduction="batchmean", log_target=True), penalty


def products(plain, parts: list[tuple[int, int]]) -> Iterator[tuple[int, Tensor]]:
    """The products of one step in its order: rows, and the [in, out] matrix they meet.

    parts: tokens and pairs of each micro-batch. The last layer computes keys and values of all rows, everything else
    for one row a pair; below the gates of layer 0 nothing needs a gradient.
    """
    layers = []
    for layer in plain.bert.encoder.layer:
        own = layer.attention.self
        joined = torch.cat([own.query.weight, own.key.weight, own.value.weight])
        output = layer.attention.output.dense.weight
        layers.append((joined, output, layer.intermediate.dense.weight, layer.output.dense.weight))
    hidden, last = plain.config.hidden_size, len(layers) - 1
    for tokens, pairs in parts:
        for number, (joined, output, up, down) in enumerate(layers):
            rows = pairs if number == last else tokens
            split = [(pairs, joined[:hidden]), (tokens, joined[hidden:])] if number == last else [(tokens, joined)]
            yield from ((n, weight.T) for n, weight in (*split, (rows, output), (rows, up), (rows, down)))
        for number, (joined, output, up, down) in reversed(list(enumerate(layers))):
            rows = pairs if number == last else tokens
            yield from ((rows, down), (rows, up), (rows, output))
            if number == last:
                yield from ((tokens, joined[hidden:]), (pairs, joined[:hidden]))
            elif number:
                yield tokens, joined


def multiply(work: list[tuple[Tensor, Tensor]]) -> None:
    for x, matrix in work:
        torch.mm(x, matrix)


def check(masked: MaskedBert, rows: list[dict], size: Size, inputs: PruningInputs) -> dict[str, float]:
    """Both sides' KL for the same few pairs and gates, without dropout, and their largest gradient of log_alpha.

    Ends the program where they differ.
    """
    settings = settings_for(size, dropout=False, batch=16)
    ours = Ours(inputs, settings)
    draw = ours.learner.draws(1, len(inputs.pairs))[0]
    kl = float(ours.objective.descend(ours.learner, draw)[0, 0])
    theirs = Baseline(masked, rows, size, settings, ours.learner.log_alpha[0])
    plain_kl = theirs.gradients(draw.index[0], draw.noise[0], SPARSITY)
    gradient, plain_gradient = ours.learner.log_alpha.grad[0], theirs.log_alpha.grad
    apart, largest = float((gradient - plain_gradient).abs().max()), float(plain_gradient.abs().max())
    found = {"KL": kl, "KL apart": abs(kl - plain_kl), "gradient": largest, "gradient apart": apart}
    # A KL that does not stand out against the tolerance would agree in any case.
    if not (found["KL apart"] <= TOLERANCE and kl >= 100 * TOLERANCE and apart <= 1e-3 * largest):
        raise SystemExit(f"the baseline and the library do not compute the same thing, or nothing: {found}")
    return found


def compare(name: str, size: Size, turns: int | None) -> dict:
    """One size's results."""
    turns = turns or size.turns
    plain, rows, source, inputs = inputs_for(size, "miniature" if name == "miniature" else "MNLI")
    masked = MaskedBert(plain, inputs.means)
    checked = check(masked, rows, size, inputs)
    plan = Ours(inputs, settings_for(size, False)).learner.draws(size.steps * (turns + 1), size.pairs)
    parts = [micro_batches(inputs.pairs, draw.index[0]) for draw in plan]
    ways, work = ways_to_step(plain, masked, rows, inputs, size, plan, parts)
    taken = interleaved(ways, turns)
    times = {way: [value / size.steps for value in values] for way, values in taken.items()}
    counted = slice(size.steps, None)
    real, padded = (sum(sum(p[k] for p in part) for part in parts[counted]) / (size.steps * turns) for k in (0, 2))
    flop = sum(2 * len(x) * m.numel() for step in work[counted] for x, m in step) / (size.steps * turns)
    seconds = {way: statistics.median(values) for way, values in times.items()}
    return {
        "lengths": source,
        "steps": size.steps * turns,
        "check": checked,
        "seconds": seconds,
        "ratio": {way: ratio(times["baseline"], times[way]) for way in ("ours", "ours with dropout")},
        "matmul_share": {way: ratio(times["products"], times[way]) for way in ("ours", "ours with dropout")},
        "gflop of products": flop / 1e9,
        "gflop/s of products": flop / 1e9 / seconds["products"],
        "tokens/s": {way: real / seconds[way] for way in ("ours", "ours with dropout", "baseline")},
        "padded/real": {"ours": padded / real, "baseline": size.batch * size.max_length / real},
        "shared_pass": {
            str(runs): ratio([runs * value for value in times["ours"]], times[f"ours, {runs} runs"])
            for runs in SHARED
            if f"ours, {runs} runs" in times
        },
    }


def micro_batches(pairs: PairTensors, index: Tensor) -> list[tuple[int, int, int]]:
    """Real tokens, pairs and padded tokens of each micro-batch in which the library takes a step's pairs."""
    lengths = [pairs.lengths[index[part]] for part in pairs.by_length(PASS_TOKENS["cpu"], index)]
    return [(int(some.sum()), len(some), len(some) * int(some.max())) for some in lengths]


def ways_to_step(plain, masked, rows, inputs, size, plan, parts) -> tuple[dict[str, Callable[[int], None]], list]:
    """What is timed, each a function of the turn; and the products of every step."""
    ours = {
        "ours": Ours(inputs, settings_for(size, False)),
        "ours with dropout": Ours(inputs, settings_for(size, True)),
    }
    if size.layers < 12:
        ours |= {f"ours, {runs} runs": Ours(inputs, settings_for(size, False), runs) for runs in SHARED}
    baseline = Baseline(masked, rows, size, settings_for(size, True), ours["ours"].learner.log_alpha[0])
    widths = {size.hidden, 2 * size.hidden, 3 * size.hidden, size.feed_forward}
    left = {width: torch.randn(PASS_TOKENS["cpu"], width) for width in widths}
    work = [[(left[len(m)][:n], m) for n, m in products(plain, [p[:2] for p in part])] for part in parts]

    def each(run: Callable[[int], None], turn: int) -> None:
        for number in range(turn * size.steps, (turn + 1) * size.steps):
            run(number)

    def plain_step(number: int) -> None:
        baseline.step(plan[number].index[0], plan[number].noise[0], SPARSITY)

    ways = {name: lambda turn, one=one: one.steps(size.steps) for name, one in ours.items()}
    ways["products"] = lambda turn: each(lambda number: multiply(work[number]), turn)
    return {"baseline": lambda turn: each(plain_step, turn)} | ways, work


def throughput(size: Size, device: str, precision: str, warm: int = 10, steps: int = 50) -> dict:
    """Steps per second of the library alone."""
    kind = "miniature" if size.max_length < 128 else "MNLI"
    _, _, source, inputs = inputs_for(size, kind, device, precision)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    where = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    result = {
        "lengths": source,
        "device": where,
        "precision": precision,
        "steps/s": {},
        f"minutes of {PAPER_STEPS}": {},
    }
    for way, dropout in (("ours", False), ("ours with dropout", True)):
        ours = Ours(inputs, settings_for(size, dropout))
        ours.steps(warm)
        wait()
        start = time.perf_counter()
        ours.steps(steps)
        wait()
        rate = steps / (time.perf_counter() - start)
        result["steps/s"][way], result[f"minutes of {PAPER_STEPS}"][way] = rate, PAPER_STEPS / rate / 60
    return result


if __name__ == "__main__":
    main()
