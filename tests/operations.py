"""Digests of every operation that the miniature's numbers come from, in portable arithmetic, at the miniature's sizes.

    python tests/operations.py            prints them
    python tests/operations.py --record   writes them into operations.json, beside the versions that they hold for

An operation whose digest differs from what is recorded there rounds otherwise on this machine, or in these versions.
Inputs are integers scaled by powers of two, so that they are the same everywhere.
"""

import hashlib
import json
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path

from heuristic_core.common import arithmetic

if __name__ == "__main__":
    arithmetic.prepare_arithmetic(arithmetic.PORTABLE)  # before numpy and torch are imported

import numpy as np
import pandas as pd
import scipy
import torch
import torch.nn.functional as F
from scipy import special, stats
from torch import Tensor

from heuristic_core.common.threads import use_threads

RECORDED = Path(__file__).with_suffix(".json")
VERSIONS = {"torch": torch.__version__.partition("+")[0], "numpy": np.__version__, "scipy": scipy.__version__}
VERSIONS |= {"pandas": pd.__version__}
LARGEST = 2**20
SMALL = 2.0**-18  # what integers up to LARGEST are scaled by: numbers up to 4
BATCH, WIDTH, INNER, HEADS, CLASSES, WORDS = 48, 64, 128, 8, 3, 112


