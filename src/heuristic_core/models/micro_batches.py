"""The size of micro-batches: how many padded tokens go through a model at once, by device."""

# Forward and backward: on a CPU few enough that activations stay in its cache (measured in docs/performance.md); the
# number for a GPU is an estimate that weighs padding against kernel launches.
PASS_TOKENS = {"cpu": 512, "cuda": 4096}
# Evaluation: on a CPU few enough that activations stay in its cache, and pairs are alike.
BATCH_TOKENS = {"cpu": 512, "cuda": 65536}
