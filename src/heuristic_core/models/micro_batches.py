"""Sizes of micro-batches: padded tokens that go through a model at once, by device."""

# Forward and backward passes. CPU: activations stay in the cache (measured in docs/performance.md). GPU: an estimate
# that balances padding against kernel launches.
PASS_TOKENS = {"cpu": 512, "cuda": 4096}
FULL_PASS_WIDTH = 384  # on a CPU, the wider a model, the fewer tokens: half to twice as many as for this width
# Evaluation. CPU: activations stay in the cache, and pairs of a batch have similar lengths.
BATCH_TOKENS = {"cpu": 512, "cuda": 65536}


def pass_tokens(device: str, hidden: int) -> int:
    """Return the largest number of padded tokens in a forward and backward pass.

    Args:
        device: "cpu" or "cuda".
        hidden: Hidden size of the model.
    """
    limit = PASS_TOKENS[device]
    return limit if device == "cuda" else max(limit // 2, min(2 * limit, limit * FULL_PASS_WIDTH // hidden))
