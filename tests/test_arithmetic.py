"""Portable arithmetic: no job uses an operation that is not verified, and no order depends on the processor."""

import ast
import json
import subprocess
import sys

import operations
import pytest
import torch
from marks import portable
from reduced import ROOT
from steps import JOBS, Steps
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Whose every number is one of their inputs or a constant, an exact comparison, or a correctly rounded conversion.
EXACT = {
    *("view", "_unsafe_view", "t", "transpose", "permute", "expand", "select", "slice", "squeeze", "unsqueeze"),
    *("unbind", "split_with_sizes", "detach", "clone", "copy_", "lift_fresh", "cat", "stack", "constant_pad_nd"),
    *("index", "index_select", "embedding", "select_backward", "slice_backward", "where"),
    *(
        "masked_fill",
        "masked_fill_",
        "empty",
        "empty_like",
        "zeros",
        "zeros_like",
        "new_zeros",
        "new_empty",
        "zero_",
        "ones",
    ),
    *("ones_like", "fill_"),
    *("scalar_tensor", "_local_scalar_dense", "_to_copy", "eq", "ne", "ge", "gt", "le", "lt"),
    *("argmin", "diagonal", "full", "gather", "isnan", "max", "maximum", "minimum", "split", "triu"),
    *("argmax", "sort", "clamp", "clamp_min", "abs", "neg", "round"),
}


class Used(TorchDispatchMode):
    """Notes the operations that have to do with floating-point numbers and can round, with their numbers' types."""

    def __init__(self):
        super().__init__()
        self.operations: set[str] = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        tensors = [leave for leave in tree_leaves((args, kwargs, result)) if isinstance(leave, torch.Tensor)]
        kinds = {str(tensor.dtype).removeprefix("torch.") for tensor in tensors if tensor.is_floating_point()}
        name = function._schema.name.removeprefix("aten::")
        if kinds and name not in EXACT:
            self.operations.add(f"{function} {' and '.join(sorted(kinds))}")
        return result


@pytest.fixture(scope="module")
def verified():
    """What the list of digests covers."""
    with Used() as used:
        for operation in operations.TORCH.values():
            operation()
    return used.operations


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    return Steps(tmp_path_factory.mktemp("steps"))


@pytest.mark.parametrize("job", JOBS)
def test_jobs_use_verified_operations_alone(job, steps, verified):
    with Used() as used:
        getattr(steps, job)()
    assert used.operations
    unknown = sorted(used.operations - verified)
    assert not unknown, f"add to tests/operations.py, and check under `make test-processors`: {', '.join(unknown)}"


def test_the_square_root_of_mkl_is_not_verified(verified):
    """MKL's, in the branch that is taken everywhere: torch.sqrt of a tensor, and AdamW that is not fused."""
    with Used() as used:
        torch.ones(3).sqrt()
        weight = torch.nn.Parameter(torch.ones(3))
        weight.grad = torch.ones(3)
        torch.optim.AdamW([weight], fused=False, foreach=False).step()
    assert "aten.sqrt.default float32" in used.operations - verified


# ---- the recorded digests


def differences(recorded: dict, result: dict) -> str:
    """Which operations do not give what is recorded, in words; empty where all do."""
    here, expected = result["digests"], recorded["digests"]
    names = [name for name in expected.keys() | here.keys() if expected.get(name) != here.get(name)]
    if not names:
        return ""
    versions = ((name, result["versions"][name], version) for name, version in recorded["versions"].items())
    others = [f"{name} {here}, not {version}" for name, here, version in versions if here != version]
    why = f"; recorded for other versions: here {', '.join(others)}" if others else ""
    return f"not as recorded: {', '.join(sorted(names))}{why}"


@pytest.mark.slow
@portable
def test_every_operation_gives_the_recorded_bytes():
    program = [sys.executable, ROOT / "tests" / "operations.py"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = differences(json.loads(operations.RECORDED.read_text()), json.loads(done.stdout))
    assert not result, f"{result}. If they should differ: python tests/operations.py --record, `make test-processors`"


def test_an_operation_that_differs_is_named_and_so_are_other_versions():
    recorded = {"versions": {"torch": "1", "numpy": "2"}, "digests": {"exp": "a", "mm": "b"}}
    assert differences(recorded, recorded) == ""
    result = recorded | {"digests": {"exp": "a", "mm": "c", "new": "d"}}
    assert differences(recorded, result) == "not as recorded: mm, new"
    result |= {"versions": {"torch": "1", "numpy": "3"}}
    assert differences(recorded, result).endswith("here numpy 3, not 2")


# ---- ties


def test_sorting_by_one_column_keeps_the_order_of_ties():
    """Otherwise numpy sorts them as the processor's instructions do. Several columns are always sorted stably."""
    result = []
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("workflow/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in ("sort_values", "argsort"):
                several = bool(node.args) and isinstance(node.args[0], ast.List)
                stable = any(word.arg in ("kind", "stable") for word in node.keywords)
                result += [f"{path.name}:{node.lineno}"] if not (several or stable) else []
    assert result == []