def draws(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbers(*shape: int, seed: int = 0, scale: float = SMALL, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -4 and 4, or as `scale` says."""
    return torch.randint(-LARGEST, LARGEST, shape, generator=draws(seed)).to(dtype) * scale


def positive(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randint(1, LARGEST, shape, generator=draws(seed)).to(dtype) * SMALL


def both(function: Callable, *inputs: Tensor) -> list[Tensor]:
    """What `function` makes of `inputs`, and the gradients in them."""
    inputs = [item.clone().requires_grad_() for item in inputs]
    output = function(*inputs)
    output.backward(numbers(*output.shape, seed=9))
    return [output, *(item.grad for item in inputs)]


def attended(length: int, masked: int = 0, queries: int | None = None) -> list[Tensor]:
    """Attention as a step of training computes it; masked: keys at the end that are padding."""
    shapes = [(BATCH, HEADS, queries or length, WIDTH // HEADS)] + 2 * [(BATCH, HEADS, length, WIDTH // HEADS)]
    mask = torch.zeros(BATCH, 1, 1, length)
    mask[1:, :, :, length - masked :] = -torch.inf
    attention = partial(F.scaled_dot_product_attention, attn_mask=mask if masked else None)
    return both(attention, *(numbers(*shape, seed=k) for k, shape in enumerate(shapes)))


def product(m: int, k: int, n: int) -> Tensor:
    return numbers(m, k) @ numbers(k, n, seed=1)


def linear(m: int, k: int, n: int) -> list[Tensor]:
    return both(F.linear, numbers(m, k), numbers(n, k, seed=1), numbers(n, seed=2))


def embedded() -> list[Tensor]:
    words = torch.randint(WORDS, (BATCH, 16), generator=draws())
    return both(lambda table: F.embedding(words, table), numbers(WORDS, WIDTH))


def picked() -> list[Tensor]:
    """Rows taken several times, whose gradients add up."""
    rows = torch.randint(BATCH, (300,), generator=draws())
    return both(lambda x: x[rows], numbers(BATCH, 17, seed=3))


def cross_entropy(smoothing: float, classes: int, reduction: str = "mean") -> list[Tensor]:
    labels = torch.randint(classes, (BATCH,), generator=draws(2))
    loss = partial(F.cross_entropy, target=labels, label_smoothing=smoothing, reduction=reduction)
    return both(loss, numbers(BATCH, classes))


def divergence(reduction: str) -> list[Tensor]:
    full = F.log_softmax(numbers(BATCH, CLASSES, seed=2), -1)
    return both(lambda x: F.kl_div(x, full, reduction=reduction, log_target=True), -positive(BATCH, CLASSES))


def adam(kind: type[torch.optim.Optimizer], decay: float = 0.01) -> list[Tensor]:
    """Five steps, one of the weights ascending."""
    weights = [torch.nn.Parameter(numbers(WIDTH, WIDTH)), torch.nn.Parameter(numbers(4, 2))]
    groups = [{"params": weights[:1]}, {"params": weights[1:], "maximize": True}]
    optimizer = kind(groups, lr=1.8e-3, betas=(0.9, 0.98), weight_decay=decay, fused=True)
    for step in range(5):
        for weight in weights:
            weight.grad = numbers(*weight.shape, seed=20 + step)
        optimizer.step()
    return weights + [moment for state in optimizer.state.values() for moment in state.values()]


def clipped() -> list[Tensor]:
    weights = [torch.nn.Parameter(numbers(*shape)) for shape in ((WIDTH, WIDTH), (WORDS, WIDTH), (WIDTH,), (CLASSES,))]
    for number, weight in enumerate(weights):
        weight.grad = numbers(*weight.shape, seed=30 + number)
    return [torch.nn.utils.clip_grad_norm_(weights, 1.0), *(weight.grad for weight in weights)]


def gates() -> list[Tensor]:
    """Sampling of hard-concrete gates, as pruning writes it."""
    noise = torch.rand(4, 1, 36, generator=draws())

    def sampled(alpha):
        s = torch.sigmoid((torch.logit(noise, eps=1e-6) + alpha) / (2 / 3))
        return (s * 1.2 - 0.1).clamp(0, 1)

    return both(sampled, numbers(4, 1, 36))


def penalised() -> list[Tensor]:
    gap = 0.5 - numbers(4, 1)
    return both(lambda two: (two[..., 0] * gap + two[..., 1] * gap**2).mean(-1), numbers(4, 1, 2, seed=3))


X, WIDE = numbers(BATCH, 16, WIDTH), numbers(500, 36, seed=5, dtype=torch.float64)
HALF, DIFFERENCE = torch.rand(BATCH, 16, WIDTH, generator=draws(4)), numbers(BATCH, 16, WIDTH, seed=6)
# Rows, inner size and columns: maps of passes of 512 tokens and of batches of 768 and 1536, their gradients, heads.
PRODUCTS = [(rows, k, n) for rows in (48, 512, 768, 1536, 17) for k, n in ((64, 64), (64, 192), (64, 128), (128, 64))]
PRODUCTS += [(BATCH, WIDTH, CLASSES), (200, WIDTH, WORDS), (WIDTH, 1536, INNER), (WIDTH, 700, 24), (500, 40, 64)]
TORCH = {
    "rand": lambda: torch.rand(4096, generator=draws()),
    "normal": lambda: torch.normal(2.0, 0.01, (36,), generator=draws()),
    "normal_": lambda: torch.empty(WIDTH, WIDTH).normal_(0, 0.05, generator=draws()),
    "uniform_": lambda: torch.empty(WIDTH, WIDTH).uniform_(-0.125, 0.125, generator=draws()),
    "randperm": lambda: torch.randperm(4096, generator=draws()),
    "addmv": lambda: torch.addmv(numbers(WIDTH), numbers(WIDTH, WIDTH, seed=1), numbers(WIDTH, seed=2)),
    "bmm of queries and keys": lambda: numbers(BATCH, HEADS, 16, 8) @ numbers(BATCH, HEADS, 8, 16, seed=1),
    "bmm float64": lambda: numbers(60, 8, 40, dtype=torch.float64) @ numbers(60, 40, 7, seed=1, dtype=torch.float64),
    "einsum float64": lambda: torch.einsum(
        "bhqk,nbqk,bq->hn",
        numbers(60, HEADS, 16, 16).double(), positive(7, 60, 16, 16).double(), positive(60, 16).double(),
    ),
    "adamw": partial(adam, torch.optim.AdamW),
    "adam": lambda: adam(torch.optim.Adam) + adam(torch.optim.Adam, 0.0),
    "clip_grad_norm": clipped,
    "embedding": embedded,
    "index_put of several": picked,
    "index_put_": lambda: numbers(500, 3).index_put_((torch.randperm(500, generator=draws())[:99],), numbers(99, 3)),
    "cross_entropy": lambda: cross_entropy(0.0, WORDS),
    "cross_entropy smoothed": lambda: cross_entropy(0.1, CLASSES),
    "cross_entropy summed": lambda: cross_entropy(0.0, CLASSES, "sum"),
    "kl_div": lambda: divergence("batchmean"),
    "gates": gates,
    "penalty": penalised,
    "layer_norm": lambda: both(
        lambda x, w, b: F.layer_norm(x, (WIDTH,), w, b, 1e-12), X, numbers(WIDTH, seed=7), numbers(WIDTH, seed=8)
    ),
    "softmax of scores": lambda: F.softmax(numbers(BATCH, HEADS, 16, 16) * 8**-0.5, -1),
    "softmax of 23": lambda: F.softmax(numbers(BATCH, HEADS, 23, 23), -1),
    "log_softmax": lambda: both(partial(F.log_softmax, dim=-1), numbers(200, WORDS)),
    "log_softmax of classes": lambda: both(partial(F.log_softmax, dim=-1), numbers(BATCH, CLASSES)),
    "gelu": lambda: both(F.gelu, X),
    "tanh": lambda: both(torch.tanh, X),
    "sigmoid": lambda: both(torch.sigmoid, X),
    "exp": lambda: torch.exp(X),
    "lerp": lambda: both(torch.lerp, X, DIFFERENCE, HALF),
    "lerp by row": lambda: both(torch.lerp, numbers(HEADS, 8), X.unflatten(-1, (HEADS, 8)), HALF[..., :HEADS, None]),
    "add, sub, mul, div": lambda: [X + DIFFERENCE, X - DIFFERENCE, X * DIFFERENCE, X / HALF.clamp(min=2.0**-20)],
    "add, sub, mul, div scalars": lambda: [X + 0.1, 0.1 - X, X * 0.1, X / 3, X.clone().mul_(0.3).add_(0.1), X - 0.1],
    "div gradients": lambda: both(lambda x: x / 3, X),
    "add, mul, div float64": lambda: [
        WIDE * WIDE, WIDE / 3, WIDE.clone().add_(WIDE), 1 / positive(60, 16).double(), WIDE.clone().add_(X[0, 0, :36])
    ],
    "reciprocal": lambda: [positive(700).reciprocal(), positive(700).double().reciprocal()],
    "pow 2": lambda: both(lambda x: x**2, X),
    "sums": lambda: [X.sum(), X.sum(-1), X.sum(0), X.sum((0, 1)), X[:, 0, :3].sum(-1), X[:, 0, :36].sum(0), -X.sum(1)],
    "sums float64": lambda: [WIDE.sum(), WIDE.sum(0), WIDE.sum(-1), WIDE.abs().sum(0)],
    "means": lambda: [X.mean(-1), X[0, :4, :36].mean(-1), WIDE.mean(), WIDE[:, 0].mean()],
    "norms": lambda: [torch.linalg.vector_norm(X), torch.linalg.vector_norm(WIDE, dim=-1), F.normalize(WIDE, dim=-1)],
}  # fmt: skip
D = numbers(9, 21, 96, seed=11, dtype=torch.float64)
TORCH |= {
    "baddbmm": lambda: both(torch.baddbmm, numbers(2, 1, 96), numbers(2, 640, 96, seed=1), numbers(2, 96, 96, seed=2)),
    "baddbmm float64": lambda: torch.baddbmm(D[:, :1], D, numbers(9, 96, 96, seed=12).double()),
    "softmax of lists": lambda: both(partial(F.softmax, dim=-1), numbers(2, 64, 10, 20)),
    "float64 of circuits": lambda: [
        D.softmax(-1),
        D.log_softmax(-1),
        D.exp(),
        F.layer_norm(D, (96,)),
        D - D[0],
        D + X[:9, :1, :1],
    ],
    "powers float64": lambda: [D**2, D.abs().add(1) ** -0.5, D.square(), D.var(-1, unbiased=False)],
    "means of axes": lambda: [X.mean(), D.mean((0, 2)), D.mean(1), D.double().mean(-1, keepdim=True)],
    "rand float64": lambda: torch.rand(4096, dtype=torch.float64, generator=draws()),
    "index_add_ float64": lambda: torch.zeros(7, 96).double().index_add_(0, torch.arange(189) % 7, D.flatten(0, 1)),
}
for m, k, n in PRODUCTS:
    TORCH[f"mm {m}x{k}x{n}"] = partial(product, m, k, n)
    TORCH[f"linear {m}x{k}x{n}"] = partial(linear, m, k, n)
TORCH |= {
    f"attention {length}, masked {masked}, queries {queries or length}": partial(attended, length, masked, queries)
    for length in (11, 16, 17, 24)
    for masked, queries in ((0, None), (3, None), (3, 1))
}

RNG = partial(np.random.default_rng, 0)
MATRIX = numbers(2000, 3, dtype=torch.float64).numpy()
COLUMNS = numbers(600, 40, seed=2, dtype=torch.float64).numpy()
SINGLE = COLUMNS.astype(np.float32)
ABOVE = np.abs(MATRIX) + 2.0**-20
DEGREES = np.arange(1, 40)
GROUPED = pd.DataFrame({"group": np.arange(600) % 7, "value": COLUMNS[:, 0], "with nulls": COLUMNS[:, 1]})
GROUPED.loc[::5, "with nulls"] = np.nan
WEIGHTS = RNG().multinomial(60, np.full(60, 1 / 60), size=400).astype(float)
NUMPY = {
    "rng": lambda: [RNG().normal(size=999), RNG().uniform(size=999), RNG().permuted(COLUMNS, axis=1)],
    "rng counts": lambda: [WEIGHTS, RNG().hypergeometric(5, 3, 4, size=99), RNG().integers(9, size=99)],
    "np.exp": lambda: [np.exp(MATRIX), np.exp(SINGLE)],
    "np.log": lambda: [np.log(ABOVE), np.log(np.abs(SINGLE) + 1)],
    "np.sqrt": lambda: [np.sqrt(ABOVE), np.sqrt(np.abs(SINGLE))],
    "np.hypot": lambda: np.hypot(MATRIX[:, 0], MATRIX[:, 1]),
    "np.power": lambda: [ABOVE**2, ABOVE**0.3, ABOVE**2.4],
    "np.logaddexp": lambda: [np.logaddexp.reduce(MATRIX, axis=1), np.logaddexp.reduce(SINGLE[:, :3], axis=1)],
    "np.sin": lambda: [np.sin(MATRIX), np.cos(MATRIX), np.arctan2(MATRIX[:, 0], MATRIX[:, 1])],
    "np.sum": lambda: [COLUMNS.sum(), COLUMNS.sum(axis=0), COLUMNS.sum(axis=1), SINGLE.sum(axis=0)],
    "np.mean": lambda: [COLUMNS.mean(), COLUMNS.mean(axis=0), SINGLE.mean(axis=0, dtype=float), np.nanmean(COLUMNS, 1)],
    "np.std": lambda: [COLUMNS.std(ddof=1), COLUMNS.std(axis=1, ddof=1), np.std(COLUMNS, axis=0), COLUMNS.var()],
    "np.percentile": lambda: np.percentile(COLUMNS, [2.5, 97.5], axis=0),
    "np.tensordot": lambda: np.tensordot(WEIGHTS, COLUMNS[:60], axes=1),
    "np.matmul": lambda: [COLUMNS.T @ COLUMNS, COLUMNS @ COLUMNS[0], SINGLE.T @ SINGLE, COLUMNS[0] @ COLUMNS[1]],
    "np.corrcoef": lambda: np.corrcoef(COLUMNS[0], COLUMNS[1]),
    "np.convolve": lambda: np.convolve(ABOVE[:9, 0], ABOVE[:5, 1]),
    "np.linspace": lambda: [np.linspace(0.05, 0.95, 12), np.linspace(0.06, 0.88, 256), np.round(MATRIX, 6)],
    "np.linalg.inv": lambda: np.linalg.inv(COLUMNS[:3, :3]),
    "np.linalg.pinv": lambda: [
        np.linalg.pinv(COLUMNS[:300, :24]),
        np.linalg.pinv(
            np.stack([COLUMNS[k : k + 90, :24].T @ COLUMNS[k : k + 90, :24] for k in range(9)]), hermitian=True
        ),
    ],
    "np.linalg.lstsq": lambda: np.linalg.lstsq(COLUMNS[:300, :24], COLUMNS[:300, 24:], rcond=None)[0],
    "np.fft": lambda: [
        np.fft.rfft(COLUMNS[:9], axis=1),
        np.fft.irfft(np.exp(1j * COLUMNS[:9, :6]), 10, axis=1),
        np.fft.irfft(np.exp(1j * COLUMNS[:9, :6]), 11, axis=1),
    ],
    "special.gammaln": lambda: special.gammaln(np.concatenate([DEGREES / 2, ABOVE[:, 0]])),
    "stats.t.sf": lambda: stats.t.sf(COLUMNS[:39, 0], DEGREES),
    "stats.combine_pvalues": lambda: [stats.combine_pvalues(row, method="stouffer").pvalue for row in ABOVE[:50] / 4.1],
    "stats.t": lambda: [stats.t.ppf(0.975, DEGREES), stats.t.ppf(1 - 0.05 / 3 / 2, DEGREES), stats.t.ppf(0.975, 3.7)],
    "stats.norm": lambda: stats.norm.ppf(np.linspace(0.01, 0.99, 99)),
    "stats.chi2": lambda: [stats.chi2.ppf(tail, DEGREES) for tail in (0.025, 0.975)],
    "stats.f": lambda: [stats.f.ppf(tail, DEGREES, 11) for tail in (0.025, 0.975)],
    "stats.hypergeom": lambda: stats.hypergeom.pmf(np.arange(6), 8, 3, 5),
    "stats.spearmanr": lambda: [*stats.spearmanr(COLUMNS[0], COLUMNS[1])],
    "stats.rankdata": lambda: stats.rankdata(COLUMNS.round(1), axis=1),
    "pandas groups": lambda: GROUPED.groupby("group").agg(["mean", "std", "sum", "min", "max"]).to_numpy(),
    "pandas columns": lambda: [GROUPED.mean(), GROUPED.std(), GROUPED.sum(), GROUPED["with nulls"].var()],
    "pandas differences": lambda: [GROUPED.diff().to_numpy(), GROUPED.cumsum().to_numpy(), (GROUPED**2).mean()],
}
OPERATIONS = TORCH | NUMPY


def digest(values) -> str:
    """SHA-256, the first 16 digits, of tensors, arrays or numbers; bytes are taken as they are."""
    result = hashlib.sha256()
    for value in values if isinstance(values, list | tuple) else [values]:
        value = value.detach().numpy() if isinstance(value, Tensor) else value
        result.update(value if isinstance(value, bytes) else np.ascontiguousarray(value).tobytes())
    return result.hexdigest()[:16]


def digests() -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return {name: digest(operation()) for name, operation in OPERATIONS.items()}


def main() -> None:
    use_threads(1)
    arithmetic.enforce(arithmetic.PORTABLE, may_restart=False)
    text = json.dumps({"versions": VERSIONS, "digests": digests()}, indent=1) + "\n"
    RECORDED.write_text(text) if "--record" in sys.argv else print(text)


if __name__ == "__main__":
    main()
