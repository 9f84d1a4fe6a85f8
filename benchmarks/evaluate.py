"""Time the evaluation of a subnetwork relative to a baseline with hooks and padding.

    python benchmarks/evaluate.py --size miniature --size minilm --out evaluate.json

Alternates in one process, on one CPU thread in float32, between
- baseline: Hugging Face's model, with removed components replaced by hooks, over batches of 32 pairs in the order of
  the set, all padded to the maximum length. The pairs are tokenised beforehand.
- ours: `heuristic_core.interventions.evaluate.subnetwork_logits`, including its work before the first batch.

Both evaluate the same random subnetwork at 50 % sparsity with the same random means. The ratio depends on the removed
components, so there are two subnetworks: one removes components drawn from all, the other as many heads (pruning seldom
removes MLPs). Lengths are those of real pairs if shared/data is next to the repository, at 1.25 tokens a word. In the
first turn, which is not counted, logits must agree to 1e-3 and classes exactly. The ratio is the median over turns of
baseline over ours, which is more reliable than times on a shared machine.
"""

import statistics
from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from common import SIZES, MaskedBert, Size, encode_pairs, make_classifier, make_parser
from timing import median_ratio, print_report, time_interleaved
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
    args = make_parser(__doc__).parse_args()
    use_threads(1)
    print_report(measure(args.size or SIZES, args.turns), args.out)


def measure(names: Iterable[str], turns: int | None) -> Iterator[dict]:
    """Yield the results for each size, set and subnetwork."""
    for name in names:
        size = SIZES[name]
        for corpus in ("generated",) if name == "miniature" else ("MNLI", "HANS"):
            _, pairs, lengths = encode_pairs(corpus, size.evaluated, size)
            for population in ("components", "heads"):
                result = compare(size, pairs, population, turns or size.turns)
                yield {"size": name, "lengths": lengths} | result


def draw_removed(grid: ComponentGrid, population: str) -> list[int]:
    """Draw the components to remove, exactly as many as the sparsity requires, from all components or from heads."""
    count = len(grid) - kept_count(len(grid), SPARSITY)
    candidates = len(grid) if population == "components" else grid.layers * grid.heads
    return sorted(torch.randperm(candidates, generator=torch.Generator().manual_seed(0))[:count].tolist())


def random_means(size: Size) -> ComponentMeans:
    generator = torch.Generator().manual_seed(1)
    heads = torch.randn(size.layers, size.heads, size.hidden // size.heads, generator=generator)
    return ComponentMeans(heads, torch.randn(size.layers, size.hidden, generator=generator))


@torch.no_grad()
def compute_plain_logits(masked: MaskedBert, inputs: dict[str, Tensor]) -> Tensor:
    """Return the class logits of every pair, [n, classes]."""
    batches = zip(*(value.split(BATCH) for value in inputs.values()), strict=True)
    return torch.cat([masked.model(**dict(zip(inputs, batch, strict=True))).logits for batch in batches])


def pad_inputs(pairs: Encoded, longest: int) -> dict[str, Tensor]:
    """Pad all pairs to `longest`."""
    ids, types = (torch.from_numpy(field).long() for field in pairs.pad_to_longest())
    real = torch.arange(longest) < torch.from_numpy(pairs.lengths)[:, None]
    fill = (0, longest - ids.shape[1])
    ids, types = (F.pad(field, fill) for field in (ids, types))
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": real.long()}


def compare(size: Size, pairs: Encoded, population: str, turns: int) -> dict:
    """Return the results for one size, set and subnetwork."""
    plain, means = make_classifier(size), random_means(size)
    model, half, masked = wrap_model(plain), wrap_model(plain, "bfloat16"), MaskedBert(plain, means)
    removed = draw_removed(model.grid, population)
    masked.gates = gates_without(removed, model.grid)
    inputs = pad_inputs(pairs, size.max_length)
    logits, difference = {}, []

    def run_baseline(turn: int) -> None:
        logits["baseline"] = compute_plain_logits(masked, inputs)

    def run_library(turn: int) -> None:
        logits["ours"] = subnetwork_logits(model, PairTensors(pairs, model.pad), removed, means)

    def run_bfloat16(turn: int) -> None:
        subnetwork_logits(half, PairTensors(pairs, model.pad), removed, means)

    ways = {"baseline": run_baseline, "ours": run_library, "bfloat16": run_bfloat16}
    times = time_interleaved(ways, turns, lambda: difference.append(check_logits(logits["ours"], logits["baseline"])))
    seconds = {way: statistics.median(values) for way, values in times.items()}
    real, heads = int(pairs.lengths.sum()), model.grid.layers * model.grid.heads
    return {
        "drawn among": population,
        "heads removed": f"{sum(i < heads for i in removed)} of {heads}",
        "MLPs removed": f"{sum(i >= heads for i in removed)} of {model.grid.layers}",
        "logits apart": difference[0],
        "seconds": seconds,
        "ratio": median_ratio(times["baseline"], times["ours"]),
        "float32 over bfloat16": median_ratio(times["ours"], times["bfloat16"]),
        "tokens/s": {way: real / value for way, value in seconds.items()},
        "padded/real": {"ours": count_padded_tokens(pairs) / real, "baseline": len(pairs) * size.max_length / real},
    }


def check_logits(run_library: Tensor, run_baseline: Tensor) -> float:
    """Return the largest difference of logits; end the program if they disagree."""
    difference = float((run_library - run_baseline).abs().max())
    if not difference <= TOLERANCE or not torch.equal(run_library.argmax(-1), run_baseline.argmax(-1)):
        raise SystemExit(f"the baseline and the library disagree: logits differ by {difference}")
    # If all pairs had similar logits, a wrong mask would go unnoticed.
    if float(run_baseline.std(0).max()) < 10 * TOLERANCE:
        raise SystemExit("the check is void: all pairs have the same logits")
    return difference


def count_padded_tokens(pairs: Encoded) -> int:
    """Count the tokens that the library computes, including padding."""
    tensors = PairTensors(pairs)
    return sum(len(i) * int(tensors.lengths[i].max()) for i in tensors.split_by_length(BATCH_TOKENS["cpu"]))


if __name__ == "__main__":
    main()
