"""What evaluating a subnetwork costs, against the plain way to do it.

    python benchmarks/evaluate.py --size miniature --size minilm --out evaluate.json

Takes turns in one process, on one CPU thread in float32, between
- baseline: Hugging Face's model, its removed components replaced by hooks, over batches of 32 pairs in the set's order,
  all padded to the longest length allowed. The pairs are tokenised beforehand.
- ours: `heuristic_core.interventions.evaluate.subnetwork_logits`, with what it does before its first batch.

Both get the same random subnetwork at 50 % sparsity and the same random means. The ratio depends on what is removed, so
there are two: components drawn among all, and heads alone, as many as half of all components are (pruning seldom
removes MLPs). Lengths are real ones where shared/data is beside the repository, at 1.25 tokens a word. In the first
turn, which is not counted, logits must agree to 1e-3 and classes exactly. ratio: median over turns of baseline over
ours. Times mean little on a shared machine; ratios are measured in turn in one run.
"""

import statistics

import torch
import torch.nn.functional as F
from common import SIZES, MaskedBert, Size, classifier, encoded_pairs, interleaved, parser_for, ratio, report
from torch import Tensor

from heuristic_core.common.threads import use_threads
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import subnetwork_logits
from heuristic_core.models.ablation import ComponentMeans, gates_without
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.components import ComponentGrid, kept_count
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.micro_batches import BATCH_TOKENS

SPARSITY = 0.5
BATCH = 32
TOLERANCE = 1e-3


def main():
    args = parser_for(__doc__).parse_args()
    use_threads(1)
    results = []
    for name in args.size or SIZES:
        size = SIZES[name]
        for kind in ("generated",) if name == "miniature" else ("MNLI", "HANS"):
            _, pairs, lengths = encoded_pairs(kind, size.evaluated, size)
            for what in ("components", "heads"):
                found = compare(size, pairs, what, args.turns or size.turns)
                results.append({"size": name, "lengths": lengths} | found)
    report(results, args.out)


def subnetwork(grid: ComponentGrid, what: str) -> list[int]:
    """Components removed at random, exactly as many as the sparsity says: among all, or heads alone."""
    count = len(grid) - kept_count(len(grid), SPARSITY)
    among = len(grid) if what == "components" else grid.layers * grid.heads
    return sorted(torch.randperm(among, generator=torch.Generator().manual_seed(0))[:count].tolist())


def random_means(size: Size) -> ComponentMeans:
    generator = torch.Generator().manual_seed(1)
    heads = torch.randn(size.layers, size.heads, size.hidden // size.heads, generator=generator)
    return ComponentMeans(heads, torch.randn(size.layers, size.hidden, generator=generator))


@torch.no_grad()
def plain_logits(masked: MaskedBert, inputs: dict[str, Tensor]) -> Tensor:
    """Class logits of every pair, [n, classes]."""
    batches = zip(*(value.split(BATCH) for value in inputs.values()), strict=True)
    return torch.cat([masked.model(**dict(zip(inputs, batch, strict=True))).logits for batch in batches])


def padded_inputs_of(pairs: Encoded, longest: int) -> dict[str, Tensor]:
    """All pairs of the set, padded to `longest`."""
    ids, types = (torch.from_numpy(field).long() for field in pairs.pad_to_longest())
    real = torch.arange(longest) < torch.from_numpy(pairs.lengths)[:, None]
    fill = (0, longest - ids.shape[1])
    ids, types = (F.pad(field, fill) for field in (ids, types))
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": real.long()}


def compare(size: Size, pairs: Encoded, what: str, turns: int) -> dict:
    """Results of one size, set and subnetwork."""
    plain, means = classifier(size), random_means(size)
    model, half, masked = wrap_model(plain), wrap_model(plain, "bfloat16"), MaskedBert(plain, means)
    removed = subnetwork(model.grid, what)
    masked.gates = gates_without(removed, model.grid)
    inputs = padded_inputs_of(pairs, size.max_length)
    logits, apart = {}, []

    def baseline(turn: int) -> None:
        logits["baseline"] = plain_logits(masked, inputs)

    def ours(turn: int) -> None:
        logits["ours"] = subnetwork_logits(model, PairTensors(pairs, model.pad), removed, means)

    def in_bfloat16(turn: int) -> None:
        subnetwork_logits(half, PairTensors(pairs, model.pad), removed, means)

    ways = {"baseline": baseline, "ours": ours, "bfloat16": in_bfloat16}
    times = interleaved(ways, turns, lambda: apart.append(check(logits["ours"], logits["baseline"])))
    seconds = {way: statistics.median(values) for way, values in times.items()}
    real, heads = int(pairs.lengths.sum()), model.grid.layers * model.grid.heads
    return {
        "drawn among": what,
        "heads removed": f"{sum(i < heads for i in removed)} of {heads}",
        "MLPs removed": f"{sum(i >= heads for i in removed)} of {model.grid.layers}",
        "logits apart": apart[0],
        "seconds": seconds,
        "ratio": ratio(times["baseline"], times["ours"]),
        "float32 over bfloat16": ratio(times["ours"], times["bfloat16"]),
        "tokens/s": {way: real / value for way, value in seconds.items()},
        "padded/real": {"ours": padded_by_us(pairs) / real, "baseline": len(pairs) * size.max_length / real},
    }


def check(ours: Tensor, baseline: Tensor) -> float:
    """How far apart logits are at most. Ends the program where they do not agree."""
    apart = float((ours - baseline).abs().max())
    if not apart <= TOLERANCE or not torch.equal(ours.argmax(-1), baseline.argmax(-1)):
        raise SystemExit(f"the baseline and the library do not compute the same thing: logits are {apart} apart")
    # Where all pairs have like logits, a mistake in a mask would go unseen.
    if float(baseline.std(0).max()) < 10 * TOLERANCE:
        raise SystemExit("the check is void: all pairs have the same logits")
    return apart


def padded_by_us(pairs: Encoded) -> int:
    """Tokens that the library computes, padding included."""
    tensors = PairTensors(pairs)
    return sum(len(i) * int(tensors.lengths[i].max()) for i in tensors.split_by_length(BATCH_TOKENS["cpu"]))


if __name__ == "__main__":
    main()
