"""The size of micro-batches: how many padded tokens go through a model at once, by device."""

# Forward and backward: on a CPU few enough that activations stay in its cache (measured in docs/performance.md); the
# number for a GPU is an estimate that weighs padding against kernel launches.
PASS_TOKENS = {"cpu": 512, "cuda": 4096}
WIDTH = 384  # hidden units up to which a pass on a CPU has so many tokens; of a wider model fewer fill the cache
# Evaluation: on a CPU few enough that activations stay in its cache, and pairs are alike.
BATCH_TOKENS = {"cpu": 512, "cuda": 65536}


def pass_tokens(device: str, hidden: int) -> int:
    """Padded tokens of a pass forward and backward on `device` through a model of `hidden` units, at most."""
    most = PASS_TOKENS[device]
    return most if device == "cuda" else max(most // 2, min(most, most * WIDTH // hidden))
