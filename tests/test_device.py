"""In which numbers models compute, where a configuration leaves it to the processor."""

import pytest
import torch

from heuristic_core.models.device import resolve_dtype, resolve_precision
from heuristic_core.models.implementation import load_model
from heuristic_core.provenance.settings import find_precision

CPU, GPU = torch.device("cpu"), torch.device("cuda")
PROCESSORS = [
    ({"avx512_bf16": True, "amx_bf16": False, "cpu_name": "AMD EPYC"}, "bfloat16"),
    ({"avx512_bf16": True, "amx_bf16": False, "cpu_name": "Intel Xeon"}, "float32"),
    ({"avx512_bf16": True, "amx_bf16": True, "cpu_name": "Intel Xeon"}, "bfloat16"),
    ({"avx512_bf16": False, "amx_bf16": False, "avx2": True}, "float32"),
    ({"architecture": "aarch64"}, "float32"),
]


@pytest.mark.parametrize(("able", "expected"), PROCESSORS)
def test_auto_is_bfloat16_where_the_processor_multiplies_faster_in_it(able, expected, monkeypatch, checkpoint):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: able)
    assert resolve_precision(CPU, "auto") == expected
    assert load_model(checkpoint, "cpu", "auto").dtype == getattr(torch, expected)
    assert find_precision({"prune": {"precision": "auto"}, "precision": "float32", "device": "cpu"}) == expected
    assert find_precision({"precision": "auto", "device": "cpu"}) == expected
    assert find_precision({"pretrained": {"precision": "auto"}}) is None  # a job that fetches, and runs no model


@pytest.mark.parametrize(("able", "expected"), [(True, torch.bfloat16), (False, torch.float32)])
def test_auto_is_bfloat16_where_the_gpu_multiplies_in_it(able, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: able or including_emulation)
    assert resolve_dtype(GPU, "auto") == expected


@pytest.mark.parametrize("named", ["float32", "bfloat16", "float16"])
def test_a_precision_with_a_name_is_what_it_says(named, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    assert resolve_precision(CPU, named) == named and resolve_dtype(CPU, named) == getattr(torch, named)
