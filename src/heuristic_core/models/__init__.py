"""Models: how one is built or loaded for fine-tuning, and the lean forward that pruning and evaluation use."""
