"""In portable arithmetic, torch's matrix products and their gradients are numpy's, to the byte."""

import os
import subprocess
import sys

from marks import portable

from heuristic_core.common.arithmetic import PORTABLE_VARIABLES

PROGRAM = """
import numpy as np
import torch
from heuristic_core.common import arithmetic

arithmetic.enforce("portable", may_restart=False)
a, b, c = (torch.randn(shape).requires_grad_() for shape in ((300, 70), (70, 50), (50,)))
x, y, z = (item.detach().numpy() for item in (a, b, c))
same = [np.array_equal((a @ b).detach().numpy(), x @ y)]
(a @ b).sum().backward()
same += [np.array_equal(a.grad.numpy(), np.ones((300, 50), np.float32) @ y.T)]
same += [np.array_equal(torch.addmm(c, a, b, beta=0.5, alpha=2).detach().numpy(), 2 * (x @ y) + np.float32(0.5) * z)]
same += [np.array_equal(torch.nn.functional.linear(a, b.T.contiguous(), c).detach().numpy(), x @ y + z)]
stacked = torch.randn(6, 20, 30), torch.randn(6, 40, 30).transpose(1, 2)
same += [np.array_equal((stacked[0] @ stacked[1]).numpy(), stacked[0].numpy() @ stacked[1].numpy())]
same += [(torch.ones(0, 3) @ torch.ones(3, 2)).shape == (0, 2), not (torch.ones(2, 0) @ torch.ones(0, 2)).any()]
print(all(same) or same)
"""


@portable
def test_products_are_numpys():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        text=True,
        env=os.environ | PORTABLE_VARIABLES,
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
