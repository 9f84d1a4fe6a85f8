"""BERT with random weights, and pairs of random tokens, for the GPU benchmark."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from heuristic_core.data.encoded import Encoded, pack_lists

LOG_LENGTH, DEVIATION = 3.55, 0.5  # log-normal, as the lengths of MNLI's pairs


@dataclass(frozen=True)
class Size:
    """Sizes of a BERT and of its benchmarks.

    Attributes:
        longest: Maximum length of a pair, in tokens.
        pairs: Training pairs.
        evaluated: Evaluation pairs.
        batch: Pairs per pruning step.
        tuned: Pairs per fine-tuning step.
        spread: Standard deviation of the weights.
    """

    layers: int
    heads: int
    hidden: int
    feed_forward: int
    vocabulary: int
    longest: int
    pairs: int
    evaluated: int
    batch: int
    tuned: int
    spread: float


SIZES = {
    "tiny": Size(2, 2, 32, 64, 100, 32, 48, 40, 8, 4, 0.3),
    "bert-base": Size(12, 12, 768, 3072, 28996, 128, 2048, 8192, 128, 32, 0.08),
}


def make_bert(size: Size) -> tuple[dict, dict[str, Tensor]]:
    """Make the contents of config.json and the weights of a BERT, without transformers."""
    config = {
        "model_type": "bert", "vocab_size": size.vocabulary, "hidden_size": size.hidden, "hidden_act": "gelu",
        "num_hidden_layers": size.layers, "num_attention_heads": size.heads, "intermediate_size": size.feed_forward,
        "max_position_embeddings": size.longest, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
        "position_embedding_type": "absolute", "id2label": {"0": "a", "1": "b", "2": "c"},
    }  # fmt: skip
    d, f, draw, weights = size.hidden, size.feed_forward, torch.Generator().manual_seed(0), {}

    def linear(name: str, rows: int, columns: int) -> None:
        weights[f"{name}.weight"] = size.spread * torch.randn(rows, columns, generator=draw)
        weights[f"{name}.bias"] = size.spread * torch.randn(rows, generator=draw)

    def norm(name: str) -> None:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = torch.ones(d), torch.zeros(d)

    for name, rows in (("word", size.vocabulary), ("position", size.longest), ("token_type", 2)):
        weights[f"bert.embeddings.{name}_embeddings.weight"] = size.spread * torch.randn(rows, d, generator=draw)
    norm("bert.embeddings.LayerNorm")
    for number in range(size.layers):
        layer = f"bert.encoder.layer.{number}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            linear(f"{layer}.attention.{part}", d, d)
        linear(f"{layer}.intermediate.dense", f, d)
        linear(f"{layer}.output.dense", d, f)
        norm(f"{layer}.attention.output.LayerNorm")
        norm(f"{layer}.output.LayerNorm")
    linear("bert.pooler.dense", d, d)
    linear("classifier", 3, d)
    return config, weights


def draw_pairs(size: Size, count: int, seed: int) -> Encoded:
    """Draw pairs of random tokens."""
    draw = np.random.default_rng(seed)
    lengths = draw.lognormal(LOG_LENGTH, DEVIATION, count).round().astype(int).clip(7, size.longest)
    ids = [draw.integers(5, size.vocabulary, length).tolist() for length in lengths]
    types = [[int(k >= length // 2) for k in range(length)] for length in lengths]
    return pack_lists(ids, types, [[0] * int(length) for length in lengths], draw.integers(0, 3, count).tolist())
