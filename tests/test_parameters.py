"""The names and shapes that a dry run expects in a checkpoint, against transformers' own modules."""

import pytest
import torch
from families import BERT, CASES, GPT2

from heuristic_core.models.families import FAMILIES
from heuristic_core.models.parameters import PARAMETERS

# Settings that add parameters or take some away, of families with such.
FURTHER = {
    "electra-default": ("electra", {}),
    "deberta-convolution": ("deberta-v2", BERT | {"conv_kernel_size": 3, "conv_groups": 2, "type_vocab_size": 2}),
    "deberta-narrow": ("deberta-v2", BERT | {"embedding_size": 16, "norm_rel_ebd": "layer_norm"}),
    "deberta-far": ("deberta-v2", BERT | {"relative_attention": True, "pos_att_type": "c2p", "share_att_key": False}),
    "modernbert-biases": (
        "modernbert",
        BERT | {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "pad_token_id": 0},
    ),
    "albert-inner": ("albert", BERT | {"embedding_size": 8, "inner_group_num": 2}),
    "gpt2-inner": ("gpt2", GPT2 | {"n_inner": 20}),
    "gpt_neox-unbiased": ("gpt_neox", BERT | {"attention_bias": False}),
    "llama-biased": ("llama", BERT | {"attention_bias": True, "mlp_bias": True}),
    "qwen3-biased": ("qwen3", BERT | {"attention_bias": True, "head_dim": 8, "num_key_value_heads": 2}),
    "gpt2-other-names": ("gpt2", {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}),
}
ALL = CASES | FURTHER | {f"{name} by default": (name, {}) for name in FAMILIES}


@pytest.mark.parametrize("case", list(ALL))
def test_a_familys_parameters_are_those_of_its_modules(case):
    from transformers import AutoConfig, AutoModelForSequenceClassification

    model_type, settings = ALL[case]
    with torch.device("meta"):
        model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(model_type, **settings))
    family, prefix = PARAMETERS[model_type], f"{model.base_model_prefix}."
    shapes = {
        name.removeprefix(prefix): tuple(weight.shape)
        for name, weight in model.named_parameters()
        if name.startswith(prefix) and not name.startswith(f"{prefix}pooler.")
    }
    assert family.base == model.base_model_prefix
    assert dict(model.named_parameters())[family.head].shape[0] == model.config.num_labels
    assert family.shapes(family.settings(settings)) == shapes
    assert family.shapes(family.settings(model.config.to_dict())) == shapes


def test_every_family_has_its_parameters():
    assert list(PARAMETERS) == list(FAMILIES)
