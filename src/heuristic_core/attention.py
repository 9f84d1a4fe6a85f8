"""What heads attend to: shares of attention by the relation between the asking and the attended token.

METHOD, "Attention pattern"; paper, figure 9. The kinds exclude each other, so that the shares of a head add up to 1.
Where two apply the one listed first in `KINDS` counts.
"""

import torch
from torch import Tensor

from heuristic_core.models.batches import PairTensors
from heuristic_core.models.model import Model

KINDS = ("self", "repeated", "first", "separator", "previous", "next", "other")
BATCH_PAIRS = 64


def token_relations(ids: Tensor, types: Tensor, special: Tensor, real: Tensor) -> Tensor:
    """Which kind each (query, key) pair of positions is: one-hot bool [kinds, B, T, T], in the order of `KINDS`.

    ids, types, special, real: [B, T]. repeated: the same token in the other sentence. first: position 0.
    separator: any further special token. Keys that are padding get no kind.
    """
    length = ids.shape[1]
    position = torch.arange(length, device=ids.device)
    offset = (position[None, :] - position[:, None]).expand(len(ids), -1, -1)  # key minus query
    word = real & ~special
    other_sentence = types[:, :, None] != types[:, None, :]
    same = (ids[:, :, None] == ids[:, None, :]) & other_sentence & word[:, :, None] & word[:, None, :]
    first = (position == 0).expand(len(ids), length, -1)
    separator = special[:, None, :].expand(-1, length, -1)
    kinds = torch.stack([offset == 0, same, first, separator, offset == -1, offset == 1, torch.ones_like(same)])
    earlier = kinds.cumsum(0) - kinds.long()
    return kinds & (earlier == 0) & real[:, None, :]


@torch.no_grad()
def attention_shares(model: Model, pairs: PairTensors, special: list[Tensor], count: int) -> Tensor:
    """Mean shares [layers, H, kinds] over all ordinary query tokens (no special ones) of the first `count` pairs.

    special: for every pair, bool [tokens], True on special tokens.
    """
    shares = torch.zeros(model.grid.layers, model.grid.heads, len(KINDS), dtype=torch.float64, device=model.device)
    queries = 0
    for index in torch.arange(count).split(BATCH_PAIRS):
        batch = pairs.batch(index)
        real = batch.mask()
        marks = torch.zeros_like(real)
        for row, pair in enumerate(index.tolist()):
            marks[row, : len(special[pair])] = special[pair].to(real.device)
        kinds = token_relations(batch.ids, batch.types, marks, real).double()
        asking = (real & ~marks).double()  # [B, T]
        queries += int(asking.sum())

        def add(layer: int, probabilities: Tensor, kinds=kinds, asking=asking) -> None:
            shares[layer] += torch.einsum("bhqk,nbqk,bq->hn", probabilities.double(), kinds, asking)

        model.observe_attention(batch, add)
    return (shares / queries).cpu()
