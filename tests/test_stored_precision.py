"""Weights are learned in float32, whatever a checkpoint stores."""

import json

import pytest
import torch
from conftest import make_encoded
from decoders import make_decoder
from families import CASES, make_model
from safetensors.torch import load_file

from heuristic_core.config.blocks import Finetune
from heuristic_core.config.models import PretrainedModel
from heuristic_core.experiments.extractive_structures.decoders import load_parameters
from heuristic_core.models.hugging_face import load_classifier
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.training.finetune import finetune

LABELS = ["entailment", "neutral", "contradiction"]
STORED = {"float16": torch.float16, "bfloat16": torch.bfloat16, "float64": torch.float64}


def is_norm(name: str) -> bool:
    return any(part in name.lower() for part in ("norm", "ln_"))


@pytest.mark.parametrize("stored", list(STORED))
@pytest.mark.parametrize("case", ["gpt2", "roberta", "deberta-v3", "llama", "bert"])
def test_every_weight_is_learned_in_float32(tmp_path, case, stored):
    make_model(case).to(STORED[stored]).save_pretrained(tmp_path / "stored")
    assert json.loads((tmp_path / "stored/config.json").read_text())["dtype"] == stored
    pretrained = PretrainedModel(name=case, source="pretrained", folder=str(tmp_path / "stored"))
    model = build_classifier(pretrained, LABELS, 50, 0, 1, 0.0)
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    assert {weight.dtype for weight in before.values()} == {torch.float32}

    settings = Finetune(
        seeds=[1],
        steps=3,
        batch_size=8,
        learning_rate=2e-5,
        warmup_steps=0,
        checkpoints=[3],
        evaluate_every=3,
    )
    encoded = make_encoded(16, seed=3)
    finetune(model, encoded, encoded, settings, 1, lambda step: [], lambda *of: [], tmp_path / "state.safetensors")
    changed = {name: bool((weight != before[name]).any()) for name, weight in model.named_parameters()}
    assert all(moved for name, moved in changed.items() if is_norm(name)), changed

    model.save_pretrained(tmp_path / "kept")
    assert json.loads((tmp_path / "kept/config.json").read_text())["dtype"] == "float32"
    assert {weight.dtype for weight in load_file(tmp_path / "kept/model.safetensors").values()} == {torch.float32}


@pytest.mark.parametrize("case", list(CASES))
def test_fine_tuning_without_dropout_starts_in_every_family(tmp_path, case):
    make_model(case).save_pretrained(tmp_path)
    model = build_classifier(
        PretrainedModel(name=case, source="pretrained", folder=str(tmp_path)), LABELS, 50, 0, 1, 0.0
    )
    assert {module.p for module in model.modules() if isinstance(module, torch.nn.Dropout)} <= {0.0}


@pytest.mark.parametrize("key", ["dtype", "torch_dtype"])
def test_what_config_json_says_of_the_dtype_changes_nothing(tmp_path, key):
    make_model("gpt2").save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(
        json.dumps({k: v for k, v in config.items() if k != "dtype"} | {key: "float16"})
    )
    assert load_classifier(tmp_path).dtype == torch.float32
    assert load_classifier(tmp_path, dtype=torch.bfloat16).dtype == torch.bfloat16


@pytest.mark.parametrize("stored", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["qwen2", "gemma2"])
def test_decoders_are_taught_in_float32(tmp_path, name, stored):
    make_decoder(name).to(STORED[stored]).save_pretrained(tmp_path)
    parameters = load_parameters(tmp_path)
    floats = {
        key: value.dtype for key, value in parameters.items() if value.is_floating_point() and "epsilon" not in key
    }
    assert set(floats.values()) == {torch.float32}
