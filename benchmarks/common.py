"""Shared code of the benchmarks: BERTs of three sizes, sentence pairs, and a baseline masked model.

Weights and words are random, because times depend only on shapes and on the lengths of pairs.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

from heuristic_core.common.arithmetic import NATIVE
from heuristic_core.data.encode import encode
from heuristic_core.data.encoded import Encoded
from heuristic_core.jobs.environment import prepare_job
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.linear import Linear, product

prepare_job(NATIVE)
DATA = Path(__file__).parent.parent.parent / "shared" / "data"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
Factors = tuple[Tensor, Tensor]  # of one matrix product
TOKENS_A_WORD = 1.25  # roughly, in English
# File of real pairs; mean and standard deviation of the logarithm of their approximate lengths, used without the file.
LENGTHS = {"MNLI": ("mnli_dev_matched.parquet", 3.55, 0.50), "HANS": ("hans_validation.parquet", 3.06, 0.15)}


@dataclass(frozen=True)
class Size:
    """Sizes of a model and of its benchmarks.

    Attributes:
        batch: Pairs per pruning step.
        draws: Gate samples per pruning step.
        steps: Steps per turn, enough to be timed.
        turns: Default number of counted turns.
        warm: Steps of the library before the first turn; see `prune_step.warm`.
        pairs: Training pairs.
        evaluated: Evaluation pairs.
        spread: Standard deviation of the weights, large enough for every component to affect the logits.
    """

    layers: int
    heads: int
    hidden: int
    feed_forward: int
    vocabulary: int
    max_length: int
    batch: int
    draws: int
    steps: int
    turns: int
    warm: int
    pairs: int
    evaluated: int
    spread: float


SIZES = {
    "miniature": Size(4, 8, 64, 128, 111, 24, 16, 1, 20, 5, 40, 512, 2048, 0.3),
    "minilm": Size(6, 12, 384, 1536, 30522, 128, 128, 4, 1, 5, 40, 256, 256, 0.1),
    "bert-base": Size(12, 12, 768, 3072, 28996, 128, 128, 4, 1, 2, 5, 256, 128, 0.08),
}


def make_classifier(size: Size) -> BertForSequenceClassification:
    """Make Hugging Face's BERT with frozen random weights and its default attention function, in evaluation mode."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=size.vocabulary,
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        intermediate_size=size.feed_forward,
        max_position_embeddings=max(size.max_length, 128),
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
        num_labels=3,
        initializer_range=size.spread,
    )
    return BertForSequenceClassification(config).eval().requires_grad_(False)


def draw_lengths(corpus: str, count: int, longest: int) -> tuple[np.ndarray, str]:
    """Draw the lengths of `count` pairs, in tokens including special ones, and describe their source.

    `corpus` is "generated" (7 to 17 tokens, as in the language of the miniature) or a key of `LENGTHS`.
    """
    rng = np.random.default_rng(0)
    if corpus == "generated":
        return rng.integers(7, 18, count), "7 to 17"
    name, mean, deviation = LENGTHS[corpus]
    if (DATA / name).is_file():
        import pyarrow.parquet as parquet

        columns = parquet.read_table(DATA / name, columns=["premise", "hypothesis"]).to_pydict().values()
        words = np.array([len(f"{a} {b}".split()) for a, b in zip(*columns, strict=True)])
        lengths, source = rng.choice(TOKENS_A_WORD * words + 3, count, replace=False), Path(name).stem
    else:
        lengths, source = rng.lognormal(mean, deviation, count), "log-normal"
    return lengths.round().astype(int).clip(7, longest), source


def make_sentence_pairs(lengths: np.ndarray, size: Size) -> list[dict]:
    """Make rows of table `sentences` that :func:`make_tokenizer` encodes as `lengths` tokens."""
    rng = np.random.default_rng(1)
    rows = []
    for length in lengths:
        words = [f"w{i}" for i in rng.integers(size.vocabulary - len(SPECIAL), size=length - 3)]
        first = 2 * len(words) // 3
        pair = {"sentence1": " ".join(words[:first]), "sentence2": " ".join(words[first:])}
        rows.append(pair | {"label": 0, "subset": "all", "template": None})
    return rows


def make_tokenizer(size: Size) -> BertTokenizer:
    """Make a tokenizer with the words `w0`, `w1`, ..., one token each."""
    words = [*SPECIAL, *(f"w{i}" for i in range(size.vocabulary - len(SPECIAL)))]
    vocabulary = {word: index for index, word in enumerate(words)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=False, model_max_length=size.max_length)


def encode_pairs(corpus: str, count: int, size: Size) -> tuple[list[dict], Encoded, dict]:
    """Make sentence pairs; return them, their encoding, and a description of their lengths for the results."""
    lengths, source = draw_lengths(corpus, count, size.max_length)
    rows = make_sentence_pairs(lengths, size)
    encoded = encode(rows, make_tokenizer(size), size.max_length)
    if not np.array_equal(encoded.lengths, lengths):
        raise SystemExit("the generated sentences do not have the intended numbers of tokens")
    return rows, encoded, {"like": corpus, "source": source, "pairs": count, "mean": float(lengths.mean())}


