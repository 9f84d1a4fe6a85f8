"""Passes of pruning in a few fixed shapes, which a GPU replays as CUDA graphs, and which a compiler compiles once each.

A step in eager mode launches some thousand small operations, and a fast GPU waits for the host that launches them. Here
every pass has equally many pairs, sorted by length, and is padded to a multiple of `BUCKET` tokens: few shapes.
Nothing in a pass depends on values: every component is computed and gated, as everywhere on a GPU.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import Prune
from heuristic_core.models.ablation import Ablation
from heuristic_core.models.fused import FusedModel
from heuristic_core.pruning.inputs import PruningInputs
from heuristic_core.pruning.learner import Draws, Learner, PruningRun

BUCKET = 16  # tokens: kernels want multiples of 8, and a pass of MNLI's pairs is padded by a tenth
PASS_PAIRS = 64  # at most, in a pass
SHAPES = 64  # more than a set has buckets: a compiler gives up after a few shapes of its own accord
WARM = 3  # passes before one is captured, as PyTorch's documentation asks
Work = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # of a pass: gates and pairs -> KL and its gradient


class FixedObjective:
    """As :class:`heuristic_core.pruning.prune.Objective`, for ``settings.engine`` "graphs" or "compile".

    On a GPU passes of either are captured as CUDA graphs. On a CPU there are none: the same passes run on the same
    buffers. Raises InputError for a model that is not fused: others ask their tensors for values.
    """

    def __init__(self, inputs: PruningInputs, runs: Sequence[PruningRun], settings: Prune):
        model = inputs.model
        if not isinstance(model, FusedModel):
            raise InputError(
                f"prune.engine = {settings.engine!r}: only models that are BERT's or GPT-2's relatives have passes of "
                "fixed shapes; set prune.engine = 'eager'"
            )
        self._inputs, self._settings, self._means = inputs, settings, inputs.means.to(model)
        self._full = F.log_softmax(inputs.full_logits.to(model.device).float(), -1)
        self._gates_of = torch.arange(len(runs) * settings.batch_size) // (settings.batch_size // settings.gate_draws)
        self._pairs = min(len(self._gates_of), PASS_PAIRS)
        self._divergence = self._plain_divergence
        if settings.engine == "compile":
            torch._dynamo.config.recompile_limit = max(SHAPES, torch._dynamo.config.recompile_limit)
            self._divergence = torch.compile(self._plain_divergence, dynamic=False)
        self._passes: dict[int, Buffered] = {}
        self._pool = torch.cuda.graph_pool_handle() if model.device.type == "cuda" else None

    def descend(self, learner: Learner, draw: Draws) -> Tensor:
        """Put the gradients of one step on `learner`'s parameters; float32 [runs, 6], what is recorded of it."""
        return learner.descend(draw, self._backward)

    def _backward(self, z: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """A :data:`heuristic_core.pruning.learner.Divergence`."""
        z, (shapes, chosen) = z.detach(), self._cut(pairs)
        kl, gradient = torch.zeros(len(z), device=z.device), torch.zeros_like(z)
        for tokens, own in zip(shapes, self._inputs.pairs.on_device(chosen), strict=True):
            if tokens not in self._passes:
                self._passes[tokens] = Buffered(partial(self._differentiated, tokens), z, own, self._pool)
            of_pass, slope = self._passes[tokens](z, own)
            kl += of_pass
            gradient += slope
        return kl, gradient

    def _cut(self, pairs: Tensor) -> tuple[list[int], Tensor]:
        """Tokens of each pass, and its pairs: int64 [passes, 3, pairs of a pass], on the host.

        Of a pair: its number, the sample of its gates, and whether it counts; the last pass is filled with pair 0.
        """
        lengths = self._inputs.pairs.lengths[pairs]
        order, missing = torch.argsort(lengths, stable=True), -len(pairs) % self._pairs
        rows = torch.stack([pairs[order], self._gates_of[order], torch.ones_like(order)])
        chosen = F.pad(rows, (0, missing)).unflatten(-1, (-1, self._pairs)).transpose(0, 1).contiguous()
        longest = lengths[order].split(self._pairs)
        return [min(-(-int(one[-1]) // BUCKET) * BUCKET, self._inputs.pairs.longest) for one in longest], chosen

    def _differentiated(self, tokens: int, z: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """KL of a pass over the batch size, by sample, [samples], and its gradient in z."""
        z = z.detach().requires_grad_()
        kl = self._divergence(tokens, z, chosen)
        (gradient,) = torch.autograd.grad(kl.sum(), z)
        return kl.detach(), gradient

    def _plain_divergence(self, tokens: int, z: Tensor, chosen: Tensor) -> Tensor:
        inputs, (pair, sample, counts) = self._inputs, chosen.unbind()
        # A product with zeros and ones picks samples, and its gradient has one order of summands on every device.
        picked = (sample[:, None] == torch.arange(len(z), device=z.device)).to(z.dtype)  # [pairs, samples]
        edit = Ablation(picked @ z, self._means, inputs.model.grid)
        gated = F.log_softmax(inputs.model.logits(inputs.pairs.fixed(pair, tokens), edit), -1)
        kl = F.kl_div(gated, self._full[pair], reduction="none", log_target=True).sum(-1)
        return picked.T @ (kl * counts / self._settings.batch_size)


class Buffered:
    """A pass on buffers of its own, which it is given anew every time: as a CUDA graph with `pool`, without as it is.

    What it gives holds until the next pass of any shape: they share their memory.
    """

    def __init__(self, work: Work, z: Tensor, chosen: Tensor, pool=None):
        self._work, self._z, self._chosen, self._graph = work, z.clone(), chosen.clone(), None
        if pool is None:
            return
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM):
                work(self._z, self._chosen)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=pool):
            self._found = work(self._z, self._chosen)

    def __call__(self, z: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        self._z.copy_(z)
        self._chosen.copy_(chosen)
        if self._graph is None:
            return self._work(self._z, self._chosen)
        self._graph.replay()
        return self._found
