"""Pruning passes of a few fixed shapes, for replay as CUDA graphs and for compilation.

A step in eager mode launches about a thousand small operations, and a fast GPU waits for the host to launch them. Here
every pass has the same number of pairs, sorted by length, and is padded to a multiple of `TOKEN_MULTIPLE`, so there are
few shapes. Control flow never depends on tensor values: every component is computed and gated.
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
from heuristic_core.pruning.learner import Learner, PruningRun, StepDraws

TOKEN_MULTIPLE = 16  # kernels are fast at multiples of 8; this pads a pass of MNLI's pairs by a tenth
MAX_PASS_PAIRS = 64
RECOMPILE_LIMIT = 64  # more than a set has shapes; torch's default is lower
WARMUP_PASSES = 3  # before capture, as PyTorch's documentation recommends
PassFunction = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # from gates and pairs to KL and its gradient


class FixedShapeObjective:
    """Like :class:`heuristic_core.pruning.prune.Objective`, for ``settings.engine`` "graphs" or "compile".

    On a GPU, passes are captured as CUDA graphs; on a CPU, the same passes run on the same buffers without graphs.

    Raises:
        InputError: The model is not a fused one; the control flow of others depends on tensor values.
    """

    def __init__(self, inputs: PruningInputs, runs: Sequence[PruningRun], settings: Prune):
        model = inputs.model
        if not isinstance(model, FusedModel):
            raise InputError(
                f"prune.engine = {settings.engine!r}: only models of the BERT and GPT-2 families have "
                "passes of fixed shapes; set prune.engine = 'eager'"
            )
        self._inputs, self._settings, self._means = inputs, settings, inputs.means.to(model)
        self._full = F.log_softmax(inputs.full_logits.to(model.device).float(), -1)
        self._gate_sample_index = torch.arange(len(runs) * settings.batch_size) // (
            settings.batch_size // settings.gate_draws
        )
        self._pairs = min(len(self._gate_sample_index), MAX_PASS_PAIRS)
        self._divergence = self._eager_divergence
        if settings.engine == "compile":
            torch._dynamo.config.recompile_limit = max(RECOMPILE_LIMIT, torch._dynamo.config.recompile_limit)
            self._divergence = torch.compile(self._eager_divergence, dynamic=False)
        self._passes: dict[int, BufferedPass] = {}
        self._pool = torch.cuda.graph_pool_handle() if model.device.type == "cuda" else None

    def compute_gradients(self, learner: Learner, draws: StepDraws) -> Tensor:
        """Compute the gradients of one step on the parameters of `learner`.

        Args:
            learner: Parameters of the pruning runs, whose gradients are accumulated.
            draws: Random draws of the step.

        Returns:
            Trace values of the step, float32 [runs, 6].
        """
        return learner.compute_gradients(draws, self._backward)

    def _backward(self, z: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the divergence and its gradient; a :data:`heuristic_core.pruning.learner.Divergence`."""
        z, (shapes, chosen) = z.detach(), self._split(pairs)
        kl, gradient = torch.zeros(len(z), device=z.device), torch.zeros_like(z)
        for tokens, selected in zip(shapes, self._inputs.pairs.to_device(chosen), strict=True):
            if tokens not in self._passes:
                self._passes[tokens] = BufferedPass(partial(self._differentiate, tokens), z, selected, self._pool)
            pass_kl, pass_gradient = self._passes[tokens](z, selected)
            kl += pass_kl
            gradient += pass_gradient
        return kl, gradient

    def _split(self, pairs: Tensor) -> tuple[list[int], Tensor]:
        """Split pairs into passes; return their tokens and their pairs, int64 [passes, 3, pairs], on the host.

        The three values of a pair are its index, the sample of its gates, and whether it counts (0 for fillers of the
        last pass).
        """
        lengths = self._inputs.pairs.lengths[pairs]
        order, missing = torch.argsort(lengths, stable=True), -len(pairs) % self._pairs
        rows = torch.stack([pairs[order], self._gate_sample_index[order], torch.ones_like(order)])
        fillers = rows[:, -1:] * torch.tensor([[1], [1], [0]])  # a pair of the same pass, which does not count
        chosen = (
            torch.cat([rows, fillers.expand(-1, missing)], 1)
            .unflatten(-1, (-1, self._pairs))
            .transpose(0, 1)
            .contiguous()
        )
        pass_lengths = lengths[order].split(self._pairs)
        return [
            min(-(-int(part[-1]) // TOKEN_MULTIPLE) * TOKEN_MULTIPLE, self._inputs.pairs.longest)
            for part in pass_lengths
        ], chosen

    def _differentiate(self, tokens: int, z: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Return the KL of a pass divided by the batch size, [samples], and its gradient in z."""
        z = z.detach().requires_grad_()
        kl = self._divergence(tokens, z, chosen)
        (gradient,) = torch.autograd.grad(kl.sum(), z)
        return kl.detach(), gradient

    def _eager_divergence(self, tokens: int, z: Tensor, chosen: Tensor) -> Tensor:
        inputs, (pair, sample, counts) = self._inputs, chosen.unbind()
        # Selecting samples by a matrix product gives its gradient the same order of summation on every device.
        selection = (sample[:, None] == torch.arange(len(z), device=z.device)).to(z.dtype)  # [pairs, samples]
        edit = Ablation(selection @ z, self._means, inputs.model.grid)
        gated = F.log_softmax(inputs.model.logits(inputs.pairs.padded_batch(pair, tokens), edit), -1)
        kl = F.kl_div(gated, self._full[pair], reduction="none", log_target=True).sum(-1)
        return selection.T @ (kl * counts / self._settings.batch_size)


class BufferedPass:
    """A pass on static input buffers: as a CUDA graph if there is a memory `pool`, otherwise run eagerly.

    Results are valid until the next pass of any shape, as passes share memory.
    """

    def __init__(self, work: PassFunction, z: Tensor, chosen: Tensor, pool=None):
        self._work, self._z, self._chosen, self._graph = work, z.clone(), chosen.clone(), None
        if pool is None:
            return
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARMUP_PASSES):
                work(self._z, self._chosen)
        torch.cuda.current_stream().wait_stream(stream)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=pool):
            self._outputs = work(self._z, self._chosen)

    def __call__(self, z: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor]:
        """Copy the arguments into the buffers and run the pass."""
        self._z.copy_(z)
        self._chosen.copy_(chosen)
        if self._graph is None:
            return self._work(self._z, self._chosen)
        self._graph.replay()
        return self._outputs
