"""What is told of a pretrained decoder's folder, which needs the matrix that predicts tokens."""

import json

import pytest
import torch
from decoders import make_decoder
from mentions import raises
from safetensors.torch import load_file, save_file

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.decoders import load_parameters
from heuristic_core.models.weight_validation import check_weights


def check(folder):
    check_weights(folder, json.loads((folder / "config.json").read_text()), causal=True)


def rename(folder, new):
    path = folder / "model.safetensors"
    save_file({new(name): weight for name, weight in load_file(path).items() if new(name)}, path, {"format": "pt"})


@pytest.mark.parametrize("name", ["olmo", "llama", "gemma2", "qwen2"])
@pytest.mark.parametrize("tied", [True, False])
def test_what_a_family_saves_is_whole(tmp_path, name, tied):
    make_decoder(name, tie_word_embeddings=tied).save_pretrained(tmp_path)
    check(tmp_path)
    assert ("unembed" in load_parameters(tmp_path)) != tied


@pytest.mark.parametrize("name", ["llama", "qwen2"])
def test_a_decoder_without_the_matrix_that_predicts_tokens_is_refused(tmp_path, name):
    make_decoder(name).model.save_pretrained(tmp_path)
    with raises(InputError, "lm_head.weight"):
        check(tmp_path)
    with raises(InputError, "lm_head.weight"):
        load_parameters(tmp_path)


def test_a_tied_matrix_can_have_either_of_its_names(tmp_path):
    model = make_decoder("llama", tie_word_embeddings=True)
    model.save_pretrained(tmp_path)
    rename(tmp_path, lambda name: name.replace("model.embed_tokens.weight", "lm_head.weight"))
    check(tmp_path)
    assert torch.equal(load_parameters(tmp_path)["token"], model.get_input_embeddings().weight)


@pytest.mark.parametrize(
    ("name", "new", "named"),
    [
        ("qwen2", lambda name: f"_orig_mod.{name}", ("'_orig_mod.'",)),
        ("olmo", lambda name: name.replace("model.", "decoder."), ("'decoder.'",)),
        ("gemma2", lambda name: None if "layers.1." in name else name, ("num_hidden_layers", 1)),
    ],
)
def test_other_names_are_told(tmp_path, name, new, named):
    make_decoder(name).save_pretrained(tmp_path)
    rename(tmp_path, new)
    with raises(InputError, *named):
        check(tmp_path)
    with raises(InputError, tmp_path):
        load_parameters(tmp_path)