def pad_inputs(tokenizer: BertTokenizer, rows: Sequence[dict], longest: int) -> dict[str, Tensor]:
    """Tokenise the strings of a batch and pad them to `longest`, as a plain collator does."""
    sentences = ([row[name] for row in rows] for name in ("sentence1", "sentence2"))
    return dict(
        tokenizer(*sentences, truncation="longest_first", padding="max_length", max_length=longest, return_tensors="pt")
    )


class MaskedBert:
    """Baseline masked model: Hugging Face's BERT with hooks that interpolate each component with its mean.

    Its `gates` are [components], heads layer by layer and then MLPs; None for the full model.
    """

    def __init__(self, model: BertForSequenceClassification, means: ComponentMeans):
        self.model, self.gates, self._means = model, None, means
        for number, layer in enumerate(model.bert.encoder.layer):
            layer.attention.output.dense.register_forward_pre_hook(partial(self._gate_heads, number))
            layer.output.dense.register_forward_hook(partial(self._gate_mlp, number))

    def _gate_heads(self, layer: int, module, inputs):
        if self.gates is None:
            return None
        mean = self._means.heads[layer]  # [H, dh]
        x = inputs[0].unflatten(-1, mean.shape)
        keep = self.gates[layer * len(mean) : (layer + 1) * len(mean), None]
        return ((keep * (x - mean) + mean).flatten(-2),)

    def _gate_mlp(self, layer: int, module, inputs, output):
        if self.gates is None:
            return None
        mean, before = self._means.mlps[layer], self._means.heads.shape[:2].numel()
        return self.gates[before + layer] * (output - mean) + mean


def list_products(
    plain: BertForSequenceClassification, steps: list[list[tuple[int, ...]]], dtype: torch.dtype = torch.float32
) -> list[list[Factors]]:
    """List the products with weights that each pruning step needs, forward and then backward.

    `steps` has the real tokens and pairs of each micro-batch. The last layer computes keys and values for all tokens,
    everything else for one token per pair; nothing below the gates of layer 0 needs a gradient. Products inside
    attention, of the pooler and of the classifier are excluded, as are gradients of weights.
    """
    d, layers = plain.config.hidden_size, []
    for layer in plain.bert.encoder.layer:
        own, output = layer.attention.self, layer.attention.output
        inner = torch.cat([own.query.weight, own.key.weight, own.value.weight])
        weights = (inner, output.dense.weight, layer.intermediate.dense.weight, layer.output.dense.weight)
        layers.append([weight.to(dtype) for weight in weights])
    max_tokens = max(part[0] for step in steps for part in step)
    rows_by_width = {
        width: torch.randn(max_tokens, width).to(dtype) for width in {d, 2 * d, 3 * d, plain.config.intermediate_size}
    }

    def pass_products(tokens: int, pairs: int, *_) -> list[Factors]:
        operands = [(tokens, weight) for layer in layers[:-1] for weight in layer]  # (rows, weight)
        inner, *outer = layers[-1]
        operands += [(pairs, inner[:d]), (tokens, inner[d:]), *((pairs, weight) for weight in outer)]
        both = [(n, weight.T) for n, weight in operands] + [(n, weight) for n, weight in operands[:0:-1]]
        return [(rows_by_width[len(matrix)][:n], matrix) for n, matrix in both]

    return [[factors for part in step for factors in pass_products(*part)] for step in steps]


def multiply(work: list[list[Factors]], turn: int, steps: int) -> None:
    """Compute the products of a turn of `steps` steps by ``torch.mm``."""
    for factors in work[turn * steps : (turn + 1) * steps]:
        for x, matrix in factors:
            torch.mm(x, matrix)


class PackedProducts:
    """The same products by oneDNN, on weights in its layout."""

    def __init__(self, work: list[list[Factors]]):
        layouts: dict[tuple, Tensor] = {}
        self._work = []
        for factors in work:
            for _, matrix in factors:
                if (key := self._key(matrix)) not in layouts:
                    layouts[key] = Linear(matrix.T, matrix[0]).forward_layout
            self._work.append([(x, layouts[self._key(matrix)]) for x, matrix in factors])

    @staticmethod
    def _key(matrix: Tensor) -> tuple:
        return matrix.data_ptr(), matrix.shape, matrix.stride()

    def multiply(self, turn: int, steps: int) -> None:
        for factors in self._work[turn * steps : (turn + 1) * steps]:
            for x, layout in factors:
                product(x, layout, None)


def make_parser(doc: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", action="append", choices=SIZES, help="model size; may be repeated (default: all)")
    parser.add_argument("--turns", type=int, help="counted turns (default: 5, and 2 at bert-base)")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser
